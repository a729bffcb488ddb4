/* SPDX-License-Identifier: MIT
 *
 * A mini-block page's repetition index: for each chunk, how many rows end in it, and how many levels there are of the
 * one that goes on behind it (Lance's encoding, "Mini-block layout", "Repetition index"). It tells where rows are
 * without a look at the levels, which have to say the same.
 */
#ifndef NT_FORMAT_LANCE_ROW_INDEX_H
#define NT_FORMAT_LANCE_ROW_INDEX_H

#include "formats/lance/decode/tree.h"
#include "formats/lance/file/trees.h"

struct nt_lance_row_index {
    const uint8_t *entries; /* from malloc; NULL: the page has none */
    uint64_t count;         /* of chunks */
    uint32_t entry_bytes;
    uint64_t offset;               /* where it lies */
    struct nt_tree_counts counted; /* what the levels of the chunk that was checked last tell */
};

/* Read that of a page of `count` chunks from its file, if it has one. NT_CORRUPT where it contradicts itself or the page. */
enum nt_status nt_lance_row_index_open(struct nt_source *source, const struct nt_lance_page *page,
                                       const struct nt_lance_layout *layout, uint64_t count,
                                       struct nt_lance_row_index *index, struct nt_error *error);
void nt_lance_row_index_close(struct nt_lance_row_index *index);
/* Rows that begin in a chunk. */
uint64_t nt_lance_row_index_rows(const struct nt_lance_row_index *index, uint64_t chunk);
/* Compare it with what the levels of a chunk tell; chunk after chunk. Whether its last row goes on is known from the
 * next one. */
enum nt_status nt_lance_row_index_check(struct nt_lance_row_index *index, const struct nt_tree *tree,
                                        uint64_t chunk, const struct nt_tree_counts *counts,
                                        struct nt_error *error);

#endif
