/* SPDX-License-Identifier: MIT
 *
 * What the decompressors of a thread keep between calls.
 */
#ifndef NT_CODEC_CONTEXT_H
#define NT_CODEC_CONTEXT_H

#include <libdeflate.h>
#include <lzma.h>
#include <zstd.h>

#include <ntuple/codec.h>

enum { NT_SCRATCH_BLOSC = 3, NT_SCRATCH_SLOTS = 4 };

struct nt_codec_context {
    ZSTD_DCtx *zstd;
    struct libdeflate_decompressor *deflate;
    lzma_stream lzma; /* all zero (LZMA_STREAM_INIT) before its first use */
    struct {
        uint8_t *bytes;
        size_t capacity;
    } scratch[NT_SCRATCH_SLOTS];
};

#endif
