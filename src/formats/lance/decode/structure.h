/* SPDX-License-Identifier: MIT
 *
 * Outputs of what surrounds values: VALID, OFFSETS and LEVELS (description.h).
 */
#ifndef NT_CODEC_TREE_STRUCTURE_H
#define NT_CODEC_TREE_STRUCTURE_H

#include "formats/lance/decode/made.h"

enum nt_status nt_make_valid(struct nt_made *made, uint8_t *output, struct nt_error *error);
enum nt_status nt_make_offsets(struct nt_made *made, uint8_t *output, struct nt_error *error);
enum nt_status nt_make_levels(struct nt_made *made, uint8_t *output, struct nt_error *error);

#endif
