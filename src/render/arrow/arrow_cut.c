/* SPDX-License-Identifier: MIT
 *
 * Clusters of a table that are parts of the data set's own: in come the rows of a field before each of its clusters,
 * out go those before each of the table's. A table counts everything from these, so they are all that is cut: the
 * rows of a field that belong to an entry begin where the entry's rows of its parent do, and so on up to the top.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/overflow.h"
#include "core/base/search.h"
#include "core/model/kind.h"
#include "read/stream.h"
#include "render/arrow/arrow_internal.h"
#include "render/arrow/arrow_texts.h"

enum { BLOCK_ROWS = 16384 };

static const uint64_t unknown = UINT64_MAX;

NT_DEFINE_LAST_AT_MOST(find_cluster, uint64_t, )

/* ---- where the rows of an entry begin ---- */

static enum nt_status read_offset(const struct nt_arrow *arrow, uint32_t field, uint64_t row,
                                  uint64_t *offset_ret, struct nt_error *error)
{
    struct nt_stream *stream;
    enum nt_status status =
        nt_stream_open(arrow->reader, arrow->dataset, field, NT_STREAM_OFFSETS, &stream, error);
    if (status != NT_OK)
        return status;
    status = nt_stream_read(stream, row * sizeof(*offset_ret), offset_ret, sizeof(*offset_ret), error);
    nt_stream_close(stream);
    return status;
}

/* Those of rows [first, end) of a variant that have an alternative. */
static enum nt_status count_tags(const struct nt_arrow *arrow, uint32_t variant, uint32_t tag, uint64_t first,
                                 uint64_t end, uint64_t *count, struct nt_error *error)
{
    struct nt_stream *stream;
    uint32_t *tags = malloc(BLOCK_ROWS * sizeof(*tags));
    if (!tags)
        return nt_fail_memory(error);
    enum nt_status status =
        nt_stream_open(arrow->reader, arrow->dataset, variant, NT_STREAM_TAGS, &stream, error);
    if (status != NT_OK) {
        free(tags);
        return status;
    }
    while (first < end && status == NT_OK) {
        uint64_t rows = end - first < BLOCK_ROWS ? end - first : BLOCK_ROWS;
        status = nt_stream_read(stream, first * sizeof(*tags), tags, rows * sizeof(*tags), error);
        for (uint64_t i = 0; i < rows && status == NT_OK; i++)
            *count += tags[i] == tag;
        first += rows;
    }
    nt_stream_close(stream);
    free(tags);
    return status;
}

/* The rows of an alternative that belong to rows of its variant before `row`: all of the clusters before, and
 * those that the tags of the cluster tell. */
static enum nt_status find_alternative(const struct nt_arrow *arrow, uint32_t variant, uint32_t field,
                                       uint64_t row, uint64_t *row_ret, struct nt_error *error)
{
    uint64_t *rows = NULL, *alternatives = NULL;
    uint32_t clusters, same, count, tag = 0;
    const uint32_t *children = nt_dataset_children(arrow->dataset, variant, &count);
    while (children[tag++] != field)
        ;
    enum nt_status status =
        nt_field_row_borders(arrow->reader, arrow->dataset, variant, &rows, &clusters, error);
    if (status == NT_OK)
        status = nt_field_row_borders(arrow->reader, arrow->dataset, field, &alternatives, &same, error);
    if (status == NT_OK && clusters != same)
        status =
            nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "clusters that hold a field", clusters, same);
    if (status == NT_OK) {
        uint32_t cluster = find_cluster(rows, clusters + 1, row);
        *row_ret = alternatives[cluster];
        status = count_tags(arrow, variant, tag, rows[cluster], row, row_ret, error);
    }
    free(rows);
    free(alternatives);
    return status;
}

/* From a row of a field to the first row of its child that belongs to it or to what follows. */
static enum nt_status pass_field(const struct nt_arrow *arrow, uint32_t field, uint32_t child, uint64_t row,
                                 uint64_t *row_ret, struct nt_error *error)
{
    const struct nt_field *f = &arrow->dataset->fields[field];
    if (f->kind == NT_FIELD_VARIANT)
        return find_alternative(arrow, field, child, row, row_ret, error);
    if (!nt_field_keeps_step(f))
        return read_offset(arrow, field, row, row_ret, error);
    return nt_multiply(row, nt_field_rows_below(f), row_ret)
               ? NT_OK
               : nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "more rows than can be counted");
}

