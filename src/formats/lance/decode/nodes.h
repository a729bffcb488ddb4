/* SPDX-License-Identifier: MIT
 *
 * The table of nested encodings, and what is decoded by it.
 */
#ifndef NT_CODEC_TREE_NODES_H
#define NT_CODEC_TREE_NODES_H

#include "formats/lance/decode/work.h"

/* Make `elements` values of a node from a chunk's buffers, of which there are NT_TREE_BUFFERS. `into`: memory of exactly the bytes of the result, to be used for it
 * or not; NULL: there is none. */
enum nt_status nt_tree_node_decode(struct nt_work *work, uint32_t node, struct nt_part *parts,
                                   uint64_t elements, uint8_t *into, struct nt_array *array,
                                   struct nt_error *error);
/* The same of a block: one buffer that holds all of it. */
enum nt_status nt_block_decode(struct nt_work *work, uint32_t node, const struct nt_part *part,
                               uint64_t elements, uint8_t *into, struct nt_array *array,
                               struct nt_error *error);

#endif
