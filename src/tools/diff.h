/* SPDX-License-Identifier: MIT
 *
 * Comparing two data sets: what there is, which values, and how they are stored. Works on the model: for every format,
 * and across formats.
 */
#ifndef NT_VIEW_DIFF_H
#define NT_VIEW_DIFF_H

#include "tools/difference.h"

/* Compare two data sets, or a field of each with all below (of both sides or of none). Fields belong together by their
 * names. Values are compared as decoded elements, bit by bit, where the types of both sides are the same: NaNs of
 * different bits differ, 0 and -0 do, and how the elements are stored does not matter. Of each field its first
 * difference is told. Values that cannot be read are told as failures, and never taken for equal.
 *
 * The sides' readers may be one; the workers of the first do the work. Fails where the comparison cannot go on: without
 * memory; layouts also where the machine refuses what inspection reads. `on_failure` has been called for all else. */
enum nt_status nt_diff(const struct nt_diff_side sides[NT_DIFF_SIDES], const struct nt_diff_options *options,
                       struct nt_diff_summary *summary, struct nt_error *error);

#endif
