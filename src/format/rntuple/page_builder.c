/* SPDX-License-Identifier: MIT
 *
 * In: page records, column by column. Out: a group's ranges and its pages in one compact array.
 */
#include "format/rntuple/page_builder.h"

#include <stdlib.h>

#include "base/overflow.h"

/* Absent columns take no bytes in the file, but a range each in memory: bounds what a short list may cost. */
enum { RANGE_BYTES_PER_ENVELOPE_BYTE = 64, FREE_RANGE_BYTES = 16 << 20, LEAST_PAGES = 64 };

enum nt_status nt_page_builder_init(struct nt_page_builder *builder, struct nt_dataset *dataset,
                                    struct nt_group *group, const struct nt_envelope *envelope,
                                    struct nt_error *error)
{
    uint64_t count, bytes, limit = envelope->length * RANGE_BYTES_PER_ENVELOPE_BYTE + FREE_RANGE_BYTES;
    *builder = (struct nt_page_builder){.dataset = dataset, .group = group, .envelope = envelope};
    if (!nt_multiply(group->clusters, dataset->column_count, &count) ||
        !nt_multiply(count, sizeof(struct nt_range), &bytes) || bytes > limit)
        return nt_fail(error, NT_LIMIT, envelope->offset, "%s: %u clusters of %u columns in %zu bytes",
                       nt_envelope_name(envelope->kind), group->clusters, dataset->column_count,
                       envelope->length);
    group->ranges = calloc(count ? count : 1, sizeof(struct nt_range));
    if (!group->ranges)
        return nt_fail_memory(error);
    for (uint64_t i = 0; i < count; i++)
        group->ranges[i].state = NT_RANGE_ABSENT;
    return NT_OK;
}

enum nt_status nt_page_builder_start(struct nt_page_builder *builder, struct nt_range *range,
                                     struct nt_error *error)
{
    if (range->state != NT_RANGE_ABSENT)
        return nt_fail(error, NT_CORRUPT, builder->envelope->offset, "%s: a cluster lists a column twice",
                       nt_envelope_name(builder->envelope->kind));
    range->state = NT_RANGE_PRESENT;
    range->first_page = (uint32_t)builder->group->page_count;
    builder->range = range;
    builder->first_element = 0;
    return NT_OK;
}

static enum nt_status reserve_page(struct nt_page_builder *builder, struct nt_error *error)
{
    struct nt_group *group = builder->group;
    if (group->page_count < builder->page_capacity)
        return NT_OK;
    uint64_t capacity = builder->page_capacity ? builder->page_capacity * 2 : LEAST_PAGES;
    if (group->page_count == UINT32_MAX)
        return nt_fail(error, NT_LIMIT, builder->envelope->offset, "%s: more than 2^32 pages",
                       nt_envelope_name(builder->envelope->kind));
    struct nt_page *pages = reallocarray(group->pages, capacity, sizeof(*pages));
    if (!pages)
        return nt_fail_memory(error);
    group->pages = pages;
    builder->page_capacity = capacity;
    return NT_OK;
}

enum nt_status nt_page_builder_add(struct nt_page_builder *builder, uint32_t column,
                                   const struct nt_page_record *record, struct nt_error *error)
{
    const struct nt_generation *generation = builder->envelope->generation;
    enum nt_status status = reserve_page(builder, error);
    if (status != NT_OK)
        return status;
    struct nt_page *page = &builder->group->pages[builder->group->page_count++];
    *page = (struct nt_page){
        .offset = record->locator.offset,
        .stored_bytes = record->locator.bytes,
        .first_element = builder->first_element,
        .elements = record->elements,
        .decoder = builder->dataset->columns[column].decoder,
        .checksum = (uint8_t)(record->has_checksum ? generation->page_checksum : NT_CHECKSUM_NONE),
        .checksum_covers = (uint8_t)generation->page_checksum_covers,
        .compression = NT_COMPRESSION_ROOT_BLOCKS,
    };
    if (!nt_locator_is_local(&record->locator)) {
        page->compression = NT_COMPRESSION_ELSEWHERE;
        page->parameter = builder->locators.length;
        nt_locator_text(&builder->locators, &record->locator);
        nt_buffer_byte(&builder->locators, '\0');
    }
    builder->range->pages++;
    builder->first_element += record->elements; /* 2^32 pages of 2^31 elements at most: no overflow */
    return NT_OK;
}

/* Give back what doubling left over. */
static void trim_pages(struct nt_group *group)
{
    struct nt_page *pages =
        reallocarray(group->pages, group->page_count ? group->page_count : 1, sizeof(*pages));
    if (pages)
        group->pages = pages;
}

enum nt_status nt_page_builder_finish(struct nt_page_builder *builder, enum nt_status status,
                                      struct nt_error *error)
{
    struct nt_group *group = builder->group;
    if (status == NT_OK && builder->locators.failed)
        status = nt_fail_memory(error);
    if (status == NT_OK) {
        trim_pages(group);
        group->format_data = builder->locators.bytes;
        return NT_OK;
    }
    nt_buffer_deinit(&builder->locators);
    if (group) {
        free(group->ranges);
        free(group->pages);
        group->ranges = NULL;
        group->pages = NULL;
        group->page_count = 0;
    }
    return status;
}
