/* SPDX-License-Identifier: MIT
 *
 * In: pages of offsets, or of numbers of items. Out: the trees that they are decoded by.
 */
#include "formats/lance/legacy/filling.h"

#include "formats/lance/file/kept_trees.h"

enum nt_status nt_lance_flat_tree(struct nt_lance_listing *listing, bool are_offsets, uint32_t bits,
                                  uint64_t bytes, const struct nt_tree **tree_ret)
{
    const struct nt_tree_node nodes[] = {{.kind = NT_TREE_ABSOLUTE_OFFSETS, .children = {1, NT_NO_NODE}},
                                         {.kind = NT_TREE_FLAT, .bits = bits}};
    const struct nt_tree_part part = {0, bytes};
    const struct nt_tree tree = {.layout = NT_TREE_ARRAY,
                                 .nodes = are_offsets ? &nodes[0] : &nodes[1],
                                 .node_count = are_offsets ? 2 : 1,
                                 .repetition = NT_NO_NODE,
                                 .definition = NT_NO_NODE,
                                 .has_dictionary = !are_offsets,
                                 .parts = &part,
                                 .part_count = 1};
    enum nt_status status =
        nt_lance_keep_tree(listing->dataset->file, listing->known, &tree, tree_ret, listing->error);
    if (status == NT_OK)
        listing->known = *tree_ret;
    return status;
}
