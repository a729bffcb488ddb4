/* SPDX-License-Identifier: MIT
 *
 * Rows as JSON. The fields that are read become shapes, a tree as deep as the schema (NT_MAX_DEPTH at most);
 * each shape has windows on its streams, and writing a row walks the tree. The shape of a field says how its
 * rows look as text, which is more than how they are stored: an optional is a value or null, a pair an array.
 */
#include "view/rows.h"

#include <stdlib.h>
#include <string.h>

#include "view/scalar.h"
#include "view/window.h"

/* Items may take no room in the file, so their number alone does not bound a row. */
enum { MOST_LINE_BYTES = 1 << 28 };

enum shape_kind {
    SHAPE_NOTHING, /* left out: its reason is in field.json */
    SHAPE_VALUE,
    SHAPE_VALUES, /* a bitset, or fixed dimensions */
    SHAPE_TEXT,
    SHAPE_BASE64,
    SHAPE_ARRAY,    /* a collection */
    SHAPE_OPTIONAL, /* no or one item */
    SHAPE_DENSE_OPTIONAL,
    SHAPE_VARIANT,
    SHAPE_FIXED, /* std::array: `size` items a row */
    SHAPE_OBJECT,
    SHAPE_OBJECTS, /* structures in fixed dimensions */
    SHAPE_TUPLE,
    SHAPE_WRAPPER, /* enum, atomic: the only sub-field's value */
};

struct shape {
    enum shape_kind kind;
    uint32_t field;
    uint64_t size;
    struct nt_window data, offsets; /* of a variant: tags and index; of a dense optional: valid */
    struct nt_buffer gathered;      /* values of a row that do not lie together */
    struct shape *children;
    uint32_t child_count;
};

struct nt_rows {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint64_t count;
    struct shape root;
};

/* ---- shapes ---- */

static bool begins_with(struct nt_text text, const char *prefix)
{
    return text.length > strlen(prefix) && !memcmp(text.bytes, prefix, strlen(prefix));
}

static enum shape_kind shape_of_container(const struct nt_field *field)
{
    if (field->repetition)
        return SHAPE_FIXED;
    if (field->role == NT_ROLE_PLAIN && field->child_count == 1)
        return SHAPE_WRAPPER;
    return begins_with(field->type, "std::pair<") || begins_with(field->type, "std::tuple<") ? SHAPE_TUPLE
                                                                                             : SHAPE_OBJECT;
}

static enum shape_kind shape_of(const struct nt_field *field)
{
    switch (field->kind) {
    case NT_FIELD_VALUE:
        if (field->dtype.element == NT_ELEMENT_OPAQUE && field->child_count)
            return field->dimension_count ? SHAPE_OBJECTS : SHAPE_OBJECT;
        return field->repetition || field->dimension_count ? SHAPE_VALUES : SHAPE_VALUE;
    case NT_FIELD_CARDINALITY:
    case NT_FIELD_MEMBER:
        return SHAPE_VALUE;
    case NT_FIELD_BYTES:
        return field->role == NT_ROLE_STREAMED ? SHAPE_BASE64 : SHAPE_TEXT;
    case NT_FIELD_PAGE_BYTES:
        return SHAPE_BASE64;
    case NT_FIELD_COLLECTION:
        return nt_is_optional(field) ? SHAPE_OPTIONAL : SHAPE_ARRAY;
    case NT_FIELD_DENSE_OPTIONAL:
        return SHAPE_DENSE_OPTIONAL;
    case NT_FIELD_VARIANT:
        return SHAPE_VARIANT;
    case NT_FIELD_CONTAINER:
        return shape_of_container(field);
    case NT_FIELD_UNREADABLE:
    case NT_FIELD_KIND_COUNT:
        break;
    }
    return SHAPE_NOTHING;
}

static const struct window_kinds {
    int data, offsets; /* enum nt_stream_kind, -1: none */
} windows_of[] = {
    [SHAPE_NOTHING] = {-1, -1},
    [SHAPE_VALUE] = {NT_STREAM_DATA, -1},
    [SHAPE_VALUES] = {NT_STREAM_DATA, -1},
    [SHAPE_TEXT] = {NT_STREAM_DATA, NT_STREAM_OFFSETS},
    [SHAPE_BASE64] = {NT_STREAM_DATA, NT_STREAM_OFFSETS},
    [SHAPE_ARRAY] = {-1, NT_STREAM_OFFSETS},
    [SHAPE_OPTIONAL] = {-1, NT_STREAM_OFFSETS},
    [SHAPE_DENSE_OPTIONAL] = {NT_STREAM_VALID, -1},
    [SHAPE_VARIANT] = {NT_STREAM_TAGS, NT_STREAM_INDEX},
    [SHAPE_FIXED] = {-1, -1},
    [SHAPE_OBJECT] = {-1, -1},
    [SHAPE_OBJECTS] = {-1, -1},
    [SHAPE_TUPLE] = {-1, -1},
    [SHAPE_WRAPPER] = {-1, -1},
};

