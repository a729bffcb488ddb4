/* SPDX-License-Identifier: MIT
 *
 * What is wanted of a library for deflate: whole streams into buffers of known size, and the checksums that
 * come with it. inflate_libdeflate.c and inflate_zlib.c each give all of it; the build takes one of them
 * (meson's option `deflate`), the tests try both.
 */
#ifndef NT_CODEC_INFLATE_H
#define NT_CODEC_INFLATE_H

#include <stddef.h>
#include <stdint.h>

enum nt_inflate_form {
    NT_INFLATE_ZLIB, /* with zlib's header, and its checksum, which is compared */
    NT_INFLATE_BARE, /* deflate alone */
    NT_INFLATE_FORM_COUNT
};

enum nt_inflate_result {
    NT_INFLATE_OK,
    NT_INFLATE_TOO_MUCH, /* more output than there is room */
    NT_INFLATE_INVALID,
    NT_INFLATE_NO_MEMORY,
};

/* The state of a thread. */
struct nt_inflater;
struct nt_inflater *nt_inflater_new(void); /* NULL without memory */
void nt_inflater_free(struct nt_inflater *inflater);

/* Decompress the stream that the input begins with. On success the stream ended: after `*consumed_ret` bytes
 * of the input, with `*produced_ret` bytes of output, which may be fewer than there is room for. */
enum nt_inflate_result nt_inflate(struct nt_inflater *inflater, enum nt_inflate_form form,
                                  const uint8_t *input, size_t input_bytes, uint8_t *output,
                                  size_t output_bytes, size_t *consumed_ret, size_t *produced_ret);

uint32_t nt_inflate_crc32(const void *data, size_t bytes);
uint32_t nt_inflate_adler32(const void *data, size_t bytes);

#endif
