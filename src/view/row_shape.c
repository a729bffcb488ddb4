/* SPDX-License-Identifier: MIT
 *
 * In: a field. Out: how its rows look as text, which is more than how they are stored: an optional is a value
 * or null, a pair an array.
 */
#include "view/row_shape.h"

#include <stdlib.h>
#include <string.h>

static bool begins_with(struct nt_text text, const char *prefix)
{
    return text.length > strlen(prefix) && !memcmp(text.bytes, prefix, strlen(prefix));
}

static enum nt_shape_kind shape_of_container(const struct nt_field *field)
{
    if (field->repetition)
        return NT_SHAPE_FIXED;
    if (field->role == NT_ROLE_PLAIN && field->child_count == 1)
        return NT_SHAPE_WRAPPER;
    return begins_with(field->type, "std::pair<") || begins_with(field->type, "std::tuple<")
               ? NT_SHAPE_TUPLE
               : NT_SHAPE_OBJECT;
}

static enum nt_shape_kind shape_of(const struct nt_field *field)
{
    switch (field->kind) {
    case NT_FIELD_VALUE:
        if (field->dtype.element == NT_ELEMENT_OPAQUE && field->child_count)
            return field->dimension_count ? NT_SHAPE_OBJECTS : NT_SHAPE_OBJECT;
        return field->repetition || field->dimension_count ? NT_SHAPE_VALUES : NT_SHAPE_VALUE;
    case NT_FIELD_CARDINALITY:
    case NT_FIELD_MEMBER:
        return NT_SHAPE_VALUE;
    case NT_FIELD_BYTES:
        return field->role == NT_ROLE_STREAMED ? NT_SHAPE_BASE64 : NT_SHAPE_TEXT;
    case NT_FIELD_PAGE_BYTES:
        return NT_SHAPE_BASE64;
    case NT_FIELD_COLLECTION:
        return nt_is_optional(field) ? NT_SHAPE_OPTIONAL : NT_SHAPE_ARRAY;
    case NT_FIELD_DENSE_OPTIONAL:
        return NT_SHAPE_DENSE_OPTIONAL;
    case NT_FIELD_VARIANT:
        return NT_SHAPE_VARIANT;
    case NT_FIELD_CONTAINER:
        return shape_of_container(field);
    case NT_FIELD_UNREADABLE:
    case NT_FIELD_KIND_COUNT:
        break;
    }
    return NT_SHAPE_NOTHING;
}

static const struct window_kinds {
    int data, offsets; /* enum nt_stream_kind, -1: none */
} windows_of[] = {
    [NT_SHAPE_NOTHING] = {-1, -1},
    [NT_SHAPE_VALUE] = {NT_STREAM_DATA, -1},
    [NT_SHAPE_VALUES] = {NT_STREAM_DATA, -1},
    [NT_SHAPE_TEXT] = {NT_STREAM_DATA, NT_STREAM_OFFSETS},
    [NT_SHAPE_BASE64] = {NT_STREAM_DATA, NT_STREAM_OFFSETS},
    [NT_SHAPE_ARRAY] = {-1, NT_STREAM_OFFSETS},
    [NT_SHAPE_OPTIONAL] = {-1, NT_STREAM_OFFSETS},
    [NT_SHAPE_DENSE_OPTIONAL] = {NT_STREAM_VALID, -1},
    [NT_SHAPE_VARIANT] = {NT_STREAM_TAGS, NT_STREAM_INDEX},
    [NT_SHAPE_FIXED] = {-1, -1},
    [NT_SHAPE_OBJECT] = {-1, -1},
    [NT_SHAPE_OBJECTS] = {-1, -1},
    [NT_SHAPE_TUPLE] = {-1, -1},
    [NT_SHAPE_WRAPPER] = {-1, -1},
};

void nt_row_shape_deinit(struct nt_row_shape *shape)
{
    nt_window_close(&shape->data);
    nt_window_close(&shape->offsets);
    nt_buffer_deinit(&shape->gathered);
    for (uint32_t i = 0; i < shape->child_count; i++)
        nt_row_shape_deinit(&shape->children[i]);
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
static void settle(struct nt_row_shape *shape)
{
    bool needs_all = shape->kind == NT_SHAPE_ARRAY || shape->kind == NT_SHAPE_OPTIONAL ||
                     shape->kind == NT_SHAPE_FIXED || shape->kind == NT_SHAPE_DENSE_OPTIONAL ||
                     shape->kind == NT_SHAPE_WRAPPER;
    if (needs_all && (shape->child_count != 1 || shape->children[0].kind == NT_SHAPE_NOTHING))
        shape->kind = NT_SHAPE_NOTHING;
}

static enum nt_status open_windows(struct nt_row_shape *shape, struct nt_reader *reader,
                                   struct nt_dataset *dataset, struct nt_error *error)
{
    const struct window_kinds *kinds = &windows_of[shape->kind];
    enum nt_status status = NT_OK;
    if (kinds->data >= 0)
        status = nt_window_open(&shape->data, reader, dataset, shape->field, (enum nt_stream_kind)kinds->data,
                                error);
    if (status == NT_OK && kinds->offsets >= 0)
        status = nt_window_open(&shape->offsets, reader, dataset, shape->field,
                                (enum nt_stream_kind)kinds->offsets, error);
    return status;
}

enum nt_status nt_row_shape_init(struct nt_row_shape *shape, struct nt_reader *reader,
                                 struct nt_dataset *dataset, uint32_t field, struct nt_error *error)
{
    uint32_t count = 0;
    const uint32_t *children = nt_dataset_children(dataset, field, &count);
    shape->kind = field == NT_NONE ? NT_SHAPE_OBJECT : shape_of(&dataset->fields[field]);
    shape->field = field;
    shape->size = field == NT_NONE ? 1 : row_size(&dataset->fields[field]);
    enum nt_status status = open_windows(shape, reader, dataset, error);
    if (status != NT_OK || shape->kind == NT_SHAPE_NOTHING)
        return status;
    shape->children = calloc(count ? count : 1, sizeof(*shape->children));
    if (!shape->children)
        return nt_fail_memory(error);
    shape->child_count = count;
    for (uint32_t i = 0; i < count && status == NT_OK; i++)
        status = nt_row_shape_init(&shape->children[i], reader, dataset, children[i], error);
    if (status == NT_OK)
        settle(shape);
    return status;
}
