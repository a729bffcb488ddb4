/* SPDX-License-Identifier: MIT
 *
 * In: a field. Out: how its rows look as text, as its kind says, with what is needed to write them.
 */
#include "render/row_shape.h"

#include <stdlib.h>

#include "read/stream.h"
#include "read/wanted.h"
#include "render/unread.h"

void nt_row_shape_deinit(struct nt_row_shape *shape)
{
    nt_window_close(&shape->data);
    nt_window_close(&shape->offsets);
    nt_window_close(&shape->valid);
    nt_buffer_deinit(&shape->gathered);
    for (uint32_t i = 0; i < shape->child_count; i++)
        nt_row_shape_deinit(&shape->children[i]);
    free(shape->children);
}

/* Whether a row can be made at all: one of the parts it cannot do without may be unreadable. */
static void settle(struct nt_row_shape *shape)
{
    bool needs_one = shape->form == NT_FORM_LIST || shape->form == NT_FORM_FIXED_LIST ||
                     shape->form == NT_FORM_OPTIONAL || shape->form == NT_FORM_WRAPPER;
    if (needs_one && (shape->child_count != 1 || shape->children[0].form == NT_FORM_NOTHING))
        shape->form = NT_FORM_NOTHING;
}

/* A structure's values are those of its members, which read the same bytes. */
static void set_field(struct nt_row_shape *shape, const struct nt_field *field)
{
    shape->form = nt_field_kind_info(field->kind)->form;
    shape->size = nt_field_rows_below(field);
    if (shape->form != NT_FORM_VALUE)
        return;
    shape->size = nt_field_row_elements(field);
    shape->has_dimensions = field->dimension_count;
    if (nt_field_has_members(field))
        shape->form = NT_FORM_RECORD;
}

/* Numbers that lead to rows below in one window, whether a nullable field's row is valid in another, all else in
 * the third. NULL: rows are made without. */
static struct nt_window *window_of(struct nt_row_shape *shape, const struct nt_field *field,
                                   enum nt_stream_kind kind)
{
    if (kind == NT_STREAM_VALID && field->is_nullable)
        return &shape->valid;
    if (shape->form == NT_FORM_RECORD)
        return NULL;
    return kind == NT_STREAM_OFFSETS || kind == NT_STREAM_INDEX ? &shape->offsets : &shape->data;
}

static enum nt_status open_windows(struct nt_row_shape *shape, struct nt_reader *reader,
                                   struct nt_dataset *dataset, struct nt_error *error)
{
    const struct nt_field *field = &dataset->fields[shape->field];
    enum nt_status status = NT_OK;
    for (unsigned i = 0; i < NT_STREAM_COUNT && status == NT_OK; i++) {
        enum nt_stream_kind kind = (enum nt_stream_kind)i;
        struct nt_window *window = window_of(shape, field, kind);
        if (window && nt_field_has_stream(field, kind))
            status = nt_window_open(window, reader, dataset, shape->field, kind, error);
    }
    return status;
}

static enum nt_status init_children(struct nt_row_shape *shape, struct nt_reader *reader,
                                    struct nt_dataset *dataset, const uint32_t *children,
                                    struct nt_error *error)
{
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; i < shape->child_count && status == NT_OK; i++)
        if (!shape->children[i].is_unread)
            status = nt_row_shape_init(&shape->children[i], reader, dataset, children[i], error);
    return status;
}

/* Fields whose pages this version does not read, as their page lists tell, are left out, as those are of which that is known
 * beforehand. Where rows have fields, and would have none, they fail with what the page lists tell. */
