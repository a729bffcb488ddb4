/* SPDX-License-Identifier: MIT
 *
 * The page cache: a table of decoded pages with pins, LRU eviction and a memory limit. Each page is
 * loaded once, however many threads request it. Failures are remembered for a while.
 */
#include "read/read.h"

/* Invariants, under the lock:
 *   state    in table  pins  idle  data   meaning
 *   LOADING  yes*      >= 1  no    yes    one thread loads, without the lock; others wait for it
 *   READY    yes*      >= 1  no    yes    in use by readers
 *   READY    yes       0     yes   yes    may be evicted, oldest first; list by list
 *   FAILED   yes*      >= 1  no    no     some waiters have not seen the error yet
 *   FAILED   yes       0     yes   no     remembered until it expires; may be evicted
 *   * unless it was forgotten: then it is not in the table and is freed with its last pin.
 *
 * LOADING becomes READY or FAILED, once; nothing becomes LOADING again. An entry without pins is in one
 * of the idle lists. A reader whose entry does not fit within the limit waits, first come first served,
 * until others unpin theirs. An entry larger than the limit is admitted alone. One needed to load
 * another is admitted at once, as its caller holds a pin that others may wait for. If such an entry
 * exceeds the limit, it is dropped with its last pin. Loading happens without the lock; so does freeing, but
 * for the data of a failed load. */

/* Lists of idle entries, in the order of eviction. */
enum idle {
    PASSED, /* used by sequential readers to their ends */
    KEPT,
    SIBLINGS, /* not yet used: made with another entry; first of all, if nobody used it in time */
    IDLE_LISTS,
};

struct nt_cache_entry {
    struct nt_hash_link link; /* in the table */
    struct nt_cache_key key;
    TAILQ_ENTRY(nt_cache_entry) listed; /* in its idle list, or in the garbage */
    uint8_t *data;
    size_t capacity;
    struct nt_slab *slab; /* that contains `data`; NULL: `data` is from malloc */
    uint64_t charge;      /* its bytes outside of the slab */
    unsigned pins;
    enum nt_cache_state state;
    bool in_table;
    enum idle idle; /* the list for it when it has no pins */
    bool is_kept;   /* false: dropped with its last pin */
    pthread_cond_t changed;
    struct nt_error *failure;
    time_t expires; /* FAILED: when to forget it. SIBLINGS: when to give way to others */
};

TAILQ_HEAD(entries, nt_cache_entry);

/* Entries without pins, oldest first. */
struct idle_list {
    struct entries entries;
    uint64_t bytes;    /* charges of its entries */
    uint64_t capacity; /* of their data */
};

/* `used` is the sum of the charges of all entries, of all slabs as a whole, and of reserved bytes. Only
 * entries that are admitted regardless can take it above `limit`. */
struct nt_cache {
    pthread_mutex_t lock;
    struct nt_fifo fifo; /* of callers that wait for room */
    unsigned failure_seconds;
    struct nt_counters *counters;
    uint64_t limit, used;
    uint64_t outside; /* reserved for other memory */
    struct nt_hash_table table;
    struct idle_list idle[IDLE_LISTS];
    struct nt_slab_pool slabs;
    struct entries garbage; /* to free after releasing the lock */
    struct nt_slab_list garbage_slabs;
};

enum {
    PASSED_BYTES = NT_SLAB_BYTES,
    EMPTY_BYTES = 2 * NT_SLAB_BYTES,
    MIN_SLAB_BUFFERS = NT_SLAB_BYTES / 16,
    MIN_SLABS = 8, /* below this limit, gaps between buffers would waste most of it */
};

static void lock(struct nt_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
}

static void unlock(struct nt_cache *cache)
{
    struct entries entries = TAILQ_HEAD_INITIALIZER(entries);
    struct nt_slab *slab = LIST_FIRST(&cache->garbage_slabs);
    TAILQ_CONCAT(&entries, &cache->garbage, listed);
    LIST_INIT(&cache->garbage_slabs);
    pthread_mutex_unlock(&cache->lock);
    for (struct nt_cache_entry *entry = TAILQ_FIRST(&entries), *next; entry; entry = next) {
        next = TAILQ_NEXT(entry, listed);
        pthread_cond_destroy(&entry->changed);
        free(entry->data);
        free(entry->failure);
        free(entry);
    }
    for (struct nt_slab *next; slab; slab = next) {
        next = LIST_NEXT(slab, listed);
        nt_slab_free(slab);
    }
}

