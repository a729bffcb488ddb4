/* SPDX-License-Identifier: MIT
 *
 * Small ranges of large pages, without the rest.
 */
#ifndef NT_PAGE_BLOCKS_H
#define NT_PAGE_BLOCKS_H

#include "page/reader.h"

/* Bytes [offset, offset + bytes) of a page's decoded elements, few beside its size, from the blocks that hold
 * them. False where this is not possible, does not pay or fails, or the page is in the cache: then the page
 * is to be used. */
bool nt_page_read_blocks(struct nt_reader *reader, struct nt_dataset *dataset, const struct nt_page *page,
                         size_t offset, void *output, size_t bytes);

#endif
