/* SPDX-License-Identifier: MIT
 *
 * How sums and settings of columns are told in JSON.
 */
#include "vfs/documents.h"

void nt_json_ratio(struct nt_json *json, uint64_t packed_bytes, uint64_t stored_bytes)
{
    nt_json_key(json, "ratio");
    if (stored_bytes)
        nt_json_double(json, (double)packed_bytes / (double)stored_bytes);
    else
        nt_json_null(json);
}

enum { SETTINGS = 1024 };

static void put_setting(struct nt_json *json, const struct nt_range *range, uint8_t *seen)
{
    uint32_t value = range->compression_settings;
    if (range->state != NT_RANGE_PRESENT || value >= SETTINGS || seen[value / 8] >> (value % 8) & 1)
        return;
    seen[value / 8] |= (uint8_t)(1u << (value % 8));
    nt_json_unsigned(json, value);
}

/* Of a column in a cluster; NT_NONE: of all that the cluster's group has ranges for. */
static void put_settings(struct nt_json *json, const struct nt_dataset *dataset, const struct nt_group *group,
                         uint32_t cluster, uint32_t column, uint8_t *seen)
{
    uint32_t count = 1;
    const struct nt_range *ranges = column == NT_NONE ? nt_cluster_ranges(dataset, group, cluster, &count)
                                                      : nt_group_range(dataset, group, cluster, column);
    for (uint32_t i = 0; i < count; i++)
        put_setting(json, &ranges[i], seen);
}

void nt_json_member_settings(struct nt_json *json, const struct nt_dataset *dataset, uint32_t column)
{
    uint8_t seen[SETTINGS / 8] = {0};
    struct nt_groups groups = nt_groups_of_column(dataset, column);
    nt_json_key(json, "compression_settings");
    nt_json_array(json);
    for (uint32_t g = groups.first; g < groups.end; g++) {
        const struct nt_group *group = &dataset->groups[g];
        for (uint32_t i = 0; i < group->clusters && nt_group_is_loaded(group); i++)
            put_settings(json, dataset, group, group->first_cluster + i, column, seen);
    }
    nt_json_end_array(json);
}
