/* SPDX-License-Identifier: MIT
 *
 * Pages in nested encodings, compared with random nested rows whose levels the tests compute from their
 * definition: cut into chunks at any position, in rows, and as constants; arrays of version 2.0 by hand;
 * and damaged pages.
 */
#include "formats/lance/decode/decode.h"

#include <stdio.h>
#include <string.h>

#include "compressors.h"
#include "support.h"
#include "tree_writer.h"
#include "core/codec/codec.h"

static struct nt_error error;
static struct nt_codec_context *context;
static struct model model;
static struct page page;

static void set_up(void)
{
    context = nt_codec_context_new();
    ck_assert_ptr_nonnull(context);
    srand(11);
}

static void tear_down(void)
{
    nt_codec_context_free(context);
}

/* ---- what is read ---- */

enum { VALUES, STRINGS, LEVELS, RUNS, RUN_VALUES, RUN_LENGTHS };

static const struct nt_encoding_tree_node nodes[] = {
    [VALUES] = {.kind = NT_LANCE_FLAT, .bits = 32},
    [STRINGS] = {.kind = NT_LANCE_VARIABLE, .bits = 32},
    [LEVELS] = {.kind = NT_LANCE_FLAT, .bits = 16},
    [RUNS] = {.kind = NT_LANCE_RUNS, .bits = 16, .children = {RUN_VALUES, RUN_LENGTHS}},
    [RUN_VALUES] = {.kind = NT_LANCE_FLAT, .bits = 16},
    [RUN_LENGTHS] = {.kind = NT_LANCE_FLAT, .bits = 8},
};

static struct nt_encoding_tree tree_of(enum nt_lance_layout_kind layout, uint32_t values, uint32_t levels)
{
    struct nt_encoding_tree tree = {.layout = layout,
                                    .nodes = nodes,
                                    .node_count = sizeof(nodes) / sizeof(*nodes),
                                    .values = values,
                                    .repetition = NT_NO_NODE,
                                    .definition = NT_NO_NODE,
                                    .buffers = 1,
                                    .layer_count = model.layer_count};
    memcpy(tree.layers, model.layers, model.layer_count);
    if (layout != NT_LANCE_FULL_ZIP && model_has_lists(&model))
        tree.repetition = levels;
    if (layout != NT_LANCE_FULL_ZIP && model_has_definition(&model))
        tree.definition = levels;
    return tree;
}

static enum nt_status decode(const struct nt_encoding_tree *tree, const struct nt_lance_output_spec *spec,
                             uint64_t parameter, uint64_t elements, uint32_t width, void *output)
{
    uint8_t *bytes = exact_copy(page.bytes, page.count);
    const struct nt_lance_decoder_state state = {tree, *spec};
    const struct nt_decoder decoder = {.state = &state, .element_bytes = width};
    const struct nt_packed packed = {.decoder = &decoder,
                                     .data = bytes,
                                     .bytes = page.count,
                                     .elements = elements,
                                     .parameter = parameter,
                                     .context = context,
                                     .limit = 1 << 20};
    enum nt_status status = nt_lance_decode(&packed, output, &error);
    free(bytes);
    return status;
}

static struct nt_lance_counts counts_of(const struct nt_encoding_tree *tree, uint64_t values,
                                        bool needs_bytes)
{
    struct nt_lance_counts counts;
    const struct nt_packed packed = {
        .data = page.bytes, .bytes = page.count, .context = context, .limit = 1 << 20};
    assert_ok(nt_lance_count(tree, &packed, values, needs_bytes, 0, &counts, &error));
    return counts;
}

/* ---- what is expected ---- */

static uint64_t rows_in(uint32_t layer, uint64_t begin, uint64_t end)
{
    return model_rows_before(&model, layer, end) - model_rows_before(&model, layer, begin);
}

static void assert_values(const struct nt_encoding_tree *tree, uint64_t begin, uint64_t end)
{
    static uint32_t found[MODEL_MAX];
    uint64_t first = model_rows_before(&model, 0, begin), rows = rows_in(0, begin, end);
    assert_ok(decode(tree, &(struct nt_lance_output_spec){.output = NT_LANCE_VALUES}, 0, rows, 4, found));
    for (uint64_t i = 0; i < rows; i++)
        ck_assert_uint_eq(found[i], model.of[0].valid[first + i] ? model.values[first + i] : 0);
}

