/* SPDX-License-Identifier: MIT
 *
 * Rows, items and bytes that belong to no chosen entry.
 */
#ifndef NT_PAGE_LEFT_OUT_H
#define NT_PAGE_LEFT_OUT_H

#include "read/drops.h"
#include "read/stream.h"

/* What a choice of entries leaves out of a field's rows, or of its items or bytes: NT_ROWS_OF_FIELD, or one of the others,
 * which are one for the field. Follows the end offsets of all lists around it, once for each of them; of those the pages
 * are decoded that tell where a chosen row begins or ends. */
enum nt_status nt_left_out_find(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                enum nt_rows_of of, struct nt_left_out *left_out_ret, struct nt_error *error);

/* Whether what is left out is so of as many elements as are stored; NT_CORRUPT. There is something that is left out. */
enum nt_status nt_left_out_check(const struct nt_left_out *left_out, uint64_t elements,
                                 struct nt_error *error);

/* How many of `stored` elements are chosen, of the first ones. */
uint64_t nt_left_out_before(const struct nt_left_out *left_out, uint64_t stored);

#endif
