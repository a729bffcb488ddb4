/* SPDX-License-Identifier: MIT
 *
 * Elements that are told by their numbers in a list of items.
 */
#ifndef NT_CODEC_DICTIONARY_H
#define NT_CODEC_DICTIONARY_H

#include "codec/codec.h"

/* Unsigned integers and bytes can number items. */
bool nt_dictionary_takes(enum nt_element numbers);

/* For each number the item of that number, counted from 0, into `output`. NT_CORRUPT where there is none. */
enum nt_status nt_dictionary_gather(const struct nt_value *numbers, const struct nt_value *items,
                                    uint8_t *output, struct nt_error *error);

#endif
