/* SPDX-License-Identifier: MIT
 *
 * Where a value lies in a list that is ordered by a member.
 */
#ifndef NT_BASE_SEARCH_H
#define NT_BASE_SEARCH_H

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

#endif
