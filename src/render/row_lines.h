/* SPDX-License-Identifier: MIT
 *
 * Rows as streams of lines.
 */
#ifndef NT_VIEW_ROW_LINES_H
#define NT_VIEW_ROW_LINES_H

#include <ntuple/read.h>

#include "core/json/json.h"
#include "core/model/model.h"

/* Rows [first, end) of a field or, with NT_NONE, of the data set, a line each: rows.jsonl, head.jsonl,
 * rows.d/<n>.json. Cut to the rows that there are. The text owns what it opens. */
enum nt_status nt_rows_lines(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                             uint64_t first, uint64_t end, struct nt_long_text **text_ret,
                             struct nt_error *error);

/* table.csv (RFC 4180, with a line of names): all rows, a cell for each top-level field. */
enum nt_status nt_csv_lines(struct nt_reader *reader, struct nt_dataset *dataset,
                            struct nt_long_text **text_ret, struct nt_error *error);

#endif
