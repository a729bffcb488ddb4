/* SPDX-License-Identifier: MIT
 *
 * In: the metadata of an open Lance file. Out: what JSON tells of it, and the byte ranges that are not buffers of
 * pages.
 */
#include "format/lance/details.h"

#include "format/lance/columns.h"

/* ---- JSON ---- */

void nt_lance_buffers_json(struct nt_json *json, const char *key, const struct nt_lance_buffer *buffers,
                           uint64_t count)
{
    nt_json_key(json, key);
    nt_json_array(json);
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
    if (!table)
        return;
    nt_json_key(json, "message");
    nt_json_object(json);
    nt_proto_json(json, message, table);
    nt_json_end_object(json);
}

void nt_lance_page_json(struct nt_json *json, const struct nt_lance_page *page)
{
    nt_json_member_unsigned(json, "rows", page->length);
    nt_json_member_unsigned(json, "priority", page->priority);
    nt_lance_buffers_json(json, "buffers", page->buffers, page->buffer_count);
    nt_lance_message_json(json, page->type_url, page->encoding,
                          (enum nt_lance_encoding_kind)page->encoding_kind);
}

enum nt_status nt_lance_describe_file(const struct nt_file *file, struct nt_json *json,
                                      struct nt_error *error)
{
    (void)error;
    const struct nt_lance *lance = nt_lance_of(file->datasets[0]);
    nt_json_member_string(json, "kind", "Lance file");
    nt_json_member_string(json, "version", lance->tail.version);
    nt_json_member_unsigned(json, "columns", lance->tail.columns);
    nt_json_member_unsigned(json, "global_buffers", lance->tail.globals);
    return NT_OK;
}

/* ---- layout ---- */

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

/* Which buffers of a page the model's pages do not cover; NULL: they do, or may. */
static const char *owner_of(const struct nt_lance_page *page, uint32_t buffer)
{
    struct nt_proto member;
    uint32_t choice = page->encoding_kind == NT_LANCE_ENCODING_IS_LAYOUT
                          ? nt_proto_choice(page->encoding, &nt_lance_page_layout, &member)
                          : 0;
    if (choice == NT_LANCE_LAYOUT_BLOB) {
        choice = nt_proto_choice(nt_proto_message(member, NT_LANCE_BLOB_LAYOUT_INNER_LAYOUT),
                                 &nt_lance_page_layout, &member);
        if (buffer)
            return "places of blobs";
    }
    if (page->encoding_kind == NT_LANCE_ENCODING_IS_UNKNOWN)
        return "page buffer";
    if (choice == NT_LANCE_LAYOUT_MINI_BLOCK) {
        uint32_t taken = 2 + nt_proto_has(member, NT_LANCE_MINI_BLOCK_DICTIONARY);
        return buffer == 0 ? "sizes of chunks" : buffer >= taken ? "repetition index" : NULL;
    }
    return choice == NT_LANCE_LAYOUT_FULL_ZIP && buffer ? "repetition index" : NULL;
}

static enum nt_status put_pages(const struct nt_lance_column *column, const struct nt_layout_output *output)
{
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; i < column->page_count; i++)
        for (uint32_t k = 0; status == NT_OK && k < column->pages[i].buffer_count; k++) {
            const struct nt_lance_page *page = &column->pages[i];
            const char *owner = column->is_blob ? "places of blobs" : owner_of(page, k);
            if (owner)
                status = nt_layout_put(output, page->buffers[k].offset, page->buffers[k].bytes, owner);
        }
    return status;
}

enum nt_status nt_lance_layout_put_own(const struct nt_lance *lance, const struct nt_layout_output *output)
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
        if (status == NT_OK)
            status = put_pages(column, output);
    }
    return status;
}
