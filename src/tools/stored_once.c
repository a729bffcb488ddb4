/* SPDX-License-Identifier: MIT
 *
 * In: page lists. Out: the bytes that pages cover, since writers merge equal pages.
 */
#include "tools/stored_once.h"

#include <stdlib.h>

#include "core/base/grow.h"

struct stretch {
    uint64_t offset, bytes;
    uint32_t source;
};

struct stretches {
    struct stretch *items;
    size_t count, capacity;
    uint64_t others; /* bytes of pages that have no place */
};

static int compare_stretches(const void *left, const void *right)
{
    const struct stretch *a = left, *b = right;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* The bytes that stretches in their order cover, each once. */
static uint64_t covered_bytes(const struct stretch *stretches, size_t count)
{
    uint64_t total = 0, end = 0;
    for (size_t i = 0; i < count; i++) {
        const struct stretch *stretch = &stretches[i];
        bool is_first = i == 0 || stretch->source != stretches[i - 1].source;
        uint64_t covered = is_first || end <= stretch->offset ? 0 : end - stretch->offset;
        if (covered < stretch->bytes) {
            total += stretch->bytes - covered;
            end = stretch->offset + stretch->bytes;
        }
    }
    return total;
}

/* What lies elsewhere has no place that could be shared. */
static bool has_place(const struct nt_page *page)
{
    return !page->is_missing && page->compression != NT_COMPRESSION_ELSEWHERE;
}

/* False without memory. */
static bool add_range(struct stretches *stretches, const struct nt_group *group, const struct nt_range *range)
{
    for (uint32_t i = 0; range->state == NT_RANGE_PRESENT && i < range->pages; i++) {
        const struct nt_page *page = &group->pages[(size_t)range->first_page + i];
        if (!has_place(page)) {
            stretches->others += page->stored_bytes;
            continue;
        }
        struct stretch *items =
            nt_grow(stretches->items, stretches->count, &stretches->capacity, sizeof(*items));
        if (!items)
            return false;
        stretches->items = items;
        items[stretches->count++] = (struct stretch){page->offset, page->stored_bytes, page->source};
    }
    return true;
}

static bool add_column(struct stretches *stretches, const struct nt_dataset *dataset, uint32_t column)
{
    struct nt_groups groups = nt_groups_of_column(dataset, column);
    for (uint32_t g = groups.first; g < groups.end; g++) {
        const struct nt_group *group = &dataset->groups[g];
        for (uint32_t i = 0; i < group->clusters && nt_group_is_loaded(group); i++)
            if (!add_range(stretches, group,
                           nt_group_range(dataset, group, group->first_cluster + i, column)))
                return false;
    }
    return true;
}

enum nt_status nt_stored_once(const struct nt_dataset *dataset, const uint32_t *columns,
                              uint32_t column_count, uint64_t *bytes_ret, struct nt_error *error)
{
    struct stretches stretches = {0};
    uint32_t count = columns ? column_count : dataset->column_count;
    bool has_memory = true;
    for (uint32_t c = 0; c < count && has_memory; c++)
        has_memory = add_column(&stretches, dataset, columns ? columns[c] : c);
    if (stretches.count)
        qsort(stretches.items, stretches.count, sizeof(*stretches.items), compare_stretches);
    *bytes_ret = covered_bytes(stretches.items, stretches.count) + stretches.others;
    free(stretches.items);
    return has_memory ? NT_OK : nt_fail_memory(error);
}
