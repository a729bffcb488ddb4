/* SPDX-License-Identifier: MIT
 *
 * Decoding several outputs of a page at once gives the same as decoding each alone, in memory of exactly
 * their size, for all rows and for damaged pages.
 */
#include "formats/lance/decode/decode.h"

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
    srand(7);
}

static void tear_down(void)
{
    nt_codec_context_free(context);
}

/* ---- pages ---- */

enum { VALUES, STRINGS, LEVELS, CODES };

/* Digits are symbols, and so is "12"; all else is escaped, so that a plain string means another one. */
static struct nt_fsst fsst;

static const struct nt_encoding_tree_node nodes[] = {
    [VALUES] = {.kind = NT_LANCE_FLAT, .bits = 32},
    [STRINGS] = {.kind = NT_LANCE_VARIABLE, .bits = 32},
    [LEVELS] = {.kind = NT_LANCE_FLAT, .bits = 16},
    [CODES] = {.kind = NT_LANCE_FSST, .children = {STRINGS}, .fsst = &fsst},
};

/* Rows of full-zip pages, which have a control word each, for any levels. */
enum { REPETITION_BITS = 4, DEFINITION_BITS = 4 };

static struct nt_encoding_tree zip_of(uint32_t values)
{
    struct nt_encoding_tree tree = {.layout = NT_LANCE_FULL_ZIP,
                                    .nodes = nodes,
                                    .node_count = sizeof(nodes) / sizeof(*nodes),
                                    .values = values,
                                    .repetition = NT_NO_NODE,
                                    .definition = NT_NO_NODE,
                                    .repetition_bits = model_has_lists(&model) ? REPETITION_BITS : 0,
                                    .definition_bits = DEFINITION_BITS,
                                    .value_bits = values == VALUES ? 32 : 0,
                                    .offset_bits = values == VALUES ? 0 : 32,
                                    .layer_count = model.layer_count};
    memcpy(tree.layers, model.layers, model.layer_count);
    return tree;
}

static struct nt_encoding_tree tree_of(uint32_t values)
{
    struct nt_encoding_tree tree = {.layout = NT_LANCE_MINI_BLOCK,
                                    .nodes = nodes,
                                    .node_count = sizeof(nodes) / sizeof(*nodes),
                                    .values = values,
                                    .repetition = model_has_lists(&model) ? LEVELS : NT_NO_NODE,
                                    .definition = model_has_definition(&model) ? LEVELS : NT_NO_NODE,
                                    .buffers = 1,
                                    .layer_count = model.layer_count};
    memcpy(tree.layers, model.layers, model.layer_count);
    return tree;
}

static bool is_list(uint32_t layer)
{
    return model.layers[layer] != NT_LAYER_ITEM && model.layers[layer] != NT_LAYER_NULLABLE_ITEM;
}

/* Innermost first. */
static const uint8_t shapes[][MODEL_LAYERS] = {
    {NT_LAYER_ITEM},
    {NT_LAYER_NULLABLE_ITEM},
    {NT_LAYER_NULLABLE_ITEM, NT_LAYER_NULLABLE_ITEM},
    {NT_LAYER_ITEM, NT_LAYER_LIST},
    {NT_LAYER_NULLABLE_ITEM, NT_LAYER_EMPTYABLE_LIST},
    {NT_LAYER_NULLABLE_ITEM, NT_LAYER_NULL_AND_EMPTY_LIST, NT_LAYER_NULLABLE_ITEM, NT_LAYER_NULLABLE_LIST},
};

enum { SHAPES = sizeof(shapes) / sizeof(*shapes) };

static void fill(int shape, uint32_t rows)
{
    uint32_t count = 0;
    while (count < MODEL_LAYERS && shapes[shape][count])
        count++;
    model_fill(&model, shapes[shape], count, rows);
    memset(&fsst, 0, sizeof(fsst));
    fsst.count = 100;
    for (unsigned i = 0; i < fsst.count; i++) {
        fsst.symbols[i] = i;
        fsst.lengths[i] = (uint8_t)(1 + i % 8);
    }
}

/* ---- outputs ---- */

enum { OUTPUTS = 2 + 2 * MODEL_LAYERS };

