/* SPDX-License-Identifier: MIT
 *
 * How two data sets store what they hold: sums, and column by column.
 */
#ifndef NT_VIEW_DIFF_LAYOUT_H
#define NT_VIEW_DIFF_LAYOUT_H

#include "tools/diff_fields.h"

/* Tell what differs in the layout of the sides, and of the columns that the fields of the pairs own; those of columns are
 * details but for how elements are encoded. Loads all page lists; reads the beginnings of a few pages. */
enum nt_status nt_diff_layout(struct nt_diffing *diffing, const struct nt_field_pair *pairs, size_t count,
                              struct nt_error *error);

#endif
