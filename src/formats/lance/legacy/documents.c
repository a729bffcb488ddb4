/* SPDX-License-Identifier: MIT
 *
 * The documents of a legacy file, the JSON members of its columns and pages, and the owner of every
 * byte range outside pages.
 */
#include "formats/lance/legacy/legacy.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "formats/lance/decode/decode.h"
#include "formats/lance/file/file.h"
#include "formats/lance/file/messages.h"

/* ---- Write metadata.json ---- */

struct metadata_text {
    struct nt_text_generator base;
    const struct nt_lance *lance;
    struct nt_json json;
    bool is_started;
    uint32_t next; /* next field */
};

static void write_start(struct metadata_text *text)
{
    const struct nt_lance *lance = text->lance;
    nt_json_document(&text->json, text->json.out, "lance_legacy");
    nt_json_member_string(&text->json, "version", lance->tail.version);
    nt_json_member_unsigned(&text->json, "entries", lance->rows);
    nt_lance_put_message(&text->json, lance->legacy->metadata, &nt_lance_metadata,
                         &lance->legacy->metadata_range);
    nt_json_member_array(&text->json, "columns");
    text->is_started = true;
}

static void write_field(struct metadata_text *text)
{
    struct nt_json *json = &text->json;
    const struct nt_lance_page_table *table = &text->lance->legacy->table;
    const struct nt_error *failure = text->lance->columns[text->next].failure;
    int32_t id = text->lance->schema.fields[text->next++].id;
    const struct nt_lance_cell *cells = nt_lance_cells(table, id);
    nt_json_object(json);
    nt_json_member_signed(json, "column", id);
    if (failure)
        nt_json_member_string(json, "unreadable", failure->message);
    nt_json_member_array(json, "pages");
    for (uint32_t i = 0; i < table->batches; i++) {
        nt_json_object(json);
        nt_json_member_unsigned(json, "file_offset", cells[i].offset);
        nt_json_member_unsigned(json, "elements", cells[i].length);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
    nt_json_end_object(json);
}

static enum nt_status next(struct nt_text_generator *base, struct nt_buffer *out, bool *more_ret,
                           struct nt_error *error)
{
    enum { PIECE_BYTES = 64 * 1024 };
    struct metadata_text *text = (struct metadata_text *)base;
    uint32_t count = text->lance->schema.field_count;
    size_t end = out->length + PIECE_BYTES;
    text->json.out = out;
    if (!text->is_started)
        write_start(text);
    while (text->next < count && out->length < end && !out->failed)
        write_field(text);
    *more_ret = text->next < count;
    if (!*more_ret) {
        nt_json_end_array(&text->json);
        nt_json_finish(&text->json);
    }
    return out->failed ? nt_fail_memory(error) : NT_OK;
}

static void free_text(struct nt_text_generator *base)
{
    free(base);
}

/* Members of nt_document. */
static enum nt_status nt_lance_legacy_metadata_open(const struct nt_file *file,
                                                    const struct nt_dataset *dataset, uint64_t number,
                                                    struct nt_text_generator **text_ret,
                                                    struct nt_error *error)
{
    struct metadata_text *text = calloc(1, sizeof(*text));
    if (!text)
        return nt_fail_memory(error);
    text->base = (struct nt_text_generator){.next = next, .free = free_text};
    text->lance = nt_lance_of(dataset);
    *text_ret = &text->base;
    return NT_OK;
}

static enum nt_status nt_lance_legacy_metadata_is_short(const struct nt_file *file,
                                                        const struct nt_dataset *dataset, uint64_t number,
                                                        bool *is_short_ret, struct nt_error *error)
{
    enum { MAX_CELLS = 4096, MAX_BYTES = 64 << 10 };
    const struct nt_lance_legacy *legacy = nt_lance_of(dataset)->legacy;
    *is_short_ret = (uint64_t)legacy->table.fields * legacy->table.batches <= MAX_CELLS &&
                    legacy->metadata.size <= MAX_BYTES;
    return NT_OK;
}

/* ---- Table of documents ---- */

static enum nt_status write_metadata_bytes(const struct nt_file *file, const struct nt_dataset *dataset,
                                           uint64_t number, struct nt_buffer *out, struct nt_error *error)
{
    const struct nt_proto message = nt_lance_of(dataset)->legacy->metadata;
    nt_buffer_append(out, message.bytes, message.size);
    return NT_OK;
}

static uint64_t metadata_bytes(const struct nt_dataset *dataset, uint64_t number)
{
    return nt_lance_of(dataset)->legacy->metadata.size;
}

const struct nt_document nt_lance_legacy_documents[] = {
    {.prefix = "footer.json", .write = nt_lance_write_footer},
    {.prefix = "schema.json", .write = nt_lance_write_schema},
    {.prefix = "metadata.json",
     .open = nt_lance_legacy_metadata_open,
     .is_short = nt_lance_legacy_metadata_is_short},
    {.prefix = "statistics.jsonl",
     .open = nt_lance_statistics_open,
     .is_short = nt_lance_statistics_is_short,
     .reads_source = true},
    {.prefix = "schema.bin", .write = nt_lance_write_schema_bytes, .bytes = nt_lance_schema_bytes},
    {.prefix = "metadata.bin", .write = write_metadata_bytes, .bytes = metadata_bytes},
};
const uint32_t nt_lance_legacy_document_count =
    sizeof(nt_lance_legacy_documents) / sizeof(*nt_lance_legacy_documents);

/* ---- Columns, pages and layout ---- */

static const struct nt_lance_field *field_of(const struct nt_dataset *dataset, uint32_t column)
{
    const struct nt_lance *lance = nt_lance_of(dataset);
    return &lance->schema.fields[nt_lance_map_own_column(lance, dataset->columns[column].field).column];
}

void nt_lance_legacy_describe_column(const struct nt_dataset *dataset, uint32_t column, struct nt_json *json)
{
    nt_json_member_signed(json, "file_column", field_of(dataset, column)->id);
}

/* Finds a page's batch: its cell locates offsets or values; string bytes are directly before them. */
static void put_batch(const struct nt_lance_page_table *table, int32_t id, const struct nt_page *page,
                      struct nt_json *json)
{
    const struct nt_lance_cell *cells = nt_lance_cells(table, id);
    for (uint32_t i = 0; i < table->batches; i++)
        if (cells[i].offset == page->offset || cells[i].offset == page->offset + page->stored_bytes) {
            nt_json_member_unsigned(json, "file_page", i);
            return;
        }
    nt_json_member_null(json, "file_page");
}

enum nt_status nt_lance_legacy_describe_page_of(const struct nt_dataset *dataset,
                                                const struct nt_lance *lance, int32_t id,
                                                const struct nt_page *page, struct nt_json *json)
{
    enum { TEXT = 512 };
    char text[TEXT];
    const struct nt_decoder *decoder = nt_decoders_get(&dataset->decoders, page->decoder);
    const struct nt_tree_state *state = nt_tree_state_of(decoder);
    nt_json_member_signed(json, "file_column", id);
    put_batch(&lance->legacy->table, id, page, json);
    if (decoder->encoding != NT_ENCODING_OTHER)
        return NT_OK;
    if (state)
        nt_tree_describe(state->tree, text, sizeof(text));
    nt_json_member_string(json, "encodings", state ? text : "dictionary");
    nt_json_member_string(json, "taken", nt_tree_output_name(state ? state->spec.output : NT_TREE_VALID));
    return NT_OK;
}

enum nt_status nt_lance_legacy_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                             const struct nt_page *page, struct nt_json *json)
{
    return nt_lance_legacy_describe_page_of(dataset, nt_lance_of(dataset), field_of(dataset, column)->id,
                                            page, json);
}

