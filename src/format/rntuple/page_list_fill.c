/* SPDX-License-Identifier: MIT
 *
 * In: a page list's records. Out: the model's ranges and pages of one cluster group, and its clusters' entries.
 * Specification, "Page List Envelope", "Suppressed Columns".
 */
#include "format/rntuple/page_list.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/overflow.h"

/* Absent columns take no bytes in the file, but a range each in memory: bounds what a short list may cost. */
enum { RANGE_BYTES_PER_STORED_BYTE = 64, FREE_RANGE_BYTES = 16 << 20, LEAST_PAGES = 64 };

struct filler {
    struct nt_dataset *dataset;
    struct nt_group *group;
    const struct nt_envelope *envelope;
    uint64_t page_capacity;
    struct nt_buffer locators; /* texts of those that are elsewhere, NUL-terminated */
    struct nt_error *error;
};

/* ---- pages ---- */

static bool reserve_pages(struct filler *filler, uint32_t count)
{
    struct nt_group *group = filler->group;
    uint64_t needed = group->page_count + count;
    if (needed <= filler->page_capacity)
        return true;
    uint64_t capacity = filler->page_capacity * 2 > needed ? filler->page_capacity * 2 : needed;
    if (capacity < LEAST_PAGES)
        capacity = LEAST_PAGES;
    struct nt_page *pages = reallocarray(group->pages, capacity, sizeof(*pages));
    if (!pages)
        return false;
    group->pages = pages;
    filler->page_capacity = capacity;
    return true;
}

static struct nt_page make_page(struct filler *filler, const struct nt_page_record *record,
                                const struct nt_column *column, uint64_t first_element)
{
    const struct nt_generation *generation = filler->envelope->generation;
    struct nt_page page = {
        .offset = record->locator.offset,
        .stored_bytes = record->locator.bytes,
        .first_element = first_element,
        .elements = record->elements,
        .decoder = column->decoder,
        .checksum = (uint8_t)(record->has_checksum ? generation->page_checksum : NT_CHECKSUM_NONE),
        .checksum_covers = (uint8_t)generation->page_checksum_covers,
        .compression = NT_COMPRESSION_ROOT_BLOCKS,
    };
    if (!nt_locator_is_local(&record->locator)) {
        page.compression = NT_COMPRESSION_ELSEWHERE;
        page.parameter = filler->locators.length;
        nt_locator_text(&filler->locators, &record->locator);
        nt_buffer_byte(&filler->locators, '\0');
    }
    return page;
}

static enum nt_status fill_pages(struct filler *filler, uint32_t column, struct nt_column_pages *pages,
                                 struct nt_range *range)
{
    struct nt_group *group = filler->group;
    if (!reserve_pages(filler, pages->pages.items))
        return nt_fail_memory(filler->error);
    if (group->page_count + pages->pages.items > UINT32_MAX)
        return nt_fail(filler->error, NT_LIMIT, filler->envelope->offset, "page list: more than 2^32 pages");
    range->first_page = (uint32_t)group->page_count;
    range->pages = pages->pages.items;
    uint64_t elements = 0; /* at most 2^32 pages of 2^31 elements: no overflow */
    for (uint32_t i = 0; i < pages->pages.items; i++) {
        struct nt_page_record record = nt_page_record_read(filler->envelope, &pages->pages.payload);
        group->pages[group->page_count++] =
            make_page(filler, &record, &filler->dataset->columns[column], elements);
        elements += record.elements;
    }
    return nt_envelope_check(filler->envelope, &pages->pages.payload, "list of pages", filler->error);
}

/* ---- columns ---- */

static enum nt_status fill_range(struct filler *filler, struct nt_cursor *columns, uint32_t column,
                                 struct nt_range *range)
{
    struct nt_column_pages pages;
    enum nt_status status = nt_column_pages_read(filler->envelope, columns, &pages, filler->error);
    if (status == NT_OK)
        status = fill_pages(filler, column, &pages, range);
    if (status == NT_OK)
        status = nt_column_pages_finish(filler->envelope, &pages, filler->error);
    if (status != NT_OK)
        return status;
    range->state = pages.is_suppressed ? NT_RANGE_SUPPRESSED : NT_RANGE_PRESENT;
    range->first_element = pages.first_element;
    range->compression_settings = pages.compression_settings;
    return NT_OK;
}

