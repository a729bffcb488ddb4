/* SPDX-License-Identifier: MIT
 *
 * In: keys and a function that loads. Out: pinned bytes, each loaded once however many threads ask.
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
 * while it has no pins. `used` is the sum of the charges of all entries, of the spare buffers and of what
 * others occupy; it is at most `limit`: who asks for an entry for which no room can be made waits, in the
 * order of asking, until others are unpinned. But an entry that is larger than the limit is let in alone, and
 * one that is needed to load another is let in at once: its asker has a pin that others may be waiting for.
 * Such an entry is not kept after its last pin. Of the entries that sequential readers have passed at most
 * PASSED_BYTES stay, even where there is room, and as much of their buffers, for pages to come. Memory is
 * allocated and freed, and pages are loaded, without the lock.
 */
#include "page/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/turns.h"
#include "codec/codec.h"
#include "page/cache_entries.h"
#include "page/counters.h"
#include "page/spares.h"

enum { PASSED_BYTES = 4 * 1024 * 1024 };

struct nt_cache {
    pthread_mutex_t lock;
    uint64_t limit, used;
    unsigned failure_seconds;
    struct nt_counters *counters;
    struct nt_cache_entries entries;
    struct nt_spares spares;
    uint64_t outside;      /* bytes within the limit that others have */
    struct nt_turns turns; /* of those who wait for room */
};

static uint64_t key_hash(const struct nt_cache_key *key)
{
    return nt_xxh3(key, sizeof(*key));
}

/* Capacities come in eight steps per power of two, so that buffers of pages of about one size fit one
 * another. */
static size_t capacity_for(size_t bytes)
{
    size_t step = 64;
    while (step * 16 <= bytes)
        step *= 2;
    return (bytes + step - 1) / step * step;
}

static uint64_t charge_for(size_t bytes)
{
    return capacity_for(bytes) + sizeof(struct nt_cached);
}

static time_t seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static void pin(struct nt_cache *cache, struct nt_cached *entry)
{
    if (entry->pins++ == 0)
        nt_entries_busy(&cache->entries, entry);
}

/* ---- room ---- */

static void charge(struct nt_cache *cache, uint64_t bytes)
{
    cache->used += bytes;
    nt_count(&cache->counters->cache_bytes, bytes);
}

static void discharge(struct nt_cache *cache, uint64_t bytes)
{
    cache->used -= bytes;
    nt_count(&cache->counters->cache_bytes, -bytes);
}

/* Memory to give back once the lock is released. */
struct garbage {
    struct nt_cached *entries; /* linked by `older` */
    struct nt_spares spares;
};

static void garbage_free(struct garbage *garbage)
{
    for (struct nt_cached *entry = garbage->entries, *next; entry; entry = next) {
        next = entry->older;
        pthread_cond_destroy(&entry->changed);
        free(entry->data);
        free(entry->failure);
        free(entry);
    }
    nt_spares_free(&garbage->spares);
}

/* An entry that is neither pinned nor in the idle list ends. */
static void discard(struct nt_cache *cache, struct nt_cached *entry, struct garbage *garbage)
{
    if (entry->in_table)
        nt_entries_remove(&cache->entries, entry);
    if (entry->state == NT_ENTRY_READY)
        nt_count(&cache->counters->cache_pages, (uint64_t)-1);
    discharge(cache, entry->charge);
    entry->older = garbage->entries;
    garbage->entries = entry;
}

static void unpin(struct nt_cache *cache, struct nt_cached *entry, struct garbage *garbage)
{
    if (--entry->pins)
        return;
    nt_turns_freed(&cache->turns);
    if (entry->in_table && entry->is_kept)
        nt_entries_idle(&cache->entries, entry);
    else
        discard(cache, entry, garbage);
}

/* The buffer of a page that could not be loaded, or that is passed and fits nobody now, is kept for the next. */
static void spare_add(struct nt_cache *cache, struct nt_cached *entry)
{
    nt_spares_add(&cache->spares, entry->data, entry->capacity);
    entry->data = NULL;
    entry->charge -= entry->capacity;
}

