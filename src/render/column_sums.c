/* SPDX-License-Identifier: MIT
 *
 * What the pages of columns sum up to, in one pass over the page lists.
 */
#include "core/model/model.h"
#include "render/column_sums.h"
#include "read/page.h"

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

/* Of a column; NT_NONE: of all that the group has ranges for. */
static void add_cluster(const struct nt_dataset *dataset, const struct nt_group *group, uint32_t cluster,
                        uint32_t column, struct nt_column_sums *sums)
{
    uint32_t count = 1;
    const struct nt_range *ranges = column == NT_NONE ? nt_cluster_ranges(dataset, group, cluster, &count)
                                                      : nt_group_range(dataset, group, cluster, column);
    for (uint32_t i = 0; i < count; i++)
        add_range(dataset, group, &ranges[i], sums);
}

enum nt_status nt_column_sums(struct nt_dataset *dataset, uint32_t column, struct nt_column_sums *sums,
                              struct nt_error *error)
{
    struct nt_groups groups = nt_groups_of_column(dataset, column);
    enum nt_status status = nt_groups_load_readable(dataset, groups, error);
    *sums = (struct nt_column_sums){.is_complete = true};
    for (uint32_t g = groups.first; g < groups.end && status == NT_OK; g++) {
        const struct nt_group *group = &dataset->groups[g];
        sums->is_complete &= nt_group_is_loaded(group);
        for (uint32_t i = 0; i < group->clusters && nt_group_is_loaded(group); i++)
            add_cluster(dataset, group, group->first_cluster + i, column, sums);
    }
    return status;
}

void nt_cluster_sums(const struct nt_dataset *dataset, const struct nt_group *group, uint32_t cluster,
                     struct nt_column_sums *sums)
{
    *sums = (struct nt_column_sums){.is_complete = true};
    add_cluster(dataset, group, cluster, NT_NONE, sums);
}
