/* SPDX-License-Identifier: MIT
 *
 * In: a field. Out: findings, where it has not as many rows as the fields beside it.
 */
#include "tools/verify_rows.h"

#include <inttypes.h>

#include "core/base/overflow.h"
#include "read/rows.h"

/* The field below the collection or variant above that the field keeps step with; the field itself where
 * nothing lies between. `per_row_ret`: rows of the field for each of its rows. */
static uint32_t find_branch(const struct nt_dataset *dataset, uint32_t field, uint64_t *per_row_ret)
{
    uint32_t above = nt_field_row_parent(dataset, field), branch = field;
    *per_row_ret = 1;
    while (dataset->fields[branch].parent != above) {
        branch = dataset->fields[branch].parent;
        if (!nt_multiply(*per_row_ret, nt_field_rows_below(&dataset->fields[branch]), per_row_ret))
            return field;
    }
    return branch;
}

static bool has_rows(const struct nt_piece *piece)
{
    return piece->span.fault == NT_FAULT_NONE;
}

static void compare_rows(struct nt_verify_job *job, const struct nt_rows *rows, const struct nt_rows *above,
                         uint64_t per_row)
{
    for (uint32_t i = 0; i < rows->count && i < above->count; i++) {
        const struct nt_piece *piece = &rows->pieces[i], *branch = &above->pieces[i];
        uint64_t expected;
        if (piece->span.cluster != branch->span.cluster || !has_rows(piece) || !has_rows(branch))
            continue;
        if (nt_multiply(branch->rows, per_row, &expected) && expected != piece->rows)
            nt_verify_find_in_cluster(job, piece->span.cluster, "rows, as the fields beside it tell",
                                      expected, piece->rows);
    }
}

/* Below a collection or variant each field counts its rows by its own column: they must be as many as those
 * of the fields beside it. */
void nt_verify_rows(struct nt_verify_job *job)
{
    const struct nt_column *info = &job->dataset->columns[job->column];
    struct nt_rows rows = {0}, above = {0};
    struct nt_error error = {0};
    uint32_t field = info->field;
    uint64_t per_row;
    if (nt_field_row_parent(job->dataset, field) == NT_NONE || info->position ||
        job->dataset->fields[field].kind == NT_FIELD_UNREADABLE)
        return;
    uint32_t branch = find_branch(job->dataset, field, &per_row);
    if (branch == field)
        return;
    enum nt_status status = nt_rows_build(job->reader, job->dataset, field, NT_ROWS_OF_FIELD, &rows, &error);
    if (status == NT_OK)
        status = nt_rows_build(job->reader, job->dataset, branch, NT_ROWS_OF_FIELD, &above, &error);
    if (status == NT_OK)
        compare_rows(job, &rows, &above, per_row);
    else
        nt_verify_find(job, NT_NONE, UINT64_MAX, &error);
    nt_rows_deinit(&rows);
    nt_rows_deinit(&above);
}
