/* SPDX-License-Identifier: MIT
 *
 * In: where reads begin and end. Out: pages behind them in the workers' queue, once two reads have followed
 * one another and pages take long enough to load, or it is asked for; and for the cache, which pages are not
 * going to be wanted again.
 */
#include "page/ahead.h"

#include <stdatomic.h>

#include "page/workers.h"

enum {
    SEQUENTIAL_READS = 2,
    PAGES = 4,                 /* at least, if that is less than MOST_BYTES ... */
    LEAST_BYTES = 1024 * 1024, /* ... and more of them where they are small */
    MOST_BYTES = 8 * 1024 * 1024,
    MOST_PAGES = 16,
    FAST_MEGABYTES_PER_SECOND = 500,
    EVIDENCE_NANOSECONDS = 20 * 1000 * 1000, /* before it, first touches of memory look like slow decoding */
    NEAR_BYTES = 1024 * 1024, /* the kernel's own read-ahead sends its requests a little out of order */
    NEAR_READS = 8,
};

static bool is_near(uint64_t a, uint64_t b, uint64_t distance)
{
    return a < b ? b - a <= distance : a - b <= distance;
}

static bool is_on(const struct nt_sequence *sequence)
{
    return atomic_load_explicit(&sequence->reads, memory_order_relaxed) >= SEQUENTIAL_READS;
}

bool nt_sequence_follows(const struct nt_sequence *sequence, uint64_t offset, uint64_t bytes)
{
    uint64_t expected = atomic_load_explicit(&sequence->expected_offset, memory_order_relaxed);
    return is_near(offset, expected, bytes > NEAR_BYTES / NEAR_READS ? NEAR_BYTES : bytes * NEAR_READS);
}

bool nt_sequence_note(struct nt_sequence *sequence, uint64_t offset, size_t bytes)
{
    uint64_t expected =
        atomic_exchange_explicit(&sequence->expected_offset, offset + bytes, memory_order_relaxed);
    if (is_near(offset, expected, NEAR_BYTES)) {
        atomic_fetch_add_explicit(&sequence->reads, 1, memory_order_relaxed);
    } else {
        atomic_store_explicit(&sequence->reads, 0, memory_order_relaxed);
        atomic_store_explicit(&sequence->queued, 0, memory_order_relaxed);
    }
    return is_on(sequence);
}

enum nt_cache_use nt_sequence_use(struct nt_sequence *sequence, bool to_the_end)
{
    if (!is_on(sequence))
        return NT_CACHE_STAY;
    return to_the_end ? NT_CACHE_PASSED : NT_CACHE_PASSING;
}

/* A page that is decoded ahead is written to memory and copied from there, where a reader would have it
 * decoded into its own. Where decoding runs not much slower than that, this costs more than it hides. */
static bool are_pages_slow(const struct nt_reader *reader)
{
    struct nt_reader_counters counters;
    nt_reader_counters(reader, &counters);
    uint64_t nanoseconds = counters.read_nanoseconds + counters.checksum_nanoseconds +
                           counters.decompress_nanoseconds + counters.decode_nanoseconds;
    return nanoseconds > EVIDENCE_NANOSECONDS &&
           counters.decoded_bytes / FAST_MEGABYTES_PER_SECOND < nanoseconds / 1000;
}

void nt_ahead_queue(struct nt_reader *reader, struct nt_dataset *dataset, struct nt_sequence *sequence,
                    uint64_t element, uint64_t end, nt_ahead_find *find, const void *walked)
{
    uint64_t queued = atomic_load_explicit(&sequence->queued, memory_order_relaxed), bytes = 0;
    if (!nt_workers_count(reader->workers) || !(reader->options.always_ahead || are_pages_slow(reader)))
        return;
    for (unsigned pages = 0; element < end && pages < MOST_PAGES && bytes < MOST_BYTES; pages++) {
        struct nt_ahead_page next;
        if (pages >= PAGES && bytes >= LEAST_BYTES)
            break;
        find(walked, element, &next);
        if (next.page && element >= queued)
            nt_workers_ahead(reader->workers, dataset, next.column, next.page);
        if (next.page)
            bytes += (uint64_t)next.page->elements * nt_page_decoder(dataset, next.page)->element_bytes;
        element = next.end;
    }
    if (element > queued)
        atomic_store_explicit(&sequence->queued, element, memory_order_relaxed);
}