static void assert_strings(const struct nt_encoding_tree *tree, uint64_t begin, uint64_t end)
{
    static uint64_t ends[MODEL_MAX];
    static char bytes[MODEL_MAX * 4], expected[MODEL_MAX * 4];
    uint64_t first = model_rows_before(&model, 0, begin), rows = rows_in(0, begin, end), total = 0;
    assert_ok(decode(tree, &(struct nt_lance_output_spec){.output = NT_LANCE_ENDS}, 70, rows, 8, ends));
    for (uint64_t i = first; i < first + rows; i++) {
        if (model.of[0].valid[i])
            total += (uint64_t)snprintf(expected + total, 16, "%u", model.values[i]);
        ck_assert_uint_eq(ends[i - first], 70 + total);
    }
    ck_assert_uint_eq(counts_of(tree, rows, true).bytes, total);
    assert_ok(decode(tree, &(struct nt_lance_output_spec){.output = NT_LANCE_BYTES}, rows, total, 1, bytes));
    ck_assert(!memcmp(bytes, expected, total));
}

static void assert_validity(const struct nt_encoding_tree *tree, uint32_t layer, uint64_t begin, uint64_t end)
{
    static uint8_t found[MODEL_MAX];
    uint64_t first = model_rows_before(&model, layer, begin), rows = rows_in(layer, begin, end);
    const struct nt_lance_output_spec spec = {.output = NT_LANCE_VALID, .layer = layer};
    assert_ok(decode(tree, &spec, 0, rows, 1, found));
    for (uint64_t i = 0; i < rows; i++)
        ck_assert_uint_eq(found[i], model.of[layer].valid[first + i]);
}

static bool is_list(uint32_t layer)
{
    uint8_t kind = model.layers[layer];
    return kind != NT_LAYER_ITEM && kind != NT_LAYER_NULLABLE_ITEM;
}

/* The next list shows where this one ends. */
static void assert_offsets(const struct nt_encoding_tree *tree, uint32_t layer, uint64_t begin, uint64_t end)
{
    static uint64_t found[MODEL_MAX];
    uint64_t first = model_rows_before(&model, layer, begin), last = model_rows_before(&model, layer, end);
    uint64_t parameter = model_rows_before(&model, layer - 1, begin);
    const struct nt_lance_output_spec spec = {.output = NT_LANCE_OFFSETS, .layer = layer};
    bool is_first = !first, is_last = last && end == model.levels;
    parameter |= (is_first ? NT_LANCE_IS_FIRST : 0) | (is_last ? NT_LANCE_IS_LAST : 0);
    first -= !is_first;
    last -= last && !is_last;
    assert_ok(decode(tree, &spec, parameter, last - first, 8, found));
    for (uint64_t i = first; i < last; i++)
        ck_assert_uint_eq(found[i - first], model.of[layer].ends[i]);
    parameter |= NT_LANCE_HAS_ITEM_COUNT | rows_in(layer - 1, begin, end) << NT_LANCE_ADDED_BITS;
    assert_ok(decode(tree, &spec, parameter, last - first, 8, found));
    for (uint64_t i = first; i < last; i++)
        ck_assert_uint_eq(found[i - first], model.of[layer].ends[i]);
    ck_assert_uint_eq(
        decode(tree, &spec, parameter + (UINT64_C(1) << NT_LANCE_ADDED_BITS), last - first, 8, found),
        NT_CORRUPT);
}

/* Rows of the outermost layer begin where the repetition level is the number of lists. */
static void assert_ends(const struct nt_lance_counts *counts, uint64_t begin, uint64_t end)
{
    uint16_t lists = 0;
    uint64_t last = end;
    for (uint32_t layer = 0; layer < model.layer_count; layer++)
        lists = (uint16_t)(lists + is_list(layer));
    ck_assert(counts->is_continued == (model.repetition[begin] != lists));
    while (last > begin && (last == end || model.repetition[last] != lists))
        last--;
    ck_assert_uint_eq(counts->last_row, end - last);
}

