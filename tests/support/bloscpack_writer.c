/* SPDX-License-Identifier: MIT
 *
 * Writes the bytes of a Bloscpack file, after Bloscpack's description of its header, metadata and offsets.
 */
#include "bloscpack_writer.h"

#include <stdlib.h>
#include <string.h>

#include <blosc.h>
#include <zlib.h>

#include "core/codec/codec.h"
#include "support.h"

static void put(struct nt_buffer *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        nt_buffer_append_byte(out, (char)(value >> 8 * i));
}

/* The unit tests of checksums compare what has this name with published digests. */
static const struct nt_checksum *checksum_of_name(const char *name)
{
    int kind = 0;
    while (strcmp(nt_checksum_info((enum nt_checksum_kind)kind)->name, name))
        ck_assert_int_lt(++kind, NT_CHECKSUM_COUNT);
    return nt_checksum_info((enum nt_checksum_kind)kind);
}

static void put_digest(struct nt_buffer *out, unsigned checksum, const void *bytes, size_t count)
{
    static const char *const names[] = {NULL,     NULL,     NULL,     "md5",   "sha1",
                                        "sha224", "sha256", "sha384", "sha512"};
    if (checksum == 1)
        put(out, adler32(adler32(0, NULL, 0), bytes, (uInt)count), 4);
    if (checksum == 2)
        put(out, crc32(crc32(0, NULL, 0), bytes, (uInt)count), 4);
    if (checksum < 3)
        return;
    uint8_t digest[64];
    const struct nt_checksum *row = checksum_of_name(names[checksum]);
    row->compute(bytes, count, digest);
    nt_buffer_append(out, digest, row->bytes);
}

void blosc_write(struct nt_buffer *out, const void *bytes, size_t count, unsigned type_bytes)
{
    size_t room = count + BLOSC_MAX_OVERHEAD;
    char *chunk = malloc(room);
    int written =
        blosc_compress_ctx(5, BLOSC_SHUFFLE, type_bytes, count, bytes, chunk, room, "blosclz", 0, 1);
    ck_assert_int_gt(written, 0);
    nt_buffer_append(out, chunk, (size_t)written);
    free(chunk);
}

static void put_metadata(struct nt_buffer *out, const struct bloscpack_options *options)
{
    size_t length = strlen(options->metadata), room = length * 10 + 100;
    uLongf stored = (uLongf)room;
    unsigned char *bytes = calloc(room, 1);
    if (options->compresses_metadata)
        ck_assert_int_eq(compress(bytes, &stored, (const unsigned char *)options->metadata, length), Z_OK);
    else
        memcpy(bytes, options->metadata, stored = length);
    nt_buffer_append(out, "JSON\0\0\0\0", 8);
    put(out, 0, 1);
    put(out, options->checksum, 1);
    put(out, options->compresses_metadata, 1);
    put(out, 6, 1);
    put(out, length, 4);
    put(out, room, 4);
    put(out, stored, 4);
    put(out, 0, 8);
    nt_buffer_append(out, bytes, room);
    put_digest(out, options->checksum, bytes, stored);
    free(bytes);
}

static void put_header(struct nt_buffer *out, const struct bloscpack_options *options, size_t count,
                       size_t chunks)
{
    size_t last = chunks ? count - (chunks - 1) * options->chunk_bytes : 0;
    nt_buffer_append_string(out, "blpk");
    put(out, options->version, 1);
    if (options->version == 1) {
        put(out, 0, 3);
    } else {
        put(out, (options->has_offsets ? 1u : 0u) | (options->metadata ? 2u : 0u), 1);
        put(out, options->checksum, 1);
        put(out, options->type_bytes, 1);
        put(out, options->hides_sizes ? UINT64_MAX : options->chunk_bytes, 4);
        put(out, options->hides_sizes ? UINT64_MAX : last, 4);
    }
    put(out, options->hides_count ? UINT64_MAX : chunks, 8);
    if (options->version > 1)
        put(out, options->append_chunks, 8);
}

void bloscpack_write(struct nt_buffer *out, const struct bloscpack_options *options, const void *bytes,
                     size_t count, size_t *places)
{
    size_t chunks = (count + options->chunk_bytes - 1) / options->chunk_bytes, start = out->length, offsets;
    put_header(out, options, count, chunks);
    if (options->metadata)
        put_metadata(out, options);
    offsets = out->length;
    if (options->has_offsets)
        for (size_t i = 0; i < chunks + options->append_chunks; i++)
            put(out, UINT64_MAX, 8);
    for (size_t i = 0; i < chunks; i++) {
        size_t first = i * options->chunk_bytes, at = out->length;
        uint64_t place = at - start;
        size_t part = count - first < options->chunk_bytes ? count - first : options->chunk_bytes;
        blosc_write(out, (const char *)bytes + first, part, options->type_bytes);
        put_digest(out, options->checksum, out->bytes + at, out->length - at);
        if (options->has_offsets && !options->hides_offsets)
            memcpy(out->bytes + offsets + i * 8, &place, sizeof(place));
        if (places)
            places[i] = at - start;
    }
    ck_assert(!out->failed);
}
