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

/* A page's decoded elements in the cache, loaded where they are not there: valid until nt_page_unpin. */
enum nt_status nt_page_pin(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                           const struct nt_page *page, struct nt_cached **pinned_ret,
                           const uint8_t **data_ret, struct nt_error *error);
void nt_page_unpin(struct nt_reader *reader, struct nt_cached *pinned, enum nt_cache_use use);

/* A whole page's decoded elements into `output`: from the cache where it is there (or about to be), else
 * decoded straight into the output, without a trace in the cache but for a failure. */
enum nt_status nt_page_read_whole(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                                  const struct nt_page *page, void *output, struct nt_error *error);

/* Load a page into the cache if it is not there and not being loaded. */
void nt_page_load_ahead(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                        const struct nt_page *page);

#endif
