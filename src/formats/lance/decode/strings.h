/* SPDX-License-Identifier: MIT
 *
 * Strings: offsets, bytes, and codes that stand for frequent bytes.
 */
#ifndef NT_CODEC_TREE_STRINGS_H
#define NT_CODEC_TREE_STRINGS_H

#include "formats/lance/decode/work.h"

/* Strings: `offsets` of `offset_bits`, one more than `elements`, counted from `base` of which there are `base_bytes`. */
enum nt_status nt_strings_from_offsets(struct nt_work *work, const uint8_t *offsets, uint32_t offset_bits,
                                       const uint8_t *base, uint64_t base_bytes, uint64_t elements,
                                       struct nt_array *array, struct nt_error *error);
/* NT_CORRUPT: there are codes of no strings. */
enum nt_status nt_strings_are_missing(struct nt_error *error);
/* Where strings of a symbol table's codes end, once they are decoded. */
enum nt_status nt_strings_measure(struct nt_work *work, struct nt_array *array, struct nt_error *error);
/* They, with exactly `bytes` bytes, straight to where these are wanted. */
enum nt_status nt_strings_expand_into(struct nt_work *work, struct nt_array *array, uint8_t *output,
                                      uint64_t bytes, struct nt_error *error);
/* Strings of a symbol table's codes. */
enum nt_status nt_strings_expand(struct nt_work *work, const struct nt_fsst *fsst, struct nt_array *array,
                                 struct nt_error *error);
/* A mini-block's strings, and those of a block. */
enum nt_status nt_strings_decode(struct nt_work *work, const struct nt_tree_node *node,
                                 const struct nt_part *part, uint64_t elements, struct nt_array *array,
                                 struct nt_error *error);
enum nt_status nt_strings_decode_block(struct nt_work *work, const struct nt_tree_node *node,
                                       const struct nt_part *part, uint64_t elements, struct nt_array *array,
                                       struct nt_error *error);

#endif
