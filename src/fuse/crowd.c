/* SPDX-License-Identifier: MIT
 *
 * In: who reads, one read behind the other. Out: whether many take turns.
 */
#include "fuse/crowd.h"

/* How many reads ago it was this reader's turn, the one before being 1; 0: not as far as is remembered. */
static unsigned distance_of(const struct nt_crowd *crowd, unsigned next, uint32_t reader)
{
    for (unsigned distance = 1; distance <= NT_CROWD_READS; distance++)
        if (atomic_load_explicit(&crowd->readers[(next - distance) % NT_CROWD_READS], memory_order_relaxed) ==
            reader)
            return distance;
    return 0;
}

bool nt_crowd_is(const struct nt_crowd *crowd)
{
    return atomic_load_explicit(&crowd->evidence, memory_order_relaxed) >= NT_CROWD_SURE;
}

void nt_crowd_note(struct nt_crowd *crowd, uint32_t reader, unsigned processors)
{
    if (!reader)
        return;
    unsigned next = atomic_fetch_add_explicit(&crowd->next, 1, memory_order_relaxed);
    unsigned distance = distance_of(crowd, next, reader);
    int evidence = atomic_load_explicit(&crowd->evidence, memory_order_relaxed);
    atomic_store_explicit(&crowd->readers[next % NT_CROWD_READS], reader, memory_order_relaxed);
    if (distance > processors && evidence < NT_CROWD_MOST)
        atomic_store_explicit(&crowd->evidence, evidence + 1, memory_order_relaxed);
    else if (distance && distance <= processors && evidence > 0)
        atomic_store_explicit(&crowd->evidence, evidence - 1, memory_order_relaxed);
}