/* ---- Table and idle lists ---- */

static uint64_t key_hash(const struct nt_cache_key *key)
{
    return nt_xxh3(key, sizeof(*key));
}

static void take_out(struct nt_cache *cache, struct nt_cache_entry *entry)
{
    if (entry->in_table)
        nt_hash_table_remove(&cache->table, &entry->link);
    entry->in_table = false;
}

static struct idle_list *list_of(struct nt_cache *cache, const struct nt_cache_entry *entry)
{
    return &cache->idle[entry->idle];
}

static void become_idle(struct nt_cache *cache, struct nt_cache_entry *entry)
{
    struct idle_list *list = list_of(cache, entry);
    TAILQ_INSERT_TAIL(&list->entries, entry, listed);
    list->bytes += entry->charge;
    list->capacity += entry->capacity;
}

static void become_busy(struct nt_cache *cache, struct nt_cache_entry *entry)
{
    struct idle_list *list = list_of(cache, entry);
    TAILQ_REMOVE(&list->entries, entry, listed);
    list->bytes -= entry->charge;
    list->capacity -= entry->capacity;
}

static time_t seconds_now(void)
{
    return (time_t)(nt_nanoseconds() / NT_SECOND);
}

/* The idle entry to evict first, or NULL. */
static struct nt_cache_entry *oldest_of(const struct nt_cache *cache)
{
    struct nt_cache_entry *sibling = TAILQ_FIRST(&cache->idle[SIBLINGS].entries);
    if (sibling && sibling->expires <= seconds_now())
        return sibling;
    for (unsigned i = 0; i < IDLE_LISTS; i++)
        if (!TAILQ_EMPTY(&cache->idle[i].entries))
            return TAILQ_FIRST(&cache->idle[i].entries);
    return NULL;
}

/* ---- Memory and eviction ---- */

static bool is_in_slab(const struct nt_cache *cache, size_t bytes)
{
    return bytes >= MIN_SLAB_BUFFERS && cache->limit >= (uint64_t)MIN_SLABS * NT_SLAB_BYTES;
}

static void charge(struct nt_cache *cache, uint64_t bytes)
{
    cache->used += bytes;
    nt_counter_add(&cache->counters->cache_bytes, bytes);
}

static void discharge(struct nt_cache *cache, uint64_t bytes)
{
    charge(cache, -bytes);
}

/* An upper bound for the memory of an entry with these bytes. */
static uint64_t room_for(const struct nt_cache *cache, size_t bytes)
{
    uint64_t own = is_in_slab(cache, bytes) ? nt_slab_bytes(nt_slab_capacity(bytes)) : bytes;
    return sizeof(struct nt_cache_entry) + own;
}

/* An nt_has_room: would `taken` bytes fit after evicting all idle entries? Busy memory is pinned or
 * loading, with its slabs. */
static bool has_room(const void *context, uint64_t taken)
{
    const struct nt_cache *cache = context;
    uint64_t busy = cache->used - (cache->slabs.bytes - cache->slabs.busy_bytes);
    for (unsigned i = 0; i < IDLE_LISTS; i++)
        busy -= cache->idle[i].bytes;
    return busy == cache->outside || busy + taken <= cache->limit;
}

/* Frees an empty slab; false if there is none. */
static bool free_slab(struct nt_cache *cache)
{
    struct nt_slab *slab = nt_slab_evict(&cache->slabs);
    if (!slab)
        return false;
    discharge(cache, slab->bytes);
    LIST_INSERT_HEAD(&cache->garbage_slabs, slab, listed);
    return true;
}

/* Frees empty slabs, except a few for reuse. */
static void trim(struct nt_cache *cache)
{
    while ((cache->slabs.empty_bytes > EMPTY_BYTES || cache->used > cache->limit) && free_slab(cache))
        ;
}

