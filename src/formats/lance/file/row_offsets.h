/* SPDX-License-Identifier: MIT
 *
 * A full-zip page's repetition index: where each row begins, of pages whose rows are of no fixed width (Lance's encoding,
 * "Full zip layout"). It tells which rows can be decoded alone, and of lists of values of fixed width how many items they have.
 */
#ifndef NT_FORMAT_LANCE_ROW_OFFSETS_H
#define NT_FORMAT_LANCE_ROW_OFFSETS_H

#include "formats/lance/file/trees.h"
#include "core/io/source.h"

struct nt_lance_row_offsets {
    const uint8_t *entries; /* from malloc, one more than there are rows; NULL: the page has none */
    uint32_t entry_bytes;
    uint64_t rows;
    uint64_t end;                     /* of the last row */
    uint32_t item_bytes, empty_bytes; /* of an item, of a list without one; 0: rows do not tell their items */
};

/* Some rows, one behind the other. */
struct nt_lance_row_span {
    uint64_t rows, bytes;
    uint64_t items; /* where rows tell of them */
};

/* Read that of a page from its file, if it has one. NT_CORRUPT where it contradicts itself or the page. */
enum nt_status nt_lance_row_offsets_open(struct nt_source *source, const struct nt_lance_page *page,
                                         const struct nt_lance_layout *layout,
                                         struct nt_lance_row_offsets *offsets, struct nt_error *error);
void nt_lance_row_offsets_close(struct nt_lance_row_offsets *offsets);
/* The rows from one on that lie in so many bytes, one of them in any case. */
struct nt_lance_row_span nt_lance_row_offsets_take(const struct nt_lance_row_offsets *offsets, uint64_t row,
                                                   uint64_t most_bytes);

#endif
