/* SPDX-License-Identifier: MIT
 *
 * In: a field. Out: its streams, how many elements they have, and how many rows of it lie in front of each cluster: of the
 * chosen entries, where some are left out.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/base/overflow.h"
#include "read/choosing.h"
#include "read/page.h"
#include "read/rows.h"

/* Whose rows cannot be told. Returns `status`. */
static enum nt_status name_field(const struct nt_dataset *dataset, uint32_t field, enum nt_status status,
                                 struct nt_error *error)
{
    if (status != NT_OK)
        nt_error_context(error, "field %" PRIu32, dataset->fields[field].id);
    return status;
}

static enum nt_status count_rows(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                 enum nt_rows_of of, uint64_t *rows_ret, struct nt_error *error)
{
    struct nt_left_out left_out;
    enum nt_status status = nt_left_out_find(reader, dataset, field, of, &left_out, error);
    if (status != NT_OK)
        return status;
    if (!left_out.drops)
        return name_field(dataset, field, nt_rows_total(reader, dataset, field, of, rows_ret, error), error);
    if (!nt_multiply(nt_drops_total_kept(left_out.drops), left_out.per_row, rows_ret))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the number of rows overflows");
    return NT_OK;
}

enum nt_status nt_field_rows(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                             uint64_t *rows_ret, struct nt_error *error)
{
    enum nt_status status = nt_stream_check_field(dataset, field, NT_STREAM_DATA, error);
    if (status == NT_OK)
        status = nt_reader_be_here(reader, error);
    return status == NT_OK ? count_rows(reader, dataset, field, NT_ROWS_OF_FIELD, rows_ret, error) : status;
}

enum nt_status nt_field_stream_elements(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                        enum nt_stream_kind kind, uint64_t *elements_ret,
                                        struct nt_error *error)
{
    const struct nt_stream_row *row;
    uint64_t rows;
    enum nt_status status = nt_stream_find_row(dataset, field, kind, &row, error);
    if (status == NT_OK)
        status = nt_reader_be_here(reader, error);
    if (status == NT_OK)
        status = count_rows(reader, dataset, field, row->of, &rows, error);
    return status == NT_OK ? nt_stream_count_elements(dataset, field, row, rows, elements_ret, error)
                           : status;
}

static enum nt_status find_borders(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                   enum nt_rows_of of, uint64_t **borders_ret, uint32_t *count_ret,
                                   struct nt_error *error)
{
    struct nt_rows rows;
    struct nt_left_out left_out;
    uint64_t *borders = NULL;
    enum nt_status status = nt_rows_build(reader, dataset, field, of, &rows, error);
    if (status != NT_OK)
        return status;
    status = name_field(dataset, field, nt_rows_check_total(dataset, &rows, error), error);
    if (status == NT_OK)
        status = nt_left_out_find(reader, dataset, field, of, &left_out, error);
    if (status == NT_OK && !(borders = calloc((size_t)rows.count + 1, sizeof(*borders))))
        status = nt_fail_memory(error);
    if (status == NT_OK) {
        for (uint32_t i = 0; i <= rows.count; i++)
            borders[i] =
                nt_left_out_before(&left_out, i < rows.count ? rows.pieces[i].first_row : rows.total);
        *borders_ret = borders;
        *count_ret = rows.count;
    }
    nt_rows_deinit(&rows);
    return status;
}

enum nt_status nt_field_row_borders(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                    uint64_t **borders_ret, uint32_t *count_ret, struct nt_error *error)
{
    return find_borders(reader, dataset, field, NT_ROWS_OF_FIELD, borders_ret, count_ret, error);
}

enum nt_status nt_field_byte_borders(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                     uint64_t **borders_ret, uint32_t *count_ret, struct nt_error *error)
{
    const struct nt_stream_row *row;
    enum nt_status status = nt_stream_find_row(dataset, field, NT_STREAM_DATA, &row, error);
    return status == NT_OK ? find_borders(reader, dataset, field, row->of, borders_ret, count_ret, error)
                           : status;
}

enum nt_status nt_stream_open(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                              enum nt_stream_kind kind, struct nt_stream **stream_ret, struct nt_error *error)
{
    struct nt_stream *stream;
    enum nt_status status = nt_stream_open_stored(reader, dataset, field, kind, &stream, error);
    if (status == NT_OK && dataset->selection) {
        status = nt_stream_choose(stream, error);
        if (status != NT_OK)
            nt_stream_close(stream);
    }
    if (status == NT_OK)
        *stream_ret = stream;
    return status;
}
