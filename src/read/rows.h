/* SPDX-License-Identifier: MIT
 *
 * How many rows of a field, or elements of its bytes, lie in each cluster.
 */
#ifndef NT_PAGE_ROWS_H
#define NT_PAGE_ROWS_H

#include "core/model/kind.h"
#include "read/clusters.h"

/* A span with its rows. */
struct nt_piece {
    struct nt_span span;
    uint64_t first_row, rows;
    uint64_t
        origin; /* the row that positions in columns are counted from: 0, or where the span's file begins */
};

struct nt_rows {
    struct nt_piece *pieces;
    uint32_t count;
    uint64_t total;
    bool is_total_known;    /* false: it depends on a page list or a page that cannot be read */
    enum nt_status refusal; /* then: the machine's failure that is the reason; NT_OK: the file is */
};

enum nt_status nt_rows_build(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                             enum nt_rows_of of, struct nt_rows *rows, struct nt_error *error);
void nt_rows_deinit(struct nt_rows *rows);

/* NT_OK where the total is known, else the error of the span that leaves it unknown. */
enum nt_status nt_rows_check_total(const struct nt_dataset *dataset, const struct nt_rows *rows,
                                   struct nt_error *error);

/* The total alone, from as few page lists as can answer. */
enum nt_status nt_rows_total(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                             enum nt_rows_of of, uint64_t *total_ret, struct nt_error *error);

/* The error of rows that cannot be read: which ones it tells, but not of which field. */
enum nt_status nt_fault_error(const struct nt_dataset *dataset, const struct nt_span *span, uint64_t expected,
                              uint64_t found, struct nt_error *error);

#endif
