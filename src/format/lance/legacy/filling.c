/* SPDX-License-Identifier: MIT
 *
 * In: pages of offsets, or of numbers of items. Out: the trees that they are decoded by.
 */
#include "format/lance/legacy/filling.h"

#include "base/arena.h"

static bool is_known(const struct nt_tree *known, bool are_offsets, uint32_t bits, uint64_t bytes)
{
    return known && known->nodes[known->node_count - 1].bits == bits && known->parts[0].bytes == bytes &&
           known->has_dictionary == !are_offsets;
}

enum nt_status nt_lance_flat_tree(struct nt_lance_listing *listing, bool are_offsets, uint32_t bits,
                                  uint64_t bytes, const struct nt_tree **tree_ret)
{
    struct nt_arena *arena = listing->dataset->file->arena;
    const struct nt_tree_node nodes[] = {{.kind = NT_TREE_ABSOLUTE_OFFSETS, .children = {1, NT_NO_NODE}},
                                         {.kind = NT_TREE_FLAT, .bits = bits}};
    const struct nt_tree_part part = {0, bytes};
    struct nt_tree tree = {.layout = NT_TREE_ARRAY,
                           .node_count = are_offsets ? 2 : 1,
                           .repetition = NT_NO_NODE,
                           .definition = NT_NO_NODE,
                           .has_dictionary = !are_offsets,
                           .part_count = 1};
    if (!is_known(listing->known, are_offsets, bits, bytes)) {
        enum nt_status status = nt_budget_take(&listing->dataset->file->budget, NT_COST_STEP,
                                               tree.node_count + 2, NT_NO_OFFSET, listing->error);
        if (status != NT_OK)
            return status;
        const struct nt_tree_node *first = are_offsets ? &nodes[0] : &nodes[1];
        tree.nodes = (void *)nt_arena_copy(arena, first, tree.node_count * sizeof(*first));
        tree.parts = (void *)nt_arena_copy(arena, &part, sizeof(part));
        listing->known = (void *)nt_arena_copy(arena, &tree, sizeof(tree));
        if (!tree.nodes || !tree.parts || !listing->known)
            return nt_fail_memory(listing->error);
    }
    *tree_ret = listing->known;
    return NT_OK;
}
