/* SPDX-License-Identifier: MIT
 *
 * Rows of fields that keep step.
 */
#ifndef NT_VIEW_VERIFY_ROWS_H
#define NT_VIEW_VERIFY_ROWS_H

#include "tools/verify_job.h"

/* Compare the rows of a column's field with those of the fields beside it. */
void nt_verify_rows(struct nt_verify_job *job);

#endif
