/* SPDX-License-Identifier: MIT
 *
 * UTF-8 (the table of well-formed sequences in the Unicode standard), texts for terminals, and names in
 * paths.
 */
#include <string.h>

#include "core/base/text.h"
#include "support.h"
#include "core/base/memory.h"

struct sequence {
    const char *bytes;
    size_t length;
    uint32_t code_point;
};

/* The first and the last code point of each row of the table. */
static const struct sequence well_formed[] = {
    {"\x00", 1, 0x0},
    {"\x7f", 1, 0x7F},
    {"\xc2\x80", 2, 0x80},
    {"\xdf\xbf", 2, 0x7FF},
    {"\xe0\xa0\x80", 3, 0x800},
    {"\xe0\xbf\xbf", 3, 0xFFF},
    {"\xe1\x80\x80", 3, 0x1000},
    {"\xec\xbf\xbf", 3, 0xCFFF},
    {"\xed\x80\x80", 3, 0xD000},
    {"\xed\x9f\xbf", 3, 0xD7FF},
    {"\xee\x80\x80", 3, 0xE000},
    {"\xef\xbf\xbf", 3, 0xFFFF},
    {"\xf0\x90\x80\x80", 4, 0x10000},
    {"\xf1\x80\x80\x80", 4, 0x40000},
    {"\xf3\xbf\xbf\xbf", 4, 0xFFFFF},
    {"\xf4\x8f\xbf\xbf", 4, 0x10FFFF},
};
enum { WELL_FORMED = sizeof(well_formed) / sizeof(*well_formed) };

/* Stray and missing continuations, overlong forms, surrogates, code points past the last one. */
static const struct sequence ill_formed[] = {
    {"\x80", 1, 0},
    {"\xbf", 1, 0},
    {"\xc0\x80", 2, 0},
    {"\xc1\xbf", 2, 0},
    {"\xc2", 1, 0},
    {"\xc2\x41", 2, 0},
    {"\xe0\x80\x80", 3, 0},
    {"\xe0\x9f\xbf", 3, 0},
    {"\xe1\x80", 2, 0},
    {"\xed\xa0\x80", 3, 0},
    {"\xed\xbf\xbf", 3, 0},
    {"\xf0\x80\x80\x80", 4, 0},
    {"\xf0\x8f\xbf\xbf", 4, 0},
    {"\xf4\x90\x80\x80", 4, 0},
    {"\xf5\x80\x80\x80", 4, 0},
    {"\xff", 1, 0},
    {"\xf8\x88\x80\x80\x80", 5, 0},
};
enum { ILL_FORMED = sizeof(ill_formed) / sizeof(*ill_formed) };

TEST(a_well_formed_sequence_is_one_code_point, .end = WELL_FORMED)
{
    const struct sequence *row = &well_formed[_i];
    uint32_t code_point = 1;
    ck_assert_uint_eq(nt_utf8_decode((const uint8_t *)row->bytes, row->length, &code_point), row->length);
    ck_assert_uint_eq(code_point, row->code_point);
    ck_assert(nt_is_utf8(row->bytes, row->length));
    /* A prefix is not. */
    ck_assert_uint_eq(nt_utf8_decode((const uint8_t *)row->bytes, row->length - 1, &code_point), 0);
}

TEST(texts_are_ordered_by_their_bytes_and_then_by_their_lengths)
{
    static const struct nt_text ordered[] = {{NULL, 0}, {"\0", 1}, {"a", 1},   {"a\0", 2},
                                             {"ab", 2}, {"b", 1},  {"\xff", 1}};
    for (int i = 0; i < (int)(sizeof(ordered) / sizeof(*ordered)); i++)
        for (int k = 0; k < (int)(sizeof(ordered) / sizeof(*ordered)); k++) {
            int order = nt_texts_compare(ordered[i], ordered[k]);
            ck_assert_int_eq((order > 0) - (order < 0), (i > k) - (i < k));
        }
}

