/* SPDX-License-Identifier: MIT
 *
 * Pages by hand: of each encoding and layout sound ones, with what is in them, and those with something wrong, with what tells it.
 */
#ifndef NT_TESTS_CODEC_TREE_PAGES_H
#define NT_TESTS_CODEC_TREE_PAGES_H

#include "codec/tree/description.h"

enum { NODES = 20, PARTS = 3, MOST = 4096 };

struct page_case {
    const char *told; /* the encodings in words; of pages that are refused a part of the message */
    enum nt_tree_layout layout;
    struct nt_tree_node nodes[NODES];
    struct nt_tree_part parts[PARTS];
    uint32_t repetition_bits, definition_bits, value_bits, offset_bits;
    bool has_value_part;
    uint8_t layer; /* 0: an item */
    const char *bytes;
    size_t count;
    struct nt_tree_want want;
    uint64_t elements; /* 0 of pages that are refused: 4 */
    uint32_t width;
    const void *expected;
    enum nt_status status;
};

#define BYTES(text) .bytes = (text), .count = sizeof(text) - 1
#define EXPECTED(type, ...)                                                                                  \
    .width = sizeof(type), .expected = (const type[])                                                        \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }
#define MINI .layout = NT_TREE_MINI_BLOCK
#define ARRAY .layout = NT_TREE_ARRAY
#define ZIP .layout = NT_TREE_FULL_ZIP
#define CONSTANT .layout = NT_TREE_CONSTANT
#define VALID .want = {.output = NT_TREE_VALID}
#define ENDS .want = {.output = NT_TREE_ENDS}
#define NONE NT_NO_NODE

static const struct nt_tree_member members[] = {{.node = 1, .bits = 16}, {.node = 2, .length_bits = 8}};
static const struct nt_tree_member fixed_members[] = {{.node = 1, .bits = 8}, {.node = 1, .bits = 16}};

/* ---- what is in them ---- */

