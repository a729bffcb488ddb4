/* SPDX-License-Identifier: MIT
 *
 * In: the index column of a collection or the switch column of a variant, in one span. Out: how many items
 * lie below it there. Needed where a field has no columns, or where its column is deferred or was added
 * later.
 */
#include "read/counting.h"

#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/overflow.h"
#include "read/drops.h"
#include "read/elements.h"
#include "read/page.h"
#include "read/pages.h"

/* A page that is bad, or lies on a bad part of a disk, leaves the number unknown; other failures stop the
 * work. `error` tells which it is in both cases. */
static enum nt_status unknown_unless_passing(const struct nt_error *failure, bool *known_ret,
                                             struct nt_error *error)
{
    *known_ret = false;
    nt_fail_with(error, failure);
    return failure->status == NT_CHANGED || nt_is_passing_failure(failure->status) ? failure->status : NT_OK;
}

enum nt_status nt_items_last_index(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                   uint32_t cluster, uint64_t *items_ret, bool *known_ret,
                                   struct nt_error *error)
{
    struct nt_active active;
    struct nt_cached *pinned;
    const uint8_t *data;
    nt_active_find(dataset, field, 0, cluster, &active);
    *items_ret = 0;
    *known_ret = active.present == 1 || (active.present == 0 && active.is_deferred);
    if (!*known_ret || !active.elements)
        return NT_OK;
    const struct nt_page *page = nt_find_page(active.pages, active.page_count, active.elements - 1);
    struct nt_error failure = {0};
    if (nt_page_pin(reader, dataset, active.column, page, &pinned, &data, &failure) != NT_OK)
        return unknown_unless_passing(&failure, known_ret, error);
    *known_ret = nt_load_index(nt_page_decoder(dataset, page)->element, data, nt_page_made_elements(page) - 1,
                               items_ret);
    nt_page_unpin(reader, pinned, NT_CACHE_STAY);
    return NT_OK;
}

/* A lack of stored elements is unknown only where it is not the deferral's zeros, which choose no
 * alternative. */
static enum nt_status count_tag(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                uint32_t cluster, uint32_t tag, uint64_t *items_ret, bool *known_ret,
                                struct nt_error *error)
{
    struct nt_active active;
    nt_active_find(dataset, field, 0, cluster, &active);
    *items_ret = 0;
    *known_ret = active.present == 1 || (active.present == 0 && active.is_deferred);
    for (uint32_t i = 0; *known_ret && i < active.page_count; i++) {
        const struct nt_page *page = &active.pages[i];
        struct nt_cached *pinned;
        const uint8_t *data;
        if (nt_page_decoder(dataset, page)->element != NT_ELEMENT_SWITCH) {
            *known_ret = false;
            break;
        }
        struct nt_error failure = {0};
        if (nt_page_pin(reader, dataset, active.column, page, &pinned, &data, &failure) != NT_OK)
            return unknown_unless_passing(&failure, known_ret, error);
        for (uint32_t k = 0; k < nt_page_made_elements(page); k++)
            *items_ret += nt_load_le32(data + NT_SWITCH_BYTES * (size_t)k + NT_SWITCH_TAG) == tag;
        nt_page_unpin(reader, pinned, NT_CACHE_STAY);
    }
    return NT_OK;
}

/* The number of an alternative: 1 for the variant's first child. */
static uint32_t tag_of(const struct nt_dataset *dataset, uint32_t variant, uint32_t branch)
{
    uint32_t count;
    const uint32_t *children = nt_dataset_children(dataset, variant, &count);
    for (uint32_t i = 0; i < count; i++)
        if (children[i] == branch)
            return i + 1;
    return 0;
}

static enum nt_status items_in_cluster(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                       uint32_t branch, uint32_t cluster, uint64_t *items_ret,
                                       bool *known_ret, struct nt_error *error)
{
    switch (nt_field_kind_info(dataset->fields[field].kind)->below) {
    case NT_BELOW_INDEX:
        return nt_items_last_index(reader, dataset, field, cluster, items_ret, known_ret, error);
    case NT_BELOW_SWITCH:
        return count_tag(reader, dataset, field, cluster, tag_of(dataset, field, branch), items_ret,
                         known_ret, error);
    case NT_BELOW_ONE:
    case NT_BELOW_SEVERAL:
    case NT_BELOW_OWN:
        break;
    }
    *items_ret = 0;
    *known_ret = false;
    return NT_OK;
}

