/* SPDX-License-Identifier: MIT
 *
 * Errors as values.
 */
#include <errno.h>
#include <string.h>

#include "support.h"

static struct nt_error error;

TEST(every_status_has_a_name_of_its_own)
{
    for (int a = NT_OK; a <= NT_INCOMPATIBLE; a++) {
        ck_assert_str_ne(nt_status_name((enum nt_status)a), "unknown");
        for (int b = NT_OK; b < a; b++)
            ck_assert_str_ne(nt_status_name((enum nt_status)a), nt_status_name((enum nt_status)b));
    }
    ck_assert_str_eq(nt_status_name((enum nt_status)(NT_INCOMPATIBLE + 1)), "unknown");
    ck_assert_str_eq(nt_status_name((enum nt_status) - 1), "unknown");
}

TEST(a_failure_says_status_place_and_message)
{
    ck_assert_int_eq(nt_fail(&error, NT_CORRUPT, 4096, "page %d is bad", 7), NT_CORRUPT);
    ck_assert_int_eq(error.status, NT_CORRUPT);
    ck_assert_uint_eq(error.offset, 4096);
    ck_assert_str_eq(error.message, "page 7 is bad (at byte 4096)");
    ck_assert_str_eq(error.expected, "");
    nt_fail(&error, NT_LIMIT, NT_NO_OFFSET, "too much");
    ck_assert_str_eq(error.message, "too much");
}

TEST(a_mismatch_keeps_both_sides)
{
    ck_assert_int_eq(nt_fail_mismatch(&error, NT_CHECKSUM, 10, "xxh3-64", "0x1", "0x2"), NT_CHECKSUM);
    ck_assert_str_eq(error.message, "xxh3-64: expected 0x1, found 0x2 (at byte 10)");
    ck_assert_str_eq(error.expected, "0x1");
    ck_assert_str_eq(error.found, "0x2");
    ck_assert_int_eq(nt_fail_number(&error, NT_CORRUPT, NT_NO_OFFSET, "length", UINT64_MAX, 0), NT_CORRUPT);
    ck_assert_str_eq(error.message, "length: expected 18446744073709551615, found 0");
    ck_assert_str_eq(error.expected, "18446744073709551615");
    ck_assert_str_eq(error.found, "0");
}

TEST(the_system_s_errors_become_ours, .end = 5)
{
    static const struct {
        int system_error;
        enum nt_status status;
    } rows[] = {{EIO, NT_IO},
                {EACCES, NT_IO},
                {ENOENT, NT_NOT_FOUND},
                {ENOTDIR, NT_NOT_FOUND},
                {ENOMEM, NT_NO_MEMORY}};
    ck_assert_int_eq(nt_fail_system(&error, rows[_i].system_error, "%s", "file"), rows[_i].status);
    ck_assert_int_eq(error.system_error, rows[_i].system_error);
    ck_assert_uint_eq(error.offset, NT_NO_OFFSET);
    ck_assert_str_eq(strchr(error.message, ':') + 2, strerror(rows[_i].system_error));
}

TEST(an_error_of_no_interest_gives_the_status_only)
{
    ck_assert_int_eq(nt_fail(NULL, NT_CORRUPT, 0, "x"), NT_CORRUPT);
    ck_assert_int_eq(nt_fail_mismatch(NULL, NT_CHECKSUM, 0, "x", "y", "z"), NT_CHECKSUM);
    ck_assert_int_eq(nt_fail_number(NULL, NT_LIMIT, 0, "x", 1, 2), NT_LIMIT);
    ck_assert_int_eq(nt_fail_system(NULL, ENOENT, "x"), NT_NOT_FOUND);
    ck_assert_int_eq(nt_fail_memory(NULL), NT_NO_MEMORY);
    nt_error_context(NULL, "x");
}

TEST(a_failure_can_be_reported_again)
{
    struct nt_error again = {0};
    nt_fail_number(&error, NT_CORRUPT, 5, "length", 1, 2);
    ck_assert_int_eq(nt_fail_copy(&again, &error), NT_CORRUPT);
    ck_assert_mem_eq(&again, &error, sizeof(error));
    ck_assert_int_eq(nt_fail_copy(NULL, &error), NT_CORRUPT);
}

TEST(context_goes_in_front_and_keeps_the_rest)
{
    nt_fail_number(&error, NT_CORRUPT, 5, "length", 1, 2);
    nt_error_context(&error, "column %d", 3);
    ck_assert_str_eq(error.message, "column 3: length: expected 1, found 2 (at byte 5)");
    ck_assert_int_eq(error.status, NT_CORRUPT);
    ck_assert_uint_eq(error.offset, 5);
    ck_assert_str_eq(error.expected, "1");
}

TEST(a_message_says_whether_it_is_about_a_subject)
{
    ck_assert_str_eq(nt_message_about("a/b: broken: badly", "a/b"), "broken: badly");
    ck_assert_str_eq(nt_message_about("a: ", "a"), "");
    ck_assert_ptr_null(nt_message_about("a/bc: broken", "a/b"));
    ck_assert_ptr_null(nt_message_about("a:b", "a"));
    ck_assert_ptr_null(nt_message_about("a", "a"));
    ck_assert_ptr_null(nt_message_about(": broken", ""));
    nt_fail(&error, NT_CORRUPT, NT_NO_OFFSET, "a/b: broken");
    nt_error_strip(&error, "b");
    ck_assert_str_eq(error.message, "a/b: broken");
    nt_error_strip(&error, "a/b");
    ck_assert_str_eq(error.message, "broken");
    nt_error_strip(NULL, "a/b");
}

TEST(long_messages_are_cut_and_stay_texts)
{
    char text[2000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    nt_fail(&error, NT_CORRUPT, 77, "%s", text);
    ck_assert_uint_eq(strlen(error.message), sizeof(error.message) - 1);
    nt_error_context(&error, "%s", text);
    ck_assert_uint_lt(strlen(error.message), sizeof(error.message));
    ck_assert_uint_gt(strlen(error.message), sizeof(error.message) / 2);
    nt_fail_mismatch(&error, NT_CORRUPT, 77, "w", text, text);
    ck_assert_uint_eq(strlen(error.expected), sizeof(error.expected) - 1);
    ck_assert_uint_eq(strlen(error.found), sizeof(error.found) - 1);
}
