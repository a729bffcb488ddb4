/* SPDX-License-Identifier: MIT
 *
 * In-memory LRU cache of byte ranges of remote files, including ranges in flight.
 */
#include "remote/client/client.h"

#include "core/base/queue.h"

/* The number of ranges that begin at or before an offset. */
NT_DEFINE_COUNT_UP_TO(count_ranges, __typeof__(struct nt_cached_range *), ->offset)

static size_t count_up_to(const struct nt_range_cache *file, uint64_t offset)
{
    return count_ranges(file->list, file->count, offset);
}

struct nt_cached_range *nt_range_cache_at(const struct nt_range_cache *file, uint64_t offset,
                                          uint64_t *next_ret)
{
    size_t count = count_up_to(file, offset);
    struct nt_cached_range *before = count ? file->list[count - 1] : NULL;
    if (before && offset - before->offset < before->bytes)
        return before;
    *next_ret = count < file->count ? file->list[count]->offset : UINT64_MAX;
    return NULL;
}

bool nt_range_cache_add(struct nt_range_cache *file, struct nt_cached_range *range)
{
    if (!NT_GROW(file->list, file->count, file->capacity))
        return false;
    size_t at = count_up_to(file, range->offset);
    memmove(file->list + at + 1, file->list + at, (file->count - at) * sizeof(struct nt_cached_range *));
    file->list[at] = range;
    file->count++;
    range->cache = file;
    return true;
}

void nt_range_cache_remove(struct nt_cached_range *range)
{
    struct nt_range_cache *file = range->cache;
    size_t at = count_up_to(file, range->offset) - 1;
    memmove(file->list + at, file->list + at + 1, (file->count - at - 1) * sizeof(struct nt_cached_range *));
    file->count--;
    range->cache = NULL;
}

/* ---- Kept ranges ---- */

static void free_range(struct nt_cached_range *range)
{
    free(range->data);
    free(range);
}

static void drop(struct nt_range_cache_space *space, struct nt_cached_range *range)
{
    TAILQ_REMOVE(&space->used, range, used);
    space->bytes -= range->bytes;
    nt_range_cache_remove(range);
    free_range(range);
}

static void make_space(struct nt_range_cache_space *space)
{
    struct nt_cached_range *range = NT_TAILQ_LAST(&space->used, nt_cached_range, used);
    while (range && space->bytes > space->max_bytes) {
        struct nt_cached_range *newer = NT_TAILQ_PREV(range, &space->used, nt_cached_range, used);
        if (range->pins == 0)
            drop(space, range);
        range = newer;
    }
}

void nt_cached_range_keep(struct nt_range_cache_space *space, struct nt_cached_range *range)
{
    range->is_kept = true;
    space->bytes += range->bytes;
    TAILQ_INSERT_HEAD(&space->used, range, used);
    make_space(space);
}

void nt_cached_range_forget(struct nt_range_cache_space *space, struct nt_cached_range *range)
{
    if (range->pins == 0) {
        drop(space, range);
        return;
    }
    TAILQ_REMOVE(&space->used, range, used);
    space->bytes -= range->bytes;
    range->is_kept = false;
    nt_range_cache_remove(range);
}

void nt_cached_range_pin(struct nt_range_cache_space *space, struct nt_cached_range *range)
{
    range->pins++;
    if (range->is_kept) {
        TAILQ_REMOVE(&space->used, range, used);
        TAILQ_INSERT_HEAD(&space->used, range, used);
    }
}

void nt_cached_range_unpin(struct nt_range_cache_space *space, struct nt_cached_range *range)
{
    if (--range->pins > 0)
        return;
    if (!range->cache)
        free_range(range);
    else if (range->is_kept)
        make_space(space);
}

void nt_range_cache_release(struct nt_range_cache_space *space)
{
    struct nt_cached_range *range;
    TAILQ_FOREACH (range, &space->used, used)
        range->pins = 0;
    make_space(space);
}

void nt_range_cache_drop_underway(struct nt_range_cache *file)
{
    size_t kept = 0;
    for (size_t i = 0; i < file->count; i++)
        if (file->list[i]->is_kept)
            file->list[kept++] = file->list[i];
        else
            free_range(file->list[i]);
    file->count = kept;
}

void nt_range_cache_deinit(struct nt_range_cache *file, struct nt_range_cache_space *space)
{
    for (size_t i = file->count; i-- > 0;)
        if (file->list[i]->is_kept)
            drop(space, file->list[i]);
    free(file->list);
    *file = (struct nt_range_cache){0};
}