TEST(texts_are_equal_byte_for_byte)
{
    struct nt_text nul = {"a\0b", 3};
    ck_assert(nt_text_is(nt_text_of("ab"), "ab") && !nt_text_is(nt_text_of("ab"), "abc"));
    ck_assert(!nt_text_is(nul, "a") && nt_texts_are_equal(nul, (struct nt_text){"a\0bc", 3}));
    ck_assert(!nt_texts_are_equal(nul, (struct nt_text){"a\0c", 3}));
    ck_assert(nt_text_is(nt_text_of(NULL), "") && nt_text_is((struct nt_text){NULL, 0}, ""));
}

TEST(a_prefix_is_skipped_where_it_is)
{
    struct nt_text text = nt_text_of("std::pair");
    ck_assert(!nt_text_skip(&text, "std::pair<") && !nt_text_skip(&text, "pair") &&
              nt_text_is(text, "std::pair"));
    ck_assert(nt_text_skip(&text, "std::") && nt_text_is(text, "pair"));
    ck_assert(nt_text_skip(&text, "pair") && text.length == 0);
}

TEST(a_copy_of_a_text_ends_with_nul)
{
    struct nt_arena *arena = nt_arena_new();
    struct nt_text copy;
    ck_assert(nt_text_copy(arena, (struct nt_text){"a\0bc", 3}, &copy));
    ck_assert_uint_eq(copy.length, 3);
    ck_assert_mem_eq(copy.bytes, "a\0b", 4);
    ck_assert(nt_text_copy(arena, (struct nt_text){NULL, 0}, &copy));
    ck_assert_str_eq(copy.bytes, "");
    nt_arena_free(arena);
}

TEST(a_code_point_is_encoded_as_its_sequence, .end = WELL_FORMED)
{
    struct nt_buffer out = {0};
    nt_append_code_point(&out, well_formed[_i].code_point);
    ck_assert_uint_eq(out.length, well_formed[_i].length);
    ck_assert_mem_eq(out.bytes, well_formed[_i].bytes, out.length);
    nt_buffer_deinit(&out);
}

TEST(an_ill_formed_sequence_is_none, .end = ILL_FORMED)
{
    const struct sequence *row = &ill_formed[_i];
    uint32_t code_point;
    ck_assert_uint_eq(nt_utf8_decode((const uint8_t *)row->bytes, row->length, &code_point), 0);
    ck_assert(!nt_is_utf8(row->bytes, row->length));
}

TEST(one_bad_byte_spoils_a_text)
{
    ck_assert(nt_is_utf8("", 0));
    ck_assert(nt_is_utf8("na\xc3\xafve", 6));
    ck_assert(!nt_is_utf8("na\xc3\xafve\xff", 7));
    ck_assert(!nt_is_utf8("na\xc3", 3));
}

TEST(a_text_is_as_wide_as_it_has_characters)
{
    ck_assert_int_eq(nt_text_width(nt_text_of("")), 0);
    ck_assert_int_eq(nt_text_width(nt_text_of("abc")), 3);
    ck_assert_int_eq(nt_text_width(nt_text_of("na\xc3\xafve \xe2\x82\xac\xf0\x90\x80\x80")), 8);
    ck_assert_int_eq(nt_text_width((struct nt_text){"\xc2\xb5m", 2}), 1); /* no byte after the length */
}

