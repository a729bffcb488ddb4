/* SPDX-License-Identifier: MIT
 *
 * Writes Bloscpack files for tests, part by part as they lie on disk; c-blosc makes the chunks. Good files
 * come out of bloscpack_write; bad ones by changing a byte afterwards.
 */
#ifndef NT_TESTS_BLOSCPACK_WRITER_H
#define NT_TESTS_BLOSCPACK_WRITER_H

#include "core/base/memory.h"

struct bloscpack_options {
    unsigned version;  /* 1, 2 or 3 */
    unsigned checksum; /* its number in the file, 0 to 8 */
    bool has_offsets;
    bool hides_offsets;     /* they are all -1, as after a write that was broken off */
    bool hides_count;       /* the number of chunks is -1 */
    bool hides_sizes;       /* chunk size and last chunk are -1 */
    unsigned append_chunks; /* room for more in the offsets */
    const char *metadata;   /* JSON, or NULL */
    bool compresses_metadata;
    unsigned type_bytes;
    size_t chunk_bytes;
};

/* Append one Blosc chunk. */
void blosc_write(struct nt_buffer *out, const void *bytes, size_t count, unsigned type_bytes);

/* Append a whole file; `places` takes where its chunks start (as many as there are), or is NULL. */
void bloscpack_write(struct nt_buffer *out, const struct bloscpack_options *options, const void *bytes,
                     size_t count, size_t *places);

#endif
