/* SPDX-License-Identifier: MIT
 *
 * Pages of version 2.0.
 */
#ifndef NT_CODEC_TREE_PLAIN_H
#define NT_CODEC_TREE_PLAIN_H

#include "formats/lance/decode/work.h"

/* Version 2.0's nodes, which take their buffers by number. */
enum nt_status nt_plain_decode(struct nt_work *work, uint32_t node, const struct nt_part *parts,
                               uint32_t part_count, uint64_t elements, struct nt_array *array,
                               struct nt_error *error);

#endif
