/* SPDX-License-Identifier: MIT
 *
 * Shapes and steps from components: the fields that a branch has, and the bytes that store them.
 */
#include "formats/ttree/component.h"

/* ---- Shapes ---- */

static bool has_shape(const struct nt_component *component)
{
    return component->kind < NT_COMPONENT_SKIP && !component->is_flat;
}

static enum nt_ttree_shape_kind shape_kind(const struct nt_component *component)
{
    switch (component->kind) {
    case NT_COMPONENT_NUMBER:
        return NT_SHAPE_VALUE;
    case NT_COMPONENT_STRING:
        return NT_SHAPE_STRING;
    case NT_COMPONENT_ARRAY:
        return NT_SHAPE_ARRAY;
    case NT_COMPONENT_RECORD:
        return NT_SHAPE_RECORD;
    case NT_COMPONENT_COLLECTION:
    case NT_COMPONENT_COUNTED:
    case NT_COMPONENT_REST:
        return NT_SHAPE_LIST;
    case NT_COMPONENT_CLONES:
        return component->count ? NT_SHAPE_LIST : NT_SHAPE_STRING;
    case NT_COMPONENT_OBJECTS:
        return NT_SHAPE_LIST;
    case NT_COMPONENT_CASES:
        return component->count ? NT_SHAPE_RECORD : NT_SHAPE_STRING;
    case NT_COMPONENT_OPTIONAL:
        return NT_SHAPE_OPTIONAL;
    default:
        return NT_SHAPE_UNREADABLE;
    }
}

static uint32_t outputs_of(enum nt_ttree_shape_kind kind)
{
    bool has_one = kind == NT_SHAPE_VALUE || kind == NT_SHAPE_LIST || kind == NT_SHAPE_OPTIONAL;
    return kind == NT_SHAPE_STRING ? 2 : has_one;
}

/* `times`: how often an entry has the component; 0 within lists. */
static void add_outputs(struct nt_interpretation *interpretation, const struct nt_component *component,
                        uint32_t times, struct nt_ttree_shape *shape)
{
    struct nt_output *outputs = interpretation->outputs + interpretation->output_count;
    shape->output = NT_NONE;
    if (!outputs_of(shape->kind))
        return;
    shape->output = interpretation->output_count;
    interpretation->output_count += outputs_of(shape->kind);
    if (shape->kind == NT_SHAPE_VALUE) {
        shape->element = nt_encoding_info(component->number.encoding)->element;
        outputs[0] = (struct nt_output){.element = shape->element, .fixed_items = times};
        return;
    }
    outputs[0] = (struct nt_output){.element = NT_ELEMENT_UINT64, .is_offsets = true, .fixed_items = times};
    if (shape->kind == NT_SHAPE_STRING)
        outputs[1].element = NT_ELEMENT_BYTE;
}

static void add_shape(struct nt_component_builder *builder, struct nt_interpretation *interpretation,
                      struct nt_component *component, uint32_t parent, uint32_t times)
{
    struct nt_ttree_shape *shape = &interpretation->shapes[interpretation->shape_count++];
    *shape = (struct nt_ttree_shape){.kind = shape_kind(component),
                                     .name = component->name,
                                     .type = component->type,
                                     .parent = parent,
                                     .is_map = component->is_map,
                                     .unreadable = component->unreadable};
    add_outputs(interpretation, component, times, shape);
    component->output = shape->output;
    if (component->is_sample && !interpretation->sample) {
        interpretation->sample = shape->output + 1;
        interpretation->samples_several = component->kind == NT_COMPONENT_CASES;
    }
    if (shape->kind != NT_SHAPE_ARRAY)
        return;
    uint64_t *size = nt_arena_alloc(builder->arena, 1, sizeof(*size));
    if (!nt_component_check_memory(builder, size))
        return;
    *size = component->count;
    shape->dimensions = size;
    shape->dimension_count = 1;
}

