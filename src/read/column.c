/* SPDX-License-Identifier: MIT
 *
 * Reads a column as one sequence of stored elements and pages, in the order of cluster ids and without
 * suppressed or absent ranges. A sparse index of every 32nd cluster gives the starting position.
 */
#include "read/read.h"

#include "read/page.h"

#define NT_INDEX_STRIDE 32

/* A position in a column. */
struct column_position {
    uint32_t cluster;
    uint64_t elements, pages; /* before the cluster */
};

/* The range of a column in a cluster; NULL if nothing is stored. `*pinned` is the group that was used last,
 * or NULL, and becomes the cluster's. */
static enum nt_status stored_range(struct nt_dataset *dataset, uint32_t cluster, uint32_t column,
                                   struct nt_group **pinned, const struct nt_range **range_ret,
                                   struct nt_error *error)
{
    uint32_t group = nt_cluster_group(dataset, cluster);
    *range_ret = NULL;
    if (!*pinned || (*pinned)->number != group) {
        nt_group_unpin(*pinned);
        NT_TRY(nt_group_pin(dataset, group, pinned, error));
    }
    const struct nt_range *range = nt_group_range(dataset, *pinned, cluster, column);
    *range_ret = range->state == NT_RANGE_PRESENT ? range : NULL;
    return NT_OK;
}

static enum nt_status build_index(struct nt_dataset *dataset, uint32_t column,
                                  struct nt_column_index **index_ret, struct nt_error *error)
{
    struct nt_groups groups = nt_groups_of_column(dataset, column);
    NT_CLEANUP(nt_group_unpin_at) struct nt_group *group = NULL;
    uint32_t count, first = nt_groups_clusters(dataset, groups, &count);
    size_t marks = count / NT_INDEX_STRIDE + 1;
    NT_AUTO_FREE struct nt_column_index *index = calloc(1, sizeof(*index) + marks * sizeof(*index->marks));
    NT_TRY(nt_check_memory(index, error));
    nt_groups_announce(dataset, groups);
    for (uint32_t i = 0; i < count; i++) {
        const struct nt_range *range;
        if (i % NT_INDEX_STRIDE == 0)
            index->marks[i / NT_INDEX_STRIDE] = (struct nt_column_checkpoint){index->elements, index->pages};
        NT_TRY(stored_range(dataset, first + i, column, &group, &range, error));
        if (!range)
            continue;
        index->pages += range->pages;
        if (!nt_checked_add(index->elements, nt_range_elements(group, range), &index->elements))
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "column %u: its number of elements overflows",
                           dataset->columns[column].id);
    }
    *index_ret = index;
    index = NULL;
    return NT_OK;
}

static enum nt_status get_index(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                                struct nt_column_index **index_ret, struct nt_error *error)
{
    if (dataset->failure)
        return nt_fail_copy(error, dataset->failure);
    if (column >= dataset->column_count)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "column %u does not exist", column);
    NT_TRY(nt_reader_after_fork(reader, error));
    struct nt_dataset_index *known = nt_dataset_index_get(reader->indexes, dataset);
    NT_TRY(nt_check_memory(known, error));
    struct nt_column_index *index = atomic_load_explicit(&known->columns[column], memory_order_acquire);
    if (!index) {
        NT_MUTEX_GUARD(&known->lock);
        index = atomic_load_explicit(&known->columns[column], memory_order_acquire);
        if (!index) {
            NT_TRY(build_index(dataset, column, &index, error));
            atomic_store_explicit(&known->columns[column], index, memory_order_release);
        }
    }
    *index_ret = index;
    return NT_OK;
}

NT_DEFINE_LAST_AT_MOST(mark_of_element, struct nt_column_checkpoint, .elements)
NT_DEFINE_LAST_AT_MOST(mark_of_page, struct nt_column_checkpoint, .pages)

/* The last mark at or before an element or page of the column. */
static struct column_position mark_before(const struct nt_dataset *dataset, uint32_t column,
                                          const struct nt_column_index *index, bool by_page, uint64_t number)
{
    uint32_t clusters, first = nt_groups_clusters(dataset, nt_groups_of_column(dataset, column), &clusters);
    uint32_t count = clusters / NT_INDEX_STRIDE + (clusters % NT_INDEX_STRIDE != 0);
    uint32_t mark = (by_page ? mark_of_page : mark_of_element)(index->marks, count, number);
    return (struct column_position){first + mark * NT_INDEX_STRIDE, index->marks[mark].elements,
                                    index->marks[mark].pages};
}

