/* SPDX-License-Identifier: MIT
 *
 * Rows of data sets and fields to standard output, as rows.jsonl has them.
 */
#ifndef NT_CLI_ROWS_H
#define NT_CLI_ROWS_H

#include "cli/command.h"
#include "cli/row_range.h"

/* A line for each row of what the node is: a data set, a field, or a file with one data set. Complains. */
enum nt_exit_status nt_print_rows(struct nt_vfs *vfs, const char *path, uint64_t node,
                                  const struct nt_row_range *range);

#endif