/* How often an entry has what is below a component. */
static uint32_t times_below(const struct nt_component *component, uint32_t times)
{
    enum nt_ttree_shape_kind kind = shape_kind(component);
    if (component->is_flat || kind == NT_SHAPE_RECORD)
        return times;
    if (kind != NT_SHAPE_ARRAY)
        return 0;
    uint64_t product = (uint64_t)times * component->count;
    return product < UINT32_MAX ? (uint32_t)product : UINT32_MAX;
}

/* Members of flat base classes belong to the shape above. */
static void add_shapes(struct nt_component_builder *builder, uint32_t first, uint32_t end, uint32_t parent,
                       uint32_t times, struct nt_interpretation *interpretation)
{
    for (uint32_t i = first; i < end; i = builder->components[i].end) {
        struct nt_component *component = &builder->components[i];
        uint32_t above = parent, below = times_below(component, times);
        if (has_shape(component)) {
            above = interpretation->shape_count;
            add_shape(builder, interpretation, component, parent, times);
        }
        if (component->class_name.length) {
            component->count = interpretation->class_name_count;
            interpretation->class_names[interpretation->class_name_count++] = component->class_name;
        }
        add_shapes(builder, i + 1, component->end, above, below, interpretation);
    }
}

static void make_shapes(struct nt_component_builder *builder, struct nt_interpretation *interpretation)
{
    uint32_t shapes = 0, outputs = 0, names = 0;
    for (uint32_t i = 0; i < builder->count; i++) {
        shapes += has_shape(&builder->components[i]);
        outputs += outputs_of(shape_kind(&builder->components[i]));
        names += builder->components[i].class_name.length > 0;
    }
    interpretation->shapes = nt_arena_alloc(builder->arena, shapes, sizeof(*interpretation->shapes));
    interpretation->outputs = nt_arena_alloc(builder->arena, outputs + 1, sizeof(*interpretation->outputs));
    interpretation->class_names =
        nt_arena_alloc(builder->arena, names + 1, sizeof(*interpretation->class_names));
    if (nt_component_check_memory(builder, interpretation->shapes && interpretation->outputs &&
                                               interpretation->class_names))
        add_shapes(builder, 0, builder->count, NT_NONE, 1, interpretation);
}

/* ---- Steps ---- */

enum { STEP_LIMIT = 8192, STEP_DEPTH = 30 };

struct step_emitter {
    struct nt_component_builder *builder; /* after its first failure nothing is added */
    const struct nt_component *components;
    struct nt_step *steps; /* from malloc */
    size_t capacity;
    uint32_t count;
    unsigned depth;
};

static void emit_content(struct step_emitter *emitter, uint32_t index);
static void emit_member(struct step_emitter *emitter, uint32_t index);
typedef void emit(struct step_emitter *emitter, uint32_t index);
static void emit_list(struct step_emitter *emitter, uint32_t index, emit *of_item);
static void emit_of_all(struct step_emitter *emitter, uint32_t index);

static bool has_failed(const struct step_emitter *emitter)
{
    return emitter->builder->failure.status != NT_OK;
}

static uint32_t open_step(struct step_emitter *emitter, const struct nt_step *step)
{
    if (emitter->count >= STEP_LIMIT || emitter->depth >= STEP_DEPTH)
        nt_component_fail(emitter->builder,
                          "reading the type takes more than %d steps, or is nested deeper than %d levels",
                          STEP_LIMIT, STEP_DEPTH);
    if (has_failed(emitter))
        return 0;
    if (!nt_component_check_memory(emitter->builder,
                                   NT_GROW(emitter->steps, emitter->count, emitter->capacity)))
        return 0;
    emitter->depth++;
    memset(&emitter->steps[emitter->count], 0, sizeof(*emitter->steps));
    emitter->steps[emitter->count] = *step;
    return emitter->count++;
}

static void close_step(struct step_emitter *emitter, uint32_t step)
{
    if (has_failed(emitter))
        return;
    emitter->steps[step].end = emitter->count;
    emitter->depth--;
}

