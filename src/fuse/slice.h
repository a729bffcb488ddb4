/* SPDX-License-Identifier: MIT
 *
 * How long a thread may run before others of its processor have their turn. From Linux 6.12 on each thread has its own,
 * and one that is woken comes before one that runs where its own is shorter. Its share of the processor stays the same.
 */
#ifndef NT_FUSE_SLICE_H
#define NT_FUSE_SLICE_H

enum nt_slice {
    NT_SLICE_USUAL, /* the kernel's, which others have */
    NT_SLICE_SHORT,
    NT_SLICE_LONG,
};

/* The calling thread's, which has had the usual one so far or what was set here. Nothing where the kernel does not know it or
 * does not let it; policy and nice value stay. */
void nt_slice_set(enum nt_slice slice);

#endif
