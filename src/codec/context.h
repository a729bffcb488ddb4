/* SPDX-License-Identifier: MIT
 *
 * What the decompressors of a thread keep between calls.
 */
#ifndef NT_CODEC_CONTEXT_H
#define NT_CODEC_CONTEXT_H

#include <lzma.h>
#include <zstd.h>

#include "codec/codec.h"

struct nt_codec_context {
    ZSTD_DCtx *zstd;
    struct nt_inflater *inflater;
    lzma_stream lzma; /* all zero (LZMA_STREAM_INIT) before its first use */
    struct {
        uint8_t *bytes;
        size_t capacity;
    } scratch[NT_SCRATCH_COUNT];
};

#endif