/* How deep fields are in one another is bounded (NT_MAX_DEPTH). */
static enum nt_status find_row(const struct nt_arrow *arrow, uint32_t field, const struct nt_arrow_cut *cut,
                               uint64_t *row_ret, struct nt_error *error)
{
    uint32_t parent = arrow->dataset->fields[field].parent;
    uint64_t *known = &cut->rows[field], row;
    enum nt_status status = NT_OK;
    if (*known == unknown && parent == NT_NONE) {
        *known = cut->entry;
    } else if (*known == unknown) {
        status = find_row(arrow, parent, cut, &row, error);
        if (status == NT_OK)
            status = pass_field(arrow, parent, field, row, known, error);
    }
    *row_ret = *known;
    return status;
}

enum nt_status nt_arrow_items_before(const struct nt_arrow *arrow, uint32_t field,
                                     const struct nt_arrow_cut *cut, uint64_t *items_ret,
                                     struct nt_error *error)
{
    uint64_t row;
    struct nt_arrow_texts *texts = nt_arrow_texts_of(arrow, field);
    enum nt_status status = find_row(arrow, field, cut, &row, error);
    if (status != NT_OK)
        return status;
    return texts ? nt_arrow_texts_before(arrow, texts, row, 1, items_ret, error)
                 : read_offset(arrow, field, row, items_ret, error);
}

/* ---- cuts ---- */

enum nt_status nt_arrow_cut_init(const struct nt_arrow *arrow, uint64_t entry, uint32_t stored,
                                 struct nt_arrow_cut *cut, struct nt_error *error)
{
    size_t bytes = (arrow->dataset->field_count + (size_t)1) * sizeof(*cut->rows);
    *cut = (struct nt_arrow_cut){.entry = entry, .stored = stored, .rows = malloc(bytes)};
    if (!cut->rows)
        return nt_fail_memory(error);
    memset(cut->rows, 0xFF, bytes);
    return NT_OK;
}

void nt_arrow_cut_deinit(struct nt_arrow_cut *cut)
{
    free(cut->rows);
    cut->rows = NULL;
}

void nt_arrow_forget_cuts(struct nt_arrow *arrow)
{
    for (uint32_t i = 0; arrow->cuts && i <= arrow->cluster_count; i++)
        nt_arrow_cut_deinit(&arrow->cuts[i]);
    free(arrow->cuts);
    arrow->cuts = NULL;
}

/* `least` is the border before. */
static enum nt_status cut_border(const struct nt_arrow *arrow, uint32_t field, bool are_bytes,
                                 const uint64_t *borders, const struct nt_arrow_cut *cut, uint64_t least,
                                 uint64_t *border_ret, struct nt_error *error)
{
    uint64_t at = borders[cut->stored];
    enum nt_status status = NT_OK;
    if (cut->rows)
        status = are_bytes ? nt_arrow_items_before(arrow, field, cut, &at, error)
                           : find_row(arrow, field, cut, &at, error);
    if (status != NT_OK)
        return status;
    if (least < borders[cut->stored])
        least = borders[cut->stored];
    if (at < least)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "rows of a field before an entry, at least",
                              least, at);
    if (cut->rows && at > borders[cut->stored + 1])
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "rows of a field before an entry, at most",
                              borders[cut->stored + 1], at);
    *border_ret = at;
    return NT_OK;
}

enum nt_status nt_arrow_cut_borders(const struct nt_arrow *arrow, uint32_t field, bool are_bytes,
                                    uint64_t **borders, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (!arrow->cuts)
        return NT_OK;
    uint64_t *cut = malloc((arrow->cluster_count + (size_t)1) * sizeof(*cut));
    if (!cut)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i <= arrow->cluster_count && status == NT_OK; i++)
        status = cut_border(arrow, field, are_bytes, *borders, &arrow->cuts[i], i ? cut[i - 1] : 0, &cut[i],
                            error);
    free(*borders);
    *borders = cut;
    return status;
}

void nt_arrow_forget_borders(struct nt_arrow *arrow)
{
    for (uint32_t i = 0; i < arrow->node_count; i++) {
        struct nt_arrow_node *node = &arrow->nodes[i];
        free(node->byte_borders);
        free(node->space_borders);
        free(node->borders);
        node->byte_borders = node->space_borders = node->borders = NULL;
    }
    for (uint32_t i = 0; i < arrow->variant_count; i++)
        nt_arrow_variant_deinit(&arrow->variants[i], arrow->cluster_count);
}
