/* SPDX-License-Identifier: MIT
 *
 * The algorithms behind the compressions. Each decompresses one block whose output size is known: anything
 * else than exactly that size is NT_CORRUPT.
 */
#ifndef NT_CODEC_COMPRESSION_H
#define NT_CODEC_COMPRESSION_H

#include <ntuple/codec.h>

typedef enum nt_status nt_decompress_block(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                           size_t output_bytes, struct nt_codec_context *context,
                                           struct nt_error *error);

nt_decompress_block nt_decompress_zlib, nt_decompress_deflate; /* deflate.c */
nt_decompress_block nt_decompress_lzma, nt_decompress_lz4, nt_decompress_zstd;
nt_decompress_block nt_decompress_root_blocks; /* root_blocks.c */
nt_decompress_block nt_decompress_blosc, nt_decompress_whole_blosc;

typedef enum nt_status nt_decompress_some(const uint8_t *input, size_t input_bytes, size_t output_bytes,
                                          size_t offset, uint8_t *output, size_t bytes,
                                          struct nt_error *error);

nt_decompress_some nt_decompress_blosc_part, nt_decompress_whole_blosc_part;
size_t nt_blosc_part_bytes(const uint8_t *start, size_t input_bytes, size_t output_bytes);

const char *nt_root_blocks_algorithm(const uint8_t *start, size_t input_bytes, size_t output_bytes);
const char *nt_blosc_algorithm(const uint8_t *start, size_t input_bytes, size_t output_bytes);

#endif
