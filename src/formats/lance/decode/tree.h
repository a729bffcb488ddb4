/* SPDX-License-Identifier: MIT
 *
 * Pages in nested encodings (description.h): decoding what is wanted of one, and counting what is in it.
 */
#ifndef NT_CODEC_TREE_TREE_H
#define NT_CODEC_TREE_TREE_H

#include "formats/lance/decode/description.h"

/* Decode a page that is not whole: `packed->inputs` are, of a tree with a dictionary, its items (VALUES), or their ENDS and
 * BYTES. Exactly `packed->elements` elements of `element_bytes` are made. */
enum nt_status nt_tree_decode(const struct nt_tree *tree, const struct nt_tree_want *want,
                              const struct nt_packed *packed, uint32_t element_bytes, uint8_t *output,
                              struct nt_error *error);

/* Whether what is wanted can be had of a page together with something else. */
bool nt_tree_is_shareable(const struct nt_tree *tree, const struct nt_tree_want *want);
/* One of several outputs of the same page, none of them twice; all `packed` have the same bytes and the same context. */
struct nt_tree_share {
    const struct nt_tree_want *want;
    const struct nt_packed *packed;
    uint32_t element_bytes;
    uint8_t *output;
};
/* nt_tree_decode of all of them; what they have in common is done once. */
enum nt_status nt_tree_decode_together(const struct nt_tree *tree, const struct nt_tree_share *shares,
                                       uint32_t count, struct nt_error *error);

/* What a page holds, for those who make page lists. */
struct nt_tree_counts {
    uint64_t slots[NT_TREE_LAYERS]; /* of each layer: rows that begin in the page */
    uint64_t levels;                /* 0 where there are none */
    uint64_t bytes;                 /* of strings, where they were asked for */
    uint64_t spent;                 /* bytes of memory that were used for it */
    /* Of the outermost layer's rows: */
    bool is_continued; /* the page begins within one */
    uint64_t last_row; /* levels of the last that begins there; of the whole page, where none does */
};
/* `values`: how many values there are where no levels tell. `wants_bytes`: count the bytes of strings (`member` of a structure),
 * too. */
enum nt_status nt_tree_count(const struct nt_tree *tree, const struct nt_packed *packed, uint64_t values,
                             bool wants_bytes, uint32_t member, struct nt_tree_counts *counts,
                             struct nt_error *error);

#endif
