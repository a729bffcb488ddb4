/* SPDX-License-Identifier: MIT
 *
 * The files of column.<k>/: a column as the file stores it; and of its pages.
 */
#include "base/overflow.h"
#include "vfs/stretch.h"
#include "vfs/documents.h"
#include "vfs/npy.h"
#include "vfs/pseudo.h"
#include "vfs/short_texts.h"

/* ---- data.bin, data.npy ---- */

/* A column of a type that is not known has no decoded elements. */
static const struct nt_decoder *decoder_of(const struct nt_scope *scope)
{
    return nt_column_decoder(scope->dataset, scope->column);
}

static bool has_data(const struct nt_scope *scope, unsigned parameter)
{
    (void)parameter;
    return decoder_of(scope)->encoding != NT_ENCODING_UNKNOWN;
}

enum { IS_NPY = 1 };

static enum nt_status measure(const struct nt_scope *scope, struct nt_buffer *header, uint64_t *bytes_ret,
                              struct nt_error *error)
{
    uint64_t elements, pages;
    enum nt_status status =
        nt_column_size(scope->vfs->reader, scope->dataset, scope->column, &elements, &pages, error);
    if (status == NT_OK && !nt_multiply(elements, decoder_of(scope)->element_bytes, bytes_ret))
        status = nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the size of the column overflows");
    if (status == NT_OK && scope->pseudo->parameter == IS_NPY)
        nt_npy_header(header, &scope->dataset->columns[scope->column].dtype, false, &elements, 1);
    return status == NT_OK && header->failed ? nt_fail_memory(error) : status;
}

static enum nt_status data_size(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
                                struct nt_error *error)
{
    struct nt_buffer header = {0};
    uint64_t bytes;
    if (!may_work &&
        !nt_groups_are_loaded(scope->dataset, nt_groups_of_column(scope->dataset, scope->column)))
        return nt_unknown_size(error);
    enum nt_status status = measure(scope, &header, &bytes, error);
    if (status == NT_OK && !nt_add(bytes, header.length, size_ret))
        status = nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the size of the column overflows");
    nt_buffer_deinit(&header);
    return status;
}

static enum nt_status data_open(const struct nt_scope *scope, struct nt_content **content_ret,
                                struct nt_error *error)
{
    const struct nt_stretch stretch = {scope->vfs->reader, scope->dataset, scope->column, NULL, 0};
    struct nt_buffer header = {0};
    uint64_t bytes;
    enum nt_status status = measure(scope, &header, &bytes, error);
    if (status == NT_OK)
        return nt_stretch_content(&stretch, &header, bytes, nt_stretch_read_decoded, content_ret, error);
    nt_buffer_deinit(&header);
    return status;
}

/* ---- the tables ---- */

static const struct nt_section *const pages_sections[] = {&nt_section_pages, NULL};

static const struct nt_pseudo rows[] = {
    {"column.json", NT_VFS_PRODUCED, .produce = nt_column_json},
    {"data.bin", NT_VFS_SIZED, .exists = has_data, .size = data_size, .open = data_open},
    {"data.npy", NT_VFS_SIZED, IS_NPY, .exists = has_data, .size = data_size, .open = data_open},
    {"pages.jsonl", NT_VFS_UNSIZED, .open_text = nt_pages_jsonl, .is_short = nt_pages_are_short},
    {"pages", NT_VFS_DIRECTORY, .sections = pages_sections},
};

const struct nt_pseudo_table nt_column_files = {rows, sizeof(rows) / sizeof(rows[0])};
