/* SPDX-License-Identifier: MIT
 *
 * In: a footer's records. Out: the model's cluster groups, clusters and column groups. Specification,
 * "Cluster Group Record Frame"; "Column Group Record Frame" and cluster summaries in the footer are the
 * drafts'.
 */
#include "formats/rntuple/footer.h"

#include <inttypes.h>

#include "core/base/arena.h"
#include "core/base/overflow.h"
#include "core/model/builder.h"

enum { LEAST_CLUSTER_BYTES = 8 };

static enum nt_status build_column_groups(struct nt_dataset *dataset,
                                          const struct nt_column_group_records *records,
                                          struct nt_error *error)
{
    uint32_t *columns = nt_arena_alloc(dataset->arena, records->column_count + 1u, sizeof(*columns));
    dataset->column_groups =
        nt_arena_alloc(dataset->arena, records->count + 1u, sizeof(*dataset->column_groups));
    if (!columns || !dataset->column_groups)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < records->column_count; i++) {
        if (records->columns[i] >= dataset->column_count)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "footer: a column group names column %u of %u",
                           records->columns[i], dataset->column_count);
        columns[i] = records->columns[i];
    }
    dataset->column_group_count = records->count;
    dataset->has_sharded_clusters = records->count > 0;
    for (uint32_t i = 0, first = 0; i < records->count; first = records->ends[i++]) {
        dataset->column_groups[i] = (struct nt_column_group){columns + first, records->ends[i] - first};
        for (uint32_t k = first + 1; k < records->ends[i]; k++)
            if (columns[k] <= columns[k - 1])
                return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                               "footer: column group %u is not in ascending order", i);
    }
    return NT_OK;
}

/* Clusters are counted by the footer long before their page lists prove them, and groups may share a list. */
static enum nt_status count_clusters(const struct nt_footer *footer, uint64_t *count_ret,
                                     struct nt_error *error)
{
    *count_ret = 0;
    for (uint32_t i = 0; i < footer->group_count; i++) {
        const struct nt_cluster_group_record *group = &footer->groups[i];
        if (group->clusters > group->page_list.length / LEAST_CLUSTER_BYTES)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "footer: cluster group %u has %u clusters in a page list of %" PRIu64 " bytes", i,
                           group->clusters, group->page_list.length);
        *count_ret += group->clusters;
    }
    return NT_OK;
}

static enum nt_status build_groups(struct nt_dataset *dataset, const struct nt_footer *footer,
                                   struct nt_error *error)
{
    uint64_t clusters;
    enum nt_status status = count_clusters(footer, &clusters, error);
    if (status != NT_OK)
        return status;
    status = nt_dataset_add_groups(dataset, footer->group_count, clusters, error);
    if (status != NT_OK) {
        nt_error_context(error, "footer");
        return status;
    }
    for (uint32_t i = 0, first = 0; i < footer->group_count; i++) {
        struct nt_group *group = &dataset->groups[i];
        group->first_entry = footer->groups[i].first_entry;
        group->entries = footer->groups[i].entries;
        group->first_cluster = first;
        group->clusters = footer->groups[i].clusters;
        dataset->group_more[i].metadata_bytes = footer->groups[i].page_list.length;
        first += group->clusters;
    }
    return NT_OK;
}

/* Drafts with the summaries in the footer: they are those of all groups, in order. */
static enum nt_status build_clusters(struct nt_dataset *dataset, const struct nt_footer *footer,
                                     struct nt_error *error)
{
    if (footer->summary_count != dataset->cluster_count)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET,
                              "footer: cluster summaries for the cluster groups", dataset->cluster_count,
                              footer->summary_count);
    for (uint32_t i = 0; i < dataset->group_count; i++) {
        struct nt_group *group = &dataset->groups[i];
        uint64_t first = UINT64_MAX, end = 0;
        for (uint32_t k = group->first_cluster; k < group->first_cluster + group->clusters; k++) {
            const struct nt_cluster_summary *summary = &footer->summaries[k];
            uint64_t cluster_end;
            if (!nt_add(summary->first_entry, summary->entries, &cluster_end))
                return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "footer: cluster %u ends beyond 2^64 entries",
                               k);
            dataset->clusters[k] =
                (struct nt_cluster){summary->first_entry, summary->entries, i, summary->column_group};
            first = summary->first_entry < first ? summary->first_entry : first;
            end = cluster_end > end ? cluster_end : end;
        }
        group->first_entry = group->clusters ? first : 0;
        group->entries = group->clusters ? end - first : 0;
    }
    dataset->clusters_known = true;
    return NT_OK;
}

static enum nt_status count_entries(struct nt_dataset *dataset, struct nt_error *error)
{
    for (uint32_t i = 0; i < dataset->group_count; i++) {
        uint64_t end;
        if (!nt_add(dataset->groups[i].first_entry, dataset->groups[i].entries, &end))
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "footer: cluster group %u ends beyond 2^64 entries", i);
        if (end > dataset->entries)
            dataset->entries = end;
    }
    return NT_OK;
}

enum nt_status nt_footer_build(struct nt_dataset *dataset, const struct nt_generation *generation,
                               const struct nt_footer *footer, struct nt_error *error)
{
    if (footer->extension_header_count > 0)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "footer: %u extension headers, a draft that is not known",
                       footer->extension_header_count);
    enum nt_status status = build_column_groups(dataset, &footer->column_groups, error);
    if (status == NT_OK)
        status = build_groups(dataset, footer, error);
    if (status == NT_OK && !generation->has_summaries_in_page_list)
        status = build_clusters(dataset, footer, error);
    if (status == NT_OK)
        status = count_entries(dataset, error);
    return status;
}
