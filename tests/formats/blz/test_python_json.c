/* SPDX-License-Identifier: MIT
 *
 * JSON as Python writes it: what is quoted, read, and written again.
 */
#include <string.h>

#include "formats/blz/blz.h"
#include "support.h"
#include "core/base/memory.h"
#include "core/json/json.h"
#include "core/model/budget.h"

static struct nt_error error;
static struct nt_budget budget = {.is_fixed = true, .limit = UINT64_MAX};

static const struct {
    const char *text, *quoted;
} pairs[] = {
    {"{\"dflt\": NaN}", "{\"dflt\": \"NaN\"}"},
    {"[NaN,Infinity,-Infinity, -1]", "[\"NaN\",\"Infinity\",\"-Infinity\", -1]"},
    {"{\"NaN\": \"a NaN \\\" NaN\"}", "{\"NaN\": \"a NaN \\\" NaN\"}"},
    {"\"ends in a backslash \\\\\" NaN", "\"ends in a backslash \\\\\" \"NaN\""},
    {"[18446744073709551615]", "[\"\\u000118446744073709551615\"]"},
    {"[999999999999999999, 1e400000000000000000]", "[999999999999999999, 1e400000000000000000]"},
    {"\"never ends NaN", "\"never ends NaN"},
    {"\"never ends \\", "\"never ends \\"},
    {"", ""},
};

TEST(only_bare_words_and_long_integers_are_quoted, .end = sizeof(pairs) / sizeof(*pairs))
{
    struct nt_buffer out = {0};
    uint64_t values;
    assert_ok(nt_blz_json_quote(pairs[_i].text, strlen(pairs[_i].text), &out, &values, &error));
    ck_assert_str_eq(out.bytes ? out.bytes : "", pairs[_i].quoted);
    nt_buffer_deinit(&out);
}

static void check_written(const char *text, const char *expected)
{
    json_t *value;
    struct nt_buffer out = {0};
    struct nt_json json;
    assert_ok(nt_blz_json_parse(text, strlen(text), &budget, &value, &error));
    nt_json_init(&json, &out, true);
    nt_blz_json_write(&json, value);
    ck_assert_str_eq(out.bytes, expected);
    nt_buffer_deinit(&out);
    json_decref(value);
}

TEST(what_was_read_is_written_again)
{
    check_written("{\"a\": [1, -2, 0.5, true, null], \"caf\\u00e9\": \"x\"}",
                  "{\"a\":[1,-2,0.5,true,null],\"café\":\"x\"}");
    check_written("[18446744073709551615, -9223372036854775808]",
                  "[18446744073709551615,-9223372036854775808]");
    check_written("[123456789012345678901234567890]", "[\"123456789012345678901234567890\"]");
    check_written("[NaN]", "[\"NaN\"]");
    check_written("[\"\", \"\\u0001\", \"\\u0001x\"]", "[\"\",\"\\u0001\",\"\\u0001x\"]");
}

TEST(white_space_alone_is_an_empty_object)
{
    json_t *value;
    assert_ok(nt_blz_json_parse(" \n", 2, &budget, &value, &error));
    ck_assert(json_is_object(value) && json_object_size(value) == 0);
    json_decref(value);
}

TEST(what_is_no_JSON_is_refused)
{
    static const char *const texts[] = {"{", "{\"a\" 1}", "nan", "[1,]", "\"\\ud800\"", "{\"a\":1} x"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        json_t *value;
        assert_status(NT_CORRUPT, nt_blz_json_parse(texts[i], strlen(texts[i]), &budget, &value, &error));
    }
}

TEST(nesting_has_a_bound)
{
    char text[100000];
    json_t *value;
    memset(text, '[', sizeof(text));
    assert_status(NT_LIMIT, nt_blz_json_parse(text, sizeof(text), &budget, &value, &error));
}

TEST(what_values_become_is_bounded)
{
    static const struct {
        const char *text;
        uint64_t values;
    } cases[] = {
        {"[]", 1}, {"[{},{} , {}]", 4}, {"{\"a\": [1, -2, true, NaN]}", 7}, {"\"a, [b\"", 1}, {" 7 ", 1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        size_t length = strlen(cases[i].text);
        uint64_t bytes = cases[i].values * nt_cost_info(NT_COST_JSON_VALUE)->bytes +
                         length * nt_cost_info(NT_COST_ENVELOPE_BYTE)->bytes;
        struct nt_budget narrow;
        json_t *value;
        nt_budget_init(&narrow, bytes - 1, 0);
        assert_status(NT_LIMIT, nt_blz_json_parse(cases[i].text, length, &narrow, &value, &error));
        nt_budget_init(&narrow, bytes, 0);
        assert_ok(nt_blz_json_parse(cases[i].text, length, &narrow, &value, &error));
        json_decref(value);
        ck_assert_uint_eq(narrow.used, cases[i].values * nt_cost_info(NT_COST_JSON_VALUE)->bytes);
    }
}

TEST(sizes_are_integers_that_are_not_negative)
{
    static const char text[] = "{\"a\": 7, \"b\": -1, \"c\": 1.0, \"d\": \"7\"}";
    json_t *value;
    uint64_t number = 0;
    assert_ok(nt_blz_json_parse(text, strlen(text), &budget, &value, &error));
    ck_assert(nt_blz_json_unsigned(value, "a", &number) && number == 7);
    ck_assert(!nt_blz_json_unsigned(value, "b", &number));
    ck_assert(!nt_blz_json_unsigned(value, "c", &number));
    ck_assert(!nt_blz_json_unsigned(value, "d", &number));
    ck_assert(!nt_blz_json_unsigned(value, "e", &number));
    json_decref(value);
}
