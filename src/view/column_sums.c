/* SPDX-License-Identifier: MIT
 *
 * What the pages of columns sum up to, in one pass over the page lists.
 */
#include "model/model.h"
#include "view/column_sums.h"
#include "page/page.h"

#include <ntuple/read.h>

static void add_page(const struct nt_dataset *dataset, const struct nt_page *page,
                     struct nt_column_sums *sums)
{
    uint64_t packed = 0, decoded = 0;
    sums->pages++;
    sums->stored_bytes += page->stored_bytes;
    if (nt_page_sizes(dataset, page, &packed, &decoded, NULL) == NT_OK) {
        sums->packed_bytes += packed;
        sums->decoded_bytes += decoded;
    }
    if (sums->checksum == NT_CHECKSUM_NONE)
        sums->checksum = page->checksum;
}

static void add_range(const struct nt_dataset *dataset, const struct nt_group *group,
                      const struct nt_range *range, struct nt_column_sums *sums)
{
    if (range->state != NT_RANGE_PRESENT)
        return;
    sums->elements += nt_range_elements(group, range);
    for (uint32_t i = 0; i < range->pages; i++)
        add_page(dataset, &group->pages[(size_t)range->first_page + i], sums);
}

/* Of the columns from `first` to before `end`. */
static void add_cluster(const struct nt_dataset *dataset, const struct nt_group *group, uint32_t cluster,
                        uint32_t first, uint32_t end, struct nt_column_sums *sums)
{
    for (uint32_t i = first; i < end; i++)
        add_range(dataset, group, nt_group_range(dataset, group, cluster, i), sums);
}

enum nt_status nt_column_sums(struct nt_dataset *dataset, uint32_t column, struct nt_column_sums *sums,
                              struct nt_error *error)
{
    uint32_t first = column == NT_NONE ? 0 : column;
    uint32_t end = column == NT_NONE ? dataset->column_count : column + 1;
    enum nt_status status = nt_dataset_load_readable(dataset, error);
    *sums = (struct nt_column_sums){.is_complete = true};
    for (uint32_t g = 0; g < dataset->group_count && status == NT_OK; g++) {
        const struct nt_group *group = &dataset->groups[g];
        sums->is_complete &= nt_group_is_loaded(group);
        for (uint32_t i = 0; i < group->clusters && nt_group_is_loaded(group); i++)
            add_cluster(dataset, group, group->first_cluster + i, first, end, sums);
    }
    return status;
}

void nt_cluster_sums(const struct nt_dataset *dataset, const struct nt_group *group, uint32_t cluster,
                     struct nt_column_sums *sums)
{
    *sums = (struct nt_column_sums){.is_complete = true};
    add_cluster(dataset, group, cluster, 0, dataset->column_count, sums);
}