/* What follows is the other body of a step. */
static void begin_other(struct step_emitter *emitter, uint32_t step)
{
    if (!has_failed(emitter))
        emitter->steps[step].other = emitter->count;
}

static void add_step(struct step_emitter *emitter, const struct nt_step *step)
{
    close_step(emitter, open_step(emitter, step));
}

static void add_skip(struct step_emitter *emitter, uint32_t bytes)
{
    add_step(emitter, &(struct nt_step){.kind = NT_STEP_SKIP, .output = NT_NONE, .count = bytes});
}

static void emit_number(struct step_emitter *emitter, const struct nt_component *component, uint32_t count)
{
    add_step(emitter, &(struct nt_step){.kind = NT_STEP_VALUES,
                                        .encoding = (uint8_t)component->number.encoding,
                                        .bits = (uint8_t)nt_encoding_info(component->number.encoding)->bits,
                                        .counter = component->counter,
                                        .output = component->output,
                                        .count = count,
                                        .minimum = component->number.minimum,
                                        .maximum = component->number.maximum});
}

static uint32_t open_header(struct step_emitter *emitter, const struct nt_component *component, unsigned bits)
{
    return open_step(emitter, &(struct nt_step){.kind = NT_STEP_HEADER,
                                                .bits = (uint8_t)bits,
                                                .output = NT_NONE,
                                                .count = component->checksum,
                                                .version = component->version});
}

static void emit_children(struct step_emitter *emitter, uint32_t index, emit *of_child)
{
    for (uint32_t i = index + 1; i < emitter->components[index].end; i = emitter->components[i].end)
        of_child(emitter, i);
}

/* Arrays of numbers are one step. */
static void emit_array(struct step_emitter *emitter, uint32_t index, emit *of_item)
{
    const struct nt_component *component = &emitter->components[index];
    uint64_t count = component->count;
    uint32_t inner = index + 1;
    while (emitter->components[inner].kind == NT_COMPONENT_ARRAY) {
        if (!nt_checked_multiply(count, emitter->components[inner].count, &count))
            count = UINT64_MAX;
        inner++;
    }
    if (count > INT32_MAX) {
        nt_component_fail(emitter->builder, "cannot read arrays of more than %d items", INT32_MAX);
    } else if (emitter->components[inner].kind == NT_COMPONENT_COUNTED && emitter->components[inner].count) {
        emit_list(emitter, inner, emit_content); /* of all of them */
    } else if (emitter->components[inner].kind == NT_COMPONENT_NUMBER) {
        emit_number(emitter, &emitter->components[inner], (uint32_t)count);
    } else {
        uint32_t step = open_step(
            emitter, &(struct nt_step){.kind = NT_STEP_REPEAT, .output = NT_NONE, .count = (uint32_t)count});
        of_item(emitter, inner);
        close_step(emitter, step);
    }
}

static void emit_record(struct step_emitter *emitter, uint32_t index)
{
    const struct nt_component *component = &emitter->components[index];
    uint32_t header = 0;
    if (component->header == NT_COMPONENT_OWN)
        header = open_header(emitter, component,
                             NT_HEADER_WHOLE | (component->is_tobject ? NT_HEADER_TOBJECT : 0));
    emit_children(emitter, index, component->is_map_item ? emit_content : emit_member);
    if (component->header == NT_COMPONENT_OWN)
        close_step(emitter, header);
}

/* `of_item`: NULL: the items are skipped by the header around the list. */
static void emit_list(struct step_emitter *emitter, uint32_t index, emit *of_item)
{
    const struct nt_component *component = &emitter->components[index];
    bool is_counted = component->kind == NT_COMPONENT_COUNTED;
    enum nt_step_kind kind = is_counted                             ? NT_STEP_COUNTED
                             : component->kind == NT_COMPONENT_REST ? NT_STEP_REST
                                                                    : NT_STEP_LIST;
    uint32_t step = open_step(emitter, &(struct nt_step){.kind = (uint8_t)kind,
                                                         .bits = component->bits,
                                                         .counter = is_counted ? component->counter : 0,
                                                         .output = component->output,
                                                         .count = component->count});
    if (of_item)
        emit_children(emitter, index, of_item);
    close_step(emitter, step);
}

