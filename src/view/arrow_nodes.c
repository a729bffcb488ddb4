/* SPDX-License-Identifier: MIT
 *
 * From fields to Arrow's arrays. Fields come in, nodes in pre-order come out, with the streams that fill
 * their buffers; a field that Arrow cannot express is left out with the reason, and so is whatever cannot
 * stand without it (Arrow columnar format, "Physical Memory Layout").
 */
#include <stdlib.h>
#include <string.h>

#include "view/arrow_internal.h"

struct build {
    struct nt_arrow *arrow;
    struct nt_error *error;
    enum nt_status status; /* a failure that ends the building; leaving a field out is not one */
    /* A stack: those of the node being built, from its row space's begin, are the last step_count -
     * step_base. */
    struct nt_arrow_step steps[2 * NT_MAX_DEPTH + 8];
    uint32_t step_base, step_count;
    uint32_t own_steps;
    bool begins_row_space;
};

static bool grow(void **items, uint32_t *capacity, uint32_t count, size_t size)
{
    if (count < *capacity)
        return true;
    uint32_t larger = *capacity ? *capacity * 2 : 64;
    void *memory = realloc(*items, larger * size);
    if (!memory)
        return false;
    *items = memory;
    *capacity = larger;
    return true;
}

static void stop(struct build *build, enum nt_status status)
{
    if (build->status == NT_OK)
        build->status = status;
}

static bool leave_out(struct build *build, uint32_t field, const char *reason)
{
    struct nt_arrow *arrow = build->arrow;
    if (!grow((void **)&arrow->left_out, &arrow->left_out_capacity, arrow->left_out_count,
              sizeof(*arrow->left_out)))
        stop(build, nt_fail_memory(build->error));
    else
        arrow->left_out[arrow->left_out_count++] = (struct nt_arrow_left_out){field, reason};
    return false;
}

static struct nt_stream *open_stream(struct build *build, uint32_t field, enum nt_stream_kind kind)
{
    struct nt_stream *stream = NULL;
    if (build->status == NT_OK)
        stop(build,
             nt_stream_open(build->arrow->reader, build->arrow->dataset, field, kind, &stream, build->error));
    return stream;
}

/* Append a node; the steps that lead to it are copied. NT_NONE without memory. */
static uint32_t add_node(struct build *build, uint32_t parent, uint32_t field, struct nt_text name,
                         enum nt_arrow_kind kind)
{
    struct nt_arrow *arrow = build->arrow;
    for (uint32_t i = build->step_base; i < build->step_count; i++) {
        if (!grow((void **)&arrow->steps, &arrow->step_capacity, arrow->step_count, sizeof(*arrow->steps)))
            goto out_of_memory;
        arrow->steps[arrow->step_count++] = build->steps[i];
    }
    if (!grow((void **)&arrow->nodes, &arrow->node_capacity, arrow->node_count, sizeof(*arrow->nodes)))
        goto out_of_memory;
    arrow->nodes[arrow->node_count] = (struct nt_arrow_node){
        .kind = kind,
        .name = name,
        .field = field,
        .typed_by = NT_NONE,
        .parent = parent,
        .first_step = arrow->step_count - (build->step_count - build->step_base),
        .step_count = build->step_count - build->step_base,
        .own_steps = build->own_steps,
        .begins_row_space = build->begins_row_space,
    };
    build->begins_row_space = false;
    build->own_steps = 0;
    if (parent != NT_NONE)
        arrow->nodes[parent].child_count++;
    return arrow->node_count++;
out_of_memory:
    stop(build, nt_fail_memory(build->error));
    return NT_NONE;
}

static bool push_step(struct build *build, struct nt_arrow_step step)
{
    if (build->step_count == sizeof(build->steps) / sizeof(*build->steps))
        return false;
    build->steps[build->step_count++] = step;
    return true;
}

static bool add_field(struct build *build, uint32_t parent, uint32_t field, struct nt_text name);

/* A child in rows of its own: the steps begin anew. */
static bool add_in_new_row_space(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    uint32_t base = build->step_base;
    build->step_base = build->step_count;
    build->own_steps = 0;
    build->begins_row_space = true;
    bool added = add_field(build, parent, field, name);
    build->step_base = base;
    return added;
}

static uint32_t only_child(const struct nt_dataset *dataset, uint32_t field)
{
    uint32_t count;
    const uint32_t *children = nt_dataset_children(dataset, field, &count);
    return count == 1 ? children[0] : NT_NONE;
}

