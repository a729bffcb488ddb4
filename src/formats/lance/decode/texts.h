/* SPDX-License-Identifier: MIT
 *
 * Outputs of strings: ENDS and BYTES (description.h).
 */
#ifndef NT_CODEC_TREE_TEXTS_H
#define NT_CODEC_TREE_TEXTS_H

#include "formats/lance/decode/made.h"

/* Of a page that is opened, with its values: the bytes of its strings, null ones without any; made->rows is how many there
 * are. */
enum nt_status nt_count_string_bytes(struct nt_made *made, uint64_t *bytes_ret, struct nt_error *error);
enum nt_status nt_make_ends(struct nt_made *made, uint8_t *output, struct nt_error *error);
enum nt_status nt_make_bytes(struct nt_made *made, uint8_t *output, struct nt_error *error);

#endif
