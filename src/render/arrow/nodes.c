/* SPDX-License-Identifier: MIT
 *
 * Maps fields to Arrow arrays and their buffers: selects the requested fields, creates nodes in
 * pre-order, omits fields that Arrow cannot express (Arrow columnar format, "Physical Memory Layout",
 * "Buffer Listing for Each Layout").
 */
#include "render/arrow/arrow.h"

#include "render/render.h"

/* ---- Requested fields ---- */

static void choose_below(struct nt_arrow *arrow, uint32_t field)
{
    uint32_t count;
    const uint32_t *children = nt_dataset_children(arrow->dataset, field, &count);
    for (uint32_t i = 0; i < count; i++) {
        arrow->is_selected[children[i]] = true;
        choose_below(arrow, children[i]);
    }
}

/* A union needs all alternatives, which number its types. Returns the outermost union, or the field. */
static uint32_t unit_of(const struct nt_arrow *arrow, uint32_t field)
{
    uint32_t unit = field;
    for (uint32_t at = field; at != NT_NONE; at = arrow->dataset->fields[at].parent)
        if (arrow->dataset->fields[at].kind == NT_FIELD_VARIANT &&
            arrow->options.unions == NT_ARROW_UNIONS_UNION)
            unit = at;
    return unit;
}

enum nt_status nt_arrow_select_fields(struct nt_arrow *arrow, struct nt_error *error)
{
    const struct nt_arrow_options *options = &arrow->options;
    uint32_t count;
    const uint32_t *all = nt_dataset_children(arrow->dataset, NT_NONE, &count);
    nt_fields_announce(arrow->dataset, options->fields ? options->fields : all,
                       options->fields ? options->field_count : count);
    if (!options->fields) {
        nt_rows_count_together(arrow->reader, arrow->dataset, all, count);
        return NT_OK;
    }
    arrow->is_selected = calloc((size_t)arrow->dataset->field_count + 1, sizeof(bool));
    NT_TRY(nt_check_memory(arrow->is_selected, error));
    for (size_t i = 0; i < options->field_count; i++) {
        if (options->fields[i] >= arrow->dataset->field_count)
            return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "field %u does not exist: there are %u fields",
                           options->fields[i], arrow->dataset->field_count);
        uint32_t unit = unit_of(arrow, options->fields[i]);
        for (uint32_t at = unit; at != NT_NONE; at = arrow->dataset->fields[at].parent)
            arrow->is_selected[at] = true;
        choose_below(arrow, unit);
    }
    nt_rows_count_together(arrow->reader, arrow->dataset, options->fields, options->field_count);
    arrow->options.fields = NULL; /* the caller may free them */
    return NT_OK;
}

/* ---- Excluded fields ---- */

/* Records an omitted field with the reason, and with the failure if there is one. */
static enum nt_status omit_field(struct nt_arrow *arrow, uint32_t field, const char *reason,
                                 const struct nt_error *failure, struct nt_error *error)
{
    NT_TRY(nt_check_memory(NT_GROW(arrow->omitted, arrow->omitted_count, arrow->omitted_capacity), error));
    arrow->omitted[arrow->omitted_count++] = (struct nt_arrow_omitted_fields){field, reason, failure};
    return NT_OK;
}

uint32_t nt_arrow_omitted_fields(const struct nt_arrow *arrow)
{
    return arrow->omitted_count;
}

uint32_t nt_arrow_omitted_field(const struct nt_arrow *arrow, uint32_t number, const char **reason_ret)
{
    *reason_ret = arrow->omitted[number].reason;
    return arrow->omitted[number].field;
}

enum nt_status nt_arrow_check(const struct nt_arrow *arrow, struct nt_error *error)
{
    uint64_t first;
    for (uint32_t i = 0; i < arrow->omitted_count; i++)
        if (arrow->omitted[i].failure)
            return nt_fail_copy(error, arrow->omitted[i].failure);
    if (arrow->omitted_cluster_count == 0)
        return NT_OK;
    uint64_t entries = nt_arrow_omitted_cluster(arrow, 0, &first);
    return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%s %" PRIu64 " is too large for Arrow",
                   entries == 1 ? "entry" : "the cluster of entry", first);
}

/* ---- Buffers of nodes ---- */

