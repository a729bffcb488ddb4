/* SPDX-License-Identifier: MIT
 *
 * Lists that are filled item by item.
 */
#ifndef NT_BASE_GROW_H
#define NT_BASE_GROW_H

#include <stdint.h>
#include <stdlib.h>

#include "core/base/overflow.h"

/* The items of a list with room for one more behind `count`, which may have moved; capacities double. NULL
 * without memory: then the items are where they were. From malloc. */
static inline void *nt_grow(void *items, size_t count, size_t *capacity, size_t item_bytes)
{
    enum { LEAST_ITEMS = 8 };
    if (count < *capacity)
        return items;
    uint64_t larger = *capacity ? *capacity : LEAST_ITEMS / 2, bytes;
    if (!nt_multiply(larger, 2, &larger) || !nt_multiply(larger, item_bytes, &bytes) || bytes > PTRDIFF_MAX)
        return NULL;
    items = realloc(items, bytes);
    if (items)
        *capacity = larger;
    return items;
}

#endif
