/* SPDX-License-Identifier: MIT
 *
 * Sizes up to a quarter of a huge page are rounded up to powers of two, larger ones to whole huge pages.
 */
#include "base/large.h"

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

void *nt_large_new(size_t bytes, size_t *capacity_ret)
{
    void *memory = NULL;
    size_t capacity = 0;
    if (bytes <= HUGE_PAGE / 4) {
        capacity = next_power_of_two(bytes);
        memory = malloc(capacity);
    } else if (bytes <= SIZE_MAX - HUGE_PAGE) {
        capacity = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        memory = aligned_alloc(HUGE_PAGE, capacity);
        if (memory)
            madvise(memory, capacity, MADV_HUGEPAGE);
    }
    *capacity_ret = memory ? capacity : 0;
    return memory;
}
