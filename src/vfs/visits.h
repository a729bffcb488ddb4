/* SPDX-License-Identifier: MIT
 *
 * Who is in. What is put where nobody finds it any more may still be held by those who came before: it can go once all of
 * them have left, however many have come since. Thread-safe, and nobody waits.
 */
#ifndef NT_VFS_VISITS_H
#define NT_VFS_VISITS_H

#include <stdatomic.h>
#include <stdbool.h>

/* All zeros: nobody is in. */
struct nt_visits {
    atomic_uint turn;      /* who comes is counted by the turn's lowest bit */
    atomic_uint inside[2]; /* of this turn and of the one before */
};

/* The visit, for nt_visits_leave. Somebody may visit twice at the same time. */
unsigned nt_visits_come(struct nt_visits *visits);
void nt_visits_leave(struct nt_visits *visits, unsigned visit);
/* Begin another turn; false while somebody is in who came before this one. By one thread at a time. What was put away before
 * the last turn is held by nobody then. */
bool nt_visits_turn(struct nt_visits *visits);

#endif
