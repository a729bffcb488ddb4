/* SPDX-License-Identifier: MIT
 *
 * In: entries that want memory, or have had it. Out: where their bytes lie, and those that have to go.
 *
 * Large bytes lie in regions, small ones are of malloc. Of the entries that sequential readers have passed at most
 * PASSED_BYTES stay, even where there is room, and EMPTY_BYTES of empty regions: as pages are decoded ahead, they
 * come and go in bursts.
 */
#include "read/cache_room.h"

#include <stdlib.h>

#include "read/counters.h"

enum {
    PASSED_BYTES = NT_REGION_BYTES,
    EMPTY_BYTES = 2 * NT_REGION_BYTES,
    LEAST_IN_REGION = NT_REGION_BYTES / 16,
    LEAST_REGIONS = 8, /* a limit of fewer would mostly be spent on what is between the buffers */
};

/* ---- what is taken ---- */

static bool is_in_region(const struct nt_cache_room *room, size_t bytes)
{
    return bytes >= LEAST_IN_REGION && room->limit >= (uint64_t)LEAST_REGIONS * NT_REGION_BYTES;
}

static void charge(struct nt_cache_room *room, uint64_t bytes)
{
    room->used += bytes;
    nt_count(&room->counters->cache_bytes, bytes);
}

static void discharge(struct nt_cache_room *room, uint64_t bytes)
{
    room->used -= bytes;
    nt_count(&room->counters->cache_bytes, -bytes);
}

uint64_t nt_room_for(const struct nt_cache_room *room, size_t bytes)
{
    uint64_t own = is_in_region(room, bytes) ? nt_region_bytes(nt_region_capacity(bytes)) : bytes;
    return sizeof(struct nt_cached) + own;
}

/* What is pinned or loading, with the regions that it lies in, and outside. */
static uint64_t busy_bytes(const struct nt_cache_room *room)
{
    return room->used - room->entries.stay.bytes - room->entries.passed.bytes -
           (room->regions.bytes - room->regions.busy_bytes);
}

bool nt_room_is_there(const void *context, uint64_t taken)
{
    const struct nt_cache_room *room = context;
    uint64_t busy = busy_bytes(room);
    return busy == room->outside || busy + taken <= room->limit;
}

/* ---- what leaves ---- */

void nt_garbage_free(struct nt_garbage *garbage)
{
    for (struct nt_cached *entry = garbage->entries, *next; entry; entry = next) {
        next = entry->older;
        pthread_cond_destroy(&entry->changed);
        free(entry->data);
        free(entry->failure);
        free(entry);
    }
    for (struct nt_region *region = garbage->regions, *next; region; region = next) {
        next = region->next;
        nt_region_free(region);
    }
    *garbage = (struct nt_garbage){0};
}

/* An empty region ends; false: there is none. */
static bool drop_region(struct nt_cache_room *room, struct nt_garbage *garbage)
{
    struct nt_region *region = nt_regions_drop(&room->regions);
    if (!region)
        return false;
    discharge(room, region->bytes);
    region->next = garbage->regions;
    garbage->regions = region;
    return true;
}

void nt_room_trim(struct nt_cache_room *room, struct nt_garbage *garbage)
{
    while (room->regions.empty_bytes > EMPTY_BYTES || room->used > room->limit)
        if (!drop_region(room, garbage))
            break;
}

void nt_room_clear(struct nt_cache_room *room, struct nt_garbage *garbage)
{
    while (drop_region(room, garbage))
        ;
}

static void leave_region(struct nt_cache_room *room, struct nt_cached *entry)
{
    nt_regions_give(&room->regions, entry->region, entry->data, entry->capacity);
    entry->region = NULL;
    entry->data = NULL;
}

/* An entry that is neither pinned nor in the idle list ends. */
static void discard(struct nt_cache_room *room, struct nt_cached *entry, struct nt_garbage *garbage)
{
    if (entry->in_table)
        nt_entries_remove(&room->entries, entry);
    if (entry->state == NT_ENTRY_READY)
        nt_count(&room->counters->cache_pages, (uint64_t)-1);
    if (entry->region)
        leave_region(room, entry);
    discharge(room, entry->charge);
    entry->older = garbage->entries;
    garbage->entries = entry;
}

void nt_room_end(struct nt_cache_room *room, struct nt_cached *entry, struct nt_garbage *garbage)
{
    nt_entries_busy(&room->entries, entry);
    discard(room, entry, garbage);
}

static void evict(struct nt_cache_room *room, struct nt_cached *victim, struct nt_garbage *garbage)
{
    nt_room_end(room, victim, garbage);
    nt_count(&room->counters->cache_evictions, 1);
}

