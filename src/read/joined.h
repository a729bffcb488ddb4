/* SPDX-License-Identifier: MIT
 *
 * Small pages that lie one behind the other, and are loaded with one read and one codec context.
 */
#ifndef NT_PAGE_JOINED_H
#define NT_PAGE_JOINED_H

#include "read/load.h"

/* How many of the pages can be read and decoded together, from the request's on, and how long the read is: none
 * of them is in the cache. */
uint32_t nt_joined_count(const struct nt_page_request *request, uint32_t count, size_t *bytes_ret);
/* The memory that they take: that of the largest, beside the stored bytes of all. */
uint64_t nt_joined_scratch_bytes(const struct nt_page_request *request, uint32_t count, size_t bytes);
/* Their stored bytes, in scratch memory. NULL where that fails: then the pages are read one by
 * one, and the one that cannot be read is found. */
const uint8_t *nt_joined_read(const struct nt_page_request *request, size_t bytes);

#endif