/* Another column group may have cut the same entries into other clusters. */
static enum nt_status items_in_shards(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                      uint32_t branch, const struct nt_span *span, uint64_t *items_ret,
                                      bool *known_ret, struct nt_error *error)
{
    struct nt_span *spans;
    uint32_t count;
    enum nt_status status = nt_spans_build(reader, dataset, field, &spans, &count, error);
    if (status != NT_OK)
        return status;
    *items_ret = 0;
    *known_ret = true;
    for (uint32_t i = 0; status == NT_OK && *known_ret && i < count; i++) {
        uint64_t end = spans[i].first_entry + spans[i].entries, items = 0;
        if (end <= span->first_entry || spans[i].first_entry >= span->first_entry + span->entries)
            continue;
        bool is_inside =
            spans[i].first_entry >= span->first_entry && end <= span->first_entry + span->entries;
        *known_ret = is_inside && spans[i].fault == NT_FAULT_NONE;
        if (*known_ret)
            status =
                items_in_cluster(reader, dataset, field, branch, spans[i].cluster, &items, known_ret, error);
        *known_ret = *known_ret && nt_add(*items_ret, items, items_ret);
    }
    free(spans);
    return status;
}

/* Where fields have clusters of their own, their borders are the same. */
static enum nt_status items_in_part(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                    uint32_t branch, const struct nt_span *span, uint64_t *items_ret,
                                    bool *known_ret, struct nt_error *error)
{
    struct nt_span own = *span;
    own.cluster = nt_part_cluster(dataset, field, nt_span_part(dataset, span));
    own.fault = own.cluster == NT_NONE ? NT_FAULT_NOT_COVERED : NT_FAULT_NONE;
    enum nt_status status = nt_span_load(dataset, &own, error);
    *known_ret = status == NT_OK && own.fault == NT_FAULT_NONE;
    if (!*known_ret)
        return status;
    status = items_in_cluster(reader, dataset, field, branch, own.cluster, items_ret, known_ret, error);
    if (status != NT_OK || !*known_ret || !dataset->part_drops)
        return status;
    struct nt_drops *drops = NULL;
    status =
        nt_drops_find(reader, dataset, field, NT_ROWS_BELOW, 1, nt_span_part(dataset, span), &drops, error);
    if (status == NT_OK && drops)
        *items_ret = nt_drops_total_kept(drops);
    nt_drops_free(drops);
    return status;
}

enum nt_status nt_items_below(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                              uint32_t branch, const struct nt_span *span, uint64_t *items_ret,
                              bool *known_ret, struct nt_error *error)
{
    if (dataset->field_groups)
        return items_in_part(reader, dataset, field, branch, span, items_ret, known_ret, error);
    if (dataset->has_sharded_clusters)
        return items_in_shards(reader, dataset, field, branch, span, items_ret, known_ret, error);
    *known_ret = span->fault == NT_FAULT_NONE;
    if (!*known_ret)
        return NT_OK;
    return items_in_cluster(reader, dataset, field, branch, span->cluster, items_ret, known_ret, error);
}

/* Up the tree: the first level that can be counted answers, if it is the nearest or if nothing lies
 * below it. */
enum nt_status nt_items_rows(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                             const struct nt_span *span, uint64_t *rows_ret, bool *known_ret,
                             struct nt_error *error)
{
    uint64_t per_item;
    *rows_ret = 0;
    *known_ret = false;
    if (!nt_rows_per_item(dataset, field, &per_item))
        return NT_OK;
    uint32_t below = field, above;
    while ((above = nt_field_row_parent(dataset, below)) != NT_NONE) {
        uint32_t branch = below;
        while (dataset->fields[branch].parent != above)
            branch = dataset->fields[branch].parent;
        uint64_t items;
        enum nt_status status =
            nt_items_below(reader, dataset, above, branch, span, &items, known_ret, error);
        if (status != NT_OK)
            return status;
        if (*known_ret) {
            *known_ret = below == field ? nt_multiply(items, per_item, rows_ret) : items == 0;
            return NT_OK;
        }
        below = above;
    }
    *known_ret = span->entries == 0;
    return NT_OK;
}
