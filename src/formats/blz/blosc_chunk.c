/* SPDX-License-Identifier: MIT
 *
 * In: the first 16 bytes of a chunk. Out: its sizes and flags (c-blosc's README_CHUNK_FORMAT), checked
 * against the room that the file has.
 */
#include "formats/blz/blosc_chunk.h"

#include <stddef.h>

#include "core/base/bytes.h"

enum {
    FLAG_SHUFFLE = 1,
    FLAG_STORED = 2,
    FLAG_BIT_SHUFFLE = 4,
    CODEC_SHIFT = 5,
    MAXIMUM_PLAIN_BYTES = INT32_MAX - NT_BLOSC_HEADER_BYTES,
};

const char *nt_blosc_header_read(const uint8_t *bytes, uint64_t room, struct nt_blosc_header *header)
{
    *header = (struct nt_blosc_header){
        .version = bytes[0],
        .codec_version = bytes[1],
        .flags = bytes[2],
        .type_bytes = bytes[3],
        .plain_bytes = nt_load_le32(bytes + 4),
        .block_bytes = nt_load_le32(bytes + 8),
        .stored_bytes = nt_load_le32(bytes + 12),
    };
    if (header->version != 1 && header->version != 2)
        return "the Blosc header has an unknown version";
    if (header->stored_bytes < NT_BLOSC_HEADER_BYTES)
        return "the Blosc header tells fewer bytes than it has itself";
    if (header->stored_bytes > room)
        return "the chunk ends behind the end of the file";
    if (header->plain_bytes > MAXIMUM_PLAIN_BYTES)
        return "the Blosc header tells more than 2 GB";
    if (header->type_bytes == 0)
        return "the Blosc header has no type size";
    if (header->plain_bytes > 0 && (header->block_bytes == 0 || header->block_bytes > MAXIMUM_PLAIN_BYTES))
        return "the Blosc header has no usable block size";
    return NULL;
}

bool nt_blosc_is_stored(const struct nt_blosc_header *header)
{
    return header->flags & FLAG_STORED;
}

const char *nt_blosc_codec(const struct nt_blosc_header *header)
{
    static const char *const names[8] = {"blosclz", "lz4",     "snappy",  "zlib",
                                         "zstd",    "unknown", "unknown", "unknown"};
    return names[header->flags >> CODEC_SHIFT];
}

const char *nt_blosc_shuffle(const struct nt_blosc_header *header)
{
    return header->flags & FLAG_SHUFFLE ? "byte" : header->flags & FLAG_BIT_SHUFFLE ? "bit" : "none";
}
