/* SPDX-License-Identifier: MIT
 *
 * zlib's format and the bare deflate stream of ROOT's old 'CS' blocks.
 */
#include "codec/compression.h"
#include "codec/context.h"

typedef enum libdeflate_result decompress_function(struct libdeflate_decompressor *, const void *, size_t,
                                                   void *, size_t, size_t *, size_t *);

/* `consumed_ret` tells how much of the input the stream took. */
static enum nt_status decompress(decompress_function *function, const char *name, const uint8_t *input,
                                 size_t input_bytes, uint8_t *output, size_t output_bytes,
                                 size_t *consumed_ret, struct nt_codec_context *context,
                                 struct nt_error *error)
{
    if (!context->deflate)
        context->deflate = libdeflate_alloc_decompressor();
    if (!context->deflate)
        return nt_fail_memory(error);
    size_t produced = 0;
    enum libdeflate_result result =
        function(context->deflate, input, input_bytes, output, output_bytes, consumed_ret, &produced);
    if (result == LIBDEFLATE_SUCCESS && produced == output_bytes)
        return NT_OK;
    if (result == LIBDEFLATE_SUCCESS)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of a decompressed block", output_bytes,
                              produced);
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s: %s", name,
                   result == LIBDEFLATE_INSUFFICIENT_SPACE ? "more output than the block's size"
                                                           : "invalid data");
}

enum nt_status nt_decompress_zlib(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                  size_t output_bytes, struct nt_codec_context *context,
                                  struct nt_error *error)
{
    size_t consumed = 0;
    enum nt_status status = decompress(libdeflate_zlib_decompress_ex, "zlib", input, input_bytes, output,
                                       output_bytes, &consumed, context, error);
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
    return decompress(libdeflate_deflate_decompress_ex, "old zlib", input, input_bytes, output, output_bytes,
                      &consumed, context, error);
}
