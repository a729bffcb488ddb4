/* SPDX-License-Identifier: MIT
 *
 * Comes in: a field's place in the schema and the number of its rows. Goes out: shapes as NumPy has them.
 */
#include "vfs/shape.h"

#include <stdlib.h>
#include <string.h>

#include "base/overflow.h"

bool nt_stream_is_known(const struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind)
{
    enum nt_field_kind field_kind = dataset->fields[field].kind;
    bool is_bytes = field_kind == NT_FIELD_BYTES || field_kind == NT_FIELD_PAGE_BYTES;
    return nt_field_row_parent(dataset, field) == NT_NONE && !(kind == NT_STREAM_DATA && is_bytes);
}

/* The dimensions of a row of the field's data. None where NumPy could not have as many. */
static uint32_t row_dimensions(const struct nt_dataset *dataset, uint32_t field, uint64_t *dimensions)
{
    const struct nt_field *f = &dataset->fields[field];
    if (f->kind == NT_FIELD_BYTES || f->kind == NT_FIELD_PAGE_BYTES)
        return 0;
    uint32_t count = nt_field_dimensions(dataset, field, dimensions, NT_MAX_DEPTH + 1);
    if (f->dimension_count) { /* they tell the own repetition, a member its structure's, more exactly */
        if (count && (f->kind == NT_FIELD_MEMBER || f->repetition))
            count--;
        for (uint32_t i = 0; i < f->dimension_count && count < NT_NUMPY_DIMENSIONS; i++)
            dimensions[count++] = f->dimensions[i];
    }
    return count < NT_NUMPY_DIMENSIONS ? count : 0;
}

/* The field whose rows the first dimension counts: the outermost array above, or the field itself. */
static uint32_t outermost_array(const struct nt_dataset *dataset, uint32_t field)
{
    uint32_t end = nt_field_row_parent(dataset, field), found = field;
    for (uint32_t at = dataset->fields[field].parent; at != end; at = dataset->fields[at].parent)
        if (dataset->fields[at].repetition)
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
    return status;
}

/* ---- dtypes ---- */

/* A quoted string from `text` on; returns what follows it. */
static const char *put_quoted(struct nt_json *json, const char *text)
{
    const char *first = text + 1, *last = strchr(first, *text);
    size_t length = last ? (size_t)(last - first) : strlen(first);
    nt_json_bytes(json, first, length);
    return first + length + (last != NULL);
}

/* A Python literal of strings, integers, tuples and lists as JSON: tuples become lists. */
void nt_json_dtype(struct nt_json *json, const struct nt_dtype *dtype)
{
    const char *text = dtype->text;
    while (*text) {
        if (*text == '\'' || *text == '"') {
            text = put_quoted(json, text);
        } else if (*text >= '0' && *text <= '9') {
            char *end;
            nt_json_unsigned(json, strtoull(text, &end, 10));
            text = end;
        } else {
            if (*text == '(' || *text == '[')
                nt_json_array(json);
            else if (*text == ')' || *text == ']')
                nt_json_end_array(json);
            text++;
        }
    }
}
