/* SPDX-License-Identifier: MIT
 *
 * Datasets as text: rows as JSON and CSV, the schema, names and errors as JSON members, and page totals
 * of columns.
 */
#ifndef NT_RENDER_RENDER_H
#define NT_RENDER_RENDER_H

#include "core/base/memory.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "read/read.h"

struct nt_row_writer;

/* ---- JSON members for names, places and errors ---- */

/* The member "dataset": its path within its file. */
void nt_json_member_dataset(struct nt_json *json, const struct nt_dataset *dataset);

/* A member that is the path of a field within its dataset, the names joined by '/'. */
void nt_json_member_field_path(struct nt_json *json, const char *key, const struct nt_dataset *dataset,
                               uint32_t field);

/* The members that tell where bytes of a source are: "file", which is an object where it is made of them, and "file_offset". */
void nt_json_member_place(struct nt_json *json, const struct nt_source *source, uint64_t offset);

/* The members that tell a failure: "file_offset", "status", "what", "expected", "found"; null is what is not
 * told. */
void nt_json_failure_members(struct nt_json *json, const struct nt_error *failure);

/* ---- Unsupported fields ---- */

/* Why the pages of a field are not read; NULL: nothing tells so. Loads the field's page lists, where it has its own: all of a dataset
 * of few parts on this machine, or where its size is not known without them; else those of the first part. Lists that are damaged or missing tell nothing. */
enum nt_status nt_unsupported_find(struct nt_dataset *dataset, uint32_t field,
                                   const struct nt_error **reason_ret, struct nt_error *error);

/* The same, as far as it is known. Loads nothing. */
const struct nt_error *nt_unsupported_known(const struct nt_dataset *dataset, uint32_t field);

/* Whether entries alone tell how many elements all streams of a field have. */
bool nt_field_size_is_known(const struct nt_dataset *dataset, uint32_t field);

/* ---- Column totals ---- */

/* What the pages of a column sum up to; those of page lists that cannot be read are not counted. */
struct nt_column_sums {
    uint64_t elements, pages;
    uint64_t stored_bytes, packed_bytes, decoded_bytes; /* stored: without checksums */
    bool is_complete;                                   /* false: a page list could not be read */
    uint8_t checksum; /* enum nt_checksum_kind of the first page that has one */
};

/* Sums of one column, or of all (NT_NONE). Loads all page lists; fails only where the machine does. */
enum nt_status nt_column_sums(struct nt_dataset *dataset, uint32_t column, struct nt_column_sums *sums,
                              struct nt_error *error);
/* Sums of all columns in one cluster, whose group is loaded. */
void nt_cluster_sums(const struct nt_dataset *dataset, const struct nt_group *group, uint32_t cluster,
                     struct nt_column_sums *sums);

/* ---- Stream cursor ---- */

struct nt_stream_cursor {
    struct nt_stream *stream;
    uint32_t element_bytes;
    uint64_t first, count; /* elements that are there */
    uint64_t wanted;       /* how many to read next time */
    size_t capacity;       /* bytes */
    size_t max_bytes;      /* that are read ahead of what was asked for */
    uint8_t *bytes;
};

enum nt_status nt_stream_cursor_open(struct nt_stream_cursor *cursor, struct nt_reader *reader,
                                     struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind,
                                     struct nt_error *error);
void nt_stream_cursor_close(struct nt_stream_cursor *cursor); /* also of a zeroed one */

/* Memory that it takes; 0: it is closed. */
size_t nt_stream_cursor_memory(const struct nt_stream_cursor *cursor);

/* Elements [first, first + count), valid until the next call. NT_CORRUPT past the stream's end; NT_LIMIT for
 * more than 1 GiB. */
enum nt_status nt_stream_cursor_get(struct nt_stream_cursor *cursor, uint64_t first, uint64_t count,
                                    const uint8_t **bytes_ret, struct nt_error *error);

