/* SPDX-License-Identifier: MIT
 *
 * Rows as text: JSON values nested as the schema is, and CSV for flat data sets. docs/text.md has the rules.
 */
#ifndef NT_VIEW_ROWS_H
#define NT_VIEW_ROWS_H

#include <ntuple/read.h>

#include "json/json.h"

struct nt_rows;

/* Open a data set (field NT_NONE: a row is an entry) or a field (a row is one of its rows). For one thread at
 * a time; the reader and the data set must outlive it. Unreadable fields are left out of the objects they are
 * in. */
enum nt_status nt_rows_open(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                            struct nt_rows **rows_ret, struct nt_error *error);
void nt_rows_close(struct nt_rows *rows); /* accepts NULL */
uint64_t nt_rows_count(const struct nt_rows *rows);
/* Write the value of a row. On failure `json`'s buffer holds part of it: cut it off. */
enum nt_status nt_rows_write(struct nt_rows *rows, uint64_t row, struct nt_json *json,
                             struct nt_error *error);

/* The value of a flat row for a table's cell, in place of what `cell` held: a string without quotes, null as
 * nothing, all else as in JSON. */
enum nt_status nt_rows_write_plain(struct nt_rows *rows, uint64_t row, struct nt_buffer *cell,
                                   struct nt_error *error);

/* rows.jsonl and head.jsonl: rows [0, limit) a line each. The stream owns what it opens. */
enum nt_status nt_rows_lines(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                             uint64_t limit, struct nt_text_stream **stream_ret, struct nt_error *error);

/* rows.d/<n>.json: the line of one entry. */
enum nt_status nt_rows_line(struct nt_reader *reader, struct nt_dataset *dataset, uint64_t entry,
                            struct nt_text_stream **stream_ret, struct nt_error *error);

/* table.csv (RFC 4180, with a line of names): data sets whose fields are all numbers, bools, strings, enums,
 * or optionals of them. */
bool nt_is_flat(const struct nt_dataset *dataset);
enum nt_status nt_csv_lines(struct nt_reader *reader, struct nt_dataset *dataset,
                            struct nt_text_stream **stream_ret, struct nt_error *error);

#endif