static const struct page_case sound[] = {
    {.told = "dictionary 3(nullable(flat 16, flat 1), flat 16)",
     ARRAY,
     .nodes = {{.kind = NT_TREE_DICTIONARY, .items = 3, .children = {1, 4}},
               {.kind = NT_TREE_NULLABLE, .children = {2, 3}},
               {.kind = NT_TREE_FLAT, .bits = 16},
               {.kind = NT_TREE_FLAT, .bits = 1, .buffer = 1},
               {.kind = NT_TREE_FLAT, .bits = 16, .buffer = 2}},
     .parts = {{0, 8}, {8, 1}, {9, 6}},
     BYTES("\2\0\0\0\1\0\11\0"
           "\7"
           "\144\0\310\0\54\1"),
     .elements = 4,
     EXPECTED(uint16_t, 300, 100, 200, 0)},
    {.told = "dictionary 2(flat 8, nullable(flat 8, flat 1))",
     ARRAY,
     .nodes = {{.kind = NT_TREE_DICTIONARY, .items = 2, .children = {1, 2}},
               {.kind = NT_TREE_FLAT, .bits = 8},
               {.kind = NT_TREE_NULLABLE, .children = {3, 4}},
               {.kind = NT_TREE_FLAT, .bits = 8, .buffer = 1},
               {.kind = NT_TREE_FLAT, .bits = 1, .buffer = 2}},
     .parts = {{0, 3}, {3, 2}, {5, 1}},
     BYTES("\0\1\0"
           "ab"
           "\2"),
     VALID,
     .elements = 3,
     EXPECTED(uint8_t, 0, 1, 0)},
    {.told = "dictionary 2(flat 8, all nulls)",
     ARRAY,
     .nodes = {{.kind = NT_TREE_DICTIONARY, .items = 2, .children = {1, 2}},
               {.kind = NT_TREE_FLAT, .bits = 8},
               {.kind = NT_TREE_ALL_NULL}},
     .parts = {{0, 3}},
     BYTES("\0\1\0"),
     VALID,
     .elements = 3,
     EXPECTED(uint8_t, 0, 0, 0)},
    {.told = "nullable(flat 8)",
     ARRAY,
     .nodes = {{.kind = NT_TREE_NULLABLE, .children = {1, NONE}}, {.kind = NT_TREE_FLAT, .bits = 8}},
     .parts = {{0, 2}},
     BYTES("ab"),
     VALID,
     .elements = 2,
     EXPECTED(uint8_t, 1, 1)},
    /* LZ4: four bytes, all literal */
    {.told = "general(flat 16)",
     ARRAY,
     .nodes = {{.kind = NT_TREE_SIZED, .algorithm = NT_SIZED_LZ4, .children = {1}},
               {.kind = NT_TREE_FLAT, .bits = 16}},
     .parts = {{0, 9}},
     BYTES("\4\0\0\0\100\1\0\2\0"),
     .elements = 2,
     EXPECTED(uint16_t, 1, 2)},
    {.told = "fixed-size list 2(all nulls)",
     ARRAY,
     .nodes = {{.kind = NT_TREE_FIXED_LIST, .items = 2, .children = {1}}, {.kind = NT_TREE_ALL_NULL}},
     .parts = {{0, 0}},
     BYTES(""),
     .want = {.output = NT_TREE_VALID, .depth = 1},
     .elements = 4,
     EXPECTED(uint8_t, 0, 0, 0, 0)},
    {.told = "fixed-size list 2(nullable(flat 8, flat 1))",
     ARRAY,
     .nodes = {{.kind = NT_TREE_FIXED_LIST, .items = 2, .children = {1}},
               {.kind = NT_TREE_NULLABLE, .children = {2, 3}},
               {.kind = NT_TREE_FLAT, .bits = 8},
               {.kind = NT_TREE_FLAT, .bits = 1, .buffer = 1}},
     .parts = {{0, 4}, {4, 1}},
     BYTES("abcd"
           "\15"),
     .want = {.output = NT_TREE_VALID, .depth = 1},
     .elements = 4,
     EXPECTED(uint8_t, 1, 0, 1, 1)},
    {.told = "list(flat 16)",
     ARRAY,
     .nodes = {{.kind = NT_TREE_LIST_ENDS, .items = 5, .adjustment = 100, .children = {1}},
               {.kind = NT_TREE_FLAT, .bits = 16}},
     .parts = {{0, 6}},
     BYTES("\2\0\146\0\5\0"),
     .want = {.output = NT_TREE_OFFSETS, .layer = 1},
     .elements = 3,
     EXPECTED(uint64_t, 2, 2, 5)},
    {.told = "binary(flat 32, flat 8)",
     ARRAY,
     .nodes = {{.kind = NT_TREE_BINARY, .children = {1, 2}},
               {.kind = NT_TREE_FLAT, .bits = 32},
               {.kind = NT_TREE_FLAT, .bits = 8, .buffer = 1}},
     .parts = {{0, 8}, {8, 3}},
     BYTES("\1\0\0\0\3\0\0\0"
           "abc"),
     ENDS,
     .elements = 2,
     EXPECTED(uint64_t, 1, 3)},
    {.told = "constant",
     MINI,
     .nodes = {{.kind = NT_TREE_SAME, .bits = 16, .value = (const uint8_t *)"\1\2"}},
     BYTES("\0\0\0\0\0\0\0\0"),
     .elements = 3,
     EXPECTED(uint16_t, 0x201, 0x201, 0x201)},
    {.told = "constant",
     MINI,
     .nodes = {{.kind = NT_TREE_SAME, .bits = 16}},
     BYTES("\0\0\0\0\0\0\0\0"),
     .elements = 2,
     EXPECTED(uint16_t, 0, 0)},
    {.told = "byte stream split(flat 16)",
     MINI,
     .nodes = {{.kind = NT_TREE_BYTE_SPLIT, .children = {1}}, {.kind = NT_TREE_FLAT, .bits = 16}},
     BYTES("\0\0\4\0\0\0\0\0\1\2\3\4\0\0\0\0"),
     .elements = 2,
     EXPECTED(uint16_t, 0x301, 0x402)},
    {.told = "fixed-size list 2(packed struct(constant))",
     ZIP,
     .nodes = {{.kind = NT_TREE_FIXED_LIST, .items = 2, .children = {1}},
               {.kind = NT_TREE_PACKED, .children = {2}},
               {.kind = NT_TREE_SAME, .bits = 16, .value = (const uint8_t *)"\5\6"}},
     .value_bits = 32,
     .definition_bits = 1,
     BYTES("\0aaaa\0bbbb"),
     .elements = 4,
     EXPECTED(uint16_t, 0x605, 0x605, 0x605, 0x605)},
    {.told = "fixed-size list 2(flat 16)", /* a byte of validity, of which only the items are wanted */
     ZIP,
     .nodes = {{.kind = NT_TREE_FIXED_LIST, .items = 2, .has_validity = true, .children = {1}},
               {.kind = NT_TREE_FLAT, .bits = 16}},
     .value_bits = 40,
     .definition_bits = 17, /* a control word of four bytes */
     BYTES("\0\0\0\0\1\1\0\2\0"
           "\0\0\0\0\3\3\0\4\0"),
     .elements = 4,
     EXPECTED(uint16_t, 1, 0, 3, 4)},
    {.told = "fixed-size list 3(flat 1)",
     ZIP,
     .nodes = {{.kind = NT_TREE_FIXED_LIST, .items = 3, .children = {1}}, {.kind = NT_TREE_FLAT, .bits = 1}},
     .value_bits = 3,
     BYTES("\5\3"),
     .elements = 6,
     EXPECTED(uint8_t, 1, 0, 1, 1, 1, 0)},
    {.told = "flat 16", /* each with its length, in eight bytes */
     ZIP,
     .nodes = {{.kind = NT_TREE_FLAT, .bits = 16}},
     .offset_bits = 64,
     BYTES("\2\0\0\0\0\0\0\0\1\2"
           "\0\0\0\0\0\0\0\0"
           "\2\0\0\0\0\0\0\0\3\4"),
     .elements = 3,
     EXPECTED(uint16_t, 0x201, 0, 0x403)},
    {.told = "general(variable 8)",
     ZIP,
     .nodes = {{.kind = NT_TREE_SIZED, .algorithm = NT_SIZED_LZ4, .children = {1}},
               {.kind = NT_TREE_VARIABLE, .bits = 8}},
     .offset_bits = 8,
     BYTES("\7\2\0\0\0\40ab"
           "\0"
           "\6\1\0\0\0\20c"),
     ENDS,
     .elements = 3,
     EXPECTED(uint64_t, 2, 2, 3)},
    {.told = "variable packed struct",
     ZIP,
     .nodes = {{.kind = NT_TREE_VARIABLE_PACKED, .members = members, .member_count = 2},
               {.kind = NT_TREE_FLAT, .bits = 16},
               {.kind = NT_TREE_VARIABLE, .bits = 8}},
     .offset_bits = 8,
     BYTES("\5\1\2\2ab"
           "\4\3\4\1c"),
     .want = {.output = NT_TREE_VALUES},
     .elements = 2,
     EXPECTED(uint16_t, 0x201, 0x403)},
    {.told = "variable packed struct",
     ZIP,
     .nodes = {{.kind = NT_TREE_VARIABLE_PACKED, .members = members, .member_count = 2},
               {.kind = NT_TREE_FLAT, .bits = 16},
               {.kind = NT_TREE_VARIABLE, .bits = 8}},
     .offset_bits = 8,
     BYTES("\5\1\2\2ab"
           "\4\3\4\1c"),
     .want = {.output = NT_TREE_ENDS, .member = 1},
     .elements = 2,
     EXPECTED(uint64_t, 2, 3)},
    {.told = "variable packed struct", /* all of it, in one piece */
     ZIP,
     .nodes = {{.kind = NT_TREE_VARIABLE_PACKED, .members = fixed_members, .member_count = 2},
               {.kind = NT_TREE_FLAT, .bits = 8}},
     .offset_bits = 8,
     BYTES("\3abc"
           "\3def"),
     .want = {.output = NT_TREE_VALUES, .member = NT_TREE_ALL_MEMBERS},
     .elements = 2,
     .width = 3,
     .expected = "abcdef"},
    {.told = "fixed-size list 3(flat 1)", /* the buffers of an array of one value */
     CONSTANT,
     .nodes = {{.kind = NT_TREE_FIXED_LIST, .items = 3, .children = {1}}, {.kind = NT_TREE_FLAT, .bits = 1}},
     .has_value_part = true,
     .parts = {{0, 10}},
     BYTES("\1\0\0\0\2\0\0\0\5\0"),
     .elements = 6,
     EXPECTED(uint8_t, 1, 0, 1, 1, 0, 1)},
    {.told = "variable 32", /* offsets, then the bytes */
     CONSTANT,
     .nodes = {{.kind = NT_TREE_VARIABLE, .bits = 32}},
     .has_value_part = true,
     .parts = {{0, 22}},
     BYTES("\2\0\0\0\10\0\0\0\2\0\0\0\0\0\0\0\2\0\0\0ab"),
     ENDS,
     .elements = 3,
     EXPECTED(uint64_t, 2, 4, 6)},
};

