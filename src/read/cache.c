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
 * while it has no pins. Who asks for an entry for which no room can be made within the limit waits, in the order of
 * asking, until others are unpinned. But an entry that is larger than the limit is let in alone, and one that is
 * needed to load another is let in at once: its asker has a pin that others may be waiting for. Such an entry is
 * not kept after its last pin. Memory is allocated and freed, and pages are loaded, without the lock.
 */
#include "read/cache.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/turns.h"
#include "core/codec/codec.h"
#include "read/cache_room.h"
#include "read/counters.h"

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
