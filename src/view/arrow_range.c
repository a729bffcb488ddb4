/* SPDX-License-Identifier: MIT
 *
 * A range of entries: the clusters that it lies in, and of the first and the last one only a part. A table
 * counts everything from the borders of its clusters, so these are all that is cut: the rows of a field that
 * belong to the range begin where the entry's rows of its parent do, and so on up to the top.
 */
#include <stdlib.h>
#include <string.h>

#include "base/overflow.h"
#include "base/search.h"
#include "model/kind.h"
#include "page/stream.h"
#include "view/arrow_internal.h"

enum { BLOCK_ROWS = 16384 };

static const uint64_t unknown = UINT64_MAX;

NT_DEFINE_LAST_AT_MOST(find_cluster, uint64_t, )

/* ---- the range ---- */

enum nt_status nt_arrow_check_range(const struct nt_arrow *arrow, struct nt_error *error)
{
    const struct nt_arrow_options *options = &arrow->options;
    if (!options->has_range || nt_fits(options->first_entry, options->entries, arrow->dataset->entries))
        return NT_OK;
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%llu entries from %llu on: there are %llu",
                   (unsigned long long)options->entries, (unsigned long long)options->first_entry,
                   (unsigned long long)arrow->dataset->entries);
}

static void keep_clusters(const struct nt_arrow *arrow, uint64_t *borders)
{
    memmove(borders, borders + arrow->first_cluster, (arrow->cluster_count + (size_t)1) * sizeof(*borders));
}

/* Clusters without entries may stand anywhere; none of them is left at the ends. */
static void find_clusters(struct nt_arrow *arrow)
{
    uint64_t first = arrow->options.first_entry, end = first + arrow->options.entries;
    uint32_t begin = 0, stop = arrow->cluster_count;
    while (begin < stop && arrow->entries[begin + 1] <= first)
        begin++;
    while (stop > begin && arrow->entries[stop - 1] >= end)
        stop--;
    arrow->first_cluster = begin;
    arrow->cluster_count = first < end ? stop - begin : 0;
}

enum nt_status nt_arrow_cut_entries(struct nt_arrow *arrow, struct nt_error *error)
{
    arrow->stored_clusters = arrow->cluster_count;
    if (!arrow->options.has_range)
        return NT_OK;
    find_clusters(arrow);
    keep_clusters(arrow, arrow->entries);
    if (arrow->cluster_count == 0)
        return NT_OK;
    uint64_t cuts[2] = {arrow->options.first_entry, arrow->options.first_entry + arrow->options.entries};
    uint64_t *ends[2] = {&arrow->entries[0], &arrow->entries[arrow->cluster_count]};
    for (unsigned side = 0; side < 2; side++) {
        if (*ends[side] == cuts[side])
            continue;
        *ends[side] = cuts[side];
        arrow->cut[side] = malloc((arrow->dataset->field_count + (size_t)1) * sizeof(uint64_t));
        if (!arrow->cut[side])
            return nt_fail_memory(error);
        memset(arrow->cut[side], 0xFF, (arrow->dataset->field_count + (size_t)1) * sizeof(uint64_t));
    }
    return NT_OK;
}

void nt_arrow_forget_cuts(struct nt_arrow *arrow)
{
    for (unsigned side = 0; side < 2; side++) {
        free(arrow->cut[side]);
        arrow->cut[side] = NULL;
    }
}

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
static enum nt_status find_row(const struct nt_arrow *arrow, uint32_t field, unsigned side, uint64_t *row_ret,
                               struct nt_error *error)
{
    uint32_t parent = arrow->dataset->fields[field].parent;
    uint64_t *known = &arrow->cut[side][field], row;
    enum nt_status status = NT_OK;
    if (*known == unknown && parent == NT_NONE) {
        *known = arrow->entries[side ? arrow->cluster_count : 0];
    } else if (*known == unknown) {
        status = find_row(arrow, parent, side, &row, error);
        if (status == NT_OK)
            status = pass_field(arrow, parent, field, row, known, error);
    }
    *row_ret = *known;
    return status;
}

enum nt_status nt_arrow_cut_borders(const struct nt_arrow *arrow, uint32_t field, bool are_bytes,
                                    uint64_t *borders, struct nt_error *error)
{
    if (!arrow->options.has_range)
        return NT_OK;
    keep_clusters(arrow, borders);
    for (unsigned side = 0; side < 2; side++) {
        uint64_t *first = side ? &borders[arrow->cluster_count - 1] : borders, at;
        if (!arrow->cut[side])
            continue;
        enum nt_status status = find_row(arrow, field, side, &at, error);
        if (status == NT_OK && are_bytes)
            status = read_offset(arrow, field, at, &at, error);
        if (status != NT_OK)
            return status;
        if (at < first[0] || at > first[1])
            return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "rows of a field before an entry",
                                  first[0], at);
        first[side] = at;
    }
    return NT_OK;
}
