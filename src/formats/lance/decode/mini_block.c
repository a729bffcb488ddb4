/* SPDX-License-Identifier: MIT
 *
 * Parses a chunk of the mini-block layout: its header, levels and value buffers.
 */
#include "formats/lance/decode/decode.h"

#include "core/base/bytes.h"
#include "core/base/error.h"

enum { ALIGNMENT = 8 };

static void skip_padding(struct nt_cursor *cursor)
{
    size_t past = cursor->position % ALIGNMENT;
    if (past && nt_cursor_left(cursor))
        nt_skip(cursor,
                nt_cursor_left(cursor) < ALIGNMENT - past ? nt_cursor_left(cursor) : ALIGNMENT - past);
}

static void take_part(struct nt_cursor *cursor, uint64_t bytes, struct nt_buffer_slice *part)
{
    part->bytes = bytes;
    part->data = nt_get_bytes(cursor, bytes);
    skip_padding(cursor);
}

/* Some writers let the number of levels wrap at 2^16; the run lengths give the real number then. */
static uint64_t unwrap(const struct nt_tree *tree, uint32_t root, const struct nt_buffer_slice *part,
                       uint64_t count)
{
    const struct nt_tree_node *node = &tree->nodes[root], *values, *lengths;
    if (node->kind != NT_TREE_RUNS || part->bytes < sizeof(uint64_t))
        return count;
    values = &tree->nodes[node->children[0]];
    lengths = &tree->nodes[node->children[1]];
    uint64_t value_bytes = nt_load_le64(part->data), rest = part->bytes - sizeof(uint64_t);
    if (values->bits != 16 || lengths->bits != 8 || value_bytes > rest ||
        value_bytes / 2 > rest - value_bytes)
        return count;
    uint64_t total = nt_rle_total(part->data + sizeof(uint64_t) + value_bytes, 1, value_bytes / 2);
    return total > count && (total - count) % 65536 == 0 ? total : count;
}

static enum nt_status decode_levels(struct nt_decode_arena *arena, uint32_t root,
                                    const struct nt_buffer_slice *part, uint64_t count,
                                    const uint16_t **levels_ret, struct nt_error *error)
{
    if (root == NT_NO_NODE)
        return NT_OK;
    enum nt_status status = nt_levels_decode(arena, root, part, count, levels_ret, error);
    if (status != NT_OK)
        nt_error_context(error, "levels");
    return status;
}

static enum nt_status open_levels(struct nt_decode_arena *arena, const struct nt_buffer_slice *repetition,
                                  const struct nt_buffer_slice *definition, uint64_t count,
                                  struct nt_opened_page *opened, struct nt_error *error)
{
    const struct nt_tree *tree = arena->tree;
    struct nt_levels *levels = &opened->levels;
    if (tree->definition != NT_NO_NODE)
        count = unwrap(tree, tree->definition, definition, count);
    if (tree->repetition != NT_NO_NODE)
        count = unwrap(tree, tree->repetition, repetition, count);
    levels->count = count;
    enum nt_status status =
        decode_levels(arena, tree->repetition, repetition, count, &levels->repetition, error);
    if (status == NT_OK)
        status = decode_levels(arena, tree->definition, definition, count, &levels->definition, error);
    return status == NT_OK ? nt_levels_check(tree, levels, error) : status;
}

void nt_mini_block_get_sizes(const struct nt_tree *tree, struct nt_cursor *cursor,
                             struct nt_mini_block_sizes *sizes)
{
    sizes->levels = nt_get_le16(cursor);
    sizes->repetition_bytes = tree->repetition != NT_NO_NODE ? nt_get_le16(cursor) : 0;
    sizes->definition_bytes = tree->definition != NT_NO_NODE ? nt_get_le16(cursor) : 0;
    for (uint32_t i = 0; i < tree->buffers; i++)
        sizes->buffer_bytes[i] = tree->has_large_chunk ? nt_get_le32(cursor) : nt_get_le16(cursor);
}

enum nt_status nt_mini_block_open(struct nt_decode_arena *arena, bool needs_levels,
                                  struct nt_opened_page *opened, struct nt_error *error)
{
    const struct nt_tree *tree = arena->tree;
    struct nt_cursor cursor = nt_cursor(arena->packed->data, arena->packed->bytes);
    struct nt_buffer_slice repetition = {0}, definition = {0};
    struct nt_mini_block_sizes sizes;
    nt_mini_block_get_sizes(tree, &cursor, &sizes);
    opened->part_count = tree->buffers;
    skip_padding(&cursor);
    if (tree->repetition != NT_NO_NODE)
        take_part(&cursor, sizes.repetition_bytes, &repetition);
    if (tree->definition != NT_NO_NODE)
        take_part(&cursor, sizes.definition_bytes, &definition);
    for (uint32_t i = 0; i < tree->buffers; i++)
        take_part(&cursor, sizes.buffer_bytes[i], &opened->parts[i]);
    if (cursor.failed)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the buffers of a chunk exceed its %zu bytes",
                       arena->packed->bytes);
    return needs_levels && nt_tree_has_levels(tree)
               ? open_levels(arena, &repetition, &definition, sizes.levels, opened, error)
               : NT_OK;
}