/* The requested outputs of a page with all its levels. */
struct outputs {
    uint32_t count;
    struct nt_lance_output_spec wants[OUTPUTS];
    uint64_t elements[OUTPUTS], parameters[OUTPUTS];
    uint32_t widths[OUTPUTS];
    uint8_t *alone[OUTPUTS], *together[OUTPUTS];
    enum nt_status statuses[OUTPUTS];
};

static void add(struct outputs *outputs, struct nt_lance_output_spec spec, uint64_t elements,
                uint64_t parameter, uint32_t width)
{
    uint32_t i = outputs->count++;
    outputs->wants[i] = spec;
    outputs->elements[i] = elements;
    outputs->parameters[i] = parameter;
    outputs->widths[i] = width;
    outputs->alone[i] = malloc(elements * width + 1);
    outputs->together[i] = malloc(elements * width);
}

static void add_values(struct outputs *outputs, const struct nt_encoding_tree *tree, uint64_t string_bytes)
{
    uint64_t rows = model.of[0].rows;
    if (tree->values == VALUES) {
        add(outputs, (struct nt_lance_output_spec){.output = NT_LANCE_VALUES}, rows, 0, 4);
        return;
    }
    add(outputs, (struct nt_lance_output_spec){.output = NT_LANCE_ENDS}, rows, 70, 8);
    add(outputs, (struct nt_lance_output_spec){.output = NT_LANCE_BYTES}, string_bytes, rows, 1);
}

static struct outputs outputs_of(const struct nt_encoding_tree *tree, uint64_t string_bytes)
{
    struct outputs outputs = {0};
    uint32_t last = model.layer_count - 1;
    if (rand() % 2)
        add_values(&outputs, tree, string_bytes);
    for (uint32_t i = 0; i <= last; i++)
        add(&outputs, (struct nt_lance_output_spec){.output = NT_LANCE_VALID, .layer = i}, model.of[i].rows,
            0, 1);
    for (uint32_t i = 1; i <= last; i++)
        if (is_list(i))
            add(&outputs, (struct nt_lance_output_spec){.output = NT_LANCE_OFFSETS, .layer = i},
                model.of[i].rows, model.of[i].rows ? NT_LANCE_IS_FIRST | NT_LANCE_IS_LAST : 0, 8);
    if (outputs.wants[0].output == NT_LANCE_VALID) /* in any order */
        add_values(&outputs, tree, string_bytes);
    return outputs;
}

static void free_outputs(struct outputs *outputs)
{
    for (uint32_t i = 0; i < outputs->count; i++) {
        free(outputs->alone[i]);
        free(outputs->together[i]);
    }
}

static struct nt_decoder decoder_of(const struct nt_lance_decoder_state *state, uint32_t width)
{
    return (struct nt_decoder){.ops = &nt_lance_decoder_ops, .state = state, .element_bytes = width};
}

/* With another output, which can be made. */
static bool is_shareable(const struct nt_encoding_tree *tree, struct nt_lance_output_spec spec)
{
    const struct nt_lance_decoder_state state = {tree, spec};
    struct nt_lance_decoder_state other = state;
    other.spec.layer++;
    const struct nt_decoder a = decoder_of(&state, 1), b = decoder_of(&other, 1);
    ck_assert(!nt_decoders_are_shared(&a, &a));
    return nt_decoders_are_shared(&a, &b);
}

/* Could each be made alone? Only then all can be made together, with equal results. */
static bool compare(const struct nt_encoding_tree *tree, struct outputs *outputs)
{
    struct nt_lance_decoder_state states[OUTPUTS];
    struct nt_decoder decoders[OUTPUTS];
    struct nt_packed packed[OUTPUTS];
    bool is_good = true;
    uint8_t *bytes = exact_copy(page.bytes, page.count);
    for (uint32_t i = 0; i < outputs->count; i++) {
        ck_assert(is_shareable(tree, outputs->wants[i]));
        states[i] = (struct nt_lance_decoder_state){tree, outputs->wants[i]};
        decoders[i] = decoder_of(&states[i], outputs->widths[i]);
        packed[i] = (struct nt_packed){.decoder = &decoders[i],
                                       .data = bytes,
                                       .bytes = page.count,
                                       .elements = outputs->elements[i],
                                       .parameter = outputs->parameters[i],
                                       .context = context,
                                       .limit = 1 << 20};
        is_good &= nt_lance_decoder_ops.decode(&packed[i], outputs->alone[i], &error) == NT_OK;
    }
    enum nt_status status =
        nt_lance_decoder_ops.decode_shared(packed, outputs->together, outputs->count, &error);
    ck_assert(is_good || status != NT_OK);
    for (uint32_t i = 0; status == NT_OK && i < outputs->count; i++)
        ck_assert(
            !memcmp(outputs->alone[i], outputs->together[i], outputs->elements[i] * outputs->widths[i]));
    free(bytes);
    return is_good && status == NT_OK;
}

