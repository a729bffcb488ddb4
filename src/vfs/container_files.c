/* SPDX-License-Identifier: MIT
 *
 * The files in the root directory of a data file: file.json, error.json, the layout, and how files that
 * the format provides are opened.
 */
#include "vfs/vfs.h"

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "render/render.h"
#include "vfs/inode.h"
#include "vfs/tree.h"

/* ---- file.json ---- */

void nt_json_member_dataset_path(struct nt_json *json, const struct nt_open_file *opened, uint32_t dataset)
{
    struct nt_buffer path = {0};
    bool is_usable = nt_open_file_path(opened, opened->file->directory_count + dataset, &path);
    nt_json_member_string(json, "path", is_usable ? path.bytes : NULL);
    nt_buffer_deinit_part(&path, json->out);
}

static void put_datasets(struct nt_json *json, const struct nt_open_file *opened, const struct nt_file *file)
{
    nt_json_key(json, "datasets");
    nt_json_array(json);
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        const struct nt_dataset *dataset = file->datasets[i];
        nt_json_object(json);
        nt_json_member_text(json, "name", dataset->name);
        nt_json_member_dataset_path(json, opened, i);
        if (dataset->cycle)
            nt_json_member_unsigned(json, "cycle", dataset->cycle);
        if (dataset->failure)
            nt_json_member_text(json, "error", nt_text_of(dataset->failure->message));
        else
            nt_json_member_unsigned(json, "entries", nt_dataset_entries(dataset));
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

/* Of the file, or of all files of a directory; null where one of them is not as it should be, or they are so many that
 * this document would open them all for their sizes. */
static enum nt_status put_size(struct nt_json *json, const struct nt_file *file, struct nt_error *error)
{
    enum { MOST_SOURCES = 256 };
    struct nt_source *const *sources = file->layout_sources ? file->layout_sources : &file->source;
    uint32_t count = file->layout_sources ? file->layout_source_count : 1;
    uint64_t total = 0, size;
    if (count > MOST_SOURCES) {
        nt_json_null(json);
        return NT_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        enum nt_status status = nt_source_size(sources[i], &size, error);
        if (nt_is_machine_failure(status))
            return status;
        if (status != NT_OK || !nt_add(total, size, &total)) {
            nt_json_null(json);
            return NT_OK;
        }
    }
    nt_json_unsigned(json, total);
    return NT_OK;
}

/* For the tables: nt_pseudo.produce and .open_text. */
static enum nt_status nt_file_json(const struct nt_scope *scope, struct nt_buffer *out,
                                   struct nt_error *error)
{
    const struct nt_file *file = scope->file;
    struct nt_json json;
    nt_json_document(&json, out, "file");
    nt_json_member_string(&json, "format", file->format ? file->format->name : NULL);
    nt_json_member_text(&json, "file", nt_text_of(file->path));
    nt_json_key(&json, "file_bytes");
    enum nt_status status = put_size(&json, file, error);
    put_datasets(&json, scope->opened, file);
    if (status == NT_OK && file->describe)
        status = file->describe(file, &json, error);
    nt_json_finish(&json);
    return status;
}

/* ---- error.json ---- */

enum nt_status nt_error_json(const struct nt_scope *scope, struct nt_buffer *out, struct nt_error *error)
{
    struct nt_error failure = {.offset = NT_NO_OFFSET};
    struct nt_json json;
    (void)error;
    if (scope->dataset)
        failure = *scope->dataset->failure;
    else if (scope->file)
        failure = *scope->file->failure;
    else
        nt_places_failure(scope->vfs->places, scope->place, &failure);
    nt_json_document(&json, out, "error");
    nt_json_failure_members(&json, &failure);
    nt_json_finish(&json);
    return NT_OK;
}

static bool has_failed(const struct nt_scope *scope, unsigned parameter)
{
    (void)parameter;
    return scope->file->failure;
}

/* ---- the tables ---- */

static const struct nt_pseudo rows[] = {
    {"error.json", NT_VFS_PRODUCED, .exists = has_failed, .produce = nt_error_json},
    {"file.json", NT_VFS_PRODUCED, .produce = nt_file_json},
    {NT_CHAIN_FILES, NT_VFS_DIRECTORY, .exists = nt_is_of_chain, .sections = {&nt_section_chain_files}},
    {"layout.svg", NT_VFS_PRODUCED, .size = nt_layout_svg_size, .produce = nt_layout_svg_file},
    {"layout.jsonl", NT_VFS_UNSIZED, .open_text = nt_layout_jsonl, .is_short = nt_layout_is_short},
};

const struct nt_pseudo_table nt_container_files = {rows, sizeof(rows) / sizeof(rows[0])};

static enum nt_status produce_document(const struct nt_scope *scope, struct nt_buffer *out,
                                       struct nt_error *error)
{
    return scope->document->write(scope->file, scope->dataset, scope->node.number, out, error);
}

static enum nt_status document_size(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
                                    struct nt_error *error)
{
    (void)may_work;
    if (!scope->document->bytes)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET,
                       "the size is not known before the document is made");
    *size_ret = scope->document->bytes(scope->dataset, scope->node.number);
    return NT_OK;
}

static enum nt_status open_document_text(const struct nt_scope *scope, struct nt_long_text **text_ret,
                                         struct nt_error *error)
{
    return scope->document->open(scope->file, scope->dataset, scope->node.number, text_ret, error);
}

const struct nt_pseudo nt_produced_document = {"", NT_VFS_PRODUCED, .size = document_size,
                                               .produce = produce_document};
const struct nt_pseudo nt_unsized_document = {"", NT_VFS_UNSIZED, .open_text = open_document_text,
                                              .is_short = nt_document_is_short};
