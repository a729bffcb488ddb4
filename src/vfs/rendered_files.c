/* SPDX-License-Identifier: MIT
 *
 * Files with data rendered for other tools: schema, rows as JSON Lines and CSV, single rows in rows.d,
 * Arrow tables, layout and SVG pictures. This file only defines their names and sizes; src/render
 * renders them.
 */
#include "vfs/vfs.h"

#include "core/base/built_in.h"
#include "core/base/memory.h"
#include "core/model/model.h"
#include "render/arrow/arrow.h"
#include "render/render.h"
#include "tools/tools.h"
#include "vfs/inode.h"
#include "vfs/tree.h"

/* ---- Schema, rows, tables and layout ---- */

/* ---- Schema ---- */

enum nt_status nt_schema_txt(const struct nt_resolved_node *resolved, struct nt_text_generator **text_ret,
                             struct nt_error *error)
{
    return nt_schema_lines(resolved->vfs->reader, resolved->dataset, NULL, 0, text_ret, error);
}

/* ---- Rows as text ---- */

enum nt_status nt_rows_jsonl(const struct nt_resolved_node *resolved, struct nt_text_generator **text_ret,
                             struct nt_error *error)
{
    return nt_rows_lines(resolved->vfs->reader, resolved->dataset, resolved->field, 0, UINT64_MAX, text_ret,
                         error);
}

enum nt_status nt_head_jsonl(const struct nt_resolved_node *resolved, struct nt_text_generator **text_ret,
                             struct nt_error *error)
{
    return nt_rows_lines(resolved->vfs->reader, resolved->dataset, resolved->field, 0, NT_HEAD_ROWS, text_ret,
                         error);
}

enum nt_status nt_table_csv(const struct nt_resolved_node *resolved, struct nt_text_generator **text_ret,
                            struct nt_error *error)
{
    return nt_csv_lines(resolved->vfs->reader, resolved->dataset, text_ret, error);
}

/* ---- table.arrow ---- */

static struct nt_arrow_options arrow_options(const struct nt_resolved_node *resolved)
{
    return (struct nt_arrow_options){.struct_bytes = sizeof(struct nt_arrow_options),
                                     .strings_as_binary = resolved->vfs->options.arrow_strings_binary,
                                     .unions = resolved->vfs->options.arrow_unions};
}

enum nt_status nt_table_arrow_size(const struct nt_resolved_node *resolved, bool may_block,
                                   uint64_t *size_ret, struct nt_error *error)
{
    const struct nt_arrow_options options = arrow_options(resolved);
    return nt_open_file_arrow_bytes(resolved->opened, resolved->vfs->reader, &options, resolved->dataset,
                                    may_block, size_ret, error);
}

struct arrow_content {
    struct nt_content content;
    struct nt_open_file *opened; /* owns the table */
    const struct nt_dataset *dataset;
    struct nt_arrow *arrow;
};

static enum nt_status read_arrow(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                                 size_t *bytes_ret, struct nt_error *error)
{
    *bytes_ret = bytes;
    return nt_arrow_file_read(((struct arrow_content *)content)->arrow, offset, buffer, bytes, error);
}

static void close_arrow(struct nt_content *content)
{
    struct arrow_content *arrow = (struct arrow_content *)content;
    nt_open_file_release_arrow(arrow->opened, arrow->dataset);
    nt_content_free(content);
}

static const struct nt_content_ops arrow_ops = {.read = read_arrow, .close = close_arrow};

enum nt_status nt_table_arrow_open(const struct nt_resolved_node *resolved, struct nt_content **content_ret,
                                   struct nt_error *error)
{
    const struct nt_arrow_options options = arrow_options(resolved);
    struct nt_buffer none = {0};
    struct nt_arrow *arrow;
    enum nt_status status = nt_open_file_arrow(resolved->opened, resolved->vfs->reader, &options,
                                               resolved->dataset, &arrow, error);
    if (status != NT_OK)
        return status;
    struct arrow_content *content =
        nt_content_new(sizeof(*content), &arrow_ops, &none, nt_arrow_file_bytes(arrow), error);
    if (!content) {
        nt_open_file_release_arrow(resolved->opened, resolved->dataset);
        return NT_NO_MEMORY;
    }
    content->opened = resolved->opened;
    content->dataset = resolved->dataset;
    content->arrow = arrow;
    *content_ret = &content->content;
    return NT_OK;
}

bool nt_has_table_arrow(const struct nt_resolved_node *resolved, unsigned parameter)
{
    return NT_HAS_ARROW;
}

/* ---- layout.jsonl and pictures ---- */

enum nt_status nt_layout_jsonl(const struct nt_resolved_node *resolved, struct nt_text_generator **text_ret,
                               struct nt_error *error)
{
    return nt_layout_lines(resolved->file, text_ret, error);
}

enum nt_status nt_layout_svg_size(const struct nt_resolved_node *resolved, bool may_block, uint64_t *size_ret,
                                  struct nt_error *error)
{
    *size_ret = nt_layout_svg_bytes(resolved->file);
    return NT_OK;
}

enum nt_status nt_layout_svg_file(const struct nt_resolved_node *resolved, struct nt_buffer *out,
                                  struct nt_error *error)
{
    return nt_layout_svg(resolved->file, out, error);
}

enum nt_status nt_sizes_svg_size(const struct nt_resolved_node *resolved, bool may_block, uint64_t *size_ret,
                                 struct nt_error *error)
{
    *size_ret = nt_sizes_svg_bytes(resolved->dataset);
    return NT_OK;
}

enum nt_status nt_sizes_svg_file(const struct nt_resolved_node *resolved, struct nt_buffer *out,
                                 struct nt_error *error)
{
    return nt_sizes_svg(resolved->dataset, out, error);
}

/* ---- Single rows ---- */

/* One line, generated at once. */
static enum nt_status entry_text(const struct nt_resolved_node *resolved, struct nt_text_generator **text_ret,
                                 struct nt_error *error)
{
    return nt_rows_lines(resolved->vfs->reader, resolved->dataset, NT_NONE, resolved->node.number,
                         resolved->node.number + 1, text_ret, error);
}

const struct nt_pseudo_file nt_entry_file = {".json", NT_VFS_STREAMED, .open_text = entry_text,
                                             .is_short = nt_entry_is_short};

static enum nt_status entries_find(const struct nt_resolved_node *directory, const char *name,
                                   uint64_t *node_ret, struct nt_error *error)
{
    struct nt_node node = {.type = NT_NODE_ENTRY, .owner = directory->node.owner};
    struct nt_resolved_node complete = *directory;
    if (!nt_parse_between(name, "", nt_entry_file.name, &node.number))
        return nt_fail_no_such_file(error);
    enum nt_status status = nt_node_resolve_stub(&complete, true, error);
    if (status == NT_OK &&
        (node.number >= nt_dataset_entries(complete.dataset) || !nt_node_pack(&node, node_ret)))
        return nt_fail_no_such_file(error);
    return status;
}

const struct nt_dir_source nt_dir_source_entries = {.find = entries_find};