static void return_slab(struct nt_cache *cache, struct nt_cache_entry *entry)
{
    nt_slab_return(&cache->slabs, entry->slab, entry->data, entry->capacity);
    entry->slab = NULL;
    entry->data = NULL;
}

/* Frees an entry that is neither pinned nor in an idle list. */
static void discard(struct nt_cache *cache, struct nt_cache_entry *entry)
{
    take_out(cache, entry);
    if (entry->state == NT_CACHE_READY)
        nt_counter_add(&cache->counters->cache_pages, (uint64_t)-1);
    if (entry->slab)
        return_slab(cache, entry);
    discharge(cache, entry->charge);
    TAILQ_INSERT_TAIL(&cache->garbage, entry, listed);
}

/* Removes an entry from the table. Frees it now, or with its last pin. */
static void forget(struct nt_cache *cache, struct nt_cache_entry *entry)
{
    take_out(cache, entry);
    if (entry->pins)
        return;
    become_busy(cache, entry);
    discard(cache, entry);
}

static void evict(struct nt_cache *cache, struct nt_cache_entry *victim)
{
    forget(cache, victim);
    nt_counter_add(&cache->counters->cache_evictions, 1);
}

/* Frees empty slabs, then the oldest idle entries, until `used` plus `bytes` is within the limit. */
static void shrink(struct nt_cache *cache, uint64_t bytes)
{
    while (cache->used + bytes > cache->limit) {
        struct nt_cache_entry *oldest = oldest_of(cache);
        if (free_slab(cache))
            continue;
        if (!oldest)
            break;
        evict(cache, oldest);
    }
}

/* ---- Room for new entries ---- */

/* The next victim for an entry that needs room in a slab. An idle entry in the slab of the last victim
 * comes first, so that adjacent units become free; else the oldest. */
static struct nt_cache_entry *choose_victim(const struct nt_cache *cache, const struct nt_slab *last_slab)
{
    for (unsigned i = 0; last_slab && i < NT_SLAB_UNITS; i++)
        if (last_slab->owners[i] && !last_slab->owners[i]->pins)
            return last_slab->owners[i];
    return oldest_of(cache);
}

/* Finds a slab with room for an entry, or adds one. Without memory, the entry gets none. */
static void make_room_in_slab(struct nt_cache *cache, struct nt_cache_entry *entry)
{
    uint64_t bytes = nt_slab_bytes(entry->capacity);
    struct nt_slab *last_slab = NULL;
    while (!(entry->slab = nt_slab_alloc(&cache->slabs, entry->capacity, entry, &entry->data))) {
        bool is_over = cache->used + entry->charge + bytes > cache->limit;
        struct nt_cache_entry *victim = is_over ? choose_victim(cache, last_slab) : NULL;
        if (is_over && free_slab(cache)) {
            last_slab = NULL;
        } else if (victim) {
            last_slab = victim->slab;
            evict(cache, victim);
        } else {
            entry->slab = nt_slab_add(&cache->slabs, entry->capacity, entry, &entry->data);
            charge(cache, entry->slab ? bytes : 0);
            break;
        }
    }
}

/* Makes room for the bytes of a new entry and charges them, evicting passed entries first. Sets
 * `is_kept` if all is within the limit. Without memory there is no data. */
static void make_room(struct nt_cache *cache, struct nt_cache_entry *entry, size_t bytes)
{
    bool in_slab = is_in_slab(cache, bytes);
    entry->capacity = in_slab ? nt_slab_capacity(bytes) : bytes;
    entry->charge = sizeof(*entry) + (in_slab ? 0 : bytes);
    while (cache->idle[PASSED].capacity > PASSED_BYTES)
        evict(cache, TAILQ_FIRST(&cache->idle[PASSED].entries));
    if (in_slab)
        make_room_in_slab(cache, entry);
    else if (bytes)
        entry->data = malloc(bytes);
    trim(cache);
    shrink(cache, entry->charge);
    entry->is_kept = cache->used + entry->charge <= cache->limit;
    charge(cache, entry->charge);
}

