/* SPDX-License-Identifier: MIT
 *
 * Sizes up to a quarter of a huge page are rounded up to powers of two, larger ones to whole huge pages.
 */
#include "core/base/large.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SMALLEST = 4096, HUGE_PAGE = 2 * 1024 * 1024 };

static size_t next_power_of_two(size_t bytes)
{
    size_t power = SMALLEST;
    while (power < bytes)
        power *= 2;
    return power;
}

size_t nt_large_capacity(size_t bytes)
{
    if (bytes <= HUGE_PAGE / 4)
        return next_power_of_two(bytes);
    return bytes <= SIZE_MAX - HUGE_PAGE ? (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE : SIZE_MAX;
}

void *nt_huge_new(size_t bytes)
{
    void *memory;
    if (posix_memalign(&memory, HUGE_PAGE, bytes) != 0)
        return NULL;
    madvise(memory, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
    return memory;
}

void *nt_large_new(size_t bytes, size_t *capacity_ret)
{
    size_t capacity = nt_large_capacity(bytes);
    void *memory = NULL;
    if (capacity < HUGE_PAGE)
        memory = malloc(capacity);
    else if (capacity != SIZE_MAX)
        memory = nt_huge_new(capacity);
    *capacity_ret = memory ? capacity : 0;
    return memory;
}
