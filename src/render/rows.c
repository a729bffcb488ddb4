/* SPDX-License-Identifier: MIT
 *
 * Rows as lines of text: JSON Lines (rows.jsonl, head.jsonl) and CSV (table.csv). Generates pieces of
 * bounded size. A failing row leaves no partial line.
 */
#include "render/render.h"

enum { FIRST_PIECE_ROWS = 8, PIECE_BYTES = 64 * 1024 };

struct row_lines {
    struct nt_text_generator text;
    struct nt_row_writer *writer;
    uint64_t next, limit;
    bool is_csv, header_written;
    const struct nt_dataset *dataset;
    struct nt_buffer cell;
};

static void free_lines(struct nt_text_generator *text)
{
    struct row_lines *lines = (struct row_lines *)text;
    nt_row_writer_close(lines->writer);
    nt_buffer_deinit(&lines->cell);
    free(lines);
}

/* How many bytes a row may have. */
static uint64_t max_row_bytes(const struct row_lines *lines)
{
    uint64_t enough = lines->text.too_many_bytes;
    return enough && enough < NT_ROW_MAX_BYTES ? enough : NT_ROW_MAX_BYTES;
}

/* Did a failed row reach the length from which the caller does not need the piece? */
static bool is_given_up(const struct row_lines *lines, enum nt_status status, uint64_t row_bytes)
{
    uint64_t enough = lines->text.too_many_bytes;
    return status == NT_LIMIT && enough && (row_bytes >= enough || lines->cell.length >= enough);
}

static enum nt_status write_json_line(struct row_lines *lines, struct nt_buffer *out, struct nt_error *error)
{
    struct nt_json json;
    nt_row_writer_set_max_bytes(lines->writer, max_row_bytes(lines));
    nt_json_init(&json, out, true);
    enum nt_status status = nt_row_write(lines->writer, lines->next, &json, error);
    nt_buffer_append_byte(out, '\n');
    return status;
}

/* RFC 4180: quotes text that contains a quote, comma or line break, and doubles its quotes. */
static void append_csv(struct nt_buffer *out, const char *bytes, size_t length)
{
    bool needs_quotes = false;
    for (size_t i = 0; i < length && !needs_quotes; i++)
        needs_quotes = bytes[i] == '"' || bytes[i] == ',' || bytes[i] == '\r' || bytes[i] == '\n';
    if (!needs_quotes) {
        nt_buffer_append(out, bytes, length);
        return;
    }
    nt_buffer_append_byte(out, '"');
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '"')
            nt_buffer_append_byte(out, '"');
        nt_buffer_append_byte(out, bytes[i]);
    }
    nt_buffer_append_byte(out, '"');
}

static void append_csv_name(const struct row_lines *lines, uint32_t field, struct nt_buffer *out)
{
    const struct nt_field *of = &lines->dataset->fields[field];
    struct nt_buffer path = {0};
    if (of->parent == NT_NONE) {
        append_csv(out, of->name.bytes, of->name.length);
        return;
    }
    nt_append_field_path(&path, lines->dataset, field);
    append_csv(out, nt_buffer_string(&path), path.length);
    nt_buffer_deinit_part(&path, out);
}

static void write_csv_header(struct row_lines *lines, struct nt_buffer *out)
{
    uint32_t count = nt_row_writer_cells(lines->writer);
    for (uint32_t i = 0; i < count; i++) {
        append_csv_name(lines, nt_row_writer_cell_field(lines->writer, i), out);
        nt_buffer_append_string(out, i + 1 < count ? "," : "");
    }
    nt_buffer_append_string(out, "\r\n");
    lines->header_written = !out->failed;
}

/* A cell is a second copy of its text, which may have twice the length with all quotes doubled. So it has
 * half of what a row may still have. */
static void limit_cell(struct row_lines *lines, uint64_t row_bytes)
{
    uint64_t half = row_bytes < NT_ROW_MAX_BYTES ? (NT_ROW_MAX_BYTES - row_bytes) / 2 : 0;
    uint64_t max_bytes = max_row_bytes(lines);
    nt_row_writer_set_max_bytes(lines->writer, half < max_bytes ? half : max_bytes);
}

static enum nt_status write_csv_line(struct row_lines *lines, struct nt_buffer *out, struct nt_error *error)
{
    uint32_t count = nt_row_writer_cells(lines->writer);
    size_t start = out->length;
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            nt_buffer_append_byte(out, ',');
        limit_cell(lines, out->length - start);
        NT_TRY(nt_row_write_cell(lines->writer, i, lines->next, &lines->cell, error));
        append_csv(out, lines->cell.length ? lines->cell.bytes : "", lines->cell.length);
        if (out->length - start > max_row_bytes(lines))
            return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "a row has more than %" PRIu64 " bytes of text",
                           max_row_bytes(lines));
        if (count == 1 && lines->cell.length == 0)
            nt_buffer_append_string(out, "\"\""); /* many readers skip an empty line */
    }
    nt_buffer_append_string(out, "\r\n");
    return NT_OK;
}

