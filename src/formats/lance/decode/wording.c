/* SPDX-License-Identifier: MIT
 *
 * In: a tree. Out: a line of text.
 */
#include "formats/lance/decode/wording.h"

#include <inttypes.h>
#include <stdio.h>

const char *nt_tree_layout_name(enum nt_tree_layout layout)
{
    static const char *const names[] = {
        [NT_TREE_MINI_BLOCK] = "mini-block", [NT_TREE_FULL_ZIP] = "full zip", [NT_TREE_CONSTANT] = "constant",
        [NT_TREE_BLOCK] = "block",           [NT_TREE_ARRAY] = "array",
    };
    return names[layout];
}

const char *nt_tree_output_name(enum nt_tree_output output)
{
    static const char *const names[] = {
        [NT_TREE_VALUES] = "values",    [NT_TREE_VALID] = "validity", [NT_TREE_OFFSETS] = "offsets",
        [NT_TREE_ENDS] = "ends",        [NT_TREE_BYTES] = "bytes",    [NT_TREE_LEVELS] = "levels",
        [NT_TREE_PRESENT] = "presence",
    };
    return names[output];
}

struct writing {
    const struct nt_tree *tree;
    char *text;
    size_t capacity, length;
};

static void write_words(struct writing *writing, const char *words, uint64_t number)
{
    size_t left = writing->capacity - writing->length;
    int count = number ? snprintf(writing->text + writing->length, left, "%s %" PRIu64, words, number)
                       : snprintf(writing->text + writing->length, left, "%s", words);
    if (count > 0)
        writing->length += (size_t)count < left ? (size_t)count : left - 1;
}

/* What a node tells beside its name: the width of values, or the length of lists. */
static uint64_t number_of(const struct nt_tree_node *node)
{
    switch (node->kind) {
    case NT_TREE_FLAT:
    case NT_TREE_VARIABLE:
    case NT_TREE_INLINE_BITS:
        return node->bits;
    case NT_TREE_OUT_OF_LINE_BITS:
        return node->packed_bits;
    case NT_TREE_FIXED_LIST:
    case NT_TREE_DICTIONARY:
        return node->items;
    default:
        return 0;
    }
}

/* Children stand behind their node: no deeper than there are nodes. */
static void write_node(struct writing *writing, uint32_t number)
{
    const struct nt_tree_node *node = &writing->tree->nodes[number];
    const struct nt_tree_node_info *info = nt_tree_node_info(node->kind);
    write_words(writing, info->name, number_of(node));
    for (uint32_t i = 0; i < info->children; i++) {
        if (node->children[i] == NT_NO_NODE)
            continue;
        write_words(writing, i ? ", " : "(", 0);
        write_node(writing, node->children[i]);
    }
    if (info->children)
        write_words(writing, ")", 0);
}

void nt_tree_text(const struct nt_tree *tree, char *text, size_t capacity)
{
    struct writing writing = {.tree = tree, .text = text, .capacity = capacity};
    text[0] = '\0';
    if (tree->values != NT_NO_NODE)
        write_node(&writing, tree->values);
}
