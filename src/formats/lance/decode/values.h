/* SPDX-License-Identifier: MIT
 *
 * Outputs of fixed width: VALUES and PRESENT (description.h).
 */
#ifndef NT_CODEC_TREE_VALUES_H
#define NT_CODEC_TREE_VALUES_H

#include "formats/lance/decode/made.h"

/* Elements of `width` bytes. */
enum nt_status nt_make_values(struct nt_made *made, uint32_t width, uint8_t *output, struct nt_error *error);
enum nt_status nt_make_presence(struct nt_made *made, uint8_t *output, struct nt_error *error);

#endif
