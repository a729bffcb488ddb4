/* SPDX-License-Identifier: MIT
 *
 * The page cache: a table of decoded pages, each loaded once however many threads ask, with pins, LRU
 * eviction and a memory limit. Failures are remembered for a while.
 */
#include "read/read.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/base/hash_table.h"
#include "core/base/thread.h"
#include "core/codec/codec.h"

/* ---- Table and LRU lists ---- */

struct nt_idle_list {
    struct nt_cached *oldest, *newest;
    uint64_t bytes;    /* charges of its entries */
    uint64_t capacity; /* of their data */
};

struct nt_cache_entries {
    struct nt_hash_table table;
    struct nt_idle_list stay, passed;
};

/* ---- the table ---- */

static struct nt_cached *nt_entries_find(struct nt_cache_entries *entries, const struct nt_cache_key *key,
                                         uint64_t hash)
{
    for (struct nt_link *link = nt_hash_table_find(&entries->table, hash); link;
         link = nt_hash_table_next(link))
        if (!memcmp(&((struct nt_cached *)link)->key, key, sizeof(*key)))
            return (struct nt_cached *)link;
    return NULL;
}

static void nt_entries_insert(struct nt_cache_entries *entries, struct nt_cached *entry, uint64_t hash)
{
    nt_hash_table_insert(&entries->table, &entry->link, hash);
    entry->in_table = true;
}

static void nt_entries_remove(struct nt_cache_entries *entries, struct nt_cached *entry)
{
    nt_hash_table_remove(&entries->table, &entry->link);
    entry->in_table = false;
}

/* ---- the idle lists ---- */

static struct nt_idle_list *list_of(struct nt_cache_entries *entries, const struct nt_cached *entry)
{
    return entry->is_passed ? &entries->passed : &entries->stay;
}

/* Into the list that its `is_passed` tells, and out of it. */
static void nt_entries_idle(struct nt_cache_entries *entries, struct nt_cached *entry)
{
    struct nt_idle_list *list = list_of(entries, entry);
    entry->newer = NULL;
    entry->older = list->newest;
    *(list->newest ? &list->newest->newer : &list->oldest) = entry;
    list->newest = entry;
    list->bytes += entry->charge;
    list->capacity += entry->capacity;
}

static void nt_entries_busy(struct nt_cache_entries *entries, struct nt_cached *entry)
{
    struct nt_idle_list *list = list_of(entries, entry);
    *(entry->older ? &entry->older->newer : &list->oldest) = entry->newer;
    *(entry->newer ? &entry->newer->older : &list->newest) = entry->older;
    list->bytes -= entry->charge;
    list->capacity -= entry->capacity;
}

/* The idle entry that is to leave first; NULL: there is none. */
static struct nt_cached *nt_entries_oldest(const struct nt_cache_entries *entries)
{
    return entries->passed.oldest ? entries->passed.oldest : entries->stay.oldest;
}

/* ---- Memory and eviction ---- */

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

/* What an entry of so many bytes takes at most; whether it can have that, once all that is idle has gone (an
 * nt_has_room). */
static uint64_t nt_room_for(const struct nt_cache_room *room, size_t bytes)
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

static bool nt_room_is_there(const void *context, uint64_t taken)
{
    const struct nt_cache_room *room = context;
    uint64_t busy = busy_bytes(room);
    return busy == room->outside || busy + taken <= room->limit;
}

/* ---- what leaves ---- */

/* Without the lock; leaves none. */
static void nt_garbage_free(struct nt_garbage *garbage)
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

/* Regions that are empty, and not for long, or all of them. */
static void nt_room_trim(struct nt_cache_room *room, struct nt_garbage *garbage)
{
    while (room->regions.empty_bytes > EMPTY_BYTES || room->used > room->limit)
        if (!drop_region(room, garbage))
            break;
}

static void nt_room_clear(struct nt_cache_room *room, struct nt_garbage *garbage)
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

/* An idle entry ends. */
static void nt_room_end(struct nt_cache_room *room, struct nt_cached *entry, struct nt_garbage *garbage)
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

/* So many bytes more (negative: fewer) are somebody else's. */
static void nt_room_occupy(struct nt_cache_room *room, int64_t bytes, struct nt_garbage *garbage)
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

/* Make room for so many bytes of an entry that has none yet, and charge it: what was passed goes first. `is_kept`
 * tells whether all is within the limit. */