/* Spares stay as few as pages that are passed: both wait for the next page of a sequential reader. */
static void spares_trim(struct nt_cache *cache, struct garbage *garbage)
{
    while (cache->spares.bytes > PASSED_BYTES)
        discharge(cache, nt_spares_move(&cache->spares, &garbage->spares));
}

static uint8_t *spare_take(struct nt_cache *cache, size_t capacity)
{
    uint8_t *data = nt_spares_take(&cache->spares, capacity);
    if (data)
        discharge(cache, capacity);
    return data;
}

/* What is pinned, loading or outside. */
static uint64_t busy_bytes(const struct nt_cache *cache)
{
    return cache->used - cache->entries.stay.bytes - cache->entries.passed.bytes - cache->spares.bytes;
}

/* A buffer may be up to a quarter larger than what is put into it, where there is room for that. */
static bool is_fitting(const struct nt_cache *cache, const struct nt_cached *victim,
                       const struct nt_cached *entry)
{
    if (!victim->data || victim->capacity < entry->capacity)
        return false;
    size_t excess = victim->capacity - entry->capacity;
    return excess == 0 ||
           (excess <= entry->capacity / 4 && busy_bytes(cache) + entry->charge + excess <= cache->limit);
}

/* An idle entry leaves; its buffer, page faults paid, becomes that of the new entry where it fits. Of pages
 * that are passed it is kept otherwise: as several are decoded ahead, they come and go in bursts. */
static void evict(struct nt_cache *cache, struct nt_cached *victim, struct nt_cached *entry, bool is_passed,
                  struct garbage *garbage)
{
    bool is_wanted = entry && !entry->data && is_fitting(cache, victim, entry);
    nt_entries_busy(&cache->entries, victim);
    if (is_wanted) {
        entry->charge += victim->capacity - entry->capacity;
        entry->capacity = victim->capacity;
        entry->data = victim->data;
        victim->data = NULL;
    } else if (is_passed && victim->data) {
        spare_add(cache, victim);
    }
    discard(cache, victim, garbage);
    nt_count(&cache->counters->cache_evictions, 1);
}

/* Of the few that were not used for longest, one whose buffer fits: memory that is taken and given back with
 * each page costs more than their order is worth. */
static struct nt_cached *choose_victim(const struct nt_cache *cache, const struct nt_cached *entry)
{
    enum { CHOICE = 8 };
    struct nt_cached *oldest = nt_entries_oldest(&cache->entries), *victim = oldest;
    for (unsigned i = 0; entry && !entry->data && victim && i < CHOICE; i++, victim = victim->newer)
        if (is_fitting(cache, victim, entry))
            return victim;
    return oldest;
}

/* Give back until what is used, and the entry that is to come (may be NULL), are within the limit: spare
 * buffers first, then the oldest of what is idle. */
static void shrink(struct nt_cache *cache, struct nt_cached *entry, struct garbage *garbage)
{
    while (cache->used + (entry ? entry->charge : 0) > cache->limit) {
        if (cache->spares.first)
            discharge(cache, nt_spares_move(&cache->spares, &garbage->spares));
        else if (nt_entries_oldest(&cache->entries))
            evict(cache, choose_victim(cache, entry), entry, false, garbage);
        else
            break;
    }
}

/* Make room for an entry and charge it: what was passed goes first. */
static void make_room(struct nt_cache *cache, struct nt_cached *entry, struct garbage *garbage)
{
    while (cache->entries.passed.bytes > PASSED_BYTES)
        evict(cache, cache->entries.passed.oldest, entry, true, garbage);
    spares_trim(cache, garbage);
    if (!entry->data)
        entry->data = spare_take(cache, entry->capacity);
    shrink(cache, entry, garbage);
    entry->is_kept = cache->used + entry->charge <= cache->limit;
    charge(cache, entry->charge);
}

