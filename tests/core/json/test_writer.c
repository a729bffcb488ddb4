/* SPDX-License-Identifier: MIT
 *
 * Documents and lines, read back by jansson: escapes, texts that are not UTF-8, failures.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "core/json/json.h"
#include "support.h"
#include "core/base/memory.h"
#include "core/base/text.h"

static struct nt_buffer out;
static struct nt_json json;

static void setup(void)
{
    out = (struct nt_buffer){0};
    nt_json_init(&json, &out, true);
}

static void teardown(void)
{
    nt_buffer_deinit(&out);
}

TEST(a_document_begins_with_its_schema_and_ends_with_a_newline, .setup = setup, .teardown = teardown)
{
    nt_json_document(&json, &out, "field");
    nt_json_member_unsigned(&json, "id", 7);
    nt_json_key(&json, "list");
    nt_json_array(&json);
    nt_json_signed(&json, -1);
    nt_json_bool(&json, true);
    nt_json_raw(&json, "{\"a\":[]}");
    nt_json_end_array(&json);
    nt_json_key(&json, "empty");
    nt_json_object(&json);
    nt_json_end_object(&json);
    nt_json_finish(&json);
    ck_assert_str_eq(out.bytes,
                     "{\n  \"schema\": \"ntuplefs.field/1\",\n  \"id\": 7,\n  \"list\": [\n    -1,\n"
                     "    true,\n    {\"a\":[]}\n  ],\n  \"empty\": {}\n}\n");
}

TEST(a_line_is_compact, .setup = setup, .teardown = teardown)
{
    nt_json_line(&json, &out);
    nt_json_member_unsigned(&json, "a", UINT64_MAX);
    nt_json_member_signed(&json, "b", INT64_MIN);
    nt_json_member_double(&json, "c", 0.5);
    nt_json_member_null(&json, "d");
    nt_json_member_hex64(&json, "e", 0xABCu);
    nt_json_member_string(&json, "f", NULL);
    nt_json_finish(&json);
    ck_assert_str_eq(out.bytes, "{\"a\":18446744073709551615,\"b\":-9223372036854775808,\"c\":0.5,\"d\":null,"
                                "\"e\":\"0000000000000abc\",\"f\":null}\n");
}

TEST(numbers_that_are_not_finite_are_strings, .setup = setup, .teardown = teardown)
{
    nt_json_array(&json);
    nt_json_double(&json, NAN);
    nt_json_double(&json, INFINITY);
    nt_json_float(&json, -INFINITY);
    nt_json_end_array(&json);
    ck_assert_str_eq(out.bytes, "[\"NaN\",\"Infinity\",\"-Infinity\"]");
}

TEST(control_characters_quotes_and_backslashes_are_escaped, .setup = setup, .teardown = teardown)
{
    nt_json_bytes(&json, "a\"b\\c\n\r\t\x01\x7f\xc2\x85\0z", 14);
    ck_assert_str_eq(out.bytes, "\"a\\\"b\\\\c\\n\\r\\t\\u0001\\u007f\\u0085\\u0000z\"");
}

TEST(bytes_that_are_not_utf8_become_lone_surrogates, .setup = setup, .teardown = teardown)
{
    nt_json_bytes(&json, "\xff\xc3\xa9\xe2\x82", 5);
    ck_assert_str_eq(out.bytes, "\"\\udcff\xc3\xa9\\udce2\\udc82\"");
}

TEST(a_string_without_bytes_needs_none, .setup = setup, .teardown = teardown)
{
    nt_json_bytes(&json, NULL, 0);
    ck_assert_str_eq(out.bytes, "\"\"");
}

TEST(a_text_that_is_not_utf8_is_given_as_hex, .setup = setup, .teardown = teardown)
{
    nt_json_line(&json, &out);
    nt_json_member_text(&json, "name", nt_text_of("pt"));
    nt_json_member_text(&json, "name", (struct nt_text){"\xff\x00", 2});
    nt_json_finish(&json);
    ck_assert_str_eq(out.bytes, "{\"name\":\"pt\",\"name_hex\":\"ff00\"}\n");
}

TEST(every_text_of_one_and_two_characters_reads_back, .setup = setup, .teardown = teardown)
{
    for (uint32_t code_point = 1; code_point < 0x3000; code_point++) {
        char text[8];
        size_t length = 0;
        if (code_point < 0x80)
            text[length++] = (char)code_point;
        else if (code_point < 0x800) {
            text[length++] = (char)(0xC0 | code_point >> 6);
            text[length++] = (char)(0x80 | (code_point & 0x3F));
        } else {
            text[length++] = (char)(0xE0 | code_point >> 12);
            text[length++] = (char)(0x80 | (code_point >> 6 & 0x3F));
            text[length++] = (char)(0x80 | (code_point & 0x3F));
        }
        text[length] = '\0';
        nt_buffer_clear(&out);
        nt_json_line(&json, &out);
        nt_json_key_bytes(&json, text, length);
        nt_json_string(&json, text);
        nt_json_finish(&json);
        json_error_t problem;
        json_t *read = json_loadb(out.bytes, out.length, 0, &problem);
        ck_assert_msg(read != NULL, "U+%04X: %s", code_point, problem.text);
        ck_assert_str_eq(json_string_value(json_object_get(read, text)), text);
        json_decref(read);
    }
}

TEST(a_buffer_becomes_a_string_and_is_emptied, .setup = setup, .teardown = teardown)
{
    struct nt_buffer text = {0}, empty = {0};
    nt_json_line(&json, &out);
    nt_buffer_append_string(&text, "a\"b");
    nt_json_member_buffer(&json, "member", &text);
    nt_json_key(&json, "value");
    nt_json_buffer(&json, &empty);
    nt_json_member_format(&json, "made", "%s.%u", "\\", 7u);
    nt_json_finish(&json);
    ck_assert_str_eq(out.bytes, "{\"member\":\"a\\\"b\",\"value\":\"\",\"made\":\"\\\\.7\"}\n");
    ck_assert(!text.bytes && !out.failed);
}

TEST(the_failure_of_a_buffer_is_the_documents, .setup = setup, .teardown = teardown)
{
    struct nt_buffer text = {.failed = true};
    nt_json_line(&json, &out);
    nt_json_member_buffer(&json, "member", &text);
    ck_assert(out.failed);
}

TEST(nesting_deeper_than_the_bound_fails_and_stays_within_memory, .setup = setup, .teardown = teardown)
{
    for (int i = 0; i < 2 * NT_JSON_MAX_DEPTH; i++)
        nt_json_array(&json);
    ck_assert(out.failed);
}

TEST(closing_more_than_was_opened_fails, .setup = setup, .teardown = teardown)
{
    nt_json_end_array(&json);
    ck_assert(out.failed);
}