/* Element `at` of a window of u64, or u32 for tags. */
enum nt_status nt_stream_cursor_get_u64(struct nt_stream_cursor *cursor, uint64_t at, uint64_t *value_ret,
                                        struct nt_error *error);
enum nt_status nt_stream_cursor_get_u32(struct nt_stream_cursor *cursor, uint64_t at, uint32_t *value_ret,
                                        struct nt_error *error);

/* ---- Row writer ---- */

/* Open a dataset (field NT_NONE: a row is an entry) or a field (a row is one of its rows). For one thread at
 * a time; the reader and the dataset must outlive it. Unreadable fields are omitted from the objects they are
 * in. */
enum nt_status nt_row_writer_open(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                  struct nt_row_writer **writer_ret, struct nt_error *error);
void nt_row_writer_close(struct nt_row_writer *writer);          /* accepts NULL */
size_t nt_row_writer_memory(const struct nt_row_writer *writer); /* that it takes */
/* Its first rows will be written: what they are made of is asked for at once. */
void nt_row_writer_prefetch(const struct nt_row_writer *writer);
uint64_t nt_row_writer_rows(const struct nt_row_writer *writer);
/* Write the value of a row. On failure `json`'s buffer holds part of it: cut it off. */
enum nt_status nt_row_write(struct nt_row_writer *writer, uint64_t row, struct nt_json *json,
                            struct nt_error *error);

/* Items may take no room in the file, so their number alone does not bound a row. */
enum { NT_ROW_MAX_BYTES = 1 << 28 };

/* Of a writer of a dataset, the fields that its rows have: how many, and their numbers in the dataset. */
uint32_t nt_row_writer_cells(const struct nt_row_writer *writer);
uint32_t nt_row_writer_cell_field(const struct nt_row_writer *writer, uint32_t cell);
/* One of them in a table's cell, in place of what `text` held. A plain value (a number, a bool, a string, or
 * an optional of one): a string without quotes, null as nothing, all else as in JSON. Any other: as JSON. */
enum nt_status nt_row_write_cell(struct nt_row_writer *writer, uint32_t cell, uint64_t row,
                                 struct nt_buffer *text, struct nt_error *error);

/* ---- Rows as lines ---- */

/* Rows [first, end) of a field or, with NT_NONE, of the dataset, a line each: rows.jsonl, head.jsonl,
 * rows.d/<n>.json. Cut to the rows that there are. The text owns what it opens. */
enum nt_status nt_rows_lines(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                             uint64_t first, uint64_t end, struct nt_text_generator **text_ret,
                             struct nt_error *error);

/* table.csv (RFC 4180, with a line of names): all rows, a cell for each top-level field. */
enum nt_status nt_csv_lines(struct nt_reader *reader, struct nt_dataset *dataset,
                            struct nt_text_generator **text_ret, struct nt_error *error);

/* ---- Cost of rows ---- */

/* Whether rows [first, first + count) of a field, or entries where `field` is NT_NONE, can be shown by decoding
 * at most `max_bytes`. Each page counts as what it decodes to and as what finding it costs. Follows from page
 * lists alone, which are loaded; those that cannot be read count as nothing. Decodes nothing. */
enum nt_status nt_rows_cost_is_low(struct nt_dataset *dataset, uint32_t field, uint64_t first, uint64_t count,
                                   uint64_t max_bytes, bool *are_cheap_ret, struct nt_error *error);

/* ---- Schema ---- */

/* A line for each field under a line for the dataset, sub-fields indented. The item field of a collection,
 * an optional or an array, which has no name of its own, is omitted, and what is in it stands in its place.
 * NT_NONE: all fields; else one field and what is below it. Counting items reads page lists; where one is
 * damaged, their number is '?'. */
enum nt_status nt_schema_lines(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                               struct nt_text_generator **text_ret, struct nt_error *error);

/* The same as members of an object, "fields", with every field: `json` is inside the object. */
enum nt_status nt_json_member_fields(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                     struct nt_json *json, struct nt_error *error);

#endif
