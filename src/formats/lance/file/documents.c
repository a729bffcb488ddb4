/* SPDX-License-Identifier: MIT
 *
 * The documents of a Lance file: footer.json, schema.json, metadata.json, and its messages and global
 * buffers as raw bytes.
 */
#include "formats/lance/file/file.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "formats/lance/file/messages.h"

/* ---- Write metadata.json ---- */

enum { PIECE_BYTES = 64 * 1024 };

struct metadata_text {
    struct nt_text_generator base;
    const struct nt_lance *lance;
    struct nt_json json;
    bool is_started, is_in_column;
    uint32_t column, page; /* next to be written; within a column, `column` is that one */
};

static void write_start(struct metadata_text *text)
{
    const struct nt_lance *lance = text->lance;
    nt_json_document(&text->json, text->json.out, "lance");
    nt_json_member_string(&text->json, "version", lance->tail.version);
    nt_json_member_unsigned(&text->json, "entries", lance->rows);
    nt_json_member_array(&text->json, "columns");
    text->is_started = true;
}

static void start_column(struct metadata_text *text)
{
    const struct nt_lance_column *column = &text->lance->columns[text->column];
    struct nt_json *json = &text->json;
    nt_json_object(json);
    nt_json_member_unsigned(json, "column", text->column);
    nt_json_member_unsigned(json, "file_offset", column->metadata.offset);
    nt_json_member_unsigned(json, "stored_bytes", column->metadata.bytes);
    nt_json_member_unsigned(json, "rows", column->rows);
    if (column->failure)
        nt_json_member_string(json, "unreadable", column->failure->message);
    nt_lance_buffers_json(json, "buffers", column->buffers, column->buffer_count);
    nt_lance_message_json(json, column->type_url, column->encoding,
                          column->encoding.bytes ? NT_LANCE_ENCODING_IS_COLUMN
                                                 : NT_LANCE_ENCODING_IS_UNKNOWN);
    nt_json_member_array(json, "pages");
    text->is_in_column = true;
    text->page = 0;
}

static void write_page(struct metadata_text *text)
{
    struct nt_json *json = &text->json;
    nt_json_object(json);
    nt_json_member_unsigned(json, "page", text->page);
    const struct nt_lance_page *page = &text->lance->columns[text->column].pages[text->page];
    nt_lance_buffers_json(json, "buffers", page->buffers, page->buffer_count);
    nt_lance_page_json(json, page);
    nt_json_end_object(json);
    text->page++;
}

static void finish_column(struct metadata_text *text)
{
    nt_json_end_array(&text->json);
    nt_json_end_object(&text->json);
    text->is_in_column = false;
    text->column++;
}

/* Writes one item; returns false when the document is complete. */
static bool step(struct metadata_text *text)
{
    if (!text->is_started) {
        write_start(text);
    } else if (text->is_in_column) {
        if (text->page < text->lance->columns[text->column].page_count)
            write_page(text);
        else
            finish_column(text);
    } else if (text->column < text->lance->tail.columns) {
        start_column(text);
    } else {
        nt_json_end_array(&text->json);
        nt_json_finish(&text->json);
        return false;
    }
    return true;
}

static enum nt_status next(struct nt_text_generator *base, struct nt_buffer *out, bool *more_ret,
                           struct nt_error *error)
{
    struct metadata_text *text = (struct metadata_text *)base;
    size_t end = out->length + PIECE_BYTES;
    text->json.out = out;
    do {
        *more_ret = step(text);
        if (out->failed)
            return nt_fail_memory(error);
    } while (*more_ret && out->length < end);
    return NT_OK;
}

static void free_text(struct nt_text_generator *base)
{
    free(base);
}

static double share(const struct nt_text_generator *base)
{
    const struct metadata_text *text = (const struct metadata_text *)base;
    return text->lance->tail.columns ? (double)text->column / text->lance->tail.columns : 1;
}

/* nt_document.open. */
static enum nt_status nt_lance_metadata_open(const struct nt_file *file, const struct nt_dataset *dataset,
                                             uint64_t number, struct nt_text_generator **text_ret,
                                             struct nt_error *error)
{
    struct metadata_text *text = calloc(1, sizeof(*text));
    if (!text)
        return nt_fail_memory(error);
    text->base = (struct nt_text_generator){.next = next, .free = free_text, .share = share};
    text->lance = nt_lance_of(dataset);
    *text_ret = &text->base;
    return NT_OK;
}

/* ---- Documents of a file ---- */

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
    const struct nt_proto message = nt_lance_of(dataset)->descriptor;
    nt_buffer_append(out, message.bytes, message.size);
    return NT_OK;
}

uint64_t nt_lance_schema_bytes(const struct nt_dataset *dataset, uint64_t number)
{
    return nt_lance_of(dataset)->descriptor.size;
}

WRITE(write_column_bytes)
{
    const struct nt_lance_column *column = &nt_lance_of(dataset)->columns[number];
    nt_buffer_append(out, column->message.bytes, column->message.size);
    return NT_OK;
}

WRITE(write_global_bytes)
{
    const struct nt_lance_buffer *global = &nt_lance_of(dataset)->globals[number];
    return global->bytes == 0
               ? NT_OK
               : nt_file_append_range(dataset->file, file->source, global->offset, global->bytes, out, error);
}

static uint64_t count_globals(const struct nt_file *file, const struct nt_dataset *dataset)
{
    return nt_lance_of(dataset)->tail.globals;
}

static uint64_t count_columns(const struct nt_file *file, const struct nt_dataset *dataset)
{
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

/* The text is about twenty times as long as the messages. */
static enum nt_status is_metadata_short(const struct nt_file *file, const struct nt_dataset *dataset,
                                        uint64_t number, bool *is_short_ret, struct nt_error *error)
{
    enum { MAX_BYTES = 128 << 10 };
    const struct nt_lance_tail *tail = &nt_lance_of(dataset)->tail;
    *is_short_ret = tail->column_table - tail->columns_start <= MAX_BYTES;
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
