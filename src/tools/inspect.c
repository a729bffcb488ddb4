/* SPDX-License-Identifier: MIT
 *
 * Sums up the size of each column and finds its compression algorithms. The total counts bytes that
 * several pages share once.
 */
#include "tools/tools.h"

struct page_extent {
    uint64_t offset, bytes;
    uint32_t source, number; /* of the page in the part: orders pages that share their bytes */
};

/* Those of a part of the entries. */
struct extents {
    struct nt_dataset *dataset;
    const bool *chosen;
    uint32_t part;
    struct nt_windows *windows; /* that take them */
    uint32_t number;
    uint64_t bytes_elsewhere; /* of pages that are not in the file, and so share none */
    enum nt_status status;
};

static int compare_extents(const void *left, const void *right)
{
    const struct page_extent *a = left, *b = right;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static void add_range(void *context, const struct nt_dataset *dataset, const struct nt_group *group,
                      uint32_t cluster, uint32_t column, const struct nt_range *range)
{
    struct extents *extents = context;
    for (uint32_t i = 0; range->state == NT_RANGE_PRESENT && i < range->pages; i++) {
        const struct nt_page *page = &group->pages[(size_t)range->first_page + i];
        const struct page_extent extent = {page->offset, page->stored_bytes, page->source, extents->number++};
        if (page->is_missing || page->compression == NT_COMPRESSION_ELSEWHERE)
            extents->bytes_elsewhere += page->stored_bytes;
        else if (extents->status == NT_OK)
            extents->status = nt_windows_take(extents->windows, &extent);
    }
}

static enum nt_status visit_extents(void *context, struct nt_windows *windows, struct nt_error *error)
{
    struct extents *extents = context;
    extents->windows = windows;
    extents->number = 0;
    extents->bytes_elsewhere = 0;
    NT_TRY(nt_part_visit_ranges(extents->dataset, extents->part, extents->chosen, add_range, extents, NULL,
                                error));
    return extents->status;
}

/* Adds the bytes that a window's extents cover beyond `*last`, each counted once. */
static void add_covered(const struct nt_window_items *items, struct page_extent *last, uint64_t *bytes)
{
    const struct page_extent *extents = (const void *)items->bytes;
    for (size_t i = 0; i < items->count; i++) {
        const struct page_extent *extent = &extents[i];
        uint64_t end = extent->source == last->source ? last->offset + last->bytes : 0;
        uint64_t covered = end <= extent->offset ? 0 : end - extent->offset;
        if (covered < extent->bytes) {
            *bytes += extent->bytes - covered;
            *last = *extent;
        }
    }
}

static enum nt_status add_part(struct nt_windows *windows, uint64_t *bytes, struct nt_error *error)
{
    const struct extents *extents = windows->context;
    struct page_extent last = {.source = NT_NONE};
    NT_TRY(nt_windows_begin(windows, error));
    *bytes += extents->bytes_elsewhere;
    add_covered(&windows->items, &last, bytes);
    while (windows->next < windows->count) {
        NT_TRY(nt_windows_read(windows, error));
        add_covered(&windows->items, &last, bytes);
    }
    return NT_OK;
}

enum nt_status nt_unique_bytes(struct nt_dataset *dataset, const bool *chosen, uint64_t *bytes_ret,
                               struct nt_error *error)
{
    struct extents extents = {.dataset = dataset, .chosen = chosen};
    struct nt_windows windows = {.item_bytes = sizeof(struct page_extent),
                                 .compare = compare_extents,
                                 .pass = visit_extents,
                                 .context = &extents};
    enum nt_status status = NT_OK;
    *bytes_ret = 0;
    for (; extents.part < nt_visited_parts(dataset) && status == NT_OK; extents.part++)
        status = add_part(&windows, bytes_ret, error);
    nt_windows_deinit(&windows);
    return status;
}

/* The algorithm of the first compressed page; 0 if there is none or its bytes do not name one. */
static enum nt_status algorithm_of(struct nt_dataset *dataset, const struct nt_page *pages, uint32_t count,
                                   unsigned *bit_ret, struct nt_error *error)
{
    enum nt_algorithm algorithm;
    uint64_t packed, decoded;
    *bit_ret = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct nt_page *page = &pages[i];
        if (page->compression != NT_COMPRESSION_ROOT_BASKET && /* its key is not compressed */
            nt_page_sizes(dataset, page, &packed, &decoded, NULL) == NT_OK && page->stored_bytes == packed)
            continue;
        enum nt_status status = nt_page_find_algorithm(dataset, page, &algorithm, error);
        *bit_ret = status == NT_OK ? 1u << algorithm : 0;
        return nt_is_environmental(status) ? status : NT_OK;
    }
    return NT_OK;
}