/* Advances a position to the range that holds an element or page, and pins its group; NULL, without a pin, at
 * the end. */
static enum nt_status range_of(struct nt_dataset *dataset, uint32_t column, bool by_page, uint64_t number,
                               struct column_position *at, struct nt_group **group_ret,
                               const struct nt_range **range_ret, struct nt_error *error)
{
    uint32_t count, first = nt_groups_clusters(dataset, nt_groups_of_column(dataset, column), &count);
    enum nt_status status = NT_OK;
    *group_ret = NULL;
    for (; at->cluster - first < count && status == NT_OK; at->cluster++) {
        const struct nt_range *range;
        status = stored_range(dataset, at->cluster, column, group_ret, &range, error);
        if (!range)
            continue;
        uint64_t elements = nt_range_elements(*group_ret, range);
        if (number - (by_page ? at->pages : at->elements) < (by_page ? range->pages : elements)) {
            *range_ret = range;
            return NT_OK;
        }
        at->elements += elements;
        at->pages += range->pages;
    }
    nt_group_unpin(*group_ret);
    *group_ret = NULL;
    *range_ret = NULL;
    return status;
}

enum nt_status nt_column_size(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                              uint64_t *elements_ret, uint64_t *pages_ret, struct nt_error *error)
{
    struct nt_column_index *index = NULL;
    NT_TRY(get_index(reader, dataset, column, &index, error));
    *elements_ret = index->elements;
    *pages_ret = index->pages;
    return NT_OK;
}

enum nt_status nt_column_page_pin(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                                  uint64_t number, struct nt_page_position *place, struct nt_error *error)
{
    struct nt_column_index *index = NULL;
    const struct nt_range *range;
    *place = (struct nt_page_position){.page = NULL};
    NT_TRY(get_index(reader, dataset, column, &index, error));
    struct column_position at = mark_before(dataset, column, index, true, number);
    NT_TRY(range_of(dataset, column, true, number, &at, &place->group, &range, error));
    if (!range)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "the column has no page %llu",
                       (unsigned long long)number);
    place->page = &place->group->pages[range->first_page + (number - at.pages)];
    place->cluster = at.cluster;
    place->first_element = at.elements + place->page->first_element;
    return NT_OK;
}

enum nt_status nt_column_page(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                              uint64_t number, const struct nt_page **page_ret, uint32_t *cluster_ret,
                              uint64_t *first_element_ret, struct nt_error *error)
{
    struct nt_page_position place;
    NT_TRY(nt_column_page_pin(reader, dataset, column, number, &place, error));
    nt_group_keep(place.group);
    *page_ret = place.page;
    *cluster_ret = place.cluster;
    *first_element_ret = place.first_element;
    return NT_OK;
}

struct column_read {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t column;
    struct nt_column_index *index;
    uint64_t element_bytes;
    bool is_random; /* the read does not follow the previous one */
};

/* The page that holds an element, searching from a position at or before it, and the number of pages
 * after it in its range. Pins its group. NULL at the end. */
static enum nt_status page_of(const struct column_read *read, uint64_t element, struct column_position *at,
                              struct nt_group **group_ret, const struct nt_page **page_ret,
                              uint32_t *following_ret, struct nt_error *error)
{
    const struct nt_range *range;
    enum nt_status status =
        range_of(read->dataset, read->column, false, element, at, group_ret, &range, error);
    *page_ret = NULL;
    if (status != NT_OK || !range)
        return status;
    const struct nt_page *pages = (*group_ret)->pages + range->first_page;
    *page_ret = nt_find_page(pages, range->pages, element - at->elements);
    *following_ret = range->pages - 1 - (uint32_t)(*page_ret - pages);
    return NT_OK;
}

static void find_ahead(const void *walked, uint64_t element, struct nt_readahead_page *page_ret)
{
    const struct column_read *read = walked;
    struct column_position at = mark_before(read->dataset, read->column, read->index, false, element);
    uint32_t following;
    *page_ret = (struct nt_readahead_page){.column = read->column, .end = read->index->elements};
    (void)!page_of(read, element, &at, &page_ret->group, &page_ret->page, &following, NULL);
    if (page_ret->page)
        page_ret->end = at.elements + page_ret->page->first_element + page_ret->page->elements;
}

