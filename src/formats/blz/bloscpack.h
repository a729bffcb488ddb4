/* SPDX-License-Identifier: MIT
 *
 * Bloscpack files, versions 1 to 3: header, metadata section, offsets, and chunks with their digests. The
 * superchunks of BLZ are such files, too.
 */
#ifndef NT_FORMAT_BLZ_BLOSCPACK_H
#define NT_FORMAT_BLZ_BLOSCPACK_H

#include "core/base/buffer.h"
#include "core/codec/codec.h"
#include "formats/blz/blosc_chunk.h"
#include "core/io/source.h"

enum { NT_BLOSCPACK_HEADER_BYTES = 32, NT_BLOSCPACK_HEADER_1_BYTES = 16 };

struct nt_bloscpack_header {
    uint8_t version;
    bool has_offsets, has_metadata;
    enum nt_checksum_kind checksum;
    uint8_t type_bytes;
    int32_t chunk_bytes, last_chunk_bytes; /* before compression; -1: not known, as in version 1 */
    int64_t chunks;                        /* -1: as many as the file has */
    int64_t append_chunks;                 /* room for more in the offsets */
    uint32_t header_bytes;
};

struct nt_bloscpack_metadata {
    enum nt_checksum_kind checksum;
    uint8_t codec, level;                        /* codec 0: stored, 1: zlib */
    uint32_t bytes, maximum_bytes, stored_bytes; /* of the text; room for it; as stored */
    uint64_t section_bytes;                      /* header, room and digest */
};

struct nt_bloscpack {
    struct nt_bloscpack_header header;
    struct nt_bloscpack_metadata metadata;
    uint64_t size;           /* of the file */
    uint64_t offsets_offset; /* of the offsets, which end where the chunks start */
    uint64_t chunks_offset;
    bool uses_offsets; /* the offsets are there and point at chunks in ascending order */
};

/* Read a header: `count` bytes are there. NT_NOT_THIS_FORMAT without the magic, NT_UNSUPPORTED for later
 * versions, NT_TRUNCATED, NT_CORRUPT. */
enum nt_status nt_bloscpack_header_parse(const uint8_t *bytes, size_t count,
                                         struct nt_bloscpack_header *header, struct nt_error *error);

/* Read all that stands before the chunks. `metadata` takes the text of the metadata section, checked and
 * decompressed; NULL: not wanted. */
enum nt_status nt_bloscpack_open(struct nt_source *source, struct nt_bloscpack *bloscpack,
                                 struct nt_buffer *metadata, struct nt_error *error);

struct nt_bloscpack_chunk {
    uint64_t number;
    uint64_t offset;
    struct nt_blosc_header header;
    const char *damage;   /* why it cannot be read, NULL: it can, as far as its header tells */
    bool is_lost;         /* even its offset is not known */
    uint64_t plain_bytes; /* as the file's header tells, else as its own does */
    bool is_size_known;
};

/* Visit the chunks in order, one read each. Where the number of chunks is known, so many are visited, the
 * lost ones included; else all until the end of the file, the last one damaged where the end is not the end
 * of a chunk. Stops when `visit` returns anything but NT_OK. NT_IO where reading fails. */
typedef enum nt_status nt_bloscpack_visit(void *context, const struct nt_bloscpack_chunk *chunk,
                                          struct nt_error *error);
enum nt_status nt_bloscpack_walk(struct nt_source *source, const struct nt_bloscpack *bloscpack,
                                 nt_bloscpack_visit *visit, void *context, struct nt_error *error);

/* Bytes of all chunks before compression; false where the header does not tell. */
bool nt_bloscpack_plain_bytes(const struct nt_bloscpack_header *header, uint64_t *bytes_ret);

#endif
