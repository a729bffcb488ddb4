/* SPDX-License-Identifier: MIT
 *
 * Roaring's containers as encodings: the sorted values of 16 bits, each with `parameter` (the higher bits)
 * added, as u32 or u64 by the decoder's element. Strict: values ascend, and there are exactly as many as
 * elements.
 */
#ifndef NT_CODEC_ROARING_H
#define NT_CODEC_ROARING_H

#include "core/codec/codec.h"

enum nt_status nt_decode_roaring_array(const struct nt_packed *packed, uint8_t *output,
                                       struct nt_error *error);
enum nt_status nt_decode_roaring_bitset(const struct nt_packed *packed, uint8_t *output,
                                        struct nt_error *error);
enum nt_status nt_decode_roaring_run(const struct nt_packed *packed, uint8_t *output, struct nt_error *error);

#endif
