/* SPDX-License-Identifier: MIT
 *
 * Comes in: a field's place in the schema and the number of its rows. Goes out: shapes as NumPy has them.
 */
#include "vfs/shape.h"

#include "core/base/overflow.h"
#include "core/model/kind.h"
#include "read/page.h"

/* Whether elements are those of rows, and not bytes that have a number of their own. */
static bool has_elements_of_rows(const struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind)
{
    const struct nt_stream_row *row = nt_field_stream(&dataset->fields[field], kind);
    return row && row->of == NT_ROWS_OF_FIELD;
}

bool nt_stream_is_known(const struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind)
{
    return nt_field_row_parent(dataset, field) == NT_NONE && has_elements_of_rows(dataset, field, kind);
}

/* The dimensions of a row of the field's data. None where NumPy could not have as many. */
static uint32_t row_dimensions(const struct nt_dataset *dataset, uint32_t field, uint64_t *dimensions)
{
    if (!has_elements_of_rows(dataset, field, NT_STREAM_DATA))
        return 0;
    uint32_t count = nt_field_dimensions(dataset, field, dimensions, NT_MAX_DEPTH + 1);
    return count < NT_NUMPY_DIMENSIONS ? count : 0;
}

/* What the file calls an array without dimensions, as long as it is its only row that is shown. */
static void drop_rows(const struct nt_field *field, struct nt_shape *shape)
{
    if (!field->is_scalar || shape->dimensions[0] != 1)
        return;
    shape->count--;
    for (uint32_t i = 0; i < shape->count; i++)
        shape->dimensions[i] = shape->dimensions[i + 1];
}

/* The field whose rows the first dimension counts: the outermost array above, or the field itself. */
static uint32_t outermost_array(const struct nt_dataset *dataset, uint32_t field)
{
    uint32_t end = nt_field_row_parent(dataset, field), found = field;
    for (uint32_t at = dataset->fields[field].parent; at != end; at = dataset->fields[at].parent)
        if (nt_field_kind_info(dataset->fields[at].kind)->below == NT_BELOW_SEVERAL)
            found = at;
    return found;
}

enum nt_status nt_stream_shape(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                               enum nt_stream_kind kind, struct nt_shape *shape, struct nt_error *error)
{
    struct nt_dtype dtype;
    uint64_t elements, product = 1;
    enum nt_status status = nt_field_stream_elements(reader, dataset, field, kind, &elements, error);
    if (status != NT_OK)
        return status;
    nt_field_stream_dtype(dataset, field, kind, &dtype);
    if (!nt_multiply(elements, dtype.bytes, &shape->bytes))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the size of the stream overflows");
    shape->count = 1;
    shape->dimensions[0] = elements;
    if (kind != NT_STREAM_DATA)
        return NT_OK;
    uint32_t inner = row_dimensions(dataset, field, shape->dimensions + 1);
    for (uint32_t i = 1; i <= inner; i++)
        if (!nt_multiply(product, shape->dimensions[i], &product))
            return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the size of a row overflows");
    shape->count = 1 + inner;
    if (product)
        shape->dimensions[0] = elements / product;
    else
        status =
            nt_field_rows(reader, dataset, outermost_array(dataset, field), &shape->dimensions[0], error);
    if (status == NT_OK)
        drop_rows(&dataset->fields[field], shape);
    return status;
}

/* ---- dtypes ---- */

static void put_member(struct nt_json *json, const struct nt_dtype_member *member)
{
    nt_json_array(json);
    nt_json_bytes(json, member->name.bytes, member->name.length);
    nt_json_dtype(json, member->dtype);
    if (member->dimension_count) {
        nt_json_array(json);
        for (uint32_t i = 0; i < member->dimension_count; i++)
            nt_json_unsigned(json, member->dimensions[i]);
        nt_json_end_array(json);
    }
    nt_json_end_array(json);
}

/* As deep as structures in structures: the formats bound it. */
void nt_json_dtype(struct nt_json *json, const struct nt_dtype *dtype)
{
    if (!dtype->member_count) {
        nt_json_string(json, dtype->numpy);
        return;
    }
    nt_json_array(json);
    for (uint32_t i = 0; i < dtype->member_count; i++)
        put_member(json, &dtype->members[i]);
    nt_json_end_array(json);
}
