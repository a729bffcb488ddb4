/* SPDX-License-Identifier: MIT
 *
 * Chunks of mini-block pages.
 */
#ifndef NT_CODEC_TREE_MINI_BLOCK_H
#define NT_CODEC_TREE_MINI_BLOCK_H

#include "core/base/bytes.h"
#include "formats/lance/decode/work.h"

/* What a chunk begins with: the number of its levels, and how many bytes follow of them and of each buffer. */
struct nt_mini_block_sizes {
    uint64_t levels, repetition_bytes, definition_bytes;
    uint64_t buffer_bytes[NT_TREE_BUFFERS];
};
enum { NT_MINI_BLOCK_SIZES_BYTES = 6 + 4 * NT_TREE_BUFFERS }; /* at most */
/* Read them; `cursor` tells whether it failed. */
void nt_mini_block_get_sizes(const struct nt_tree *tree, struct nt_cursor *cursor,
                             struct nt_mini_block_sizes *sizes);

enum nt_status nt_mini_block_open(struct nt_work *work, bool wants_levels, struct nt_opened *opened,
                                  struct nt_error *error);

#endif
