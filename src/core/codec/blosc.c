/* SPDX-License-Identifier: MIT
 *
 * Decompresses chunks of c-blosc 1, completely or by single blocks. Validates the header before the
 * library reads it.
 */
#include "core/codec/codec.h"

#include <blosc.h>

enum { HEADER_BYTES = 16, FORMAT_VERSION = 2, FLAG_STORED = 2, FLAG_UNKNOWN = 8 };

/* A chunk is decompressed completely even for a part of it, and a small one may claim 2 GiB. The
 * library allocates three more blocks, each of up to the chunk's size. */
static const size_t maximum_trimmed_chunk = (size_t)64 << 20;

static enum nt_status check_header(const uint8_t *input, size_t input_bytes, size_t output_bytes,
                                   size_t *chunk_bytes_ret, struct nt_error *error)
{
    if (input_bytes < HEADER_BYTES)
        return nt_fail_below(error, NT_TRUNCATED, NT_NO_OFFSET, "bytes of a Blosc chunk", HEADER_BYTES,
                             input_bytes);
    if (nt_load_le32(input + 12) != input_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a Blosc chunk",
                              nt_load_le32(input + 12), input_bytes);
    if (blosc_cbuffer_validate(input, input_bytes, chunk_bytes_ret) < 0)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "Blosc: the chunk's header contradicts itself");
    if (*chunk_bytes_ret < output_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a decompressed Blosc chunk",
                              output_bytes, *chunk_bytes_ret);
    return NT_OK;
}

static enum nt_status check_is_whole(const uint8_t *input, size_t input_bytes, size_t output_bytes,
                                     struct nt_error *error)
{
    if (input_bytes >= HEADER_BYTES && nt_load_le32(input + 4) != output_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a decompressed Blosc chunk",
                              output_bytes, nt_load_le32(input + 4));
    return NT_OK;
}

/* A chunk, or some of its items. */
struct requested {
    const uint8_t *input;
    uint8_t *output;
    size_t bytes;
    bool is_whole;
    int first_item, items;
};

static int call_library(const struct requested *requested)
{
    return requested->is_whole
               ? blosc_decompress_ctx(requested->input, requested->output, requested->bytes, 1)
               : blosc_getitem(requested->input, requested->first_item, requested->items, requested->output);
}

/* The library allocates three blocks per chunk, and the state of the inner algorithm. It refuses blocks
 * that are larger than the chunk before that. */
static bool has_memory(const uint8_t *input)
{
    enum { BLOCKS = 3, STATE_BYTES = 1 << 18 };
    size_t chunk_bytes = nt_load_le32(input + 4), block_bytes = nt_load_le32(input + 8);
    size_t blocks = block_bytes <= chunk_bytes ? BLOCKS * block_bytes : 0;
    NT_AUTO_FREE void *memory = malloc(blocks + STATE_BYTES);
    return memory != NULL;
}

/* The library returns the same error for damaged data and without memory. A second failure with enough
 * memory means damage. */
static enum nt_status decompress(const struct requested *requested, struct nt_error *error)
{
    int produced = call_library(requested);
    if (produced < 0)
        produced = call_library(requested);
    if (produced >= 0 && (size_t)produced == requested->bytes)
        return NT_OK;
    if (produced < 0 && !has_memory(requested->input))
        return nt_fail_memory(error);
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "Blosc: invalid data (the library's code %d)", produced);
}

enum nt_status nt_decompress_blosc(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                   size_t output_bytes, struct nt_codec_context *context,
                                   struct nt_error *error)
{
    size_t chunk_bytes = 0;
    NT_TRY(check_header(input, input_bytes, output_bytes, &chunk_bytes, error));
    if (chunk_bytes > output_bytes && chunk_bytes > maximum_trimmed_chunk)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "the Blosc chunk decodes to %zu bytes, but only %zu bytes are needed", chunk_bytes,
                       output_bytes);
    if (output_bytes == 0)
        return NT_OK;
    uint8_t *target = output;
    if (chunk_bytes > output_bytes)
        target = nt_codec_scratch(context, NT_SCRATCH_CHUNK, chunk_bytes);
    NT_TRY(nt_check_memory(target, error));
    NT_TRY(decompress(&(struct requested){input, target, chunk_bytes, true, 0, 0}, error));
    if (target != output)
        memcpy(output, target, output_bytes);
    return NT_OK;
}

