/* SPDX-License-Identifier: MIT
 *
 * Pages, loaded and through the cache.
 */
#ifndef NT_PAGE_LOAD_H
#define NT_PAGE_LOAD_H

#include "page/cache.h"
#include "page/reader.h"

/* Bytes of a page's decoded elements; NT_LIMIT where they overflow or are more than the reader allows. */
enum nt_status nt_page_decoded_bytes(const struct nt_reader *reader, const struct nt_dataset *dataset,
                                     const struct nt_page *page, size_t *bytes_ret, struct nt_error *error);

/* nt_page_load with a borrowed context. `stored`: the page's stored bytes, the digest behind them, where they
 * are in memory already; NULL: they are read. They may be in any of the context's slots but 0. */
enum nt_status nt_page_load_with(struct nt_codec_context *context, const uint8_t *stored,
                                 struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                                 const struct nt_page *page, void *output, struct nt_error *error);

/* nt_page_algorithm where the first bytes are known; compressions look at 16 at most. */
const char *nt_stored_algorithm(const struct nt_compression *compression, const struct nt_page *page,
                                const uint8_t *start, size_t packed_bytes);

/* All that decides about a page's decoded elements. */
struct nt_cache_key nt_page_key(const struct nt_dataset *dataset, const struct nt_page *page);
/* Of the algorithm that the stored bytes name; `start` has the first 16 of them. */
struct nt_algorithm_counters *nt_page_algorithm_counters(struct nt_reader *reader, const struct nt_page *page,
                                                         const uint8_t *start, size_t packed_bytes);

/* A page's decoded elements in the cache, loaded where they are not there: valid until nt_page_unpin. */
enum nt_status nt_page_pin(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                           const struct nt_page *page, struct nt_cached **pinned_ret,
                           const uint8_t **data_ret, struct nt_error *error);
void nt_page_unpin(struct nt_reader *reader, struct nt_cached *pinned, enum nt_cache_use use);

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

/* Bytes [offset, offset + bytes) of a page's decoded elements, few beside its size, from the parts that hold
 * them. False where this is not possible, does not pay or fails, or the page is in the cache: then the page
 * is to be used. */
bool nt_page_read_part(struct nt_reader *reader, struct nt_dataset *dataset, const struct nt_page *page,
                       size_t offset, void *output, size_t bytes);

/* Load a page into the cache if it is not there and not being loaded. */
void nt_page_load_ahead(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                        const struct nt_page *page);

#endif
