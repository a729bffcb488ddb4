/* SPDX-License-Identifier: MIT
 *
 * The memory of the cache's entries, and which of them leave for others. Under the cache's lock, where it does not
 * say otherwise.
 */
#ifndef NT_PAGE_CACHE_ROOM_H
#define NT_PAGE_CACHE_ROOM_H

#include "core/base/error.h"
#include "read/cache_entries.h"
#include "read/regions.h"

struct nt_counters;

/* `used` is the sum of the charges of all entries, of all regions, whole, and of what others occupy; it is at most
 * `limit` but for entries that are let in all the same. */
struct nt_cache_room {
    uint64_t limit, used;
    uint64_t outside; /* what others occupy */
    struct nt_cache_entries entries;
    struct nt_regions regions;
    struct nt_counters *counters;
};

/* Memory to give back once the lock is released. */
struct nt_garbage {
    struct nt_cached *entries; /* linked by `older` */
    struct nt_region *regions; /* linked by `next` */
};

/* Without the lock; leaves none. */
void nt_garbage_free(struct nt_garbage *garbage);

/* What an entry of so many bytes takes at most; whether it can have that, once all that is idle has gone (an
 * nt_has_room). */
uint64_t nt_room_for(const struct nt_cache_room *room, size_t bytes);
bool nt_room_is_there(const void *room, uint64_t taken);

/* Make room for so many bytes of an entry that has none yet, and charge it: what was passed goes first. `is_kept`
 * tells whether all is within the limit. */
void nt_room_make(struct nt_cache_room *room, struct nt_cached *entry, size_t bytes,
                  struct nt_garbage *garbage);
/* The memory for them, without the lock, which is taken meanwhile where it has to be. NT_NO_MEMORY. */
enum nt_status nt_room_provide(struct nt_cache_room *room, pthread_mutex_t *lock, struct nt_cached *entry,
                               struct nt_error *error);
/* A pinned entry keeps no bytes (those of malloc have been freed); it takes so many for other things. */
void nt_room_vacate(struct nt_cache_room *room, struct nt_cached *entry, size_t others);

/* An entry is pinned, by one more; by one less: without any it is idle, or ends where it is not kept. */
void nt_room_pin(struct nt_cache_room *room, struct nt_cached *entry);
void nt_room_unpin(struct nt_cache_room *room, struct nt_cached *entry, struct nt_garbage *garbage);
/* An idle entry ends. */
void nt_room_end(struct nt_cache_room *room, struct nt_cached *entry, struct nt_garbage *garbage);

/* So many bytes more (negative: fewer) are somebody else's. */
void nt_room_occupy(struct nt_cache_room *room, int64_t bytes, struct nt_garbage *garbage);
/* Regions that are empty, and not for long, or all of them. */
void nt_room_trim(struct nt_cache_room *room, struct nt_garbage *garbage);
void nt_room_clear(struct nt_cache_room *room, struct nt_garbage *garbage);

#endif
