/* SPDX-License-Identifier: MIT
 *
 * The growing buffer.
 */
#include <string.h>

#include "core/base/memory.h"
#include "support.h"

TEST(what_is_appended_is_in_order_and_is_terminated)
{
    struct nt_buffer buffer = {0};
    nt_buffer_append_string(&buffer, "one");
    nt_buffer_append_byte(&buffer, ' ');
    nt_buffer_append(&buffer, "two\0three", 9);
    nt_buffer_append_format(&buffer, " %d-%s", 4, "five");
    ck_assert_uint_eq(buffer.length, strlen("one two") + 1 + strlen("three 4-five"));
    ck_assert_mem_eq(buffer.bytes, "one two\0three 4-five", buffer.length + 1);
    ck_assert(!buffer.failed);
    nt_buffer_deinit(&buffer);
    ck_assert_ptr_null(buffer.bytes);
    ck_assert_uint_eq(buffer.length, 0);
}

/* Lengths around the capacities of a growing buffer. */
TEST(growing_keeps_what_was_there, .end = 300)
{
    struct nt_buffer buffer = {0};
    for (int i = 0; i < _i; i++)
        nt_buffer_append_byte(&buffer, (char)(i % 251));
    ck_assert_uint_eq(buffer.length, (size_t)_i);
    for (int i = 0; i < _i; i++)
        ck_assert_int_eq((unsigned char)buffer.bytes[i], i % 251);
    nt_buffer_append_format(&buffer, "%0*d", _i, 7);
    ck_assert_uint_eq(buffer.length, (size_t)_i + (_i ? (size_t)_i : 1));
    ck_assert_int_eq(buffer.bytes[buffer.length - 1], '7');
    ck_assert_int_eq(buffer.bytes[buffer.length], '\0');
    nt_buffer_deinit(&buffer);
}

TEST(room_counts_as_appended)
{
    struct nt_buffer buffer = {0};
    nt_buffer_append_string(&buffer, "ab");
    uint8_t *room = nt_buffer_extend(&buffer, 3);
    ck_assert_ptr_nonnull(room);
    memcpy(room, "cde", 3);
    ck_assert_str_eq(buffer.bytes, "abcde");
    nt_buffer_deinit(&buffer);
}

TEST(appending_nothing_is_allowed)
{
    struct nt_buffer buffer = {0};
    nt_buffer_append(&buffer, NULL, 0);
    nt_buffer_append_string(&buffer, "");
    ck_assert_uint_eq(buffer.length, 0);
    ck_assert(!buffer.failed);
    ck_assert_str_eq(buffer.bytes, "");
    nt_buffer_deinit(&buffer);
}

TEST(a_failure_stays_until_it_is_cleared)
{
    struct nt_buffer buffer = {0};
    nt_buffer_append_string(&buffer, "before");
    ck_assert_ptr_null(nt_buffer_extend(&buffer, SIZE_MAX));
    ck_assert(buffer.failed);
    nt_buffer_append_string(&buffer, "after");
    nt_buffer_append_format(&buffer, "%d", 1);
    ck_assert_str_eq(buffer.bytes, "before");
    ck_assert_uint_eq(buffer.length, 6);
    nt_buffer_clear(&buffer);
    ck_assert(!buffer.failed);
    nt_buffer_append_string(&buffer, "again");
    ck_assert_str_eq(buffer.bytes, "again");
    nt_buffer_deinit(&buffer);
}

TEST(a_buffer_that_fits_holds_the_same_and_can_grow_again)
{
    struct nt_buffer buffer = {0};
    nt_buffer_fit(&buffer);
    ck_assert_str_eq(nt_buffer_string(&buffer), "");
    nt_buffer_append_string(&buffer, "a few bytes");
    ck_assert_uint_gt(buffer.capacity, 12);
    nt_buffer_fit(&buffer);
    ck_assert_uint_eq(buffer.capacity, 12);
    nt_buffer_append_string(&buffer, " more");
    ck_assert_str_eq(nt_buffer_string(&buffer), "a few bytes more");
    nt_buffer_deinit(&buffer);
}

TEST(what_is_taken_is_a_text_and_leaves_nothing)
{
    struct nt_buffer buffer = {0};
    char *text = nt_buffer_take(&buffer);
    ck_assert_str_eq(text, "");
    free(text);
    nt_buffer_append_string(&buffer, "kept");
    text = nt_buffer_take(&buffer);
    ck_assert_str_eq(text, "kept");
    ck_assert_ptr_null(buffer.bytes);
    free(text);
    nt_buffer_append_string(&buffer, "lost");
    buffer.failed = true;
    ck_assert_ptr_null(nt_buffer_take(&buffer));
    ck_assert(!buffer.failed);
}
