/* SPDX-License-Identifier: MIT
 *
 * Whether more read at once than there are processors: large reads of somebody between whose reads many others had theirs.
 * Who reads many files, or one file after another's, is no crowd.
 */
#ifndef NT_FUSE_CROWD_H
#define NT_FUSE_CROWD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    NT_CROWD_READS = 64, /* that are remembered */
    NT_CROWD_SURE = 2,   /* reads from afar, less those from near, that make a crowd ... */
    NT_CROWD_MOST = 16,  /* ... of which no more count */
};

/* All 0 at first. */
struct nt_crowd {
    atomic_uint_least32_t readers[NT_CROWD_READS]; /* a ring; 0: none yet */
    atomic_uint next;
    atomic_int evidence;
};

/* A large read of a thread, by the number that the kernel tells; 0, one that cannot be seen from here, is nobody.
 * `processors`: how many may take turns without being a crowd. Any thread; where several call at once, what is remembered
 * may be a little out of order. */
void nt_crowd_note(struct nt_crowd *crowd, uint32_t reader, unsigned processors);
bool nt_crowd_is(const struct nt_crowd *crowd);

#endif
