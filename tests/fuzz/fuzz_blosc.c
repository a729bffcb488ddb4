/* SPDX-License-Identifier: MIT
 *
 * A Blosc chunk, whole and in parts. The first two bytes are its decompressed size.
 */
#include <stdlib.h>

#include "core/codec/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count < 2)
        return 0;
    size_t output_bytes = bytes[0] | (size_t)bytes[1] << 8;
    uint8_t *output = malloc(output_bytes ? output_bytes : 1);
    struct nt_codec_context *context = nt_codec_context_new();
    const struct nt_compression *blosc = nt_compression_info(NT_COMPRESSION_BLOSC);
    if (output && context)
        blosc->decompress(bytes + 2, count - 2, output, output_bytes, context, NULL);
    size_t part = count < 18 ? 0 : blosc->block_bytes(bytes + 2, count - 2, output_bytes);
    for (size_t offset = 0; output && part && offset < output_bytes; offset += part)
        blosc->decompress_blocks(bytes + 2, count - 2, output_bytes, offset, output,
                                 output_bytes - offset < part ? output_bytes - offset : part, NULL);
    nt_codec_context_free(context);
    free(output);
    return 0;
}
