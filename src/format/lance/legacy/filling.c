/* SPDX-License-Identifier: MIT
 *
 * In: pages of offsets. Out: the trees that they are decoded by, and what they lead to.
 */
#include "format/lance/legacy/filling.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/overflow.h"

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

static enum nt_status read_offset(const struct nt_lance_listing *listing, uint64_t offset, uint32_t bits,
                                  uint64_t *value_ret)
{
    uint8_t bytes[sizeof(uint64_t)] = {0};
    enum nt_status status = nt_source_read(listing->lance->source, offset, bytes, bits / 8, listing->error);
    *value_ret = nt_load_le64(bytes);
    return status;
}

enum nt_status nt_lance_read_bounds(const struct nt_lance_listing *listing, uint64_t offset, uint64_t count,
                                    uint32_t bits, uint64_t *first_ret, uint64_t *last_ret)
{
    enum nt_status status = read_offset(listing, offset, bits, first_ret);
    if (status == NT_OK)
        status = read_offset(listing, offset + count * (bits / 8), bits, last_ret);
    if (status == NT_OK && *last_ret < *first_ret)
        status = nt_fail(listing->error, NT_CORRUPT, offset,
                         "offsets of %" PRIu64 " rows go from %" PRIu64 " to %" PRIu64, count, *first_ret,
                         *last_ret);
    return status;
}

enum nt_status nt_lance_read_strings(const struct nt_lance_listing *listing, uint64_t offset, uint64_t count,
                                     uint64_t *begin_ret, uint64_t *bytes_ret)
{
    uint64_t begin, end;
    enum nt_status status = nt_lance_read_bounds(listing, offset, count, 64, &begin, &end);
    if (status != NT_OK)
        return status;
    if (end > listing->lance->size)
        return nt_fail(listing->error, NT_CORRUPT, offset,
                       "strings end at %" PRIu64 ", behind the %" PRIu64 " bytes of the file", end,
                       listing->lance->size);
    *begin_ret = begin;
    *bytes_ret = end - begin;
    return NT_OK;
}
