/* SPDX-License-Identifier: MIT
 *
 * The header of a Blosc chunk: what is to be known of a chunk before c-blosc sees it.
 */
#ifndef NT_FORMAT_BLZ_BLOSC_CHUNK_H
#define NT_FORMAT_BLZ_BLOSC_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

enum { NT_BLOSC_HEADER_BYTES = 16 };

struct nt_blosc_header {
    uint8_t version; /* of the format, 1 or 2 */
    uint8_t codec_version;
    uint8_t flags;
    uint8_t type_bytes;
    uint32_t plain_bytes;  /* after decompression */
    uint32_t block_bytes;  /* before compression */
    uint32_t stored_bytes; /* with this header */
};

/* NULL where the 16 bytes are a header of a chunk that fits into `room` bytes, else what is wrong with it. */
const char *nt_blosc_header_read(const uint8_t *bytes, uint64_t room, struct nt_blosc_header *header);

bool nt_blosc_is_stored(const struct nt_blosc_header *header); /* not compressed at all */
const char *nt_blosc_codec(const struct nt_blosc_header *header);
const char *nt_blosc_shuffle(const struct nt_blosc_header *header); /* "none", "byte" or "bit" */

#endif
