/* SPDX-License-Identifier: MIT
 *
 * Elements that are told by their numbers in a list of items.
 */
#ifndef NT_CODEC_DICTIONARY_H
#define NT_CODEC_DICTIONARY_H

#include "core/codec/codec.h"

/* Unsigned integers and bytes can number items. */
bool nt_dictionary_takes(enum nt_element numbers);

/* For each number the item of that number, counted from 0, into `output`. NT_CORRUPT where there is none. */
enum nt_status nt_dictionary_gather(const struct nt_value *numbers, const struct nt_value *items,
                                    uint8_t *output, struct nt_error *error);

/* Of strings whose `item_ends` (UINT64) tell where each ends: where the chosen ones end, `base` added, as uint64_t that need no
 * alignment. `valid`: a byte for each number, 0 where it has no bytes; NULL: all have. NT_CORRUPT where there is no such item,
 * or its end lies before its beginning. */
enum nt_status nt_dictionary_ends(const struct nt_value *numbers, const struct nt_value *item_ends,
                                  const uint8_t *valid, uint64_t base, uint8_t *output,
                                  struct nt_error *error);
/* And their bytes, exactly `output_bytes` of them. NT_CORRUPT where items end behind the bytes, too. */
enum nt_status nt_dictionary_bytes(const struct nt_value *numbers, const struct nt_value *item_ends,
                                   const struct nt_value *bytes, const uint8_t *valid, uint8_t *output,
                                   uint64_t output_bytes, struct nt_error *error);

#endif
