/* SPDX-License-Identifier: MIT
 *
 * A chunk of c-blosc 1. Its 16-byte header is checked against the bytes that are there before the library
 * sees it. A chunk may hold more than is wanted (an array that was trimmed): the rest is cut off.
 */
#include <string.h>

#include <blosc.h>

#include "base/bytes.h"
#include "codec/compression.h"
#include "codec/context.h"

enum { HEADER_BYTES = 16 };

/* A chunk of which only a part is wanted is decompressed as a whole; a small one may claim to be 2 GiB. */
static const size_t maximum_trimmed_chunk = (size_t)256 << 20;

enum nt_status nt_decompress_blosc(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                   size_t output_bytes, struct nt_codec_context *context,
                                   struct nt_error *error)
{
    size_t chunk_bytes = 0;
    if (input_bytes < HEADER_BYTES)
        return nt_fail_number(error, NT_TRUNCATED, NT_NO_OFFSET, "bytes of a blosc chunk's header",
                              HEADER_BYTES, input_bytes);
    if (nt_load_le32(input + 12) != input_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a blosc chunk",
                              nt_load_le32(input + 12), input_bytes);
    if (blosc_cbuffer_validate(input, input_bytes, &chunk_bytes) < 0)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "blosc: the chunk's header contradicts itself");
    if (chunk_bytes < output_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a decompressed blosc chunk",
                              output_bytes, chunk_bytes);
    if (chunk_bytes > output_bytes && chunk_bytes > maximum_trimmed_chunk)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "a blosc chunk of %zu bytes, of which %zu are wanted",
                       chunk_bytes, output_bytes);
    if (output_bytes == 0)
        return NT_OK;
    uint8_t *target = output;
    if (chunk_bytes > output_bytes)
        target = nt_codec_scratch(context, NT_SCRATCH_BLOSC, chunk_bytes);
    if (!target)
        return nt_fail_memory(error);
    int produced = blosc_decompress_ctx(input, target, chunk_bytes, 1);
    if (produced < 0 || (size_t)produced != chunk_bytes)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "blosc: invalid data (the library's code %d)",
                       produced);
    if (target != output)
        memcpy(output, target, output_bytes);
    return NT_OK;
}

enum nt_status nt_decompress_whole_blosc(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                         size_t output_bytes, struct nt_codec_context *context,
                                         struct nt_error *error)
{
    if (input_bytes >= HEADER_BYTES && nt_load_le32(input + 4) != output_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a decompressed blosc chunk",
                              output_bytes, nt_load_le32(input + 4));
    return nt_decompress_blosc(input, input_bytes, output, output_bytes, context, error);
}

const char *nt_blosc_algorithm(const uint8_t *start, size_t input_bytes, size_t output_bytes)
{
    static const char *const codecs[8] = {"blosclz", "lz4",     "snappy",  "zlib",
                                          "zstd",    "unknown", "unknown", "unknown"};
    (void)output_bytes;
    if (input_bytes < HEADER_BYTES)
        return "unknown";
    return start[2] & 2 ? "none" : codecs[start[2] >> 5];
}
