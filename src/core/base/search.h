/* SPDX-License-Identifier: MIT
 *
 * Where a value lies in a list that is ordered by a member.
 */
#ifndef NT_BASE_SEARCH_H
#define NT_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* Define a function that finds the last of `count` items whose member is at most `value`; 0 where all are
 * larger, or there are none. The member is given with its dot; none where the items are the numbers. */
#define NT_DEFINE_LAST_AT_MOST(name, type, member)                                                           \
    static uint32_t name(const type *items, uint32_t count, uint64_t value)                                  \
    {                                                                                                        \
        uint32_t low = 0, high = count;                                                                      \
        while (high - low > 1) {                                                                             \
            uint32_t middle = low + (high - low) / 2;                                                        \
            if (items[middle] member <= value)                                                               \
                low = middle;                                                                                \
            else                                                                                             \
                high = middle;                                                                               \
        }                                                                                                    \
        return low;                                                                                          \
    }

/* Define one that counts how many of `count` items, the first ones, have a member that is at most `value`. */
#define NT_DEFINE_COUNT_UP_TO(name, type, member)                                                            \
    static size_t name(const type *items, size_t count, uint64_t value)                                      \
    {                                                                                                        \
        size_t low = 0, high = count;                                                                        \
        while (low < high) {                                                                                 \
            size_t middle = low + (high - low) / 2;                                                          \
            if (items[middle] member <= value)                                                               \
                low = middle + 1;                                                                            \
            else                                                                                             \
                high = middle;                                                                               \
        }                                                                                                    \
        return low;                                                                                          \
    }

#endif
