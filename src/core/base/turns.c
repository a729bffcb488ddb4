/* SPDX-License-Identifier: MIT
 *
 * Turns are numbers; all who wait are woken and look whether it is theirs.
 */
#include "core/base/turns.h"

int nt_turns_init(struct nt_turns *turns)
{
    turns->next = turns->last = 0;
    return pthread_cond_init(&turns->turned, NULL);
}

void nt_turns_deinit(struct nt_turns *turns)
{
    pthread_cond_destroy(&turns->turned);
}

void nt_turns_freed(struct nt_turns *turns)
{
    if (turns->next != turns->last)
        pthread_cond_broadcast(&turns->turned);
}

bool nt_turns_wait(struct nt_turns *turns, pthread_mutex_t *lock, nt_has_room *has_room, const void *context,
                   uint64_t bytes)
{
    if (turns->next == turns->last && has_room(context, bytes))
        return false;
    uint64_t turn = turns->last++;
    while (turn != turns->next || !has_room(context, bytes))
        pthread_cond_wait(&turns->turned, lock);
    turns->next++;
    nt_turns_freed(turns); /* there may be room for the next one, too */
    return true;
}
