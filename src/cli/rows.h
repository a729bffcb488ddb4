/* SPDX-License-Identifier: MIT
 *
 * Rows of data sets and fields to standard output, as rows.jsonl has them.
 */
#ifndef NT_CLI_ROWS_H
#define NT_CLI_ROWS_H

#include "cli/command.h"

/* Rows [first, end), cut to those that there are. */
struct nt_row_range {
    uint64_t first, end;
};

/* "10:20", "10:", ":20" or "10", which is one row. False where a text is none of these. */
bool nt_row_range_parse(const char *text, struct nt_row_range *range_ret);

/* A line for each row of what the node is: a data set, a field, or a file with one data set. Complains. */
enum nt_exit_status nt_print_rows(struct nt_vfs *vfs, const char *path, uint64_t node,
                                  const struct nt_row_range *range);

#endif
