/* SPDX-License-Identifier: MIT
 *
 * zlib's format and the bare deflate stream of ROOT's old 'CS' blocks.
 */
#include "codec/compression.h"
#include "codec/context.h"

typedef enum libdeflate_result decompress_function(struct libdeflate_decompressor *, const void *, size_t,
                                                   void *, size_t, size_t *, size_t *);

static enum nt_status decompress(decompress_function *function, const char *name, const uint8_t *input,
                                 size_t input_bytes, uint8_t *output, size_t output_bytes,
                                 struct nt_codec_context *context, struct nt_error *error)
{
    if (!context->deflate)
        context->deflate = libdeflate_alloc_decompressor();
    if (!context->deflate)
        return nt_fail_memory(error);
    size_t consumed = 0, produced = 0;
    enum libdeflate_result result =
        function(context->deflate, input, input_bytes, output, output_bytes, &consumed, &produced);
    if (result == LIBDEFLATE_SUCCESS && consumed == input_bytes && produced == output_bytes)
        return NT_OK;
    if (result == LIBDEFLATE_SUCCESS)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET,
                              produced == output_bytes ? "bytes of a compressed block that are used"
                                                       : "bytes of a decompressed block",
                              produced == output_bytes ? input_bytes : output_bytes,
                              produced == output_bytes ? consumed : produced);
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s: %s", name,
                   result == LIBDEFLATE_INSUFFICIENT_SPACE ? "more output than the block's size"
                                                           : "invalid data");
}

enum nt_status nt_decompress_zlib(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                  size_t output_bytes, struct nt_codec_context *context,
                                  struct nt_error *error)
{
    return decompress(libdeflate_zlib_decompress_ex, "zlib", input, input_bytes, output, output_bytes,
                      context, error);
}

enum nt_status nt_decompress_deflate(const uint8_t *input, size_t input_bytes, uint8_t *output,
                                     size_t output_bytes, struct nt_codec_context *context,
                                     struct nt_error *error)
{
    return decompress(libdeflate_deflate_decompress_ex, "old zlib", input, input_bytes, output, output_bytes,
                      context, error);
}
