/* SPDX-License-Identifier: MIT
 *
 * Whole pages of the file, part after part.
 */
#ifndef NT_CODEC_TREE_WHOLE_H
#define NT_CODEC_TREE_WHOLE_H

#include "formats/lance/decode/tree.h"

/* A chunk of a mini-block page, as its word in the page's first buffer tells. */
struct nt_tree_chunk {
    uint64_t offset, bytes; /* within the chunks */
    uint64_t first_value, values;
};

/* The chunk of a number, the one behind `*chunk` (all zeros: the first): `words` are `word_count` of 2 bytes, of a tree with
 * large chunks 4. `values` and `bytes`: of all chunks. NT_CORRUPT where there are fewer of either. */
enum nt_status nt_tree_next_chunk(const struct nt_tree *tree, const uint8_t *words, uint64_t word_count,
                                  uint64_t number, uint64_t values, uint64_t bytes,
                                  struct nt_tree_chunk *chunk, struct nt_error *error);

/* As nt_tree_decode, of a tree that is whole. ENDS go on from chunk to chunk. */
enum nt_status nt_whole_decode(const struct nt_tree *tree, const struct nt_tree_want *want,
                               const struct nt_packed *packed, uint32_t element_bytes, uint8_t *output,
                               struct nt_error *error);

#endif