/* Give back until what is used, and so many bytes more, are within the limit: empty regions first, then the oldest
 * of what is idle. */
static void shrink(struct nt_cache_room *room, uint64_t bytes, struct nt_garbage *garbage)
{
    while (room->used + bytes > room->limit) {
        struct nt_cached *oldest = nt_entries_oldest(&room->entries);
        if (drop_region(room, garbage))
            continue;
        if (!oldest)
            break;
        evict(room, oldest, garbage);
    }
}

void nt_room_occupy(struct nt_cache_room *room, int64_t bytes, struct nt_garbage *garbage)
{
    room->used += (uint64_t)bytes;
    room->outside += (uint64_t)bytes;
    shrink(room, 0, garbage);
}

/* ---- what comes ---- */

/* The next to leave for an entry that wants room in a region: what is idle beside the last one that left, so that
 * room comes together, or else the oldest. */
static struct nt_cached *choose_victim(const struct nt_cache_room *room, const struct nt_region *beside)
{
    for (unsigned i = 0; beside && i < NT_REGION_UNITS; i++)
        if (beside->owners[i] && !beside->owners[i]->pins)
            return beside->owners[i];
    return nt_entries_oldest(&room->entries);
}

/* A region with room for an entry; where there is none and none can be had, a new one is charged and to come. */
static void make_room_in_region(struct nt_cache_room *room, struct nt_cached *entry,
                                struct nt_garbage *garbage)
{
    uint64_t bytes = nt_region_bytes(entry->capacity);
    struct nt_region *beside = NULL;
    while (!nt_regions_take(&room->regions, entry->capacity, entry, &entry->region, &entry->data)) {
        bool is_over = room->used + entry->charge + bytes > room->limit;
        struct nt_cached *victim = is_over ? choose_victim(room, beside) : NULL;
        if (is_over && drop_region(room, garbage)) {
            beside = NULL;
        } else if (victim) {
            beside = victim->region;
            evict(room, victim, garbage);
        } else {
            nt_regions_expect(&room->regions, entry->capacity);
            charge(room, bytes);
            break;
        }
    }
}

void nt_room_make(struct nt_cache_room *room, struct nt_cached *entry, size_t bytes,
                  struct nt_garbage *garbage)
{
    bool in_region = is_in_region(room, bytes);
    entry->capacity = in_region ? nt_region_capacity(bytes) : bytes;
    entry->charge = sizeof(*entry) + (in_region ? 0 : bytes);
    while (room->entries.passed.capacity > PASSED_BYTES)
        evict(room, room->entries.passed.oldest, garbage);
    if (in_region)
        make_room_in_region(room, entry, garbage);
    nt_room_trim(room, garbage);
    shrink(room, entry->charge, garbage);
    entry->is_kept = room->used + entry->charge <= room->limit;
    charge(room, entry->charge);
}

enum nt_status nt_room_provide(struct nt_cache_room *room, pthread_mutex_t *lock, struct nt_cached *entry,
                               struct nt_error *error)
{
    if (entry->data || !entry->capacity)
        return NT_OK;
    if (!is_in_region(room, entry->capacity)) {
        entry->data = malloc(entry->capacity);
        return entry->data ? NT_OK : nt_fail_memory(error);
    }
    struct nt_region *region = nt_region_new(entry->capacity);
    pthread_mutex_lock(lock);
    entry->data = nt_regions_add(&room->regions, region, entry->capacity, entry);
    entry->region = region;
    if (!region)
        discharge(room, nt_region_bytes(entry->capacity));
    pthread_mutex_unlock(lock);
    return region ? NT_OK : nt_fail_memory(error);
}

void nt_room_vacate(struct nt_cache_room *room, struct nt_cached *entry, size_t others)
{
    uint64_t before = entry->charge;
    if (entry->region) {
        nt_regions_rest(&room->regions, entry->region);
        leave_region(room, entry);
    }
    entry->capacity = 0;
    entry->charge = sizeof(*entry) + others;
    discharge(room, before);
    charge(room, entry->charge);
}

/* ---- pins ---- */

void nt_room_pin(struct nt_cache_room *room, struct nt_cached *entry)
{
    if (entry->pins++ > 0)
        return;
    nt_entries_busy(&room->entries, entry);
    if (entry->region)
        nt_regions_use(&room->regions, entry->region);
}

void nt_room_unpin(struct nt_cache_room *room, struct nt_cached *entry, struct nt_garbage *garbage)
{
    if (--entry->pins > 0)
        return;
    if (entry->region)
        nt_regions_rest(&room->regions, entry->region);
    if (entry->in_table && entry->is_kept) {
        nt_entries_idle(&room->entries, entry);
    } else {
        discard(room, entry, garbage);
        nt_room_trim(room, garbage);
    }
}
