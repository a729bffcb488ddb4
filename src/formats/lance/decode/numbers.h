/* SPDX-License-Identifier: MIT
 *
 * Values that number the items of a dictionary.
 */
#ifndef NT_CODEC_TREE_NUMBERS_H
#define NT_CODEC_TREE_NUMBERS_H

#include "formats/lance/decode/made.h"

/* They, with 0 where the row is null. */
enum nt_status nt_made_numbers(struct nt_made *made, struct nt_value *numbers, struct nt_error *error);
/* Whether all rows are null, so that there need not be any item. */
bool nt_made_is_null(const struct nt_made *made);

#endif
