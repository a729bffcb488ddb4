/* SPDX-License-Identifier: MIT
 *
 * Integers of few bits in words of 8, 16, 32 or 64, in blocks of 1024 whose order FastLanes gives. Nothing
 * needs alignment, and input and output never overlap. The output has room for exactly `elements` words.
 */
#ifndef NT_CODEC_TREE_BIT_UNPACK_H
#define NT_CODEC_TREE_BIT_UNPACK_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* Blocks that tell how many bits their elements have, each in a word in front of it; the last one is whole in
 * the input, too. Up to 7 bytes behind it are padding, more are NT_CORRUPT, as are fewer than the blocks
 * take. */
enum nt_status nt_unpack_inline(const uint8_t *input, size_t input_bytes, uint32_t word_bits,
                                uint64_t elements, uint8_t *output, struct nt_error *error);

/* Blocks of `packed_bits` each. What is left behind the whole ones is another block, or as many words as
 * there are elements left: which of the two, the input's size tells, and any other size is NT_CORRUPT. */
enum nt_status nt_unpack_blocks(const uint8_t *input, size_t input_bytes, uint32_t word_bits,
                                uint32_t packed_bits, uint64_t elements, uint8_t *output,
                                struct nt_error *error);

#endif
