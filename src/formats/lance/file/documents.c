/* SPDX-License-Identifier: MIT
 *
 * In: the metadata of an open Lance file. Out: its documents: tail, schema and columns as JSON, and the bytes of
 * messages and global buffers as they are stored.
 */
#include "formats/lance/file/documents.h"

#include "formats/lance/file/messages_table.h"
#include "formats/lance/file/details.h"
#include "formats/lance/file/metadata_json.h"

#define WRITE(function)                                                                                      \
    static enum nt_status function(const struct nt_file *file, const struct nt_dataset *dataset,             \
                                   uint64_t number, struct nt_buffer *out, struct nt_error *error)

static void put_tables(struct nt_json *json, const struct nt_lance *lance)
{
    const struct nt_lance_tail *tail = &lance->tail;
    nt_json_member_unsigned(json, "columns", tail->columns);
    nt_json_member_unsigned(json, "column_metadata_offset", tail->columns_start);
    nt_json_member_unsigned(json, "column_table_offset", tail->column_table);
    nt_json_member_unsigned(json, "global_buffer_table_offset", tail->global_table);
    nt_lance_buffers_json(json, "global_buffers", lance->globals, tail->globals);
}

enum nt_status nt_lance_write_footer(const struct nt_file *file, const struct nt_dataset *dataset,
                                     uint64_t number, struct nt_buffer *out, struct nt_error *error)
{
    (void)file, (void)number, (void)error;
    const struct nt_lance *lance = nt_lance_of(dataset);
    const struct nt_lance_tail *tail = &lance->tail;
    struct nt_json json;
    nt_json_document(&json, out, "lance_footer");
    nt_json_member_unsigned(&json, "file_offset", tail->offset);
    nt_json_member_unsigned(&json, "stored_bytes",
                            lance->legacy ? NT_LANCE_LEGACY_TAIL_BYTES : NT_LANCE_TAIL_BYTES);
    nt_json_member_string(&json, "version", tail->version);
    nt_json_member_unsigned(&json, "major_version", tail->major);
    nt_json_member_unsigned(&json, "minor_version", tail->minor);
    if (lance->legacy)
        nt_json_member_unsigned(&json, "metadata_offset", tail->metadata);
    else
        put_tables(&json, lance);
    nt_json_finish(&json);
    return NT_OK;
}

enum nt_status nt_lance_write_schema(const struct nt_file *file, const struct nt_dataset *dataset,
                                     uint64_t number, struct nt_buffer *out, struct nt_error *error)
{
    (void)file, (void)number, (void)error;
    const struct nt_lance *lance = nt_lance_of(dataset);
    struct nt_json json;
    nt_json_document(&json, out, "lance_schema");
    nt_lance_put_message(&json, lance->descriptor,
                         lance->legacy ? &nt_lance_manifest : &nt_lance_file_descriptor, &lance->globals[0]);
    nt_json_finish(&json);
    return NT_OK;
}

enum nt_status nt_lance_write_schema_bytes(const struct nt_file *file, const struct nt_dataset *dataset,
                                           uint64_t number, struct nt_buffer *out, struct nt_error *error)
{
    (void)file, (void)number, (void)error;
    const struct nt_proto message = nt_lance_of(dataset)->descriptor;
    nt_buffer_append(out, message.bytes, message.size);
    return NT_OK;
}

uint64_t nt_lance_schema_bytes(const struct nt_dataset *dataset, uint64_t number)
{
    (void)number;
    return nt_lance_of(dataset)->descriptor.size;
}

WRITE(write_column_bytes)
{
    (void)file, (void)error;
    const struct nt_lance_column *column = &nt_lance_of(dataset)->columns[number];
    nt_buffer_append(out, column->message.bytes, column->message.size);
    return NT_OK;
}

WRITE(write_global_bytes)
{
    (void)number;
    const struct nt_lance_buffer *global = &nt_lance_of(dataset)->globals[number];
    return global->bytes == 0
               ? NT_OK
               : nt_file_append_range(dataset->file, file->source, global->offset, global->bytes, out, error);
}

static uint64_t count_globals(const struct nt_file *file, const struct nt_dataset *dataset)
{
    (void)file;
    return nt_lance_of(dataset)->tail.globals;
}

static uint64_t count_columns(const struct nt_file *file, const struct nt_dataset *dataset)
{
    (void)file;
    return nt_lance_of(dataset)->tail.columns;
}

static uint64_t global_bytes(const struct nt_dataset *dataset, uint64_t number)
{
    return nt_lance_of(dataset)->globals[number].bytes;
}

static uint64_t column_bytes(const struct nt_dataset *dataset, uint64_t number)
{
    return nt_lance_of(dataset)->columns[number].metadata.bytes;
}

/* The text is about twenty times the messages. */
static enum nt_status is_metadata_short(const struct nt_file *file, const struct nt_dataset *dataset,
                                        uint64_t number, bool *is_short_ret, struct nt_error *error)
{
    enum { MOST_BYTES = 128 << 10 };
    (void)file, (void)number, (void)error;
    const struct nt_lance_tail *tail = &nt_lance_of(dataset)->tail;
    *is_short_ret = tail->column_table - tail->columns_start <= MOST_BYTES;
    return NT_OK;
}

const struct nt_document nt_lance_documents[] = {
    {.prefix = "footer.json", .write = nt_lance_write_footer},
    {.prefix = "schema.json", .write = nt_lance_write_schema},
    {.prefix = "metadata.json", .open = nt_lance_metadata_open, .is_short = is_metadata_short},
    {.prefix = "schema.bin", .write = nt_lance_write_schema_bytes, .bytes = nt_lance_schema_bytes},
    {.prefix = "global.",
     .suffix = ".bin",
     .count = count_globals,
     .write = write_global_bytes,
     .bytes = global_bytes},
    {.prefix = "column.",
     .suffix = ".bin",
     .count = count_columns,
     .write = write_column_bytes,
     .bytes = column_bytes},
};
const uint32_t nt_lance_document_count = sizeof(nt_lance_documents) / sizeof(*nt_lance_documents);
