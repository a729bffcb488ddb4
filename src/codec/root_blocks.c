/* SPDX-License-Identifier: MIT
 *
 * ROOT's compression blocks: a chain of blocks of up to 2^24 - 1 bytes, each behind a 9-byte header: two
 * letters and a method byte that name the algorithm, compressed and uncompressed size in 3 bytes each. Where
 * the sizes of the whole agree, the bytes are stored as they are (section "Compression Block" of the RNTuple
 * specification).
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "codec/compression.h"

enum { HEADER_BYTES = 9 };

static const struct algorithm {
    char magic[2];
    int method; /* -1: any, LZ4 has its version there */
    const char *name;
    nt_decompress_block *decompress;
} algorithms[] = {
    {{'Z', 'S'}, 1, "zstd", nt_decompress_zstd},        {{'L', '4'}, -1, "lz4", nt_decompress_lz4},
    {{'Z', 'L'}, 8, "zlib", nt_decompress_zlib},        {{'X', 'Z'}, 0, "lzma", nt_decompress_lzma},
    {{'C', 'S'}, 8, "old-zlib", nt_decompress_deflate},
};

static const struct algorithm *find_algorithm(const uint8_t *header)
{
    for (size_t i = 0; i < sizeof(algorithms) / sizeof(*algorithms); i++)
        if (!memcmp(header, algorithms[i].magic, 2) &&
            (algorithms[i].method < 0 || algorithms[i].method == header[2]))
            return &algorithms[i];
    return NULL;
}

static uint32_t load_le24(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16;
}

static enum nt_status decompress_one(struct nt_cursor *cursor, uint8_t *output, size_t output_left,
                                     size_t *output_bytes_ret, struct nt_codec_context *context,
                                     struct nt_error *error)
{
    uint64_t place = cursor->position;
    const uint8_t *header = nt_get_bytes(cursor, HEADER_BYTES);
    if (!header)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "compression block at byte %llu of the compressed data: its header is cut off",
                       (unsigned long long)place);
    const struct algorithm *algorithm = find_algorithm(header);
    if (!algorithm)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "unknown compression %02x %02x %02x", header[0],
                       header[1], header[2]);
    uint32_t input_bytes = load_le24(header + 3), block_bytes = load_le24(header + 6);
    const uint8_t *input = nt_get_bytes(cursor, input_bytes);
    if (!input || block_bytes > output_left || block_bytes == 0)
        return nt_fail(
            error, NT_CORRUPT, NT_NO_OFFSET,
            "%s block at byte %llu of the compressed data: %u bytes for %u do not fit the sizes of the "
            "whole",
            algorithm->name, (unsigned long long)place, input_bytes, block_bytes);
    *output_bytes_ret = block_bytes;
    return algorithm->decompress(input, input_bytes, output, block_bytes, context, error);
}

enum nt_status nt_decompress_root_blocks(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                         size_t output_bytes, struct nt_codec_context *context,
                                         struct nt_error *error)
{
    if (input_bytes == output_bytes) {
        if (input_bytes)
            memcpy(output, input, input_bytes);
        return NT_OK;
    }
    struct nt_cursor cursor = nt_cursor(input, input_bytes);
    size_t done = 0;
    while (done < output_bytes) {
        size_t block_bytes = 0;
        enum nt_status status =
            decompress_one(&cursor, output + done, output_bytes - done, &block_bytes, context, error);
        if (status != NT_OK)
            return status;
        done += block_bytes;
    }
    if (nt_cursor_left(&cursor))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "%zu bytes are left behind the last compression block", nt_cursor_left(&cursor));
    return NT_OK;
}

const char *nt_root_blocks_algorithm(const uint8_t *start, size_t input_bytes, size_t output_bytes)
{
    if (input_bytes == output_bytes)
        return "none";
    const struct algorithm *algorithm = input_bytes >= HEADER_BYTES ? find_algorithm(start) : NULL;
    return algorithm ? algorithm->name : "unknown";
}
