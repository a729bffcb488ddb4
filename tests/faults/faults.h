/* SPDX-License-Identifier: MIT
 *
 * Faults of the machine: a program that is linked with this has one of its allocations, reads, other system
 * calls or threads fail. The functions of the C library are defined a second time and call the first, so that
 * libraries' calls are counted too, and sanitizers still see every allocation.
 */
#ifndef NT_TESTS_FAULTS_H
#define NT_TESTS_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

enum fault_site {
    FAULT_NOWHERE,
    FAULT_ALLOCATION, /* malloc, calloc, realloc, aligned_alloc, posix_memalign */
    FAULT_READ,       /* pread */
    FAULT_CALL,       /* open, stat, readdir, realpath and their like */
    FAULT_THREAD,     /* pthread_create */
    FAULT_WRITE,      /* writev; see preload.c */
    FAULT_ARENA,      /* nt_arena_alloc and its like; see arenas.c */
};

enum { FAULT_SHORT = -1 }; /* in place of an errno value: half of what was asked for, of reads only */

struct fault {
    enum fault_site site;
    uint64_t number; /* which call of the site fails, from 1 on; 0: none, they are only counted */
    int error;       /* errno, or FAULT_SHORT */
    bool lasts;      /* all later ones fail, too */
    /* Where each call came from: a number for its innermost `depth` callers. NULL: nobody asks. */
    uint64_t *places;
    uint64_t place_count; /* that there is room for; later calls are only counted */
    unsigned depth;
};

/* From now on, in all threads. */
void fault_arm(const struct fault *fault);
/* No more. How many calls of the site there were since it was armed. */
uint64_t fault_disarm(void);

/* Counts a call of the site: 0, or what it has to fail with. */
int fault_at(enum fault_site site);

/* Let the monotonic clock go forward: failures that are remembered for seconds are forgotten. */
void fault_pass_time(int64_t seconds);
/* Back to what the clock of the machine says. */
void fault_restore_time(void);

#endif
