/* SPDX-License-Identifier: MIT
 *
 * Decoding ahead of readers that go from front to back. Whatever is guessed here changes no result.
 */
#ifndef NT_PAGE_AHEAD_H
#define NT_PAGE_AHEAD_H

#include "page/reader.h"
#include "page/sequence.h"

/* A page and where it lies among the elements that are walked. */
struct nt_ahead_page {
    const struct nt_page *page; /* NULL: nothing to decode up to `end` */
    uint32_t column;
    uint64_t end; /* the element behind it */
};

/* The page that holds an element; there is one. */
typedef void nt_ahead_find(const void *walked, uint64_t element, struct nt_ahead_page *page_ret);

/* Queue the pages from `element` on, as far as it pays; `end` is the number of elements. */
void nt_ahead_queue(struct nt_reader *reader, struct nt_dataset *dataset, struct nt_sequence *sequence,
                    uint64_t element, uint64_t end, nt_ahead_find *find, const void *walked);

#endif
