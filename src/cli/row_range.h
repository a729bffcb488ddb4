/* SPDX-License-Identifier: MIT
 *
 * Rows that somebody asks for by their numbers.
 */
#ifndef NT_CLI_ROW_RANGE_H
#define NT_CLI_ROW_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* Rows [first, end), cut to those that there are. */
struct nt_row_range {
    uint64_t first, end;
};

/* "10:20", "10:", ":20" or "10", which is one row. False where a text is none of these. */
bool nt_row_range_parse(const char *text, struct nt_row_range *range_ret);

#endif
