/* SPDX-License-Identifier: MIT
 *
 * Rows as text: JSON values nested as the schema is, and CSV for flat data sets. docs/text.md has the rules.
 */
#ifndef NT_VIEW_ROW_WRITER_H
#define NT_VIEW_ROW_WRITER_H

#include <ntuple/read.h>

#include "json/json.h"
#include "model/model.h"

struct nt_row_writer;

/* Open a data set (field NT_NONE: a row is an entry) or a field (a row is one of its rows), as one of so many
 * writers that are used side by side and share memory. For one thread at a time; the reader and the data set must outlive it. Unreadable fields are left out of the objects they are
 * in. */
enum nt_status nt_row_writer_open(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                  uint32_t writers, struct nt_row_writer **writer_ret,
                                  struct nt_error *error);
void nt_row_writer_close(struct nt_row_writer *writer);          /* accepts NULL */
size_t nt_row_writer_memory(const struct nt_row_writer *writer); /* that it takes */
uint64_t nt_row_writer_rows(const struct nt_row_writer *writer);
/* Write the value of a row. On failure `json`'s buffer holds part of it: cut it off. */
enum nt_status nt_row_write(struct nt_row_writer *writer, uint64_t row, struct nt_json *json,
                            struct nt_error *error);

/* The value of a flat row for a table's cell, in place of what `cell` held: a string without quotes, null as
 * nothing, all else as in JSON. */
enum nt_status nt_row_write_plain(struct nt_row_writer *writer, uint64_t row, struct nt_buffer *cell,
                                  struct nt_error *error);

#endif
