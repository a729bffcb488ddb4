/* SPDX-License-Identifier: MIT
 *
 * Pages through the cache, or past it where they are wanted whole.
 */
#ifndef NT_PAGE_PAGES_H
#define NT_PAGE_PAGES_H

#include "read/cache.h"
#include "read/reader.h"

/* A page's decoded elements in the cache, loaded where they are not there: valid until nt_page_unpin. */
enum nt_status nt_page_pin(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                           const struct nt_page *page, struct nt_cached **pinned_ret,
                           const uint8_t **data_ret, struct nt_error *error);
/* The same by one who may have others pinned, see cache.h. */
enum nt_status nt_page_pin_as(enum nt_cache_asker asker, struct nt_reader *reader, struct nt_dataset *dataset,
                              uint32_t column, const struct nt_page *page, struct nt_cached **pinned_ret,
                              const uint8_t **data_ret, struct nt_error *error);
void nt_page_unpin(struct nt_reader *reader, struct nt_cached *pinned, enum nt_cache_use use);

/* Whether a page is not in the cache, nor being loaded, nor known to fail; may be out of date at once. */
bool nt_page_is_absent(const struct nt_reader *reader, const struct nt_dataset *dataset,
                       const struct nt_page *page);

/* The decoded elements of whole pages of a column, one behind the other, into `output`: each from the cache
 * where it is there (or about to be), else decoded straight into the output, without a trace in the cache but
 * for a failure. The first that fails fails the call. */
enum nt_status nt_pages_read_whole(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                                   const struct nt_page *pages, uint32_t count, void *output,
                                   struct nt_error *error);
/* How many of the pages are whole within the next `elements` elements and hold values that are equal to those
 * of `dtype` (NULL: any), and how many elements these are. */
uint32_t nt_count_whole_pages(const struct nt_dataset *dataset, const struct nt_page *pages, uint32_t count,
                              uint64_t elements, const struct nt_dtype *dtype, uint64_t *elements_ret);

/* Load a page into the cache if it is not there and not being loaded. */
void nt_page_load_ahead(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                        const struct nt_page *page);

/* Small ranges of large pages, without the rest: bytes [offset, offset + bytes) of a page's decoded elements,
 * few beside its size, from the blocks that hold them. False where this is not possible, does not pay or
 * fails, or the page is in the cache: then the page is to be used. */
bool nt_page_read_blocks(struct nt_reader *reader, struct nt_dataset *dataset, const struct nt_page *page,
                         size_t offset, void *output, size_t bytes);

#endif
