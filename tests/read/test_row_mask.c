/* SPDX-License-Identifier: MIT
 *
 * Deleted rows, by hand: of ten rows the third, the fourth and the eighth; with fields of several elements
 * per row, and with lists.
 */
#include "read/read.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "core/base/error.h"
#include "core/model/model.h"

enum { STORED = 10, RUNS = 2, CALLS = 2 * RUNS + 1 };

static struct nt_error error;
static struct nt_deletion_run items[] = {{2, 2}, {7, 5}, {10, 7}};
static const struct nt_deletion_vector deletions = {.items = items, .count = RUNS};
static const struct nt_row_mask rows = {.deletions = &deletions, .per_row = 1};

static void assert_items(const struct nt_deletion_vector *found, const struct nt_deletion_run *expected)
{
    ck_assert_uint_eq(found->count, RUNS);
    for (unsigned i = 0; i <= RUNS; i++) {
        ck_assert_uint_eq(found->items[i].first, expected[i].first);
        ck_assert_uint_eq(found->items[i].kept, expected[i].kept);
    }
}

TEST(rows_that_are_kept_are_found_where_they_are_stored)
{
    static const uint64_t physical[] = {0, 1, 4, 5, 6, 8, 9}, left[] = {2, 1, 3, 2, 1, 2, 1};
    for (uint64_t row = 0; row < sizeof(physical) / sizeof(*physical); row++) {
        struct nt_kept_run kept = nt_deletion_vector_find_kept(&deletions, row);
        ck_assert_uint_eq(kept.physical, physical[row]);
        ck_assert_uint_eq(kept.count, left[row]);
    }
    struct nt_kept_run kept = nt_deletion_vector_find_kept(&deletions, 0);
    ck_assert(nt_deletion_vector_next_kept(&deletions, &kept));
    ck_assert(kept.physical == 4 && kept.count == 3);
    ck_assert(nt_deletion_vector_next_kept(&deletions, &kept));
    ck_assert(kept.physical == 8 && kept.count == 2);
    ck_assert(!nt_deletion_vector_next_kept(&deletions, &kept));
}

TEST(each_row_may_have_several_elements)
{
    enum { FACTOR = 3 };
    struct nt_row_mask mask = {.deletions = &deletions, .per_row = 1};
    assert_ok(nt_row_mask_multiply(&mask, FACTOR, &error));
    ck_assert_uint_eq(nt_row_mask_physical(&mask), 30);
    ck_assert_uint_eq(nt_row_mask_kept(&mask), 21);
    for (uint64_t element = 0; element < 21; element++) {
        struct nt_kept_run row = nt_deletion_vector_find_kept(&deletions, element / FACTOR);
        struct nt_kept_run found = nt_row_mask_kept_from(&mask, element);
        ck_assert_uint_eq(found.number, row.number);
        ck_assert_uint_eq(found.physical, FACTOR * row.physical + element % FACTOR);
        ck_assert_uint_eq(found.count, FACTOR * row.count - element % FACTOR);
        ck_assert_uint_eq(nt_row_mask_before(&mask, found.physical), element);
    }
    assert_ok(nt_row_mask_check(&mask, 30, &error));
    assert_status(NT_CORRUPT, nt_row_mask_check(&mask, 29, &error));
    mask.per_row = 1;
    assert_ok(nt_row_mask_multiply(&mask, UINT64_MAX / STORED, &error));
    mask.per_row = 1;
    assert_status(NT_LIMIT, nt_row_mask_multiply(&mask, UINT64_MAX / STORED + 1, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "the number of elements overflows"));
}

/* Row i has i items; call number `changed` returns another end, or fails. */
struct getting {
    unsigned calls, changed; /* counted from 1; 0: none */
    enum nt_status status;
    uint64_t end, last;
};

static enum nt_status get_end(void *context, uint64_t row, uint64_t *end_ret, struct nt_error *failure)
{
    struct getting *getting = context;
    ck_assert_uint_ge(row, getting->last); /* in ascending order */
    getting->last = row;
    *end_ret = row ? row * (row - 1) / 2 : 0;
    if (++getting->calls != getting->changed)
        return NT_OK;
    *end_ret = getting->end;
    return getting->status == NT_OK ? NT_OK : nt_fail(failure, getting->status, NT_NO_OFFSET, "no end");
}

TEST(items_go_with_their_rows)
{
    struct nt_deletion_vector *mapped;
    struct getting getting = {0};
    assert_ok(nt_row_mask_map(&rows, get_end, &getting, &mapped, &error));
    ck_assert_uint_eq(getting.calls, CALLS);
    assert_items(mapped, (const struct nt_deletion_run[]){{1, 1}, {21, 16}, {45, 33}});
    free(mapped);
}

TEST(ends_that_decrease_are_corrupt)
{
    for (unsigned call = 2; call <= CALLS; call++) {
        struct nt_deletion_vector *mapped = NULL;
        struct getting getting = {.changed = call};
        assert_status(NT_CORRUPT, nt_row_mask_map(&rows, get_end, &getting, &mapped, &error));
        ck_assert_ptr_nonnull(strstr(error.message, "the index decreases within its cluster"));
        ck_assert_ptr_null(mapped);
    }
}

TEST(an_end_that_cannot_be_reported_is_the_failure)
{
    for (unsigned call = 1; call <= CALLS; call++) {
        struct nt_deletion_vector *mapped = NULL;
        struct getting getting = {.changed = call, .status = NT_CHECKSUM};
        assert_status(NT_CHECKSUM, nt_row_mask_map(&rows, get_end, &getting, &mapped, &error));
        ck_assert_str_eq(error.message, "no end");
        ck_assert_uint_eq(getting.calls, call);
        ck_assert_ptr_null(mapped);
    }
}
