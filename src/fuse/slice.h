/* SPDX-License-Identifier: MIT
 *
 * How long a thread may run before others of its processor have their turn. From Linux 6.12 on each thread has its own,
 * and one that is woken comes before one that runs where its own is shorter. Its share of the processor stays the same.
 */
#ifndef NT_FUSE_SLICE_H
#define NT_FUSE_SLICE_H

#include <stdint.h>

enum nt_slice {
    NT_SLICE_USUAL, /* the kernel's, which others have */
    NT_SLICE_SHORT,
    NT_SLICE_LONG,
};

/* struct sched_attr as the kernel had it first; <linux/sched/types.h> of some systems cannot be included beside <sched.h>. */
struct nt_slice_attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period; /* runtime is the slice, in nanoseconds */
};

/* The calling thread's. Nothing where the kernel does not know it or does not let it; policy and nice value stay. */
void nt_slice_set(enum nt_slice slice);

#endif
