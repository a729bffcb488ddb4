/* SPDX-License-Identifier: MIT
 *
 * What a reader counts, adding to it, and the clock that some of it goes by.
 */
#ifndef NT_PAGE_COUNTERS_H
#define NT_PAGE_COUNTERS_H

#include <stdint.h>

#include "core/base/clock.h"
#include "core/codec/codec.h"

/* Integers only; all since the start. Their names are in reader_counters.c. */
struct nt_counters {
    uint64_t reads, served_bytes;                       /* of streams and columns */
    uint64_t pinned_bytes;                              /* of these, from the pages of the cache themselves */
    uint64_t cache_hits, cache_misses, cache_waits;     /* waits: another thread was loading the same page */
    uint64_t cache_bytes, cache_pages, cache_evictions; /* now, now, total */
    uint64_t pages_decoded, decoded_bytes, stored_bytes;
    uint64_t read_nanoseconds, checksum_nanoseconds, decompress_nanoseconds, decode_nanoseconds;
    uint64_t pages_direct; /* decoded straight into the reply */
    uint64_t pages_ahead;  /* decoded before they were asked for */
    /* Blocks of pages, decoded alone; their bytes are among decoded_bytes. Each is an entry of the cache, and
     * so are the stored bytes that they come from: cache_* counts these as it does pages. */
    uint64_t blocks_decoded;
    uint64_t failures, failures_remembered;
};

/* Decompression by one algorithm, as the stored bytes name it. */
struct nt_algorithm_counters {
    uint64_t pages, stored_bytes, packed_bytes, nanoseconds;
};

/* From any thread; what is read of several counters need not be of one moment. */
static inline void nt_count(uint64_t *counter, uint64_t amount)
{
    __atomic_fetch_add(counter, amount, __ATOMIC_RELAXED);
}

/* What one thread counts while it loads pages, given to the reader once for all of them: threads that add to the same
 * counters for each small page wait for one another. All zero at first. */
struct nt_tally {
    struct nt_counters counters;
    struct nt_algorithm_counters algorithms[NT_ALGORITHM_COUNT];
    uint64_t mark; /* when the stage that is at work began */
};

static inline void nt_tally_begin(struct nt_tally *tally)
{
    tally->mark = nt_nanoseconds();
}

/* The time since the stage began is counted; the next one begins. */
static inline uint64_t nt_tally_lap(struct nt_tally *tally, uint64_t *counter)
{
    uint64_t now = nt_nanoseconds(), passed = now - tally->mark;
    tally->mark = now;
    *counter += passed;
    return passed;
}

#endif
