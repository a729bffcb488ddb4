/* SPDX-License-Identifier: MIT
 *
 * The files of column.<k>/: a column as the file stores it; and of its pages.
 */
#include <string.h>

#include "core/base/overflow.h"
#include "vfs/stretch.h"
#include "vfs/documents.h"
#include "vfs/npy.h"
#include "vfs/pseudo.h"
#include "vfs/short_texts.h"

/* ---- data, ends, levels: .bin and .npy ---- */

enum { IS_NPY = 1, DATA = 0 << 1, ENDS = 1 << 1, LEVELS = 2 << 1 };

/* A column of elements that a file shows. */
struct shown {
    struct nt_dataset *dataset;
    uint32_t column;
};

/* Where values end and the levels around them are columns of the field, too, of the structure's side. */
static bool find_shown(const struct nt_scope *scope, unsigned parameter, struct shown *shown)
{
    unsigned which = parameter & ~(unsigned)IS_NPY;
    uint32_t count = 0;
    *shown = (struct shown){scope->dataset, scope->column};
    if (which == DATA) /* a column of a type that is not known has no decoded elements */
        return nt_column_decoder(shown->dataset, shown->column)->encoding != NT_ENCODING_UNKNOWN;
    shown->dataset =
        scope->dataset->whole->structure; /* it is there: the scope's data set is the other side */
    const uint32_t *columns = shown->dataset ? nt_field_columns(shown->dataset, scope->field, &count) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        shown->column = columns[i];
        if (!strcmp(shown->dataset->columns[columns[i]].type_name, which == ENDS ? "ends" : "levels"))
            return true;
    }
    return false;
}

static bool has_data(const struct nt_scope *scope, unsigned parameter)
{
    struct shown shown;
    return find_shown(scope, parameter, &shown);
}

static enum nt_status measure(const struct nt_scope *scope, const struct shown *shown,
                              struct nt_buffer *header, uint64_t *bytes_ret, struct nt_error *error)
{
    uint64_t elements, pages;
    enum nt_status status =
        nt_column_size(scope->vfs->reader, shown->dataset, shown->column, &elements, &pages, error);
    if (status == NT_OK &&
        !nt_multiply(elements, nt_column_decoder(shown->dataset, shown->column)->element_bytes, bytes_ret))
        status = nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the size of the column overflows");
    if (status == NT_OK && scope->pseudo->parameter & IS_NPY)
        nt_npy_header(header, &shown->dataset->columns[shown->column].dtype, false, &elements, 1);
    return status == NT_OK && header->failed ? nt_fail_memory(error) : status;
}

static enum nt_status data_size(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
                                struct nt_error *error)
{
    struct nt_buffer header = {0};
    struct shown shown;
    uint64_t bytes;
    find_shown(scope, scope->pseudo->parameter, &shown);
    if (!may_work && !nt_groups_are_loaded(shown.dataset, nt_groups_of_column(shown.dataset, shown.column)))
        return nt_unknown_size(error);
    enum nt_status status = measure(scope, &shown, &header, &bytes, error);
    if (status == NT_OK && !nt_add(bytes, header.length, size_ret))
        status = nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the size of the column overflows");
    nt_buffer_deinit(&header);
    return status;
}

static enum nt_status data_open(const struct nt_scope *scope, struct nt_content **content_ret,
                                struct nt_error *error)
{
    struct nt_buffer header = {0};
    struct shown shown;
    uint64_t bytes;
    find_shown(scope, scope->pseudo->parameter, &shown);
    const struct nt_stretch stretch = {scope->vfs->reader, shown.dataset, shown.column, NULL, 0};
    enum nt_status status = measure(scope, &shown, &header, &bytes, error);
    if (status == NT_OK)
        return nt_stretch_content(&stretch, &header, bytes, nt_stretch_read_decoded, content_ret, error);
    nt_buffer_deinit(&header);
    return status;
}

/* ---- the tables ---- */

static const struct nt_section *const pages_sections[] = {&nt_section_pages, NULL};

/* clang-format off */
#define STREAM(stem, which) \
    {stem ".bin", NT_VFS_SIZED, which, .exists = has_data, .size = data_size, .open = data_open}, \
    {stem ".npy", NT_VFS_SIZED, (which) | IS_NPY, .exists = has_data, .size = data_size, .open = data_open}
/* clang-format on */

static const struct nt_pseudo rows[] = {
    {"column.json", NT_VFS_PRODUCED, .produce = nt_column_json},
    STREAM("data", DATA),
    STREAM("ends", ENDS),
    STREAM("levels", LEVELS),
    {"pages.jsonl", NT_VFS_UNSIZED, .open_text = nt_pages_jsonl, .is_short = nt_pages_are_short},
    {"pages", NT_VFS_DIRECTORY, .sections = pages_sections},
};

const struct nt_pseudo_table nt_column_files = {rows, sizeof(rows) / sizeof(rows[0])};