/* Objects that cannot be read end with their pointer. */
static void emit_case(struct step_emitter *emitter, uint32_t index)
{
    const struct nt_component *component = &emitter->components[index];
    uint32_t step = open_step(
        emitter,
        &(struct nt_step){.kind = NT_STEP_CASE, .output = component->output, .count = component->count});
    if (component[1].kind != NT_COMPONENT_UNKNOWN)
        emit_member(emitter, index + 1);
    close_step(emitter, step);
}

static void emit_pointer(struct step_emitter *emitter, uint32_t index)
{
    const struct nt_component *component = &emitter->components[index];
    uint32_t name_output = component->kind == NT_COMPONENT_CASES ? component->output : NT_NONE;
    uint32_t step = open_step(emitter, &(struct nt_step){.kind = NT_STEP_POINTER, .output = name_output});
    if (component->kind == NT_COMPONENT_OPTIONAL)
        emit_case(emitter, index);
    else
        emit_children(emitter, index, emit_case);
    close_step(emitter, step);
}

static uint32_t open_when(struct step_emitter *emitter, uint8_t counter, uint32_t bits)
{
    return open_step(
        emitter,
        &(struct nt_step){.kind = NT_STEP_WHEN, .counter = counter, .output = NT_NONE, .count = bits});
}

/* TObject::kIsReferenced, TObject::kHasUUID, and the bytes of the number of a process, and of a version. */
enum { IS_REFERENCED = 1 << 4, HAS_UUID = 1 << 5, PROCESS_BYTES = 2, VERSION_BYTES = 2 };

static void emit_reference(struct step_emitter *emitter, uint8_t counter)
{
    uint32_t step = open_when(emitter, counter, HAS_UUID);
    add_step(emitter, &(struct nt_step){.kind = NT_STEP_STRING, .output = NT_NONE, .count = 1});
    begin_other(emitter, step);
    add_skip(emitter, PROCESS_BYTES);
    close_step(emitter, step);
}

static void emit_process(struct step_emitter *emitter, uint8_t counter)
{
    uint32_t step = open_when(emitter, counter, IS_REFERENCED);
    add_skip(emitter, PROCESS_BYTES);
    close_step(emitter, step);
}

/* Base classes have no header where objects are stored member by member, so that unknown ones cannot be
 * skipped. */
static bool has_unknown_base(const struct nt_component *components, uint32_t record)
{
    for (uint32_t i = record + 1; i < components[record].end; i = components[i].end)
        if (components[i].is_base &&
            (components[i].kind == NT_COMPONENT_UNKNOWN || has_unknown_base(components, i)))
            return true;
    return false;
}

/* A base class without a header where objects are stored member by member. */
static bool is_bare_base(const struct nt_component *component)
{
    return component->is_base && component->kind == NT_COMPONENT_RECORD && !component->is_tobject;
}

/* A TObject has a version without a byte count. */
static void emit_of_base(struct step_emitter *emitter, uint32_t index)
{
    const struct nt_component *component = &emitter->components[index];
    if (component->is_tobject) {
        uint32_t step =
            open_step(emitter, &(struct nt_step){.kind = NT_STEP_REPEAT, .output = NT_NONE, .count = 1});
        add_skip(emitter, VERSION_BYTES);
        emit_children(emitter, index, emit_member);
        close_step(emitter, step);
    } else if (is_bare_base(component)) {
        emit_children(emitter, index, emit_of_base);
    } else {
        emit_of_all(emitter, index);
    }
}

static bool has_fixed_size(const struct nt_step *step)
{
    return step->kind == NT_STEP_VALUES || step->kind == NT_STEP_SKIP || step->kind == NT_STEP_REPEAT ||
           step->kind == NT_STEP_WHEN;
}

