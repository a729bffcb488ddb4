/* SPDX-License-Identifier: MIT
 *
 * The steps that encodings are made of, from packed bytes to elements (section "Column Description" of the
 * specification). Nothing here fails: sizes are checked by the caller. Inputs and outputs need no alignment
 * and never overlap.
 */
#ifndef NT_CODEC_STEPS_H
#define NT_CODEC_STEPS_H

#include <stddef.h>
#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "only little-endian machines are supported: elements are decoded into the files' byte order");

/* What is done to each element after its bytes have been put together. */
enum nt_finish {
    NT_FINISH_NOTHING,
    NT_FINISH_ZIGZAG, /* 0, 1, 2, 3, ... are 0, -1, 1, -2, ... */
    NT_FINISH_DELTA,  /* each element is the sum of those up to it */
};

/* Undo the split: `planes` holds all lowest bytes of the `count` elements of a page, then all second ones,
 * ... There is no 16-bit delta. */
void nt_unsplit16(const uint8_t *planes, size_t count, enum nt_finish finish, uint8_t *output);
void nt_unsplit32(const uint8_t *planes, size_t count, enum nt_finish finish, uint8_t *output);
void nt_unsplit64(const uint8_t *planes, size_t count, enum nt_finish finish, uint8_t *output);

/* Bits, the lowest of a byte first, as bytes 0 and 1. */
void nt_unpack_bits(const uint8_t *packed, size_t count, uint8_t *output);

/* Elements [first, first + count) of those of `width` (1..32) bits that lie close together in `packed_bytes`
 * bytes, lowest bits first. `first` is a multiple of 8. */
void nt_unpack_integers(const uint8_t *packed, size_t packed_bytes, unsigned width, size_t first,
                        size_t count, uint32_t *output);

#endif