enum nt_status nt_decompress_whole_blosc(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                         size_t output_bytes, struct nt_codec_context *context,
                                         struct nt_error *error)
{
    NT_TRY(check_is_whole(input, input_bytes, output_bytes, error));
    return nt_decompress_blosc(input, input_bytes, output, output_bytes, context, error);
}

/* blosc_getitem checks less than blosc_decompress_ctx: it accepts flags of future versions, and returns
 * uninitialised bytes for blocks with partial items. The latter decompresses such chunks, and sizes
 * that are no multiple of the item size. It also gets large blocks of which only a part is needed, as
 * the library decompresses whole blocks. */
size_t nt_blosc_block_bytes(const uint8_t *start, size_t input_bytes, size_t output_bytes)
{
    if (input_bytes < HEADER_BYTES)
        return 0;
    uint32_t type_bytes = start[3], chunk_bytes = nt_load_le32(start + 4),
             block_bytes = nt_load_le32(start + 8);
    if (start[0] != FORMAT_VERSION || start[2] & FLAG_UNKNOWN || chunk_bytes < output_bytes)
        return 0;
    if (type_bytes == 0 || block_bytes == 0 || block_bytes > chunk_bytes || block_bytes % type_bytes ||
        output_bytes % type_bytes)
        return 0;
    if (block_bytes > output_bytes && block_bytes > maximum_trimmed_chunk)
        return 0;
    return block_bytes;
}

enum nt_status nt_decompress_blosc_blocks(const uint8_t *input, size_t input_bytes, size_t output_bytes,
                                          size_t offset, uint8_t *output, size_t bytes,
                                          struct nt_error *error)
{
    size_t chunk_bytes = 0;
    NT_TRY(check_header(input, input_bytes, output_bytes, &chunk_bytes, error));
    size_t block_bytes = nt_blosc_block_bytes(input, input_bytes, output_bytes), type_bytes = input[3];
    if (block_bytes == 0 || offset % block_bytes || !nt_range_fits(offset, bytes, output_bytes) ||
        ((offset + bytes) % block_bytes && offset + bytes != output_bytes))
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "Blosc: the range does not begin and end at block boundaries");
    const struct requested requested = {
        input, output, bytes, false, (int)(offset / type_bytes), (int)(bytes / type_bytes)};
    return decompress(&requested, error);
}

enum nt_status nt_decompress_whole_blosc_blocks(const uint8_t *input, size_t input_bytes, size_t output_bytes,
                                                size_t offset, uint8_t *output, size_t bytes,
                                                struct nt_error *error)
{
    NT_TRY(check_is_whole(input, input_bytes, output_bytes, error));
    return nt_decompress_blosc_blocks(input, input_bytes, output_bytes, offset, output, bytes, error);
}

enum nt_algorithm nt_blosc_algorithm(const uint8_t *start, size_t input_bytes, size_t output_bytes)
{
    static const enum nt_algorithm codecs[8] = {
        NT_ALGORITHM_BLOSCLZ, NT_ALGORITHM_LZ4,     NT_ALGORITHM_SNAPPY,  NT_ALGORITHM_ZLIB,
        NT_ALGORITHM_ZSTD,    NT_ALGORITHM_UNKNOWN, NT_ALGORITHM_UNKNOWN, NT_ALGORITHM_UNKNOWN};
    if (input_bytes < HEADER_BYTES)
        return NT_ALGORITHM_UNKNOWN;
    return start[2] & FLAG_STORED ? NT_ALGORITHM_NONE : codecs[start[2] >> 5];
}