static void shape_deinit(struct shape *shape)
{
    nt_window_close(&shape->data);
    nt_window_close(&shape->offsets);
    nt_buffer_deinit(&shape->gathered);
    for (uint32_t i = 0; i < shape->child_count; i++)
        shape_deinit(&shape->children[i]);
    free(shape->children);
}

/* Dimensions, where a row has several, tell its repetition more exactly. */
static uint64_t row_size(const struct nt_field *field)
{
    uint64_t size = field->repetition && !field->dimension_count ? field->repetition : 1;
    for (uint32_t i = 0; i < field->dimension_count; i++)
        size *= field->dimensions[i];
    return size;
}

/* Whether a shape can be made at all: one of the parts it cannot do without may be unreadable. */
static void settle(struct shape *shape)
{
    bool needs_all = shape->kind == SHAPE_ARRAY || shape->kind == SHAPE_OPTIONAL ||
                     shape->kind == SHAPE_FIXED || shape->kind == SHAPE_DENSE_OPTIONAL ||
                     shape->kind == SHAPE_WRAPPER;
    if (needs_all && (shape->child_count != 1 || shape->children[0].kind == SHAPE_NOTHING))
        shape->kind = SHAPE_NOTHING;
}

static enum nt_status shape_init(struct nt_rows *rows, struct shape *shape, uint32_t field,
                                 enum shape_kind kind, struct nt_error *error)
{
    struct nt_dataset *dataset = rows->dataset;
    enum nt_status status = NT_OK;
    uint32_t count = 0;
    const uint32_t *children = nt_dataset_children(dataset, field, &count);
    shape->kind = kind;
    shape->field = field;
    shape->size = field == NT_NONE ? 1 : row_size(&dataset->fields[field]);
    if (windows_of[kind].data >= 0)
        status = nt_window_open(&shape->data, rows->reader, dataset, field,
                                (enum nt_stream_kind)windows_of[kind].data, error);
    if (status == NT_OK && windows_of[kind].offsets >= 0)
        status = nt_window_open(&shape->offsets, rows->reader, dataset, field,
                                (enum nt_stream_kind)windows_of[kind].offsets, error);
    if (status != NT_OK || kind == SHAPE_NOTHING)
        return status;
    shape->children = calloc(count ? count : 1, sizeof(*shape->children));
    if (!shape->children)
        return nt_fail_memory(error);
    shape->child_count = count;
    for (uint32_t i = 0; i < count && status == NT_OK; i++)
        status = shape_init(rows, &shape->children[i], children[i], shape_of(&dataset->fields[children[i]]),
                            error);
    if (status == NT_OK)
        settle(shape);
    return status;
}

enum nt_status nt_rows_open(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                            struct nt_rows **rows_ret, struct nt_error *error)
{
    struct nt_rows *rows = calloc(1, sizeof(*rows));
    if (!rows)
        return nt_fail_memory(error);
    rows->reader = reader;
    rows->dataset = dataset;
    rows->count = dataset->entries;
    enum nt_status status = NT_OK;
    if (field != NT_NONE)
        status = nt_field_rows(reader, dataset, field, &rows->count, error);
    if (status == NT_OK)
        status = shape_init(rows, &rows->root, field,
                            field == NT_NONE ? SHAPE_OBJECT : shape_of(&dataset->fields[field]), error);
    if (status != NT_OK) {
        nt_rows_close(rows);
        return status;
    }
    *rows_ret = rows;
    return NT_OK;
}

void nt_rows_close(struct nt_rows *rows)
{
    if (!rows)
        return;
    shape_deinit(&rows->root);
    free(rows);
}

uint64_t nt_rows_count(const struct nt_rows *rows)
{
    return rows->count;
}

/* ---- writing ---- */

struct writing {
    const struct nt_dataset *dataset;
    struct nt_json *json;
    struct nt_error *error;
};

