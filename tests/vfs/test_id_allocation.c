/* SPDX-License-Identifier: MIT
 *
 * Numbers that are given, come back and are given again: never two owners, never one without need, and as few as can be.
 */
#include <string.h>

#include "support.h"
#include "vfs/inode.h"

enum { LIMIT = 300, STEPS = 20000, MOST_OWNERS = 64 };

static uint32_t take(struct nt_numbers *numbers, uint32_t count)
{
    uint32_t first;
    ck_assert(nt_numbers_take(numbers, count, &first));
    return first;
}

TEST(the_lowest_that_are_free_are_given)
{
    struct nt_numbers numbers = {.limit = LIMIT};
    for (uint32_t i = 0; i < 10; i++)
        ck_assert_uint_eq(take(&numbers, 1), i);
    nt_numbers_give_back(&numbers, 7, 1);
    nt_numbers_give_back(&numbers, 2, 1);
    nt_numbers_give_back(&numbers, 4, 1);
    ck_assert_uint_eq(take(&numbers, 2), 10); /* none of those follow one another */
    nt_numbers_give_back(&numbers, 3, 1);
    ck_assert_uint_eq(numbers.free_count, 2);
    ck_assert_uint_eq(take(&numbers, 2), 2);
    ck_assert_uint_eq(take(&numbers, 1), 4);
    ck_assert_uint_eq(take(&numbers, 1), 7);
    ck_assert_uint_eq(take(&numbers, 1), 12);
    nt_numbers_deinit(&numbers);
}

TEST(none_is_given_beyond_the_limit)
{
    struct nt_numbers numbers = {.limit = LIMIT};
    uint32_t first;
    take(&numbers, LIMIT - 1);
    ck_assert(!nt_numbers_take(&numbers, 2, &first));
    ck_assert(!nt_numbers_take(&numbers, UINT32_MAX, &first));
    ck_assert_uint_eq(take(&numbers, 1), LIMIT - 1);
    ck_assert(!nt_numbers_take(&numbers, 1, &first));
    take(&numbers, 0);
    nt_numbers_give_back(&numbers, 0, LIMIT - 1);
    ck_assert_uint_eq(take(&numbers, LIMIT - 1), 0);
    nt_numbers_deinit(&numbers);
}

/* Against a table that knows of each number whose it is. */
TEST(no_number_has_two_owners, .end = 10)
{
    struct nt_numbers numbers = {.limit = LIMIT};
    bool is_taken[LIMIT] = {false};
    struct {
        uint32_t first, count;
    } owners[MOST_OWNERS] = {{0}};
    uint32_t chance = 12345 + (uint32_t)_i;
    for (unsigned step = 0; step < STEPS; step++) {
        chance = chance * 1664525 + 1013904223;
        uint32_t owner = chance >> 16 & (MOST_OWNERS - 1), count = chance >> 24 & 7;
        for (uint32_t i = 0; i < owners[owner].count; i++)
            is_taken[owners[owner].first + i] = false;
        nt_numbers_give_back(&numbers, owners[owner].first, owners[owner].count);
        owners[owner].count = 0;
        if (!nt_numbers_take(&numbers, count, &owners[owner].first))
            continue;
        owners[owner].count = count;
        for (uint32_t i = 0; i < count; i++) {
            ck_assert(!is_taken[owners[owner].first + i]);
            is_taken[owners[owner].first + i] = true;
        }
    }
    for (uint32_t owner = 0; owner < MOST_OWNERS; owner++)
        nt_numbers_give_back(&numbers, owners[owner].first, owners[owner].count);
    ck_assert_uint_eq(numbers.free_count, 1);
    ck_assert_uint_eq(numbers.free[0].count, numbers.used);
    nt_numbers_deinit(&numbers);
}
