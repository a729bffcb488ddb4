/* SPDX-License-Identifier: MIT
 *
 * In: the bound that the user gave. Out: bounds of the parts, and an allocator that gives back what is freed.
 */
#include "cli/settings.h"

#include <malloc.h>

#include "core/model/ceiling.h"

#define MEBIBYTE (UINT64_C(1) << 20)

/* glibc gives each thread a heap of its own, and a freed buffer stays in the heap that it came from: after a
 * while each has holes for the largest that its thread ever used. One heap for all, and none for buffers that
 * are large: those that come and go are kept for reuse by who has them. */
void nt_memory_prepare(void)
{
    enum { LARGE = 160 * 1024, KEPT_AT_END = 1024 * 1024 };
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, KEPT_AT_END);
    nt_memory_here(); /* which is asked for again where it cannot be read any more */
}

/* 256 MiB; less on a small machine, or in a control group that has little. */
static uint64_t default_cache(void)
{
    const uint64_t most = 256 * MEBIBYTE, least = 16 * MEBIBYTE;
    uint64_t part = nt_memory_here() / 8;
    return part > most ? most : part < least ? least : part;
}

/* Replies are at most 1 MiB, and lie on huge pages. A few are beside the cache's memory; the many that many
 * threads can make at once are a part of it, an eighth at most. */
struct nt_memory nt_memory_share(uint64_t cachesize, unsigned threads)
{
    const uint64_t few = 8 * MEBIBYTE, reply = 2 * MEBIBYTE;
    struct nt_memory memory = {cachesize ? cachesize : default_cache(), threads * reply};
    if (memory.reply_bytes > memory.cache_bytes / 8)
        memory.reply_bytes = memory.cache_bytes / 8;
    if (memory.reply_bytes < few)
        memory.reply_bytes = few;
    memory.cache_bytes -= memory.reply_bytes - few;
    return memory;
}