/* Whether an entry of this charge can have room, once all that is idle has gone. */
static bool has_room(const void *context, uint64_t bytes)
{
    const struct nt_cache *cache = context;
    uint64_t busy = busy_bytes(cache);
    return busy == cache->outside || busy + bytes <= cache->limit;
}

/* ---- getting ---- */

static struct nt_cached *entry_new(const struct nt_cache_key *key, size_t bytes)
{
    struct nt_cached *entry = calloc(1, sizeof(*entry));
    if (!entry || pthread_cond_init(&entry->changed, NULL)) {
        free(entry);
        return NULL;
    }
    entry->key = *key;
    entry->pins = 1;
    entry->capacity = capacity_for(bytes);
    entry->charge = charge_for(bytes);
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
    if (entry->data)
        spare_add(cache, entry);
    entry->failure = malloc(sizeof(*failure));
    if (entry->failure) {
        *entry->failure = *failure;
        entry->charge += sizeof(*failure);
        charge(cache, sizeof(*failure));
        entry->expires = seconds_now() + (time_t)cache->failure_seconds;
    }
    if (!entry->failure || nt_is_passing_failure(status))
        entry->is_kept = false;
    if (!entry->is_kept && entry->in_table)
        nt_entries_remove(&cache->entries, entry);
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
                               struct garbage *garbage, struct nt_error *error)
{
    pin(cache, entry);
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
                                 void *context, struct nt_cached **entry_ret, struct garbage *garbage,
                                 struct nt_error *error)
{
    struct nt_error failure = {0};
    enum nt_status status = NT_OK;
    pthread_mutex_unlock(&cache->lock);
    garbage_free(garbage);
    *garbage = (struct garbage){0};
    if (!entry->data && entry->capacity) {
        entry->data = malloc(entry->capacity);
        if (!entry->data)
            status = nt_fail_memory(&failure);
    }
    if (status == NT_OK)
        status = load(context, entry->data, &failure);
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
                                      struct garbage *garbage)
{
    struct nt_cached *entry = nt_entries_find(&cache->entries, key, hash);
    if (!entry || entry->state != NT_ENTRY_FAILED || entry->expires > seconds_now())
        return entry;
    if (entry->pins) {
        nt_entries_remove(&cache->entries, entry);
    } else {
        nt_entries_busy(&cache->entries, entry);
        discard(cache, entry, garbage);
    }
    return NULL;
}

enum nt_status nt_cache_get(struct nt_cache *cache, const struct nt_cache_key *key, size_t bytes,
                            enum nt_cache_asker asker, nt_cache_load *load, void *context,
                            struct nt_cached **entry_ret, struct nt_error *error)
{
    struct garbage garbage = {0};
    uint64_t hash = key_hash(key);
    enum nt_status status;
    pthread_mutex_lock(&cache->lock);
    struct nt_cached *entry = find_current(cache, key, hash, &garbage);
    if (!entry && asker == NT_CACHE_READER &&
        nt_turns_wait(&cache->turns, &cache->lock, has_room, cache, charge_for(bytes)))
        entry = find_current(cache, key, hash, &garbage);
    if (entry) {
        status = wait_for(cache, entry, entry_ret, &garbage, error);
    } else if ((entry = entry_new(key, bytes))) {
        nt_count(&cache->counters->cache_misses, 1);
        make_room(cache, entry, &garbage);
        nt_entries_insert(&cache->entries, entry, hash);
        status = load_entry(cache, entry, load, context, entry_ret, &garbage, error);
    } else {
        status = nt_fail_memory(error);
    }
    pthread_mutex_unlock(&cache->lock);
    garbage_free(&garbage);
    return status;
}

enum nt_cache_presence nt_cache_peek(struct nt_cache *cache, const struct nt_cache_key *key)
{
    static const enum nt_cache_presence presences[] = {[NT_ENTRY_LOADING] = NT_CACHE_LOADING,
                                                       [NT_ENTRY_READY] = NT_CACHE_READY,
                                                       [NT_ENTRY_FAILED] = NT_CACHE_FAILED};
    struct garbage garbage = {0};
    uint64_t hash = key_hash(key);
    pthread_mutex_lock(&cache->lock);
    struct nt_cached *entry = find_current(cache, key, hash, &garbage);
    enum nt_cache_presence presence = entry ? presences[entry->state] : NT_CACHE_ABSENT;
    pthread_mutex_unlock(&cache->lock);
    garbage_free(&garbage);
    return presence;
}

