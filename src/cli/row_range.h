/* SPDX-License-Identifier: MIT
 *
 * Rows that somebody asks for by their numbers.
 */
#ifndef NT_CLI_ROW_RANGE_H
#define NT_CLI_ROW_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows [first, end), cut to those that there are, but for a row that is meant alone: it has to be there. */
struct nt_row_range {
    uint64_t first, end;
    bool is_row;
};

/* "10:20", "10:", ":20" or "10", which is one row. False where a text is none of these, or ends before it begins. */
bool nt_row_range_parse(const char *text, struct nt_row_range *range_ret);
/* "NAME:10:20", or the range alone, which is never one row: how long the name is. */
bool nt_named_row_range_parse(const char *text, size_t *name_length_ret, struct nt_row_range *range_ret);

/* Whether a text is one of these: for options. */
bool nt_is_row_range(const char *text);
bool nt_is_named_row_range(const char *text);

#endif
