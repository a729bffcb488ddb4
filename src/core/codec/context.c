/* SPDX-License-Identifier: MIT
 *
 * Decompressors are made at first use and kept; so is scratch memory, which only grows.
 */
#include "core/codec/decompressors.h"

#include <stdlib.h>

#include "core/base/large.h"
#include "core/codec/inflate.h"

struct nt_codec_context *nt_codec_context_new(void)
{
    return calloc(1, sizeof(struct nt_codec_context));
}

void nt_codec_context_free(struct nt_codec_context *context)
{
    if (!context)
        return;
    ZSTD_freeDCtx(context->zstd);
    nt_inflater_free(context->inflater);
    lzma_end(&context->lzma);
    for (unsigned i = 0; i < NT_SCRATCH_COUNT; i++)
        free(context->scratch[i].bytes);
    free(context);
}

/* Of LZMA's dictionary only what blocks have filled is occupied, and they are no longer than a page. */
size_t nt_codec_context_bytes(const struct nt_codec_context *context)
{
    enum { LEAST_DICTIONARY = 64 * 1024 };
    size_t dictionary = (size_t)lzma_memusage(&context->lzma);
    if (dictionary > LEAST_DICTIONARY + context->scratch[NT_SCRATCH_PAGE].capacity)
        dictionary = LEAST_DICTIONARY + context->scratch[NT_SCRATCH_PAGE].capacity;
    size_t bytes = sizeof(*context) + ZSTD_sizeof_DCtx(context->zstd) + dictionary;
    for (unsigned i = 0; i < NT_SCRATCH_COUNT; i++)
        bytes += context->scratch[i].capacity;
    return bytes;
}

uint8_t *nt_codec_scratch(struct nt_codec_context *context, enum nt_scratch of, size_t bytes)
{
    if (bytes > context->scratch[of].capacity || !context->scratch[of].bytes) {
        free(context->scratch[of].bytes);
        context->scratch[of].bytes = nt_large_new(bytes, &context->scratch[of].capacity);
    }
    return context->scratch[of].bytes;
}

size_t nt_codec_scratch_bytes(const struct nt_codec_context *context, enum nt_scratch of)
{
    return context->scratch[of].capacity;
}
