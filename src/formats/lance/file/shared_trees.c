/* SPDX-License-Identifier: MIT
 *
 * Shares equal decode trees: a dataset keeps each one once, whatever number of pages use it.
 */
#include "formats/lance/file/file.h"

#include <string.h>

#include "core/base/error.h"
#include "core/base/hash_table.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/model/budget.h"
#include "core/model/model.h"
#include "formats/lance/decode/decode.h"

/* An nt_file's format_data, once it has a tree. */
struct kept_trees {
    struct nt_hash_table table;
};

struct kept_tree {
    struct nt_link link;
    struct nt_tree tree;
};

/* ---- Equality ---- */

static bool are_bytes_equal(const void *a, const void *b, size_t bytes)
{
    return !a == !b && (!a || !bytes || !memcmp(a, b, bytes));
}

static bool are_nodes_equal(const struct nt_tree_node *a, const struct nt_tree_node *b)
{
    return a->kind == b->kind && !memcmp(a->children, b->children, sizeof(a->children)) &&
           a->buffer == b->buffer && a->bits == b->bits && a->packed_bits == b->packed_bits &&
           a->algorithm == b->algorithm && a->has_validity == b->has_validity &&
           a->is_one_based == b->is_one_based && a->is_null == b->is_null && a->items == b->items &&
           a->adjustment == b->adjustment && a->member_count == b->member_count &&
           are_bytes_equal(a->value, b->value, a->bits / 8) &&
           are_bytes_equal(a->fsst, b->fsst, sizeof(*a->fsst)) &&
           (!a->member_count || !memcmp(a->members, b->members, a->member_count * sizeof(*a->members)));
}

static bool are_trees_equal(const struct nt_tree *a, const struct nt_tree *b)
{
    bool is_equal = a->layout == b->layout && a->node_count == b->node_count && a->values == b->values &&
                    a->repetition == b->repetition && a->definition == b->definition &&
                    a->has_dictionary == b->has_dictionary && a->has_large_chunk == b->has_large_chunk &&
                    a->buffers == b->buffers && a->repetition_bits == b->repetition_bits &&
                    a->definition_bits == b->definition_bits && a->value_bits == b->value_bits &&
                    a->offset_bits == b->offset_bits && a->value_bytes == b->value_bytes &&
                    a->has_value_part == b->has_value_part && a->repetition_count == b->repetition_count &&
                    a->definition_count == b->definition_count && a->part_count == b->part_count &&
                    a->is_whole == b->is_whole && a->layer_count == b->layer_count &&
                    !memcmp(a->layers, b->layers, a->layer_count) &&
                    are_bytes_equal(a->value, b->value, a->value_bytes);
    for (uint32_t i = 0; is_equal && i < a->part_count; i++)
        is_equal = a->parts[i].offset == b->parts[i].offset && a->parts[i].bytes == b->parts[i].bytes;
    for (uint32_t i = 0; is_equal && i < a->node_count; i++)
        is_equal = are_nodes_equal(&a->nodes[i], &b->nodes[i]);
    return is_equal;
}

/* Hashes only what is likely to differ between the trees of many files. */
static uint64_t hash_of(const struct nt_tree *tree, uint64_t seed)
{
    const uint64_t counts[] = {tree->layout,           tree->node_count,       tree->is_whole,
                               tree->repetition_count, tree->definition_count, tree->value_bits};
    uint64_t hash = nt_xxh3_seeded(counts, sizeof(counts), seed);
    if (tree->value)
        hash = hash * 3 + nt_xxh3_seeded(tree->value, tree->value_bytes, seed);
    if (tree->part_count)
        hash = hash * 3 + nt_xxh3_seeded(tree->parts, tree->part_count * sizeof(*tree->parts), seed);
    for (uint32_t i = 0; i < tree->node_count; i++) {
        const struct nt_tree_node *node = &tree->nodes[i];
        const uint64_t numbers[] = {node->kind, node->bits, node->packed_bits, node->items, node->adjustment};
        hash = hash * 3 + nt_xxh3_seeded(numbers, sizeof(numbers), seed);
        if (node->value)
            hash = hash * 3 + nt_xxh3_seeded(node->value, node->bits / 8, seed);
        if (node->fsst)
            hash = hash * 3 + nt_xxh3_seeded(node->fsst, sizeof(*node->fsst), seed);
    }
    return hash;
}

/* ---- Copies ---- */

