/* SPDX-License-Identifier: MIT
 *
 * Row selections and deletion vectors as sorted runs, with conversion between stored and selected row
 * numbers.
 */
#include "core/model/model.h"

static enum nt_status push(struct nt_deletion_vector_builder *builder, struct nt_deletion_run run,
                           struct nt_error *error)
{
    if (builder->count == UINT32_MAX)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "the selection omits more than %" PRIu32 " runs of rows", UINT32_MAX - 1);
    NT_TRY(nt_check_memory(NT_GROW(builder->items, builder->count, builder->capacity), error));
    builder->items[builder->count++] = run;
    return NT_OK;
}

enum nt_status nt_deletion_vector_builder_add(struct nt_deletion_vector_builder *builder, uint64_t first,
                                              uint64_t count, struct nt_error *error)
{
    if (!count)
        return NT_OK;
    enum nt_status status = NT_OK;
    if (first > builder->end)
        status = push(builder, (struct nt_deletion_run){builder->end, builder->kept}, error);
    builder->end = first + count;
    builder->kept += count;
    return status;
}

struct nt_deletion_vector *nt_deletion_vector_new(uint64_t count)
{
    struct nt_deletion_vector *deletions =
        malloc(sizeof(*deletions) + ((size_t)count + 1) * sizeof(*deletions->items));
    if (deletions)
        *deletions = (struct nt_deletion_vector){(struct nt_deletion_run *)(deletions + 1), (uint32_t)count};
    return deletions;
}

enum nt_status nt_deletion_vector_builder_finish(struct nt_deletion_vector_builder *builder,
                                                 uint64_t physical, struct nt_deletion_vector **deletions_ret,
                                                 struct nt_error *error)
{
    NT_TRY(push(builder, (struct nt_deletion_run){builder->end, builder->kept}, error));
    NT_TRY(push(builder, (struct nt_deletion_run){physical, builder->kept}, error));
    *deletions_ret = nt_deletion_vector_new(builder->count - 1);
    NT_TRY(nt_check_memory(*deletions_ret, error));
    memcpy((*deletions_ret)->items, builder->items, builder->count * sizeof(*builder->items));
    return NT_OK;
}

void nt_deletion_vector_builder_deinit(struct nt_deletion_vector_builder *builder)
{
    free(builder->items);
    *builder = (struct nt_deletion_vector_builder){0};
}

NT_DEFINE_LAST_AT_MOST(find_deleted_run, struct nt_deletion_run, .first)
NT_DEFINE_LAST_AT_MOST(find_kept, struct nt_deletion_run, .kept)

uint64_t nt_deletion_vector_kept_before(const struct nt_deletion_vector *deletions, uint64_t physical)
{
    const struct nt_deletion_run *run =
        &deletions->items[find_deleted_run(deletions->items, deletions->count, physical)];
    if (physical <= run->first)
        return physical < run->first ? physical : run->kept;
    uint64_t end = nt_deletion_run_end(run);
    return run->kept + (physical > end ? physical - end : 0);
}

uint64_t nt_deletion_vector_count(const struct nt_deletion_vector *deletions, uint32_t number)
{
    return number ? nt_deletion_run_end(&deletions->items[number - 1]) - deletions->items[number - 1].kept
                  : 0;
}

struct nt_kept_run nt_deletion_vector_find_kept(const struct nt_deletion_vector *deletions, uint64_t row)
{
    struct nt_kept_run kept = {.number = 0, .physical = row};
    if (deletions->items[0].kept <= row) {
        kept.number = find_kept(deletions->items, deletions->count, row) + 1;
        kept.physical = row + nt_deletion_vector_count(deletions, kept.number);
    }
    kept.count = deletions->items[kept.number].first - kept.physical;
    return kept;
}

bool nt_deletion_vector_next_kept(const struct nt_deletion_vector *deletions, struct nt_kept_run *kept)
{
    do {
        if (kept->number == deletions->count)
            return false;
        kept->physical = nt_deletion_run_end(&deletions->items[kept->number++]);
        kept->count = deletions->items[kept->number].first - kept->physical;
    } while (!kept->count);
    return true;
}

uint64_t nt_dataset_selected_before(const struct nt_dataset *dataset, uint64_t entries)
{
    const struct nt_entry_filter *selection = dataset->selection;
    return selection && selection->excluded ? nt_deletion_vector_kept_before(selection->excluded, entries)
                                            : entries;
}

uint64_t nt_dataset_selected_entry(const struct nt_dataset *dataset, uint64_t entry)
{
    const struct nt_entry_filter *selection = dataset->selection;
    return selection && selection->excluded
               ? nt_deletion_vector_find_kept(selection->excluded, entry).physical
               : entry;
}

static enum nt_status check_range(const struct nt_dataset *dataset, const struct nt_entry_range *ranges,
                                  size_t number, uint64_t end, struct nt_error *error)
{
    const struct nt_entry_range *range = &ranges[number];
    if (range->first < end)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "entry %" PRIu64 " follows entry %" PRIu64
                       ": list entries in ascending order, each only once",
                       range->first, end - 1);
    if (!nt_range_fits(range->first, range->count, dataset->entries))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "entry %" PRIu64 " does not exist: the dataset has %" PRIu64,
                       range->first >= dataset->entries ? range->first : range->first + range->count - 1,
                       dataset->entries);
    return NT_OK;
}

static enum nt_status keep(struct nt_dataset *dataset, struct nt_deletion_vector_builder *builder,
                           struct nt_error *error)
{
    struct nt_entry_filter *selection = nt_arena_alloc(dataset->arena, 1, sizeof(*selection));
    struct nt_deletion_vector *deletions = NULL;
    NT_TRY(nt_check_memory(selection, error));
    if (builder->kept < dataset->entries)
        NT_TRY(nt_deletion_vector_builder_finish(builder, dataset->entries, &deletions, error));
    if (deletions && !nt_arena_adopt(dataset->arena, deletions)) {
        free(deletions);
        return nt_fail_memory(error);
    }
    *selection = (struct nt_entry_filter){.excluded = deletions, .entries = builder->kept};
    dataset->selection = selection;
    return NT_OK;
}

enum nt_status nt_dataset_select(struct nt_dataset *dataset, const struct nt_entry_range *ranges,
                                 size_t count, struct nt_error *error)
{
    NT_CLEANUP(nt_deletion_vector_builder_deinit) struct nt_deletion_vector_builder builder = {0};
    NT_TRY(nt_dataset_check(dataset, error));
    if (dataset->selection)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "the dataset %s already has a selection of entries",
                       dataset->name.bytes);
    for (size_t i = 0; i < count; i++) {
        NT_TRY(check_range(dataset, ranges, i, builder.end, error));
        NT_TRY(nt_deletion_vector_builder_add(&builder, ranges[i].first, ranges[i].count, error));
    }
    return keep(dataset, &builder, error);
}