static const struct {
    uint32_t count;
    enum nt_arrow_buffer_kind kinds[3];
} buffers_of[NT_ARROW_KIND_COUNT] = {
    [NT_ARROW_NULL] = {0},
    [NT_ARROW_PRIMITIVE] = {2, {NT_ARROW_VALIDITY, NT_ARROW_DATA}},
    [NT_ARROW_EMPTY] = {2, {NT_ARROW_VALIDITY, NT_ARROW_DATA}},
    [NT_ARROW_BOOL] = {2, {NT_ARROW_VALIDITY, NT_ARROW_DATA}},
    [NT_ARROW_BYTES] = {3, {NT_ARROW_VALIDITY, NT_ARROW_OFFSETS, NT_ARROW_DATA}},
    [NT_ARROW_LIST] = {2, {NT_ARROW_VALIDITY, NT_ARROW_OFFSETS}},
    [NT_ARROW_MAP] = {2, {NT_ARROW_VALIDITY, NT_ARROW_OFFSETS}},
    [NT_ARROW_STRUCT] = {1, {NT_ARROW_VALIDITY}},
    [NT_ARROW_FIXED_LIST] = {1, {NT_ARROW_VALIDITY}},
    [NT_ARROW_UNION] = {2, {NT_ARROW_TYPES, NT_ARROW_UNION_OFFSETS}},
};

/* Assigns the buffers of all nodes. The table itself has none, as it is not an array of the file. */
static enum nt_status arrow_number_buffers(struct nt_arrow *arrow, struct nt_error *error)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < arrow->node_count; i++)
        count += buffers_of[arrow->nodes[i].kind].count;
    arrow->buffers = calloc(count ? count : 1, sizeof(*arrow->buffers));
    NT_TRY(nt_check_memory(arrow->buffers, error));
    for (uint32_t i = 1; i < arrow->node_count; i++) {
        struct nt_arrow_node *node = &arrow->nodes[i];
        node->first_buffer = arrow->buffer_count;
        node->buffer_count = buffers_of[node->kind].count;
        for (uint32_t b = 0; b < node->buffer_count; b++)
            arrow->buffers[arrow->buffer_count++] =
                (struct nt_arrow_buffer){i, buffers_of[node->kind].kinds[b]};
    }
    return NT_OK;
}

/* ---- Nodes from fields ---- */

struct build {
    struct nt_arrow *arrow;
    struct nt_error *error;
    enum nt_status status; /* a failure that ends the build; omitting a field is no failure */
    /* A stack, which add_field leaves as it was. The last step_count - step_base steps lead from the row
     * space to the current node. */
    struct nt_arrow_step steps[2 * NT_MAX_DEPTH + 8];
    uint32_t step_base, step_count;
    uint32_t own_steps;
    bool starts_row_space;
};

static void stop(struct build *build, enum nt_status status)
{
    if (build->status == NT_OK)
        build->status = status;
}

static bool omit(struct build *build, uint32_t field, const char *reason)
{
    stop(build, omit_field(build->arrow, field, reason, NULL, build->error));
    return false;
}

/* Returns the index of a new stream, which stays closed; NT_NONE: out of memory. */
static uint32_t add_stream(struct build *build, uint32_t field, enum nt_stream_kind kind)
{
    struct nt_arrow *arrow = build->arrow;
    struct nt_dtype dtype;
    if (!NT_GROW(arrow->streams, arrow->stream_count, arrow->stream_capacity)) {
        stop(build, nt_fail_memory(build->error));
        return NT_NONE;
    }
    nt_field_stream_dtype(arrow->dataset, field, kind, &dtype);
    arrow->streams[arrow->stream_count] =
        (struct nt_arrow_stream){.field = field, .kind = kind, .element_bytes = dtype.bytes};
    return arrow->stream_count++;
}

static bool copy_steps(struct build *build)
{
    struct nt_arrow *arrow = build->arrow;
    for (uint32_t i = build->step_base; i < build->step_count; i++) {
        if (!NT_GROW(arrow->steps, arrow->step_count, arrow->step_capacity))
            return false;
        arrow->steps[arrow->step_count++] = build->steps[i];
    }
    return true;
}

