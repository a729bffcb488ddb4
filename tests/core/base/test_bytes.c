/* SPDX-License-Identifier: MIT
 *
 * The bounds-checked reader.
 */
#include "core/base/bytes.h"
#include "support.h"

static const uint8_t bytes[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09};

TEST(numbers_are_read_in_the_requested_byte_order)
{
    struct nt_cursor cursor = nt_cursor(bytes, sizeof(bytes));
    ck_assert_uint_eq(nt_get_le16(&cursor), 0x0201);
    ck_assert_uint_eq(nt_get_be16(&cursor), 0x0304);
    ck_assert_uint_eq(nt_get_be32(&cursor), 0x05060708);
    cursor = nt_cursor(bytes, sizeof(bytes));
    ck_assert_uint_eq(nt_get_le32(&cursor), 0x04030201);
    cursor = nt_cursor(bytes, sizeof(bytes));
    ck_assert_uint_eq(nt_get_le64(&cursor), 0x0807060504030201);
    ck_assert_uint_eq(nt_get_u8(&cursor), 9);
    ck_assert_uint_eq(nt_cursor_left(&cursor), 0);
    cursor = nt_cursor(bytes + 1, sizeof(bytes) - 1);
    ck_assert_uint_eq(nt_get_be64(&cursor), 0x0203040506070809);
    ck_assert(!cursor.failed);
}

TEST(the_high_bit_does_not_spread)
{
    const uint8_t high[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    ck_assert_uint_eq(nt_load_le16(high), 0xffff);
    ck_assert_uint_eq(nt_load_le32(high), 0xffffffff);
    ck_assert_uint_eq(nt_load_le64(high), UINT64_MAX);
    ck_assert_uint_eq(nt_load_be16(high), 0xffff);
    ck_assert_uint_eq(nt_load_be32(high), 0xffffffff);
    ck_assert_uint_eq(nt_load_be64(high), UINT64_MAX);
}

TEST(a_real_number_keeps_its_bits)
{
    const uint8_t minus_two[] = {0, 0, 0, 0, 0, 0, 0, 0xc0};
    struct nt_cursor cursor = nt_cursor(minus_two, sizeof(minus_two));
    ck_assert_double_eq(nt_get_le_real64(&cursor), -2.0);
}

/* Every reader, with one byte less than it needs. */
TEST(a_read_past_the_end_gives_zero_and_fails_for_good, .end = 8)
{
    static const size_t widths[] = {1, 2, 4, 8, 2, 4, 8, 8};
    struct nt_cursor cursor = nt_cursor(bytes, widths[_i] - 1);
    uint64_t value = 1;
    switch (_i) {
    case 0:
        value = nt_get_u8(&cursor);
        break;
    case 1:
        value = nt_get_le16(&cursor);
        break;
    case 2:
        value = nt_get_le32(&cursor);
        break;
    case 3:
        value = nt_get_le64(&cursor);
        break;
    case 4:
        value = nt_get_be16(&cursor);
        break;
    case 5:
        value = nt_get_be32(&cursor);
        break;
    case 6:
        value = nt_get_be64(&cursor);
        break;
    case 7:
        value = nt_get_le_real64(&cursor) != 0;
        break;
    }
    ck_assert_uint_eq(value, 0);
    ck_assert(cursor.failed);
    ck_assert_uint_eq(nt_cursor_left(&cursor), 0);
    ck_assert_uint_eq(nt_get_u8(&cursor), 0);
    ck_assert(!nt_cursor_skip(&cursor, 0));
    ck_assert_ptr_null(nt_get_bytes(&cursor, 0));
}

TEST(skipping_is_bounded_also_by_counts_that_do_not_fit_into_memory)
{
    struct nt_cursor cursor = nt_cursor(bytes, sizeof(bytes));
    ck_assert(nt_cursor_skip(&cursor, 4));
    ck_assert_uint_eq(nt_get_u8(&cursor), 5);
    ck_assert(nt_cursor_skip(&cursor, 4));
    ck_assert(nt_cursor_skip(&cursor, 0));
    ck_assert(!nt_cursor_skip(&cursor, 1));
    cursor = nt_cursor(bytes, sizeof(bytes));
    nt_get_u8(&cursor);
    ck_assert(!nt_cursor_skip(&cursor, UINT64_MAX));
    cursor = nt_cursor(bytes, sizeof(bytes));
    nt_get_u8(&cursor);
    ck_assert_ptr_null(nt_get_bytes(&cursor, SIZE_MAX));
    ck_assert(cursor.failed);
}

TEST(a_part_ends_where_it_was_cut_and_leaves_the_rest)
{
    struct nt_cursor cursor = nt_cursor(bytes, sizeof(bytes));
    struct nt_cursor part = nt_get_cursor(&cursor, 3);
    ck_assert_uint_eq(nt_cursor_left(&part), 3);
    ck_assert_uint_eq(nt_get_le16(&part), 0x0201);
    ck_assert_uint_eq(nt_get_le16(&part), 0);
    ck_assert(part.failed);
    ck_assert(!cursor.failed);
    ck_assert_uint_eq(nt_get_u8(&cursor), 4);
}

TEST(a_part_that_does_not_fit_fails_on_both_sides)
{
    struct nt_cursor cursor = nt_cursor(bytes, sizeof(bytes));
    struct nt_cursor part = nt_get_cursor(&cursor, sizeof(bytes) + 1);
    ck_assert(part.failed);
    ck_assert(cursor.failed);
    ck_assert_uint_eq(nt_cursor_left(&part), 0);
}

static struct {
    size_t position, count;
    const char *whole, *what;
} labels[8];
static unsigned label_count;

static void note(struct nt_cursor_observer *observer, size_t position, size_t count, const char *whole,
                 const char *what)
{
    labels[label_count].position = position;
    labels[label_count].count = count;
    labels[label_count].whole = whole;
    labels[label_count++].what = what;
}

TEST(an_observer_gets_what_was_read_since_the_last_time)
{
    struct nt_cursor_observer observer = {.label = note};
    struct nt_cursor cursor = nt_cursor(bytes, sizeof(bytes));
    label_count = 0;
    nt_get_u8(&cursor);
    nt_cursor_label(&cursor, "nobody", "listens");
    cursor.observer = &observer;
    cursor.labelled = cursor.position;
    nt_get_u8(&cursor);
    nt_get_u8(&cursor);
    nt_cursor_label(&cursor, "record", "two");
    nt_cursor_label(&cursor, "record", "nothing");
    struct nt_cursor part = nt_get_cursor(&cursor, 2);
    nt_get_u8(&cursor);
    nt_cursor_label(&cursor, "record", "behind the part");
    nt_get_u8(&part);
    nt_cursor_label(&part, "part", "first");
    nt_get_le32(&part);
    nt_cursor_label(&part, "part", "too many");
    static const size_t positions[] = {1, 5, 3}, counts[] = {2, 1, 1};
    ck_assert_uint_eq(label_count, 3);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_eq(labels[i].position, positions[i]);
        ck_assert_uint_eq(labels[i].count, counts[i]);
        ck_assert_str_eq(labels[i].whole, i < 2 ? "record" : "part");
    }
    ck_assert_str_eq(labels[1].what, "behind the part");
}

TEST(nothing_can_be_read_from_nothing)
{
    struct nt_cursor cursor = nt_cursor(NULL, 0);
    ck_assert_uint_eq(nt_cursor_left(&cursor), 0);
    ck_assert_uint_eq(nt_get_le64(&cursor), 0);
    ck_assert(cursor.failed);
}
