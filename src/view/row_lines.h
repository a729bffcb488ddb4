/* SPDX-License-Identifier: MIT
 *
 * Rows as streams of lines.
 */
#ifndef NT_VIEW_ROW_LINES_H
#define NT_VIEW_ROW_LINES_H

#include <ntuple/read.h>

#include "json/json.h"
#include "model/model.h"

/* rows.jsonl and head.jsonl: rows [0, limit) a line each. The text owns what it opens. */
enum nt_status nt_rows_lines(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                             uint64_t limit, struct nt_long_text **text_ret, struct nt_error *error);

/* rows.d/<n>.json: the line of one entry. */
enum nt_status nt_rows_line(struct nt_reader *reader, struct nt_dataset *dataset, uint64_t entry,
                            struct nt_long_text **text_ret, struct nt_error *error);

/* table.csv (RFC 4180, with a line of names): all rows, a cell for each top-level field. */
enum nt_status nt_csv_lines(struct nt_reader *reader, struct nt_dataset *dataset,
                            struct nt_long_text **text_ret, struct nt_error *error);

#endif