/* Appends a node with a copy of the current steps; NT_NONE: out of memory. */
static uint32_t add_node(struct build *build, uint32_t parent, uint32_t field, struct nt_text name,
                         enum nt_arrow_kind kind)
{
    struct nt_arrow *arrow = build->arrow;
    if (!NT_GROW(arrow->nodes, arrow->node_count, arrow->node_capacity) || !copy_steps(build)) {
        stop(build, nt_fail_memory(build->error));
        return NT_NONE;
    }
    arrow->nodes[arrow->node_count] = (struct nt_arrow_node){
        .kind = kind,
        .name = name,
        .field = field,
        .type_field = NT_NONE,
        .data = NT_NONE,
        .valid = NT_NONE,
        .offsets = NT_NONE,
        .parent = parent,
        .first_step = arrow->step_count - (build->step_count - build->step_base),
        .step_count = build->step_count - build->step_base,
        .own_steps = build->own_steps,
        .is_nullable = build->own_steps > 0,
        .starts_row_space = build->starts_row_space,
    };
    build->starts_row_space = false;
    build->own_steps = 0;
    if (parent != NT_NONE)
        arrow->nodes[parent].child_count++;
    return arrow->node_count++;
}

static bool push_step(struct build *build, struct nt_arrow_step step)
{
    if (build->step_count == sizeof(build->steps) / sizeof(*build->steps))
        return false;
    build->steps[build->step_count++] = step;
    return true;
}

static bool add_field(struct build *build, uint32_t parent, uint32_t field, struct nt_text name);

