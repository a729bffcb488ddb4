/* SPDX-License-Identifier: MIT
 *
 * Deflate backend: zlib (RFC 1950, RFC 1951).
 */
#define ZLIB_CONST

#include "core/codec/codec.h"

#include <limits.h>
#include <zlib.h>

/* The largest window also accepts smaller ones; negative: no header. */
static const int window_bits[NT_INFLATE_FORM_COUNT] = {
    [NT_INFLATE_ZLIB] = MAX_WBITS,
    [NT_INFLATE_BARE] = -MAX_WBITS,
};

struct nt_inflater {
    z_stream stream;
};

struct nt_inflater *nt_inflater_new(void)
{
    struct nt_inflater *inflater = calloc(1, sizeof(*inflater));
    if (inflater && inflateInit2(&inflater->stream, MAX_WBITS) != Z_OK) {
        free(inflater);
        return NULL;
    }
    return inflater;
}

void nt_inflater_free(struct nt_inflater *inflater)
{
    if (inflater)
        inflateEnd(&inflater->stream);
    free(inflater);
}

static uInt piece_of(size_t bytes)
{
    return bytes < UINT_MAX ? (uInt)bytes : UINT_MAX;
}

enum nt_inflate_result nt_inflate(struct nt_inflater *inflater, enum nt_inflate_form form,
                                  const uint8_t *input, size_t input_bytes, uint8_t *output,
                                  size_t output_bytes, size_t *consumed_ret, size_t *produced_ret)
{
    z_stream *stream = &inflater->stream;
    uint8_t nothing = 0;
    size_t consumed = 0, produced = 0;
    int result = inflateReset2(stream, window_bits[form]);
    for (bool is_moving = true; result == Z_OK && is_moving;) {
        uInt in = piece_of(input_bytes - consumed), out = piece_of(output_bytes - produced);
        bool is_all = in == input_bytes - consumed && out == output_bytes - produced;
        stream->next_in = input_bytes ? input + consumed : &nothing;
        stream->next_out = output_bytes ? output + produced : &nothing;
        stream->avail_in = in;
        stream->avail_out = out;
        result = inflate(stream, is_all ? Z_FINISH : Z_NO_FLUSH);
        is_moving = stream->avail_in < in || stream->avail_out < out;
        consumed += in - stream->avail_in;
        produced += out - stream->avail_out;
    }
    *consumed_ret = consumed;
    *produced_ret = produced;
    if (result == Z_STREAM_END)
        return NT_INFLATE_OK;
    if (result == Z_MEM_ERROR)
        return NT_INFLATE_NO_MEMORY;
    bool is_full = (result == Z_OK || result == Z_BUF_ERROR) && produced == output_bytes;
    return is_full ? NT_INFLATE_TOO_MUCH : NT_INFLATE_INVALID;
}

uint32_t nt_crc32(const void *data, size_t bytes)
{
    return (uint32_t)crc32_z(0, data, bytes);
}

uint32_t nt_adler32(const void *data, size_t bytes)
{
    return (uint32_t)adler32_z(1, data, bytes);
}

const char *nt_deflate_library(void)
{
    return "zlib " ZLIB_VERSION;
}
