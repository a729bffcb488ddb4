/* SPDX-License-Identifier: MIT
 *
 * Text output for datasets: rows as JSON and CSV, the schema, JSON members for names and errors, and
 * page totals of columns.
 */
#pragma once

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "read/page.h"

struct nt_row_writer;

/* ---- JSON members for names, places and errors ---- */

/* Writes the member "dataset": the path of the dataset within its file. */
void nt_json_member_dataset(struct nt_json *json, const struct nt_dataset *dataset);

/* Writes a member with the path of a field within its dataset: names joined by '/'. */
void nt_json_member_field_path(struct nt_json *json, const char *key, const struct nt_dataset *dataset,
                               uint32_t field);

/* Writes the location of bytes of a source: "file" (an object for several files) and "file_offset". */
void nt_json_member_location(struct nt_json *json, const struct nt_source *source, uint64_t offset);
/* Its second part. */
void nt_json_member_file_offset(struct nt_json *json, const struct nt_source *source, uint64_t offset);

/* Writes a failure: "file_offset", "status", "what", "expected", "found". Unknown values are null. */
void nt_json_failure_members(struct nt_json *json, const struct nt_error *failure);

/* ---- Unsupported fields ---- */

/* Finds why the pages of a field cannot be read; NULL: no known reason. Loads the page lists of the
 * field if it has its own. Loads only the first part's list if the size is known without lists and the
 * dataset is remote or has many parts; else all of them. Damaged or missing lists give no reason. */
enum nt_status nt_unsupported_find(struct nt_dataset *dataset, uint32_t field,
                                   const struct nt_error **reason_ret, struct nt_error *error);

/* Same as nt_unsupported_find, but uses only lists that are already loaded. */
const struct nt_error *nt_unsupported_known(const struct nt_dataset *dataset, uint32_t field);

/* Does the number of entries determine the number of elements in every stream of the field? */
bool nt_field_size_is_known(const struct nt_dataset *dataset, uint32_t field);

/* ---- Column totals ---- */

/* Totals over the pages of a column. Pages of unreadable page lists do not count. */
struct nt_column_sums {
    uint64_t elements, pages;
    uint64_t stored_bytes, packed_bytes, decoded_bytes; /* stored: without checksums */
    bool is_complete;                                   /* false: a page list is unreadable */
    uint8_t checksum; /* enum nt_checksum_kind of the first page that has a checksum */
};

/* Adds the pages of a range, whose group is pinned. */
void nt_column_sums_add(struct nt_column_sums *sums, const struct nt_dataset *dataset,
                        const struct nt_group *group, const struct nt_range *range);

/* Called for a range of a pinned group. */
typedef void nt_visit_range(void *context, const struct nt_dataset *dataset, const struct nt_group *group,
                            uint32_t cluster, uint32_t column, const struct nt_range *range);
/* Visits the ranges of a column or of all (NT_NONE), cluster by cluster. Loads all page lists;
 * `*is_complete_ret` is false if some are unreadable. Fails only on environmental errors. */
enum nt_status nt_column_visit_ranges(struct nt_dataset *dataset, uint32_t column, nt_visit_range *visit,
                                      void *context, bool *is_complete_ret, struct nt_error *error);
/* Does a group have any of these columns (`chosen` by column; NULL: all)? Reads no page list. */
bool nt_group_has_columns(const struct nt_dataset *dataset, uint32_t group, const bool *chosen);
/* The parts of the entries that nt_part_visit_ranges visits: they have no file in common. */
uint32_t nt_visited_parts(const struct nt_dataset *dataset);
/* Visits the ranges of some columns (`chosen` by column; NULL: all) in a part of the entries. Part by part,
 * each file is opened once. Omits bad page lists, and then clears `*is_complete`, unless that is NULL. */
enum nt_status nt_part_visit_ranges(struct nt_dataset *dataset, uint32_t part, const bool *chosen,
                                    nt_visit_range *visit, void *context, bool *is_complete,
                                    struct nt_error *error);