/* Inspects the pages of loaded page lists. */
static enum nt_status inspect_pages(struct nt_dataset *dataset, struct nt_column_stats *stats,
                                    struct nt_error *error)
{
    uint64_t settings = UINT64_MAX; /* of the last inspected clusters */
    struct nt_groups groups = nt_groups_of_column(dataset, stats->column);
    for (uint32_t g = groups.first; g < groups.end; g++) {
        NT_CLEANUP(nt_group_unpin_at) struct nt_group *group = NULL;
        NT_TRY(nt_group_pin_readable(dataset, g, &group, error));
        for (uint32_t i = 0; group && i < group->clusters; i++) {
            const struct nt_range *range =
                nt_group_range(dataset, group, group->first_cluster + i, stats->column);
            if (range->state != NT_RANGE_PRESENT)
                continue;
            const struct nt_page *pages = group->pages + range->first_page;
            for (uint32_t p = 0; p < range->pages; p++)
                if (pages[p].stored_bytes > stats->largest_page)
                    stats->largest_page = pages[p].stored_bytes;
            if (range->compression_settings == settings)
                continue;
            unsigned found;
            NT_TRY(algorithm_of(dataset, pages, range->pages, &found, error));
            stats->algorithms |= found;
            if (found)
                settings = range->compression_settings;
        }
    }
    if (!stats->algorithms && stats->sums.pages)
        stats->algorithms = 1u << NT_ALGORITHM_NONE;
    return NT_OK;
}

bool *nt_columns_of_fields(const struct nt_dataset *dataset, const uint32_t *fields, size_t count,
                           bool has_around)
{
    enum { IS_ROOT = 1, IS_AROUND = 2 };
    NT_AUTO_FREE uint8_t *marks = calloc((size_t)dataset->field_count + 1, sizeof(*marks));
    bool *chosen = marks ? calloc((size_t)dataset->column_count + 1, sizeof(*chosen)) : NULL;
    for (size_t i = 0; marks && i < count; i++) {
        marks[fields[i]] |= IS_ROOT;
        for (uint32_t at = fields[i]; has_around && at != NT_NONE; at = dataset->fields[at].parent)
            marks[at] |= IS_AROUND;
    }
    for (uint32_t i = 0; chosen && i < dataset->field_count; i++) {
        uint32_t root = i, columns;
        while (root != NT_NONE && !(marks[root] & IS_ROOT))
            root = dataset->fields[root].parent;
        const uint32_t *used = nt_field_columns(dataset, i, &columns);
        for (uint32_t k = 0; (root != NT_NONE || marks[i] & IS_AROUND) && k < columns; k++)
            chosen[used[k]] = true;
    }
    return chosen;
}

static void add(struct nt_column_stats *total, const struct nt_column_stats *column)
{
    total->sums.elements += column->sums.elements;
    total->sums.pages += column->sums.pages;
    total->sums.stored_bytes += column->sums.stored_bytes;
    total->sums.packed_bytes += column->sums.packed_bytes;
    total->sums.decoded_bytes += column->sums.decoded_bytes;
    total->sums.is_complete &= column->sums.is_complete;
    total->algorithms |= column->algorithms;
    if (total->sums.checksum == NT_CHECKSUM_NONE)
        total->sums.checksum = column->sums.checksum;
    if (column->largest_page > total->largest_page)
        total->largest_page = column->largest_page;
}

enum nt_status nt_inspect(struct nt_dataset *of, const uint32_t *fields, uint32_t field_count,
                          struct nt_column_stats **columns_ret, uint32_t *count_ret, struct nt_error *error)
{
    struct nt_dataset *dataset;
    NT_TRY(nt_dataset_physical(of, &dataset, error));
    struct nt_column_stats total = {.column = NT_NONE, .sums = {.is_complete = true}};
    NT_AUTO_FREE struct nt_column_stats *columns =
        calloc((size_t)dataset->column_count + 1, sizeof(*columns));
    NT_AUTO_FREE bool *chosen = nt_columns_of_fields(dataset, fields, fields ? field_count : 0, false);
    uint32_t count = 0;
    NT_TRY(nt_check_memory(columns && chosen, error));
    for (uint32_t i = 0; i < dataset->column_count; i++) {
        if (fields && !chosen[i])
            continue;
        struct nt_column_stats *column = &columns[count++];
        column->column = i;
        NT_TRY(nt_column_sums(dataset, i, &column->sums, error));
        NT_TRY(inspect_pages(dataset, column, error));
        add(&total, column);
    }
    NT_TRY(nt_unique_bytes(dataset, fields ? chosen : NULL, &total.unique_bytes, error));
    columns[count] = total;
    *columns_ret = columns;
    *count_ret = count;
    columns = NULL;
    return NT_OK;
}

void nt_append_algorithms(struct nt_buffer *out, unsigned algorithms)
{
    const char *separator = "";
    for (unsigned i = 0; i < NT_ALGORITHM_COUNT; i++)
        if (algorithms & 1u << i) {
            nt_buffer_append_format(out, "%s%s", separator, nt_algorithm_name(i));
            separator = ",";
        }
}