/* ---- Pins ---- */

static void pin(struct nt_cache *cache, struct nt_cache_entry *entry)
{
    if (entry->pins++ > 0)
        return;
    become_busy(cache, entry);
    if (entry->slab)
        nt_slab_set_busy(&cache->slabs, entry->slab);
}

/* The last unpin makes the entry idle, or frees it if it is not kept. */
static void unpin(struct nt_cache *cache, struct nt_cache_entry *entry)
{
    if (--entry->pins > 0)
        return;
    if (entry->slab)
        nt_slab_set_idle(&cache->slabs, entry->slab);
    if (entry->in_table && entry->is_kept) {
        become_idle(cache, entry);
    } else {
        discard(cache, entry);
        trim(cache);
    }
    nt_fifo_wake(&cache->fifo);
}

/* ---- Get and load entries ---- */

/* Adds an entry that is loading, with one pin. NULL without memory. */
static struct nt_cache_entry *add_entry(struct nt_cache *cache, const struct nt_cache_key *key, uint64_t hash,
                                        size_t bytes)
{
    struct nt_cache_entry *entry = calloc(1, sizeof(*entry));
    if (!entry)
        return NULL;
    entry->changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    entry->key = *key;
    entry->state = NT_CACHE_LOADING;
    entry->pins = 1;
    entry->idle = KEPT;
    make_room(cache, entry, bytes);
    if (bytes && !entry->data) {
        discard(cache, entry);
        return NULL;
    }
    nt_hash_table_insert(&cache->table, &entry->link, hash);
    entry->in_table = true;
    return entry;
}

/* Ends loading, under the lock. Remembers the error if there is memory for it; a failed entry keeps no
 * data. */
static void finish(struct nt_cache *cache, struct nt_cache_entry *entry, enum nt_status status,
                   const struct nt_error *failure)
{
    entry->state = status == NT_OK ? NT_CACHE_READY : NT_CACHE_FAILED;
    if (status == NT_OK) {
        nt_counter_add(&cache->counters->cache_pages, 1);
        return;
    }
    if (entry->slab) {
        nt_slab_set_idle(&cache->slabs, entry->slab);
        return_slab(cache, entry);
    }
    free(entry->data);
    entry->data = NULL;
    discharge(cache, entry->charge);
    entry->capacity = 0;
    entry->failure = malloc(sizeof(*failure));
    entry->charge = sizeof(*entry) + (entry->failure ? sizeof(*failure) : 0);
    charge(cache, entry->charge);
    if (entry->failure) {
        *entry->failure = *failure;
        entry->expires = seconds_now() + (time_t)cache->failure_seconds;
    }
    if (!entry->failure || nt_is_transient(status) || status == NT_UNREACHABLE)
        entry->is_kept = false;
    if (!entry->is_kept)
        take_out(cache, entry);
}

/* Pins an existing entry. The caller holds the lock. */
static enum nt_status wait_for(struct nt_cache *cache, struct nt_cache_entry *entry,
                               struct nt_cache_entry **entry_ret, struct nt_error *error)
{
    struct nt_counters *counters = cache->counters;
    pin(cache, entry);
    nt_counter_add(entry->state == NT_CACHE_FAILED  ? &counters->failures_remembered
                   : entry->state == NT_CACHE_READY ? &counters->cache_hits
                                                    : &counters->cache_waits,
                   1);
    while (entry->state == NT_CACHE_LOADING)
        pthread_cond_wait(&entry->changed, &cache->lock);
    if (entry->state == NT_CACHE_READY) {
        *entry_ret = entry;
        return NT_OK;
    }
    enum nt_status status = entry->failure ? nt_fail_copy(error, entry->failure) : nt_fail_memory(error);
    unpin(cache, entry);
    return status;
}

/* Loads an entry that this thread has inserted. Releases the caller's lock while loading. */
static enum nt_status load_entry(struct nt_cache *cache, struct nt_cache_entry *entry, nt_cache_load *load,
                                 void *context, struct nt_cache_entry **entry_ret, struct nt_error *error)
{
    struct nt_error failure;
    unlock(cache);
    enum nt_status status = load(context, entry->data, &failure);
    lock(cache);
    finish(cache, entry, status, &failure);
    pthread_cond_broadcast(&entry->changed);
    if (status == NT_OK) {
        *entry_ret = entry;
        return NT_OK;
    }
    unpin(cache, entry);
    return nt_fail_copy(error, &failure);
}