/* A base class of the items of a split collection. Its branch does not have the number of items: it follows
 * from the size of one. A TObject that is referenced has another size, and is an error. */
static void emit_rest_by_members(struct step_emitter *emitter, uint32_t index)
{
    uint32_t step = emitter->count;
    emit_list(emitter, index, emit_of_base);
    for (uint32_t i = step + 1; !has_failed(emitter) && i < emitter->count; i++)
        if (!has_fixed_size(&emitter->steps[i]))
            nt_component_fail(emitter->builder,
                              "the items of a base class in a collection have no fixed size: %.*s",
                              FORMAT_TEXT(emitter->components[index + 1].type));
}

/* The objects of a TClonesArray, one by one or member by member. */
static void emit_clones_items(struct step_emitter *emitter, uint32_t index)
{
    const struct nt_component *component = &emitter->components[index], *item = component + 1;
    uint32_t step = open_step(emitter, &(struct nt_step){.kind = NT_STEP_CLONES,
                                                         .counter = component->counter,
                                                         .output = component->output,
                                                         .count = component->count});
    if (item->kind != NT_COMPONENT_UNKNOWN)
        emit_content(emitter, index + 1);
    if (item->kind == NT_COMPONENT_RECORD && !has_unknown_base(emitter->components, index + 1)) {
        begin_other(emitter, step);
        emit_children(emitter, index + 1, emit_of_all);
    }
    close_step(emitter, step);
}

static void emit_objects_items(struct step_emitter *emitter, uint32_t index)
{
    const struct nt_component *component = &emitter->components[index];
    uint32_t step = open_step(
        emitter,
        &(struct nt_step){.kind = NT_STEP_OBJECTS, .output = component->output, .count = component->count});
    emit_content(emitter, index + 1);
    close_step(emitter, step);
}

/* A TClonesArray, a TObjArray, a TList: a TObject and a name come first. */
static void emit_objects(struct step_emitter *emitter, uint32_t index)
{
    const struct nt_component *component = &emitter->components[index];
    const struct nt_component any = {.version = NT_STREAMER_NEWEST};
    uint32_t header = open_header(emitter, component, 0), tobject = open_header(emitter, &any, 0);
    add_skip(emitter, sizeof(uint32_t));
    add_step(emitter, &(struct nt_step){.kind = NT_STEP_VALUES,
                                        .encoding = NT_ENCODING_BIG_UINT32,
                                        .counter = component->counter,
                                        .output = NT_NONE,
                                        .count = 1});
    emit_process(emitter, component->counter);
    close_step(emitter, tobject);
    add_step(emitter, &(struct nt_step){.kind = NT_STEP_STRING, .output = NT_NONE, .count = 1});
    if (component->kind == NT_COMPONENT_OBJECTS)
        emit_objects_items(emitter, index);
    else if (component->end > index + 1)
        emit_clones_items(emitter, index);
    else
        add_step(emitter, &(struct nt_step){.kind = NT_STEP_STRING, .output = component->output, .count = 1});
    close_step(emitter, header);
}

