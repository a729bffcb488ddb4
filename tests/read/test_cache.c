/* SPDX-License-Identifier: MIT
 *
 * The cache alone: one load for many requests, its limit, and remembered failures.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <ntuple/read.h>

#include "read/read.h"
#include "support.h"
#include "core/base/error.h"

static const char source[1], other_source[1], not_cached[1];

static struct nt_cache_key key_at(uint64_t offset)
{
    return (struct nt_cache_key){.source = source, .offset = offset, .elements = 1};
}

/* The result of a load, and the number of loads. */
struct script {
    enum nt_status status;
    uint8_t fill;
    size_t bytes;
    unsigned milliseconds;
    atomic_uint loads;
};

static enum nt_status load_by_script(void *context, uint8_t *output, struct nt_error *error)
{
    struct script *script = context;
    atomic_fetch_add(&script->loads, 1);
    if (script->milliseconds)
        usleep(script->milliseconds * 1000);
    if (script->status != NT_OK)
        return nt_fail(error, script->status, 99, "as the script says");
    memset(output, script->fill, script->bytes);
    return NT_OK;
}

/* Gets, checks the bytes, releases. NT_INVALID if they are not the script's. */
static enum nt_status touch(struct nt_cache *cache, uint64_t offset, struct script *script,
                            struct nt_error *error)
{
    struct nt_cache_entry *entry;
    struct nt_cache_key key = key_at(offset);
    enum nt_status status =
        nt_cache_get(cache, &key, script->bytes, NT_CACHE_READER, load_by_script, script, &entry, error);
    if (status != NT_OK)
        return status;
    bool is_right = true;
    for (size_t i = 0; i < script->bytes; i++)
        is_right &= nt_cache_entry_bytes(entry)[i] == script->fill;
    nt_cache_release(cache, entry, NT_CACHE_KEEP);
    return is_right ? NT_OK : NT_INVALID;
}

TEST(what_is_in_the_cache_is_not_loaded_again)
{
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(1 << 20, 10, &counters);
    struct script script = {.fill = 7, .bytes = 1000};
    for (int i = 0; i < 5; i++)
        assert_ok(touch(cache, 1, &script, &error));
    ck_assert_uint_eq(script.loads, 1);
    ck_assert_uint_eq(counters.cache_hits, 4);
    ck_assert_uint_eq(counters.cache_misses, 1);
    ck_assert_uint_eq(counters.cache_pages, 1);
    nt_cache_free(cache);
}

TEST(every_member_of_the_key_distinguishes_entries)
{
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(1 << 20, 10, &counters);
    struct nt_cache_key keys[11];
    struct script script = {.bytes = 8};
    for (size_t i = 0; i < 11; i++)
        keys[i] = key_at(5);
    keys[1].source = other_source;
    keys[2].offset++;
    keys[3].stored_bytes++;
    keys[4].parameter++;
    keys[5].elements++;
    keys[6].decoder = other_source;
    keys[7].checksum++;
    keys[8].compression++;
    keys[9].checksum_covers++;
    keys[10].block++;
    for (size_t i = 0; i < 11; i++) {
        struct nt_cache_entry *entry;
        script.fill = (uint8_t)i;
        assert_ok(nt_cache_get(cache, &keys[i], 8, NT_CACHE_READER, load_by_script, &script, &entry, &error));
        ck_assert_uint_eq(nt_cache_entry_bytes(entry)[0], i);
        nt_cache_release(cache, entry, NT_CACHE_KEEP);
    }
    ck_assert_uint_eq(script.loads, 11);
    nt_cache_free(cache);
}

TEST(the_bound_holds_and_the_oldest_leave_first)
{
    enum { LIMIT = 20000, BYTES = 4096 };
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(LIMIT, 10, &counters);
    struct script script = {.bytes = BYTES};
    for (uint64_t i = 0; i < 100; i++) {
        assert_ok(touch(cache, i, &script, &error));
        ck_assert_uint_le(counters.cache_bytes, LIMIT);
        assert_ok(touch(cache, 0, &script, &error));
    }
    ck_assert_uint_eq(script.loads, 100);
    ck_assert_uint_eq(counters.cache_pages, 4);
    ck_assert_uint_eq(counters.cache_evictions, 96);
    struct nt_cache_key newest = key_at(99), older = key_at(50);
    ck_assert_int_eq(nt_cache_peek(cache, &newest), NT_CACHE_READY);
    ck_assert_int_eq(nt_cache_peek(cache, &older), NT_CACHE_ABSENT);
    nt_cache_free(cache);
    ck_assert_uint_eq(counters.cache_bytes, 0);
}