static bool copy(struct nt_arena *arena, const void **bytes, size_t count)
{
    if (*bytes)
        *bytes = nt_arena_copy(arena, *bytes, count);
    return *bytes;
}

static bool copy_node(struct nt_arena *arena, struct nt_tree_node *node)
{
    bool has_all = !node->value || copy(arena, (const void **)&node->value, node->bits / 8);
    has_all &= !node->fsst || copy(arena, (const void **)&node->fsst, sizeof(*node->fsst));
    return has_all && (!node->members || copy(arena, (const void **)&node->members,
                                              node->member_count * sizeof(*node->members)));
}

static bool copy_tree(struct nt_arena *arena, const struct nt_tree *tree, struct nt_tree *made)
{
    *made = *tree;
    struct nt_tree_node *nodes = nt_arena_alloc(arena, (size_t)tree->node_count + 1, sizeof(*nodes));
    struct nt_tree_buffer *parts = nt_arena_alloc(arena, (size_t)tree->part_count + 1, sizeof(*parts));
    if (!nodes || !parts || (made->value && !copy(arena, (const void **)&made->value, made->value_bytes)))
        return false;
    made->nodes = nodes;
    made->parts = parts;
    for (uint32_t i = 0; i < tree->part_count; i++)
        parts[i] = tree->parts[i];
    for (uint32_t i = 0; i < tree->node_count; i++) {
        nodes[i] = tree->nodes[i];
        if (!copy_node(arena, &nodes[i]))
            return false;
    }
    return true;
}

/* Returns the memory of a tree in addition to its nodes and parts. */
static uint64_t bytes_of(const struct nt_tree *tree)
{
    uint64_t bytes = tree->value ? tree->value_bytes : 0;
    for (uint32_t i = 0; i < tree->node_count; i++) {
        const struct nt_tree_node *node = &tree->nodes[i];
        bytes += (node->value ? node->bits / 8 : 0) + (node->fsst ? sizeof(*node->fsst) : 0) +
                 node->member_count * sizeof(*node->members);
    }
    return bytes;
}

/* ---- Find or add a tree ---- */

static void close_trees(struct nt_file *file)
{
    nt_hash_table_deinit(&((struct kept_trees *)file->format_data)->table);
}

static struct kept_trees *trees_of(struct nt_file *file)
{
    if (file->format_data)
        return file->format_data;
    struct kept_trees *trees = nt_arena_alloc(file->arena, 1, sizeof(*trees));
    if (!trees || !nt_hash_table_init(&trees->table))
        return NULL;
    file->format_data = trees;
    file->close = close_trees;
    return trees;
}

static enum nt_status add_tree(struct nt_file *file, struct kept_trees *trees, const struct nt_tree *tree,
                               uint64_t hash, const struct nt_tree **tree_ret, struct nt_error *error)
{
    enum nt_status status = nt_budget_take(
        &file->budget, NT_COST_STEP, UINT64_C(1) + tree->node_count + tree->part_count, NT_NO_OFFSET, error);
    if (status == NT_OK)
        status = nt_budget_take(&file->budget, NT_COST_ENVELOPE_BYTE, bytes_of(tree), NT_NO_OFFSET, error);
    if (status != NT_OK)
        return status;
    struct kept_tree *kept = nt_arena_alloc(file->arena, 1, sizeof(*kept));
    if (!kept || !copy_tree(file->arena, tree, &kept->tree))
        return nt_fail_memory(error);
    nt_hash_table_insert(&trees->table, &kept->link, hash);
    *tree_ret = &kept->tree;
    return NT_OK;
}

enum nt_status nt_lance_keep_tree(struct nt_file *file, const struct nt_tree *known,
                                  const struct nt_tree *tree, const struct nt_tree **tree_ret,
                                  struct nt_error *error)
{
    *tree_ret = known;
    if (known && are_trees_equal(tree, known))
        return NT_OK;
    struct kept_trees *trees = trees_of(file);
    if (!trees)
        return nt_fail_memory(error);
    uint64_t hash = hash_of(tree, trees->table.seed);
    for (struct nt_link *link = nt_hash_table_find(&trees->table, hash); link;
         link = nt_hash_table_next(link)) {
        *tree_ret = &NT_LINKED(link, struct kept_tree, link)->tree;
        if (are_trees_equal(tree, *tree_ret))
            return NT_OK;
    }
    return add_tree(file, trees, tree, hash, tree_ret, error);
}
