/* SPDX-License-Identifier: MIT
 *
 * In: the processors that a thread may run on. Out: it runs on another one of them.
 */
#include "fuse/processor.h"

#include <sched.h>

static int next_of(const cpu_set_t *allowed, int current)
{
    int next = current;
    do
        next = (next + 1) % CPU_SETSIZE;
    while (next != current && !CPU_ISSET(next, allowed));
    return next;
}

void nt_processor_next(void)
{
    cpu_set_t allowed, only;
    int current = sched_getcpu();
    if (current < 0 || current >= CPU_SETSIZE || sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return;
    CPU_ZERO(&only);
    CPU_SET(next_of(&allowed, current), &only);
    if (sched_setaffinity(0, sizeof(only), &only) == 0)
        (void)sched_setaffinity(0, sizeof(allowed), &allowed);
}
