/* SPDX-License-Identifier: MIT
 *
 * Trees and pages that need more than exists, or less than their rows need: each is refused. Many tests
 * use a page of fixed-size lists of 0 or 2 items with an encoding that has one value for each row.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/lance/decode/decode.h"
#include "support.h"
#include "core/codec/codec.h"

enum { ROWS = 100 };

static const uint8_t zeros[4 * ROWS];

static const struct nt_lance_buffer part = {0, sizeof(zeros)};

/* Input and output memory of the exact size, so that accesses past the end are found. */
static enum nt_status decode(const struct nt_encoding_tree *tree, const struct nt_lance_output_spec *spec,
                             const uint8_t *bytes, size_t count, uint32_t element_bytes)
{
    struct nt_error error = {0};
    uint8_t *data = malloc(count ? count : 1), *output = malloc((size_t)ROWS * element_bytes);
    ck_assert_ptr_nonnull(data);
    ck_assert_ptr_nonnull(output);
    memcpy(data, bytes, count);
    const struct nt_lance_decoder_state state = {tree, *spec};
    const struct nt_decoder decoder = {.state = &state, .element_bytes = element_bytes};
    const struct nt_packed packed = {
        .decoder = &decoder, .data = data, .bytes = count, .elements = ROWS, .limit = 1 << 20};
    enum nt_status status = nt_lance_decode(&packed, output, &error);
    if (status != NT_OK)
        ck_assert_int_ne(error.message[0], '\0');
    free(data);
    free(output);
    return status;
}

static const struct nt_encoding_tree array_tree = {.layout = NT_LANCE_ARRAY,
                                                   .repetition = NT_NO_NODE,
                                                   .definition = NT_NO_NODE,
                                                   .parts = &part,
                                                   .part_count = 1};

/* A child of a node that must have one value for each row. */
static const struct {
    enum nt_encoding_tree_node_kind kind;
    unsigned child;
    uint32_t bits;
    enum nt_lance_decoder_output output;
    uint32_t element_bytes;
} children[] = {
    {NT_LANCE_LIST_ENDS, 0, 8, NT_LANCE_ENDS, 8},    {NT_LANCE_BINARY, 0, 8, NT_LANCE_ENDS, 8},
    {NT_LANCE_NULLABLE, 1, 1, NT_LANCE_VALUES, 1},   {NT_LANCE_DICTIONARY, 0, 8, NT_LANCE_VALUES, 1},
    {NT_LANCE_DICTIONARY, 1, 8, NT_LANCE_VALUES, 1},
};

TEST(end_offsets_validity_and_items_in_lists_are_refused, .end = sizeof(children) / sizeof(*children))
{
    for (uint64_t items = 0; items < 4; items += 2) {
        const struct nt_encoding_tree_node nodes[] = {
            {.kind = children[_i].kind,
             .children = {children[_i].child == 0 ? 1 : 3, children[_i].child == 1 ? 1 : 3},
             .items = 1,
             .bits = 8},
            {.kind = NT_LANCE_FIXED_LIST, .children = {2}, .items = items, .bits = 8},
            {.kind = NT_LANCE_FLAT, .bits = children[_i].bits},
            {.kind = NT_LANCE_FLAT, .bits = 8}};
        struct nt_encoding_tree tree = array_tree;
        tree.nodes = nodes;
        tree.node_count = 4;
        const struct nt_lance_output_spec spec = {.output = children[_i].output};
        ck_assert_int_eq(decode(&tree, &spec, zeros, sizeof(zeros), children[_i].element_bytes), NT_CORRUPT);
    }
}