TEST(an_entry_without_room_is_served_and_not_kept)
{
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(1000, 10, &counters);
    struct script script = {.bytes = 5000};
    assert_ok(touch(cache, 1, &script, &error));
    assert_ok(touch(cache, 1, &script, &error));
    ck_assert_uint_eq(script.loads, 2);
    ck_assert_uint_eq(counters.cache_bytes, 0);
    nt_cache_free(cache);
}

TEST(pinned_entries_are_not_evicted)
{
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(10000, 10, &counters);
    struct script script = {.bytes = 4000, .fill = 1};
    struct nt_cache_entry *pinned;
    struct nt_cache_key key = key_at(0);
    assert_ok(nt_cache_get(cache, &key, 4000, NT_CACHE_READER, load_by_script, &script, &pinned, &error));
    script.fill = 2;
    for (uint64_t i = 1; i < 20; i++)
        assert_ok(touch(cache, i, &script, &error));
    ck_assert_uint_eq(nt_cache_entry_bytes(pinned)[3999], 1);
    nt_cache_release(cache, pinned, NT_CACHE_KEEP);
    nt_cache_free(cache);
}

/* Gets and releases with a hint. */
static void use(struct nt_cache *cache, uint64_t offset, struct script *script, enum nt_cache_hint how)
{
    struct nt_error error;
    struct nt_cache_entry *entry;
    struct nt_cache_key key = key_at(offset);
    assert_ok(
        nt_cache_get(cache, &key, script->bytes, NT_CACHE_READER, load_by_script, script, &entry, &error));
    nt_cache_release(cache, entry, how);
}

TEST(what_was_passed_leaves_early_and_what_is_requested_again_stays)
{
    enum { BYTES = 1 << 20, MANY = 40 };
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(64 * BYTES, 10, &counters);
    struct script script = {.bytes = BYTES};
    use(cache, 0, &script, NT_CACHE_KEEP);
    use(cache, 1, &script, NT_CACHE_DROP_BEHIND);
    use(cache, 1, &script, NT_CACHE_KEEP);
    for (uint64_t i = 2; i < MANY; i++) {
        use(cache, i, &script, NT_CACHE_SEQUENTIAL);
        use(cache, i, &script, NT_CACHE_DROP_BEHIND);
        ck_assert_uint_le(counters.cache_bytes, 8 * BYTES);
    }
    ck_assert_uint_eq(script.loads, MANY);
    for (uint64_t i = 0; i < 3; i++) {
        struct nt_cache_key key = key_at(i);
        ck_assert_int_eq(nt_cache_peek(cache, &key), i < 2 ? NT_CACHE_READY : NT_CACHE_ABSENT);
    }
    nt_cache_free(cache);
    ck_assert_uint_eq(counters.cache_bytes, 0);
}

/* ---- failures ---- */

/* ---- Entries made with others ---- */

struct waiter {
    struct nt_cache *cache;
    struct script *script;
    enum nt_status status;
};

static void *touch_the_first(void *context)
{
    struct waiter *waiter = context;
    struct nt_error error;
    waiter->status = touch(waiter->cache, 1, waiter->script, &error);
    return NULL;
}

static struct nt_cache_entry *begin(struct nt_cache *cache, uint64_t offset, size_t bytes)
{
    struct nt_cache_key key = key_at(offset);
    return nt_cache_begin(cache, &key, bytes);
}

static void make(struct nt_cache *cache, uint64_t offset, const struct script *script)
{
    struct nt_cache_entry *entry = begin(cache, offset, script->bytes);
    ck_assert_ptr_nonnull(entry);
    memset(nt_cache_entry_output(entry), script->fill, script->bytes);
    nt_cache_finish(cache, entry, NT_OK, NULL);
}

