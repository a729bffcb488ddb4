/* SPDX-License-Identifier: MIT
 *
 * In: a verified predraft footer. Out: the model's one cluster group, its clusters, ranges and pages.
 */
#include "formats/rntuple/predraft.h"

#include <inttypes.h>

#include "core/base/overflow.h"
#include "core/base/search.h"
#include "formats/rntuple/page_builder.h"

/* ---- clusters ---- */

static enum nt_status skip_columns(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                   uint32_t count, struct nt_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        struct nt_predraft_column column;
        enum nt_status status = nt_predraft_column_read(envelope, cursor, &column, error);
        if (status != NT_OK)
            return status;
        for (uint32_t k = 0; k < column.pages && !cursor->failed; k++)
            nt_predraft_page_read(cursor);
    }
    return nt_envelope_check(envelope, cursor, "page of a column", error);
}

static enum nt_status build_cluster(struct nt_dataset *dataset, const struct nt_envelope *envelope,
                                    struct nt_cursor *cursor, uint32_t number, struct nt_error *error)
{
    struct nt_predraft_cluster cluster;
    enum nt_status status = nt_predraft_cluster_read(envelope, cursor, &cluster, error);
    if (status == NT_OK)
        status = skip_columns(envelope, cursor, cluster.columns, error);
    if (status != NT_OK)
        return status;
    uint64_t end;
    if (!nt_add(cluster.first_entry, cluster.entries, &end))
        return nt_fail(error, NT_CORRUPT, envelope->offset, "footer: cluster %u ends beyond 2^64 entries",
                       number);
    dataset->clusters[number] = (struct nt_cluster){cluster.first_entry, cluster.entries, 0, NT_NONE};
    if (end > dataset->entries)
        dataset->entries = end;
    return NT_OK;
}

enum nt_status nt_predraft_build(struct nt_dataset *dataset, const struct nt_envelope *envelope,
                                 struct nt_error *error)
{
    struct nt_cursor cursor;
    uint64_t clusters;
    enum nt_status status = nt_predraft_footer_open(envelope, &cursor, &clusters, error);
    if (status != NT_OK)
        return status;
    status = nt_dataset_add_groups(dataset, 1, clusters, error);
    if (status != NT_OK)
        return status;
    dataset->clusters_known = true;
    for (uint32_t i = 0; i < dataset->cluster_count && status == NT_OK; i++)
        status = build_cluster(dataset, envelope, &cursor, i, error);
    if (status != NT_OK)
        return status;
    dataset->groups[0].entries = dataset->entries;
    dataset->groups[0].clusters = dataset->cluster_count;
    return NT_OK;
}

/* ---- pages ---- */

NT_DEFINE_LAST_AT_MOST(last_column, struct nt_column, .id)

/* Columns stand by id: cluster lists name them in any order. */
static uint32_t find_column(const struct nt_dataset *dataset, uint64_t id)
{
    uint32_t found = last_column(dataset->columns, dataset->column_count, id);
    return found < dataset->column_count && dataset->columns[found].id == id ? found : NT_NONE;
}

static enum nt_status fill_column(struct nt_page_builder *builder, struct nt_cursor *cursor, uint32_t cluster,
                                  struct nt_error *error)
{
    const struct nt_envelope *envelope = builder->envelope;
    struct nt_predraft_column record;
    enum nt_status status = nt_predraft_column_read(envelope, cursor, &record, error);
    if (status != NT_OK)
        return status;
    uint32_t column = find_column(builder->group.dataset, record.id);
    if (column == NT_NONE)
        return nt_envelope_fail(envelope, cursor, NT_CORRUPT, error,
                                "a cluster lists column %" PRIu64 ", which does not exist", record.id);
    status = nt_group_builder_start(&builder->group, cluster, column, error);
    if (status != NT_OK)
        return status;
    builder->group.range->first_element = record.first_element;
    builder->group.range->compression_settings = (uint32_t)record.compression_settings;
    for (uint32_t i = 0; i < record.pages && status == NT_OK; i++) {
        struct nt_page_record page = nt_predraft_page_read(cursor);
        status = nt_envelope_check(envelope, cursor, "page of a column", error);
        if (status == NT_OK)
            status = nt_page_builder_add(builder, column, &page, error);
    }
    if (status == NT_OK && builder->group.first_element != record.elements)
        return nt_fail_number(error, NT_CORRUPT, envelope->offset, "footer: elements in a column's pages",
                              record.elements, builder->group.first_element);
    return status;
}

enum nt_status nt_predraft_fill(struct nt_dataset *dataset, const struct nt_envelope *envelope,
                                struct nt_error *error)
{
    struct nt_cursor cursor;
    uint64_t clusters;
    struct nt_page_builder builder;
    enum nt_status status = nt_page_builder_init(&builder, dataset, 0, envelope, error);
    if (status == NT_OK)
        status = nt_predraft_footer_open(envelope, &cursor, &clusters, error);
    for (uint32_t i = 0; i < dataset->cluster_count && status == NT_OK; i++) {
        struct nt_predraft_cluster cluster = {0};
        status = nt_predraft_cluster_read(envelope, &cursor, &cluster, error);
        for (uint32_t k = 0; k < cluster.columns && status == NT_OK; k++)
            status = fill_column(&builder, &cursor, i, error);
    }
    return nt_page_builder_finish(&builder, status, error);
}