static void assert_structure(const struct nt_encoding_tree *tree, uint64_t begin, uint64_t end)
{
    struct nt_lance_counts counts = counts_of(tree, rows_in(0, begin, end), false);
    if (nt_lance_has_levels(tree))
        assert_ends(&counts, begin, end);
    for (uint32_t layer = 0; layer < model.layer_count; layer++) {
        ck_assert_uint_eq(counts.slots[layer], rows_in(layer, begin, end));
        assert_validity(tree, layer, begin, end);
        if (is_list(layer))
            assert_offsets(tree, layer, begin, end);
    }
}

/* ---- layers ---- */

enum {
    ITEM = NT_LAYER_ITEM,
    NULLABLE = NT_LAYER_NULLABLE_ITEM,
    LIST = NT_LAYER_LIST,
    NULL_LIST = NT_LAYER_NULLABLE_LIST,
    EMPTY_LIST = NT_LAYER_EMPTYABLE_LIST,
    ANY_LIST = NT_LAYER_NULL_AND_EMPTY_LIST,
};

/* Innermost first. */
static const uint8_t shapes[][MODEL_LAYERS] = {
    {ITEM},
    {NULLABLE},
    {NULLABLE, NULLABLE},
    {ITEM, NULLABLE, ITEM, NULLABLE},
    {ITEM, LIST},
    {ITEM, NULL_LIST},
    {NULLABLE, EMPTY_LIST},
    {NULLABLE, ANY_LIST},
    {NULLABLE, ANY_LIST, NULLABLE},
    {ITEM, LIST, LIST},
    {NULLABLE, ANY_LIST, ANY_LIST},
    {NULLABLE, NULLABLE, ANY_LIST, NULLABLE, EMPTY_LIST, NULLABLE},
    {ITEM, NULLABLE, NULL_LIST, NULLABLE, NULLABLE, LIST},
    {NULLABLE, ANY_LIST, NULLABLE, NULL_LIST, ITEM, ANY_LIST},
};

enum { SHAPES = sizeof(shapes) / sizeof(*shapes), ROWS = 40, TURNS = 40 };

static void fill(int shape, uint32_t rows)
{
    uint32_t count = 0;
    while (count < MODEL_LAYERS && shapes[shape][count])
        count++;
    model_fill(&model, shapes[shape], count, rows);
}

typedef void check_piece(uint64_t begin, uint64_t end);

/* All levels, in pieces of random sizes. */
static void in_pieces(int shape, bool has_one, check_piece *check)
{
    for (int turn = 0; turn < TURNS; turn++) {
        fill(shape, 1 + (uint32_t)rand() % ROWS);
        for (uint64_t begin = 0, end; begin < model.levels; begin = end) {
            uint64_t most = has_one ? model.levels : (uint64_t)rand() % 30 + 1;
            end = begin + most < model.levels ? begin + most : model.levels;
            check(begin, end);
        }
    }
}

static void check_chunk(uint64_t begin, uint64_t end)
{
    bool has_runs = rand() % 2, is_large = rand() % 2;
    struct nt_encoding_tree tree = tree_of(NT_LANCE_MINI_BLOCK, VALUES, has_runs ? RUNS : LEVELS);
    tree.has_large_chunk = is_large;
    write_chunk(&model, begin, end, has_runs, is_large, &page);
    assert_values(&tree, begin, end);
    assert_structure(&tree, begin, end);
}

TEST(chunks_cut_anywhere_hold_the_rows_that_begin_in_them, .setup = set_up, .teardown = tear_down,
     .end = SHAPES)
{
    in_pieces(_i, false, check_chunk);
}

static void check_strings(uint64_t begin, uint64_t end)
{
    struct nt_encoding_tree tree = tree_of(NT_LANCE_MINI_BLOCK, STRINGS, LEVELS);
    write_chunk_of_strings(&model, begin, end, &page);
    assert_strings(&tree, begin, end);
    assert_structure(&tree, begin, end);
}

TEST(strings_of_null_rows_have_no_bytes, .setup = set_up, .teardown = tear_down, .end = SHAPES)
{
    in_pieces(_i, false, check_strings);
}

