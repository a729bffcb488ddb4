/* SPDX-License-Identifier: MIT
 *
 * Reads a page list envelope and builds the column ranges and pages of one cluster group from it
 * (specification, "Page List Envelope", "Page Locations", "Suppressed Columns").
 */
#include "formats/rntuple/rntuple.h"

/* ---- Read a page list ---- */

enum {
    MIN_PAGE_BYTES = 8,   /* number of elements, an empty special locator */
    MIN_COLUMN_BYTES = 8, /* element offset; a suppressed column has nothing else */
    MIN_SUMMARY_BYTES = 16,
    PAGE_HAS_CRC32 = 1,
};

enum nt_status nt_page_list_read(const struct nt_envelope *envelope, struct nt_page_list *list_ret,
                                 struct nt_error *error)
{
    const struct nt_generation *generation = envelope->generation;
    struct nt_page_list list = {0};
    struct nt_cursor cursor = envelope->payload;
    if (generation->has_summaries_in_page_list) {
        list.header_checksum = nt_labelled_le64(&cursor, "page list", "header checksum");
        NT_TRY(nt_list_frame(envelope, &cursor, "list of cluster summaries",
                             nt_record_frame_bytes(generation) + MIN_SUMMARY_BYTES, &list.summaries, error));
    }
    NT_TRY(nt_list_frame(envelope, &cursor, "list of clusters", nt_list_frame_bytes(generation),
                         &list.clusters, error));
    list.unknown_bytes = nt_cursor_left(&cursor);
    *list_ret = list;
    return NT_OK;
}

enum nt_status nt_cluster_columns_read(const struct nt_envelope *envelope, struct nt_cursor *clusters,
                                       struct nt_frame *columns_ret, struct nt_error *error)
{
    uint32_t least = nt_list_frame_bytes(envelope->generation) + MIN_COLUMN_BYTES;
    return nt_list_frame(envelope, clusters, "list of columns of a cluster", least, columns_ret, error);
}

enum nt_status nt_column_pages_read(const struct nt_envelope *envelope, struct nt_cursor *columns,
                                    struct nt_column_pages *pages_ret, struct nt_error *error)
{
    *pages_ret = (struct nt_column_pages){0};
    return nt_list_frame(envelope, columns, "list of pages", MIN_PAGE_BYTES, &pages_ret->pages, error);
}

/* The sign of the count says whether a checksum follows the page; in the CRC32 drafts, the lower of two
 * flag bits does. */
struct nt_page_record nt_page_record_read(const struct nt_envelope *envelope, struct nt_cursor *pages)
{
    const struct nt_generation *generation = envelope->generation;
    struct nt_page_record page = {0};
    uint32_t word = nt_labelled_le32(pages, "page", "elements and checksum");
    if (generation->page_element_bits == 30) {
        page.elements = word & 0x3fffffff;
        page.has_checksum = word >> 30 & PAGE_HAS_CRC32;
    } else {
        page.has_checksum = (int32_t)word < 0;
        page.elements = page.has_checksum ? 0 - word : word;
    }
    page.locator = nt_locator_read(pages, generation);
    return page;
}

enum nt_status nt_column_pages_finish(const struct nt_envelope *envelope, struct nt_column_pages *pages,
                                      struct nt_error *error)
{
    struct nt_cursor *cursor = &pages->pages.payload;
    int64_t offset = (int64_t)nt_get_le64(cursor);
    nt_cursor_label(cursor, "column in a cluster", "first element");
    pages->is_suppressed = offset < 0;
    pages->first_element = offset < 0 ? 0 - (uint64_t)offset : (uint64_t)offset;
    if (!pages->is_suppressed) {
        pages->compression_settings = nt_labelled_le32(cursor, "column in a cluster", "compression settings");
    }
    if (pages->is_suppressed && pages->pages.items > 0)
        return nt_envelope_fail(envelope, cursor, NT_CORRUPT, error, "a suppressed column has %u pages",
                                pages->pages.items);
    pages->unknown_bytes = nt_cursor_left(cursor);
    return nt_envelope_check(envelope, cursor, "list of pages", error);
}

/* ---- Collect ranges and pages ---- */

enum nt_status nt_page_builder_init(struct nt_page_builder *builder, struct nt_dataset *dataset,
                                    uint32_t group, const struct nt_envelope *envelope,
                                    struct nt_error *error)
{
    *builder = (struct nt_page_builder){.envelope = envelope};
    return nt_group_builder_init(&builder->group, dataset, group, nt_envelope_name(envelope->kind),
                                 envelope->offset, error);
}

