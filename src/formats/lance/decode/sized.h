/* SPDX-License-Identifier: MIT
 *
 * Compressed bytes that tell themselves how many bytes they are decompressed into.
 */
#ifndef NT_CODEC_TREE_SIZED_H
#define NT_CODEC_TREE_SIZED_H

#include <stddef.h>
#include <stdint.h>

#include "core/codec/codec.h"

enum nt_sized_kind {
    NT_SIZED_LZ4,  /* a u32 and an LZ4 block */
    NT_SIZED_ZSTD, /* a u64 and Zstandard frames, or frames alone; no bytes at all are no bytes, too */
    NT_SIZED_KIND_COUNT
};

/* Exactly how many bytes will come out. NT_CORRUPT where so many cannot be in so few, or what tells the size
 * contradicts itself: up to 255 bytes can be in each of LZ4, and up to 32 KiB in each of Zstandard, so that a
 * caller who expects less has to compare before taking memory. Where only the end of a frame shows it, the
 * frame is decompressed for it, and forgotten; NT_LIMIT where that is more than 4 GiB. */
enum nt_status nt_sized_bytes(enum nt_sized_kind kind, const uint8_t *input, size_t input_bytes,
                              uint64_t *bytes_ret, struct nt_error *error);

/* Exactly `output_bytes` bytes, else NT_CORRUPT. */
enum nt_status nt_sized_decompress(enum nt_sized_kind kind, const uint8_t *input, size_t input_bytes,
                                   uint8_t *output, size_t output_bytes, struct nt_codec_context *context,
                                   struct nt_error *error);

#endif
