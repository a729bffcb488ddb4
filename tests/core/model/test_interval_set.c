/* SPDX-License-Identifier: MIT
 *
 * The size of the union of ranges, compared with one byte per position.
 */
#include <stdlib.h>

#include "core/model/budget.h"
#include "support.h"

enum { PLACES = 1000, RANGES = 20000 };

TEST(what_is_new_of_ranges_is_what_no_other_has)
{
    bool seen[PLACES] = {false};
    struct nt_interval_set covered = {0};
    srand(7);
    for (unsigned i = 0; i < RANGES; i++) {
        uint64_t first = (uint64_t)rand() % PLACES, bytes = (uint64_t)rand() % (i % 50 + 2), added = 0;
        bytes = bytes < PLACES - first ? bytes : PLACES - first;
        for (uint64_t k = first; k < first + bytes; k++) {
            added += !seen[k];
            seen[k] = true;
        }
        ck_assert_uint_eq(nt_interval_set_add(&covered, first, bytes), added);
        for (size_t k = 1; k < covered.count; k++)
            ck_assert_uint_lt(covered.ranges[k - 1].end, covered.ranges[k].first);
        if (i % 100 == 99 && covered.count <= 1) { /* start again */
            nt_interval_set_deinit(&covered);
            for (unsigned k = 0; k < PLACES; k++)
                seen[k] = false;
        }
    }
    nt_interval_set_deinit(&covered);
}

TEST(a_range_that_leaves_64_bits_is_none)
{
    struct nt_interval_set covered = {0};
    ck_assert_uint_eq(nt_interval_set_add(&covered, UINT64_MAX, 2), 0);
    ck_assert_uint_eq(nt_interval_set_add(&covered, UINT64_MAX - 2, 2), 2);
    nt_interval_set_deinit(&covered);
}

/* From the last to the first: ranges that would take long are not counted; ranges in order all are. */
TEST(many_ranges_take_no_time_in_any_order)
{
    enum { MANY = 300000, COUNTED = 1 << 14 };
    struct nt_interval_set up = {0}, down = {0};
    uint64_t new_up = 0, new_down = 0;
    for (uint64_t i = 0; i < MANY; i++) {
        new_up += nt_interval_set_add(&up, 10 * i, 1);
        new_down += nt_interval_set_add(&down, 10 * (MANY - i), 1);
    }
    ck_assert_uint_eq(new_up, MANY);
    ck_assert_uint_ge(new_down, COUNTED);
    ck_assert_uint_le(new_down, COUNTED + 1);
    nt_interval_set_deinit(&up);
    nt_interval_set_deinit(&down);
}