/* An item of a collection, or a member without the header that STL types have there. */
static void emit_content(struct step_emitter *emitter, uint32_t index)
{
    const struct nt_component *component = &emitter->components[index];
    switch (component->kind) {
    case NT_COMPONENT_NUMBER:
        emit_number(emitter, component, 1);
        break;
    case NT_COMPONENT_STRING:
        add_step(emitter, &(struct nt_step){.kind = NT_STEP_STRING,
                                            .output = component->output,
                                            .count = component->length_bytes});
        break;
    case NT_COMPONENT_ARRAY:
        emit_array(emitter, index, emit_member);
        break;
    case NT_COMPONENT_RECORD:
        emit_record(emitter, index);
        break;
    case NT_COMPONENT_COLLECTION:
    case NT_COMPONENT_REST:
    case NT_COMPONENT_COUNTED:
        emit_list(emitter, index, emit_content);
        break;
    case NT_COMPONENT_OPTIONAL:
    case NT_COMPONENT_CASES:
        emit_pointer(emitter, index);
        break;
    case NT_COMPONENT_CLONES:
    case NT_COMPONENT_OBJECTS:
        emit_objects(emitter, index);
        break;
    case NT_COMPONENT_UNKNOWN:
        close_step(emitter, open_header(emitter, component, NT_HEADER_SIZED));
        break;
    case NT_COMPONENT_SKIP:
        add_skip(emitter, component->count);
        break;
    case NT_COMPONENT_NAME:
        add_step(emitter,
                 &(struct nt_step){.kind = NT_STEP_NAME, .output = NT_NONE, .count = component->count});
        break;
    case NT_COMPONENT_PROCESS:
        emit_process(emitter, component->counter);
        break;
    case NT_COMPONENT_REFERENCE:
        emit_reference(emitter, component->counter);
        break;
    }
}

/* ---- Collections that are stored member by member ---- */

/* The collection of objects in arrays of them and at the end of the entry. */
static uint32_t find_collection(const struct nt_component *components, uint32_t index)
{
    while (components[index].kind == NT_COMPONENT_ARRAY || components[index].kind == NT_COMPONENT_REST)
        index++;
    return components[index].kind == NT_COMPONENT_COLLECTION && components[index].has_class ? index : NT_NONE;
}

/* One object's content. Items that cannot be read are skipped by the header. */
static void emit_by_members(struct step_emitter *emitter, uint32_t index)
{
    const struct nt_component *component = &emitter->components[index];
    if (component->kind == NT_COMPONENT_ARRAY) {
        emit_array(emitter, index, emit_by_members);
    } else if (component->kind == NT_COMPONENT_REST) {
        emit_list(emitter, index, emit_by_members);
    } else {
        uint32_t step = open_step(emitter, &(struct nt_step){.kind = NT_STEP_MEMBERS,
                                                             .output = component->output,
                                                             .version = component[1].version});
        if (emitter->components[index + 1].kind == NT_COMPONENT_RECORD)
            emit_children(emitter, index + 1, emit_of_all);
        close_step(emitter, step);
    }
}

/* Where nothing skips items that cannot be read, there may be none. */
static void emit_no_members(struct step_emitter *emitter, uint32_t index)
{
    const struct nt_component *component = &emitter->components[index];
    if (component->kind == NT_COMPONENT_ARRAY)
        emit_array(emitter, index, emit_no_members);
    else if (component->kind == NT_COMPONENT_REST)
        emit_list(emitter, index, emit_no_members);
    else
        add_step(emitter, &(struct nt_step){.kind = NT_STEP_MEMBERS,
                                            .output = component->output,
                                            .version = NT_STREAMER_NO_OBJECTS});
}

/* Items that cannot be read may only be skipped if nothing else has the same header. */
static bool can_be_by_members(const struct step_emitter *emitter, uint32_t index, uint32_t collection,
                              unsigned bits)
{
    if (emitter->components[collection + 1].kind == NT_COMPONENT_RECORD)
        return !has_unknown_base(emitter->components, collection + 1);
    return index == collection && !(bits & NT_HEADER_SHARED);
}

static void emit_by_members_of(struct step_emitter *emitter, uint32_t index, uint32_t header,
                               uint32_t collection, unsigned bits)
{
    const struct nt_component *item = &emitter->components[collection + 1];
    begin_other(emitter, header);
    add_step(emitter, &(struct nt_step){.kind = NT_STEP_CLASS,
                                        .output = NT_NONE,
                                        .count = item->checksum,
                                        .version = item->version == NT_STREAMER_NO_OBJECTS
                                                       ? NT_STREAMER_NEWEST /* there even without objects */
                                                       : item->version});
    if (can_be_by_members(emitter, index, collection, bits))
        emit_by_members(emitter, index);
    else
        emit_no_members(emitter, index);
}

