/* SPDX-License-Identifier: MIT
 *
 * Verifying one column: its pages, and its elements against the columns that they belong with.
 */
#ifndef NT_VIEW_VERIFY_COLUMN_H
#define NT_VIEW_VERIFY_COLUMN_H

#include "read/wanted.h"
#include "tools/verify_job.h"

/* For one thread; others may verify other columns. */
void nt_verify_column(struct nt_verify_job *job);
/* All pages of a column will be read. */
void nt_verify_want_column(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                           struct nt_hints *hints);

#endif
