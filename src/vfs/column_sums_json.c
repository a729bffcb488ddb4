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

static void put_setting(struct nt_json *json, const struct nt_range *range, uint8_t *seen, uint32_t limit)
{
    uint32_t value = range->compression_settings;
    if (range->state != NT_RANGE_PRESENT || value >= limit || seen[value / 8] >> (value % 8) & 1)
        return;
    seen[value / 8] |= (uint8_t)(1u << (value % 8));
    nt_json_unsigned(json, value);
}

void nt_json_member_settings(struct nt_json *json, const struct nt_dataset *dataset, uint32_t column)
{
    enum { LIMIT = 1024 };
    uint8_t seen[LIMIT / 8] = {0};
    uint32_t first = column == NT_NONE ? 0 : column;
    uint32_t end = column == NT_NONE ? dataset->column_count : column + 1;
    nt_json_key(json, "compression_settings");
    nt_json_array(json);
    for (uint32_t g = 0; g < dataset->group_count; g++) {
        const struct nt_group *group = &dataset->groups[g];
        for (uint32_t i = 0; i < group->clusters && nt_group_is_loaded(group); i++)
            for (uint32_t c = first; c < end; c++)
                put_setting(json, nt_group_range(dataset, group, group->first_cluster + i, c), seen, LIMIT);
    }
    nt_json_end_array(json);
}

bool nt_is_loaded(const struct nt_dataset *dataset)
{
    for (uint32_t i = 0; i < dataset->group_count; i++)
        if (!nt_group_is_loaded(&dataset->groups[i]))
            return false;
    return true;
}
