/* SPDX-License-Identifier: MIT
 *
 * Row selections and deletion vectors as sorted runs, with conversion between stored and selected row
 * numbers.
 */
#include "core/model/model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"

/* ---- rows that are kept ---- */

static enum nt_status push(struct nt_keeping *keeping, struct nt_drop run, struct nt_error *error)
{
    if (keeping->count == UINT32_MAX)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "more than %" PRIu32 " runs of rows are left out",
                       UINT32_MAX - 1);
    struct nt_drop *items =
        nt_grow(keeping->items, keeping->count, &keeping->capacity, sizeof(*keeping->items));
    if (!items)
        return nt_fail_memory(error);
    keeping->items = items;
    items[keeping->count++] = run;
    return NT_OK;
}

enum nt_status nt_keeping_add(struct nt_keeping *keeping, uint64_t first, uint64_t count,
                              struct nt_error *error)
{
    if (!count)
        return NT_OK;
    enum nt_status status = NT_OK;
    if (first > keeping->end)
        status = push(keeping, (struct nt_drop){keeping->end, keeping->kept}, error);
    keeping->end = first + count;
    keeping->kept += count;
    return status;
}

enum nt_status nt_keeping_end(struct nt_keeping *keeping, uint64_t stored, struct nt_error *error)
{
    enum nt_status status = push(keeping, (struct nt_drop){keeping->end, keeping->kept}, error);
    if (status == NT_OK)
        status = push(keeping, (struct nt_drop){stored, keeping->kept}, error);
    if (status == NT_OK)
        keeping->count--;
    return status;
}

void nt_keeping_deinit(struct nt_keeping *keeping)
{
    free(keeping->items);
    *keeping = (struct nt_keeping){0};
}

NT_DEFINE_LAST_AT_MOST(find_drop, struct nt_drop, .first)
NT_DEFINE_LAST_AT_MOST(find_kept, struct nt_drop, .kept)

uint64_t nt_drops_kept_before(const struct nt_drops *drops, uint64_t stored)
{
    const struct nt_drop *run = &drops->items[find_drop(drops->items, drops->count, stored)];
    if (stored <= run->first)
        return stored < run->first ? stored : run->kept;
    uint64_t end = nt_drop_end(run);
    return run->kept + (stored > end ? stored - end : 0);
}

/* ---- entries that are chosen ---- */

uint64_t nt_dataset_chosen_before(const struct nt_dataset *dataset, uint64_t entries)
{
    const struct nt_selection *selection = dataset->selection;
    return selection && selection->left_out ? nt_drops_kept_before(selection->left_out, entries) : entries;
}

uint64_t nt_dataset_chosen_entry(const struct nt_dataset *dataset, uint64_t entry)
{
    const struct nt_selection *selection = dataset->selection;
    if (!selection || !selection->left_out || selection->left_out->items->kept > entry)
        return entry;
    const struct nt_drops *drops = selection->left_out;
    const struct nt_drop *run = &drops->items[find_kept(drops->items, drops->count, entry)];
    return nt_drop_end(run) + (entry - run->kept);
}

static enum nt_status check_range(const struct nt_dataset *dataset, const struct nt_entry_range *ranges,
                                  size_t number, uint64_t end, struct nt_error *error)
{
    const struct nt_entry_range *range = &ranges[number];
    if (range->first < end)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "entry %" PRIu64 " stands behind entry %" PRIu64
                       ": chosen entries ascend, each of them once",
                       range->first, end - 1);
    if (!nt_fits(range->first, range->count, dataset->entries))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "entry %" PRIu64 " is chosen: the data set has %" PRIu64,
                       range->first >= dataset->entries ? range->first : range->first + range->count - 1,
                       dataset->entries);
    return NT_OK;
}

static enum nt_status keep(struct nt_dataset *dataset, const struct nt_keeping *keeping,
                           struct nt_error *error)
{
    struct nt_selection *selection = nt_arena_alloc(dataset->arena, 1, sizeof(*selection));
    if (!selection)
        return nt_fail_memory(error);
    selection->entries = keeping->kept;
    if (keeping->kept < dataset->entries) {
        struct nt_drops *drops = nt_arena_alloc(dataset->arena, 1, sizeof(*drops));
        struct nt_drop *items = nt_arena_alloc(dataset->arena, keeping->count + 1, sizeof(*items));
        if (!drops || !items)
            return nt_fail_memory(error);
        memcpy(items, keeping->items, (keeping->count + 1) * sizeof(*items));
        *drops = (struct nt_drops){items, (uint32_t)keeping->count};
        selection->left_out = drops;
    }
    dataset->selection = selection;
    return NT_OK;
}

enum nt_status nt_dataset_select(struct nt_dataset *dataset, const struct nt_entry_range *ranges,
                                 size_t count, struct nt_error *error)
{
    struct nt_keeping keeping = {0};
    enum nt_status status = NT_OK;
    if (dataset->failure)
        return nt_fail_with(error, dataset->failure);
    if (dataset->selection)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "entries of the data set %s were chosen before",
                       dataset->name.bytes);
    for (size_t i = 0; status == NT_OK && i < count; i++) {
        status = check_range(dataset, ranges, i, keeping.end, error);
        if (status == NT_OK)
            status = nt_keeping_add(&keeping, ranges[i].first, ranges[i].count, error);
    }
    if (status == NT_OK)
        status = nt_keeping_end(&keeping, dataset->entries, error);
    if (status == NT_OK)
        status = keep(dataset, &keeping, error);
    nt_keeping_deinit(&keeping);
    return status;
}
