/* SPDX-License-Identifier: MIT
 *
 * In: the metadata of an open Lance file. Out: what JSON tells of it, and the byte ranges that are not buffers of
 * pages.
 */
#include "formats/lance/file/details.h"

#include "formats/lance/file/columns.h"
#include "formats/lance/legacy/opened.h"

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
    nt_json_key(json, "message");
    nt_json_object(json);
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
    (void)error;
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
    }
    return status;
}
