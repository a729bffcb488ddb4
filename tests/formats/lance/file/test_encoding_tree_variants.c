/* SPDX-License-Identifier: MIT
 *
 * Messages that describe the encoding of pages: different messages give different trees, and unknown
 * encodings are refused by name.
 */
#include "lance_encodings.h"

/* ---- encodings that differ ---- */

static struct nt_buffer text_in(uint32_t number, const char *text)
{
    struct nt_buffer outer = {0};
    put_bytes(&outer, number, text, strlen(text));
    return outer;
}

static struct nt_buffer general(uint64_t scheme, struct nt_buffer values)
{
    return around(10, joined(around(1, number_in(1, scheme)), around(3, values)));
}

static struct nt_buffer out_of_line(uint64_t bits, uint64_t packed_bits)
{
    return around(4, joined(number_in(1, bits), around(3, flat(packed_bits))));
}

static struct nt_buffer runs(struct nt_buffer values, struct nt_buffer lengths)
{
    return around(8, joined(around(1, values), around(2, lengths)));
}

static struct nt_buffer fixed_list(uint64_t items, struct nt_buffer values)
{
    return around(11, joined(number_in(1, items), around(2, values)));
}

static struct nt_buffer validated_list(uint64_t items, struct nt_buffer values)
{
    return around(11, joined(joined(number_in(1, items), around(2, values)), number_in(3, true)));
}

/* A structure of one member; `width` 2: of so many bits, 3: a string whose length has so many. */
static struct nt_buffer variable_packed(uint32_t width, uint64_t bits)
{
    return around(13, around(1, joined(around(1, flat(8)), number_in(width, bits))));
}

/* A table of one symbol of one letter, from the paper: its number, "FSST", eight bytes, its length. */
static struct nt_buffer symbols(char letter)
{
    const char table[17] = {1, 0, 0, 1, 'T', 'S', 'S', 'F', letter, [16] = 1};
    struct nt_buffer outer = {0};
    put_bytes(&outer, 1, table, sizeof(table));
    return around(6, joined(outer, around(2, variable())));
}

static struct nt_buffer one_block(struct nt_buffer values)
{
    return around(1, mini_block(values, 1));
}

static struct nt_buffer zip(uint64_t repetition, uint64_t definition, uint32_t width, uint64_t bits)
{
    return around(
        3, joined(joined(number_in(1, repetition), number_in(2, definition)),
                  joined(number_in(width, bits), joined(around(7, flat(32)), layers(8, NT_LAYER_ITEM, 0)))));
}

static struct nt_buffer constant(const char *value, uint64_t repetition_count, uint64_t definition_count)
{
    struct nt_buffer list = layers(5, NT_LAYER_NULLABLE_ITEM, 0);
    if (value)
        put_bytes(&list, 6, value, strlen(value));
    return around(2, joined(list, joined(number_in(9, repetition_count), number_in(10, definition_count))));
}

/* Version 2.0. */
static struct nt_buffer flat_array(uint64_t bits, uint64_t buffer, const char *scheme)
{
    return around(1, joined(joined(number_in(1, bits), around(2, number_in(1, buffer))),
                            around(3, text_in(1, scheme))));
}

static struct nt_buffer array_list(uint64_t adjustment, uint64_t items)
{
    return around(4, joined(around(1, flat_array(64, 0, "none")),
                            joined(number_in(2, adjustment), number_in(3, items))));
}

#define MESSAGE(name, ...)                                                                                   \
    static struct nt_buffer name(void)                                                                       \
    {                                                                                                        \
        return __VA_ARGS__;                                                                                  \
    }