static enum nt_status keep_locator(struct nt_page_builder *builder, const struct nt_locator *locator,
                                   struct nt_error *error)
{
    struct nt_external_pages *list = &builder->elsewhere;
    NT_TRY(nt_check_memory(NT_GROW(list->items, list->count, builder->elsewhere_capacity), error));
    struct nt_buffer text = {0};
    nt_locator_text(&text, locator);
    list->items[list->count].page = (uint32_t)builder->group.group->page_count;
    list->items[list->count].locator = nt_buffer_to_arena(&text, builder->group.dataset->arena);
    return list->items[list->count++].locator ? NT_OK : nt_fail_memory(error);
}

enum nt_status nt_page_builder_add(struct nt_page_builder *builder, uint32_t column,
                                   const struct nt_page_record *record, struct nt_error *error)
{
    const struct nt_generation *generation = builder->envelope->generation;
    struct nt_locator locator = record->locator;
    NT_TRY(nt_rntuple_find(builder->group.dataset, &locator, "page", error));
    struct nt_page page = {
        .offset = locator.offset,
        .stored_bytes = locator.bytes,
        .elements = record->elements,
        .decoder = builder->group.dataset->columns[column].decoder,
        .checksum = (uint8_t)(record->has_checksum ? generation->page_checksum : NT_CHECKSUM_NONE),
        .checksum_covers = (uint8_t)generation->page_checksum_covers,
        .compression = NT_COMPRESSION_ROOT_BLOCKS,
    };
    if (!nt_locator_is_local(&locator)) {
        page.compression = NT_COMPRESSION_ELSEWHERE;
        page.is_missing = true;
        NT_TRY(keep_locator(builder, &locator, error));
    }
    return nt_group_builder_add(&builder->group, &page, error);
}

/* Moves the list to the dataset's arena, once: the group keeps its pages. */
static enum nt_status keep_list(struct nt_page_builder *builder, struct nt_error *error)
{
    struct nt_arena *arena = builder->group.dataset->arena;
    struct nt_external_pages *list = nt_arena_alloc(arena, 1, sizeof(*list));
    NT_TRY(nt_check_memory(list, error));
    list->count = builder->elsewhere.count;
    list->items = (void *)nt_arena_copy(arena, builder->elsewhere.items, list->count * sizeof(*list->items));
    builder->group.group->format_data = list;
    nt_group_set_kept(builder->group.group);
    return list->items ? NT_OK : nt_fail_memory(error);
}

enum nt_status nt_page_builder_finish(struct nt_page_builder *builder, enum nt_status status,
                                      struct nt_error *error)
{
    if (status == NT_OK && builder->elsewhere.count)
        status = keep_list(builder, error);
    free(builder->elsewhere.items);
    return nt_group_builder_finish(&builder->group, status);
}

/* ---- Build a cluster group ---- */

/* ---- Columns ---- */

static enum nt_status fill_pages(struct nt_page_builder *builder, uint32_t column,
                                 struct nt_column_pages *pages, struct nt_error *error)
{
    for (uint32_t i = 0; i < pages->pages.items; i++) {
        struct nt_page_record record = nt_page_record_read(builder->envelope, &pages->pages.payload);
        NT_TRY(nt_page_builder_add(builder, column, &record, error));
    }
    return nt_envelope_check(builder->envelope, &pages->pages.payload, "list of pages", error);
}

static enum nt_status fill_range(struct nt_page_builder *builder, struct nt_cursor *columns, uint32_t cluster,
                                 uint32_t column, struct nt_error *error)
{
    struct nt_column_pages pages;
    NT_TRY(nt_column_pages_read(builder->envelope, columns, &pages, error));
    NT_TRY(nt_group_builder_start(&builder->group, cluster, column, error));
    NT_TRY(fill_pages(builder, column, &pages, error));
    NT_TRY(nt_column_pages_finish(builder->envelope, &pages, error));
    struct nt_range *range = builder->group.range;
    range->state = pages.is_suppressed ? NT_RANGE_SUPPRESSED : NT_RANGE_PRESENT;
    range->first_element = pages.first_element;
    range->compression_settings = pages.compression_settings;
    return NT_OK;
}

/* A cluster lists its columns in order of id or of its column group. Columns after the end of the list
 * were added later and are absent from this cluster. */
static enum nt_status fill_cluster(struct nt_page_builder *builder, struct nt_cursor *clusters,
                                   uint32_t cluster, struct nt_error *error)
{
    const struct nt_dataset *dataset = builder->group.dataset;
    uint32_t group_number = dataset->clusters[cluster].column_group;
    const struct nt_column_group *shard =
        group_number == NT_NONE ? NULL : &dataset->column_groups[group_number];
    uint32_t most = shard ? shard->count : dataset->column_count;
    struct nt_frame columns;
    NT_TRY(nt_cluster_columns_read(builder->envelope, clusters, &columns, error));
    if (columns.items > most)
        return nt_envelope_fail(builder->envelope, &columns.payload, NT_CORRUPT, error,
                                "cluster %u lists %u columns, but there are only %u", cluster, columns.items,
                                most);
    for (uint32_t i = 0; i < columns.items; i++)
        NT_TRY(fill_range(builder, &columns.payload, cluster, shard ? shard->columns[i] : i, error));
    return NT_OK;
}

