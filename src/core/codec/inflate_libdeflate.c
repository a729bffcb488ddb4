/* SPDX-License-Identifier: MIT
 *
 * Deflate backend: libdeflate (RFC 1950, RFC 1951).
 */
#include "core/codec/codec.h"

#include <libdeflate.h>

/* The library's state is the inflater. */
static struct libdeflate_decompressor *state_of(struct nt_inflater *inflater)
{
    return (struct libdeflate_decompressor *)inflater;
}

struct nt_inflater *nt_inflater_new(void)
{
    return (struct nt_inflater *)libdeflate_alloc_decompressor();
}

void nt_inflater_free(struct nt_inflater *inflater)
{
    if (inflater)
        libdeflate_free_decompressor(state_of(inflater));
}

enum nt_inflate_result nt_inflate(struct nt_inflater *inflater, enum nt_inflate_form form,
                                  const uint8_t *input, size_t input_bytes, uint8_t *output,
                                  size_t output_bytes, size_t *consumed_ret, size_t *produced_ret)
{
    enum libdeflate_result result =
        (form == NT_INFLATE_ZLIB ? libdeflate_zlib_decompress_ex : libdeflate_deflate_decompress_ex)(
            state_of(inflater), input, input_bytes, output, output_bytes, consumed_ret, produced_ret);
    return result == LIBDEFLATE_SUCCESS              ? NT_INFLATE_OK
           : result == LIBDEFLATE_INSUFFICIENT_SPACE ? NT_INFLATE_TOO_MUCH
                                                     : NT_INFLATE_INVALID;
}

uint32_t nt_crc32(const void *data, size_t bytes)
{
    return libdeflate_crc32(0, data, bytes);
}

uint32_t nt_adler32(const void *data, size_t bytes)
{
    return libdeflate_adler32(1, data, bytes);
}

const char *nt_deflate_library(void)
{
    return "libdeflate " LIBDEFLATE_VERSION_STRING;
}