/* ---- Layout ---- */

static enum nt_status put_message(const struct nt_layout_output *output,
                                  const struct nt_lance_buffer *message, const char *owner)
{
    return nt_layout_put(output, message->offset - NT_LANCE_LENGTH_BYTES,
                         NT_LANCE_LENGTH_BYTES + message->bytes, owner);
}

static uint64_t table_bytes(const struct nt_lance_page_table *table)
{
    return (uint64_t)table->fields * table->batches * sizeof(struct nt_lance_cell);
}

enum nt_status nt_lance_legacy_lay_out(const struct nt_lance *lance, const struct nt_layout_output *output,
                                       struct nt_error *error)
{
    const struct nt_lance_legacy *legacy = lance->legacy;
    enum nt_status status = nt_layout_put(output, lance->tail.offset, NT_LANCE_LEGACY_TAIL_BYTES, "footer");
    if (status == NT_OK)
        status = put_message(output, &legacy->metadata_range, "metadata");
    if (status == NT_OK)
        status = put_message(output, &lance->globals[0], "schema");
    if (status == NT_OK)
        status = nt_layout_put(output, legacy->table.offset, table_bytes(&legacy->table), "page table");
    return status == NT_OK ? nt_lance_statistics_lay_out(lance, output, error) : status;
}
