/* SPDX-License-Identifier: MIT
 *
 * Decoders with trees that cannot produce the requested elements are refused.
 */
#include <string.h>

#include "core/codec/codec.h"
#include "formats/lance/decode/decode.h"
#include "support.h"

static struct nt_error error;

static struct nt_decoder decoder_of(enum nt_encoding_kind encoding)
{
    struct nt_decoder decoder;
    assert_ok(nt_decoder_init(&decoder, encoding, 0, 0, 0, &error));
    return decoder;
}

static const struct nt_encoding_tree_node flat = {.kind = NT_LANCE_FLAT, .bits = 32};
static const struct nt_encoding_tree tree = {.layout = NT_LANCE_MINI_BLOCK,
                                             .nodes = &flat,
                                             .node_count = 1,
                                             .repetition = NT_NO_NODE,
                                             .definition = NT_NO_NODE,
                                             .buffers = 1,
                                             .layer_count = 1,
                                             .layers = {NT_LAYER_ITEM}};
static const struct nt_encoding_tree numbering = {.layout = NT_LANCE_MINI_BLOCK,
                                                  .nodes = &flat,
                                                  .node_count = 1,
                                                  .repetition = NT_NO_NODE,
                                                  .definition = NT_NO_NODE,
                                                  .has_dictionary = true,
                                                  .buffers = 1,
                                                  .layer_count = 1,
                                                  .layers = {NT_LAYER_ITEM}};
static const struct nt_encoding_tree whole = {
    .is_whole = true, .layout = NT_LANCE_MINI_BLOCK, .part_count = 1};

/* The tree produces elements from packed bytes; the dependencies are end offsets and bytes, or values. */
static const struct {
    const struct nt_encoding_tree *tree;
    enum nt_lance_decoder_output output;
    enum nt_element element;
    uint32_t element_bytes;
    enum nt_encoding_kind dependencies[2];
    const char *refused; /* NULL: it is run */
} trees[] = {
    {&tree, NT_LANCE_VALUES, NT_ELEMENT_UINT32, 4, {NT_ENCODING_UINT8, NT_ENCODING_UINT8}, NULL},
    {&tree, NT_LANCE_VALUES, NT_ELEMENT_OPAQUE, 3, {NT_ENCODING_UINT8, NT_ENCODING_UINT8}, NULL},
    {&tree, NT_LANCE_VALID, NT_ELEMENT_BOOL, 1, {NT_ENCODING_UINT8, NT_ENCODING_UINT8}, NULL},
    {&numbering, NT_LANCE_VALUES, NT_ELEMENT_UINT32, 4, {NT_ENCODING_UINT32, NT_ENCODING_UINT8}, NULL},
    {&numbering, NT_LANCE_ENDS, NT_ELEMENT_UINT64, 8, {NT_ENCODING_UINT64, NT_ENCODING_UINT8}, NULL},
    {&numbering, NT_LANCE_OFFSETS, NT_ELEMENT_UINT64, 8, {NT_ENCODING_UINT8, NT_ENCODING_UINT8}, NULL},
    {&tree,
     (enum nt_lance_decoder_output)99,
     NT_ELEMENT_UINT32,
     4,
     {NT_ENCODING_UINT8, NT_ENCODING_UINT8},
     "cannot produce"},
    {&tree, NT_LANCE_VALUES, NT_ELEMENT_UINT32, 8, {NT_ENCODING_UINT8, NT_ENCODING_UINT8}, "cannot produce"},
    {&tree, NT_LANCE_VALID, NT_ELEMENT_UINT8, 1, {NT_ENCODING_UINT8, NT_ENCODING_UINT8}, "cannot produce"},
    {&tree, NT_LANCE_LEVELS, NT_ELEMENT_OPAQUE, 2, {NT_ENCODING_UINT8, NT_ENCODING_UINT8}, "cannot produce"},
    {&whole, NT_LANCE_VALUES, NT_ELEMENT_UINT32, 4, {NT_ENCODING_UINT8, NT_ENCODING_UINT8}, "cannot produce"},
    {&numbering,
     NT_LANCE_VALUES,
     NT_ELEMENT_UINT32,
     4,
     {NT_ENCODING_UINT64, NT_ENCODING_UINT8},
     "have another type"},
    {&numbering,
     NT_LANCE_ENDS,
     NT_ELEMENT_UINT64,
     8,
     {NT_ENCODING_UINT32, NT_ENCODING_UINT8},
     "have another type"},
    {&numbering,
     NT_LANCE_ENDS,
     NT_ELEMENT_UINT64,
     8,
     {NT_ENCODING_UINT64, NT_ENCODING_UINT16},
     "have another type"},
};

enum { TREES = sizeof(trees) / sizeof(*trees) };

static enum nt_status check(int number, uint32_t dependency_count)
{
    const struct nt_lance_decoder_state state = {trees[number].tree, {.output = trees[number].output}};
    const struct nt_decoder first = decoder_of(trees[number].dependencies[0]),
                            second = decoder_of(trees[number].dependencies[1]);
    const struct nt_decoder *dependencies[] = {&first, &second};
    const struct nt_decoder decoder = {.ops = &nt_lance_decoder_ops,
                                       .state = &state,
                                       .dependency_count = dependency_count,
                                       .encoding = NT_ENCODING_OTHER,
                                       .element = trees[number].element,
                                       .element_bytes = trees[number].element_bytes};
    return nt_lance_decoder_ops.check(&decoder, dependencies, &error);
}

TEST(trees_make_what_is_requested_of_them_or_are_refused, .end = TREES)
{
    enum nt_status status = check(_i, 2);
    ck_assert_int_eq(status, trees[_i].refused ? NT_CORRUPT : NT_OK);
    if (trees[_i].refused)
        ck_assert_msg(strstr(error.message, trees[_i].refused) != NULL, "%s", error.message);
}

/* Strings need both dependencies. */
TEST(trees_without_the_items_that_they_number_are_refused, .end = TREES)
{
    enum nt_lance_decoder_output output = trees[_i].output;
    bool needs_items = trees[_i].tree->has_dictionary && output != NT_LANCE_OFFSETS && !trees[_i].refused;
    ck_assert_int_eq(check(_i, 0), needs_items || trees[_i].refused ? NT_CORRUPT : NT_OK);
    if (needs_items)
        ck_assert_int_eq(check(_i, 1), output == NT_LANCE_VALUES ? NT_OK : NT_CORRUPT);
}