TEST(what_was_made_with_another_entry_is_not_loaded)
{
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(1 << 20, 10, &counters);
    struct script script = {.fill = 7, .bytes = 1000};
    make(cache, 1, &script);
    ck_assert_ptr_null(begin(cache, 1, 1000));
    assert_ok(touch(cache, 1, &script, &error));
    assert_ok(touch(cache, 2, &script, &error));
    ck_assert_ptr_null(begin(cache, 2, 1000));
    ck_assert_uint_eq(script.loads, 1);
    ck_assert_uint_eq(counters.cache_pages, 2);
    nt_cache_free(cache);
}

TEST(a_failure_of_an_entry_made_with_another_is_remembered)
{
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(1 << 20, 10, &counters);
    struct script script = {.bytes = 1000};
    struct nt_cache_entry *entry = begin(cache, 1, 1000);
    ck_assert_ptr_nonnull(entry);
    assert_status(NT_CORRUPT, nt_fail(&error, NT_CORRUPT, 99, "bad"));
    nt_cache_finish(cache, entry, NT_CORRUPT, &error);
    assert_status(NT_CORRUPT, touch(cache, 1, &script, &error));
    ck_assert_uint_eq(script.loads, 0);
    nt_cache_free(cache);
}

/* They take a quarter; the first ones stay until they have been used, or for a while. */
TEST(entries_that_nobody_requested_leave_room_for_others)
{
    enum { LIMIT = 1 << 20, BYTES = 1 << 14, MOST = LIMIT / 4 / BYTES };
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(LIMIT, 1, &counters);
    struct script script = {.fill = 3, .bytes = BYTES};
    for (uint64_t i = 0; i < MOST; i++)
        make(cache, i, &script);
    ck_assert_ptr_null(begin(cache, MOST, BYTES));
    assert_ok(touch(cache, 0, &script, &error)); /* now it is one like others */
    make(cache, MOST, &script);
    ck_assert_ptr_null(begin(cache, MOST + 1, BYTES));
    sleep(2);
    make(cache, MOST + 1, &script);
    assert_ok(touch(cache, 0, &script, &error));
    ck_assert_uint_eq(script.loads, 0);
    assert_ok(touch(cache, 1, &script, &error)); /* it gave way */
    ck_assert_uint_eq(script.loads, 1);
    nt_cache_free(cache);
}

TEST(entries_made_with_others_stay_in_a_full_cache_until_they_are_late)
{
    enum { LIMIT = 1 << 20, BYTES = 1 << 14, FULL = LIMIT / BYTES, MADE = FULL / 8, LATE = 2 * FULL };
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(LIMIT, 1, &counters);
    struct script script = {.fill = 3, .bytes = BYTES};
    for (uint64_t i = 0; i < FULL; i++)
        assert_ok(touch(cache, i, &script, &error));
    script.loads = 0;
    for (uint64_t i = FULL; i < FULL + MADE; i++)
        make(cache, i, &script);
    for (uint64_t i = FULL; i < FULL + MADE; i++)
        assert_ok(touch(cache, i, &script, &error));
    ck_assert_uint_eq(script.loads, 0);
    make(cache, LATE, &script);
    sleep(2);
    assert_ok(touch(cache, LATE + 1, &script, &error));
    assert_ok(touch(cache, FULL - 1, &script, &error)); /* requested before it */
    ck_assert_uint_eq(script.loads, 1);
    assert_ok(touch(cache, LATE, &script, &error));
    ck_assert_uint_eq(script.loads, 2);
    nt_cache_free(cache);
}

TEST(an_entry_made_with_another_is_awaited)
{
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(1 << 20, 10, &counters);
    struct script script = {.fill = 9, .bytes = 1000};
    struct nt_cache_entry *entry = begin(cache, 1, 1000);
    ck_assert_ptr_nonnull(entry);
    struct waiter waiter = {cache, &script, NT_INVALID};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, touch_the_first, &waiter), 0);
    while (!__atomic_load_n(&counters.cache_waits, __ATOMIC_RELAXED))
        usleep(1000);
    memset(nt_cache_entry_output(entry), script.fill, script.bytes);
    nt_cache_finish(cache, entry, NT_OK, NULL);
    pthread_join(thread, NULL);
    ck_assert_int_eq(waiter.status, NT_OK);
    ck_assert_uint_eq(script.loads, 0);
    nt_cache_free(cache);
}

