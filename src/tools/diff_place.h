/* SPDX-License-Identifier: MIT
 *
 * From the first element that differs to what people call it: which row of the field, in which entry, and what is
 * there on both sides.
 */
#ifndef NT_VIEW_DIFF_PLACE_H
#define NT_VIEW_DIFF_PLACE_H

#include "tools/diff_values.h"

/* Tell the first difference of a field, whose streams are these, as one difference of values; nothing where none of
 * the streams has one. What cannot be read on the way is told as a failure. Fails without memory. */
enum nt_status nt_diff_tell_value(struct nt_diffing *diffing, const struct nt_stream_pair *streams,
                                  size_t count, struct nt_error *error);

#endif
