/* SPDX-License-Identifier: MIT
 *
 * Writers for the tests: ROOT's compression blocks by each library's own compressor.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/codec/codec.h"

struct compressor {
    const char *name;    /* as `algorithm` of nt_compression */
    const char *magic;   /* two letters and the method byte */
    bool detects_damage; /* the payload carries a checksum */
    /* Returns the payload's bytes, at most `room`; aborts if they do not fit. */
    size_t (*compress)(const uint8_t *input, size_t input_bytes, uint8_t *output, size_t room);
};

extern const struct compressor compressors[];
extern const size_t compressors_count;
const struct compressor *compressor_named(const char *name);

/* Bytes that compress about three to one; the same for the same `seed`. */
void fill_sample(uint8_t *bytes, size_t count, uint32_t seed);

/* Room that one block of any compressor needs, header included. */
size_t block_room(size_t input_bytes);

/* A header and the payload; returns their bytes. */
size_t write_block(const struct compressor *compressor, const uint8_t *input, size_t input_bytes,
                   uint8_t *output, size_t room);

/* Memory of exactly `bytes` bytes, so that a sanitizer finds the first byte past it. Ends the program
 * without memory. */
uint8_t *exact_copy(const uint8_t *bytes, size_t count);

/* Decompresses into exactly `output_bytes` bytes; the caller frees *output_ret. */
enum nt_status decompress_exact(enum nt_compression_kind kind, const uint8_t *input, size_t input_bytes,
                                size_t output_bytes, uint8_t **output_ret, struct nt_error *error);