TEST(terminals_get_no_control_characters, .end = 12)
{
    static const struct {
        const char *text, *shown;
        size_t length;
    } rows[] = {
        {"plain", "plain", 5},
        {"na\xc3\xafve", "na\xc3\xafve", 6},
        {"a\nb\tc\x1b[31m", "a\\x0ab\\x09c\\x1b[31m", 10},
        {"a\0b", "a\\x00b", 3},
        {"\x7f", "\\x7f", 1},
        {"\xc2\x85", "\\xc2\\x85", 2},          /* next line, a C1 control */
        {"\xe2\x80\xae", "\\xe2\\x80\\xae", 3}, /* right-to-left override */
        {"\xe2\x81\xa6", "\\xe2\\x81\\xa6", 3}, /* left-to-right isolate */
        {"\xd8\x9c", "\\xd8\\x9c", 2},          /* Arabic letter mark */
        {"\xe2\x80\xa8", "\\xe2\\x80\\xa8", 3}, /* line separator */
        {"ok\xff\xc3", "ok\\xff\\xc3", 4},
        {"\xe2\x82\xac", "\xe2\x82\xac", 3}, /* the euro sign */
    };
    struct nt_buffer buffer = {0};
    nt_append_printable(&buffer, rows[_i].text, rows[_i].length);
    ck_assert_str_eq(buffer.bytes, rows[_i].shown);
    nt_buffer_deinit(&buffer);
}

TEST(a_path_has_a_last_component_and_a_stem, .end = 10)
{
    static const struct {
        const char *path, *name, *stem;
    } rows[] = {
        {"a/b.tar.gz", "b.tar.gz", "b.tar"},
        {"a/b.tar.gz/", "b.tar.gz", "b.tar"},
        {"b.root", "b.root", "b"},
        {"/b//", "b", "b"},
        {".x", ".x", ".x"},
        {"a.d/.x.y", ".x.y", ".x"},
        {"a.d/b", "b", "b"},
        {"b.", "b.", "b"},
        {"", "", ""},
        {"/", "", ""},
    };
    ck_assert(nt_text_is(nt_path_name(rows[_i].path), rows[_i].name));
    ck_assert(nt_text_is(nt_path_stem(rows[_i].path), rows[_i].stem));
}

TEST(a_path_is_within_its_directories_alone)
{
    ck_assert(nt_path_is_within("/a/b", "/a/b"));
    ck_assert(nt_path_is_within("/a/b/c", "/a/b"));
    ck_assert(nt_path_is_within("/a", "/"));
    ck_assert(nt_path_is_within("/", "/"));
    ck_assert(!nt_path_is_within("/a/bc", "/a/b"));
    ck_assert(!nt_path_is_within("/a", "/a/b"));
    ck_assert(!nt_path_is_within("/", "/a"));
}

static const struct {
    const char *text;
    uint8_t byte;
    size_t step;
} encoded[] = {
    {"a", 'a', 1},    {"%41", 'A', 3}, {"%4a", 'J', 3}, {"%fFf", 0xFF, 3}, {"%00", 0, 3},
    {"%", '%', 1},    {"%4", '%', 1},  {"%4g", '%', 1}, {"%G4", '%', 1},   {"%%41", '%', 1},
    {"% 41", '%', 1}, {"% 1", '%', 1}, {"%@1", '%', 1}, {"%`1", '%', 1},   {"%:1", '%', 1},
};

TEST(two_digits_after_a_percent_sign_are_a_byte, .end = 15)
{
    uint8_t byte;
    size_t length = strlen(encoded[_i].text);
    ck_assert_uint_eq(nt_percent_decode(encoded[_i].text, length, &byte), encoded[_i].step);
    ck_assert_uint_eq(byte, encoded[_i].byte);
    ck_assert(nt_is_percent_encoded(encoded[_i].text, length) == (encoded[_i].step == 3));
    ck_assert_uint_eq(nt_percent_decode(encoded[_i].text, 1, &byte), 1); /* the rest does not belong to it */
}

TEST(a_text_is_decoded_in_place)
{
    char text[] = "a%20b%2Fc%", empty[] = "", with_nul[] = "a%00b";
    ck_assert(nt_percent_decode_text(text));
    ck_assert_str_eq(text, "a b/c%");
    ck_assert(nt_percent_decode_text(empty));
    ck_assert(!nt_percent_decode_text(with_nul));
}
