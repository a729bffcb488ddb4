/* SPDX-License-Identifier: MIT
 *
 * In: a reader at work. Out: what it has counted, all at once or one by one with its name. Names are part of
 * stats.json.
 */
#include <stddef.h>

#include "read/reader.h"

/* Counters are 64-bit integers, to which other threads add. */
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
            nt_count(&to[i], amounts[i]);
}

void nt_reader_add(struct nt_reader *reader, const struct nt_tally *tally)
{
    add_counters((uint64_t *)&reader->counters, &tally->counters, sizeof(tally->counters));
    for (size_t i = 0; i < NT_ALGORITHM_COUNT; i++)
        if (tally->algorithms[i].pages)
            add_counters((uint64_t *)&reader->algorithms[i], &tally->algorithms[i],
                         sizeof(*tally->algorithms));
}

/* ---- by their names ---- */

#define COUNTER(member)                                                                                      \
    {                                                                                                        \
#member, offsetof(struct nt_reader, counters.member)                                                 \
    }
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
    COUNTER(reads),
    COUNTER(served_bytes),
    COUNTER(pinned_bytes),
    COUNTER(cache_hits),
    COUNTER(cache_misses),
    COUNTER(cache_waits),
    COUNTER(cache_bytes),
    COUNTER(cache_pages),
    COUNTER(cache_evictions),
    COUNTER(pages_decoded),
    COUNTER(decoded_bytes),
    COUNTER(stored_bytes),
    COUNTER(read_nanoseconds),
    COUNTER(checksum_nanoseconds),
    COUNTER(decompress_nanoseconds),
    COUNTER(decode_nanoseconds),
    COUNTER(pages_direct),
    COUNTER(pages_ahead),
    COUNTER(blocks_decoded),
    COUNTER(failures),
    COUNTER(failures_remembered),
    ALGORITHM(NONE, "none"),
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
