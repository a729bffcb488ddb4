/* SPDX-License-Identifier: MIT
 *
 * Decompressors are made at first use and kept; so is scratch memory, which only grows.
 */
#include "codec/context.h"

#include <stdlib.h>

#include "base/large.h"

struct nt_codec_context *nt_codec_context_new(void)
{
    return calloc(1, sizeof(struct nt_codec_context));
}

void nt_codec_context_free(struct nt_codec_context *context)
{
    if (!context)
        return;
    ZSTD_freeDCtx(context->zstd);
    if (context->deflate)
        libdeflate_free_decompressor(context->deflate);
    lzma_end(&context->lzma);
    for (unsigned slot = 0; slot < NT_SCRATCH_SLOTS; slot++)
        free(context->scratch[slot].bytes);
    free(context);
}

uint8_t *nt_codec_scratch(struct nt_codec_context *context, unsigned slot, size_t bytes)
{
    if (bytes > context->scratch[slot].capacity || !context->scratch[slot].bytes) {
        free(context->scratch[slot].bytes);
        context->scratch[slot].bytes = nt_large_new(bytes, &context->scratch[slot].capacity);
    }
    return context->scratch[slot].bytes;
}
