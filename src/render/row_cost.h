/* SPDX-License-Identifier: MIT
 *
 * What showing rows as text costs, before any of it is done.
 */
#ifndef NT_VIEW_ROW_COST_H
#define NT_VIEW_ROW_COST_H

#include "core/model/model.h"

/* Whether rows [first, first + count) of a field, or entries where `field` is NT_NONE, can be shown by decoding
 * at most `most_bytes`. Each page counts as what it decodes to and as what finding it costs. Follows from page
 * lists alone, which are loaded; those that cannot be read count as nothing. Decodes nothing. */
enum nt_status nt_rows_are_cheap(struct nt_dataset *dataset, uint32_t field, uint64_t first, uint64_t count,
                                 uint64_t most_bytes, bool *are_cheap_ret, struct nt_error *error);

#endif
