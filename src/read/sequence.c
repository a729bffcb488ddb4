/* SPDX-License-Identifier: MIT
 *
 * In: where reads begin and end. Out: whether they follow one another; and for the cache, which pages are not
 * going to be wanted again.
 */
#include "read/sequence.h"

enum {
    SEQUENTIAL_READS = 2,
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

uint64_t nt_sequence_queued(const struct nt_sequence *sequence)
{
    return atomic_load_explicit(&sequence->queued, memory_order_relaxed);
}

void nt_sequence_note_queued(struct nt_sequence *sequence, uint64_t element)
{
    atomic_store_explicit(&sequence->queued, element, memory_order_relaxed);
}