static void nt_room_make(struct nt_cache_room *room, struct nt_cached *entry, size_t bytes,
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

/* The memory for them, without the lock, which is taken meanwhile where it has to be. NT_NO_MEMORY. */
static enum nt_status nt_room_provide(struct nt_cache_room *room, pthread_mutex_t *lock,
                                      struct nt_cached *entry, struct nt_error *error)
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

/* A pinned entry keeps no bytes (those of malloc have been freed); it takes so many for other things. */
static void nt_room_vacate(struct nt_cache_room *room, struct nt_cached *entry, size_t others)
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

/* An entry is pinned, by one more; by one less: without any it is idle, or ends where it is not kept. */
static void nt_room_pin(struct nt_cache_room *room, struct nt_cached *entry)
{
    if (entry->pins++ > 0)
        return;
    nt_entries_busy(&room->entries, entry);
    if (entry->region)
        nt_regions_use(&room->regions, entry->region);
}

static void nt_room_unpin(struct nt_cache_room *room, struct nt_cached *entry, struct nt_garbage *garbage)
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

/* ---- Get and load entries ---- */

/* In: keys and a function that loads. Out: pinned bytes, each loaded once however many threads ask.
 * 
 * Invariants, under the lock:
 *   state    in table  pins  idle  data   meaning
 *   LOADING  yes*      >= 1  no    yes    one thread loads, without the lock; others wait for its end
 *   READY    yes*      >= 1  no    yes    being read
 *   READY    yes       0     yes   yes    may be evicted, oldest first; passed ones before others
 *   FAILED   yes*      >= 1  no    no     waiters have not all seen the error yet
 *   FAILED   yes       0     yes   no     remembered until it expires; may be evicted
 *   * unless it was forgotten meanwhile: then it is out of the table and ends with its last pin.
 * 
 * LOADING becomes READY or FAILED, once; nothing becomes LOADING again. An entry is in one of the idle lists
 * while it has no pins. Who asks for an entry for which no room can be made within the limit waits, in the order of
 * asking, until others are unpinned. But an entry that is larger than the limit is let in alone, and one that is
 * needed to load another is let in at once: its asker has a pin that others may be waiting for. Such an entry is
 * not kept after its last pin. Memory is allocated and freed, and pages are loaded, without the lock. */

struct nt_cache {
    pthread_mutex_t lock;
    unsigned failure_seconds;
    struct nt_counters *counters;
    struct nt_cache_room room;
    struct nt_turns turns; /* of those who wait for room */
};

static uint64_t key_hash(const struct nt_cache_key *key)
{
    return nt_xxh3(key, sizeof(*key));
}

static time_t seconds_now(void)
{
    return (time_t)(nt_nanoseconds() / NT_SECOND);
}

static void unpin(struct nt_cache *cache, struct nt_cached *entry, struct nt_garbage *garbage)
{
    nt_room_unpin(&cache->room, entry, garbage);
    if (entry->pins == 0)
        nt_turns_freed(&cache->turns);
}

/* ---- getting ---- */

/* Returns when there is room for an asker; false: there is none, and it does not wait. `has_waited_ret` tells whether
 * the lock was given up meanwhile. */
static bool wait_for_room(struct nt_cache *cache, enum nt_cache_asker asker, uint64_t bytes,
                          bool *has_waited_ret)
{
    *has_waited_ret = asker == NT_CACHE_READER &&
                      nt_turns_wait(&cache->turns, &cache->lock, nt_room_is_there, &cache->room, bytes);
    return asker != NT_CACHE_HOLDER || nt_room_is_there(&cache->room, bytes);
}

static struct nt_cached *entry_new(const struct nt_cache_key *key)
{
    struct nt_cached *entry = calloc(1, sizeof(*entry));
    if (!entry || pthread_cond_init(&entry->changed, NULL)) {
        free(entry);
        return NULL;
    }
    entry->key = *key;
    entry->pins = 1;
    return entry;
}

/* Under the lock: the end of LOADING. The error is remembered where there is memory for it. */
static void finish(struct nt_cache *cache, struct nt_cached *entry, enum nt_status status,
                   const struct nt_error *failure)
{
    entry->state = status == NT_OK ? NT_ENTRY_READY : NT_ENTRY_FAILED;
    if (status == NT_OK) {
        nt_count(&cache->counters->cache_pages, 1);
        return;
    }
    entry->failure = malloc(sizeof(*failure));
    nt_room_vacate(&cache->room, entry, entry->failure ? sizeof(*failure) : 0);
    if (entry->failure) {
        *entry->failure = *failure;
        entry->expires = seconds_now() + (time_t)cache->failure_seconds;
    }
    if (!entry->failure || nt_is_passing_failure(status) || status == NT_UNREACHABLE)
        entry->is_kept = false;
    if (!entry->is_kept && entry->in_table)
        nt_entries_remove(&cache->room.entries, entry);
}

static enum nt_status copy_failure(const struct nt_cached *entry, struct nt_error *error)
{
    if (!entry->failure)
        return nt_fail_memory(error);
    if (error)
        *error = *entry->failure;
    return entry->failure->status;
}

/* With the lock held on entry and exit: an entry that is there. */
static enum nt_status wait_for(struct nt_cache *cache, struct nt_cached *entry, struct nt_cached **entry_ret,
                               struct nt_garbage *garbage, struct nt_error *error)
{
    nt_room_pin(&cache->room, entry);
    if (entry->state == NT_ENTRY_FAILED)
        nt_count(&cache->counters->failures_remembered, 1);
    else
        nt_count(
            entry->state == NT_ENTRY_READY ? &cache->counters->cache_hits : &cache->counters->cache_waits, 1);
    while (entry->state == NT_ENTRY_LOADING)
        pthread_cond_wait(&entry->changed, &cache->lock);
    if (entry->state == NT_ENTRY_READY) {
        *entry_ret = entry;
        return NT_OK;
    }
    enum nt_status status = copy_failure(entry, error);
    unpin(cache, entry, garbage);
    return status;
}

/* With the lock held on entry and exit, not meanwhile: an entry that this thread has just inserted. */
static enum nt_status load_entry(struct nt_cache *cache, struct nt_cached *entry, nt_cache_load *load,
                                 void *context, struct nt_cached **entry_ret, struct nt_garbage *garbage,
                                 struct nt_error *error)
{
    struct nt_error failure = {0};
    pthread_mutex_unlock(&cache->lock);
    nt_garbage_free(garbage);
    enum nt_status status = nt_room_provide(&cache->room, &cache->lock, entry, &failure);
    if (status == NT_OK)
        status = load(context, entry->data, &failure);
    if (status != NT_OK && !entry->region) {
        free(entry->data);
        entry->data = NULL;
    }
    pthread_mutex_lock(&cache->lock);
    finish(cache, entry, status, &failure);
    pthread_cond_broadcast(&entry->changed);
    if (status == NT_OK) {
        *entry_ret = entry;
        return NT_OK;
    }
    if (error)
        *error = failure;
    unpin(cache, entry, garbage);
    return status;
}

/* Find an entry; a failure that is old enough to be tried again is removed. */
static struct nt_cached *find_current(struct nt_cache *cache, const struct nt_cache_key *key, uint64_t hash,
                                      struct nt_garbage *garbage)
{
    struct nt_cached *entry = nt_entries_find(&cache->room.entries, key, hash);
    if (!entry || entry->state != NT_ENTRY_FAILED || entry->expires > seconds_now())
        return entry;
    if (entry->pins) {
        nt_entries_remove(&cache->room.entries, entry);
    } else {
        nt_room_end(&cache->room, entry, garbage);
    }
    return NULL;
}

enum nt_status nt_cache_get(struct nt_cache *cache, const struct nt_cache_key *key, size_t bytes,
                            enum nt_cache_asker asker, nt_cache_load *load, void *context,
                            struct nt_cached **entry_ret, struct nt_error *error)
{
    struct nt_garbage garbage = {0};
    uint64_t hash = key_hash(key);
    enum nt_status status;
    pthread_mutex_lock(&cache->lock);
    struct nt_cached *entry = find_current(cache, key, hash, &garbage);
    bool has_waited = false,
         is_let_in = entry || wait_for_room(cache, asker, nt_room_for(&cache->room, bytes), &has_waited);
    if (has_waited)
        entry = find_current(cache, key, hash, &garbage);
    if (entry) {
        status = wait_for(cache, entry, entry_ret, &garbage, error);
    } else if (is_let_in && (entry = entry_new(key))) {
        nt_count(&cache->counters->cache_misses, 1);
        nt_room_make(&cache->room, entry, bytes, &garbage);
        nt_entries_insert(&cache->room.entries, entry, hash);
        status = load_entry(cache, entry, load, context, entry_ret, &garbage, error);
    } else {
        status = nt_fail_memory(error);
    }
    pthread_mutex_unlock(&cache->lock);
    nt_garbage_free(&garbage);
    return status;
}

enum nt_cache_presence nt_cache_peek(struct nt_cache *cache, const struct nt_cache_key *key)
{
    static const enum nt_cache_presence presences[] = {[NT_ENTRY_LOADING] = NT_CACHE_LOADING,
                                                       [NT_ENTRY_READY] = NT_CACHE_READY,
                                                       [NT_ENTRY_FAILED] = NT_CACHE_FAILED};
    struct nt_garbage garbage = {0};
    uint64_t hash = key_hash(key);
    pthread_mutex_lock(&cache->lock);
    struct nt_cached *entry = find_current(cache, key, hash, &garbage);
    enum nt_cache_presence presence = entry ? presences[entry->state] : NT_CACHE_ABSENT;
    pthread_mutex_unlock(&cache->lock);
    nt_garbage_free(&garbage);
    return presence;
}

size_t nt_cache_count_absent(struct nt_cache *cache, const struct nt_cache_key *keys, size_t count)
{
    struct nt_garbage garbage = {0};
    size_t absent = 0;
    pthread_mutex_lock(&cache->lock);
    while (absent < count && !find_current(cache, &keys[absent], key_hash(&keys[absent]), &garbage))
        absent++;
    pthread_mutex_unlock(&cache->lock);
    nt_garbage_free(&garbage);
    return absent;
}

void nt_cache_remember(struct nt_cache *cache, const struct nt_cache_key *key, const struct nt_error *failure)
{
    struct nt_garbage garbage = {0};
    uint64_t hash = key_hash(key);
    pthread_mutex_lock(&cache->lock);
    struct nt_cached *entry = find_current(cache, key, hash, &garbage) ? NULL : entry_new(key);
    if (entry) {
        nt_room_make(&cache->room, entry, 0, &garbage);
        nt_entries_insert(&cache->room.entries, entry, hash);
        finish(cache, entry, failure->status, failure);
        unpin(cache, entry, &garbage);
    }
    pthread_mutex_unlock(&cache->lock);
    nt_garbage_free(&garbage);
}

const uint8_t *nt_cached_bytes(const struct nt_cached *entry)
{
    return entry->data;
}

void nt_cache_release(struct nt_cache *cache, struct nt_cached *entry, enum nt_cache_use use)
{
    struct nt_garbage garbage = {0};
    pthread_mutex_lock(&cache->lock);
    entry->is_passed = use == NT_CACHE_PASSED || (use == NT_CACHE_PASSING && entry->is_passed);
    unpin(cache, entry, &garbage);
    pthread_mutex_unlock(&cache->lock);
    nt_garbage_free(&garbage);
}

void nt_cache_occupy(struct nt_cache *cache, int64_t bytes)
{
    struct nt_garbage garbage = {0};
    pthread_mutex_lock(&cache->lock);
    nt_room_occupy(&cache->room, bytes, &garbage);
    nt_turns_freed(&cache->turns);
    pthread_mutex_unlock(&cache->lock);
    nt_garbage_free(&garbage);
}

/* ---- life ---- */

void nt_cache_forget(struct nt_cache *cache, const void *source)
{
    struct nt_garbage garbage = {0};
    pthread_mutex_lock(&cache->lock);
    for (struct nt_link *link = nt_hash_table_after(&cache->room.entries.table, NULL), *next; link;
         link = next) {
        struct nt_cached *entry = (struct nt_cached *)link;
        next = nt_hash_table_after(&cache->room.entries.table, link);
        if (entry->key.source != source)
            continue;
        if (entry->pins) {
            nt_entries_remove(&cache->room.entries, entry);
        } else {
            nt_room_end(&cache->room, entry, &garbage);
        }
    }
    nt_room_trim(&cache->room, &garbage);
    pthread_mutex_unlock(&cache->lock);
    nt_garbage_free(&garbage);
}

struct nt_cache *nt_cache_new(uint64_t limit, unsigned failure_seconds, struct nt_counters *counters)
{
    struct nt_cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return NULL;
    cache->room.limit = limit;
    cache->room.counters = counters;
    cache->failure_seconds = failure_seconds;
    cache->counters = counters;
    if (nt_hash_table_init(&cache->room.entries.table)) {
        if (!pthread_mutex_init(&cache->lock, NULL)) {
            if (!nt_turns_init(&cache->turns))
                return cache;
            pthread_mutex_destroy(&cache->lock);
        }
        nt_hash_table_deinit(&cache->room.entries.table);
    }
    free(cache);
    return NULL;
}

void nt_cache_free(struct nt_cache *cache)
{
    if (!cache)
        return;
    struct nt_garbage garbage = {0};
    struct nt_cached *entry;
    while ((entry = nt_entries_oldest(&cache->room.entries)))
        nt_room_end(&cache->room, entry, &garbage);
    nt_room_clear(&cache->room, &garbage);
    nt_garbage_free(&garbage);
    nt_turns_deinit(&cache->turns);
    pthread_mutex_destroy(&cache->lock);
    nt_hash_table_deinit(&cache->room.entries.table);
    free(cache);
}
