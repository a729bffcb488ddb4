/* SPDX-License-Identifier: MIT
 *
 * Messages that describe the encoding of pages, after Lance's protos, and the trees that are built from
 * them.
 */
#include "lance_encodings.h"

static const struct nt_encoding_tree_node *node(uint32_t number)
{
    ck_assert_uint_lt(number, layout.tree->node_count);
    return &layout.tree->nodes[number];
}

/* ---- layouts ---- */

TEST(mini_blocks_take_their_buffers_in_the_order_of_their_encodings, .setup = set_up, .teardown = tear_down)
{
    struct nt_buffer list = joined(joined(number_in(1, 3), around(2, flat(32))), number_in(3, true));
    struct nt_buffer values = joined(around(1, inline_bits(16)), around(2, flat(16)));
    values =
        joined(joined(values, around(3, around(11, list))), layers(6, NT_LAYER_NULLABLE_ITEM, NT_LAYER_LIST));
    values = joined(values, joined(number_in(7, 2), joined(number_in(8, 1), number_in(9, 100))));
    assert_ok(make(around(1, joined(values, number_in(10, true))), 3));
    const struct nt_encoding_tree *tree = layout.tree;
    ck_assert_int_eq(tree->layout, NT_LANCE_MINI_BLOCK);
    ck_assert(tree->has_large_chunk && !tree->has_dictionary && !layout.is_blob);
    ck_assert_uint_eq(tree->buffers, 2);
    ck_assert_uint_eq(tree->layer_count, 2);
    ck_assert_uint_eq(tree->layers[0], NT_LAYER_NULLABLE_ITEM);
    ck_assert_uint_eq(tree->layers[1], NT_LAYER_LIST);
    ck_assert_uint_eq(layout.items, 100);
    ck_assert_uint_eq(layout.index_depth, 1);
    ck_assert_int_eq(node(tree->values)->kind, NT_LANCE_FIXED_LIST);
    ck_assert_uint_eq(node(tree->values)->items, 3);
    ck_assert(node(tree->values)->has_validity);
    ck_assert_uint_eq(node(tree->values)->buffer, 0);
    const struct nt_encoding_tree_node *items = node(node(tree->values)->children[0]);
    ck_assert_int_eq(items->kind, NT_LANCE_FLAT);
    ck_assert_uint_eq(items->bits, 32);
    ck_assert_uint_eq(items->buffer, 1);
    ck_assert_int_eq(node(tree->repetition)->kind, NT_LANCE_INLINE_BITS);
    ck_assert_int_eq(node(tree->definition)->kind, NT_LANCE_FLAT);
    ck_assert_uint_eq(node(tree->definition)->bits, 16);
}

TEST(a_dictionary_is_the_third_buffer, .setup = set_up, .teardown = tear_down)
{
    struct nt_buffer values = joined(mini_block(flat(8), 1), joined(around(4, variable()), number_in(5, 7)));
    assert_ok(make(around(1, values), 3));
    ck_assert(layout.tree->has_dictionary);
    ck_assert_uint_eq(layout.dictionary_buffer, 2);
    ck_assert_uint_eq(layout.dictionary_items, 7);
    ck_assert_int_eq(layout.dictionary->layout, NT_LANCE_BLOCK);
    ck_assert_int_eq(layout.dictionary->nodes[layout.dictionary->values].kind, NT_LANCE_VARIABLE);
}

TEST(full_zip_has_the_widths_of_its_rows, .setup = set_up, .teardown = tear_down)
{
    struct nt_buffer rows =
        joined(joined(number_in(1, 1), number_in(2, 2)), joined(number_in(4, 32), number_in(5, 40)));
    rows = joined(joined(rows, number_in(6, 32)),
                  joined(around(7, variable()), layers(8, NT_LAYER_ITEM, NT_LAYER_LIST)));
    assert_ok(make(around(3, rows), 2));
    ck_assert_int_eq(layout.tree->layout, NT_LANCE_FULL_ZIP);
    ck_assert_uint_eq(layout.tree->repetition_bits, 1);
    ck_assert_uint_eq(layout.tree->definition_bits, 2);
    ck_assert_uint_eq(layout.tree->offset_bits, 32);
    ck_assert_uint_eq(layout.tree->value_bits, 0);
    ck_assert_uint_eq(layout.items, 32); /* the visible ones */
}

static struct nt_buffer zipped(unsigned layer, struct nt_buffer values)
{
    return around(3, joined(number_in(6, 32), joined(around(7, values), layers(8, layer, 0))));
}

static struct nt_buffer constant(void)
{
    struct nt_buffer encoding = {0};
    put_bytes(&encoding, 3, "", 0);
    return encoding;
}