/* `sizes` fixed-size lists around a value of the field itself (bitsets, fixed dimensions). */
static bool add_values(struct build *build, uint32_t parent, uint32_t field, struct nt_text name,
                       const uint64_t *sizes, uint32_t size_count)
{
    const struct nt_field *f = &build->arrow->dataset->fields[field];
    uint32_t step_count = build->step_count;
    bool added = false;
    for (uint32_t i = 0; i < size_count; i++) {
        parent = add_node(build, parent, field, name, NT_ARROW_FIXED_LIST);
        if (parent == NT_NONE || !push_step(build, (struct nt_arrow_step){.size = sizes[i]}))
            goto out;
        build->arrow->nodes[parent].list_size = sizes[i];
        name = (struct nt_text){"item", 4};
    }
    enum nt_arrow_kind kind = f->dtype.element == NT_ELEMENT_BOOL ? NT_ARROW_BOOL : NT_ARROW_PRIMITIVE;
    uint32_t node = add_node(build, parent, field, name, kind);
    struct nt_stream *data = open_stream(build, field, NT_STREAM_DATA);
    if (node != NT_NONE) {
        build->arrow->nodes[node].data = data;
        build->arrow->nodes[node].element = f->dtype.element;
    }
    added = node != NT_NONE;
out:
    build->step_count = step_count;
    return added;
}

static bool add_struct(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    const struct nt_dataset *dataset = build->arrow->dataset;
    uint32_t node = add_node(build, parent, field, name, NT_ARROW_STRUCT), count;
    const uint32_t *children = nt_dataset_children(dataset, field, &count);
    if (node == NT_NONE)
        return false;
    for (uint32_t i = 0; i < count && build->status == NT_OK; i++)
        add_field(build, node, children[i], dataset->fields[children[i]].name);
    return true;
}

static bool add_value(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    const struct nt_field *f = &build->arrow->dataset->fields[field];
    if (f->dtype.element == NT_ELEMENT_OPAQUE && f->child_count && !f->dimension_count && !f->repetition)
        return add_struct(build, parent, field, name);
    if (f->dtype.element >= NT_ELEMENT_SWITCH)
        return leave_out(build, field, "its dtype has no Arrow type");
    if (f->is_fortran_order && f->dimension_count)
        return leave_out(build, field, "an array in Fortran order");
    if (f->repetition > INT32_MAX)
        return leave_out(build, field, "longer than a fixed-size list may be");
    for (uint32_t i = 0; i < f->dimension_count; i++)
        if (f->dimensions[i] == 0 || f->dimensions[i] > INT32_MAX)
            return leave_out(build, field, "a dimension that a fixed-size list cannot have");
    if (f->dimension_count)
        return add_values(build, parent, field, name, f->dimensions, f->dimension_count);
    return add_values(build, parent, field, name, &f->repetition, f->repetition ? 1 : 0);
}

static bool add_bytes(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    const struct nt_field *f = &build->arrow->dataset->fields[field];
    uint32_t node = add_node(build, parent, field, name, NT_ARROW_BYTES);
    struct nt_stream *offsets = open_stream(build, field, NT_STREAM_OFFSETS);
    struct nt_stream *data = open_stream(build, field, NT_STREAM_DATA);
    if (node == NT_NONE)
        return false;
    struct nt_arrow_node *n = &build->arrow->nodes[node];
    n->offsets = offsets;
    n->data = data;
    n->is_binary = build->arrow->options.strings_as_binary || f->kind == NT_FIELD_PAGE_BYTES ||
                   f->role == NT_ROLE_STREAMED;
    return true;
}

static bool add_list(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    uint32_t child = only_child(build->arrow->dataset, field);
    if (child == NT_NONE)
        return leave_out(build, field, "a collection without one item field");
    uint32_t node = add_node(build, parent, field, name, NT_ARROW_LIST);
    struct nt_stream *offsets = open_stream(build, field, NT_STREAM_OFFSETS);
    if (node == NT_NONE)
        return false;
    build->arrow->nodes[node].offsets = offsets;
    return add_in_new_row_space(build, node, child, (struct nt_text){"item", 4});
}

/* Several nodes below an optional share its stream: it belongs to the nt_arrow. */
static struct nt_stream *open_step_stream(struct build *build, uint32_t field, enum nt_stream_kind kind)
{
    struct nt_arrow *arrow = build->arrow;
    if (!grow((void **)&arrow->step_streams, &arrow->step_stream_capacity, arrow->step_stream_count,
              sizeof(struct nt_stream *))) {
        stop(build, nt_fail_memory(build->error));
        return NULL;
    }
    struct nt_stream *stream = open_stream(build, field, kind);
    arrow->step_streams[arrow->step_stream_count++] = stream;
    return stream;
}

