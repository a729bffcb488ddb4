/* SPDX-License-Identifier: MIT
 *
 * Metadata of an open Lance file beyond the model: JSON members of files, columns and pages, and the
 * owner of every byte range outside pages.
 */
#include "formats/lance/file/file.h"

#include <stdlib.h>

#include "core/base/thread.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "formats/lance/decode/decode.h"
#include "formats/lance/file/messages.h"

/* ---- File metadata ---- */

/* ---- JSON ---- */

void nt_lance_buffers_json(struct nt_json *json, const char *key, const struct nt_lance_buffer *buffers,
                           uint64_t count)
{
    nt_json_member_array(json, key);
    for (uint64_t i = 0; i < count; i++) {
        nt_json_object(json);
        nt_json_member_unsigned(json, "file_offset", buffers[i].offset);
        nt_json_member_unsigned(json, "stored_bytes", buffers[i].bytes);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

void nt_lance_message_json(struct nt_json *json, struct nt_text type_url, struct nt_proto message,
                           enum nt_lance_encoding_kind kind)
{
    const struct nt_proto_table *table = nt_lance_encoding_table(kind);
    nt_json_member_text(json, "type_url", type_url);
    if (table)
        nt_lance_put_message(json, message, table, NULL);
}

void nt_lance_put_message(struct nt_json *json, struct nt_proto message, const struct nt_proto_table *table,
                          const struct nt_lance_buffer *range)
{
    if (range) {
        nt_json_member_unsigned(json, "file_offset", range->offset);
        nt_json_member_unsigned(json, "stored_bytes", range->bytes);
    }
    nt_json_member_object(json, "message");
    nt_proto_json(json, message, table);
    nt_json_end_object(json);
}

void nt_lance_page_json(struct nt_json *json, const struct nt_lance_page *page)
{
    nt_json_member_unsigned(json, "rows", page->length);
    nt_json_member_unsigned(json, "priority", page->priority);
    nt_lance_message_json(json, page->type_url, page->encoding,
                          (enum nt_lance_encoding_kind)page->encoding_kind);
}

enum nt_status nt_lance_describe_file(const struct nt_file *file, struct nt_json *json,
                                      struct nt_error *error)
{
    const struct nt_lance *lance = nt_lance_of(file->datasets[0]);
    nt_json_member_string(json, "kind", "Lance file");
    nt_json_member_string(json, "version", lance->tail.version);
    nt_json_member_unsigned(json, "columns", lance->tail.columns);
    if (lance->legacy)
        nt_json_member_unsigned(json, "batches", lance->legacy->table.batches);
    else
        nt_json_member_unsigned(json, "global_buffers", lance->tail.globals);
    return NT_OK;
}

/* ---- Layout ---- */

static enum nt_status put_tables(const struct nt_lance *lance, const struct nt_layout_output *output)
{
    enum { TABLE_ENTRY_BYTES = 16 };
    const struct nt_lance_tail *tail = &lance->tail;
    enum nt_status status = nt_layout_put(output, tail->offset, NT_LANCE_TAIL_BYTES, "footer");
    if (status == NT_OK)
        status = nt_layout_put(output, tail->column_table, (uint64_t)tail->columns * TABLE_ENTRY_BYTES,
                               "column table");
    if (status == NT_OK)
        status = nt_layout_put(output, tail->global_table, (uint64_t)tail->globals * TABLE_ENTRY_BYTES,
                               "global buffer table");
    return status;
}

enum nt_status nt_lance_layout_put_metadata(const struct nt_lance *lance,
                                            const struct nt_layout_output *output)
{
    enum nt_status status = put_tables(lance, output);
    for (uint32_t i = 0; status == NT_OK && i < lance->tail.globals; i++)
        status = nt_layout_put(output, lance->globals[i].offset, lance->globals[i].bytes,
                               i ? "global buffer" : "schema");
    for (uint32_t i = 0; status == NT_OK && i < lance->tail.columns; i++) {
        const struct nt_lance_column *column = &lance->columns[i];
        status = nt_layout_put(output, column->metadata.offset, column->metadata.bytes, "column metadata");
        for (uint32_t k = 0; status == NT_OK && k < column->buffer_count; k++)
            status =
                nt_layout_put(output, column->buffers[k].offset, column->buffers[k].bytes, "column buffer");
    }
    return status;
}

/* ---- Columns and pages ---- */

/* Puts the encodings of a page that a tree decodes. */
static const struct nt_tree_state *put_encodings(const struct nt_dataset *dataset, const struct nt_page *page,
                                                 struct nt_json *json)
{
    enum { TEXT = 512 };
    char text[TEXT];
    const struct nt_tree_state *state = nt_tree_state_of(nt_decoders_get(&dataset->decoders, page->decoder));
    if (!state)
        return NULL;
    nt_tree_describe(state->tree, text, sizeof(text));
    nt_json_member_string(json, "layout", nt_tree_layout_name(state->tree->layout));
    nt_json_member_string(json, "encodings", text);
    return state;
}

/* ---- Columns of a file ---- */

/* In a dataset each page has them, because each file has its own. */
void nt_lance_describe_column(const struct nt_dataset *physical, uint32_t column, struct nt_json *json)
{
    if (!nt_lance_physical_of(physical)->find_part)
        nt_json_member_unsigned(json, "file_column", physical->columns[column].id);
}

static enum nt_status describe_page(const struct nt_dataset *physical, uint32_t column,
                                    const struct nt_page *page, struct nt_json *json)
{
    struct nt_lance_physical_column physical_column;
    const struct nt_lance_page *of = nt_lance_file_page(physical, column, page, &physical_column);
    if (of && physical_column.name) {
        nt_json_member_unsigned(json, "fragment", physical_column.fragment);
        nt_json_member_unsigned(json, "file_column", physical_column.column_map.column);
        nt_json_member_unsigned(
            json, "file_page",
            (uint64_t)(of - physical_column.lance->columns[physical_column.column_map.column].pages));
    }
    put_encodings(physical, page, json);
    if (of)
        nt_lance_page_json(json, of);
    return NT_OK;
}

enum nt_status nt_lance_describe_page(const struct nt_dataset *physical, uint32_t column,
                                      const struct nt_page *page, struct nt_json *json)
{
    nt_lock_acquire(&physical->logical->lock);
    enum nt_status status = describe_page(physical, column, page, json);
    nt_lock_release(&physical->logical->lock);
    return status;
}

/* ---- Pages of fields ---- */

static bool contains_offset(const struct nt_lance_page *page, uint64_t offset)
{
    for (uint32_t i = 0; i < page->buffer_count; i++)
        if (offset >= page->buffers[i].offset && offset - page->buffers[i].offset < page->buffers[i].bytes)
            return true;
    return false;
}

/* Puts the page of the file that contains a page; null for blobs and pages without bytes. */
static void put_file_page(const struct nt_lance_column *column, const struct nt_page *page,
                          struct nt_json *json)
{
    for (uint32_t i = 0; page->stored_bytes && i < column->page_count; i++)
        if (contains_offset(&column->pages[i], page->offset)) {
            nt_json_member_unsigned(json, "file_page", i);
            return;
        }
    nt_json_key(json, "file_page");
    nt_json_null(json);
}

enum nt_status nt_lance_describe_page_of(const struct nt_dataset *dataset, const struct nt_lance *lance,
                                         uint32_t file_column, const struct nt_page *page,
                                         struct nt_json *json)
{
    nt_json_member_unsigned(json, "file_column", file_column);
    put_file_page(&lance->columns[file_column], page, json);
    const struct nt_tree_state *state = put_encodings(dataset, page, json);
    if (state)
        nt_json_member_string(json, "taken", nt_tree_output_name(state->spec.output));
    return NT_OK;
}

/* ---- Padding between buffers ---- */

enum { ALIGNMENT = 64 };

struct buffers {
    struct nt_lance_buffer *items; /* from malloc */
    size_t count;
};

static int compare_buffers(const void *left, const void *right)
{
    const struct nt_lance_buffer *a = left, *b = right;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static bool has_blobs(const struct nt_lance *lance)
{
    for (uint32_t i = 0; i < lance->tail.columns; i++) {
        const struct nt_lance_column *column = &lance->columns[i];
        if (column->is_blob)
            return true;
        for (uint32_t k = 0; k < column->page_count; k++)
            if (nt_lance_has_descriptors(&column->pages[k]))
                return true;
    }
    return false;
}

static void add(struct buffers *buffers, const struct nt_lance_buffer *added, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (added[i].bytes)
            buffers->items[buffers->count++] = added[i];
}

static size_t count_all(const struct nt_lance *lance)
{
    size_t count = (size_t)lance->tail.globals + 1;
    for (uint32_t i = 0; i < lance->tail.columns; i++) {
        count += (size_t)lance->columns[i].buffer_count + 1;
        for (uint32_t k = 0; k < lance->columns[i].page_count; k++)
            count += lance->columns[i].pages[k].buffer_count;
    }
    return count;
}

static void add_all(struct buffers *buffers, const struct nt_lance *lance)
{
    const struct nt_lance_buffer table = {lance->tail.column_table, 1};
    add(buffers, lance->globals, lance->tail.globals);
    add(buffers, &table, 1);
    for (uint32_t i = 0; i < lance->tail.columns; i++) {
        const struct nt_lance_column *column = &lance->columns[i];
        add(buffers, &column->metadata, 1);
        add(buffers, column->buffers, column->buffer_count);
        for (uint32_t k = 0; k < column->page_count; k++)
            add(buffers, column->pages[k].buffers, column->pages[k].buffer_count);
    }
}

/* Emits the gaps that align buffers to 64 bytes. Emits nothing for files with blobs, whose places are
 * unknown here. */
static enum nt_status nt_lance_layout_put_padding(const struct nt_lance *lance,
                                                  const struct nt_layout_output *output)
{
    struct buffers buffers = {0};
    enum nt_status status = NT_OK;
    uint64_t end = 0;
    if (has_blobs(lance))
        return NT_OK;
    buffers.items = malloc(count_all(lance) * sizeof(*buffers.items));
    if (!buffers.items)
        return NT_NO_MEMORY;
    add_all(&buffers, lance);
    qsort(buffers.items, buffers.count, sizeof(*buffers.items), compare_buffers);
    for (size_t i = 0; status == NT_OK && i < buffers.count; i++) {
        const struct nt_lance_buffer *buffer = &buffers.items[i];
        if (buffer->offset > end && buffer->offset - end < ALIGNMENT)
            status = nt_layout_put(output, end, buffer->offset - end, "padding");
        if (buffer->offset + buffer->bytes > end) /* within the file: no overflow */
            end = buffer->offset + buffer->bytes;
    }
    free(buffers.items);
    return status;
}

/* ---- Owners of byte ranges ---- */

enum nt_status nt_lance_lay_out_file(const struct nt_lance *lance, const struct nt_layout_output *output,
                                     struct nt_error *error)
{
    if (lance->legacy)
        return nt_lance_legacy_lay_out(lance, output, error);
    enum nt_status status = nt_lance_layout_put_metadata(lance, output);
    return status == NT_OK ? nt_lance_layout_put_padding(lance, output) : status;
}

enum nt_status nt_lance_layout_put_column(const struct nt_lance_column *column,
                                          const struct nt_layout_output *output, const char *owner)
{
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; i < column->page_count; i++)
        for (uint32_t k = 0; status == NT_OK && k < column->pages[i].buffer_count; k++)
            status = nt_layout_put(output, column->pages[i].buffers[k].offset,
                                   column->pages[i].buffers[k].bytes, owner);
    return status;
}

enum nt_status nt_lance_layout_put_bytes(const struct nt_lance *lance, const struct nt_layout_output *output)
{
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; status == NT_OK && i < lance->schema.field_count; i++) {
        uint32_t column = nt_lance_byte_column(lance, &lance->schema, &lance->leaves[i]);
        if (column != NT_NONE)
            status = nt_lance_layout_put_column(&lance->columns[column], output, "bytes of strings");
    }
    return status;
}
