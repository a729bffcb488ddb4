/* SPDX-License-Identifier: MIT
 *
 * Runs: each of some values, as often as its length says. Nothing needs alignment, and inputs and output never
 * overlap. Lengths are unsigned integers of 1, 2, 4 or 8 bytes.
 */
#ifndef NT_CODEC_TREE_RLE_H
#define NT_CODEC_TREE_RLE_H

#include <stdint.h>

#include "core/base/error.h"

/* `elements` elements of `value_bytes` each, exactly so much room as the output has. What the runs have beyond
 * them is left out, because writers exist that store too much; fewer are NT_CORRUPT. */
enum nt_status nt_rle_expand(const uint8_t *values, uint32_t value_bytes, uint64_t runs,
                             const uint8_t *lengths, uint32_t length_bytes, uint64_t elements,
                             uint8_t *output, struct nt_error *error);

/* Sum of the lengths; UINT64_MAX where it is larger than that. */
uint64_t nt_rle_total(const uint8_t *lengths, uint32_t length_bytes, uint64_t runs);

#endif