/* Adds a child that begins a row space, so its steps start from none. */
static bool add_in_new_row_space(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    uint32_t base = build->step_base;
    build->step_base = build->step_count;
    build->own_steps = 0;
    build->starts_row_space = true;
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

/* Adds a fixed-size list for each dimension of a field, then the values. */
static bool add_values(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    const struct nt_field *f = &build->arrow->dataset->fields[field];
    for (uint32_t i = 0; i < f->dimension_count; i++) {
        parent = add_node(build, parent, field, name, NT_ARROW_FIXED_LIST);
        if (parent == NT_NONE ||
            !push_step(build, (struct nt_arrow_step){.kind = NT_ARROW_STEP_SIZE, .size = f->dimensions[i]}))
            return false;
        build->arrow->nodes[parent].list_size = f->dimensions[i];
        name = (struct nt_text){"item", 4};
    }
    enum nt_arrow_kind kind = f->dtype.number == NT_ELEMENT_BOOL ? NT_ARROW_BOOL : NT_ARROW_PRIMITIVE;
    uint32_t node = add_node(build, parent, field, name, kind);
    uint32_t data = add_stream(build, field, NT_STREAM_DATA);
    if (node == NT_NONE)
        return false;
    build->arrow->nodes[node].data = data;
    build->arrow->nodes[node].dtype = &f->dtype;
    return true;
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
    if (nt_field_has_members(f) && !f->dimension_count)
        return add_struct(build, parent, field, name);
    if (!f->dtype.arrow)
        return omit(build, field, "Arrow has no type for its dtype");
    if (nt_field_is_fortran_order(f) && f->dimension_count)
        return omit(build, field, "Arrow has no arrays in Fortran order");
    for (uint32_t i = 0; i < f->dimension_count; i++)
        if (f->dimensions[i] == 0 || f->dimensions[i] > INT32_MAX)
            return omit(build, field, "a dimension is too large for a fixed-size list");
    return add_values(build, parent, field, name);
}

static bool add_bytes(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    const struct nt_field *f = &build->arrow->dataset->fields[field];
    uint32_t node = add_node(build, parent, field, name, NT_ARROW_BYTES);
    uint32_t offsets = add_stream(build, field, NT_STREAM_OFFSETS);
    uint32_t data = add_stream(build, field, NT_STREAM_DATA);
    if (node == NT_NONE)
        return false;
    struct nt_arrow_node *n = &build->arrow->nodes[node];
    n->offsets = offsets;
    n->data = data;
    n->is_binary =
        build->arrow->options.strings_as_binary || nt_field_kind_info(f->kind)->form != NT_FORM_TEXT;
    n->has_short_offsets = nt_field_has_short_offsets(f);
    return true;
}

/* Adds generated JSON strings. With strings_as_binary, adds the stored bytes instead. */
static bool add_json(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    struct nt_arrow *arrow = build->arrow;
    if (arrow->options.strings_as_binary)
        return add_bytes(build, parent, field, name);
    struct nt_arrow_texts *texts = NULL;
    uint32_t node = add_node(build, parent, field, name, NT_ARROW_BYTES);
    uint32_t offsets = add_stream(build, field, NT_STREAM_OFFSETS),
             data = add_stream(build, field, NT_STREAM_DATA);
    uint32_t valid =
        arrow->dataset->fields[field].is_nullable ? add_stream(build, field, NT_STREAM_VALID) : NT_NONE;
    if (build->status != NT_OK)
        return false;
    enum nt_status status = nt_arrow_texts_add(arrow, field, offsets, data, valid, &texts, build->error);
    if (status == NT_LIMIT)
        return omit(build, field, nt_arrow_texts_limit);
    stop(build, status);
    arrow->nodes[node].texts = texts;
    arrow->nodes[node].has_short_offsets = true;
    return status == NT_OK;
}

/* Can the list `node`, whose descendants are the last nodes, be a map? It remains a list of structs if
 * a part of its pairs is omitted or nullable. */
static bool has_pairs(const struct nt_arrow *arrow, uint32_t node)
{
    const struct nt_arrow_node *pairs = &arrow->nodes[node + 1], *key = pairs + 1;
    return pairs->kind == NT_ARROW_STRUCT && pairs->child_count == 2 && !pairs->is_nullable &&
           !key->is_nullable;
}

static bool add_list(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    const struct nt_dataset *dataset = build->arrow->dataset;
    uint32_t child = only_child(dataset, field);
    if (child == NT_NONE)
        return omit(build, field, "the collection does not have one item field");
    uint32_t node = add_node(build, parent, field, name, NT_ARROW_LIST);
    uint32_t offsets = add_stream(build, field, NT_STREAM_OFFSETS);
    if (node == NT_NONE)
        return false;
    build->arrow->nodes[node].offsets = offsets;
    build->arrow->nodes[node].has_short_offsets = nt_field_has_short_offsets(&dataset->fields[field]);
    struct nt_text item_name = nt_field_item_name(&dataset->fields[child]);
    if (!add_in_new_row_space(build, node, child, item_name.bytes ? item_name : (struct nt_text){"item", 4}))
        return false;
    if (dataset->fields[field].is_map && has_pairs(build->arrow, node)) {
        build->arrow->nodes[node].kind = NT_ARROW_MAP;
        build->arrow->nodes[node].has_short_offsets = true; /* a map has no 64-bit offsets */
    }
    return true;
}

/* Adds an optional as its nullable item. */
static bool add_optional(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    const struct nt_field *f = &build->arrow->dataset->fields[field];
    bool is_dense = nt_field_has_stream(f, NT_STREAM_VALID);
    uint32_t child = only_child(build->arrow->dataset, field);
    if (child == NT_NONE)
        return omit(build, field, "the optional does not have one item field");
    uint32_t stream = add_stream(build, field, is_dense ? NT_STREAM_VALID : NT_STREAM_OFFSETS);
    const struct nt_arrow_step step = {
        .kind = is_dense ? NT_ARROW_STEP_DENSE_OPTIONAL : NT_ARROW_STEP_OPTIONAL,
        .field = field,
        .stream = stream,
    };
    if (build->status != NT_OK || !push_step(build, step))
        return omit(build, field, "nested too deep");
    build->own_steps++;
    return add_field(build, parent, child, name);
}

static bool add_array(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    const struct nt_field *f = &build->arrow->dataset->fields[field];
    uint32_t child = only_child(build->arrow->dataset, field);
    if (child == NT_NONE || f->repetition > INT32_MAX)
        return omit(build, field, "the array is not a fixed-size list");
    uint32_t node = add_node(build, parent, field, name, NT_ARROW_FIXED_LIST);
    if (node == NT_NONE)
        return false;
    build->arrow->nodes[node].list_size = f->repetition;
    if (!push_step(build, (struct nt_arrow_step){.kind = NT_ARROW_STEP_SIZE, .size = f->repetition}))
        return omit(build, field, "nested too deep");
    return add_field(build, node, child, (struct nt_text){"item", 4});
}

/* Type ID 0 is "no value", a null child. The alternatives follow in order. */
static bool add_union(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    const struct nt_dataset *dataset = build->arrow->dataset;
    uint32_t count;
    const uint32_t *children = nt_dataset_children(dataset, field, &count);
    build->own_steps = 0; /* a union has no nulls, but a null child */
    uint32_t node = add_node(build, parent, field, name, NT_ARROW_UNION);
    uint32_t tags = add_stream(build, field, NT_STREAM_TAGS);
    uint32_t index = add_stream(build, field, NT_STREAM_INDEX);
    uint32_t no_value = add_node(build, node, NT_NONE, (struct nt_text){"null", 4}, NT_ARROW_NULL);
    if (node == NT_NONE || no_value == NT_NONE)
        return false;
    build->arrow->nodes[no_value].is_nullable = true;
    build->arrow->nodes[node].data = tags;
    build->arrow->nodes[node].offsets = index;
    for (uint32_t i = 0; i < count; i++)
        if (!add_in_new_row_space(build, node, children[i], dataset->fields[children[i]].name))
            return false;
    return true;
}

/* Returns the index of a new variant; NT_NONE: out of memory. */
static uint32_t add_variant_of(struct build *build, uint32_t field, uint32_t alternative_count)
{
    struct nt_arrow *arrow = build->arrow;
    if (!NT_GROW(arrow->variants, arrow->variant_count, arrow->variant_capacity)) {
        stop(build, nt_fail_memory(build->error));
        return NT_NONE;
    }
    arrow->variants[arrow->variant_count] = (struct nt_arrow_variant){
        .field = field,
        .alternative_count = alternative_count,
        .tags = add_stream(build, field, NT_STREAM_TAGS),
        .index = add_stream(build, field, NT_STREAM_INDEX),
    };
    return arrow->variant_count++;
}

/* Adds a struct of the tag and all alternatives. An alternative is null if the variant has another. */
static bool add_alternatives(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    struct nt_arrow *arrow = build->arrow;
    uint32_t count;
    const uint32_t *children = nt_dataset_children(arrow->dataset, field, &count);
    uint32_t node = add_node(build, parent, field, name, NT_ARROW_STRUCT);
    uint32_t variant = add_variant_of(build, field, count);
    if (node == NT_NONE || variant == NT_NONE)
        return false;
    uint32_t tag = add_node(build, node, NT_NONE, (struct nt_text){"tag", 3}, NT_ARROW_PRIMITIVE);
    if (tag == NT_NONE)
        return false;
    arrow->nodes[tag].data = arrow->variants[variant].tags;
    arrow->nodes[tag].dtype = &arrow->tag_dtype;
    for (uint32_t i = 0; i < count && build->status == NT_OK; i++) {
        const struct nt_arrow_step step = {NT_ARROW_STEP_ALTERNATIVE, .field = field, .variant = variant,
                                           .tag = i + 1};
        if (!push_step(build, step))
            return omit(build, field, "nested too deep");
        build->own_steps = 1;
        add_field(build, node, children[i], arrow->dataset->fields[children[i]].name);
        build->own_steps = 0;
        build->step_count--;
    }
    return true;
}

static bool add_variant(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    uint32_t count;
    nt_dataset_children(build->arrow->dataset, field, &count);
    if (count > INT8_MAX)
        return omit(build, field, "it has more alternatives than a union may have");
    switch (build->arrow->options.unions) {
    case NT_ARROW_UNIONS_STRUCT:
        return add_alternatives(build, parent, field, name);
    case NT_ARROW_UNIONS_UNION:
        return add_union(build, parent, field, name);
    case NT_ARROW_UNIONS_OMIT:
        break;
    }
    return omit(build, field, "a variant, which the options omit");
}

static bool add_null(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    return add_node(build, parent, field, name, NT_ARROW_NULL) != NT_NONE;
}

static bool add_wrapped(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    return add_field(build, parent, only_child(build->arrow->dataset, field), name);
}

static bool add_nothing(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    const char *reason = build->arrow->dataset->fields[field].unreadable;
    return omit(build, field, reason ? reason : "not readable");
}

static bool add_empty(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    return add_node(build, parent, field, name, NT_ARROW_EMPTY) != NT_NONE;
}

static bool (*const add_form[NT_FORM_COUNT])(struct build *build, uint32_t parent, uint32_t field,
                                             struct nt_text name) = {
    [NT_FORM_NOTHING] = add_nothing,   [NT_FORM_VALUE] = add_value,     [NT_FORM_TEXT] = add_bytes,
    [NT_FORM_BYTES] = add_bytes,       [NT_FORM_LIST] = add_list,       [NT_FORM_FIXED_LIST] = add_array,
    [NT_FORM_OPTIONAL] = add_optional, [NT_FORM_VARIANT] = add_variant, [NT_FORM_RECORD] = add_struct,
    [NT_FORM_TUPLE] = add_struct,      [NT_FORM_WRAPPER] = add_wrapped, [NT_FORM_NULL] = add_null,
    [NT_FORM_JSON] = add_json,         [NT_FORM_EMPTY] = add_empty,
};

/* Loads the page lists of a field that has its own. A bad list omits only this field. If the size is
 * known, it does not omit other parts of the field, unless this version cannot read the field. */
static bool load_page_lists(struct build *build, uint32_t field)
{
    struct nt_dataset *dataset = build->arrow->dataset;
    const struct nt_error *reason;
    stop(build, nt_unsupported_find(dataset, field, &reason, build->error));
    if (build->status == NT_OK && reason)
        return omit(build, field, reason->message);
    if (!dataset->field_groups || (dataset->part_count > 1 && nt_field_size_is_known(dataset, field)))
        return true;
    struct nt_groups groups = nt_groups_of_field(dataset, field);
    enum nt_status status = build->status;
    nt_groups_announce(dataset, groups);
    for (uint32_t i = groups.first; i < groups.end && status == NT_OK; i++) {
        status = nt_dataset_load_group(dataset, i, build->error);
        const struct nt_error *failure = nt_group_failure(dataset, i);
        if (failure)
            stop(build, omit_field(build->arrow, field, failure->message, failure, build->error));
        else
            stop(build, status);
    }
    return status == NT_OK;
}

/* Marks the outermost node of a field nullable. If the type itself forbids nulls, only a nullable
 * parent makes a value null, which Arrow does not need to know. */
static bool set_nullable(struct build *build, uint32_t node, uint32_t field)
{
    const struct nt_field *f = &build->arrow->dataset->fields[field];
    struct nt_arrow_node *n = &build->arrow->nodes[node];
    if (!nt_field_is_declared_nullable(f))
        return true;
    n->is_nullable = true;
    if (f->is_nullable)
        n->valid = add_stream(build, field, NT_STREAM_VALID);
    return build->status == NT_OK;
}

/* Adds a field with its descendants. Adds nothing if it returns false. */
static bool add_field(struct build *build, uint32_t parent, uint32_t field, struct nt_text name)
{
    struct nt_arrow *arrow = build->arrow;
    uint32_t first = arrow->node_count, steps = arrow->step_count, variants = arrow->variant_count;
    bool starts_row_space = build->starts_row_space;
    uint32_t own_steps = build->own_steps, pushed_steps = build->step_count;
    if (arrow->is_selected && !arrow->is_selected[field])
        return false;
    enum nt_form form = nt_field_kind_info(arrow->dataset->fields[field].kind)->form;
    bool added =
        load_page_lists(build, field) && add_form[form](build, parent, field, name) && build->status == NT_OK;
    build->step_count = pushed_steps;
    if (added)
        added = set_nullable(build, first, field);
    if (!added) {
        if (arrow->node_count > first)
            arrow->nodes[parent].child_count--;
        arrow->node_count = first;
        arrow->step_count = steps;
        arrow->variant_count = variants;
        build->starts_row_space = starts_row_space;
        build->own_steps = own_steps;
        return false;
    }
    arrow->nodes[first].type_field = field; /* the outermost wrapper or optional sets it last */
    return true;
}

/* Sets the end of each node to that of its last descendant. */
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
    NT_AUTO_FREE struct build *build = calloc(1, sizeof(*build));
    NT_TRY(nt_check_memory(build, error));
    build->arrow = arrow;
    build->error = error;
    uint32_t root = add_node(build, NT_NONE, NT_NONE, (struct nt_text){"", 0}, NT_ARROW_STRUCT), count;
    const uint32_t *top = nt_dataset_children(arrow->dataset, NT_NONE, &count);
    for (uint32_t i = 0; i < count && build->status == NT_OK; i++)
        add_in_new_row_space(build, root, top[i], arrow->dataset->fields[top[i]].name);
    NT_TRY(build->status);
    set_ends(arrow);
    return arrow_number_buffers(arrow, error);
}
