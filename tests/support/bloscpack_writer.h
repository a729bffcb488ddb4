/* SPDX-License-Identifier: MIT
 *
 * Writes Bloscpack files for tests, part by part in file order. c-blosc compresses the chunks.
 * bloscpack_write creates valid files; a test changes a byte to create an invalid one.
 */
#pragma once

#include "core/base/memory.h"

struct bloscpack_options {
    unsigned version;  /* 1, 2 or 3 */
    unsigned checksum; /* its number in the file, 0 to 8 */
    bool has_offsets;
    bool hides_offsets;     /* all are -1, as after an interrupted write */
    bool hides_count;       /* the number of chunks is -1 */
    bool hides_sizes;       /* chunk size and last chunk are -1 */
    unsigned append_chunks; /* spare room in the offsets */
    const char *metadata;   /* JSON, or NULL */
    bool compresses_metadata;
    unsigned type_bytes;
    size_t chunk_bytes;
};

/* Appends one Blosc chunk. */
void blosc_write(struct nt_buffer *out, const void *bytes, size_t count, unsigned type_bytes);

/* Appends a whole file. `places` receives the start of each chunk; may be NULL. */
void bloscpack_write(struct nt_buffer *out, const struct bloscpack_options *options, const void *bytes,
                     size_t count, size_t *places);