/* How many pages the clusters list, up to the first frame that is bad. */
static uint64_t count_pages(const struct nt_envelope *envelope, struct nt_frame clusters)
{
    uint64_t pages = 0;
    for (uint32_t i = 0; i < clusters.items; i++) {
        struct nt_frame columns;
        if (nt_cluster_columns_read(envelope, &clusters.payload, &columns, NULL) != NT_OK)
            return pages;
        for (uint32_t k = 0; k < columns.items; k++) {
            struct nt_column_pages column;
            if (nt_column_pages_read(envelope, &columns.payload, &column, NULL) != NT_OK)
                return pages;
            pages += column.pages.items; /* at least 8 bytes each: no overflow */
        }
    }
    return pages;
}

static enum nt_status fill_clusters(struct nt_page_builder *builder, struct nt_frame *clusters,
                                    struct nt_error *error)
{
    const struct nt_group *group = builder->group.group;
    NT_TRY(nt_group_builder_reserve(&builder->group, count_pages(builder->envelope, *clusters), error));
    for (uint32_t i = 0; i < group->clusters; i++)
        NT_TRY(fill_cluster(builder, &clusters->payload, group->first_cluster + i, error));
    return NT_OK;
}

/* ---- Clusters ---- */

static enum nt_status fill_summaries(struct nt_dataset *dataset, const struct nt_group *group,
                                     const struct nt_envelope *envelope, struct nt_frame *summaries,
                                     struct nt_error *error)
{
    if (summaries->items != group->clusters)
        return nt_fail_number(error, NT_CORRUPT, envelope->offset, "page list: cluster summaries",
                              group->clusters, summaries->items);
    for (uint32_t i = 0; i < group->clusters; i++) {
        struct nt_cluster_summary summary;
        uint64_t end;
        NT_TRY(nt_cluster_summary_read(envelope, &summaries->payload, &summary, error));
        if (!nt_checked_add(summary.first_entry, summary.entries, &end) || end > dataset->entries)
            return nt_fail(error, NT_CORRUPT, envelope->offset,
                           "page list: cluster %u has entries beyond the dataset's %" PRIu64,
                           group->first_cluster + i, dataset->entries);
        if (!nt_group_is_known(dataset, group->number)) /* else others read it */
            dataset->clusters[group->first_cluster + i] = (struct nt_cluster){
                summary.first_entry, summary.entries, group->number, summary.column_group};
    }
    return NT_OK;
}

static enum nt_status check_column_groups(const struct nt_dataset *dataset, const struct nt_group *group,
                                          const struct nt_envelope *envelope, struct nt_error *error)
{
    for (uint32_t i = 0; i < group->clusters; i++) {
        uint32_t column_group = dataset->clusters[group->first_cluster + i].column_group;
        if (column_group != NT_NONE && column_group >= dataset->column_group_count)
            return nt_fail(error, NT_CORRUPT, envelope->offset,
                           "page list: cluster %u is of column group %u, but there are only %u",
                           group->first_cluster + i, column_group, dataset->column_group_count);
    }
    return NT_OK;
}

enum nt_status nt_page_list_build(struct nt_dataset *dataset, uint32_t number,
                                  const struct nt_envelope *envelope, uint64_t header_checksum,
                                  struct nt_error *error)
{
    const struct nt_group *group = nt_group_slot(dataset, number);
    struct nt_page_list list;
    struct nt_page_builder builder;
    NT_TRY(nt_page_list_read(envelope, &list, error));
    if (envelope->generation->has_summaries_in_page_list) {
        NT_TRY(nt_header_checksum_check(envelope, header_checksum, list.header_checksum, error));
        NT_TRY(fill_summaries(dataset, group, envelope, &list.summaries, error));
    }
    NT_TRY(check_column_groups(dataset, group, envelope, error));
    if (list.clusters.items != group->clusters)
        return nt_fail_number(error, NT_CORRUPT, envelope->offset, "page list: clusters", group->clusters,
                              list.clusters.items);
    enum nt_status status = nt_page_builder_init(&builder, dataset, number, envelope, error);
    if (status == NT_OK)
        status = fill_clusters(&builder, &list.clusters, error);
    return nt_page_builder_finish(&builder, status, error);
}