void nt_cache_remember(struct nt_cache *cache, const struct nt_cache_key *key, const struct nt_error *failure)
{
    struct garbage garbage = {0};
    uint64_t hash = key_hash(key);
    pthread_mutex_lock(&cache->lock);
    struct nt_cached *entry = find_current(cache, key, hash, &garbage) ? NULL : entry_new(key, 0);
    if (entry) {
        make_room(cache, entry, &garbage);
        nt_entries_insert(&cache->entries, entry, hash);
        finish(cache, entry, failure->status, failure);
        unpin(cache, entry, &garbage);
    }
    pthread_mutex_unlock(&cache->lock);
    garbage_free(&garbage);
}

const uint8_t *nt_cached_bytes(const struct nt_cached *entry)
{
    return entry->data;
}

void nt_cache_release(struct nt_cache *cache, struct nt_cached *entry, enum nt_cache_use use)
{
    struct garbage garbage = {0};
    pthread_mutex_lock(&cache->lock);
    entry->is_passed = use == NT_CACHE_PASSED || (use == NT_CACHE_PASSING && entry->is_passed);
    unpin(cache, entry, &garbage);
    pthread_mutex_unlock(&cache->lock);
    garbage_free(&garbage);
}

void nt_cache_occupy(struct nt_cache *cache, int64_t bytes)
{
    struct garbage garbage = {0};
    pthread_mutex_lock(&cache->lock);
    cache->used += (uint64_t)bytes;
    cache->outside += (uint64_t)bytes;
    shrink(cache, NULL, &garbage);
    nt_turns_freed(&cache->turns);
    pthread_mutex_unlock(&cache->lock);
    garbage_free(&garbage);
}

/* ---- life ---- */

void nt_cache_forget(struct nt_cache *cache, const void *source)
{
    struct garbage garbage = {0};
    pthread_mutex_lock(&cache->lock);
    for (struct nt_link *link = nt_hash_table_after(&cache->entries.table, NULL), *next; link; link = next) {
        struct nt_cached *entry = (struct nt_cached *)link;
        next = nt_hash_table_after(&cache->entries.table, link);
        if (entry->key.source != source)
            continue;
        if (entry->pins) {
            nt_entries_remove(&cache->entries, entry);
        } else {
            nt_entries_busy(&cache->entries, entry);
            discard(cache, entry, &garbage);
        }
    }
    pthread_mutex_unlock(&cache->lock);
    garbage_free(&garbage);
}

struct nt_cache *nt_cache_new(uint64_t limit, unsigned failure_seconds, struct nt_counters *counters)
{
    struct nt_cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return NULL;
    cache->limit = limit;
    cache->failure_seconds = failure_seconds;
    cache->counters = counters;
    if (nt_hash_table_init(&cache->entries.table)) {
        if (!pthread_mutex_init(&cache->lock, NULL)) {
            if (!nt_turns_init(&cache->turns))
                return cache;
            pthread_mutex_destroy(&cache->lock);
        }
        nt_hash_table_deinit(&cache->entries.table);
    }
    free(cache);
    return NULL;
}

void nt_cache_free(struct nt_cache *cache)
{
    if (!cache)
        return;
    struct garbage garbage = {0};
    struct nt_cached *entry;
    while ((entry = nt_entries_oldest(&cache->entries))) {
        nt_entries_busy(&cache->entries, entry);
        discard(cache, entry, &garbage);
    }
    discharge(cache, cache->spares.bytes);
    nt_spares_free(&cache->spares);
    garbage_free(&garbage);
    nt_turns_deinit(&cache->turns);
    pthread_mutex_destroy(&cache->lock);
    nt_hash_table_deinit(&cache->entries.table);
    free(cache);
}