void nt_arrow_close_steps(struct nt_arrow *arrow)
{
    for (uint32_t i = 0; i < arrow->step_stream_count; i++)
        nt_stream_close(arrow->step_streams[i]);
    free(arrow->step_streams);
}

/* An optional is its item, nullable. */
static bool add_optional(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    const struct nt_field *f = &build->arrow->dataset->fields[field];
    bool is_dense = f->kind == NT_FIELD_DENSE_OPTIONAL;
    uint32_t child = only_child(build->arrow->dataset, field);
    if (child == NT_NONE)
        return leave_out(build, field, "an optional without one item field");
    struct nt_stream *stream = open_step_stream(build, field, is_dense ? NT_STREAM_VALID : NT_STREAM_OFFSETS);
    if (build->status != NT_OK ||
        !push_step(build, (struct nt_arrow_step){.stream = stream, .field = field, .is_dense = is_dense}))
        return leave_out(build, field, "nested too deep");
    build->own_steps++;
    bool added = add_field(build, parent, child, name);
    build->step_count--;
    return added;
}

static bool add_array(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    const struct nt_field *f = &build->arrow->dataset->fields[field];
    uint32_t child = only_child(build->arrow->dataset, field);
    if (child == NT_NONE || f->repetition > INT32_MAX)
        return leave_out(build, field, "an array that is no fixed-size list");
    uint32_t node = add_node(build, parent, field, name, NT_ARROW_FIXED_LIST);
    if (node == NT_NONE)
        return false;
    build->arrow->nodes[node].list_size = f->repetition;
    if (!push_step(build, (struct nt_arrow_step){.size = f->repetition}))
        return leave_out(build, field, "nested too deep");
    bool added = add_field(build, node, child, (struct nt_text){"item", 4});
    build->step_count--;
    return added;
}

/* Type id 0 is "no value", a null child; the alternatives follow in their order. */
static bool add_union(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    const struct nt_dataset *dataset = build->arrow->dataset;
    uint32_t count;
    const uint32_t *children = nt_dataset_children(dataset, field, &count);
    if (count > INT8_MAX)
        return leave_out(build, field, "more alternatives than a union may have");
    build->own_steps = 0; /* a union has no nulls: they are its null child */
    uint32_t node = add_node(build, parent, field, name, NT_ARROW_UNION);
    struct nt_stream *tags = open_stream(build, field, NT_STREAM_TAGS);
    struct nt_stream *index = open_stream(build, field, NT_STREAM_INDEX);
    if (node == NT_NONE ||
        add_node(build, node, NT_NONE, (struct nt_text){"null", 4}, NT_ARROW_NULL) == NT_NONE)
        return false;
    build->arrow->nodes[node].data = tags;
    build->arrow->nodes[node].offsets = index;
    for (uint32_t i = 0; i < count; i++)
        if (!add_in_new_row_space(build, node, children[i], dataset->fields[children[i]].name))
            return false;
    return true;
}

static bool add_kind(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    const struct nt_field *f = &build->arrow->dataset->fields[field];
    switch (f->kind) {
    case NT_FIELD_VALUE:
    case NT_FIELD_CARDINALITY:
    case NT_FIELD_MEMBER:
        return add_value(build, parent, field, name);
    case NT_FIELD_BYTES:
    case NT_FIELD_PAGE_BYTES:
        return add_bytes(build, parent, field, name);
    case NT_FIELD_DENSE_OPTIONAL:
        return add_optional(build, parent, field, name);
    case NT_FIELD_COLLECTION:
        return nt_is_optional(f) ? add_optional(build, parent, field, name)
                                 : add_list(build, parent, field, name);
    case NT_FIELD_VARIANT:
        return add_union(build, parent, field, name);
    case NT_FIELD_CONTAINER:
        if (f->repetition)
            return add_array(build, parent, field, name);
        if (f->role == NT_ROLE_PLAIN && only_child(build->arrow->dataset, field) != NT_NONE)
            return add_field(build, parent, only_child(build->arrow->dataset, field), name);
        return add_struct(build, parent, field, name);
    case NT_FIELD_UNREADABLE:
    case NT_FIELD_KIND_COUNT:
        break;
    }
    return leave_out(build, field, f->unreadable ? f->unreadable : "not readable");
}

