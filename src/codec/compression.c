/* SPDX-License-Identifier: MIT
 *
 * The table of compressions.
 */
#include "codec/compression.h"

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
    [NT_COMPRESSION_NONE] = {"none", true, copy, NULL, NULL, NULL},
    [NT_COMPRESSION_ROOT_BLOCKS] = {"root", true, nt_decompress_root_blocks, nt_root_blocks_algorithm, NULL,
                                    NULL},
    [NT_COMPRESSION_BLOSC] = {"blosc", false, nt_decompress_blosc, nt_blosc_algorithm, nt_blosc_part_bytes,
                              nt_decompress_blosc_part},
    [NT_COMPRESSION_BLOSC_WHOLE] = {"blosc", false, nt_decompress_whole_blosc, nt_blosc_algorithm,
                                    nt_blosc_part_bytes, nt_decompress_whole_blosc_part},
    [NT_COMPRESSION_ELSEWHERE] = {"elsewhere", false, refuse, NULL, NULL, NULL},
};

const struct nt_compression *nt_compression(enum nt_compression_kind kind)
{
    return &compressions[kind];
}
