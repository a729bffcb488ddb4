/* SPDX-License-Identifier: MIT
 *
 * Waiting for room in memory that many threads share, first come, first served: who wants much is not passed
 * by those who want little for ever.
 */
#ifndef NT_BASE_TURNS_H
#define NT_BASE_TURNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Under a lock of its owner's. */
struct nt_turns {
    pthread_cond_t turned;
    uint64_t next, last; /* turns of those who wait; equal: nobody does */
};

/* Whether there is room for so many bytes. It must be true where nobody has any: who waits would wait for
 * ever. */
typedef bool nt_has_room(const void *context, uint64_t bytes);

/* 0 or an errno value. */
int nt_turns_init(struct nt_turns *turns);
void nt_turns_deinit(struct nt_turns *turns); /* nobody waits */

/* With the lock held on entry and exit: returns when there is room and all who came before have had theirs.
 * False: at once, the lock was held all the time. */
bool nt_turns_wait(struct nt_turns *turns, pthread_mutex_t *lock, nt_has_room *has_room, const void *context,
                   uint64_t bytes);
/* Under the lock: there may be more room now. */
void nt_turns_freed(struct nt_turns *turns);

#endif
