/* SPDX-License-Identifier: MIT
 *
 * Zeros where something is null.
 */
#ifndef NT_CODEC_TREE_NULLS_H
#define NT_CODEC_TREE_NULLS_H

#include "formats/lance/decode/made.h"

/* In the page's elements, of `width` bytes each: zeros for those of null rows, and of null items of the `depth`
 * outermost fixed lists around them. */
void nt_made_clear_nulls(const struct nt_made *made, uint32_t depth, uint32_t width, uint8_t *output);

#endif
