/* SPDX-License-Identifier: MIT
 *
 * Loads the page list of a cluster and returns the range of a column in it.
 */
#pragma once

#include "core/model/model.h"

static inline enum nt_status column_range(struct nt_dataset *dataset, uint32_t cluster, uint32_t column,
                                          const struct nt_range **range_ret, struct nt_error *error)
{
    struct nt_group *group;
    enum nt_status status = nt_group_pin(dataset, nt_cluster_group(dataset, cluster), &group, error);
    if (status == NT_OK) {
        *range_ret = nt_group_range(dataset, group, cluster, column);
        nt_group_keep(group);
    }
    return status;
}