static enum nt_status write_row(const struct writing *writing, struct shape *shape, uint64_t row);
static enum nt_status write_members(const struct writing *writing, struct shape *shape, uint64_t row);

static enum nt_status write_value(const struct writing *writing, struct shape *shape, uint64_t row)
{
    const uint8_t *bytes;
    enum nt_status status = nt_window_get(&shape->data, row, 1, &bytes, writing->error);
    if (status == NT_OK)
        nt_json_element(writing->json, &writing->dataset->fields[shape->field].dtype, bytes);
    return status;
}

/* Where value `i` of a row, counted as C does, lies in the field's data. */
static uint64_t value_place(const struct writing *writing, const struct shape *shape, uint64_t row,
                            uint64_t i)
{
    const struct nt_field *field = &writing->dataset->fields[shape->field];
    if (!field->is_fortran_order)
        return row * shape->size + i;
    uint64_t place = row, stride = writing->dataset->entries, inside = shape->size;
    for (uint32_t d = 0; d < field->dimension_count; d++) {
        inside /= field->dimensions[d];
        place += i / inside * stride;
        i %= inside;
        stride *= field->dimensions[d];
    }
    return place;
}

/* Read all values of a row before any is written. In Fortran order they lie apart. */
static enum nt_status read_values(const struct writing *writing, struct shape *shape, uint64_t row,
                                  const uint8_t **bytes_ret)
{
    if (!writing->dataset->fields[shape->field].is_fortran_order)
        return nt_window_get(&shape->data, row * shape->size, shape->size, bytes_ret, writing->error);
    size_t element_bytes = shape->data.element_bytes;
    nt_buffer_clear(&shape->gathered);
    for (uint64_t i = 0; i < shape->size; i++) {
        enum nt_status status =
            nt_window_get(&shape->data, value_place(writing, shape, row, i), 1, bytes_ret, writing->error);
        if (status != NT_OK)
            return status;
        nt_buffer_append(&shape->gathered, *bytes_ret, element_bytes);
    }
    *bytes_ret = (const uint8_t *)shape->gathered.bytes;
    return shape->gathered.failed ? nt_fail_memory(writing->error) : NT_OK;
}

static enum nt_status check_line(const struct writing *writing)
{
    if (writing->json->out->length <= MOST_LINE_BYTES)
        return NT_OK;
    return nt_fail(writing->error, NT_LIMIT, NT_NO_OFFSET, "a row of more than 256 MiB of text");
}

/* A row of no elements: arrays down to the first dimension of 0. */
static enum nt_status write_nothing(const struct writing *writing, const uint64_t *dimensions)
{
    enum nt_status status = NT_OK;
    nt_json_array(writing->json);
    for (uint64_t i = 0; status == NT_OK && i < dimensions[0]; i++) {
        status = check_line(writing);
        if (status == NT_OK)
            status = write_nothing(writing, dimensions + 1);
    }
    nt_json_end_array(writing->json);
    return status;
}

/* Arrays in arrays for several dimensions: an array opens wherever the index is a multiple of what is inside
 * it. */
static enum nt_status write_values(const struct writing *writing, struct shape *shape, uint64_t row)
{
    const struct nt_field *field = &writing->dataset->fields[shape->field];
    const uint64_t *dimensions = field->dimension_count ? field->dimensions : &field->repetition;
    uint32_t dimension_count = field->dimension_count ? field->dimension_count : 1;
    const uint8_t *bytes = NULL;
    bool has_members = shape->kind == SHAPE_OBJECTS;
    enum nt_status status = has_members ? NT_OK : read_values(writing, shape, row, &bytes);
    for (uint64_t i = 0; status == NT_OK && i < shape->size; i++) {
        uint64_t inside = shape->size;
        for (uint32_t d = 0; d < dimension_count; inside /= dimensions[d++])
            if (i % inside == 0)
                nt_json_array(writing->json);
        if (has_members)
            status = write_members(writing, shape, value_place(writing, shape, row, i));
        else
            nt_json_element(writing->json, &field->dtype, bytes + i * shape->data.element_bytes);
        if (status == NT_OK)
            status = check_line(writing);
        inside = shape->size;
        for (uint32_t d = 0; d < dimension_count; inside /= dimensions[d++])
            if ((i + 1) % inside == 0)
                nt_json_end_array(writing->json);
    }
    return shape->size ? status : write_nothing(writing, dimensions);
}

