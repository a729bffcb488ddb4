/* SPDX-License-Identifier: MIT
 *
 * Keeps what decoding a page gives for other columns: if a page is loaded, pages of columns that are mostly
 * needed with its own are decoded from the same bytes into the cache.
 */
#include "read/read.h"

#include "read/page.h"

/* Where a page of a column is, in a dataset with field_groups. */
struct page_position {
    uint32_t part;
    uint64_t number; /* of the page in the column's range of the part */
};

static bool find_position(const struct nt_dataset *dataset, uint32_t column, const struct nt_page *page,
                          struct page_position *position)
{
    const struct nt_group *group = nt_page_group(dataset, column, page);
    if (!group)
        return false;
    const struct nt_range *range = nt_group_range(dataset, group, group->first_cluster, column);
    position->part = nt_group_part(dataset, group);
    position->number = (uint64_t)(page - group->pages) - range->first_page;
    return true;
}

/* Loads the page list if necessary, and pins its group; NULL, without a pin, if there is no such page. */
static const struct nt_page *find_page(struct nt_dataset *dataset, uint32_t column,
                                       const struct page_position *position, struct nt_group **group_ret)
{
    struct nt_group *group;
    uint32_t number = nt_part_cluster(dataset, dataset->columns[column].field, position->part);
    if (number == NT_NONE || nt_group_pin(dataset, number, &group, NULL) != NT_OK)
        return NULL;
    const struct nt_range *range = nt_group_range(dataset, group, group->first_cluster, column);
    if (position->number >= range->pages) {
        nt_group_unpin(group);
        return NULL;
    }
    *group_ret = group;
    return &group->pages[range->first_page + position->number];
}

static bool is_sibling(const struct nt_dataset *dataset, const struct nt_page *a, const struct nt_page *b)
{
    return nt_pages_are_shared(dataset, a, b) && !nt_page_decoder(dataset, a)->dependency_count &&
           !nt_page_decoder(dataset, b)->dependency_count && nt_page_decoded_elements(a) == a->elements &&
           nt_page_decoded_elements(b) == b->elements;
}

/* False: it is not needed. */
static bool add(const struct nt_page_request *request, uint32_t column, const struct nt_page *page,
                struct nt_group *group, struct nt_sibling_pages *siblings)
{
    const struct nt_cache_key key = nt_page_key(request->dataset, page);
    size_t bytes;
    if (!is_sibling(request->dataset, request->page, page) ||
        nt_page_decoded_bytes(request->dataset, page, &bytes, NULL) != NT_OK)
        return false;
    struct nt_cache_entry *entry = nt_cache_begin(request->reader->cache, &key, bytes);
    if (!entry)
        return false;
    siblings->columns[siblings->count] = column;
    siblings->groups[siblings->count] = group;
    siblings->entries[siblings->count] = entry;
    siblings->pages[siblings->count++] =
        (struct nt_shared_page){.page = page, .output = nt_cache_entry_output(entry)};
    return true;
}

static bool may_have_siblings(const struct nt_reader *reader, const struct nt_dataset *dataset)
{
    return reader->options.caches_siblings && dataset->ops && dataset->ops->sibling_columns &&
           dataset->field_groups;
}

static uint32_t find_columns(const struct nt_reader *reader, const struct nt_dataset *dataset,
                             uint32_t column, uint32_t columns[NT_MAX_SHARED_OUTPUTS - 1])
{
    return may_have_siblings(reader, dataset) ? dataset->ops->sibling_columns(dataset, column, columns) : 0;
}

bool nt_column_has_siblings(const struct nt_reader *reader, const struct nt_dataset *dataset, uint32_t column)
{
    uint32_t columns[NT_MAX_SHARED_OUTPUTS - 1];
    return find_columns(reader, dataset, column, columns) > 0;
}

bool nt_columns_are_siblings(const struct nt_reader *reader, struct nt_dataset *dataset, uint32_t one,
                             uint32_t other)
{
    static const struct page_position first = {0};
    NT_CLEANUP(nt_group_unpin_at) struct nt_group *of_one = NULL, *of_other = NULL;
    if (!may_have_siblings(reader, dataset))
        return false;
    const struct nt_page *a = find_page(dataset, one, &first, &of_one);
    const struct nt_page *b = a ? find_page(dataset, other, &first, &of_other) : NULL;
    return b && is_sibling(dataset, a, b);
}

void nt_sibling_pages_begin(struct nt_page_request *request, struct nt_sibling_pages *siblings)
{
    struct nt_dataset *dataset = request->dataset;
    uint32_t columns[NT_MAX_SHARED_OUTPUTS - 1], count = 0;
    struct page_position position;
    siblings->count = 0;
    if (!request->page->is_missing)
        count = find_columns(request->reader, dataset, request->column, columns);
    if (!count || !find_position(dataset, request->column, request->page, &position))
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct nt_group *group;
        const struct nt_page *page = find_page(dataset, columns[i], &position, &group);
        if (page && !add(request, columns[i], page, group, siblings))
            nt_group_unpin(group);
    }
    request->shared_pages = siblings->pages;
    request->shared_page_count = siblings->count;
}

/* Together they failed; but some of them may be good. */
static void load_alone(const struct nt_page_request *request, const struct nt_sibling_pages *siblings,
                       uint32_t i)
{
    struct nt_page_request alone = *request;
    struct nt_error error;
    alone.column = siblings->columns[i];
    alone.page = siblings->pages[i].page;
    alone.failure = NULL; /* was that of the request's page */
    enum nt_status status = nt_page_load_with_dependencies(&alone, siblings->pages[i].output, &error);
    if (status != NT_OK)
        status = nt_page_report(&alone, status, &error);
    nt_cache_finish(request->reader->cache, siblings->entries[i], status, &error);
}

void nt_sibling_pages_end(struct nt_page_request *request, struct nt_sibling_pages *siblings, bool is_decoded)
{
    request->shared_pages = NULL;
    request->shared_page_count = 0;
    for (uint32_t i = 0; i < siblings->count; i++) {
        if (is_decoded)
            nt_cache_finish(request->reader->cache, siblings->entries[i], NT_OK, NULL);
        else
            load_alone(request, siblings, i);
        nt_group_unpin(siblings->groups[i]);
    }
    if (is_decoded)
        nt_counter_add(&request->reader->counters.pages_sibling, siblings->count);
}