/* Totals of a column or of all (NT_NONE), likewise. */
enum nt_status nt_column_sums(struct nt_dataset *dataset, uint32_t column, struct nt_column_sums *sums,
                              struct nt_error *error);
/* Computes totals over all columns of one cluster. The caller has loaded the group. */
void nt_cluster_sums(const struct nt_dataset *dataset, const struct nt_group *group, uint32_t cluster,
                     struct nt_column_sums *sums);

/* ---- Stream cursor ---- */

struct nt_stream_cursor {
    struct nt_stream *stream;
    uint32_t element_bytes;
    uint64_t first, count; /* the elements in `bytes` */
    uint64_t requested;    /* number of elements for the next read */
    size_t capacity;       /* of `bytes`, in bytes */
    size_t max_bytes;      /* limit for reads beyond the requested elements */
    uint64_t end;          /* of the elements that will be requested, if known, else UINT64_MAX */
    uint8_t *bytes;
};

/* Opens a stream by nt_stream_open_unbounded. */
enum nt_status nt_stream_cursor_open(struct nt_stream_cursor *cursor, struct nt_reader *reader,
                                     struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind,
                                     struct nt_error *error);
void nt_stream_cursor_close(struct nt_stream_cursor *cursor); /* accepts a zeroed cursor */

/* Returns the memory of the cursor in bytes; 0: the cursor is closed. */
size_t nt_stream_cursor_memory(const struct nt_stream_cursor *cursor);

/* Returns elements [first, first + count), valid until the next call. NT_CORRUPT past the end of the
 * stream; NT_LIMIT above 1 GiB. */
enum nt_status nt_stream_cursor_get(struct nt_stream_cursor *cursor, uint64_t first, uint64_t count,
                                    const uint8_t **bytes_ret, struct nt_error *error);

/* Reads element `at` of a stream of 64-bit values. */
enum nt_status nt_stream_cursor_get_u64(struct nt_stream_cursor *cursor, uint64_t at, uint64_t *value_ret,
                                        struct nt_error *error);

/* ---- Row writer ---- */

/* Opens a writer for a dataset (field NT_NONE: a row is an entry) or for the rows of a field. Not
 * thread-safe. The reader and the dataset must outlive it. Objects omit unreadable fields. */
enum nt_status nt_row_writer_open(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                  struct nt_row_writer **writer_ret, struct nt_error *error);
/* The same for some fields of a dataset: each row is an object of these, with everything below them and the
 * records and collections around them. With `is_cell`, a record that only leads to one field is written as
 * the value of this field, so that a cell has no names. */
enum nt_status nt_row_writer_open_fields(struct nt_reader *reader, struct nt_dataset *dataset,
                                         const uint32_t *fields, uint32_t count, bool is_cell,
                                         struct nt_row_writer **writer_ret, struct nt_error *error);
void nt_row_writer_close(struct nt_row_writer *writer); /* accepts NULL */
NT_DEFINE_CLEANUP(struct nt_row_writer, nt_row_writer_close)
/* Visits the chosen fields that the rows omit, with the reason. */
typedef void nt_omitted_field(void *context, uint32_t field, const char *reason);
enum nt_status nt_row_writer_visit_omitted(const struct nt_row_writer *writer, nt_omitted_field *visit,
                                           void *context, struct nt_error *error);
size_t nt_row_writer_memory(const struct nt_row_writer *writer); /* in bytes */
/* Prefetches the columns of the writers at once before existing rows [first, end) are written; skips
 * writers that are NULL. If these are few rows, requests all that they need, and nothing else. */
void nt_row_writers_prefetch(struct nt_row_writer *const *writers, size_t count, uint64_t first,
                             uint64_t end);
uint64_t nt_row_writer_rows(const struct nt_row_writer *writer);
/* Writes the value of a row. On failure the caller must truncate the partial value in the buffer. */
enum nt_status nt_row_write(struct nt_row_writer *writer, uint64_t row, struct nt_json *json,
                            struct nt_error *error);

