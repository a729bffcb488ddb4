/* SPDX-License-Identifier: MIT
 *
 * Names in the tree: encoding, decoding, and equal names.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/text.h"
#include "core/codec/codec.h"
#include "support.h"
#include "vfs/inode.h"
#include "core/base/memory.h"
#include "core/model/model.h"

/* ---- what single names become ---- */

#define TEXT(literal)                                                                                        \
    {                                                                                                        \
        literal, sizeof(literal) - 1                                                                         \
    }

static const struct {
    struct nt_text text;
    const char *field, *dataset;
} encoded[] = {
    {TEXT("pt"), "pt", "pt"},
    {TEXT("AnalysisJetsAux::pt"), "AnalysisJetsAux::pt", "AnalysisJetsAux::pt"},
    {TEXT("_0"), "_0", "_0"},
    {TEXT("a;1~2"), "a;1~2", "a;1~2"},
    {TEXT("x y"), "x y", "x y"},
    {TEXT("\xc3\xa9t\xc3\xa9"), "\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9"},
    {TEXT("a.b"), "a%2Eb", "a.b"},
    {TEXT("."), "%2E", "%2E"},
    {TEXT(".."), "%2E%2E", "%2E."},
    {TEXT("..."), "%2E%2E%2E", "%2E.."},
    {TEXT(".hidden"), "%2Ehidden", "%2Ehidden"},
    {TEXT("/"), "%2F", "%2F"},
    {TEXT("a/b"), "a%2Fb", "a%2Fb"},
    {TEXT("../../etc"), "%2E%2E%2F%2E%2E%2Fetc", "%2E.%2F..%2Fetc"},
    {TEXT("\0"), "%00", "%00"},
    {TEXT("a\0b"), "a%00b", "a%00b"},
    {TEXT("tab\t"), "tab%09", "tab%09"},
    {TEXT("line\n"), "line%0A", "line%0A"},
    {TEXT("\x7f"), "%7F", "%7F"},
    {TEXT("\xc2\x85"), "%C2%85", "%C2%85"},
    {TEXT("\xff"), "%FF", "%FF"},
    {TEXT("\xe2\x82"), "%E2%82", "%E2%82"},
    {TEXT("\xed\xa0\x80"), "%ED%A0%80", "%ED%A0%80"},
    {TEXT("\xc0\xaf"), "%C0%AF", "%C0%AF"},
    {TEXT("100%"), "100%", "100%"},
    {TEXT("%"), "%", "%"},
    {TEXT("%2"), "%2", "%2"},
    {TEXT("%2E"), "%252E", "%252E"},
    {TEXT("%2e"), "%252e", "%252e"},
    {TEXT("%zz"), "%zz", "%zz"},
    {TEXT("%%41"), "%%2541", "%%2541"},
    {TEXT("%2."), "%2%2E", "%2."},
    {TEXT("-rf"), "-rf", "-rf"},
    {TEXT("\xe2\x80\xae"
          "gpj"),
     "\xe2\x80\xae"
     "gpj",
     "\xe2\x80\xae"
     "gpj"},
};

TEST(names_are_encoded_as_the_rule_says, .end = sizeof(encoded) / sizeof(encoded[0]))
{
    struct nt_buffer out = {0};
    nt_buffer_append_string(&out, "");
    nt_name_encode(encoded[_i].text, NT_NAME_FIELD, &out);
    ck_assert_str_eq(out.bytes, encoded[_i].field);
    nt_buffer_clear(&out);
    nt_name_encode(encoded[_i].text, NT_NAME_DATASET, &out);
    ck_assert_str_eq(out.bytes, encoded[_i].dataset);
    nt_buffer_deinit(&out);
}

TEST(a_dataset_named_like_one_of_ours_loses_its_first_dot)
{
    struct nt_buffer out = {0};
    nt_name_encode((struct nt_text)TEXT("file.json"), NT_NAME_RESERVED, &out);
    ck_assert_str_eq(out.bytes, "file%2Ejson");
    nt_buffer_deinit(&out);
}

/* Decodes like any percent-decoder. */
static size_t percent_decode(const char *name, char *out)
{
    size_t length = 0;
    for (; *name; name++) {
        unsigned byte;
        int used = 0;
        if (name[0] == '%' && strspn(name + 1, "0123456789abcdefABCDEF") >= 2 &&
            sscanf(name + 1, "%2x%n", &byte, &used) == 1 && used == 2) {
            out[length++] = (char)byte;
            name += 2;
        } else {
            out[length++] = *name;
        }
    }
    return length;
}