static struct nt_buffer in_list(struct nt_buffer values)
{
    return around(11, joined(joined(number_in(1, 2), number_in(3, 1)), around(2, values)));
}

/* Two nested fixed-size lists: the nulls in the file, the layer around them, whether another page has
 * nulls, whether the schema allows them; and which nodes of the lists and of the value are nullable. */
static const struct {
    unsigned lists, layer;
    bool is_known, is_nullable, are_null[3];
} null_constants[] = {
    {2, NT_LAYER_ITEM, false, true, {false, false, true}},
    {1, NT_LAYER_ITEM, false, true, {false, false, true}},
    {0, NT_LAYER_NULLABLE_ITEM, true, true, {false, true, true}},
    {0, NT_LAYER_ITEM, true, true, {false, true, true}},
    {0, NT_LAYER_ITEM, false, true, {true, true, true}},
    {0, NT_LAYER_ITEM, false, false, {false, true, true}},
};

TEST(a_constant_without_a_value_means_the_lists_that_are_left, .setup = set_up, .teardown = tear_down,
     .end = (int)(sizeof(null_constants) / sizeof(*null_constants)))
{
    struct nt_buffer values = constant();
    for (unsigned i = 0; i < null_constants[_i].lists; i++)
        values = in_list(values);
    stored = (struct nt_lance_value){
        .bits = 32, .is_nullable = null_constants[_i].is_nullable, .list_count = 2, .lists = {2, 2}};
    of_column.has_null_levels = null_constants[_i].is_known;
    assert_ok(make(zipped(null_constants[_i].layer, values), 1));
    stored = (struct nt_lance_value){.bits = 32};
    of_column.has_null_levels = false;
    ck_assert_uint_eq(layout.tree->node_count, 3);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(node(i)->kind, i < 2 ? NT_LANCE_FIXED_LIST : NT_LANCE_SAME);
        ck_assert_int_eq(node(i)->is_null, null_constants[_i].are_null[i]);
        ck_assert_uint_eq(node(i)->has_validity, i < null_constants[_i].lists);
    }
}

TEST(strings_and_levels_have_no_constants_without_a_value, .setup = set_up, .teardown = tear_down)
{
    stored = (struct nt_lance_value){.bits = 0};
    ck_assert_int_eq(make(zipped(NT_LAYER_ITEM, constant()), 1), NT_UNSUPPORTED);
    stored = (struct nt_lance_value){.bits = 32};
    ck_assert_int_eq(make(zipped(NT_LAYER_ITEM, flat(32)), 1), NT_CORRUPT); /* values of 0 bits */
}

/* No buffers, or those of two kinds of levels; the value is in the message, or in a buffer before them. */
TEST(a_constant_has_its_value_in_the_message_or_in_an_odd_buffer, .setup = set_up, .teardown = tear_down)
{
    struct nt_buffer constant = layers(5, NT_LAYER_NULLABLE_ITEM, 0);
    put_bytes(&constant, 6, "\1\2\3\4", 4);
    assert_ok(make(around(2, constant), 2));
    ck_assert_int_eq(layout.tree->layout, NT_LANCE_CONSTANT);
    ck_assert_uint_eq(layout.tree->value_bytes, 4);
    ck_assert_mem_eq(layout.tree->value, "\1\2\3\4", 4);
    for (unsigned count = 0; count < 4; count++) {
        assert_ok(make(around(2, layers(5, NT_LAYER_NULLABLE_ITEM, 0)), count));
        ck_assert_ptr_null(layout.tree->value);
        ck_assert(layout.tree->has_value_part == (count % 2 == 1));
        ck_assert_uint_eq(layout.tree->part_count, count);
    }
}

TEST(blobs_are_places_in_another_layout, .setup = set_up, .teardown = tear_down)
{
    assert_ok(make(blobs_in(around(1, mini_block(flat(128), 1))), 2));
    ck_assert(layout.is_blob);
    ck_assert_uint_eq(layout.blobs.layer_count, 2);
    ck_assert_uint_eq(layout.tree->layer_count, 1);
    ck_assert_int_eq(layout.tree->layout, NT_LANCE_MINI_BLOCK);
    ck_assert_uint_eq(node(layout.tree->values)->bits, 128);
}