/* ---- what is wrong with them ---- */

#define LIST(child)                                                                                          \
    {                                                                                                        \
        .kind = NT_TREE_FIXED_LIST, .items = 1, .children = { child }                                        \
    }
#define LISTS_OF_17                                                                                          \
    LIST(1), LIST(2), LIST(3), LIST(4), LIST(5), LIST(6), LIST(7), LIST(8), LIST(9), LIST(10), LIST(11),     \
        LIST(12), LIST(13), LIST(14), LIST(15), LIST(16), LIST(17)
#define EMPTY_CHUNK BYTES("\0\0\4\0\0\0\0\0aaaa\0\0\0\0")

static const struct page_case refused[] = {
    {"buffers of the page, more than", ARRAY, .nodes = {{.kind = NT_TREE_FLAT, .bits = 8, .buffer = 3}}},
    {"bits of validity", ARRAY,
     .nodes = {{.kind = NT_TREE_NULLABLE, .children = {1, 1}}, {.kind = NT_TREE_FLAT, .bits = 8}},
     .parts = {{0, 4}}, BYTES("aaaa")},
    {"buffer 1 lies outside of its page", ARRAY, .nodes = {{.kind = NT_TREE_FLAT, .bits = 8}},
     .parts = {{0, 4}, {5, 0}}, BYTES("aaaa")},
    {"buffer 0 lies outside of its page", ARRAY, .nodes = {{.kind = NT_TREE_FLAT, .bits = 8}},
     .parts = {{1, 4}}, BYTES("aaaa")},
    {"nested deeper than 16", ARRAY, .nodes = {LISTS_OF_17, {.kind = NT_TREE_FLAT, .bits = 8}},
     .parts = {{0, 4}}, BYTES("aaaa"), .status = NT_LIMIT},
    {"nested deeper than 16", MINI, .nodes = {LISTS_OF_17, {.kind = NT_TREE_FLAT, .bits = 8}}, EMPTY_CHUNK,
     .status = NT_LIMIT},
    {"lists overflows", MINI,
     .nodes = {{.kind = NT_TREE_FIXED_LIST, .items = UINT64_MAX, .children = {1}},
               {.kind = NT_TREE_FLAT, .bits = 8}},
     EMPTY_CHUNK, ENDS, .status = NT_LIMIT},
    {"lists overflows", ARRAY,
     .nodes = {{.kind = NT_TREE_FIXED_LIST, .items = UINT64_MAX, .children = {1}},
               {.kind = NT_TREE_FLAT, .bits = 8}},
     BYTES(""), ENDS, .status = NT_LIMIT},
    {"dictionary of numbers of 1 bits", ARRAY,
     .nodes = {{.kind = NT_TREE_DICTIONARY, .items = 1, .children = {1, 1}},
               {.kind = NT_TREE_FLAT, .bits = 1}},
     .parts = {{0, 1}}, BYTES("a"), .status = NT_UNSUPPORTED},
    {"dictionary of items of 12 bits", ARRAY,
     .nodes = {{.kind = NT_TREE_DICTIONARY, .items = 1, .children = {1, 2}},
               {.kind = NT_TREE_FLAT, .bits = 8},
               {.kind = NT_TREE_FLAT, .bits = 12}},
     .parts = {{0, 4}}, BYTES("\0\0\0\0"), .status = NT_UNSUPPORTED},
    {"element 1 is item 1 of a dictionary that has 1", ARRAY,
     .nodes = {{.kind = NT_TREE_DICTIONARY, .items = 1, .children = {1, 1}},
               {.kind = NT_TREE_FLAT, .bits = 8}},
     .parts = {{0, 4}}, BYTES("\0\1\0\0")},
    {"end offset 2 of a page decreases", ARRAY,
     .nodes = {{.kind = NT_TREE_LIST_ENDS, .items = 4, .children = {1}}, {.kind = NT_TREE_FLAT, .bits = 8}},
     .parts = {{0, 4}}, BYTES("\0\2\1\4"), ENDS},
    {"list 1 of a page is null and has items", ARRAY,
     .nodes = {{.kind = NT_TREE_LIST_ENDS, .items = 4, .adjustment = 9, .children = {1}},
               {.kind = NT_TREE_FLAT, .bits = 8}},
     .parts = {{0, 4}}, BYTES("\0\12\1\4"), ENDS},
    {"items of a page's lists", ARRAY,
     .nodes = {{.kind = NT_TREE_LIST_ENDS, .items = 5, .children = {1}}, {.kind = NT_TREE_FLAT, .bits = 8}},
     .parts = {{0, 4}}, BYTES("\0\2\3\4"), ENDS},
    {"bits of a string's bytes", ARRAY,
     .nodes = {{.kind = NT_TREE_BINARY, .children = {1, 2}},
               {.kind = NT_TREE_FLAT, .bits = 8},
               {.kind = NT_TREE_FLAT, .bits = 16}},
     .parts = {{0, 4}}, BYTES("\0\0\0\1"), ENDS},
    {"rle in a page of arrays", ARRAY, .nodes = {{.kind = NT_TREE_RUNS, .children = {1, 1}}}, BYTES(""),
     .status = NT_UNSUPPORTED},
    {"list where values of a block", MINI, .nodes = {{.kind = NT_TREE_LIST_ENDS, .children = {1}}},
     EMPTY_CHUNK, .status = NT_UNSUPPORTED},
    {"codes of symbols that are no strings", MINI,
     .nodes = {{.kind = NT_TREE_FSST, .children = {1}}, {.kind = NT_TREE_FLAT, .bits = 8}}, EMPTY_CHUNK,
     ENDS},
    {"byte planes of values of 1 bits", MINI,
     .nodes = {{.kind = NT_TREE_BYTE_SPLIT, .children = {1}}, {.kind = NT_TREE_FLAT, .bits = 1}}, EMPTY_CHUNK,
     .status = NT_UNSUPPORTED},
    {"byte planes of values of 0 bits", MINI,
     .nodes = {{.kind = NT_TREE_BYTE_SPLIT, .children = {1}}, {.kind = NT_TREE_FLAT}}, EMPTY_CHUNK,
     .status = NT_UNSUPPORTED},
    {"byte planes of values of 24 bits", MINI,
     .nodes = {{.kind = NT_TREE_BYTE_SPLIT, .children = {1}}, {.kind = NT_TREE_FLAT, .bits = 24}},
     BYTES("\0\0\20\0\0\0\0\0aaaabbbbccccdddd"), .status = NT_UNSUPPORTED},
    {"byte planes of values of 128 bits", MINI,
     .nodes = {{.kind = NT_TREE_BYTE_SPLIT, .children = {1}}, {.kind = NT_TREE_FLAT, .bits = 128}},
     BYTES("\0\0\100\0\0\0\0\0aaaabbbbccccddddaaaabbbbccccddddaaaabbbbccccddddaaaabbbbccccdddd"),
     .status = NT_UNSUPPORTED},
    {"values in byte planes", MINI,
     .nodes = {{.kind = NT_TREE_BYTE_SPLIT, .children = {1}},
               {.kind = NT_TREE_FIXED_LIST, .items = 0, .children = {2}},
               {.kind = NT_TREE_FLAT, .bits = 8}},
     EMPTY_CHUNK, ENDS},
    {"rows of a full-zip page take no bytes", ZIP, .nodes = {{.kind = NT_TREE_FLAT, .bits = 8}},
     .offset_bits = 4, BYTES("aaaa")},
    {"row 1 of a full-zip page goes on behind its 6 bytes", ZIP,
     .nodes = {{.kind = NT_TREE_VARIABLE, .bits = 8}}, .offset_bits = 16, BYTES("\1\0a\2\0b"), ENDS},
    {"bytes of a value: expected 2, found 1", ZIP, .nodes = {{.kind = NT_TREE_FLAT, .bits = 16}},
     .offset_bits = 8, BYTES("\2aa\1a\2aa\2aa")},
    {"rle in values of a full-zip page", ZIP, .nodes = {{.kind = NT_TREE_RUNS, .children = {1, 1}}},
     .value_bits = 8, BYTES("aaaa"), .status = NT_UNSUPPORTED},
    {"rle in values of a full-zip page", ZIP, .nodes = {{.kind = NT_TREE_RUNS, .children = {1, 1}}},
     .offset_bits = 8, BYTES("\1a\1a\1a\1a"), .status = NT_UNSUPPORTED},
    {"fixed-size lists of 100 items in 1 bytes", ZIP,
     .nodes = {{.kind = NT_TREE_FIXED_LIST, .items = 100, .children = {1}},
               {.kind = NT_TREE_FLAT, .bits = 8}},
     .value_bits = 8, BYTES("aaaa"), .elements = 400},
    {"fixed-size lists of 1 items in 1 bytes", ZIP, .nodes = {LISTS_OF_17, {.kind = NT_TREE_FLAT, .bits = 8}},
     .value_bits = 8, BYTES("aaaa")},
    {"bytes of a value, at least", ZIP,
     .nodes = {{.kind = NT_TREE_FIXED_LIST, .items = 9, .has_validity = true, .children = {1}},
               {.kind = NT_TREE_FLAT, .bits = 1}},
     .value_bits = 8, BYTES("aaaa"), .elements = 36},
    {"bytes of a value, at least", ZIP,
     .nodes = {{.kind = NT_TREE_FIXED_LIST, .items = 2, .children = {1}}, {.kind = NT_TREE_FLAT, .bits = 8}},
     .value_bits = 8, BYTES("aaaa"), .elements = 8},
    {"structure 0 is shorter than its members", ZIP,
     .nodes = {{.kind = NT_TREE_VARIABLE_PACKED, .members = members, .member_count = 2}}, .offset_bits = 8,
     BYTES("\4\1\2\2a"), .want = {.output = NT_TREE_ENDS, .member = 1}},
    {"structures of no fixed width", ZIP,
     .nodes = {{.kind = NT_TREE_VARIABLE_PACKED, .members = members, .member_count = 2}}, .offset_bits = 8,
     BYTES("\4\1\2\2a"), .want = {.output = NT_TREE_VALUES, .member = NT_TREE_ALL_MEMBERS},
     .status = NT_UNSUPPORTED},
    {"the value of a constant page are longer than its 10 bytes", CONSTANT,
     .nodes = {{.kind = NT_TREE_FLAT, .bits = 16}}, .has_value_part = true, .parts = {{0, 10}},
     BYTES("\1\0\0\0\3\0\0\0\5\0")},
    {"the value of a constant page are longer than its 4 bytes", CONSTANT,
     .nodes = {{.kind = NT_TREE_FLAT, .bits = 16}}, .has_value_part = true, .parts = {{0, 4}},
     BYTES("\0\0\0\0")},
    {"the value of a constant page", CONSTANT, .nodes = {{.kind = NT_TREE_FLAT, .bits = 32}},
     .has_value_part = true, .parts = {{0, 10}}, BYTES("\1\0\0\0\2\0\0\0\5\0")},
    {"4 valid rows of a constant page without a value", CONSTANT,
     .nodes = {{.kind = NT_TREE_FLAT, .bits = 8}}, BYTES("")},
    {"buffer 0 lies outside of its page", CONSTANT, .nodes = {{.kind = NT_TREE_FLAT, .bits = 16}},
     .has_value_part = true, .parts = {{0, 10}}, BYTES("\1\0\0\0")},
    {"largest definition level, at most", CONSTANT, .nodes = {{.kind = NT_TREE_FLAT, .bits = 8}},
     .parts = {{0, 0}, {0, 8}}, BYTES("\1\0\2\0\1\0\1\0"), VALID, .layer = NT_LAYER_NULLABLE_ITEM},
    {"definition levels", CONSTANT, .nodes = {{.kind = NT_TREE_FLAT, .bits = 8}}, .parts = {{0, 4}, {0, 8}},
     BYTES("\0\0\0\0\0\0\0\0"), VALID, .layer = NT_LAYER_LIST},
};

#endif
