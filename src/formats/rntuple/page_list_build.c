/* SPDX-License-Identifier: MIT
 *
 * In: a page list's records. Out: the model's ranges and pages of one cluster group, and its clusters'
 * entries. Specification, "Page List Envelope", "Suppressed Columns".
 */
#include "formats/rntuple/page_list.h"

#include <inttypes.h>

#include "core/base/overflow.h"
#include "formats/rntuple/page_builder.h"

struct filler {
    struct nt_dataset *dataset;
    struct nt_group *group;
    const struct nt_envelope *envelope;
    struct nt_page_builder builder;
    struct nt_error *error;
};

/* ---- columns ---- */

static enum nt_status fill_pages(struct filler *filler, uint32_t column, struct nt_column_pages *pages)
{
    for (uint32_t i = 0; i < pages->pages.items; i++) {
        struct nt_page_record record = nt_page_record_read(filler->envelope, &pages->pages.payload);
        enum nt_status status = nt_page_builder_add(&filler->builder, column, &record, filler->error);
        if (status != NT_OK)
            return status;
    }
    return nt_envelope_check(filler->envelope, &pages->pages.payload, "list of pages", filler->error);
}

static enum nt_status fill_range(struct filler *filler, struct nt_cursor *columns, uint32_t cluster,
                                 uint32_t column)
{
    struct nt_column_pages pages;
    enum nt_status status = nt_column_pages_read(filler->envelope, columns, &pages, filler->error);
    if (status == NT_OK)
        status = nt_group_builder_start(&filler->builder.group, cluster, column, filler->error);
    if (status == NT_OK)
        status = fill_pages(filler, column, &pages);
    if (status == NT_OK)
        status = nt_column_pages_finish(filler->envelope, &pages, filler->error);
    if (status != NT_OK)
        return status;
    struct nt_range *range = filler->builder.group.range;
    range->state = pages.is_suppressed ? NT_RANGE_SUPPRESSED : NT_RANGE_PRESENT;
    range->first_element = pages.first_element;
    range->compression_settings = pages.compression_settings;
    return NT_OK;
}

/* A cluster lists its columns in order of id, or as its column group does. Columns behind the end of the list
 * were added later: they are absent from this cluster. */
static enum nt_status fill_cluster(struct filler *filler, struct nt_cursor *clusters, uint32_t cluster)
{
    struct nt_dataset *dataset = filler->dataset;
    uint32_t group_number = dataset->clusters[cluster].column_group;
    const struct nt_column_group *shard =
        group_number == NT_NONE ? NULL : &dataset->column_groups[group_number];
    uint32_t most = shard ? shard->count : dataset->column_count;
    struct nt_frame columns;
    enum nt_status status = nt_cluster_columns_read(filler->envelope, clusters, &columns, filler->error);
    if (status == NT_OK && columns.items > most)
        status = nt_envelope_fail(filler->envelope, &columns.payload, NT_CORRUPT, filler->error,
                                  "cluster %u lists %u columns, but there are only %u", cluster,
                                  columns.items, most);
    for (uint32_t i = 0; status == NT_OK && i < columns.items; i++)
        status = fill_range(filler, &columns.payload, cluster, shard ? shard->columns[i] : i);
    return status;
}

/* ---- clusters ---- */

static enum nt_status fill_summaries(struct filler *filler, struct nt_frame *summaries)
{
    struct nt_dataset *dataset = filler->dataset;
    struct nt_group *group = filler->group;
    if (summaries->items != group->clusters)
        return nt_fail_number(filler->error, NT_CORRUPT, filler->envelope->offset,
                              "page list: cluster summaries", group->clusters, summaries->items);
    for (uint32_t i = 0; i < group->clusters; i++) {
        struct nt_cluster_summary summary;
        enum nt_status status =
            nt_cluster_summary_read(filler->envelope, &summaries->payload, &summary, filler->error);
        uint64_t end;
        if (status != NT_OK)
            return status;
        if (!nt_add(summary.first_entry, summary.entries, &end) || end > dataset->entries)
            return nt_fail(filler->error, NT_CORRUPT, filler->envelope->offset,
                           "page list: cluster %u has entries beyond the data set's %" PRIu64,
                           group->first_cluster + i, dataset->entries);
        dataset->clusters[group->first_cluster + i] = (struct nt_cluster){
            summary.first_entry, summary.entries, (uint32_t)(group - dataset->groups), summary.column_group};
    }
    return NT_OK;
}

static enum nt_status check_column_groups(const struct filler *filler)
{
    const struct nt_dataset *dataset = filler->dataset;
    for (uint32_t i = 0; i < filler->group->clusters; i++) {
        uint32_t column_group = dataset->clusters[filler->group->first_cluster + i].column_group;
        if (column_group != NT_NONE && column_group >= dataset->column_group_count)
            return nt_fail(filler->error, NT_CORRUPT, filler->envelope->offset,
                           "page list: cluster %u is of column group %u, but there are only %u",
                           filler->group->first_cluster + i, column_group, dataset->column_group_count);
    }
    return NT_OK;
}

static enum nt_status fill(struct filler *filler, uint64_t header_checksum)
{
    struct nt_page_list list;
    enum nt_status status = nt_page_list_read(filler->envelope, &list, filler->error);
    if (status == NT_OK && filler->envelope->generation->has_summaries_in_page_list) {
        status =
            nt_header_checksum_check(filler->envelope, header_checksum, list.header_checksum, filler->error);
        if (status == NT_OK)
            status = fill_summaries(filler, &list.summaries);
    }
    if (status == NT_OK)
        status = check_column_groups(filler);
    if (status == NT_OK && list.clusters.items != filler->group->clusters)
        status = nt_fail_number(filler->error, NT_CORRUPT, filler->envelope->offset, "page list: clusters",
                                filler->group->clusters, list.clusters.items);
    if (status != NT_OK)
        return status;
    status = nt_page_builder_init(&filler->builder, filler->dataset,
                                  (uint32_t)(filler->group - filler->dataset->groups), filler->envelope,
                                  filler->error);
    for (uint32_t i = 0; status == NT_OK && i < filler->group->clusters; i++)
        status = fill_cluster(filler, &list.clusters.payload, filler->group->first_cluster + i);
    return nt_page_builder_finish(&filler->builder, status, filler->error);
}

enum nt_status nt_page_list_build(struct nt_dataset *dataset, uint32_t group,
                                  const struct nt_envelope *envelope, uint64_t header_checksum,
                                  struct nt_error *error)
{
    struct filler filler = {
        .dataset = dataset,
        .group = &dataset->groups[group],
        .envelope = envelope,
        .error = error,
    };
    return fill(&filler, header_checksum);
}