/* A page of all levels, and the bytes of its strings. */
static uint64_t write_page(const struct nt_encoding_tree *tree)
{
    struct nt_lance_counts counts;
    if (tree->layout == NT_LANCE_FULL_ZIP)
        write_full_zip(&model, 0, model.levels, tree->repetition_bits, tree->definition_bits,
                       tree->values != VALUES, &page);
    else if (tree->values == VALUES)
        write_chunk(&model, 0, model.levels, false, false, &page);
    else
        write_chunk_of_strings(&model, 0, model.levels, &page);
    if (tree->values == VALUES)
        return 0;
    const struct nt_packed packed = {
        .data = page.bytes, .bytes = page.count, .context = context, .limit = 1 << 20};
    assert_ok(nt_lance_count(tree, &packed, model.of[0].rows, true, 0, &counts, &error));
    return counts.bytes;
}

static const struct {
    struct nt_encoding_tree (*make)(uint32_t values);
    uint32_t values;
} trees[] = {{tree_of, VALUES}, {tree_of, STRINGS}, {tree_of, CODES},
             {zip_of, VALUES},  {zip_of, STRINGS},  {zip_of, CODES}};
enum { TREES = sizeof(trees) / sizeof(*trees) };

TEST(outputs_made_together_are_those_made_alone, .setup = set_up, .teardown = tear_down, .end = SHAPES)
{
    for (int turn = 0; turn < 15; turn++)
        for (int i = 0; i < TREES; i++) {
            fill(_i, 1 + (uint32_t)rand() % 100);
            struct nt_encoding_tree tree = trees[i].make(trees[i].values);
            struct outputs outputs = outputs_of(&tree, write_page(&tree));
            ck_assert_msg(compare(&tree, &outputs), "%s", error.message);
            free_outputs(&outputs);
        }
}

TEST(outputs_of_a_damaged_page_are_made_together_where_each_is_made_alone, .setup = set_up,
     .teardown = tear_down, .end = SHAPES)
{
    static const uint8_t flips[] = {0x01, 0x80, 0xFF};
    for (int i = 0; i < TREES; i++) {
        fill(_i, 4);
        struct nt_encoding_tree tree = trees[i].make(trees[i].values);
        struct outputs outputs = outputs_of(&tree, write_page(&tree));
        size_t count = page.count;
        for (size_t k = 0; k < 3 * count; k++) {
            page.bytes[k / 3] ^= flips[k % 3];
            compare(&tree, &outputs);
            page.bytes[k / 3] ^= flips[k % 3];
        }
        for (page.count = 0; page.count < count; page.count++)
            compare(&tree, &outputs);
        free_outputs(&outputs);
    }
}

TEST(other_layouts_and_outputs_are_not_made_together, .setup = set_up, .teardown = tear_down)
{
    fill(1, 6);
    struct nt_encoding_tree tree = tree_of(VALUES);
    const struct nt_lance_output_spec values = {.output = NT_LANCE_VALUES};
    ck_assert(!is_shareable(&tree, (struct nt_lance_output_spec){.output = NT_LANCE_LEVELS}));
    ck_assert(!is_shareable(&tree, (struct nt_lance_output_spec){.output = NT_LANCE_PRESENT}));
    ck_assert(!is_shareable(&tree, (struct nt_lance_output_spec){.output = NT_LANCE_VALID, .depth = 1}));
    tree.is_whole = true;
    ck_assert(!is_shareable(&tree, values));
    tree = tree_of(VALUES);
    ck_assert(is_shareable(&tree, values));
    tree.layout = NT_LANCE_FULL_ZIP; /* without levels: nothing is done twice */
    ck_assert(!is_shareable(&tree, values));
}
