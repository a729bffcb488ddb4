/* SPDX-License-Identifier: MIT
 *
 * A chain of compression blocks. The first two bytes are its decompressed size.
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
    if (output && context)
        nt_compression_info(NT_COMPRESSION_ROOT_BLOCKS)
            ->decompress(bytes + 2, count - 2, output, output_bytes, context, NULL);
    nt_codec_context_free(context);
    free(output);
    return 0;
}
