/* SPDX-License-Identifier: MIT */
#include "core/base/bytes.h"

#include "support.h"

struct item {
    char other;
    uint64_t at;
};

NT_DEFINE_LAST_AT_MOST(last_at_most, struct item, .at)
NT_DEFINE_COUNT_UP_TO(count_up_to, struct item, .at)
NT_DEFINE_COUNT_UP_TO(count_pointed, __typeof__(struct item *), ->at)

/* Compares with a linear search, for every number of items, with equal ones among them. */
TEST(what_is_found_is_what_a_walk_finds)
{
    enum { ITEMS = 40 };
    struct item items[ITEMS];
    struct item *pointers[ITEMS];
    for (uint32_t i = 0; i < ITEMS; i++) {
        items[i] = (struct item){.at = 3 * (i / 2) + 1};
        pointers[i] = &items[i];
    }
    for (uint32_t count = 0; count <= ITEMS; count++)
        for (uint64_t value = 0; value < 2 * ITEMS; value++) {
            uint32_t expected = 0;
            while (expected < count && items[expected].at <= value)
                expected++;
            ck_assert_uint_eq(count_up_to(items, count, value), expected);
            ck_assert_uint_eq(count_pointed(pointers, count, value), expected);
            ck_assert_uint_eq(last_at_most(items, count, value), expected ? expected - 1 : 0);
        }
}
