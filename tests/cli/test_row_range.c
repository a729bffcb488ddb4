/* SPDX-License-Identifier: MIT
 *
 * Parsing ranges of rows, alone and after the name of a dataset.
 */
#include "cli/cli.h"

#include "support.h"

static const struct {
    const char *text;
    struct nt_row_range range;
} ranges[] = {
    {"10:20", {10, 20, false}},
    {"10:", {10, UINT64_MAX, false}},
    {":20", {0, 20, false}},
    {":", {0, UINT64_MAX, false}},
    {"10", {10, 11, true}},
    {"5:5", {5, 5, false}},
    {"18446744073709551615:", {UINT64_MAX, UINT64_MAX, false}},
};

static void assert_range(struct nt_row_range found, struct nt_row_range expected)
{
    ck_assert_uint_eq(found.first, expected.first);
    ck_assert_uint_eq(found.end, expected.end);
    ck_assert(found.is_row == expected.is_row);
}

TEST(a_range_has_a_first_row_and_an_end, .end = sizeof(ranges) / sizeof(*ranges))
{
    struct nt_row_range range;
    size_t length;
    ck_assert(nt_row_range_parse(ranges[_i].text, &range));
    assert_range(range, ranges[_i].range);
    ck_assert(nt_named_row_range_parse(ranges[_i].text, &length, &range) == !ranges[_i].range.is_row);
    ck_assert_uint_eq(length, 0);
}

static const char *const refused[] = {
    "",
    "x",
    "1-2",
    "-1:2",
    "1:-2",
    " 1:2",
    "5:1",
    "6:5",
    "18446744073709551615",
    "1:2:3x",
    "18446744073709551616:",
    "Events",
    "Events:6:3",
    "Events:3",
    ":1:-1",
};

TEST(what_ends_before_it_begins_or_is_no_number_is_no_range, .end = sizeof(refused) / sizeof(*refused))
{
    ck_assert(!nt_is_row_range(refused[_i]));
    ck_assert(!nt_is_named_row_range(refused[_i]));
}

TEST(a_name_may_be_in_front)
{
    struct nt_row_range range;
    size_t length;
    ck_assert(nt_named_row_range_parse("Events:3:6", &length, &range));
    ck_assert_uint_eq(length, 6);
    assert_range(range, (struct nt_row_range){3, 6, false});
    ck_assert(nt_named_row_range_parse("5:3:6", &length, &range));
    ck_assert_uint_eq(length, 1);
    assert_range(range, (struct nt_row_range){3, 6, false});
    ck_assert(!nt_is_row_range("Events:3:6"));
}
