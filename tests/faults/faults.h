/* SPDX-License-Identifier: MIT
 *
 * Failures of the machine: a program that is linked with this lets one of its allocations, reads, other
 * system calls or threads fail. It redefines the functions of the C library, which call the original ones.
 * So calls of libraries count as well, and sanitizers still see every allocation.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum fault_site {
    FAULT_NOWHERE,
    FAULT_ALLOCATION, /* malloc, calloc, realloc, aligned_alloc, posix_memalign */
    FAULT_READ,       /* pread */
    FAULT_CALL,       /* open, stat, readdir, realpath and their like */
    FAULT_THREAD,     /* pthread_create */
    FAULT_WRITE,      /* writev; see preload.c */
    FAULT_RECEIVE,    /* read; see preload.c */
};

enum { FAULT_SHORT = -1 }; /* instead of an errno value: half of the requested bytes, for reads only */

struct fault {
    enum fault_site site;
    uint64_t number; /* the number of the failing call of the site, from 1; 0: none, calls are only counted */
    int error;       /* errno, or FAULT_SHORT */
    bool lasts;      /* all later ones fail, too */
    /* The origin of each call: a number for its innermost `depth` callers. NULL: not recorded. */
    uint64_t *places;
    uint64_t place_count; /* capacity; later calls are only counted */
    unsigned depth;
};

/* Applies to all threads from now on. */
void fault_arm(const struct fault *fault);
/* Disarms. Returns the number of calls of the site since it was armed. */
uint64_t fault_disarm(void);

/* Counts a call of the site. Returns 0, or how it must fail. */
int fault_at(enum fault_site site);

/* Advances the monotonic clock: failures that are remembered for seconds are forgotten. */
void fault_pass_time(int64_t seconds);
/* Back to the clock of the machine. */
void fault_restore_time(void);