static void check_rows(uint64_t begin, uint64_t end)
{
    bool is_variable = rand() % 2;
    struct nt_encoding_tree tree = tree_of(NT_LANCE_FULL_ZIP, is_variable ? STRINGS : VALUES, LEVELS);
    tree.repetition_bits = model_has_lists(&model) ? 2 + (uint32_t)rand() % 6 : 0;
    tree.definition_bits = model_has_definition(&model) ? 4 + (uint32_t)rand() % 8 : 0;
    tree.value_bits = is_variable ? 0 : 32;
    tree.offset_bits = is_variable ? 32 : 0;
    write_full_zip(&model, begin, end, tree.repetition_bits, tree.definition_bits, is_variable, &page);
    if (is_variable)
        assert_strings(&tree, begin, end);
    else
        assert_values(&tree, begin, end);
    assert_structure(&tree, begin, end);
}

TEST(rows_of_full_zip_hold_their_levels_and_values, .setup = set_up, .teardown = tear_down, .end = SHAPES)
{
    in_pieces(_i, false, check_rows);
}

static void check_constant(uint64_t begin, uint64_t end)
{
    static const uint8_t value[] = {7, 0, 1, 0};
    struct nt_lance_buffer parts[2];
    struct nt_encoding_tree tree = tree_of(NT_LANCE_CONSTANT, VALUES, NT_NO_NODE);
    for (uint64_t i = 0; i < model.of[0].rows; i++)
        model.values[i] = 0x10007;
    page.count = 0;
    for (uint64_t i = begin; i < end && model_has_lists(&model); i++)
        put_number(&page, model.repetition[i], 2);
    parts[0] = (struct nt_lance_buffer){0, page.count};
    for (uint64_t i = begin; i < end && model_has_definition(&model); i++)
        put_number(&page, model.definition[i], 2);
    parts[1] = (struct nt_lance_buffer){parts[0].bytes, page.count - parts[0].bytes};
    tree.value = value;
    tree.value_bytes = sizeof(value);
    tree.parts = parts;
    tree.part_count = 2;
    assert_values(&tree, begin, end);
    assert_structure(&tree, begin, end);
}

TEST(constants_have_their_value_in_each_row_that_is_valid, .setup = set_up, .teardown = tear_down,
     .end = SHAPES)
{
    in_pieces(_i, true, check_constant);
}

/* ---- version 2.0 ---- */

static struct nt_encoding_tree bare_tree(enum nt_lance_layout_kind layout,
                                         const struct nt_encoding_tree_node *below, uint32_t count)
{
    return (struct nt_encoding_tree){.layout = layout,
                                     .nodes = below,
                                     .node_count = count,
                                     .repetition = NT_NO_NODE,
                                     .definition = NT_NO_NODE,
                                     .buffers = count,
                                     .layer_count = layout == NT_LANCE_MINI_BLOCK,
                                     .layers = {NT_LAYER_ITEM}};
}

TEST(end_offsets_of_version_2_0_say_which_lists_are_null, .setup = set_up, .teardown = tear_down)
{
    static const uint64_t stored[] = {2, 2, 102, 5, 105};
    struct nt_encoding_tree_node list[] = {
        {.kind = NT_LANCE_LIST_ENDS, .items = 5, .adjustment = 100, .children = {1}},
        {.kind = NT_LANCE_FLAT, .bits = 64}};
    const struct nt_lance_buffer part = {0, sizeof(stored)};
    struct nt_encoding_tree tree = bare_tree(NT_LANCE_ARRAY, list, 2);
    tree.parts = &part;
    tree.part_count = 1;
    uint64_t ends[5];
    uint8_t valid[5];
    page.count = 0;
    put_bytes(&page, stored, sizeof(stored));
    assert_ok(decode(&tree, &(struct nt_lance_output_spec){.output = NT_LANCE_OFFSETS, .layer = 1}, 40, 5, 8,
                     ends));
    ck_assert_mem_eq(ends, ((uint64_t[]){42, 42, 42, 45, 45}), sizeof(ends));
    assert_ok(decode(&tree, &(struct nt_lance_output_spec){.output = NT_LANCE_VALID}, 0, 5, 1, valid));
    ck_assert_mem_eq(valid, ((uint8_t[]){1, 1, 0, 1, 0}), sizeof(valid));
    list[0].items = 6;
    ck_assert_uint_eq(decode(&tree, &(struct nt_lance_output_spec){.output = NT_LANCE_VALID}, 0, 5, 1, valid),
                      NT_CORRUPT);
}

