/* SPDX-License-Identifier: MIT
 *
 * Comes in: that somebody comes and leaves. Goes out: that all have left who were there.
 */
#include "vfs/visits.h"

/* Who was counted for a turn that is over by then comes again: a turn ends only where nobody of the one before is in, and
 * would not have seen this one. */
unsigned nt_visits_come(struct nt_visits *visits)
{
    for (;;) {
        unsigned visit = atomic_load(&visits->turn) % 2;
        atomic_fetch_add(&visits->inside[visit], 1);
        if (atomic_load(&visits->turn) % 2 == visit)
            return visit;
        atomic_fetch_sub(&visits->inside[visit], 1);
    }
}

void nt_visits_leave(struct nt_visits *visits, unsigned visit)
{
    atomic_fetch_sub(&visits->inside[visit], 1);
}

bool nt_visits_turn(struct nt_visits *visits)
{
    unsigned turn = atomic_load(&visits->turn);
    if (atomic_load(&visits->inside[(turn + 1) % 2]))
        return false;
    atomic_store(&visits->turn, turn + 1);
    return true;
}
