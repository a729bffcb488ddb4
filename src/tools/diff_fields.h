/* SPDX-License-Identifier: MIT
 *
 * The fields of two data sets side by side, and how their schemas differ.
 */
#ifndef NT_VIEW_DIFF_FIELDS_H
#define NT_VIEW_DIFF_FIELDS_H

#include "tools/difference.h"

/* A field of A and the one of B that has its name and place; NT_NONE where a side has none: what is below such a
 * field is not listed. */
struct nt_field_pair {
    uint32_t fields[NT_DIFF_SIDES];
};

/* The fields of A in the order of the schema, those that only B has behind their siblings. Where two are built in
 * different ways, what is below them is not listed. From malloc. */
enum nt_status nt_field_pairs(const struct nt_diff_side *sides, struct nt_field_pair **pairs_ret,
                              size_t *count_ret, struct nt_error *error);

/* Tell how the fields of a pair differ as the schema has them. */
enum nt_status nt_diff_field(struct nt_diffing *diffing, const struct nt_field_pair *pair,
                             struct nt_error *error);

/* Whether the values of two fields can be compared element by element; else tells what is in the way, as a
 * difference of values. */
enum nt_status nt_diff_check_elements(struct nt_diffing *diffing, const struct nt_field_pair *pair,
                                      bool *are_alike_ret, struct nt_error *error);

/* Whether both fields are projections of fields with the same path: what these hold, they show. */
enum nt_status nt_diff_is_shown_elsewhere(const struct nt_diff_side *sides, const struct nt_field_pair *pair,
                                          bool *is_shown_ret, struct nt_error *error);

#endif