static void assert_reversible(struct nt_text text, enum nt_name_rule rule)
{
    struct nt_buffer out = {0};
    char decoded[1024];
    nt_buffer_append_string(&out, "");
    nt_name_encode(text, rule, &out);
    size_t length = percent_decode(out.bytes, decoded);
    ck_assert_msg(length == text.length && memcmp(decoded, text.bytes, length) == 0, "%s", out.bytes);
    ck_assert_ptr_null(strchr(out.bytes, '/'));
    ck_assert_uint_eq(strlen(out.bytes), out.length);
    ck_assert(nt_is_utf8(out.bytes, out.length));
    nt_buffer_deinit(&out);
}

TEST(every_string_of_few_evil_bytes_is_reversible)
{
    static const char evil[] = "a.%/2E\0\n\x7f\xc3\xa9\xff";
    const size_t count = sizeof(evil) - 1;
    for (size_t i = 0; i < count * count * count; i++) {
        const char bytes[3] = {evil[i % count], evil[i / count % count], evil[i / count / count]};
        for (size_t length = 0; length <= 3; length++) {
            assert_reversible((struct nt_text){bytes, length}, NT_NAME_FIELD);
            assert_reversible((struct nt_text){bytes, length}, NT_NAME_DATASET);
        }
    }
}

/* ---- names of many items ---- */

static struct nt_name_request wishes[600];

static void ask(const void *context, uint32_t item, struct nt_name_request *request)
{
    *request = wishes[item];
    if (!request->prefix)
        request->prefix = "";
}

static struct nt_names *build(uint32_t count)
{
    struct nt_error error;
    struct nt_names *names = NULL;
    assert_ok(nt_names_build(count, ask, NULL, &names, &error));
    for (uint32_t i = 0; i < count; i++) {
        const char *name = nt_names_get(names, i);
        ck_assert_uint_gt(strlen(name), 0);
        ck_assert_uint_le(strlen(name), NT_NAME_BYTES);
        ck_assert_ptr_null(strchr(name, '/'));
        ck_assert_str_ne(name, ".");
        ck_assert_str_ne(name, "..");
        ck_assert_uint_eq(nt_names_find(names, wishes[i].parent, name), i);
    }
    return names;
}

static void wish_for(uint32_t item, const char *text, uint32_t cycle)
{
    wishes[item] = (struct nt_name_request){.text = {text, strlen(text)}, .cycle = cycle, .parent = 5};
}

TEST(evil_names_beside_each_other_stay_unique_and_are_found)
{
    static char longs[64][600];
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof(encoded) / sizeof(encoded[0]); i++)
        for (int twin = 0; twin < 3; twin++)
            wishes[count++] =
                (struct nt_name_request){.text = encoded[i].text, .rule = NT_NAME_FIELD, .parent = 1};
    for (size_t i = 0; i < 64; i++) { /* long ones that differ at the end, in UTF-8 and in dots */
        memset(longs[i], i % 3 == 0 ? '.' : 'x', 590);
        longs[i][80 + 8 * i] = '\0';
        for (size_t k = 0; i % 3 == 1 && k + 2 < 80 + 8 * i; k += 2)
            memcpy(longs[i] + k, "\xc3\xa9", 2);
        wishes[count++] = (struct nt_name_request){
            .text = {longs[i], 80 + 8 * i}, .rule = i % 2 ? NT_NAME_FIELD : NT_NAME_DATASET, .parent = 1};
    }
    struct nt_names *names = build(count);
    for (uint32_t i = 0; i < count; i++)
        ck_assert(nt_is_utf8(nt_names_get(names, i), strlen(nt_names_get(names, i))));
    nt_names_free(names);
}

TEST(natural_names_win_and_generated_ones_take_the_first_free)
{
    wish_for(0, "a", 1);
    wish_for(1, "a", 0);
    wish_for(2, "a", 0);
    wish_for(3, "a~2", 0);
    wish_for(4, "a", 0);
    wish_for(5, "a;1", 0);
    wish_for(6, "", 0);
    wish_for(7, "%", 0);
    wish_for(8, "b", 2);
    struct nt_names *names = build(9);
    ck_assert_str_eq(nt_names_get(names, 0), "a;1~2");
    ck_assert_str_eq(nt_names_get(names, 1), "a");
    ck_assert_str_eq(nt_names_get(names, 2), "a~3");
    ck_assert_str_eq(nt_names_get(names, 3), "a~2");
    ck_assert_str_eq(nt_names_get(names, 4), "a~4");
    ck_assert_str_eq(nt_names_get(names, 5), "a;1");
    ck_assert_str_eq(nt_names_get(names, 6), "%~2");
    ck_assert_str_eq(nt_names_get(names, 7), "%");
    ck_assert_str_eq(nt_names_get(names, 8), "b;2");
    ck_assert_uint_eq(nt_names_find(names, 5, "a~5"), NT_NONE);
    ck_assert_uint_eq(nt_names_find(names, 4, "a"), NT_NONE);
    nt_names_free(names);
}

