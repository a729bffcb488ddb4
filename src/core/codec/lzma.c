/* SPDX-License-Identifier: MIT
 *
 * LZMA: an .xz stream.
 */
#include <lzma.h>

#include "core/codec/decompressors.h"

/* The strongest preset's dictionary is 64 MiB; blocks are 16 MiB at most. */
static const uint64_t memory_limit = UINT64_C(128) << 20;

const char *nt_lzma_version(void)
{
    return lzma_version_string();
}

/* The decoder keeps its memory (the dictionary) from block to block. */
enum nt_status nt_decompress_lzma(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                  size_t output_bytes, struct nt_codec_context *context,
                                  struct nt_error *error)
{
    lzma_stream *stream = &context->lzma;
    lzma_ret result = lzma_stream_decoder(stream, memory_limit, 0);
    stream->next_in = input;
    stream->avail_in = input_bytes;
    stream->next_out = output;
    stream->avail_out = output_bytes;
    while (result == LZMA_OK)
        result = lzma_code(stream, LZMA_FINISH);
    if (result == LZMA_MEM_ERROR)
        return nt_fail_memory(error);
    if (result == LZMA_MEMLIMIT_ERROR)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "lzma: the stream needs more than %llu bytes of memory",
                       (unsigned long long)memory_limit);
    if (result != LZMA_STREAM_END)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "lzma: invalid data (liblzma's code %d)",
                       (int)result);
    if (stream->avail_in || stream->avail_out)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "lzma: %zu bytes of input are left over, %zu bytes of output are missing",
                       stream->avail_in, stream->avail_out);
    return NT_OK;
}
