/* SPDX-License-Identifier: MIT
 *
 * Rows as text: JSON values nested as the schema is, and the cells of a table. docs/text.md has the rules.
 */
#ifndef NT_VIEW_ROW_WRITER_H
#define NT_VIEW_ROW_WRITER_H

#include <ntuple/read.h>

#include "core/json/json.h"
#include "core/model/model.h"

struct nt_row_writer;

/* Open a data set (field NT_NONE: a row is an entry) or a field (a row is one of its rows). For one thread at
 * a time; the reader and the data set must outlive it. Unreadable fields are left out of the objects they are
 * in. */
enum nt_status nt_row_writer_open(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                  struct nt_row_writer **writer_ret, struct nt_error *error);
void nt_row_writer_close(struct nt_row_writer *writer);          /* accepts NULL */
size_t nt_row_writer_memory(const struct nt_row_writer *writer); /* that it takes */
/* Its first rows will be written: what they are made of is asked for at once. */
void nt_row_writer_want_start(const struct nt_row_writer *writer);
uint64_t nt_row_writer_rows(const struct nt_row_writer *writer);
/* Write the value of a row. On failure `json`'s buffer holds part of it: cut it off. */
enum nt_status nt_row_write(struct nt_row_writer *writer, uint64_t row, struct nt_json *json,
                            struct nt_error *error);

/* Items may take no room in the file, so their number alone does not bound a row. */
enum { NT_ROW_MOST_BYTES = 1 << 28 };

/* Of a writer of a data set, the fields that its rows have: how many, and their numbers in the data set. */
uint32_t nt_row_writer_cells(const struct nt_row_writer *writer);
uint32_t nt_row_writer_cell_field(const struct nt_row_writer *writer, uint32_t cell);
/* One of them in a table's cell, in place of what `text` held. A plain value (a number, a bool, a string, or
 * an optional of one): a string without quotes, null as nothing, all else as in JSON. Any other: as JSON. */
enum nt_status nt_row_write_cell(struct nt_row_writer *writer, uint32_t cell, uint64_t row,
                                 struct nt_buffer *text, struct nt_error *error);

#endif