/* Finds an entry. Removes an expired failure. */
static struct nt_cache_entry *find(struct nt_cache *cache, const struct nt_cache_key *key, uint64_t hash)
{
    struct nt_hash_link *link = nt_hash_table_find(&cache->table, hash);
    while (link && memcmp(&NT_CONTAINER_OF(link, struct nt_cache_entry, link)->key, key, sizeof(*key)) != 0)
        link = nt_hash_table_next(link);
    struct nt_cache_entry *entry = link ? NT_CONTAINER_OF(link, struct nt_cache_entry, link) : NULL;
    if (!entry || entry->state != NT_CACHE_FAILED || entry->expires > seconds_now())
        return entry;
    forget(cache, entry);
    return NULL;
}

enum nt_status nt_cache_get(struct nt_cache *cache, const struct nt_cache_key *key, size_t bytes,
                            enum nt_cache_client client, nt_cache_load *load, void *context,
                            struct nt_cache_entry **entry_ret, struct nt_error *error)
{
    uint64_t hash = key_hash(key), room = room_for(cache, bytes);
    enum nt_status status;
    lock(cache);
    struct nt_cache_entry *entry = find(cache, key, hash);
    if (!entry && client == NT_CACHE_READER &&
        nt_fifo_wait(&cache->fifo, &cache->lock, has_room, cache, room))
        entry = find(cache, key, hash); /* waiting released the lock */
    if (entry) {
        status = wait_for(cache, entry, entry_ret, error);
    } else if ((client != NT_CACHE_HOLDER || has_room(cache, room)) &&
               (entry = add_entry(cache, key, hash, bytes))) {
        nt_counter_add(&cache->counters->cache_misses, 1);
        status = load_entry(cache, entry, load, context, entry_ret, error);
    } else {
        status = nt_fail_memory(error);
    }
    unlock(cache);
    return status;
}

/* ---- Entries made with others ---- */

enum { SIBLING_SHARE = 4 };

/* These entries are unrequested, so they take only a part of the memory. As they are mostly used in the
 * order in which they are made, the first ones stay, also if requested entries have to leave. Those that
 * are unused for as long as failures are remembered leave first. */
static bool make_room_for_sibling(struct nt_cache *cache, size_t bytes)
{
    struct idle_list *siblings = &cache->idle[SIBLINGS];
    time_t now = seconds_now();
    for (struct nt_cache_entry *first; (first = TAILQ_FIRST(&siblings->entries)) && first->expires <= now;)
        evict(cache, first);
    return bytes <= cache->limit / SIBLING_SHARE &&
           siblings->capacity <= cache->limit / SIBLING_SHARE - bytes;
}

struct nt_cache_entry *nt_cache_begin(struct nt_cache *cache, const struct nt_cache_key *key, size_t bytes)
{
    uint64_t hash = key_hash(key);
    struct nt_cache_entry *entry = NULL;
    lock(cache);
    if (!find(cache, key, hash) && make_room_for_sibling(cache, bytes) &&
        has_room(cache, room_for(cache, bytes)))
        entry = add_entry(cache, key, hash, bytes);
    unlock(cache);
    return entry;
}

uint8_t *nt_cache_entry_output(struct nt_cache_entry *entry)
{
    return entry->data;
}

void nt_cache_finish(struct nt_cache *cache, struct nt_cache_entry *entry, enum nt_status status,
                     const struct nt_error *failure)
{
    lock(cache);
    finish(cache, entry, status, failure);
    if (status == NT_OK) {
        entry->idle = SIBLINGS;
        entry->expires = seconds_now() + (time_t)cache->failure_seconds;
    }
    pthread_cond_broadcast(&entry->changed);
    unpin(cache, entry);
    unlock(cache);
}

/* ---- Look ---- */