/* Maximum bytes of text per row: a small file may describe a long one. A longer row fails with NT_LIMIT,
 * and so does one with too many items that need no bytes of the file. */
enum { NT_ROW_MAX_BYTES = 1 << 27 };
/* Sets another limit for the rows and cells from now on. */
void nt_row_writer_set_max_bytes(struct nt_row_writer *writer, uint64_t bytes);

/* Columns of a table, for a writer of a dataset: their number, and the dataset field of each. These are
 * top-level fields, and the chosen members of records. */
uint32_t nt_row_writer_cells(const struct nt_row_writer *writer);
uint32_t nt_row_writer_cell_field(const struct nt_row_writer *writer, uint32_t cell);
/* Replaces `text` with the value of a cell. Plain values (a number, bool or string, or an optional of
 * one) are written as in JSON, but strings have no quotes and null is empty. Other values are JSON. */
enum nt_status nt_row_write_cell(struct nt_row_writer *writer, uint32_t cell, uint64_t row,
                                 struct nt_buffer *text, struct nt_error *error);

/* ---- Rows as lines ---- */

/* Generates a line for each of the rows [first, end) of a field, or of the dataset (NT_NONE):
 * rows.jsonl, head.jsonl, rows.d/<n>.json. Clips the range to existing rows. Owns what it opens. */
enum nt_status nt_rows_lines(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                             uint64_t first, uint64_t end, struct nt_text_generator **text_ret,
                             struct nt_error *error);

/* Generates the same lines for some fields of the dataset, see nt_row_writer_open_fields. */
enum nt_status nt_rows_lines_of(struct nt_reader *reader, struct nt_dataset *dataset, const uint32_t *fields,
                                uint32_t count, uint64_t end, struct nt_text_generator **text_ret,
                                struct nt_error *error);

/* Generates table.csv (RFC 4180) with a header line: all rows, a cell for each top-level field. With
 * `fields`, only these: a member of a record has a cell of its own, named by its path. */
enum nt_status nt_csv_lines(struct nt_reader *reader, struct nt_dataset *dataset,
                            struct nt_text_generator **text_ret, struct nt_error *error);
enum nt_status nt_csv_lines_of(struct nt_reader *reader, struct nt_dataset *dataset, const uint32_t *fields,
                               uint32_t count, struct nt_text_generator **text_ret, struct nt_error *error);

/* The row writer of such lines, which owns it. */
const struct nt_row_writer *nt_lines_writer(const struct nt_text_generator *lines);

/* ---- Cost of rows ---- */

/* Can rows [first, first + count) of a field, or entries (`field` is NT_NONE), be shown by decoding at
 * most `max_bytes`? Each page costs its decoded size plus a constant for the lookup. Loads page lists
 * but decodes nothing. Unreadable page lists cost nothing. */
enum nt_status nt_rows_cost_is_low(struct nt_dataset *dataset, uint32_t field, uint64_t first, uint64_t count,
                                   uint64_t max_bytes, bool *are_cheap_ret, struct nt_error *error);

/* ---- Schema ---- */

/* Generates a line for the dataset, then an indented line for each of these fields and its descendants;
 * `fields` NULL: all fields. Omits the nameless item field of a collection, optional or array
 * and shows its children instead. Counts items from page lists; a damaged list shows '?'. */
enum nt_status nt_schema_lines(struct nt_reader *reader, struct nt_dataset *dataset, const uint32_t *fields,
                               uint32_t count, struct nt_text_generator **text_ret, struct nt_error *error);

/* Writes the same as the member "fields", including nameless items. `json` is inside an object. */
enum nt_status nt_json_member_fields(struct nt_reader *reader, struct nt_dataset *dataset,
                                     const uint32_t *fields, uint32_t count, struct nt_json *json,
                                     struct nt_error *error);