TEST(an_empty_name_is_a_percent_sign)
{
    wish_for(0, "", 0);
    struct nt_names *names = build(1);
    ck_assert_str_eq(nt_names_get(names, 0), "%");
    nt_names_free(names);
}

TEST(names_are_unique_within_a_directory_only)
{
    wish_for(0, "a", 0);
    wish_for(1, "a", 0);
    wishes[1].parent = NT_NONE;
    struct nt_names *names = build(2);
    ck_assert_str_eq(nt_names_get(names, 0), "a");
    ck_assert_str_eq(nt_names_get(names, 1), "a");
    nt_names_free(names);
}

TEST(a_prefix_is_before_a_natural_name)
{
    wish_for(0, "x.y", 0);
    wishes[0].prefix = "attribute.";
    wishes[0].rule = NT_NAME_DATASET;
    struct nt_names *names = build(1);
    ck_assert_str_eq(nt_names_get(names, 0), "attribute.x.y");
    nt_names_free(names);
}

static void ask_same(const void *context, uint32_t item, struct nt_name_request *request)
{
    request->text = (struct nt_text){"same", 4};
}

TEST(many_fields_of_the_same_name_are_numbered_in_linear_time)
{
    enum { MANY = 200000 };
    struct nt_error error;
    struct nt_names *names;
    assert_ok(nt_names_build(MANY, ask_same, NULL, &names, &error));
    ck_assert_str_eq(nt_names_get(names, 0), "same");
    ck_assert_str_eq(nt_names_get(names, MANY - 1), "same~200000");
    ck_assert_uint_eq(nt_names_find(names, 0, "same~777"), 776);
    nt_names_free(names);
}

enum { PAIRS = 50000 };

/* Names that differ only in the removed part, each of them twice. */
static void ask_long_pair(const void *context, uint32_t item, struct nt_name_request *request)
{
    static char text[PAIRS][NT_NAME_BYTES + 1];
    char *name = text[item % PAIRS];
    memset(name, 'a', NT_NAME_BYTES);
    snprintf(name + NT_NAME_BYTES - 11, 12, "%011u", item % PAIRS);
    request->text = (struct nt_text){name, NT_NAME_BYTES};
}

TEST(many_long_names_that_are_cut_to_the_same_one_are_numbered_in_linear_time)
{
    struct nt_error error;
    struct nt_names *names;
    assert_ok(nt_names_build(2 * PAIRS, ask_long_pair, NULL, &names, &error));
    ck_assert_uint_eq(strlen(nt_names_get(names, PAIRS - 1)), NT_NAME_BYTES);
    for (uint32_t i = 0; i < PAIRS; i++) {
        char expected[NT_NAME_BYTES + 1];
        memset(expected, 'a', 244);
        snprintf(expected + 244, sizeof(expected) - 244, "~%u", i + 2);
        ck_assert_str_eq(nt_names_get(names, PAIRS + i), expected);
    }
    nt_names_free(names);
}

enum { COLLIDING = 500000 };

/* The directories are chosen so that all hashes are equal, if the hash function is the public one. */
static void ask_colliding(const void *context, uint32_t item, struct nt_name_request *request)
{
    static char text[COLLIDING][12];
    const uint32_t inverse =
        0x9937733D; /* the numbers that distinguish directories: 0x7F4A7C15, modulo 2^32 */
    snprintf(text[item], sizeof(text[item]), "%u", item);
    request->text = (struct nt_text){text[item], strlen(text[item])};
    request->parent = (uint32_t)(0 - nt_xxh3(text[item], request->text.length)) * inverse;
}

TEST(names_that_were_chosen_for_their_hashes_are_found_in_constant_time)
{
    struct nt_error error;
    struct nt_names *names;
    assert_ok(nt_names_build(COLLIDING, ask_colliding, NULL, &names, &error));
    for (uint32_t i = 0; i < COLLIDING; i++)
        ck_assert_uint_eq(nt_names_find(names, nt_names_parent(names, i), nt_names_get(names, i)), i);
    nt_names_free(names);
}
