/* SPDX-License-Identifier: MIT
 *
 * Zstandard frames.
 */
#include "core/codec/decompressors.h"

#include <zstd_errors.h>

enum nt_status nt_decompress_zstd(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                  size_t output_bytes, struct nt_codec_context *context,
                                  struct nt_error *error)
{
    if (!context->zstd)
        context->zstd = ZSTD_createDCtx();
    if (!context->zstd)
        return nt_fail_memory(error);
    size_t produced = ZSTD_decompressDCtx(context->zstd, output, output_bytes, input, input_bytes);
    if (ZSTD_getErrorCode(produced) == ZSTD_error_memory_allocation)
        return nt_fail_memory(error);
    if (ZSTD_isError(produced))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "zstd: %s", ZSTD_getErrorName(produced));
    if (produced != output_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a decompressed zstd block",
                              output_bytes, produced);
    return NT_OK;
}
