/* SPDX-License-Identifier: MIT
 *
 * Outputs of strings: ENDS and BYTES (description.h).
 */
#ifndef NT_CODEC_TREE_TEXTS_H
#define NT_CODEC_TREE_TEXTS_H

#include "codec/tree/made.h"

/* The page's strings in made->opened.array, null ones without bytes; made->rows is how many there are. Without
 * `wants_bytes` only the ends need to be there. */
enum nt_status nt_make_strings(struct nt_made *made, bool wants_bytes, struct nt_error *error);
enum nt_status nt_make_ends(struct nt_made *made, uint8_t *output, struct nt_error *error);
enum nt_status nt_make_bytes(struct nt_made *made, uint8_t *output, struct nt_error *error);

#endif
