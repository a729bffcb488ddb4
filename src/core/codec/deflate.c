/* SPDX-License-Identifier: MIT
 *
 * zlib's format and the bare deflate stream of ROOT's old 'CS' blocks.
 */
#include "core/codec/decompressors.h"
#include "core/codec/inflate.h"

/* `consumed_ret` tells how much of the input the stream took. */
static enum nt_status decompress(enum nt_inflate_form form, const char *name, const uint8_t *input,
                                 size_t input_bytes, uint8_t *output, size_t output_bytes,
                                 size_t *consumed_ret, struct nt_codec_context *context,
                                 struct nt_error *error)
{
    static const char *const problems[] = {
        [NT_INFLATE_TOO_MUCH] = "more output than the block's size",
        [NT_INFLATE_INVALID] = "invalid data",
    };
    if (!context->inflater)
        context->inflater = nt_inflater_new();
    if (!context->inflater)
        return nt_fail_memory(error);
    size_t produced = 0;
    enum nt_inflate_result result = nt_inflate(context->inflater, form, input, input_bytes, output,
                                               output_bytes, consumed_ret, &produced);
    if (result == NT_INFLATE_NO_MEMORY)
        return nt_fail_memory(error);
    if (result != NT_INFLATE_OK)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s: %s", name, problems[result]);
    if (produced != output_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a decompressed block", output_bytes,
                              produced);
    return NT_OK;
}

enum nt_status nt_decompress_zlib(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                  size_t output_bytes, struct nt_codec_context *context,
                                  struct nt_error *error)
{
    size_t consumed = 0;
    enum nt_status status = decompress(NT_INFLATE_ZLIB, "zlib", input, input_bytes, output, output_bytes,
                                       &consumed, context, error);
    if (status == NT_OK && consumed != input_bytes)
        status = nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a zlib block that are used",
                                input_bytes, consumed);
    return status;
}

/* The old writer's blocks have a few bytes behind the end of the stream, which its reader never looks at. */
enum nt_status nt_decompress_deflate(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                     size_t output_bytes, struct nt_codec_context *context,
                                     struct nt_error *error)
{
    size_t consumed = 0;
    return decompress(NT_INFLATE_BARE, "old zlib", input, input_bytes, output, output_bytes, &consumed,
                      context, error);
}
