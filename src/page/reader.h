/* SPDX-License-Identifier: MIT
 *
 * What the files of this folder share: the parts of a reader, and its counters.
 */
#ifndef NT_PAGE_READER_H
#define NT_PAGE_READER_H

#include <time.h>

#include <ntuple/read.h>

struct nt_contexts;
struct nt_cache;
struct nt_workers;
struct nt_views;

struct nt_reader {
    struct nt_reader_options options;   /* with the defaults filled in */
    struct nt_reader_counters counters; /* only touched through nt_count and nt_reader_counters */
    struct nt_contexts *contexts;
    struct nt_cache *cache;
    struct nt_workers *workers;
    struct nt_views *views;
};

static inline void nt_count(uint64_t *counter, uint64_t amount)
{
    __atomic_fetch_add(counter, amount, __ATOMIC_RELAXED);
}

static inline uint64_t nt_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
