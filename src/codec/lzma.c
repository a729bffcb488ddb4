/* SPDX-License-Identifier: MIT
 *
 * LZMA: an .xz stream.
 */
#include <lzma.h>

#include "codec/compression.h"

/* The strongest preset's dictionary is 64 MiB; blocks are 16 MiB at most. */
static const uint64_t memory_limit = UINT64_C(128) << 20;

enum nt_status nt_decompress_lzma(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                  size_t output_bytes, struct nt_codec_context *context,
                                  struct nt_error *error)
{
    (void)context;
    uint64_t limit = memory_limit;
    size_t consumed = 0, produced = 0;
    lzma_ret result = lzma_stream_buffer_decode(&limit, 0, NULL, input, &consumed, input_bytes, output,
                                                &produced, output_bytes);
    if (result == LZMA_MEM_ERROR)
        return nt_fail_memory(error);
    if (result != LZMA_OK)
        return nt_fail(error, result == LZMA_MEMLIMIT_ERROR ? NT_LIMIT : NT_CORRUPT, NT_NO_OFFSET,
                       "lzma: invalid data (liblzma's code %d)", (int)result);
    if (consumed != input_bytes || produced != output_bytes)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "lzma: %zu of %zu bytes gave %zu of %zu", consumed,
                       input_bytes, produced, output_bytes);
    return NT_OK;
}
