/* SPDX-License-Identifier: MIT
 *
 * Creates and frees a reader: options, defaults, and its parts (cache, codec contexts, workers). Also
 * has its counters, whose names are those of stats.json.
 */
#include "read/read.h"

#include "core/base/abi.h"
#include "read/page.h"

/* ---- Create and free a reader ---- */

enum { DECODING_BYTES = 4 * 1024 * 1024 };

/* A little memory for decoding is not part of the cache's limit. With more threads, including the
 * caller, it may grow to a quarter of the cache, which shrinks accordingly. Pages that do not fit at
 * the same time are decoded one after the other. Each thread can keep what baskets of some MiB take. */
static uint64_t decoding_bytes(const struct nt_reader_options *options)
{
    const uint64_t thread_bytes = UINT64_C(16) << 20;
    uint64_t requested = (options->threads + UINT64_C(1)) * thread_bytes;
    if (requested > options->cache_bytes / 4)
        requested = options->cache_bytes / 4;
    return requested > DECODING_BYTES ? requested : DECODING_BYTES;
}

static void set_defaults(struct nt_reader_options *options)
{
    if (!options->cache_bytes)
        options->cache_bytes = UINT64_C(256) << 20;
    if (!options->failure_seconds)
        options->failure_seconds = 10;
}

/* Creates the parts; false without memory, with some of them created. */
static bool make_parts(struct nt_reader *reader)
{
    uint64_t decoding = decoding_bytes(&reader->options);
    reader->workers = NULL;
    reader->scratch_pool = nt_scratch_pool_new(decoding);
    reader->indexes = nt_dataset_indexes_new();
    reader->cache = nt_cache_new(reader->options.cache_bytes - (decoding - DECODING_BYTES),
                                 reader->options.failure_seconds, &reader->counters);
    if (reader->scratch_pool && reader->indexes && reader->cache)
        reader->workers = nt_workers_new(reader->options.threads);
    return reader->workers != NULL;
}

static void free_parts(struct nt_reader *reader)
{
    nt_workers_free(reader->workers);
    nt_cache_free(reader->cache);
    nt_dataset_indexes_free(reader->indexes);
    nt_scratch_pool_free(reader->scratch_pool);
}

static void be_forked(struct nt_lock *lock)
{
    struct nt_reader *reader = (struct nt_reader *)((char *)lock - offsetof(struct nt_reader, lock));
    atomic_store(&reader->is_forked, true);
}

enum nt_status nt_reader_after_fork(struct nt_reader *reader, struct nt_error *error)
{
    if (!atomic_load_explicit(&reader->is_forked, memory_order_acquire))
        return NT_OK;
    NT_LOCK_GUARD(&reader->lock);
    if (!atomic_load(&reader->is_forked))
        return NT_OK;
    if (!make_parts(reader)) {
        free_parts(reader);
        return nt_fail_memory(error);
    }
    atomic_store_explicit(&reader->is_forked, false, memory_order_release);
    return NT_OK;
}

enum nt_status nt_reader_new(const struct nt_reader_options *options, struct nt_reader **reader_ret,
                             struct nt_error *error)
{
    struct nt_reader_options known;
    NT_TRY(nt_copy_struct(options, &known, sizeof(known), "nt_reader_options", error));
    struct nt_reader *reader = calloc(1, sizeof(*reader));
    if (!reader || nt_lock_init(&reader->lock, be_forked)) {
        free(reader);
        return nt_fail_memory(error);
    }
    reader->options = known;
    set_defaults(&reader->options);
    if (!make_parts(reader)) {
        nt_reader_free(reader);
        return nt_fail_memory(error);
    }
    *reader_ret = reader;
    return NT_OK;
}

void nt_reader_free(struct nt_reader *reader)
{
    if (!reader)
        return;
    if (!atomic_load(&reader->is_forked))
        free_parts(reader);
    nt_lock_deinit(&reader->lock);
    free(reader);
}

void nt_reader_report_failure(struct nt_reader *reader, const struct nt_dataset *dataset, uint32_t column,
                              const struct nt_page *page, const struct nt_error *failure)
{
    if (nt_is_transient(failure->status) || failure->status == NT_CHANGED)
        return; /* the page is not at fault */
    nt_counter_add(&reader->counters.failures, 1);
    if (reader->options.on_failure)
        reader->options.on_failure(reader->options.context, dataset, column, page, failure);
}

void nt_reader_before_blocking(const struct nt_reader *reader)
{
    if (reader->options.before_blocking)
        reader->options.before_blocking(reader->options.context);
}

