/* SPDX-License-Identifier: MIT
 *
 * Allocating, freeing and reusing ids: no two owners, no gaps, and the smallest possible range.
 */
#include <string.h>

#include "support.h"
#include "vfs/inode.h"

enum { LIMIT = 300, STEPS = 20000, MAX_OWNERS = 64 };

static uint32_t take(struct nt_ida *ids, uint32_t count)
{
    uint32_t first;
    ck_assert(nt_ida_alloc(ids, count, &first));
    return first;
}

TEST(the_lowest_that_are_free_are_given)
{
    struct nt_ida ids = {.limit = LIMIT};
    for (uint32_t i = 0; i < 10; i++)
        ck_assert_uint_eq(take(&ids, 1), i);
    nt_ida_free(&ids, 7, 1);
    nt_ida_free(&ids, 2, 1);
    nt_ida_free(&ids, 4, 1);
    ck_assert_uint_eq(take(&ids, 2), 10); /* no two are consecutive */
    nt_ida_free(&ids, 3, 1);
    ck_assert_uint_eq(ids.free_count, 2);
    ck_assert_uint_eq(take(&ids, 2), 2);
    ck_assert_uint_eq(take(&ids, 1), 4);
    ck_assert_uint_eq(take(&ids, 1), 7);
    ck_assert_uint_eq(take(&ids, 1), 12);
    nt_ida_deinit(&ids);
}

TEST(none_is_given_beyond_the_limit)
{
    struct nt_ida ids = {.limit = LIMIT};
    uint32_t first;
    take(&ids, LIMIT - 1);
    ck_assert(!nt_ida_alloc(&ids, 2, &first));
    ck_assert(!nt_ida_alloc(&ids, UINT32_MAX, &first));
    ck_assert_uint_eq(take(&ids, 1), LIMIT - 1);
    ck_assert(!nt_ida_alloc(&ids, 1, &first));
    take(&ids, 0);
    nt_ida_free(&ids, 0, LIMIT - 1);
    ck_assert_uint_eq(take(&ids, LIMIT - 1), 0);
    nt_ida_deinit(&ids);
}

/* Compares with a table of the owner of each number. */
TEST(no_number_has_two_owners, .end = 10)
{
    struct nt_ida ids = {.limit = LIMIT};
    bool is_taken[LIMIT] = {false};
    struct {
        uint32_t first, count;
    } owners[MAX_OWNERS] = {{0}};
    uint32_t chance = 12345 + (uint32_t)_i;
    for (unsigned step = 0; step < STEPS; step++) {
        chance = chance * 1664525 + 1013904223;
        uint32_t owner = chance >> 16 & (MAX_OWNERS - 1), count = chance >> 24 & 7;
        for (uint32_t i = 0; i < owners[owner].count; i++)
            is_taken[owners[owner].first + i] = false;
        nt_ida_free(&ids, owners[owner].first, owners[owner].count);
        owners[owner].count = 0;
        if (!nt_ida_alloc(&ids, count, &owners[owner].first))
            continue;
        owners[owner].count = count;
        for (uint32_t i = 0; i < count; i++) {
            ck_assert(!is_taken[owners[owner].first + i]);
            is_taken[owners[owner].first + i] = true;
        }
    }
    for (uint32_t owner = 0; owner < MAX_OWNERS; owner++)
        nt_ida_free(&ids, owners[owner].first, owners[owner].count);
    ck_assert_uint_eq(ids.free_count, 1);
    ck_assert_uint_eq(ids.free[0].count, ids.used);
    nt_ida_deinit(&ids);
}