MESSAGE(of_32_bits, one_block(flat(32)))
MESSAGE(of_64_bits, one_block(flat(64)))
MESSAGE(of_inline_bits, one_block(inline_bits(32)))
MESSAGE(of_strings, one_block(variable()))
MESSAGE(of_symbols, one_block(symbols('a')))
MESSAGE(of_other_symbols, one_block(symbols('b')))
MESSAGE(of_large_chunks, around(1, joined(mini_block(flat(32), 1), number_in(10, true))))
MESSAGE(of_two_layers, around(1, joined(joined(around(3, flat(32)), layers(6, NT_LAYER_ITEM, NT_LAYER_ITEM)),
                                        number_in(7, 1))))
MESSAGE(of_lists, around(1, joined(joined(around(3, flat(32)), layers(6, NT_LAYER_ITEM, NT_LAYER_LIST)),
                                   number_in(7, 1))))
MESSAGE(with_repetition, around(1, joined(mini_block(flat(32), 1), around(1, flat(16)))))
MESSAGE(with_definition, around(1, joined(mini_block(flat(32), 1), around(2, flat(16)))))
MESSAGE(of_numbers, one_block(flat(8)))
MESSAGE(with_dictionary, around(1, joined(mini_block(flat(8), 1), around(4, variable()))))
MESSAGE(of_lists_of_3, one_block(fixed_list(3, flat(32))))
MESSAGE(of_lists_of_4, one_block(fixed_list(4, flat(32))))
MESSAGE(of_validated_lists, around(1, mini_block(validated_list(3, flat(32)), 2)))
MESSAGE(of_lz4, one_block(general(1, flat(32))))
MESSAGE(of_zstd, one_block(general(2, flat(32))))
MESSAGE(packed_into_3, one_block(out_of_line(8, 3)))
MESSAGE(packed_into_4, one_block(out_of_line(8, 4)))
MESSAGE(of_runs, around(1, mini_block(runs(flat(32), flat(8)), 2)))
MESSAGE(zip_of_32, zip(0, 0, 3, 32))
MESSAGE(zip_of_40, zip(0, 0, 3, 40))
MESSAGE(zip_with_repetition, zip(1, 0, 3, 32))
MESSAGE(zip_with_definition, zip(0, 1, 3, 32))
MESSAGE(zip_of_lengths, zip(0, 0, 4, 32))
MESSAGE(zip_of_other_lengths, zip(0, 0, 4, 64))
MESSAGE(packed_8, around(3, joined(number_in(4, 8),
                                   joined(around(7, variable_packed(2, 8)), layers(8, NT_LAYER_ITEM, 0)))))
MESSAGE(packed_16, around(3, joined(number_in(4, 8),
                                    joined(around(7, variable_packed(2, 16)), layers(8, NT_LAYER_ITEM, 0)))))
MESSAGE(all_null, constant(NULL, 0, 0))
MESSAGE(all_of_a_value, constant("\1\2\3\4", 0, 0))
MESSAGE(all_of_another, constant("\1\2\3\5", 0, 0))
MESSAGE(all_of_a_shorter, constant("\1\2\3", 0, 0))
MESSAGE(null_of_lists, constant(NULL, 7, 0))
MESSAGE(null_of_nulls, constant(NULL, 0, 7))
MESSAGE(an_array, flat_array(32, 0, "none"))
MESSAGE(another_array, flat_array(32, 1, "none"))
MESSAGE(an_lz4_array, flat_array(32, 0, "lz4"))
MESSAGE(a_zstd_array, flat_array(32, 0, "zstd"))
MESSAGE(lists_in_an_array, array_list(9, 9))
MESSAGE(lists_in_another_array, array_list(10, 9))
MESSAGE(more_lists_in_an_array, array_list(9, 10))