static enum nt_status find_unread(struct nt_row_shape *shape, struct nt_dataset *dataset,
                                  const uint32_t *children, struct nt_error *error)
{
    uint32_t unread = 0, left = 0;
    for (uint32_t i = 0; i < shape->child_count; i++) {
        const struct nt_error *reason;
        enum nt_status status = nt_unread_find(dataset, children[i], &reason, error);
        if (status != NT_OK)
            return status;
        unread += reason != NULL;
        left += !reason && nt_field_kind_info(dataset->fields[children[i]].kind)->form != NT_FORM_NOTHING;
        shape->children[i].field = children[i];
        shape->children[i].is_unread = reason != NULL;
        shape->children[i].form = NT_FORM_NOTHING;
    }
    bool is_all = shape->field == NT_NONE && unread && !left && dataset->part_count > 1;
    for (uint32_t i = 0; is_all && i < shape->child_count; i++)
        shape->children[i].is_unread = false;
    return NT_OK;
}

enum nt_status nt_row_shape_init(struct nt_row_shape *shape, struct nt_reader *reader,
                                 struct nt_dataset *dataset, uint32_t field, struct nt_error *error)
{
    uint32_t count = 0;
    const uint32_t *children = nt_dataset_children(dataset, field, &count);
    enum nt_status status = NT_OK;
    shape->field = field;
    shape->form = NT_FORM_RECORD;
    if (field != NT_NONE)
        set_field(shape, &dataset->fields[field]);
    if (field != NT_NONE)
        status = open_windows(shape, reader, dataset, error);
    if (status != NT_OK || shape->form == NT_FORM_NOTHING)
        return status;
    shape->children = calloc(count ? count : 1, sizeof(*shape->children));
    if (!shape->children)
        return nt_fail_memory(error);
    shape->child_count = count;
    status = find_unread(shape, dataset, children, error);
    if (status == NT_OK)
        status = init_children(shape, reader, dataset, children, error);
    if (status == NT_OK)
        settle(shape);
    return status;
}

/* ---- before anything is read ---- */

static void want_start(const struct nt_row_shape *shape, struct nt_hints *hints)
{
    const struct nt_window *windows[] = {&shape->offsets, &shape->data, &shape->valid};
    for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++)
        if (windows[i]->stream)
            nt_stream_want(windows[i]->stream, hints, 0, windows[i]->wanted, UINT64_MAX);
    for (uint32_t i = 0; i < shape->child_count; i++)
        want_start(&shape->children[i], hints);
}

void nt_row_shape_want_start(const struct nt_row_shape *shape, const struct nt_dataset *dataset)
{
    struct nt_hints hints = {.count = 0};
    if (nt_wants_hints(dataset))
        want_start(shape, &hints);
    nt_hints_tell(&hints);
}

/* ---- memory ---- */

static uint32_t count_windows(const struct nt_row_shape *shape)
{
    uint32_t count =
        (shape->data.stream != NULL) + (shape->offsets.stream != NULL) + (shape->valid.stream != NULL);
    for (uint32_t i = 0; i < shape->child_count; i++)
        count += count_windows(&shape->children[i]);
    return count;
}

static void bound_windows(struct nt_row_shape *shape, size_t bytes)
{
    if (bytes < shape->data.most_bytes)
        shape->data.most_bytes = bytes;
    if (bytes < shape->offsets.most_bytes)
        shape->offsets.most_bytes = bytes;
    if (bytes < shape->valid.most_bytes)
        shape->valid.most_bytes = bytes;
    for (uint32_t i = 0; i < shape->child_count; i++)
        bound_windows(&shape->children[i], bytes);
}

void nt_row_shape_bound(struct nt_row_shape *shape, uint64_t bytes)
{
    enum { LEAST_BYTES = 512 };
    uint32_t count = count_windows(shape);
    uint64_t share = count ? bytes / count : bytes;
    bound_windows(shape, share > LEAST_BYTES ? share : LEAST_BYTES);
}

size_t nt_row_shape_memory(const struct nt_row_shape *shape)
{
    size_t bytes = sizeof(*shape) + nt_window_memory(&shape->data) + nt_window_memory(&shape->offsets) +
                   nt_window_memory(&shape->valid) + shape->gathered.capacity;
    for (uint32_t i = 0; i < shape->child_count; i++)
        bytes += nt_row_shape_memory(&shape->children[i]);
    return bytes;
}