/* Reads bytes [offset, offset + bytes) of one page's decoded elements. */
static enum nt_status read_within(const struct column_read *read, const struct nt_page *page, uint64_t offset,
                                  uint8_t *output, size_t bytes, struct nt_error *error)
{
    struct nt_cache_entry *pinned;
    const uint8_t *data;
    bool is_end = offset + bytes == page->elements * read->element_bytes;
    if (read->is_random &&
        nt_page_read_blocks(read->reader, read->dataset, page, (size_t)offset, output, bytes))
        return NT_OK;
    NT_TRY(
        nt_page_pin(NT_CACHE_READER, read->reader, read->dataset, read->column, page, &pinned, &data, error));
    memcpy(output, data + offset, bytes);
    nt_page_unpin(read->reader, pinned, nt_access_cache_hint(&read->index->access, is_end));
    return NT_OK;
}

/* Reads whole pages or a part of one, from byte `offset` of a page on. Returns the number of bytes. */
static enum nt_status read_pages(const struct column_read *read, const struct nt_page *page,
                                 uint32_t following, uint64_t offset, uint8_t *output, size_t bytes,
                                 size_t *decoded_ret, struct nt_error *error)
{
    uint64_t elements = 0, left = page->elements * read->element_bytes - offset;
    uint32_t whole = offset ? 0
                            : nt_count_whole_pages(read->dataset, page, 1 + following,
                                                   bytes / read->element_bytes, NULL, &elements);
    if (whole) {
        *decoded_ret = (size_t)(elements * read->element_bytes);
        return nt_pages_read_whole(read->reader, read->dataset, read->column, page, whole, output, error);
    }
    uint64_t decoded = nt_page_decoded_elements(page) * read->element_bytes;
    if (nt_page_decoded_elements(page) != page->elements) { /* a few decoded elements repeat */
        offset %= decoded;
        left = nt_min(left, decoded - offset);
    }
    *decoded_ret = nt_min(left, bytes);
    return read_within(read, page, offset, output, *decoded_ret, error);
}

static enum nt_status read_bytes(const struct column_read *read, uint64_t offset, uint8_t *output,
                                 size_t bytes, struct nt_error *error)
{
    struct column_position at =
        mark_before(read->dataset, read->column, read->index, false, offset / read->element_bytes);
    while (bytes) {
        uint32_t following;
        size_t decoded;
        NT_CLEANUP(nt_group_unpin_at) struct nt_group *group = NULL;
        const struct nt_page *page;
        NT_TRY(page_of(read, offset / read->element_bytes, &at, &group, &page, &following, error));
        if (!page)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the column ends before its elements do");
        uint64_t begin = offset - (at.elements + page->first_element) * read->element_bytes;
        NT_TRY(read_pages(read, page, following, begin, output, bytes, &decoded, error));
        output += decoded;
        offset += decoded;
        bytes -= decoded;
    }
    return NT_OK;
}

enum nt_status nt_column_read(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                              uint64_t offset, void *output, size_t bytes, struct nt_error *error)
{
    struct column_read read = {.reader = reader, .dataset = dataset, .column = column};
    NT_TRY(get_index(reader, dataset, column, &read.index, error));
    uint64_t size;
    read.element_bytes = nt_column_decoder(dataset, column)->element_bytes;
    if (!read.element_bytes)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "this version does not know the type of column %u", dataset->columns[column].id);
    if (!nt_checked_multiply(read.index->elements, read.element_bytes, &size) ||
        !nt_range_fits(offset, bytes, size))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "past the end of the column");
    const struct nt_walk walk = {.reader = reader,
                                 .dataset = dataset,
                                 .access = &read.index->access,
                                 .elements = read.index->elements,
                                 .element_bytes = read.element_bytes,
                                 .find = find_ahead,
                                 .walked = &read};
    nt_counter_add(&reader->counters.reads, 1);
    nt_counter_add(&reader->counters.served_bytes, bytes);
    read.is_random = !nt_access_is_sequential(walk.access, offset, bytes);
    nt_walk_begin_read(&walk, offset, bytes);
    NT_TRY(read_bytes(&read, offset, output, bytes, error));
    nt_walk_end_read(&walk, offset, bytes);
    return NT_OK;
}