static enum nt_status next_lines(struct nt_text_generator *text, struct nt_buffer *out, bool *more_ret,
                                 struct nt_error *error)
{
    struct row_lines *lines = (struct row_lines *)text;
    size_t start = out->length;
    uint64_t rows_at_most = lines->next ? UINT64_MAX : FIRST_PIECE_ROWS;
    if (lines->is_csv && !lines->header_written)
        write_csv_header(lines, out);
    NT_TRY(nt_check_memory(!out->failed, error));
    while (lines->next < lines->limit && rows_at_most-- && out->length - start < PIECE_BYTES) {
        size_t line = out->length;
        enum nt_status status =
            lines->is_csv ? write_csv_line(lines, out, error) : write_json_line(lines, out, error);
        if (status == NT_OK && out->failed)
            status = nt_fail_memory(error);
        if (status != NT_OK) {
            lines->text.is_given_up = line == start && is_given_up(lines, status, out->length - line);
            out->length = line;
            if (line == start)
                return status;
            break; /* returns the rows before it; the next call fails at once */
        }
        lines->next++;
    }
    *more_ret = lines->next < lines->limit;
    return NT_OK;
}

static size_t lines_memory(const struct nt_text_generator *text)
{
    const struct row_lines *lines = (const struct row_lines *)text;
    return sizeof(*lines) + lines->cell.capacity + nt_row_writer_memory(lines->writer);
}

static uint64_t lines_position(const struct nt_text_generator *text)
{
    const struct row_lines *lines = (const struct row_lines *)text;
    return 2 * lines->next + lines->header_written;
}

static void lines_go_on(struct nt_text_generator *text, uint64_t position)
{
    struct row_lines *lines = (struct row_lines *)text;
    lines->next = position / 2;
    lines->header_written = position % 2;
}

static double lines_share(const struct nt_text_generator *text)
{
    const struct row_lines *lines = (const struct row_lines *)text;
    return lines->next < lines->limit ? (double)lines->next / (double)lines->limit : 1;
}

/* Lines for rows [first, end), clipped to the existing rows, of a writer that they own. */
static enum nt_status new_lines(struct nt_row_writer *writer, const struct nt_dataset *dataset,
                                uint64_t first, uint64_t end, bool is_csv,
                                struct nt_text_generator **text_ret, struct nt_error *error)
{
    struct row_lines *lines = calloc(1, sizeof(*lines));
    if (!lines) {
        nt_row_writer_close(writer);
        return nt_fail_memory(error);
    }
    uint64_t count = nt_row_writer_rows(writer);
    *lines = (struct row_lines){.text = {.next = next_lines,
                                         .free = free_lines,
                                         .memory = lines_memory,
                                         .position = lines_position,
                                         .resume_at = lines_go_on,
                                         .share = lines_share},
                                .writer = writer,
                                .dataset = dataset,
                                .is_csv = is_csv,
                                .next = first,
                                .limit = count < end ? count : end};
    if (first < lines->limit)
        nt_row_writers_prefetch(&lines->writer, 1, first, lines->limit);
    *text_ret = &lines->text;
    return NT_OK;
}

const struct nt_row_writer *nt_lines_writer(const struct nt_text_generator *lines)
{
    return ((const struct row_lines *)lines)->writer;
}

static enum nt_status open_lines(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                 uint64_t first, uint64_t end, bool is_csv,
                                 struct nt_text_generator **text_ret, struct nt_error *error)
{
    struct nt_row_writer *writer;
    NT_TRY(nt_row_writer_open(reader, dataset, field, &writer, error));
    return new_lines(writer, dataset, first, end, is_csv, text_ret, error);
}

enum nt_status nt_rows_lines(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                             uint64_t first, uint64_t end, struct nt_text_generator **text_ret,
                             struct nt_error *error)
{
    return open_lines(reader, dataset, field, first, end, false, text_ret, error);
}

enum nt_status nt_rows_lines_of(struct nt_reader *reader, struct nt_dataset *dataset, const uint32_t *fields,
                                uint32_t count, uint64_t end, struct nt_text_generator **text_ret,
                                struct nt_error *error)
{
    struct nt_row_writer *writer;
    NT_TRY(nt_row_writer_open_fields(reader, dataset, fields, count, false, &writer, error));
    return new_lines(writer, dataset, 0, end, false, text_ret, error);
}

enum nt_status nt_csv_lines(struct nt_reader *reader, struct nt_dataset *dataset,
                            struct nt_text_generator **text_ret, struct nt_error *error)
{
    return open_lines(reader, dataset, NT_NONE, 0, UINT64_MAX, true, text_ret, error);
}

enum nt_status nt_csv_lines_of(struct nt_reader *reader, struct nt_dataset *dataset, const uint32_t *fields,
                               uint32_t count, struct nt_text_generator **text_ret, struct nt_error *error)
{
    struct nt_row_writer *writer;
    NT_TRY(nt_row_writer_open_fields(reader, dataset, fields, count, false, &writer, error));
    return new_lines(writer, dataset, 0, UINT64_MAX, true, text_ret, error);
}
