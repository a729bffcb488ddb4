/* SPDX-License-Identifier: MIT
 *
 * In: the page table of a legacy file. Out: which of its fields cannot be read, and why. Versions of Lance up to 0.23 wrote
 * a slice of structures with all rows of their members: the batch has the rows of the slice, the members' pages those of the whole,
 * and nothing tells where in it the slice begins. Lance's own reader takes the first ones, which are others where it does not begin at 0.
 */
#include "formats/lance/legacy/slices.h"

#include <inttypes.h>

static bool has_shape(const struct nt_lance_schema *schema, uint32_t field, enum nt_lance_shape shape)
{
    return field != NT_NONE && schema->places[field].type.shape == shape;
}

/* Whether the rows of a field are the file's, in structures alone. */
static bool is_member(const struct nt_lance_schema *schema, uint32_t field)
{
    uint32_t at = schema->fields[field].parent;
    if (!has_shape(schema, at, NT_LANCE_IS_STRUCT))
        return false;
    while (has_shape(schema, at, NT_LANCE_IS_STRUCT))
        at = schema->fields[at].parent;
    return at == NT_NONE;
}

/* The first batch in which a member's page has more rows than the batch; false where there is none. */
static bool find_surplus(const struct nt_lance *lance, uint32_t field, uint32_t *batch_ret,
                         uint64_t *rows_ret)
{
    const struct nt_lance_legacy *legacy = lance->legacy;
    const struct nt_lance_cell *cells = nt_lance_cells(&legacy->table, lance->schema.fields[field].id);
    bool is_lists = legacy->pagings[field].kind == NT_LANCE_PAGE_LISTS;
    for (uint32_t i = 0; cells && i < legacy->table.batches; i++) {
        *batch_ret = i;
        *rows_ret = cells[i].length - (is_lists && cells[i].length);
        if (*rows_ret > legacy->batches[i + 1] - legacy->batches[i])
            return true;
    }
    return false;
}

static enum nt_status refuse(struct nt_file *file, const struct nt_lance *lance, uint32_t field,
                             struct nt_lance_column *column, struct nt_error *error)
{
    uint32_t batch;
    uint64_t rows;
    struct nt_error failure;
    if (lance->legacy->pagings[field].kind == NT_LANCE_PAGE_NONE || !is_member(&lance->schema, field) ||
        !find_surplus(lance, field, &batch, &rows))
        return NT_OK;
    nt_fail(&failure, NT_UNSUPPORTED, NT_NO_OFFSET,
            "a slice of structures was written with all rows of their members, %" PRIu64 " for the %" PRIu64
            " of batch %" PRIu32 ": which of them are its rows is not known",
            rows, lance->legacy->batches[batch + 1] - lance->legacy->batches[batch], batch);
    return nt_failure_keep(&failure, file->arena, &column->failure, error);
}

/* What the members of a structure have in common: the reason why none of them can be read; NULL: one can, or there is none. */
static const struct nt_error *find_common_failure(const struct nt_lance_schema *schema, uint32_t field,
                                                  const struct nt_lance_column *columns)
{
    const struct nt_error *failure = NULL;
    for (uint32_t i = field + 1; i < schema->field_count; i++) {
        uint32_t parent = schema->fields[i].parent;
        if (parent == NT_NONE || parent < field)
            break; /* depth first: what follows is not in it */
        if (parent == field && !columns[i].failure)
            return NULL;
        if (parent == field)
            failure = columns[i].failure;
    }
    return failure;
}

/* Items go with their list, and a structure with the last of its members. */
static void spread(const struct nt_lance_schema *schema, struct nt_lance_column *columns)
{
    for (uint32_t i = 0; i < schema->field_count; i++) {
        uint32_t parent = schema->fields[i].parent;
        if (!columns[i].failure && parent != NT_NONE && !has_shape(schema, parent, NT_LANCE_IS_STRUCT))
            columns[i].failure = columns[parent].failure;
    }
    for (uint32_t i = schema->field_count; i-- > 0;)
        if (!columns[i].failure && has_shape(schema, i, NT_LANCE_IS_STRUCT))
            columns[i].failure = find_common_failure(schema, i, columns);
}

enum nt_status nt_lance_refuse_slices(struct nt_file *file, const struct nt_lance *lance,
                                      struct nt_lance_column *columns, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    bool has_slices = false;
    for (uint32_t i = 0; status == NT_OK && i < lance->schema.field_count; i++) {
        if (columns[i].failure)
            continue;
        status = refuse(file, lance, i, &columns[i], error);
        has_slices |= columns[i].failure != NULL;
    }
    if (status == NT_OK && has_slices)
        spread(&lance->schema, columns);
    return status;
}