static const struct {
    struct nt_buffer (*write)(void);
    enum nt_lance_encoding_kind kind;
    unsigned buffers;
} different[] = {
    {of_32_bits, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {of_64_bits, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {of_inline_bits, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {of_strings, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {of_symbols, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {of_other_symbols, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {of_large_chunks, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {of_two_layers, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {of_lists, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {with_repetition, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {with_definition, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {of_numbers, NT_LANCE_ENCODING_IS_LAYOUT, 3},
    {with_dictionary, NT_LANCE_ENCODING_IS_LAYOUT, 3},
    {of_lists_of_3, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {of_lists_of_4, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {of_validated_lists, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {of_lz4, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {of_zstd, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {packed_into_3, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {packed_into_4, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {of_runs, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {zip_of_32, NT_LANCE_ENCODING_IS_LAYOUT, 1},
    {zip_of_40, NT_LANCE_ENCODING_IS_LAYOUT, 1},
    {zip_with_repetition, NT_LANCE_ENCODING_IS_LAYOUT, 1},
    {zip_with_definition, NT_LANCE_ENCODING_IS_LAYOUT, 1},
    {zip_of_lengths, NT_LANCE_ENCODING_IS_LAYOUT, 1},
    {zip_of_other_lengths, NT_LANCE_ENCODING_IS_LAYOUT, 1},
    {packed_8, NT_LANCE_ENCODING_IS_LAYOUT, 1},
    {packed_16, NT_LANCE_ENCODING_IS_LAYOUT, 1},
    {all_null, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {all_null, NT_LANCE_ENCODING_IS_LAYOUT, 3},
    {all_null, NT_LANCE_ENCODING_IS_LAYOUT, 4},
    {all_of_a_value, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {all_of_another, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {all_of_a_shorter, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {null_of_lists, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {null_of_nulls, NT_LANCE_ENCODING_IS_LAYOUT, 2},
    {an_array, NT_LANCE_ENCODING_IS_ARRAY, 2},
    {another_array, NT_LANCE_ENCODING_IS_ARRAY, 2},
    {an_lz4_array, NT_LANCE_ENCODING_IS_ARRAY, 2},
    {a_zstd_array, NT_LANCE_ENCODING_IS_ARRAY, 2},
    {lists_in_an_array, NT_LANCE_ENCODING_IS_ARRAY, 2},
    {lists_in_another_array, NT_LANCE_ENCODING_IS_ARRAY, 2},
    {more_lists_in_an_array, NT_LANCE_ENCODING_IS_ARRAY, 2},
};
enum { DIFFERENT = sizeof(different) / sizeof(*different) };

/* Pages that share a tree are decoded alike: no two of these are. */
TEST(pages_that_differ_in_anything_have_trees_of_their_own, .setup = set_up, .teardown = tear_down,
     .end = DIFFERENT)
{
    struct nt_buffer kept = {0};
    assert_ok(make_of_kind(different[_i].write(), different[_i].kind, different[_i].buffers, NULL));
    const struct nt_encoding_tree *known = layout.tree;
    kept = message; /* a tree may have its value there */
    for (int other = 0; other < DIFFERENT; other++) {
        message = (struct nt_buffer){0};
        assert_ok(
            make_of_kind(different[other].write(), different[other].kind, different[other].buffers, known));
        ck_assert_msg((layout.tree == known) == (other == _i), "%d and %d", _i, other);
        nt_buffer_deinit(&message);
    }
    message = kept;
}

static const struct nt_encoding_tree_node *values_of(const struct nt_encoding_tree *tree)
{
    ck_assert_uint_lt(tree->values, tree->node_count);
    return &tree->nodes[tree->values];
}

TEST(a_constant_among_the_values_is_of_their_width, .setup = set_up, .teardown = tear_down)
{
    assert_ok(make(around(1, mini_block(around(3, text_in(1, "abcd")), 0)), 2));
    ck_assert_int_eq(values_of(layout.tree)->kind, NT_LANCE_SAME);
    ck_assert_uint_eq(values_of(layout.tree)->bits, 32);
    ck_assert_mem_eq(values_of(layout.tree)->value, "abcd", 4);
    assert_ok(make(around(1, mini_block(around(3, number_in(9, 0)), 0)), 2)); /* all are null */
    ck_assert_int_eq(values_of(layout.tree)->kind, NT_LANCE_SAME);
    ck_assert_uint_eq(values_of(layout.tree)->bits, 32);
    ck_assert_ptr_null(values_of(layout.tree)->value);
}

static struct nt_buffer list_array(uint64_t items, struct nt_buffer values)
{
    return around(3, joined(number_in(1, items), around(2, values)));
}

/* Of 16 bits, and of three and of two times two that have 8 each. */
TEST(a_packed_structure_of_2_0_is_as_wide_as_its_members, .setup = set_up, .teardown = tear_down)
{
    struct nt_buffer members =
        joined(around(1, flat_array(16, 0, "none")), around(1, list_array(3, flat_array(8, 0, "none"))));
    members = joined(members, around(1, list_array(2, list_array(2, flat_array(8, 0, "none")))));
    assert_ok(make_of_kind(around(9, joined(members, around(2, number_in(1, 1)))), NT_LANCE_ENCODING_IS_ARRAY,
                           2, NULL));
    const struct nt_encoding_tree_node *packed = values_of(layout.tree),
                                       *rows = &layout.tree->nodes[packed->children[0]];
    ck_assert_int_eq(packed->kind, NT_LANCE_PACKED);
    ck_assert_int_eq(rows->kind, NT_LANCE_FLAT);
    ck_assert_uint_eq(rows->bits, 16 + 3 * 8 + 4 * 8);
    ck_assert_uint_eq(rows->buffer, 1);
}

/* ---- refusals ---- */

MESSAGE(of_a_compressed_buffer, one_block(around(1, joined(number_in(1, 32), around(2, number_in(1, 1))))))
MESSAGE(of_no_bits, one_block(flat(0)))
MESSAGE(of_short_offsets, one_block(around(2, around(1, flat(16)))))
MESSAGE(of_24_bits, one_block(inline_bits(24)))
MESSAGE(packed_into_more, one_block(out_of_line(8, 9)))
MESSAGE(of_a_later_scheme, one_block(general(7, flat(32))))
MESSAGE(of_runs_of_strings, around(1, mini_block(runs(variable(), flat(8)), 2)))
MESSAGE(of_runs_of_bits, around(1, mini_block(runs(flat(32), flat(1)), 2)))
MESSAGE(of_no_symbols, one_block(around(6, joined(text_in(1, "none"), around(2, variable())))))
MESSAGE(of_a_wider_constant, one_block(around(3, text_in(1, "12345"))))
MESSAGE(of_members_of_12_bits, around(3, joined(number_in(4, 8), joined(around(7, variable_packed(2, 12)),
                                                                        layers(8, NT_LAYER_ITEM, 0)))))
MESSAGE(of_lengths_of_4_bits, around(3, joined(number_in(4, 8), joined(around(7, variable_packed(3, 4)),
                                                                       layers(8, NT_LAYER_ITEM, 0)))))

static struct nt_buffer with_65_layers(void)
{
    uint64_t numbers[65];
    struct nt_buffer list = {0};
    for (unsigned i = 0; i < 65; i++)
        numbers[i] = NT_LAYER_ITEM;
    put_packed(&list, 6, numbers, 65);
    return around(1, joined(joined(around(3, flat(32)), list), number_in(7, 1)));
}

static struct nt_buffer with_33_buffers(void)
{
    struct nt_buffer values = flat(32);
    for (unsigned i = 0; i < 32; i++)
        values = validated_list(1, values);
    return around(1, mini_block(values, 33));
}

static const struct refusal {
    struct nt_buffer (*write)(void);
    enum nt_status expected;
    const char *message;
} layouts[] = {
    {of_a_compressed_buffer, NT_UNSUPPORTED, "cannot read a compressed buffer of this encoding"},
    {of_no_bits, NT_UNSUPPORTED, "flat values of 0 bits"},
    {of_short_offsets, NT_UNSUPPORTED, "cannot read offsets of 16 bits"},
    {of_24_bits, NT_CORRUPT, "values of 24 bits cannot be packed into 0 bits"},
    {packed_into_more, NT_CORRUPT, "values of 8 bits cannot be packed into 9 bits"},
    {of_a_later_scheme, NT_UNSUPPORTED, "unknown compression scheme 7"},
    {of_runs_of_strings, NT_UNSUPPORTED, "cannot read runs of the encoding variable with 32 bits"},
    {of_runs_of_bits, NT_UNSUPPORTED, "cannot read runs of the encoding flat with 1 bits"},
    {of_no_symbols, NT_CORRUPT, "symbol"},
    {of_a_wider_constant, NT_UNSUPPORTED, "a constant of 5 bytes cannot be a value of 32 bits"},
    {of_members_of_12_bits, NT_UNSUPPORTED, "members of 12 bits with lengths of 0 bits"},
    {of_lengths_of_4_bits, NT_UNSUPPORTED, "members of 0 bits with lengths of 4 bits"},
    {with_65_layers, NT_LIMIT, "a value has more than 64 layers"},
    {with_33_buffers, NT_LIMIT, "buffers of a chunk: expected at most 32, found 33"},
};

TEST(a_layout_that_is_not_read_is_refused, .setup = set_up, .teardown = tear_down,
     .end = sizeof(layouts) / sizeof(*layouts))
{
    ck_assert_msg(make(layouts[_i].write(), 2) == layouts[_i].expected, "%s", error.message);
    ck_assert_msg(strstr(error.message, layouts[_i].message), "%s", error.message);
}

/* After so many encodings that there is room for none, or for only one. */
static struct nt_buffer flat_32(void)
{
    return flat(32);
}

static struct nt_buffer runs_of_flat(void)
{
    return runs(flat(32), flat(8));
}

static struct nt_buffer split(void)
{
    return around(NT_LANCE_COMPRESSIVE_BYTE_STREAM_SPLIT, around(1, flat(32)));
}

static struct nt_buffer compressed(void)
{
    return general(1, flat(32));
}

static struct nt_buffer packed_members(void)
{
    return variable_packed(2, 32);
}

static struct nt_buffer (*const last_members[])(void) = {flat_32, variable,   runs_of_flat,
                                                         split,   compressed, packed_members};

static struct nt_buffer member_of(struct nt_buffer values)
{
    struct nt_buffer member = joined(around(NT_LANCE_PACKED_MEMBER_VALUE, values),
                                     number_in(NT_LANCE_PACKED_MEMBER_BITS_PER_VALUE, 32));
    return around(NT_LANCE_VARIABLE_PACKED_STRUCT_FIELDS, member);
}

TEST(encodings_in_one_another_are_not_too_many, .setup = set_up, .teardown = tear_down,
     .end = sizeof(last_members) / sizeof(*last_members))
{
    for (unsigned left = 0; left < 2; left++) {
        struct nt_buffer members = {0};
        for (unsigned i = 1; i < NT_LANCE_NODES - left; i++)
            members = joined(members, member_of(flat(32)));
        members = joined(members, member_of(last_members[_i]()));
        struct nt_buffer values = around(7, around(NT_LANCE_COMPRESSIVE_VARIABLE_PACKED_STRUCT, members));
        struct nt_buffer rows = joined(number_in(4, 8), joined(values, layers(8, NT_LAYER_ITEM, 0)));
        enum nt_status status = make(around(3, rows), 2);
        bool fits = left && (last_members[_i] == flat_32 || last_members[_i] == variable);
        ck_assert_msg(status == (fits ? NT_OK : NT_LIMIT), "%u left: %s", left, error.message);
        ck_assert_msg(fits || strstr(error.message, "encodings are nested more than 256 deep"), "%s",
                      error.message);
    }
}

/* Arrays of 2.0. */
MESSAGE(of_another_scheme, flat_array(32, 0, "snappy"))
MESSAGE(in_the_columns_buffer,
        around(1, joined(number_in(1, 32), around(2, joined(number_in(1, 3), number_in(2, 1))))))
MESSAGE(in_a_buffer_of_no_number,
        around(1, joined(number_in(1, 32), around(2, number_in(1, UINT64_C(1) << 32)))))
MESSAGE(of_nulls_of_no_kind, around(2, number_in(9, 1)))
MESSAGE(of_packed_bits, around(10, number_in(1, 3)))
MESSAGE(of_packed_nulls,
        around(9, joined(around(1, around(2, around(3, number_in(9, 0)))), around(2, number_in(1, 0)))))
MESSAGE(of_packed_bools, around(9, joined(around(1, flat_array(1, 0, "none")), around(2, number_in(1, 0)))))
MESSAGE(of_packed_lists_of_none,
        around(9, joined(around(1, list_array(0, flat_array(8, 0, "none"))), around(2, number_in(1, 0)))))
MESSAGE(of_packed_lists_of_many,
        around(9, joined(around(1, list_array(UINT32_MAX, list_array(UINT32_MAX, flat_array(8, 0, "none")))),
                         around(2, number_in(1, 0)))))
MESSAGE(of_strings_without_ends,
        around(NT_LANCE_ARRAY_BINARY, number_in(NT_LANCE_ARRAY_BINARY_NULL_ADJUSTMENT, 1)))
MESSAGE(of_numbers_of_nothing,
        around(NT_LANCE_ARRAY_DICTIONARY, number_in(NT_LANCE_ARRAY_DICTIONARY_NUM_ITEMS, 1)))
MESSAGE(of_packed_riddles, around(9, joined(around(1, number_in(77, 1)), around(2, number_in(1, 0)))))
MESSAGE(of_packed_nothing, around(9, around(2, number_in(1, 0))))

static const struct refusal arrays[] = {
    {of_another_scheme, NT_UNSUPPORTED, "compression scheme snappy"},
    {in_the_columns_buffer, NT_UNSUPPORTED,
     "a page uses buffer 3 of a column or of the file, which cannot be read"},
    {in_a_buffer_of_no_number, NT_UNSUPPORTED, "buffer 4294967296 of a column or of the file"},
    {of_nulls_of_no_kind, NT_UNSUPPORTED, "cannot read nulls of kind 0"},
    {of_packed_bits, NT_UNSUPPORTED, "cannot read array encoding 10"},
    {of_packed_nulls, NT_UNSUPPORTED, "a packed structure with a member of the encoding all nulls"},
    {of_packed_bools, NT_UNSUPPORTED, "a packed structure with a member of the encoding flat"},
    {of_packed_lists_of_none, NT_UNSUPPORTED,
     "a packed structure with a member of the encoding fixed-size list"},
    {of_packed_lists_of_many, NT_UNSUPPORTED, "packed structures of "},
    {of_strings_without_ends, NT_UNSUPPORTED, "cannot read array encoding 0"},
    {of_numbers_of_nothing, NT_UNSUPPORTED, "cannot read array encoding 0"},
    {of_packed_riddles, NT_UNSUPPORTED, "cannot read array encoding 0"},
    {of_packed_nothing, NT_UNSUPPORTED, "packed structures of 0 bits"},
};

TEST(an_array_that_is_not_read_is_refused, .setup = set_up, .teardown = tear_down,
     .end = sizeof(arrays) / sizeof(*arrays))
{
    enum nt_status status = make_of_kind(arrays[_i].write(), NT_LANCE_ENCODING_IS_ARRAY, 1, NULL);
    ck_assert_msg(status == arrays[_i].expected && strstr(error.message, arrays[_i].message), "%s: %s",
                  nt_status_name(status), error.message);
}