/* Can a header skip the items of a list? Those of a class without known members may have no headers. What
 * follows them after the same header may only be lists whose numbers of items are elsewhere. */
static bool skips_items(const struct step_emitter *emitter, uint32_t index, unsigned bits)
{
    const struct nt_component *list = &emitter->components[index], *item = list + 1;
    bool is_last = list->kind == NT_COMPONENT_COUNTED ||
                   (list->kind == NT_COMPONENT_COLLECTION && !(bits & NT_HEADER_SHARED));
    return is_last && (item->kind == NT_COMPONENT_UNKNOWN ||
                       (item->kind == NT_COMPONENT_RECORD && item->end == index + 2));
}

/* An STL type, or an array of them, with its header. Unknown items that it covers are skipped by it. */
static void emit_with_header(struct step_emitter *emitter, uint32_t index, unsigned bits)
{
    const struct nt_component *component = &emitter->components[index];
    uint32_t collection = find_collection(emitter->components, index);
    uint32_t header = open_header(emitter, component,
                                  bits | (component->kind == NT_COMPONENT_UNKNOWN ? NT_HEADER_SIZED : 0));
    if (skips_items(emitter, index, bits))
        emit_list(emitter, index, NULL);
    else if (component->kind != NT_COMPONENT_UNKNOWN)
        emit_content(emitter, index);
    if (collection != NT_NONE)
        emit_by_members_of(emitter, index, header, collection, bits);
    close_step(emitter, header);
}

static void emit_member(struct step_emitter *emitter, uint32_t index)
{
    if (emitter->components[index].header == NT_COMPONENT_SHARED)
        emit_with_header(emitter, index, 0);
    else
        emit_content(emitter, index);
}

/* Is it a record of several steps, which nothing encloses? */
static bool has_several_steps(const struct nt_component *component, uint32_t index)
{
    return component->kind == NT_COMPONENT_RECORD && component->header == NT_COMPONENT_BARE &&
           component->end > index + 1 && component[1].end < component->end;
}

/* A member of all items of MEMBERS. Members of base classes follow one another, but not a TObject's. Other
 * members are one step, so that all of it is run for an item before the next one. */
static void emit_of_all(struct step_emitter *emitter, uint32_t index)
{
    const struct nt_component *component = &emitter->components[index];
    if (is_bare_base(component)) {
        emit_children(emitter, index, emit_of_all);
    } else if (component->header == NT_COMPONENT_SHARED) {
        emit_with_header(emitter, index, NT_HEADER_SHARED);
    } else if (has_several_steps(component, index)) {
        uint32_t step =
            open_step(emitter, &(struct nt_step){.kind = NT_STEP_REPEAT, .output = NT_NONE, .count = 1});
        emit_content(emitter, index);
        close_step(emitter, step);
    } else {
        emit_content(emitter, index);
    }
}

/* ---- The whole branch ---- */

/* Items up to the end of the entry, after one header or without. The entry of a split collection without
 * items may be empty. */
static void emit_rest(struct step_emitter *emitter, uint32_t index)
{
    if (emitter->components[index].header == NT_COMPONENT_SHARED)
        emit_with_header(emitter, index, 0);
    else if (emitter->components[index + 1].header == NT_COMPONENT_SHARED)
        emit_with_header(emitter, index, NT_HEADER_OPTIONAL);
    else if (emitter->components[index].bits & NT_REST_MEMBERS)
        emit_rest_by_members(emitter, index);
    else
        emit_content(emitter, index);
}

static void emit_all(struct step_emitter *emitter, const struct nt_component_builder *builder, bool is_entry)
{
    for (uint32_t i = 0; i < builder->count; i = builder->components[i].end) {
        if (builder->components[i].kind == NT_COMPONENT_REST)
            emit_rest(emitter, i);
        else if (is_entry)
            emit_children(emitter, i, emit_member);
        else
            emit_member(emitter, i);
    }
}

