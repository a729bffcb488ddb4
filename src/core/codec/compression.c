/* SPDX-License-Identifier: MIT
 *
 * The table of compressions.
 */
#include "core/codec/decompressors.h"

#include <string.h>

static enum nt_status copy(const uint8_t *input, size_t input_bytes, uint8_t *output, size_t output_bytes,
                           struct nt_codec_context *context, struct nt_error *error)
{
    (void)context;
    if (input_bytes != output_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of an uncompressed block", output_bytes,
                              input_bytes);
    if (input_bytes)
        memcpy(output, input, input_bytes);
    return NT_OK;
}

static enum nt_status refuse(const uint8_t *input, size_t input_bytes, uint8_t *output, size_t output_bytes,
                             struct nt_codec_context *context, struct nt_error *error)
{
    (void)input, (void)input_bytes, (void)output, (void)output_bytes, (void)context;
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   "the bytes are not in this file: the locator names another place");
}

static const struct nt_compression compressions[NT_COMPRESSION_COUNT] = {
    [NT_COMPRESSION_NONE] = {.name = "none",
                             .stores_plain = true,
                             .only_algorithm = NT_ALGORITHM_NONE,
                             .decompress = copy},
    [NT_COMPRESSION_ROOT_BLOCKS] = {.name = "root",
                                    .stores_plain = true,
                                    .algorithm = nt_root_blocks_algorithm,
                                    .decompress = nt_decompress_root_blocks},
    [NT_COMPRESSION_BLOSC] = {.name = "blosc",
                              .algorithm = nt_blosc_algorithm,
                              .decompress = nt_decompress_blosc,
                              .block_bytes = nt_blosc_block_bytes,
                              .decompress_blocks = nt_decompress_blosc_blocks},
    [NT_COMPRESSION_BLOSC_WHOLE] = {.name = "blosc",
                                    .algorithm = nt_blosc_algorithm,
                                    .decompress = nt_decompress_whole_blosc,
                                    .block_bytes = nt_blosc_block_bytes,
                                    .decompress_blocks = nt_decompress_whole_blosc_blocks},
    [NT_COMPRESSION_ELSEWHERE] = {.name = "elsewhere",
                                  .only_algorithm = NT_ALGORITHM_ELSEWHERE,
                                  .decompress = refuse},
};

const struct nt_compression *nt_compression_info(enum nt_compression_kind kind)
{
    return &compressions[kind];
}

enum nt_algorithm nt_compression_algorithm(enum nt_compression_kind kind, const uint8_t *start,
                                           size_t input_bytes, size_t output_bytes)
{
    const struct nt_compression *compression = &compressions[kind];
    return compression->algorithm ? compression->algorithm(start, input_bytes, output_bytes)
                                  : compression->only_algorithm;
}