/* Add a field and what is below it; on false nothing was added. */
static bool add_field(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    struct nt_arrow *arrow = build->arrow;
    uint32_t first = arrow->node_count, steps = arrow->step_count;
    bool begins_row_space = build->begins_row_space;
    uint32_t own_steps = build->own_steps;
    bool added = add_kind(build, parent, field, name) && build->status == NT_OK;
    if (!added) {
        if (arrow->node_count > first)
            arrow->nodes[parent].child_count--;
        for (uint32_t i = first; i < arrow->node_count; i++) {
            nt_stream_close(arrow->nodes[i].data);
            nt_stream_close(arrow->nodes[i].offsets);
        }
        arrow->node_count = first;
        arrow->step_count = steps;
        build->begins_row_space = begins_row_space;
        build->own_steps = own_steps;
        return false;
    }
    arrow->nodes[first].typed_by = field; /* the outermost of wrappers and optionals comes last */
    return true;
}

static const enum nt_arrow_buffer_kind buffers_of[NT_ARROW_KIND_COUNT][3] = {
    [NT_ARROW_PRIMITIVE] = {NT_ARROW_VALIDITY, NT_ARROW_DATA},
    [NT_ARROW_BOOL] = {NT_ARROW_VALIDITY, NT_ARROW_DATA},
    [NT_ARROW_BYTES] = {NT_ARROW_VALIDITY, NT_ARROW_OFFSETS, NT_ARROW_DATA},
    [NT_ARROW_LIST] = {NT_ARROW_VALIDITY, NT_ARROW_OFFSETS},
    [NT_ARROW_STRUCT] = {NT_ARROW_VALIDITY},
    [NT_ARROW_FIXED_LIST] = {NT_ARROW_VALIDITY},
    [NT_ARROW_UNION] = {NT_ARROW_TYPES, NT_ARROW_UNION_OFFSETS},
};
static const uint32_t buffer_counts[NT_ARROW_KIND_COUNT] = {
    [NT_ARROW_NULL] = 0, [NT_ARROW_PRIMITIVE] = 2, [NT_ARROW_BOOL] = 2,       [NT_ARROW_BYTES] = 3,
    [NT_ARROW_LIST] = 2, [NT_ARROW_STRUCT] = 1,    [NT_ARROW_FIXED_LIST] = 1, [NT_ARROW_UNION] = 2,
};

/* The table itself is no array of the file: its buffers are left away. */
static enum nt_status number_buffers(struct nt_arrow *arrow, struct nt_error *error)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < arrow->node_count; i++)
        count += buffer_counts[arrow->nodes[i].kind];
    arrow->buffers = calloc(count ? count : 1, sizeof(*arrow->buffers));
    if (!arrow->buffers)
        return nt_fail_memory(error);
    for (uint32_t i = 1; i < arrow->node_count; i++) {
        struct nt_arrow_node *node = &arrow->nodes[i];
        node->first_buffer = arrow->buffer_count;
        node->buffer_count = buffer_counts[node->kind];
        for (uint32_t b = 0; b < node->buffer_count; b++)
            arrow->buffers[arrow->buffer_count++] = (struct nt_arrow_buffer){i, buffers_of[node->kind][b]};
    }
    return NT_OK;
}

/* Pre-order and parents give each node's end: a node ends where its last descendant does. */
static void set_ends(struct nt_arrow *arrow)
{
    for (uint32_t i = arrow->node_count; i-- > 0;) {
        struct nt_arrow_node *node = &arrow->nodes[i];
        if (node->end == 0)
            node->end = i + 1;
        if (node->parent != NT_NONE && arrow->nodes[node->parent].end < node->end)
            arrow->nodes[node->parent].end = node->end;
    }
}

enum nt_status nt_arrow_build_nodes(struct nt_arrow *arrow, struct nt_error *error)
{
    struct build *build = calloc(1, sizeof(*build));
    if (!build)
        return nt_fail_memory(error);
    build->arrow = arrow;
    build->error = error;
    uint32_t root = add_node(build, NT_NONE, NT_NONE, (struct nt_text){"", 0}, NT_ARROW_STRUCT), count;
    const uint32_t *top = nt_dataset_children(arrow->dataset, NT_NONE, &count);
    for (uint32_t i = 0; i < count && build->status == NT_OK; i++)
        add_in_new_row_space(build, root, top[i], arrow->dataset->fields[top[i]].name);
    enum nt_status status = build->status;
    free(build);
    if (status != NT_OK)
        return status;
    set_ends(arrow);
    return number_buffers(arrow, error);
}
