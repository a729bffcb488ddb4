/* SPDX-License-Identifier: MIT
 *
 * A stretch of a file and its owner.
 */
#ifndef NT_VIEW_LAYOUT_ITEM_H
#define NT_VIEW_LAYOUT_ITEM_H

#include <stdbool.h>
#include <stdint.h>

/* A stretch of a source. Where several owners claim the same bytes (merged pages), the others follow as items
 * of `is_shared`, with the same place; where a claim overlaps another only in part, the item is what is left
 * of it and `claimed` tells the whole. */
struct nt_layout_item {
    uint64_t offset, bytes;
    uint64_t claimed_offset, claimed_bytes;
    uint32_t source;  /* index into the file's layout sources */
    uint32_t dataset; /* indices, NT_NONE where the owner has none */
    uint32_t column;  /* of the data set's stored side */
    uint32_t cluster;
    uint32_t page; /* number within the column */
    bool is_shared;
    double ratio; /* of a page: its bytes before and after compression; 0 where that is not known */
    const char *owner, *detail;
};

#endif