/* A list of 2.0 whose ends are in the second buffer: slices begin where the first buffer begins. */
TEST(arrays_of_2_0_have_their_buffers_as_parts, .setup = set_up, .teardown = tear_down)
{
    struct nt_buffer ends = around(1, joined(number_in(1, 64), around(2, number_in(1, 1))));
    ends = around(2, around(1, around(1, ends)));
    struct nt_buffer list = joined(around(1, ends), joined(number_in(2, 10), number_in(3, 9)));
    assert_ok(make_of_kind(around(4, list), NT_LANCE_ENCODING_IS_ARRAY, 2, NULL));
    ck_assert_int_eq(layout.tree->layout, NT_LANCE_ARRAY);
    ck_assert_uint_eq(layout.list_items, 9);
    ck_assert_int_eq(node(layout.tree->values)->kind, NT_LANCE_LIST_ENDS);
    ck_assert_uint_eq(node(layout.tree->values)->adjustment, 10);
    ck_assert_uint_eq(node(node(layout.tree->values)->children[0])->buffer, 1);
    ck_assert_uint_eq(layout.tree->part_count, 2);
    ck_assert_uint_eq(layout.tree->parts[0].offset, 0);
    ck_assert_uint_eq(layout.tree->parts[0].bytes, 50);
    ck_assert_uint_eq(layout.tree->parts[1].offset, 100);
    ck_assert_uint_eq(layout.tree->parts[1].bytes, 51);
}

TEST(equal_pages_have_one_tree, .setup = set_up, .teardown = tear_down)
{
    assert_ok(make(around(1, mini_block(flat(32), 1)), 2));
    const struct nt_encoding_tree *first = layout.tree;
    assert_ok(make_of_kind(around(1, mini_block(flat(32), 1)), NT_LANCE_ENCODING_IS_LAYOUT, 2, first));
    ck_assert_ptr_eq(layout.tree, first);
    assert_ok(make_of_kind(around(1, mini_block(flat(64), 1)), NT_LANCE_ENCODING_IS_LAYOUT, 2, first));
    ck_assert_ptr_ne(layout.tree, first);
}

/* ---- refusals ---- */

static struct nt_buffer without_values(void)
{
    return around(1, joined(layers(6, NT_LAYER_ITEM, 0), number_in(9, 100)));
}

static struct nt_buffer with_more_buffers(void)
{
    return around(1, mini_block(flat(32), 2));
}

static struct nt_buffer without_layers(void)
{
    return around(1, joined(around(3, flat(32)), joined(number_in(7, 1), number_in(9, 100))));
}

static struct nt_buffer with_an_unknown_layer(void)
{
    return around(1, joined(joined(around(3, flat(32)), layers(6, NT_LAYER_COUNT, 0)), number_in(7, 1)));
}

static struct nt_buffer with_a_layer_of_no_sort(void)
{
    return around(1, joined(joined(around(3, flat(32)), number_in(6, 0)), number_in(7, 1)));
}

static struct nt_buffer with_wide_levels(void)
{
    return around(3, joined(joined(number_in(1, 17), number_in(3, 32)),
                            joined(around(7, flat(32)), layers(8, NT_LAYER_ITEM, 0))));
}

static struct nt_buffer with_two_widths(void)
{
    return around(3, joined(joined(number_in(3, 32), number_in(4, 32)),
                            joined(around(7, flat(32)), layers(8, NT_LAYER_ITEM, 0))));
}

static struct nt_buffer of_no_layout(void)
{
    return number_in(77, 1);
}

static struct nt_buffer of_blobs_in_blobs(void)
{
    return blobs_in(blobs_in(around(1, mini_block(flat(128), 1))));
}

static struct nt_buffer of_blobs_without_layers(void)
{
    return around(4, around(1, around(1, mini_block(flat(128), 1))));
}

static struct nt_buffer constant_of_many_buffers(void)
{
    return around(2, layers(5, NT_LAYER_NULLABLE_ITEM, 0));
}

/* Some have an unknown encoding. */
static struct nt_buffer unknown(void)
{
    return number_in(1000, 1);
}

static struct nt_buffer with_an_unknown_dictionary(void)
{
    return around(1, joined(mini_block(flat(8), 1), joined(around(4, unknown()), number_in(5, 7))));
}

static struct nt_buffer with_unknown_repetition(void)
{
    return around(1, joined(around(1, unknown()), mini_block(flat(8), 1)));
}

static struct nt_buffer with_unknown_definition(void)
{
    return around(1, joined(around(2, unknown()), mini_block(flat(8), 1)));
}

static struct nt_buffer with_wide_definition(void)
{
    return around(3, joined(joined(number_in(2, 17), number_in(3, 32)),
                            joined(around(7, flat(32)), layers(8, NT_LAYER_ITEM, 0))));
}

static struct nt_buffer with_wide_values(void)
{
    return around(
        3, joined(number_in(3, UINT64_C(1) << 40), joined(around(7, flat(32)), layers(8, NT_LAYER_ITEM, 0))));
}