static enum nt_status get_item_range(const struct writing *writing, struct shape *shape, uint64_t row,
                                     uint64_t *first_ret, uint64_t *count_ret)
{
    const uint8_t *bytes;
    uint64_t ends[2];
    enum nt_status status = nt_window_get(&shape->offsets, row, 2, &bytes, writing->error);
    if (status != NT_OK)
        return status;
    memcpy(ends, bytes, sizeof(ends));
    if (ends[1] < ends[0])
        return nt_fail_number(writing->error, NT_CORRUPT, NT_NO_OFFSET, "offsets must ascend", ends[0],
                              ends[1]);
    *first_ret = ends[0];
    *count_ret = ends[1] - ends[0];
    return NT_OK;
}

static enum nt_status write_bytes(const struct writing *writing, struct shape *shape, uint64_t row)
{
    uint64_t first = 0, count = 0;
    const uint8_t *bytes = NULL;
    enum nt_status status = get_item_range(writing, shape, row, &first, &count);
    if (status == NT_OK)
        status = nt_window_get(&shape->data, first, count, &bytes, writing->error);
    if (status != NT_OK)
        return status;
    if (shape->kind == SHAPE_TEXT)
        nt_json_bytes(writing->json, bytes, (size_t)count);
    else
        nt_json_base64(writing->json, bytes, (size_t)count);
    return NT_OK;
}

static enum nt_status write_items(const struct writing *writing, struct shape *shape, uint64_t first,
                                  uint64_t count)
{
    enum nt_status status = NT_OK;
    nt_json_array(writing->json);
    for (uint64_t i = 0; i < count && status == NT_OK; i++) {
        status = write_row(writing, &shape->children[0], first + i);
        if (status == NT_OK)
            status = check_line(writing);
    }
    nt_json_end_array(writing->json);
    return status;
}

static enum nt_status write_collection(const struct writing *writing, struct shape *shape, uint64_t row)
{
    uint64_t first = 0, count = 0;
    enum nt_status status = get_item_range(writing, shape, row, &first, &count);
    if (status != NT_OK)
        return status;
    return write_items(writing, shape, first, count);
}

/* Where the value of an optional's row is, if it has one. */
static enum nt_status find_value(const struct writing *writing, struct shape *shape, uint64_t row,
                                 uint64_t *value_row_ret, bool *has_value_ret)
{
    uint64_t count = 0;
    const uint8_t *valid = NULL;
    enum nt_status status;
    *value_row_ret = row;
    if (shape->kind == SHAPE_DENSE_OPTIONAL) {
        status = nt_window_get(&shape->data, row, 1, &valid, writing->error);
        *has_value_ret = status == NT_OK && *valid;
        return status;
    }
    status = get_item_range(writing, shape, row, value_row_ret, &count);
    if (status == NT_OK && count > 1)
        status = nt_fail_number(writing->error, NT_CORRUPT, NT_NO_OFFSET, "values of an optional", 1, count);
    *has_value_ret = status == NT_OK && count == 1;
    return status;
}

static enum nt_status write_optional(const struct writing *writing, struct shape *shape, uint64_t row)
{
    bool has_value;
    enum nt_status status = find_value(writing, shape, row, &row, &has_value);
    if (has_value)
        return write_row(writing, &shape->children[0], row);
    if (status == NT_OK)
        nt_json_null(writing->json);
    return status;
}

static enum nt_status write_variant(const struct writing *writing, struct shape *shape, uint64_t row)
{
    uint32_t tag;
    uint64_t index;
    enum nt_status status = nt_window_get_u32(&shape->data, row, &tag, writing->error);
    if (status == NT_OK)
        status = nt_window_get_u64(&shape->offsets, row, &index, writing->error);
    if (status != NT_OK)
        return status;
    if (tag > shape->child_count)
        return nt_fail_number(writing->error, NT_CORRUPT, NT_NO_OFFSET, "alternatives of a variant",
                              shape->child_count, tag);
    if (tag && shape->children[tag - 1].kind != SHAPE_NOTHING)
        return write_row(writing, &shape->children[tag - 1], index);
    nt_json_null(writing->json);
    return NT_OK;
}

