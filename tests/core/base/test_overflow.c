/* SPDX-License-Identifier: MIT
 *
 * Checked arithmetic at the limits of the types.
 */
#include "core/base/bytes.h"
#include "support.h"

#define HALF (UINT64_C(1) << 63)

TEST(sums_that_fit_are_given_and_others_refused, .end = 6)
{
    static const struct {
        uint64_t a, b;
        bool fits;
    } rows[] = {{0, 0, true},           {UINT64_MAX, 0, true}, {0, UINT64_MAX, true},
                {UINT64_MAX, 1, false}, {HALF, HALF, false},   {HALF, HALF - 1, true}};
    uint64_t sum = 0;
    ck_assert(nt_checked_add(rows[_i].a, rows[_i].b, &sum) == rows[_i].fits);
    if (rows[_i].fits)
        ck_assert_uint_eq(sum - rows[_i].b, rows[_i].a);
}

TEST(products_that_fit_are_given_and_others_refused, .end = 5)
{
    static const struct {
        uint64_t a, b, product;
        bool fits;
    } rows[] = {{0, UINT64_MAX, 0, true},
                {UINT64_MAX, 1, UINT64_MAX, true},
                {HALF, 2, 0, false},
                {UINT32_MAX, UINT32_MAX, UINT64_C(0xfffffffe00000001), true},
                {UINT64_C(1) << 32, UINT64_C(1) << 32, 0, false}};
    uint64_t product = 0;
    ck_assert(nt_checked_multiply(rows[_i].a, rows[_i].b, &product) == rows[_i].fits);
    if (rows[_i].fits)
        ck_assert_uint_eq(product, rows[_i].product);
}

TEST(a_range_fits_where_its_end_does, .end = 9)
{
    static const struct {
        uint64_t offset, bytes, size;
        bool fits;
    } rows[] = {{0, 0, 0, true},
                {0, 1, 0, false},
                {1, 0, 0, false},
                {10, 0, 10, true},
                {9, 1, 10, true},
                {9, 2, 10, false},
                {UINT64_MAX, 2, 10, false},
                {5, UINT64_MAX, 10, false},
                {1, UINT64_MAX - 1, UINT64_MAX, true}};
    ck_assert(nt_range_fits(rows[_i].offset, rows[_i].bytes, rows[_i].size) == rows[_i].fits);
}
