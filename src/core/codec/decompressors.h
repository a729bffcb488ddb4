/* SPDX-License-Identifier: MIT
 *
 * The algorithms behind the compressions, and what they keep between calls. Each decompresses one block whose
 * output size is known: anything else than exactly that size is NT_CORRUPT.
 */
#ifndef NT_CODEC_DECOMPRESSORS_H
#define NT_CODEC_DECOMPRESSORS_H

#include <lzma.h>
#include <zstd.h>

#include "core/codec/codec.h"

typedef enum nt_status nt_decompress_block(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                           size_t output_bytes, struct nt_codec_context *context,
                                           struct nt_error *error);

nt_decompress_block nt_decompress_zlib, nt_decompress_deflate; /* deflate.c */
nt_decompress_block nt_decompress_lzma, nt_decompress_zstd;
nt_decompress_block nt_decompress_lz4,
    nt_decompress_bare_lz4;                    /* with ROOT's checksum in front, and without */
nt_decompress_block nt_decompress_root_blocks; /* root_blocks.c */
nt_decompress_block nt_decompress_blosc, nt_decompress_whole_blosc;

typedef enum nt_status nt_decompress_some(const uint8_t *input, size_t input_bytes, size_t output_bytes,
                                          size_t offset, uint8_t *output, size_t bytes,
                                          struct nt_error *error);

nt_decompress_some nt_decompress_blosc_blocks, nt_decompress_whole_blosc_blocks;
size_t nt_blosc_block_bytes(const uint8_t *start, size_t input_bytes, size_t output_bytes);

enum nt_algorithm nt_root_blocks_algorithm(const uint8_t *start, size_t input_bytes, size_t output_bytes);
enum nt_algorithm nt_blosc_algorithm(const uint8_t *start, size_t input_bytes, size_t output_bytes);

/* What the decompressors of a thread keep between calls. */
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