static enum nt_status write_members(const struct writing *writing, struct shape *shape, uint64_t row)
{
    enum nt_status status = NT_OK;
    bool is_object = shape->kind != SHAPE_TUPLE;
    if (is_object)
        nt_json_object(writing->json);
    else
        nt_json_array(writing->json);
    for (uint32_t i = 0; i < shape->child_count && status == NT_OK; i++) {
        struct shape *child = &shape->children[i];
        const struct nt_text *name = &writing->dataset->fields[child->field].name;
        if (is_object && child->kind == SHAPE_NOTHING)
            continue;
        if (is_object)
            nt_json_key_bytes(writing->json, name->bytes, name->length);
        status = write_row(writing, child, row);
    }
    if (is_object)
        nt_json_end_object(writing->json);
    else
        nt_json_end_array(writing->json);
    return status;
}

static enum nt_status write_row(const struct writing *writing, struct shape *shape, uint64_t row)
{
    switch (shape->kind) {
    case SHAPE_VALUE:
        return write_value(writing, shape, row);
    case SHAPE_VALUES:
    case SHAPE_OBJECTS:
        return write_values(writing, shape, row);
    case SHAPE_TEXT:
    case SHAPE_BASE64:
        return write_bytes(writing, shape, row);
    case SHAPE_ARRAY:
        return write_collection(writing, shape, row);
    case SHAPE_OPTIONAL:
    case SHAPE_DENSE_OPTIONAL:
        return write_optional(writing, shape, row);
    case SHAPE_VARIANT:
        return write_variant(writing, shape, row);
    case SHAPE_FIXED:
        return write_items(writing, shape, row * shape->size, shape->size);
    case SHAPE_OBJECT:
    case SHAPE_TUPLE:
        return write_members(writing, shape, row);
    case SHAPE_WRAPPER:
        return write_row(writing, &shape->children[0], row);
    case SHAPE_NOTHING:
        break;
    }
    nt_json_null(writing->json);
    return NT_OK;
}

enum nt_status nt_rows_write(struct nt_rows *rows, uint64_t row, struct nt_json *json, struct nt_error *error)
{
    if (row >= rows->count)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "there are %llu rows, no row %llu",
                       (unsigned long long)rows->count, (unsigned long long)row);
    struct writing writing = {rows->dataset, json, error};
    enum nt_status status = write_row(&writing, &rows->root, row);
    if (status == NT_OK && json->out->failed)
        status = nt_fail_memory(error);
    return status;
}

/* NaN and base64, which JSON has as strings. */
static void unquote(struct nt_buffer *cell)
{
    if (cell->length < 2 || cell->bytes[0] != '"')
        return;
    cell->length -= 2;
    memmove(cell->bytes, cell->bytes + 1, cell->length);
    cell->bytes[cell->length] = '\0';
}

/* A string's bytes as they are; `is_text_ret` false where the value is no string. */
static enum nt_status append_text(const struct writing *writing, struct shape *shape, uint64_t row,
                                  struct nt_buffer *cell, bool *is_text_ret)
{
    const uint8_t *bytes = NULL;
    uint64_t first = row, count = 1;
    enum nt_status status = NT_OK;
    *is_text_ret = shape->kind == SHAPE_TEXT;
    if (*is_text_ret)
        status = get_item_range(writing, shape, row, &first, &count);
    if (status == NT_OK && (*is_text_ret || shape->kind == SHAPE_VALUE))
        status = nt_window_get(&shape->data, first, count, &bytes, writing->error);
    if (status != NT_OK || !bytes)
        return status;
    if (*is_text_ret)
        nt_buffer_append(cell, bytes, (size_t)count);
    else
        *is_text_ret = nt_element_text(&writing->dataset->fields[shape->field].dtype, bytes, cell);
    return NT_OK;
}

enum nt_status nt_rows_write_plain(struct nt_rows *rows, uint64_t row, struct nt_buffer *cell,
                                   struct nt_error *error)
{
    struct shape *shape = &rows->root;
    struct nt_json json;
    struct writing writing = {rows->dataset, &json, error};
    bool has_value = true, is_text = false;
    enum nt_status status = NT_OK;
    nt_buffer_clear(cell);
    nt_json_init(&json, cell, true);
    while (shape->kind == SHAPE_WRAPPER || shape->kind == SHAPE_OPTIONAL ||
           shape->kind == SHAPE_DENSE_OPTIONAL) {
        if (shape->kind != SHAPE_WRAPPER)
            status = find_value(&writing, shape, row, &row, &has_value);
        if (!has_value)
            return status;
        shape = &shape->children[0];
    }
    status = append_text(&writing, shape, row, cell, &is_text);
    if (status != NT_OK || is_text)
        return status;
    status = write_row(&writing, shape, row);
    unquote(cell);
    return status;
}