/* A cluster lists its columns in order of id, or as its column group does. Columns behind the end of the list were
 * added later: they are absent from this cluster. */
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
                                  "cluster %u lists %u columns, but there are only %u", cluster, columns.items,
                                  most);
    struct nt_range *ranges =
        filler->group->ranges + (size_t)(cluster - filler->group->first_cluster) * dataset->column_count;
    for (uint32_t i = 0; status == NT_OK && i < columns.items; i++) {
        uint32_t column = shard ? shard->columns[i] : i;
        status = fill_range(filler, &columns.payload, column, &ranges[column]);
    }
    return status;
}

/* ---- clusters ---- */

static enum nt_status fill_summaries(struct filler *filler, struct nt_frame *summaries)
{
    struct nt_dataset *dataset = filler->dataset;
    struct nt_group *group = filler->group;
    if (summaries->items != group->clusters)
        return nt_fail_number(filler->error, NT_CORRUPT, filler->envelope->offset, "page list: cluster summaries",
                              group->clusters, summaries->items);
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

/* All columns of all clusters are absent until they are found. */
static enum nt_status make_ranges(struct filler *filler)
{
    uint64_t count, bytes;
    uint64_t limit = filler->envelope->length * RANGE_BYTES_PER_STORED_BYTE + FREE_RANGE_BYTES;
    if (!nt_multiply(filler->group->clusters, filler->dataset->column_count, &count) ||
        !nt_multiply(count, sizeof(struct nt_range), &bytes) || bytes > limit)
        return nt_fail(filler->error, NT_LIMIT, filler->envelope->offset,
                       "page list: %u clusters of %u columns in %zu bytes", filler->group->clusters,
                       filler->dataset->column_count, filler->envelope->length);
    filler->group->ranges = calloc(count ? count : 1, sizeof(struct nt_range));
    if (!filler->group->ranges)
        return nt_fail_memory(filler->error);
    for (uint64_t i = 0; i < count; i++)
        filler->group->ranges[i].state = NT_RANGE_ABSENT;
    return NT_OK;
}

static enum nt_status fill(struct filler *filler, uint64_t header_checksum)
{
    struct nt_page_list list;
    enum nt_status status = nt_page_list_read(filler->envelope, &list, filler->error);
    if (status == NT_OK && filler->envelope->generation->has_summaries_in_page_list) {
        status = nt_header_checksum_check(filler->envelope, header_checksum, list.header_checksum, filler->error);
        if (status == NT_OK)
            status = fill_summaries(filler, &list.summaries);
    }
    if (status == NT_OK)
        status = check_column_groups(filler);
    if (status == NT_OK && list.clusters.items != filler->group->clusters)
        status = nt_fail_number(filler->error, NT_CORRUPT, filler->envelope->offset, "page list: clusters",
                                filler->group->clusters, list.clusters.items);
    if (status == NT_OK)
        status = make_ranges(filler);
    for (uint32_t i = 0; status == NT_OK && i < filler->group->clusters; i++)
        status = fill_cluster(filler, &list.clusters.payload, filler->group->first_cluster + i);
    if (status == NT_OK && filler->locators.failed)
        status = nt_fail_memory(filler->error);
    return status;
}

/* Give back what doubling left over. */
static void trim_pages(struct nt_group *group)
{
    struct nt_page *pages = reallocarray(group->pages, group->page_count ? group->page_count : 1, sizeof(*pages));
    if (pages)
        group->pages = pages;
}

enum nt_status nt_page_list_fill(struct nt_dataset *dataset, uint32_t group, const struct nt_envelope *envelope,
                                 uint64_t header_checksum, struct nt_error *error)
{
    struct filler filler = {
        .dataset = dataset,
        .group = &dataset->groups[group],
        .envelope = envelope,
        .error = error,
    };
    enum nt_status status = fill(&filler, header_checksum);
    if (status == NT_OK) {
        trim_pages(filler.group);
        filler.group->format_data = filler.locators.bytes;
        return NT_OK;
    }
    nt_buffer_deinit(&filler.locators);
    free(filler.group->ranges);
    free(filler.group->pages);
    filler.group->ranges = NULL;
    filler.group->pages = NULL;
    filler.group->page_count = 0;
    return status;
}
