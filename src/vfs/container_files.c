/* SPDX-License-Identifier: MIT
 *
 * The files in the root directory of a data file: file.json, error.json, the layout, and the documents
 * of the format.
 */
#include "vfs/vfs.h"

#include "tools/tools.h"

void nt_json_member_dataset_path(struct nt_json *json, const struct nt_open_file *opened, uint32_t dataset)
{
    struct nt_buffer path = {0};
    bool is_usable = nt_open_file_path(opened, opened->file->directory_count + dataset, &path);
    nt_json_member_string(json, "path", is_usable ? path.bytes : NULL);
    nt_buffer_deinit_part(&path, json->out);
}

static void put_datasets(struct nt_json *json, const struct nt_open_file *opened, const struct nt_file *file)
{
    nt_json_member_array(json, "datasets");
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

/* The bytes of the file, or of all files of a dataset directory or a chain. null if one of them is not as
 * expected, or if there are too many to open them all. */
static enum nt_status put_size(struct nt_json *json, const struct nt_file *file, struct nt_error *error)
{
    enum { MAX_UNOPENED = 256 };
    uint32_t count = file->layout_sources ? file->layout_source_count : 1, unopened = 0;
    uint64_t total = 0, size;
    for (uint32_t i = 0; file->layout_sources && i < count; i++)
        unopened += file->layout_sources[i]->size == NT_UNKNOWN_SIZE;
    if (unopened > MAX_UNOPENED) {
        nt_json_null(json);
        return NT_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        enum nt_status status = nt_file_layout_size(file, i, &size, error);
        if (nt_is_environmental(status))
            return status;
        if (status != NT_OK || !nt_checked_add(total, size, &total)) {
            nt_json_null(json);
            return NT_OK;
        }
    }
    nt_json_unsigned(json, total);
    return NT_OK;
}

/* For the tables: nt_pseudo_file.generate and .open_text. */
static enum nt_status file_json(const struct nt_resolved_node *resolved, struct nt_buffer *out,
                                struct nt_error *error)
{
    const struct nt_file *file = resolved->file;
    struct nt_json json;
    nt_json_document(&json, out, "file");
    nt_json_member_string(&json, "format", file->format ? file->format->name : NULL);
    nt_json_member_text(&json, "file", nt_text_of(file->path));
    nt_json_key(&json, "file_bytes");
    NT_TRY(put_size(&json, file, error));
    put_datasets(&json, resolved->opened, file);
    if (file->describe)
        NT_TRY(file->describe(file, &json, error));
    nt_json_finish(&json);
    return NT_OK;
}

enum nt_status nt_error_json(const struct nt_resolved_node *resolved, struct nt_buffer *out,
                             struct nt_error *error)
{
    struct nt_error failure = {.offset = NT_NO_OFFSET};
    struct nt_json json;
    if (resolved->dataset)
        failure = *resolved->dataset->failure;
    else if (resolved->file)
        failure = *resolved->file->failure;
    else
        nt_inodes_failure(resolved->vfs->inodes, resolved->inode, &failure);
    nt_json_document(&json, out, "error");
    nt_json_failure_members(&json, &failure);
    nt_json_finish(&json);
    return NT_OK;
}

static bool has_failed(const struct nt_resolved_node *resolved, unsigned parameter)
{
    return resolved->file->failure;
}

static enum nt_status layout_jsonl(const struct nt_resolved_node *resolved,
                                   struct nt_text_generator **text_ret, struct nt_error *error)
{
    return nt_layout_lines(resolved->file, text_ret, error);
}

static enum nt_status layout_svg_size(const struct nt_resolved_node *resolved, bool may_block,
                                      uint64_t *size_ret, struct nt_error *error)
{
    *size_ret = nt_layout_svg_bytes(resolved->file);
    return NT_OK;
}

static enum nt_status layout_svg_file(const struct nt_resolved_node *resolved, struct nt_buffer *out,
                                      struct nt_error *error)
{
    return nt_layout_svg(resolved->file, out, error);
}

static const struct nt_pseudo_file rows[] = {
    {"error.json", NT_VFS_GENERATED, .exists = has_failed, .generate = nt_error_json},
    {"file.json", NT_VFS_GENERATED, .generate = file_json},
    {NT_CHAIN_FILES, NT_VFS_DIRECTORY, .exists = nt_is_in_chain, .dir_sources = {&nt_dir_source_chain_files}},
    {"layout.svg", NT_VFS_GENERATED, .takes_budget = true, .size = layout_svg_size,
     .generate = layout_svg_file},
    {"layout.jsonl", NT_VFS_STREAMED, .takes_budget = true, .open_text = layout_jsonl,
     .is_short = nt_layout_is_short},
};

const struct nt_pseudo_table nt_container_files = {rows, sizeof(rows) / sizeof(rows[0])};

static enum nt_status generate_document(const struct nt_resolved_node *resolved, struct nt_buffer *out,
                                        struct nt_error *error)
{
    const struct nt_document_request request = nt_document_request(resolved);
    return resolved->document->write(&request, out, error);
}

static enum nt_status document_size(const struct nt_resolved_node *resolved, bool may_block,
                                    uint64_t *size_ret, struct nt_error *error)
{
    const struct nt_document_request request = nt_document_request(resolved);
    if (!resolved->document->bytes)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET,
                       "the size is unknown until the document is generated");
    *size_ret = resolved->document->bytes(&request);
    return NT_OK;
}

static enum nt_status open_document_text(const struct nt_resolved_node *resolved,
                                         struct nt_text_generator **text_ret, struct nt_error *error)
{
    const struct nt_document_request request = nt_document_request(resolved);
    return resolved->document->open(&request, text_ret, error);
}

const struct nt_pseudo_file nt_generated_document = {"", NT_VFS_GENERATED, .size = document_size,
                                                     .generate = generate_document};
const struct nt_pseudo_file nt_streamed_document = {"", NT_VFS_STREAMED, .open_text = open_document_text,
                                                    .is_short = nt_document_is_short};