enum nt_cache_state nt_cache_peek(struct nt_cache *cache, const struct nt_cache_key *key)
{
    lock(cache);
    struct nt_cache_entry *entry = find(cache, key, key_hash(key));
    enum nt_cache_state state = entry ? entry->state : NT_CACHE_ABSENT;
    unlock(cache);
    return state;
}

size_t nt_cache_count_absent(struct nt_cache *cache, const struct nt_cache_key *keys, size_t count)
{
    size_t absent = 0;
    lock(cache);
    while (absent < count && !find(cache, &keys[absent], key_hash(&keys[absent])))
        absent++;
    unlock(cache);
    return absent;
}

const uint8_t *nt_cache_entry_bytes(const struct nt_cache_entry *entry)
{
    return entry->data;
}

void nt_cache_release(struct nt_cache *cache, struct nt_cache_entry *entry, enum nt_cache_hint use)
{
    lock(cache);
    bool is_drop_behind =
        use == NT_CACHE_DROP_BEHIND || (use == NT_CACHE_SEQUENTIAL && entry->idle == PASSED);
    entry->idle = is_drop_behind ? PASSED : KEPT;
    unpin(cache, entry);
    unlock(cache);
}

void nt_cache_reserve(struct nt_cache *cache, int64_t bytes)
{
    lock(cache);
    cache->used += (uint64_t)bytes;
    cache->outside += (uint64_t)bytes;
    shrink(cache, 0);
    nt_fifo_wake(&cache->fifo);
    unlock(cache);
}

/* ---- Create and free ---- */

static int compare_sources(const void *left, const void *right)
{
    uintptr_t a = (uintptr_t) * (const void *const *)left, b = (uintptr_t) * (const void *const *)right;
    return a < b ? -1 : a > b;
}

/* `sorted` NULL: there was no memory for it. */
static bool is_one_of(const void *source, const void *const *sources, const void **sorted, size_t count)
{
    bool is_found = false;
    if (sorted)
        return bsearch(&source, sorted, count, sizeof(*sorted), compare_sources);
    for (size_t i = 0; !is_found && i < count; i++)
        is_found = sources[i] == source;
    return is_found;
}

void nt_cache_invalidate(struct nt_cache *cache, const void *const *sources, size_t count)
{
    const void **sorted = count > 1 ? calloc(count, sizeof(*sorted)) : NULL;
    if (sorted) {
        memcpy(sorted, sources, count * sizeof(*sorted));
        qsort(sorted, count, sizeof(*sorted), compare_sources);
    }
    lock(cache);
    for (struct nt_hash_link *link = nt_hash_table_after(&cache->table, NULL), *next; link; link = next) {
        struct nt_cache_entry *entry = NT_CONTAINER_OF(link, struct nt_cache_entry, link);
        next = nt_hash_table_after(&cache->table, link);
        if (is_one_of(entry->key.source, sources, sorted, count))
            forget(cache, entry);
    }
    trim(cache);
    unlock(cache);
    free(sorted);
}

struct nt_cache *nt_cache_new(uint64_t limit, unsigned failure_seconds, struct nt_counters *counters)
{
    struct nt_cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return NULL;
    cache->limit = limit;
    cache->failure_seconds = failure_seconds;
    cache->counters = counters;
    for (unsigned i = 0; i < IDLE_LISTS; i++)
        TAILQ_INIT(&cache->idle[i].entries);
    TAILQ_INIT(&cache->garbage);
    cache->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    if (nt_hash_table_init(&cache->table) && !nt_fifo_init(&cache->fifo))
        return cache;
    nt_hash_table_deinit(&cache->table);
    free(cache);
    return NULL;
}

void nt_cache_free(struct nt_cache *cache)
{
    if (!cache)
        return;
    struct nt_cache_entry *entry;
    lock(cache);
    while ((entry = oldest_of(cache)))
        forget(cache, entry);
    while (free_slab(cache))
        ;
    unlock(cache);
    nt_fifo_deinit(&cache->fifo);
    pthread_mutex_destroy(&cache->lock);
    nt_hash_table_deinit(&cache->table);
    free(cache);
}