/* ---- How elements are counted ---- */

/* Does each entry have the same number of elements? */
static bool is_fixed(const struct nt_interpretation *interpretation, uint32_t first, uint32_t end,
                     uint64_t times)
{
    for (uint32_t i = first; i < end; i = interpretation->steps[i].end) {
        const struct nt_step *step = &interpretation->steps[i];
        uint64_t count;
        if (!nt_checked_multiply(times, step->kind == NT_STEP_HEADER ? 1 : step->count, &count) ||
            count > INT32_MAX)
            return false;
        if (step->kind == NT_STEP_HEADER || step->kind == NT_STEP_REPEAT) {
            if (step->other || !is_fixed(interpretation, i + 1, step->end, count))
                return false;
        } else if (step->kind != NT_STEP_VALUES && step->kind != NT_STEP_SKIP && step->kind != NT_STEP_NAME &&
                   step->kind != NT_STEP_WHEN) {
            return false;
        }
    }
    return true;
}

/* The bytes of an item of a list of numbers, or 0. */
static uint32_t bytes_of_items(const struct nt_interpretation *interpretation, uint32_t list)
{
    uint64_t sum = 0;
    for (uint32_t i = list + 1; i < interpretation->steps[list].end; i++) {
        const struct nt_step *step = &interpretation->steps[i];
        if (step->kind != NT_STEP_VALUES)
            return 0;
        sum += (uint64_t)step->count * nt_encoding_info(step->encoding)->bits / 8;
    }
    return sum <= INT32_MAX ? (uint32_t)sum : 0;
}

/* One list of numbers: of a vector, after its header and length, or after a byte, or alone. */
static void find_list(struct nt_interpretation *interpretation)
{
    enum { HEADER_BYTES = 6, LENGTH_BYTES = 4 };
    const struct nt_step *steps = interpretation->steps;
    uint32_t list =
        interpretation->step_count > 1 && (steps[0].kind == NT_STEP_HEADER || steps[0].kind == NT_STEP_SKIP);
    uint32_t header = 0;
    if (!interpretation->step_count || steps[list].end != interpretation->step_count)
        return;
    if (list && steps[0].kind == NT_STEP_HEADER && steps[list].kind == NT_STEP_LIST && !steps[0].other)
        header = HEADER_BYTES + LENGTH_BYTES;
    else if (steps[list].kind == NT_STEP_REST && (!list || steps[0].kind == NT_STEP_SKIP))
        header = list ? steps[0].count : 0;
    else
        return;
    interpretation->item_bytes = bytes_of_items(interpretation, list);
    if (!interpretation->item_bytes)
        return;
    interpretation->header_bytes = header;
    interpretation->count_by = NT_COUNT_BY_BYTES;
}

static void find_counting(struct nt_interpretation *interpretation)
{
    bool is_by_entries = is_fixed(interpretation, 0, interpretation->step_count, 1);
    interpretation->count_by = is_by_entries ? NT_COUNT_BY_ENTRIES : NT_COUNT_BY_CONTENT;
    if (!is_by_entries)
        find_list(interpretation);
}

void nt_components_finish(struct nt_component_builder *builder, bool is_entry,
                          struct nt_interpretation *interpretation)
{
    struct step_emitter emitter = {.builder = builder, .components = builder->components};
    make_shapes(builder, interpretation);
    if (has_failed(&emitter))
        return;
    emit_all(&emitter, builder, is_entry);
    interpretation->steps = nt_arena_alloc(builder->arena, emitter.count + 1, sizeof(*emitter.steps));
    if (nt_component_check_memory(builder, interpretation->steps) && !has_failed(&emitter)) {
        if (emitter.count)
            memcpy(interpretation->steps, emitter.steps, emitter.count * sizeof(*emitter.steps));
        interpretation->step_count = emitter.count;
        find_counting(interpretation);
    }
    free(emitter.steps);
}
