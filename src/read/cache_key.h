/* SPDX-License-Identifier: MIT
 *
 * What an entry of the cache is found by.
 */
#ifndef NT_PAGE_CACHE_KEY_H
#define NT_PAGE_CACHE_KEY_H

#include <stdint.h>

/* All that decides about the decoded bytes. One byte range may belong to columns of different type and
 * element count (merged pages), so the place alone is not enough. Without padding: compared and hashed as
 * bytes. */
struct nt_cache_key {
    const void *source;
    const void *decoder; /* the data set's, which has equal ones once */
    uint64_t offset;
    uint64_t stored_bytes;
    uint64_t parameter;
    uint32_t elements;
    uint8_t compression, checksum, checksum_covers, reserved;
    uint64_t block; /* what of the page: */
};
enum {
    NT_CACHE_WHOLE = 0,  /* all of its elements */
    NT_CACHE_STORED = 1, /* its stored bytes and digest */
    NT_CACHE_BLOCKS = 2, /* its first block; the others follow */
};

#endif
