/* SPDX-License-Identifier: MIT
 *
 * Parsing members of objects, compared with RFC 8259.
 */
#include "core/json/parse.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "core/base/memory.h"

static struct nt_error error;

static struct nt_text text_of(const char *string)
{
    return (struct nt_text){string, strlen(string)};
}

static void assert_text(struct nt_text found, const char *expected)
{
    ck_assert_uint_eq(found.length, strlen(expected));
    ck_assert_mem_eq(found.bytes, expected, found.length);
}

TEST(members_come_by_their_keys)
{
    static const char text[] =
        " {\n\"b\" : [1, {\"x\": \"}\"}] ,\"a\\\"\":-1.5e3,\t\"B\":\"\\\\\",\"\": {} }\r\n";
    static const char *const expected[][2] = {
        {"", "{}"}, {"B", "\"\\\\\""}, {"a\\\"", "-1.5e3"}, {"b", "[1, {\"x\": \"}\"}]"}};
    struct nt_json_member *members;
    size_t count;
    assert_ok(nt_json_members_read(text_of(text), &members, &count, &error));
    ck_assert_uint_eq(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_text(members[i].key, expected[i][0]);
        assert_text(members[i].value, expected[i][1]);
    }
    free(members);
}

TEST(an_object_may_be_empty)
{
    struct nt_json_member *members;
    size_t count;
    assert_ok(nt_json_members_read(text_of("{ }"), &members, &count, &error));
    ck_assert_uint_eq(count, 0);
    free(members);
}

static const char *const bad[] = {
    "",
    "[]",
    "1",
    "{",
    "{\"a\"",
    "{\"a\":",
    "{\"a\":1",
    "{\"a\":1,",
    "{a:1}",
    "{\"a\":1,}",
    "{\"a\" 1}",
    "{\"a\":}",
    "{\"a\":[1}x",
    "{\"a\":\"1}",
    "{\"a\":\"\n\"}",
    "{\"a\":1}}",
    "{}{}",
    "{\"a\":[",
    "{\"a\":\"\\",
    "{\"a\":1 2}",
    "{\"a\":1,\"a\":2}",
    "{,}",
    "{\"a\":,\"b\":1}",
    "nonsense",
};

TEST(what_is_no_object_is_refused, .end = sizeof(bad) / sizeof(*bad))
{
    struct nt_json_member *members;
    size_t count;
    assert_status(NT_CORRUPT, nt_json_members_read(text_of(bad[_i]), &members, &count, &error));
}

TEST(numbers_have_64_bits)
{
    uint64_t number = 0;
    ck_assert(nt_json_value_unsigned(text_of("0"), &number) && number == 0);
    ck_assert(nt_json_value_unsigned(text_of("9223372036854775808"), &number) && number == UINT64_C(1) << 63);
    ck_assert(nt_json_value_unsigned(text_of("18446744073709551615"), &number) && number == UINT64_MAX);
    static const char *const others[] = {"",   "18446744073709551616", "-1", "1.0",   "1e3",
                                         "01", "99999999999999999999", "x",  "\"1\"", "true"};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        ck_assert_msg(!nt_json_value_unsigned(text_of(others[i]), &number), "%s", others[i]);
}

TEST(strings_are_without_quotes)
{
    struct nt_text string;
    ck_assert(nt_json_value_string(text_of("\"a b\""), &string));
    assert_text(string, "a b");
    ck_assert(nt_json_value_string(text_of("\"\""), &string));
    assert_text(string, "");
    ck_assert(!nt_json_value_string(text_of("\"\\u0061\""), &string));
    ck_assert(!nt_json_value_string(text_of("1"), &string));
    ck_assert(!nt_json_value_string(text_of("\""), &string));
}

TEST(blanks_are_left_out_but_within_strings)
{
    struct nt_buffer out = {0};
    nt_json_append_compact(text_of("{ \"a b\" :\n[ 1 , \"\\\" \" , null ] }"), &out);
    ck_assert_str_eq(nt_buffer_string(&out), "{\"a b\":[1,\"\\\" \",null]}");
    nt_buffer_deinit(&out);
}
