/* SPDX-License-Identifier: MIT
 *
 * The files in the topmost directory of a file, and the documents that formats give.
 */
#include <string.h>

#include "base/overflow.h"
#include "vfs/documents.h"
#include "vfs/view_files.h"

/* ---- file.json ---- */

static void put_datasets(struct nt_json *json, const struct nt_file *file)
{
    nt_json_key(json, "datasets");
    nt_json_array(json);
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        const struct nt_dataset *dataset = file->datasets[i];
        nt_json_object(json);
        nt_json_member_text(json, "name", dataset->name.bytes, dataset->name.length);
        if (dataset->cycle)
            nt_json_member_unsigned(json, "cycle", dataset->cycle);
        if (dataset->failure)
            nt_json_member_text(json, "error", dataset->failure->message, strlen(dataset->failure->message));
        else
            nt_json_member_unsigned(json, "entries", dataset->entries);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

/* Of the file, or of all files of a directory; null where one of them cannot be looked at. */
static void put_size(struct nt_json *json, const struct nt_file *file)
{
    struct nt_source *const *sources = file->layout_sources ? file->layout_sources : &file->source;
    uint32_t count = file->layout_sources ? file->layout_source_count : 1;
    uint64_t total = 0, size;
    for (uint32_t i = 0; i < count; i++) {
        if (nt_source_size(sources[i], &size, NULL) != NT_OK || !nt_add(total, size, &total)) {
            nt_json_null(json);
            return;
        }
    }
    nt_json_unsigned(json, total);
}

enum nt_status nt_file_json(const struct nt_scope *scope, struct nt_buffer *out, struct nt_error *error)
{
    const struct nt_file *file = scope->file;
    enum nt_status status = NT_OK;
    struct nt_json json;
    (void)error;
    nt_json_document(&json, out, "file");
    nt_json_member_string(&json, "format", file->format ? file->format->name : NULL);
    nt_json_member_text(&json, "path", file->path, strlen(file->path));
    nt_json_key(&json, "size_bytes");
    put_size(&json, file);
    put_datasets(&json, file);
    if (file->describe)
        status = file->describe(file, &json);
    nt_json_finish(&json);
    return status;
}

/* ---- error.json ---- */

static void put_optional(struct nt_json *json, const char *key, const char *text)
{
    if (text[0])
        nt_json_member_text(json, key, text, strlen(text));
}

enum nt_status nt_error_json(const struct nt_scope *scope, struct nt_buffer *out, struct nt_error *error)
{
    struct nt_error failure = {.offset = NT_NO_OFFSET};
    struct nt_json json;
    (void)error;
    if (scope->dataset)
        failure = *scope->dataset->failure;
    else
        nt_sources_failure(scope->vfs->sources, scope->place, &failure);
    nt_json_document(&json, out, "error");
    nt_json_member_string(&json, "status", nt_status_name(failure.status));
    nt_json_member_text(&json, "error", failure.message, strlen(failure.message));
    if (failure.offset != NT_NO_OFFSET)
        nt_json_member_unsigned(&json, "file_offset", failure.offset);
    put_optional(&json, "expected", failure.expected);
    put_optional(&json, "found", failure.found);
    nt_json_finish(&json);
    return NT_OK;
}

/* ---- the tables ---- */

static const struct nt_pseudo rows[] = {
    {"file.json", NT_VFS_PRODUCED, .produce = nt_file_json},
    {"layout.svg", NT_VFS_PRODUCED, .produce = nt_layout_svg_file},
    {"layout.jsonl", NT_VFS_STREAMED, .stream = nt_layout_jsonl},
};

const struct nt_pseudo_table nt_container_files = {rows, sizeof(rows) / sizeof(rows[0])};

static enum nt_status produce_document(const struct nt_scope *scope, struct nt_buffer *out,
                                       struct nt_error *error)
{
    return scope->document->write(scope->file, scope->dataset, scope->node.number, out, error);
}

static enum nt_status stream_document(const struct nt_scope *scope, struct nt_text_stream **stream_ret,
                                      struct nt_error *error)
{
    return scope->document->open(scope->file, scope->dataset, scope->node.number, stream_ret, error);
}

const struct nt_pseudo nt_produced_document = {"", NT_VFS_PRODUCED, .produce = produce_document};
const struct nt_pseudo nt_streamed_document = {"", NT_VFS_STREAMED, .stream = stream_document};
