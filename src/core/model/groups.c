/* SPDX-License-Identifier: MIT
 *
 * In: a column or a field. Out: the cluster groups whose page lists tell of it, and its ranges there. Of most data
 * sets these are all groups. Where a file tells of each field in another place, a field has groups of its own, so
 * that nobody who wants one field reads of the others.
 */
#include "core/base/search.h"
#include "core/model/model.h"

static struct nt_groups all_groups(const struct nt_dataset *dataset)
{
    return (struct nt_groups){0, dataset->group_count};
}

struct nt_groups nt_groups_of_column(const struct nt_dataset *dataset, uint32_t column)
{
    if (!dataset->field_groups || column == NT_NONE)
        return all_groups(dataset);
    uint32_t group = dataset->field_groups[dataset->columns[column].field];
    return (struct nt_groups){group, group + dataset->part_count};
}

struct nt_groups nt_groups_of_field(const struct nt_dataset *dataset, uint32_t field)
{
    uint32_t count;
    if (!dataset->field_groups || field == NT_NONE)
        return all_groups(dataset);
    const uint32_t *columns = nt_field_columns(dataset, field, &count); /* perhaps another field's */
    return count ? nt_groups_of_column(dataset, columns[0]) : (struct nt_groups){0, 0};
}

bool nt_groups_are_loaded(const struct nt_dataset *dataset, struct nt_groups groups)
{
    for (uint32_t i = groups.first; i < groups.end; i++)
        if (!nt_group_is_loaded(&dataset->groups[i]))
            return false;
    return true;
}

/* ---- clusters and ranges ---- */

uint32_t nt_groups_clusters(const struct nt_dataset *dataset, struct nt_groups groups, uint32_t *count_ret)
{
    *count_ret = 0;
    if (!dataset->field_groups) {
        *count_ret = dataset->cluster_count;
        return 0;
    }
    if (groups.first == groups.end)
        return 0;
    const struct nt_group *last = &dataset->groups[groups.end - 1];
    uint32_t first = dataset->groups[groups.first].first_cluster;
    *count_ret = last->first_cluster + last->clusters - first;
    return first;
}

uint32_t nt_group_column_count(const struct nt_dataset *dataset, const struct nt_group *group)
{
    return dataset->field_groups ? dataset->fields[group->field].column_count : dataset->column_count;
}

uint32_t nt_group_place(const struct nt_dataset *dataset, const struct nt_group *group, uint32_t column)
{
    const struct nt_column *info = &dataset->columns[column];
    if (!dataset->field_groups)
        return column;
    if (info->field != group->field)
        return NT_NONE;
    return info->representation * dataset->fields[group->field].columns_per_representation + info->position;
}

const struct nt_range *nt_group_range(const struct nt_dataset *dataset, const struct nt_group *group,
                                      uint32_t cluster, uint32_t column)
{
    static const struct nt_range absent = {.state = NT_RANGE_ABSENT};
    uint32_t place = nt_group_place(dataset, group, column), count;
    return place == NT_NONE ? &absent : nt_cluster_ranges(dataset, group, cluster, &count) + place;
}

struct nt_cluster nt_dataset_cluster(const struct nt_dataset *dataset, uint32_t cluster)
{
    if (dataset->clusters)
        return dataset->clusters[cluster];
    const struct nt_group *group = &dataset->groups[cluster]; /* a group has one cluster, of its own number */
    return (struct nt_cluster){.first_entry = group->first_entry,
                               .entries = group->entries,
                               .group = cluster,
                               .column_group = NT_NONE};
}

struct nt_group_more nt_group_more(const struct nt_dataset *dataset, const struct nt_group *group)
{
    if (dataset->group_more)
        return dataset->group_more[group - dataset->groups];
    return (struct nt_group_more){.metadata_bytes = dataset->part_metadata_bytes};
}

NT_DEFINE_LAST_AT_MOST(find_group, struct nt_group, .first_cluster)

struct nt_group *nt_cluster_group(const struct nt_dataset *dataset, uint32_t cluster)
{
    return &dataset->groups[find_group(dataset->groups, dataset->group_count, cluster)];
}

NT_DEFINE_LAST_AT_MOST(find_column, uint32_t, )

bool nt_cluster_holds(const struct nt_dataset *dataset, uint32_t cluster, uint32_t column)
{
    if (dataset->field_groups)
        return nt_group_place(dataset, nt_cluster_group(dataset, cluster), column) != NT_NONE;
    uint32_t number = dataset->clusters[cluster].column_group;
    if (number == NT_NONE)
        return true;
    if (number >= dataset->column_group_count)
        return false;
    const struct nt_column_group *group = &dataset->column_groups[number];
    return group->count && group->columns[find_column(group->columns, group->count, column)] == column;
}

uint64_t nt_range_elements(const struct nt_group *group, const struct nt_range *range)
{
    if (range->pages == 0)
        return 0;
    const struct nt_page *last = &group->pages[(size_t)range->first_page + range->pages - 1];
    return last->first_element + last->elements;
}