/* 100 levels of 16 bits each, within empty lists; then 400 bytes of values. */
TEST(levels_in_lists_are_refused)
{
    const struct nt_encoding_tree_node nodes[] = {
        {.kind = NT_LANCE_FLAT, .bits = 32},
        {.kind = NT_LANCE_FIXED_LIST, .children = {2}, .items = 0, .bits = 16},
        {.kind = NT_LANCE_FLAT, .bits = 16, .buffer = 1}};
    const struct nt_encoding_tree tree = {.layout = NT_LANCE_MINI_BLOCK,
                                          .nodes = nodes,
                                          .node_count = 3,
                                          .repetition = NT_NO_NODE,
                                          .definition = 1,
                                          .buffers = 1,
                                          .layer_count = 1,
                                          .layers = {NT_LAYER_NULLABLE_ITEM}};
    uint8_t chunk[8 + sizeof(zeros)] = {ROWS, 0, 0, 0, sizeof(zeros) & 0xFF, sizeof(zeros) >> 8};
    const struct nt_lance_output_spec spec = {.output = NT_LANCE_VALID};
    ck_assert_int_eq(decode(&tree, &spec, chunk, sizeof(chunk), 1), NT_CORRUPT);
}

/* Eight bytes of run values, up to the end of the chunk: there are no lengths. */
TEST(lengths_of_runs_that_are_not_there_are_not_counted)
{
    const struct nt_encoding_tree_node nodes[] = {
        {.kind = NT_LANCE_FLAT, .bits = 32},
        {.kind = NT_LANCE_RUNS, .children = {2, 3}, .bits = 16, .buffer = 1},
        {.kind = NT_LANCE_FLAT, .bits = 16, .buffer = 1},
        {.kind = NT_LANCE_FLAT, .bits = 8, .buffer = 2}};
    const struct nt_encoding_tree tree = {.layout = NT_LANCE_MINI_BLOCK,
                                          .nodes = nodes,
                                          .node_count = 4,
                                          .repetition = NT_NO_NODE,
                                          .definition = 1,
                                          .buffers = 1,
                                          .layer_count = 1,
                                          .layers = {NT_LAYER_NULLABLE_ITEM}};
    const uint8_t chunk[24] = {ROWS, 0, 16, 0, 0, 0, 0, 0, 8};
    const struct nt_lance_output_spec spec = {.output = NT_LANCE_VALID};
    ck_assert_int_eq(decode(&tree, &spec, chunk, sizeof(chunk), 1), NT_CORRUPT);
}

/* Rows of full zip: a byte with the length. */
TEST(values_of_a_bit_that_have_lengths_are_refused)
{
    const struct nt_encoding_tree_node node = {.kind = NT_LANCE_FLAT, .bits = 1};
    const struct nt_encoding_tree tree = {.layout = NT_LANCE_FULL_ZIP,
                                          .nodes = &node,
                                          .node_count = 1,
                                          .repetition = NT_NO_NODE,
                                          .definition = NT_NO_NODE,
                                          .offset_bits = 8,
                                          .layer_count = 1,
                                          .layers = {NT_LAYER_ITEM}};
    const struct nt_lance_output_spec spec = {.output = NT_LANCE_VALUES};
    ck_assert_int_eq(decode(&tree, &spec, zeros, ROWS, 1), NT_UNSUPPORTED);
}

TEST(members_that_structures_do_not_have_are_refused)
{
    const struct nt_lance_member member = {.bits = 8};
    const struct nt_encoding_tree_node node = {
        .kind = NT_LANCE_VARIABLE_PACKED, .members = &member, .member_count = 1};
    const struct nt_encoding_tree tree = {.layout = NT_LANCE_FULL_ZIP,
                                          .nodes = &node,
                                          .node_count = 1,
                                          .repetition = NT_NO_NODE,
                                          .definition = NT_NO_NODE,
                                          .offset_bits = 8,
                                          .layer_count = 1,
                                          .layers = {NT_LAYER_ITEM}};
    const struct nt_lance_output_spec spec = {.output = NT_LANCE_VALUES, .member = 1};
    ck_assert_int_eq(decode(&tree, &spec, zeros, ROWS, 1), NT_CORRUPT);
}