TEST(a_failure_is_remembered_and_tried_again_later)
{
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(1 << 20, 1, &counters);
    struct script script = {.status = NT_CORRUPT, .bytes = 100};
    for (int i = 0; i < 5; i++) {
        assert_status(NT_CORRUPT, touch(cache, 1, &script, &error));
        ck_assert_uint_eq(error.offset, 99);
    }
    ck_assert_uint_eq(script.loads, 1);
    ck_assert_uint_eq(counters.failures_remembered, 4);
    script.status = NT_OK;
    sleep(2);
    assert_ok(touch(cache, 1, &script, &error));
    ck_assert_uint_eq(script.loads, 2);
    nt_cache_free(cache);
}

TEST(a_lack_of_memory_is_not_remembered)
{
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(1 << 20, 100, &counters);
    struct script script = {.status = NT_NO_MEMORY, .bytes = 100};
    assert_status(NT_NO_MEMORY, touch(cache, 1, &script, &error));
    script.status = NT_OK;
    assert_ok(touch(cache, 1, &script, &error));
    nt_cache_free(cache);
}

TEST(failures_too_are_within_the_bound)
{
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(100000, 100, &counters);
    struct script script = {.status = NT_CORRUPT, .bytes = 1000};
    for (uint64_t i = 0; i < 1000; i++)
        assert_status(NT_CORRUPT, touch(cache, i, &script, &error));
    ck_assert_uint_le(counters.cache_bytes, 100000 + sizeof(error));
    nt_cache_free(cache);
    ck_assert_uint_eq(counters.cache_bytes, 0);
}

TEST(absent_entries_are_counted_up_to_the_first_that_is_there_or_known_to_fail)
{
    enum { KEYS = 10 };
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(1 << 20, 100, &counters);
    struct script script = {.bytes = 100}, bad = {.status = NT_CHECKSUM, .bytes = 100};
    struct nt_cache_key keys[KEYS];
    for (uint64_t i = 0; i < KEYS; i++)
        keys[i] = key_at(i);
    ck_assert_uint_eq(nt_cache_count_absent(cache, keys, KEYS), KEYS);
    assert_ok(touch(cache, 7, &script, &error));
    ck_assert_uint_eq(nt_cache_count_absent(cache, keys, KEYS), 7);
    ck_assert_uint_eq(nt_cache_count_absent(cache, keys, 7), 7);
    ck_assert_uint_eq(nt_cache_count_absent(cache, keys + 7, KEYS - 7), 0);
    assert_status(NT_CHECKSUM, touch(cache, 3, &bad, &error));
    ck_assert_uint_eq(nt_cache_count_absent(cache, keys, KEYS), 3);
    nt_cache_free(cache);
}

TEST(sources_are_forgotten_and_others_stay)
{
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(1 << 20, 100, &counters);
    struct script script = {.bytes = 100}, bad = {.status = NT_CORRUPT, .bytes = 100};
    struct nt_cache_key theirs = key_at(9);
    struct nt_cache_entry *entry;
    theirs.source = other_source;
    assert_ok(touch(cache, 1, &script, &error));
    assert_status(NT_CORRUPT, touch(cache, 2, &bad, &error));
    assert_ok(nt_cache_get(cache, &theirs, 100, NT_CACHE_READER, load_by_script, &script, &entry, &error));
    nt_cache_release(cache, entry, NT_CACHE_KEEP);
    nt_cache_invalidate(cache, (const void *const[]){not_cached, source}, 2);
    struct nt_cache_key mine = key_at(1), failed = key_at(2);
    ck_assert_int_eq(nt_cache_peek(cache, &mine), NT_CACHE_ABSENT);
    ck_assert_int_eq(nt_cache_peek(cache, &failed), NT_CACHE_ABSENT);
    ck_assert_int_eq(nt_cache_peek(cache, &theirs), NT_CACHE_READY);
    nt_cache_free(cache);
}

/* ---- threads ---- */

enum { THREADS = 8 };

struct visitor {
    struct nt_cache *cache;
    struct script *script;
    unsigned seed;
    enum nt_status status;
};

static void *visit_one(void *argument)
{
    struct visitor *visitor = argument;
    visitor->status = touch(visitor->cache, 1, visitor->script, NULL);
    return NULL;
}

