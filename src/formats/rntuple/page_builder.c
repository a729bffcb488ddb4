/* SPDX-License-Identifier: MIT
 *
 * In: page records, column by column. Out: a group's ranges and pages, and where those are that the file does
 * not have.
 */
#include "formats/rntuple/page_builder.h"

#include <stdlib.h>

#include "core/base/grow.h"
#include "core/base/text.h"
#include "formats/rntuple/dataset.h"

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
    struct nt_elsewhere_list *list = &builder->elsewhere;
    struct nt_elsewhere *items =
        nt_grow(list->items, list->count, &builder->elsewhere_capacity, sizeof(*items));
    if (!items)
        return nt_fail_memory(error);
    list->items = items;
    struct nt_buffer text = {0};
    nt_locator_text(&text, locator);
    items[list->count].page = (uint32_t)builder->group.group->page_count;
    items[list->count].locator = nt_buffer_settle(&text, builder->group.dataset->arena);
    return items[list->count++].locator ? NT_OK : nt_fail_memory(error);
}

enum nt_status nt_page_builder_add(struct nt_page_builder *builder, uint32_t column,
                                   const struct nt_page_record *record, struct nt_error *error)
{
    const struct nt_generation *generation = builder->envelope->generation;
    struct nt_locator locator = record->locator;
    enum nt_status status = nt_rntuple_find(builder->group.dataset, &locator, "page", error);
    if (status != NT_OK)
        return status;
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
        status = keep_locator(builder, &locator, error);
    }
    return status == NT_OK ? nt_group_builder_add(&builder->group, &page, error) : status;
}

/* The list goes to the data set's memory. */
static enum nt_status settle(struct nt_page_builder *builder, struct nt_error *error)
{
    struct nt_arena *arena = builder->group.dataset->arena;
    struct nt_elsewhere_list *list = nt_arena_alloc(arena, 1, sizeof(*list));
    if (!list)
        return nt_fail_memory(error);
    list->count = builder->elsewhere.count;
    list->items = (void *)nt_arena_copy(arena, builder->elsewhere.items, list->count * sizeof(*list->items));
    const struct nt_dataset *dataset = builder->group.dataset;
    dataset->group_more[builder->group.group - dataset->groups].format_data = list;
    return list->items ? NT_OK : nt_fail_memory(error);
}

enum nt_status nt_page_builder_finish(struct nt_page_builder *builder, enum nt_status status,
                                      struct nt_error *error)
{
    if (status == NT_OK && builder->elsewhere.count)
        status = settle(builder, error);
    free(builder->elsewhere.items);
    return nt_group_builder_finish(&builder->group, status);
}