static struct nt_buffer with_odd_lengths(void)
{
    return around(3, joined(number_in(4, 24), joined(around(7, variable()), layers(8, NT_LAYER_ITEM, 0))));
}

static struct nt_buffer zipped_without_layers(void)
{
    return around(3, joined(number_in(3, 32), around(7, flat(32))));
}

static struct nt_buffer zipped_by_what_is_unknown(void)
{
    return around(3, joined(number_in(3, 32), joined(around(7, unknown()), layers(8, NT_LAYER_ITEM, 0))));
}

static struct nt_buffer of_blobs_in_nothing(void)
{
    return around(4, layers(2, NT_LAYER_NULLABLE_ITEM, NT_LAYER_ITEM));
}

static struct nt_buffer constant_without_layers(void)
{
    return around(2, number_in(9, 1));
}

static const struct {
    struct nt_buffer (*write)(void);
    enum nt_status expected;
    const char *message;
} refusals[] = {
    {without_values, NT_UNSUPPORTED, "cannot read value encoding 0"},
    {with_more_buffers, NT_CORRUPT, "buffers of a chunk that its encodings need: expected 1, found 2"},
    {without_layers, NT_CORRUPT, "has no layers"},
    {with_an_unknown_layer, NT_UNSUPPORTED, "layer 7"},
    {with_a_layer_of_no_sort, NT_UNSUPPORTED, "layer 0"},
    {with_wide_levels, NT_CORRUPT, "bits: 17 and 0 for levels"},
    {with_two_widths, NT_CORRUPT, "32 for values, 32 for lengths"},
    {with_an_unknown_dictionary, NT_UNSUPPORTED, "cannot read value encoding 0"},
    {with_unknown_repetition, NT_UNSUPPORTED, "cannot read value encoding 0"},
    {with_unknown_definition, NT_UNSUPPORTED, "cannot read value encoding 0"},
    {with_wide_definition, NT_CORRUPT, "bits: 0 and 17 for levels"},
    {with_wide_values, NT_CORRUPT, "4294967295 for values"},
    {with_odd_lengths, NT_CORRUPT, "0 for values, 24 for lengths"},
    {zipped_without_layers, NT_CORRUPT, "has no layers"},
    {zipped_by_what_is_unknown, NT_UNSUPPORTED, "cannot read value encoding 0"},
    {constant_without_layers, NT_CORRUPT, "has no layers"},
    {of_blobs_in_nothing, NT_UNSUPPORTED, "cannot read page layout 0"},
    {of_no_layout, NT_UNSUPPORTED, "cannot read page layout 0"},
    {of_blobs_without_layers, NT_CORRUPT, "has no layers"},
    {of_blobs_in_blobs, NT_UNSUPPORTED, "cannot read page layout 4"},
    {constant_of_many_buffers, NT_LIMIT, "buffers of a page: expected at most 16, found 17"},
};

TEST(what_does_not_fit_is_refused, .setup = set_up, .teardown = tear_down,
     .end = sizeof(refusals) / sizeof(*refusals))
{
    ck_assert_msg(make(refusals[_i].write(), 17) == refusals[_i].expected, "%s", error.message);
    ck_assert_msg(strstr(error.message, refusals[_i].message), "%s", error.message);
}

TEST(levels_of_a_constant_have_encodings_that_are_known, .setup = set_up, .teardown = tear_down,
     .first = NT_LANCE_CONSTANT_LAYOUT_REP_COMPRESSION, .end = NT_LANCE_CONSTANT_LAYOUT_DEF_COMPRESSION + 1)
{
    struct nt_buffer constant = joined(layers(5, NT_LAYER_NULLABLE_ITEM, 0), around((uint32_t)_i, unknown()));
    ck_assert_int_eq(make(around(2, constant), 3), NT_UNSUPPORTED);
    ck_assert_msg(strstr(error.message, "cannot read value encoding 0"), "%s", error.message);
}

TEST(arrays_of_2_0_have_no_more_buffers_than_parts, .setup = set_up, .teardown = tear_down)
{
    struct nt_buffer bytes = around(1, joined(number_in(1, 64), around(2, number_in(1, 1))));
    ck_assert_int_eq(make_of_kind(bytes, NT_LANCE_ENCODING_IS_ARRAY, 17, NULL), NT_LIMIT);
    ck_assert_msg(strstr(error.message, "buffers of a page: expected at most 16, found 17"), "%s",
                  error.message);
}

TEST(an_encoding_that_is_not_known_is_refused, .setup = set_up, .teardown = tear_down)
{
    ck_assert_uint_eq(make_of_kind(number_in(1, 1), NT_LANCE_ENCODING_IS_UNKNOWN, 0, NULL), NT_UNSUPPORTED);
}