/* Indices 2, 0, 1, 2 into a dictionary of "ab" and "c"; 0 is null. */
TEST(dictionaries_of_version_2_0_number_their_items_from_one, .setup = set_up, .teardown = tear_down)
{
    static const struct nt_encoding_tree_node dictionary[] = {
        {.kind = NT_LANCE_DICTIONARY, .items = 2, .is_one_based = true, .children = {1, 2}},
        {.kind = NT_LANCE_FLAT, .bits = 8},
        {.kind = NT_LANCE_BINARY, .children = {3, 4}},
        {.kind = NT_LANCE_FLAT, .bits = 64, .buffer = 1},
        {.kind = NT_LANCE_FLAT, .bits = 8, .buffer = 2}};
    static const struct nt_lance_buffer parts[] = {{0, 4}, {4, 16}, {20, 3}};
    struct nt_encoding_tree tree = bare_tree(NT_LANCE_ARRAY, dictionary, 5);
    tree.parts = parts;
    tree.part_count = 3;
    uint64_t ends[4];
    char bytes[4];
    uint8_t valid[4];
    page.count = 0;
    put_bytes(&page, "\2\0\1\2", 4);
    put_number(&page, 2, 8);
    put_number(&page, 3, 8);
    put_bytes(&page, "abc", 3);
    assert_ok(decode(&tree, &(struct nt_lance_output_spec){.output = NT_LANCE_ENDS}, 0, 4, 8, ends));
    ck_assert_mem_eq(ends, ((uint64_t[]){1, 1, 3, 4}), sizeof(ends));
    assert_ok(decode(&tree, &(struct nt_lance_output_spec){.output = NT_LANCE_BYTES}, 4, 4, 1, bytes));
    ck_assert_mem_eq(bytes, "cabc", 4);
    assert_ok(decode(&tree, &(struct nt_lance_output_spec){.output = NT_LANCE_VALID}, 0, 4, 1, valid));
    ck_assert_mem_eq(valid, ((uint8_t[]){1, 0, 1, 1}), sizeof(valid));
    page.bytes[2] = 3;
    assert_status(NT_CORRUPT,
                  decode(&tree, &(struct nt_lance_output_spec){.output = NT_LANCE_ENDS}, 0, 4, 8, ends));
}

/* Indices 0 to 9 and nulls, into a dictionary of ten bits. */
TEST(dictionaries_have_items_of_a_bit, .setup = set_up, .teardown = tear_down)
{
    static const struct nt_encoding_tree_node dictionary[] = {
        {.kind = NT_LANCE_DICTIONARY, .items = 10, .is_one_based = true, .children = {1, 2}},
        {.kind = NT_LANCE_FLAT, .bits = 8},
        {.kind = NT_LANCE_FLAT, .bits = 1, .buffer = 1}};
    static const struct nt_lance_buffer parts[] = {{0, 12}, {12, 2}};
    struct nt_encoding_tree tree = bare_tree(NT_LANCE_ARRAY, dictionary, 3);
    tree.parts = parts;
    tree.part_count = 2;
    uint8_t values[12];
    page.count = 0;
    put_bytes(&page, "\12\1\2\0\3\4\5\6\7\10\11\0", 12);
    put_bytes(&page, "\x95\x02", 2); /* 1010100101, from the first bit */
    assert_ok(decode(&tree, &(struct nt_lance_output_spec){.output = NT_LANCE_VALUES}, 0, 12, 1, values));
    ck_assert_mem_eq(values, ((uint8_t[]){1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0}), sizeof(values));
    assert_ok(decode(&tree, &(struct nt_lance_output_spec){.output = NT_LANCE_VALID}, 0, 12, 1, values));
    ck_assert_mem_eq(values, ((uint8_t[]){1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0}), sizeof(values));
}

/* ---- legacy versions ---- */