static void run_visitors(struct visitor *visitors, void *(*visit)(void *))
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, visit, &visitors[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

TEST(threads_that_need_the_same_page_wait_for_one_load, .end = 2)
{
    enum nt_status status = _i ? NT_CHECKSUM : NT_OK;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(1 << 20, 100, &counters);
    struct script script = {.status = status, .bytes = 5000, .fill = 3, .milliseconds = 200};
    struct visitor visitors[THREADS];
    for (int i = 0; i < THREADS; i++)
        visitors[i] = (struct visitor){.cache = cache, .script = &script};
    run_visitors(visitors, visit_one);
    ck_assert_uint_eq(script.loads, 1);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(visitors[i].status, status);
    nt_cache_free(cache);
}

/* Threads that each hold a third of the limit for a moment, and one that holds more than all of it. */
static void *hold_for_a_moment(void *argument)
{
    struct visitor *visitor = argument;
    for (unsigned i = 0; i < 100; i++) {
        bool is_large = visitor->seed == 1 && i % 10 == 0;
        struct script script = {.fill = 1, .bytes = is_large ? 40000 : 9000, .milliseconds = i % 2};
        if (touch(visitor->cache, visitor->seed * 1000 + i, &script, NULL) != NT_OK)
            visitor->status = NT_INVALID;
    }
    return NULL;
}

struct watched {
    const struct nt_counters *counters;
    atomic_bool is_over;
    uint64_t most;
};

/* The peak of the counter, until it no longer changes. */
static void *watch(void *argument)
{
    struct watched *watched = argument;
    while (!atomic_load(&watched->is_over)) {
        uint64_t bytes = __atomic_load_n(&watched->counters->cache_bytes, __ATOMIC_RELAXED);
        watched->most = bytes > watched->most ? bytes : watched->most;
    }
    return NULL;
}

TEST(threads_wait_for_room_that_others_have)
{
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(30000, 100, &counters);
    struct visitor visitors[THREADS];
    struct watched watched = {.counters = &counters};
    pthread_t watcher;
    for (unsigned i = 0; i < THREADS; i++)
        visitors[i] = (struct visitor){.cache = cache, .seed = i + 1};
    ck_assert_int_eq(pthread_create(&watcher, NULL, watch, &watched), 0);
    run_visitors(visitors, hold_for_a_moment);
    atomic_store(&watched.is_over, true);
    pthread_join(watcher, NULL);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(visitors[i].status, NT_OK);
    ck_assert_uint_gt(watched.most, 25000);
    ck_assert_uint_lt(watched.most, 43000); /* only the large one */
    nt_cache_free(cache);
}

TEST(what_loading_needs_does_not_wait)
{
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(10000, 10, &counters);
    struct script script = {.bytes = 8000};
    struct nt_cache_entry *outer, *inner;
    struct nt_cache_key keys[] = {key_at(1), key_at(2)};
    assert_ok(nt_cache_get(cache, &keys[0], 8000, NT_CACHE_READER, load_by_script, &script, &outer, &error));
    assert_ok(nt_cache_get(cache, &keys[1], 8000, NT_CACHE_LOADER, load_by_script, &script, &inner, &error));
    nt_cache_release(cache, inner, NT_CACHE_KEEP);
    nt_cache_release(cache, outer, NT_CACHE_KEEP);
    ck_assert_uint_le(counters.cache_bytes, 10000);
    nt_cache_free(cache);
}

TEST(what_others_occupy_is_within_the_bound)
{
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(20000, 10, &counters);
    struct script script = {.bytes = 4000}, large = {.bytes = 19000};
    for (uint64_t i = 0; i < 4; i++)
        assert_ok(touch(cache, i, &script, &error));
    nt_cache_reserve(cache, 10000);
    ck_assert_uint_le(counters.cache_bytes, 10000);
    ck_assert_uint_gt(counters.cache_bytes, 4000);
    assert_ok(touch(cache, 9, &large, &error)); /* alone, over the limit */
    ck_assert_uint_le(counters.cache_bytes, 10000);
    nt_cache_reserve(cache, -10000);
    for (uint64_t i = 0; i < 4; i++)
        assert_ok(touch(cache, i, &script, &error));
    ck_assert_uint_gt(counters.cache_bytes, 16000);
    nt_cache_free(cache);
}

/* Memory that is freed and allocated again costs a fault for each of its pages. */
TEST(memory_of_pages_that_are_passed_in_a_burst_is_used_again)
{
    enum { BYTES = 1 << 20, BURST = 7, SPARES = 3 };
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(64 * BYTES, 10, &counters);
    struct script page = {.bytes = BYTES}, small = {.bytes = 100};
    struct nt_cache_entry *entries[BURST];
    for (uint64_t i = 0; i < BURST; i++) {
        struct nt_cache_key key = key_at(i);
        assert_ok(
            nt_cache_get(cache, &key, BYTES, NT_CACHE_READER, load_by_script, &page, &entries[i], &error));
    }
    for (uint64_t i = 0; i < BURST; i++)
        nt_cache_release(cache, entries[i], NT_CACHE_DROP_BEHIND);
    assert_ok(touch(cache, BURST, &small, &error)); /* drop-behind entries over the limit leave */
    ck_assert_uint_le(counters.cache_bytes,
                      (BURST + 1) * (uint64_t)BYTES + 4096); /* whole slabs, and entries */
    uint64_t bytes = counters.cache_bytes;
    for (uint64_t i = 0; i < SPARES; i++) {
        struct nt_cache_key key = key_at(2 * BURST + i);
        assert_ok(
            nt_cache_get(cache, &key, BYTES, NT_CACHE_READER, load_by_script, &page, &entries[i], &error));
    }
    ck_assert_uint_le(counters.cache_bytes, bytes + 4096); /* the entries alone */
    for (uint64_t i = 0; i < SPARES; i++)
        nt_cache_release(cache, entries[i], NT_CACHE_KEEP);
    nt_cache_free(cache);
    ck_assert_uint_eq(counters.cache_bytes, 0);
}

/* Empty slabs are freed for other users before pages are evicted. */
TEST(empty_regions_leave_before_pages_do)
{
    enum { BYTES = 1 << 20, BURST = 7, PAGES = 40 };
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new((PAGES + 10) * (uint64_t)BYTES, 10, &counters);
    struct script page = {.bytes = BYTES}, small = {.bytes = 100};
    struct nt_cache_entry *entries[BURST];
    for (uint64_t i = 0; i < PAGES; i++)
        use(cache, 1000 + i, &page, NT_CACHE_KEEP);
    for (uint64_t i = 0; i < BURST; i++) {
        struct nt_cache_key key = key_at(i);
        assert_ok(
            nt_cache_get(cache, &key, BYTES, NT_CACHE_READER, load_by_script, &page, &entries[i], &error));
    }
    for (uint64_t i = 0; i < BURST; i++)
        nt_cache_release(cache, entries[i], NT_CACHE_DROP_BEHIND);
    assert_ok(touch(cache, BURST, &small, &error)); /* three leave, their memory stays */
    uint64_t pages = counters.cache_pages, bytes = counters.cache_bytes;
    int64_t others = (int64_t)((PAGES + 10) * (uint64_t)BYTES - bytes) + 2 * BYTES;
    nt_cache_reserve(cache, others);
    ck_assert_uint_eq(counters.cache_pages, pages);
    ck_assert_uint_lt(counters.cache_bytes, bytes);
    nt_cache_reserve(cache, -others);
    nt_cache_free(cache);
    ck_assert_uint_eq(counters.cache_bytes, 0);
}

/* Two pages of half a slab each: the second is next to the first, and the third takes the place of one. */
TEST(large_pages_share_regions_and_take_each_others_place)
{
    enum { BYTES = 1 << 20, LIMIT = 17 * BYTES };
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(LIMIT, 10, &counters);
    struct script page = {.bytes = BYTES, .fill = 7};
    for (uint64_t i = 0; i < 2; i++)
        assert_ok(touch(cache, i, &page, &error));
    ck_assert_uint_gt(counters.cache_bytes, 2 * BYTES);
    ck_assert_uint_lt(counters.cache_bytes, 2 * BYTES + 4096);
    for (uint64_t i = 2; i < 100; i++) {
        assert_ok(touch(cache, i, &page, &error));
        ck_assert_uint_le(counters.cache_bytes, LIMIT);
    }
    ck_assert_uint_eq(counters.cache_pages, 16);
    ck_assert_uint_eq(counters.cache_evictions, 84);
    nt_cache_free(cache);
    ck_assert_uint_eq(counters.cache_bytes, 0);
}

/* Sizes that do not divide one another, and must all be allocated. */
TEST(pages_of_many_sizes_keep_to_the_bound)
{
    enum { LIMIT = 32 << 20 };
    static const size_t sizes[] = {200 << 10, 1 << 20, 700 << 10, 3 << 20, 130 << 10, 9 << 20, 1000, 2 << 20};
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(LIMIT, 10, &counters);
    for (uint64_t i = 0; i < 200; i++) {
        struct script page = {.bytes = sizes[i * i % 31 % 8], .fill = (uint8_t)i};
        assert_ok(touch(cache, i, &page, &error));
        ck_assert_uint_le(counters.cache_bytes, LIMIT);
        assert_ok(touch(cache, i, &page, &error));
    }
    ck_assert_uint_gt(counters.cache_bytes, LIMIT / 2);
    nt_cache_invalidate(cache, (const void *const[]){source}, 1);
    ck_assert_uint_eq(counters.cache_pages, 0);
    ck_assert_uint_le(counters.cache_bytes, 8 << 20);
    nt_cache_free(cache);
    ck_assert_uint_eq(counters.cache_bytes, 0);
}

TEST(a_large_page_that_fails_leaves_its_memory)
{
    enum { BYTES = 1 << 20 };
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(64 * BYTES, 10, &counters);
    struct script bad = {.status = NT_CORRUPT, .bytes = BYTES}, good = {.bytes = BYTES};
    for (uint64_t i = 0; i < 40; i++)
        assert_status(NT_CORRUPT, touch(cache, i, &bad, &error));
    ck_assert_uint_le(counters.cache_bytes, 4 * BYTES);
    assert_ok(touch(cache, 99, &good, &error));
    ck_assert_uint_le(counters.cache_bytes, 4 * BYTES);
    nt_cache_free(cache);
    ck_assert_uint_eq(counters.cache_bytes, 0);
}

/* A thread that waited for space while others wait for what it holds would wait forever. */
TEST(a_thread_with_a_pinned_entry_does_not_wait_for_space)
{
    struct nt_error error;
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(10000, 10, &counters);
    struct script script = {.bytes = 4000};
    struct nt_cache_entry *held[3];
    struct nt_cache_key keys[] = {key_at(0), key_at(1), key_at(2)};
    for (unsigned i = 0; i < 2; i++)
        assert_ok(nt_cache_get(cache, &keys[i], 4000, i ? NT_CACHE_HOLDER : NT_CACHE_READER, load_by_script,
                               &script, &held[i], &error));
    assert_status(NT_NO_MEMORY, nt_cache_get(cache, &keys[2], 4000, NT_CACHE_HOLDER, load_by_script, &script,
                                             &held[2], &error));
    assert_ok(
        nt_cache_get(cache, &keys[0], 4000, NT_CACHE_HOLDER, load_by_script, &script, &held[2], &error));
    for (unsigned i = 0; i < 3; i++)
        nt_cache_release(cache, held[i], NT_CACHE_KEEP);
    ck_assert_uint_eq(script.loads, 2);
    nt_cache_free(cache);
}

/* Many keys of many sizes, some of which fail, in a cache far too small for them. */
static void *visit_many(void *argument)
{
    struct visitor *visitor = argument;
    for (unsigned i = 0; i < 2000; i++) {
        visitor->seed = visitor->seed * 1103515245 + 12345;
        uint64_t offset = visitor->seed >> 16 & 31;
        struct script script = {.fill = (uint8_t)offset, .bytes = 100 + offset * 300};
        script.status = offset % 8 == 7 ? NT_CORRUPT : NT_OK;
        enum nt_status status = touch(visitor->cache, offset, &script, NULL);
        if (status != script.status)
            visitor->status = NT_INVALID;
        if (i % 500 == 499)
            nt_cache_invalidate(visitor->cache, (const void *const[]){source}, 1);
    }
    return NULL;
}

TEST(threads_with_many_pages_in_a_small_cache_each_get_their_own)
{
    struct nt_counters counters = {0};
    struct nt_cache *cache = nt_cache_new(30000, 100, &counters);
    struct visitor visitors[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        visitors[i] = (struct visitor){.cache = cache, .seed = i + 1};
    run_visitors(visitors, visit_many);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(visitors[i].status, NT_OK);
    nt_cache_free(cache);
    ck_assert_uint_eq(counters.cache_bytes, 0);
    ck_assert_uint_eq(counters.cache_pages, 0);
}
