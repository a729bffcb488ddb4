/* SPDX-License-Identifier: MIT
 *
 * Arrays that grow item by item.
 */
#include "core/base/memory.h"
#include "support.h"

TEST(items_stay_while_the_list_grows)
{
    uint32_t *items = NULL;
    size_t capacity = 0, moves = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        size_t before = capacity;
        ck_assert(NT_GROW(items, i, capacity));
        ck_assert_uint_gt(capacity, i);
        moves += capacity != before;
        items[i] = ~i;
    }
    for (uint32_t i = 0; i < 100000; i++)
        ck_assert_uint_eq(items[i], ~i);
    ck_assert_uint_lt(moves, 20);
    free(items);
}

TEST(what_does_not_fit_into_memory_is_refused_and_the_items_stay)
{
    volatile size_t most = SIZE_MAX; /* so that the compiler does not compute it */
    size_t capacity = most / 2 + 1;
    char *item = malloc(1);
    ck_assert_ptr_nonnull(item);
    *item = 'x';
    ck_assert(!NT_GROW(item, capacity, capacity));
    capacity = most / 4;
    ck_assert(!nt_array_enlarge(&item, &capacity, 16));
    ck_assert_uint_eq(capacity, SIZE_MAX / 4);
    ck_assert_int_eq(*item, 'x');
    free(item);
}