void nt_reader_reserve(struct nt_reader *reader, int64_t bytes)
{
    nt_cache_reserve(reader->cache, bytes);
}

uint64_t nt_reader_buffer_bytes(const struct nt_reader *reader)
{
    return reader->options.cache_bytes / 32;
}

uint64_t nt_reader_idle_bytes(const struct nt_reader *reader)
{
    return reader->options.cache_bytes / 8;
}

void nt_reader_forget(struct nt_reader *reader, const struct nt_dataset *dataset)
{
    if (atomic_load(&reader->is_forked))
        return;
    nt_workers_forget(reader->workers, dataset);
    if (dataset->logical == dataset) /* the others share its sources */
        nt_cache_invalidate(reader->cache, (const void *const *)dataset->sources, dataset->source_count);
    nt_dataset_indexes_forget(reader->indexes, dataset);
    if (dataset->physical != dataset)
        nt_reader_forget(reader, dataset->physical);
    if (dataset->levels)
        nt_reader_forget(reader, dataset->levels);
}

/* ---- Counters ---- */

/* Counters are 64-bit integers that other threads add to. */
static uint64_t counter_at(const struct nt_reader *reader, size_t offset)
{
    return __atomic_load_n((const uint64_t *)(const void *)((const char *)reader + offset), __ATOMIC_RELAXED);
}

void nt_counters_read(const struct nt_reader *reader, struct nt_counters *counters)
{
    uint64_t *to = (uint64_t *)counters;
    _Static_assert(sizeof(*counters) % sizeof(*to) == 0, "counters are 64-bit integers");
    for (size_t i = 0; i < sizeof(*counters) / sizeof(*to); i++)
        to[i] = counter_at(reader, offsetof(struct nt_reader, counters) + i * sizeof(*to));
}

static void add_counters(uint64_t *to, const void *from, size_t bytes)
{
    const uint64_t *amounts = from;
    for (size_t i = 0; i < bytes / sizeof(*amounts); i++)
        if (amounts[i])
            nt_counter_add(&to[i], amounts[i]);
}

void nt_reader_add_stats(struct nt_reader *reader, const struct nt_stats_delta *stats)
{
    add_counters((uint64_t *)&reader->counters, &stats->counters, sizeof(stats->counters));
    for (size_t i = 0; i < NT_ALGORITHM_COUNT; i++)
        if (stats->algorithms[i].pages)
            add_counters((uint64_t *)&reader->algorithms[i], &stats->algorithms[i],
                         sizeof(*stats->algorithms));
}

#define COUNTER(member) {#member, offsetof(struct nt_reader, counters.member)},
#define OF_ALGORITHM(kind, name, member)                                                                     \
    {                                                                                                        \
        "codec_" name "_" #member, offsetof(struct nt_reader, algorithms[NT_ALGORITHM_##kind].member)        \
    }
#define ALGORITHM(kind, name)                                                                                \
    OF_ALGORITHM(kind, name, pages), OF_ALGORITHM(kind, name, stored_bytes),                                 \
        OF_ALGORITHM(kind, name, packed_bytes), OF_ALGORITHM(kind, name, nanoseconds)

static const struct counter {
    const char *name;
    size_t offset; /* in struct nt_reader */
} table[] = {
    NT_COUNTERS(COUNTER) ALGORITHM(NONE, "none"),
    ALGORITHM(ZSTD, "zstd"),
    ALGORITHM(LZ4, "lz4"),
    ALGORITHM(ZLIB, "zlib"),
    ALGORITHM(OLD_ZLIB, "old_zlib"),
    ALGORITHM(LZMA, "lzma"),
    ALGORITHM(BLOSCLZ, "blosclz"),
    ALGORITHM(SNAPPY, "snappy"),
    ALGORITHM(ELSEWHERE, "elsewhere"),
    ALGORITHM(UNKNOWN, "unknown"),
};

enum { COUNTERS = sizeof(table) / sizeof(*table) };
_Static_assert(COUNTERS ==
                   (sizeof(struct nt_counters) + NT_ALGORITHM_COUNT * sizeof(struct nt_algorithm_counters)) /
                       sizeof(uint64_t),
               "each counter has a name");

bool nt_reader_counter(const struct nt_reader *reader, uint32_t index, const char **name_ret,
                       uint64_t *value_ret)
{
    if (index >= COUNTERS)
        return false;
    *name_ret = table[index].name;
    *value_ret = counter_at(reader, table[index].offset);
    return true;
}
