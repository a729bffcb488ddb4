/* SPDX-License-Identifier: MIT
 *
 * The steps that encodings are made of, from packed bytes to elements (section "Column Description" of the
 * specification). Nothing here fails: sizes are checked by the caller. Inputs and outputs need no alignment.
 *
 * Those with a plain twin (nt_..._plain) have vector code where the processor has it; tests compare the two.
 */
#ifndef NT_CODEC_STEPS_H
#define NT_CODEC_STEPS_H

#include <stddef.h>
#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "elements are decoded into the machine's byte order");

/* Undo the split: `planes` holds all first bytes of a page's elements, then all second ones, ...; elements
 * [first, first + count) of `total` are put together. */
void nt_unsplit16(const uint8_t *planes, size_t total, size_t first, size_t count, uint8_t *output);
void nt_unsplit32(const uint8_t *planes, size_t total, size_t first, size_t count, uint8_t *output);
void nt_unsplit64(const uint8_t *planes, size_t total, size_t first, size_t count, uint8_t *output);
void nt_unsplit_plain(const uint8_t *planes, size_t total, size_t first, size_t count, unsigned element_bytes,
                      uint8_t *output);

/* Undo zigzag in place: 0, 1, 2, 3, ... are 0, -1, 1, -2, ... */
void nt_unzigzag16(uint8_t *elements, size_t count);
void nt_unzigzag32(uint8_t *elements, size_t count);
void nt_unzigzag64(uint8_t *elements, size_t count);

/* Undo delta in place: each element is the sum of those up to it; `before` is the element before the first,
 * the last one is returned. */
uint32_t nt_undelta32(uint8_t *elements, size_t count, uint32_t before);
uint64_t nt_undelta64(uint8_t *elements, size_t count, uint64_t before);

/* Bits, the lowest of a byte first, as bytes 0 and 1. */
void nt_unpack_bits(const uint8_t *packed, size_t count, uint8_t *output);

/* Element `index` of elements of `width` (1..32) bits that lie close together, lowest bits first. */
uint32_t nt_get_bits(const uint8_t *packed, size_t packed_bytes, size_t index, unsigned width);

#endif