/* Rows from 100 on with 3 bytes, none, 2; numbers of 32 bits as in lists, and of 64. */
TEST(offsets_of_legacy_versions_count_from_the_first, .setup = set_up, .teardown = tear_down)
{
    static const uint64_t offsets[] = {100, 103, 103, 105};
    static const unsigned widths[] = {4, 8};
    uint64_t ends[3];
    uint8_t valid[3];
    for (unsigned i = 0; i < 2; i++) {
        const struct nt_encoding_tree_node nodes_of_offsets[] = {
            {.kind = NT_LANCE_ABSOLUTE_OFFSETS, .children = {1, NT_NO_NODE}},
            {.kind = NT_LANCE_FLAT, .bits = widths[i] * 8}};
        const struct nt_lance_buffer part = {0, 4 * widths[i]};
        struct nt_encoding_tree tree = bare_tree(NT_LANCE_ARRAY, nodes_of_offsets, 2);
        tree.parts = &part;
        tree.part_count = 1;
        page.count = 0;
        for (unsigned row = 0; row < 4; row++)
            put_number(&page, offsets[row], widths[i]);
        assert_ok(decode(&tree, &(struct nt_lance_output_spec){.output = NT_LANCE_ENDS}, 40, 3, 8, ends));
        ck_assert_mem_eq(ends, ((uint64_t[]){43, 43, 45}), sizeof(ends));
        assert_ok(decode(&tree, &(struct nt_lance_output_spec){.output = NT_LANCE_OFFSETS}, 0, 3, 8, ends));
        ck_assert_mem_eq(ends, ((uint64_t[]){3, 3, 5}), sizeof(ends));
        assert_ok(decode(&tree, &(struct nt_lance_output_spec){.output = NT_LANCE_VALID}, 0, 3, 1, valid));
        ck_assert_mem_eq(valid, ((uint8_t[]){1, 0, 1}), sizeof(valid));
        assert_status(NT_CORRUPT,
                      decode(&tree, &(struct nt_lance_output_spec){.output = NT_LANCE_ENDS}, 0, 4, 8, ends));
        page.bytes[3 * widths[i]] = 102;
        assert_status(NT_CORRUPT,
                      decode(&tree, &(struct nt_lance_output_spec){.output = NT_LANCE_ENDS}, 0, 3, 8, ends));
        ck_assert_ptr_nonnull(strstr(error.message, "offset 3 of a page decreases"));
    }
}

/* ---- lists of fixed size, structures ---- */

/* Three lists of two numbers; items 1 and 4 are null. */
TEST(null_items_of_fixed_lists_are_zeros, .setup = set_up, .teardown = tear_down)
{
    static const struct nt_encoding_tree_node list[] = {
        {.kind = NT_LANCE_FIXED_LIST, .items = 2, .has_validity = true, .children = {1}, .bits = 16},
        {.kind = NT_LANCE_FLAT, .bits = 16, .buffer = 1}};
    struct nt_encoding_tree tree = bare_tree(NT_LANCE_MINI_BLOCK, list, 2);
    tree.buffers = 2;
    uint16_t values[6];
    uint8_t valid[6];
    page.count = 0;
    put_bytes(&page, "\3\0\1\0\14\0\0\0", 8); /* levels, bytes of each buffer, padding */
    put_bytes(&page, "\x2d\0\0\0\0\0\0\0", 8);
    for (uint64_t i = 1; i <= 6; i++)
        put_number(&page, i * 1000, 2);
    put_number(&page, 0, 4);
    assert_ok(decode(&tree, &(struct nt_lance_output_spec){.output = NT_LANCE_VALUES}, 0, 6, 2, values));
    ck_assert_mem_eq(values, ((uint16_t[]){1000, 0, 3000, 4000, 0, 6000}), sizeof(values));
    assert_ok(
        decode(&tree, &(struct nt_lance_output_spec){.output = NT_LANCE_VALID, .depth = 1}, 0, 6, 1, valid));
    ck_assert_mem_eq(valid, ((uint8_t[]){1, 0, 1, 1, 0, 1}), sizeof(valid));
}

TEST(members_of_packed_structures_are_at_their_offsets, .setup = set_up, .teardown = tear_down)
{
    static const struct nt_encoding_tree_node packed[] = {
        {.kind = NT_LANCE_PACKED, .bits = 48, .children = {1}}, {.kind = NT_LANCE_FLAT, .bits = 48}};
    struct nt_encoding_tree tree = bare_tree(NT_LANCE_MINI_BLOCK, packed, 2);
    tree.buffers = 1;
    struct nt_lance_output_spec spec = {.output = NT_LANCE_VALUES, .member_offset = 4};
    uint16_t values[2];
    page.count = 0;
    put_bytes(&page,
              "\2\0\14\0\0\0\0\0"
              "aaaaAAbbbbBB\0\0\0\0",
              24);
    assert_ok(decode(&tree, &spec, 0, 2, 2, values));
    ck_assert_mem_eq(values, "AABB", 4);
    spec.member_offset = 5;
    assert_status(NT_CORRUPT, decode(&tree, &spec, 0, 2, 2, values));
}

