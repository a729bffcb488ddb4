/* SPDX-License-Identifier: MIT
 *
 * In: page lists, and the first bytes of a few pages. Out: what each column takes, and how it is compressed.
 */
#include "tools/inspect.h"
#include "read/page.h"

#include <stdlib.h>

#include "read/load.h"
#include "tools/stored_once.h"

static bool is_compressed(const struct nt_dataset *dataset, const struct nt_page *page)
{
    uint64_t packed, decoded;
    return nt_page_sizes(dataset, page, &packed, &decoded, NULL) != NT_OK || page->stored_bytes != packed;
}

/* The algorithm of the first compressed page; 0 where there is none, or where the file's bytes do not tell.
 */
static enum nt_status algorithm_of(struct nt_dataset *dataset, const struct nt_page *pages, uint32_t count,
                                   unsigned *bit_ret, struct nt_error *error)
{
    enum nt_algorithm algorithm;
    *bit_ret = 0;
    for (uint32_t i = 0; i < count; i++)
        if (is_compressed(dataset, &pages[i])) {
            enum nt_status status = nt_page_find_algorithm(dataset, &pages[i], &algorithm, error);
            *bit_ret = status == NT_OK ? 1u << algorithm : 0;
            return nt_is_machine_failure(status) ? status : NT_OK;
        }
    return NT_OK;
}

/* Of page lists that are loaded. */
static enum nt_status inspect_pages(struct nt_dataset *dataset, struct nt_inspected *inspected,
                                    struct nt_error *error)
{
    uint64_t settings = UINT64_MAX; /* of the clusters that were looked at last */
    struct nt_groups groups = nt_groups_of_column(dataset, inspected->column);
    for (uint32_t g = groups.first; g < groups.end; g++) {
        const struct nt_group *group = &dataset->groups[g];
        for (uint32_t i = 0; i < group->clusters && nt_group_is_loaded(group); i++) {
            const struct nt_range *range =
                nt_group_range(dataset, group, group->first_cluster + i, inspected->column);
            if (range->state != NT_RANGE_PRESENT)
                continue;
            const struct nt_page *pages = group->pages + range->first_page;
            for (uint32_t p = 0; p < range->pages; p++)
                if (pages[p].stored_bytes > inspected->largest_page)
                    inspected->largest_page = pages[p].stored_bytes;
            if (range->compression_settings == settings)
                continue;
            unsigned found;
            enum nt_status status = algorithm_of(dataset, pages, range->pages, &found, error);
            if (status != NT_OK)
                return status;
            inspected->algorithms |= found;
            if (found)
                settings = range->compression_settings;
        }
    }
    if (!inspected->algorithms && inspected->sums.pages)
        inspected->algorithms = 1u << NT_ALGORITHM_NONE;
    return NT_OK;
}

/* ---- all ---- */

static bool is_below(const struct nt_dataset *dataset, uint32_t field, uint32_t top)
{
    while (field != NT_NONE && field != top)
        field = dataset->fields[field].parent;
    return field == top;
}

static void add(struct nt_inspected *total, const struct nt_inspected *column)
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

static enum nt_status count_once(const struct nt_dataset *dataset, const struct nt_inspected *inspected,
                                 uint32_t count, struct nt_inspected *total, struct nt_error *error)
{
    uint32_t *columns = calloc((size_t)count + 1, sizeof(*columns));
    if (!columns)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < count; i++)
        columns[i] = inspected[i].column;
    enum nt_status status = nt_stored_once(dataset, columns, count, &total->once_bytes, error);
    free(columns);
    return status;
}

enum nt_status nt_inspect(struct nt_dataset *of, uint32_t field, struct nt_inspected **columns_ret,
                          uint32_t *count_ret, struct nt_error *error)
{
    struct nt_dataset *dataset;
    enum nt_status status = nt_dataset_stored(of, &dataset, error);
    if (status != NT_OK)
        return status;
    struct nt_inspected total = {.column = NT_NONE, .sums = {.is_complete = true}};
    struct nt_inspected *columns = calloc((size_t)dataset->column_count + 1, sizeof(*columns));
    uint32_t count = 0;
    if (!columns)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < dataset->column_count && status == NT_OK; i++) {
        if (!is_below(dataset, dataset->columns[i].field, field))
            continue;
        struct nt_inspected *column = &columns[count++];
        column->column = i;
        status = nt_column_sums(dataset, i, &column->sums, error);
        if (status == NT_OK)
            status = inspect_pages(dataset, column, error);
        add(&total, column);
    }
    if (status == NT_OK)
        status = count_once(dataset, columns, count, &total, error);
    if (status != NT_OK) {
        free(columns);
        return status;
    }
    columns[count] = total;
    *columns_ret = columns;
    *count_ret = count;
    return NT_OK;
}

void nt_append_algorithms(struct nt_buffer *out, unsigned algorithms)
{
    const char *separator = "";
    for (unsigned i = 0; i < NT_ALGORITHM_COUNT; i++)
        if (algorithms & 1u << i) {
            nt_buffer_format(out, "%s%s", separator, nt_algorithm_name(i));
            separator = ",";
        }
}
