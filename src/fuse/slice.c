/* SPDX-License-Identifier: MIT
 *
 * In: a slice. Out: the calling thread has it. The C libraries of today do not have the call.
 */
#include "fuse/slice.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KEEP_POLICY = 8 }; /* SCHED_FLAG_KEEP_POLICY */

/* In nanoseconds; 0.1 ms is the shortest there is, the usual one 0.7 to 2.8, by the number of processors. */
static const uint64_t slices[] = {
    [NT_SLICE_USUAL] = 0,
    [NT_SLICE_SHORT] = 100 * 1000,
    [NT_SLICE_LONG] = 3 * 1000 * 1000,
};

/* What the kernel was told of this thread, so that it is only told what is new: at first nothing, since a thread begins
 * with the slice of who made it. */
enum { TOLD_NOTHING = -1 };
static _Thread_local int told = TOLD_NOTHING;

void nt_slice_set(enum nt_slice slice)
{
    struct nt_slice_attributes attributes = {
        .size = sizeof(attributes), .flags = KEEP_POLICY, .runtime = slices[slice]};
    if ((int)slice == told)
        return;
    attributes.nice = getpriority(PRIO_PROCESS, 0);
    (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
    told = (int)slice;
}