/* ---- damage ---- */

/* Whatever the result, nothing outside the memory is read or written: a sanitizer sees it. */
static void decode_all(const struct nt_encoding_tree *tree, uint64_t elements)
{
    static uint64_t output[MODEL_MAX];
    static const struct {
        enum nt_lance_decoder_output output;
        uint32_t width;
    } outputs[] = {{NT_LANCE_VALUES, 4}, {NT_LANCE_VALID, 1}, {NT_LANCE_ENDS, 8}, {NT_LANCE_BYTES, 1}};
    for (size_t i = 0; i < sizeof(outputs) / sizeof(*outputs); i++)
        (void)decode(tree, &(struct nt_lance_output_spec){.output = outputs[i].output}, elements, elements,
                     outputs[i].width, output);
    for (uint32_t layer = 1; layer < tree->layer_count; layer++)
        if (is_list(layer))
            (void)decode(tree, &(struct nt_lance_output_spec){.output = NT_LANCE_OFFSETS, .layer = layer},
                         NT_LANCE_IS_FIRST | NT_LANCE_IS_LAST, elements, 8, output);
    struct nt_lance_counts counts;
    uint8_t *bytes = exact_copy(page.bytes, page.count);
    const struct nt_packed packed = {
        .data = bytes, .bytes = page.count, .context = context, .limit = 1 << 20};
    (void)nt_lance_count(tree, &packed, elements, true, 0, &counts, &error);
    free(bytes);
}

static void damage_all(const struct nt_encoding_tree *tree, uint64_t elements)
{
    size_t count = page.count;
    for (size_t i = 0; i < 3 * count; i++) {
        page.bytes[i / 3] ^= (uint8_t[]){0x01, 0x80, 0xFF}[i % 3];
        decode_all(tree, elements);
        page.bytes[i / 3] ^= (uint8_t[]){0x01, 0x80, 0xFF}[i % 3];
    }
    for (page.count = 0; page.count < count; page.count++)
        decode_all(tree, elements);
}

TEST(damage_of_every_byte_and_every_end_leads_nowhere, .setup = set_up, .teardown = tear_down, .end = SHAPES)
{
    fill(_i, 6);
    struct nt_encoding_tree tree = tree_of(NT_LANCE_MINI_BLOCK, VALUES, RUNS);
    write_chunk(&model, 0, model.levels, true, false, &page);
    damage_all(&tree, model.of[0].rows);
    tree = tree_of(NT_LANCE_MINI_BLOCK, STRINGS, LEVELS);
    write_chunk_of_strings(&model, 0, model.levels, &page);
    damage_all(&tree, model.of[0].rows);
    tree = tree_of(NT_LANCE_FULL_ZIP, STRINGS, LEVELS);
    tree.repetition_bits = tree.definition_bits = 4;
    tree.offset_bits = 32;
    write_full_zip(&model, 0, model.levels, 4, 4, true, &page);
    damage_all(&tree, model.of[0].rows);
}

TEST(fewer_and_more_rows_than_the_levels_say_are_corrupt, .setup = set_up, .teardown = tear_down,
     .end = SHAPES)
{
    static uint32_t output[MODEL_MAX];
    fill(_i, 9);
    struct nt_encoding_tree tree = tree_of(NT_LANCE_MINI_BLOCK, VALUES, LEVELS);
    if (!model_has_definition(&model))
        return;
    write_chunk(&model, 0, model.levels, false, false, &page);
    for (int more = -1; more <= 1; more += 2) {
        uint64_t elements = model.of[0].rows + (uint64_t)more;
        assert_status(NT_CORRUPT, decode(&tree, &(struct nt_lance_output_spec){.output = NT_LANCE_VALID}, 0,
                                         elements, 1, output));
    }
}
