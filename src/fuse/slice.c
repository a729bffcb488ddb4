/* SPDX-License-Identifier: MIT
 *
 * In: a slice. Out: the calling thread has it. The C libraries of today do not have the call.
 */
#include "fuse/slice.h"

#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KEEP_POLICY = 8 }; /* SCHED_FLAG_KEEP_POLICY */

/* struct sched_attr as it was first; <linux/sched/types.h> of some systems cannot be included beside <sched.h>. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

/* In nanoseconds; 0.1 ms is the shortest there is, the usual one 0.7 to 2.8, by the number of processors. */
static const uint64_t slices[] = {
    [NT_SLICE_USUAL] = 0,
    [NT_SLICE_SHORT] = 100 * 1000,
    [NT_SLICE_LONG] = 3 * 1000 * 1000,
};

/* What the kernel knows of this thread, so that it is only told what is new. */
static _Thread_local enum nt_slice current;

void nt_slice_set(enum nt_slice slice)
{
    struct attributes attributes = {
        .size = sizeof(attributes), .flags = KEEP_POLICY, .runtime = slices[slice]};
    if (slice == current)
        return;
    attributes.nice = getpriority(PRIO_PROCESS, 0);
    (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
    current = slice;
}
