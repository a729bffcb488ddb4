/* SPDX-License-Identifier: MIT
 *
 * ROOT's compression blocks: a chain of blocks of up to 2^24 - 1 bytes, each behind a 9-byte header: two
 * letters and a method byte that name the algorithm, compressed and uncompressed size in 3 bytes each. Where
 * the sizes of the whole agree, the bytes are stored as they are (section "Compression Block" of the RNTuple
 * specification).
 */
#include <string.h>

#include "core/base/bytes.h"
#include "core/codec/decompressors.h"

enum { HEADER_BYTES = 9 };

static const struct method {
    char magic[2];
    int number; /* -1: any, LZ4 has its version there */
    enum nt_algorithm algorithm;
    nt_decompress_block *decompress;
} methods[] = {
    {{'Z', 'S'}, 1, NT_ALGORITHM_ZSTD, nt_decompress_zstd},
    {{'L', '4'}, -1, NT_ALGORITHM_LZ4, nt_decompress_lz4},
    {{'Z', 'L'}, 8, NT_ALGORITHM_ZLIB, nt_decompress_zlib},
    {{'X', 'Z'}, 0, NT_ALGORITHM_LZMA, nt_decompress_lzma},
    {{'C', 'S'}, 8, NT_ALGORITHM_OLD_ZLIB, nt_decompress_deflate},
};

static const struct method *find_method(const uint8_t *header)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
        if (!memcmp(header, methods[i].magic, 2) && (methods[i].number < 0 || methods[i].number == header[2]))
            return &methods[i];
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
    const struct method *method = find_method(header);
    if (!method)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "unknown compression %02x %02x %02x", header[0],
                       header[1], header[2]);
    uint32_t input_bytes = load_le24(header + 3), block_bytes = load_le24(header + 6);
    const uint8_t *input = nt_get_bytes(cursor, input_bytes);
    if (!input || block_bytes > output_left || block_bytes == 0)
        return nt_fail(
            error, NT_CORRUPT, NT_NO_OFFSET,
            "%s block at byte %llu of the compressed data: %u bytes for %u do not fit the sizes of the "
            "whole",
            nt_algorithm_name(method->algorithm), (unsigned long long)place, input_bytes, block_bytes);
    *output_bytes_ret = block_bytes;
    return method->decompress(input, input_bytes, output, block_bytes, context, error);
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

enum nt_algorithm nt_root_blocks_algorithm(const uint8_t *start, size_t input_bytes, size_t output_bytes)
{
    if (input_bytes == output_bytes)
        return NT_ALGORITHM_NONE;
    const struct method *method = input_bytes >= HEADER_BYTES ? find_method(start) : NULL;
    return method ? method->algorithm : NT_ALGORITHM_UNKNOWN;
}
