/* SPDX-License-Identifier: MIT
 *
 * A page: where its bytes lie, and by which rows of which tables they are checked, decompressed and decoded.
 */
#ifndef NT_MODEL_PAGE_H
#define NT_MODEL_PAGE_H

#include <stdbool.h>
#include <stdint.h>

enum nt_checksum_covers {
    NT_COVERS_STORED,           /* the bytes as stored */
    NT_COVERS_STORED_OR_PACKED, /* drafts: either the stored or the uncompressed bytes; both are accepted */
};

struct nt_page {
    uint64_t offset; /* in its source; see nt_dataset_ops.page_extents where it may lie in several places */
    uint64_t stored_bytes;  /* checksum not counted */
    uint64_t first_element; /* within its column range */
    uint64_t parameter;     /* handed to the decoder (Roaring: what is added to each value) */
    uint32_t elements;
    uint32_t decoder; /* number of one of the data set's */
    uint32_t source;  /* index into the data set's sources */
    uint8_t checksum; /* enum nt_checksum_kind; the digest follows the stored bytes */
    uint8_t checksum_covers;
    uint8_t compression; /* enum nt_compression_kind */
    bool is_missing : 1; /* there are no bytes, and what is read instead fails: equal to no other page */
    bool is_uniform : 1; /* all elements are equal: see nt_page_made_elements */
};

enum { NT_UNIFORM_ELEMENTS = 8192 };

/* How many elements are decoded: of a page whose elements are all equal only so many, which stand for any run of as many. */
static inline uint32_t nt_page_made_elements(const struct nt_page *page)
{
    return page->is_uniform && page->elements > NT_UNIFORM_ELEMENTS ? NT_UNIFORM_ELEMENTS : page->elements;
}

#endif
