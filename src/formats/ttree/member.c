/* SPDX-License-Identifier: MIT
 *
 * Components from the members of classes, as their streamer elements describe them.
 */
#include "formats/ttree/component.h"

/* ---- Members of classes ---- */

bool nt_streamer_is_counted(int32_t type)
{
    return type > NT_STREAMER_OFFSET_P && type < NT_STREAMER_OBJECT;
}

/* The type of one item of an array. */
static int32_t item_type(int32_t type)
{
    if (type > NT_STREAMER_OFFSET_L && type < NT_STREAMER_OFFSET_P)
        return type - NT_STREAMER_OFFSET_L;
    if (nt_streamer_is_counted(type))
        return type - NT_STREAMER_OFFSET_P;
    bool is_array = (type > NT_STREAMER_OBJECT + NT_STREAMER_OFFSET_L - 1 &&
                     type <= NT_STREAMER_STL_P + NT_STREAMER_OFFSET_L) ||
                    type == NT_STREAMER_STREAM_LOOP + NT_STREAMER_OFFSET_L ||
                    type == NT_STREAMER_STL + NT_STREAMER_OFFSET_L ||
                    type == NT_STREAMER_STL_STRING + NT_STREAMER_OFFSET_L;
    return is_array ? type - NT_STREAMER_OFFSET_L : type;
}

static struct nt_dimensions element_dimensions(const struct nt_streamer_element *element)
{
    struct nt_dimensions dimensions = {0};
    uint64_t product = 1;
    for (uint32_t i = 0; i < element->dimension_count && i < NT_STREAMER_DIMENSIONS; i++) {
        dimensions.sizes[dimensions.count++] = element->dimensions[i];
        if (!nt_checked_multiply(product, element->dimensions[i], &product))
            product = 0;
    }
    uint32_t length = element->length;
    bool fits = product == length && length > 0;
    if (fits || !length)
        return length ? dimensions : (struct nt_dimensions){0};
    return (struct nt_dimensions){1, {length}};
}

bool nt_streamer_is_loop(int32_t type)
{
    return item_type(type) == NT_STREAMER_STREAM_LOOP;
}

/* The type without the stars of a pointer. */
static struct nt_text pointee(struct nt_text type)
{
    while (type.length && (type.bytes[type.length - 1] == '*' || type.bytes[type.length - 1] == ' '))
        type.length--;
    return type;
}

/* The last of the numbers from `first` on that has this name, in the record itself or a base class. */
static uint32_t find_counter(const struct nt_component_builder *builder, uint32_t first, struct nt_text name)
{
    uint32_t found = NT_NONE;
    for (uint32_t i = first; i < builder->count;) {
        const struct nt_component *component = &builder->components[i];
        if (component->kind == NT_COMPONENT_NUMBER && nt_texts_are_equal(component->name, name))
            found = i;
        i = component->is_base ? i + 1 : component->end;
    }
    return found;
}

uint8_t nt_component_count_by(struct nt_component_builder *builder, uint32_t first, struct nt_text name)
{
    if (builder->failure.status != NT_OK) /* what was open then has no end */
        return 0;
    uint32_t index = find_counter(builder, first, name);
    if (index == NT_NONE && builder->has_lengths && !builder->class_depth)
        return 0;
    if (index == NT_NONE) {
        nt_component_fail(builder, "the member %.*s, which stores the length of an array, is missing",
                          FORMAT_TEXT(name));
        return 0;
    }
    struct nt_component *counter = &builder->components[index];
    if (!counter->counter && builder->counter_count >= UINT8_MAX)
        nt_component_fail(builder, "the type has more than %d counters", UINT8_MAX);
    else if (!counter->counter)
        counter->counter = (uint8_t)++builder->counter_count;
    return counter->counter;
}

/* Arrays whose length is another member, or fixed numbers of them: a byte that is 0 for null pointers, then
 * the numbers. */
static void add_counted_numbers(struct nt_component_builder *builder,
                                const struct nt_streamer_element *element, struct nt_text name,
                                uint32_t first)
{
    struct nt_dimensions dimensions = element_dimensions(element);
    uint32_t opened[NT_STREAMER_DIMENSIONS];
    uint8_t counter = nt_component_count_by(builder, first, element->counter);
    nt_component_open_arrays(builder, &dimensions, &name, element->type_name, NT_COMPONENT_BARE, opened);
    uint32_t index =
        nt_component_open(builder, &(struct nt_component){.kind = NT_COMPONENT_COUNTED,
                                                          .name = name,
                                                          .type = element->type_name,
                                                          .counter = counter,
                                                          .count = dimensions.count ? element->length : 1,
                                                          .bits = NT_COUNTED_FLAG});
    nt_component_add_number(builder, nt_item_name, pointee(element->type_name), item_type(element->type),
                            element->title);
    nt_component_close(builder, index);
    nt_component_close_arrays(builder, &dimensions, opened);
}

/* Objects, or pointers to them, where old versions of ROOT stored the objects. */
void nt_component_add_loop_item(struct nt_component_builder *builder,
                                const struct nt_streamer_element *element)
{
    enum { LAST_WITHOUT_POINTERS = 51508 };
    struct nt_text type = element->type_name;
    uint32_t version = builder->info->root_version;
    if (type.length && type.bytes[type.length - 1] == '*')
        type.length--;
    if (version && version <= LAST_WITHOUT_POINTERS)
        type = pointee(type);
    nt_component_add_type(builder, nt_item_name, type, NT_COMPONENT_BARE, 0);
}

/* Arrays of objects whose length is another member, or several of them: one header, then the objects. */
static void add_loop(struct nt_component_builder *builder, const struct nt_streamer_element *element,
                     struct nt_text name, uint32_t first)
{
    struct nt_dimensions dimensions = element_dimensions(element);
    uint32_t opened[NT_STREAMER_DIMENSIONS];
    uint8_t counter = nt_component_count_by(builder, first, element->counter);
    nt_component_open_arrays(builder, &dimensions, &name, element->type_name, NT_COMPONENT_SHARED, opened);
    uint32_t index = nt_component_open(
        builder, &(struct nt_component){.kind = NT_COMPONENT_COUNTED,
                                        .header = dimensions.count ? NT_COMPONENT_BARE : NT_COMPONENT_SHARED,
                                        .name = name,
                                        .type = element->type_name,
                                        .counter = counter,
                                        .count = dimensions.count ? element->length : 0});
    nt_component_add_loop_item(builder, element);
    nt_component_close(builder, index);
    nt_component_close_arrays(builder, &dimensions, opened);
}

bool nt_streamer_is_base(const struct nt_streamer_element *element)
{
    return element->type == NT_STREAMER_BASE || nt_text_is(element->type_name, "BASE");
}

static void add_base(struct nt_component_builder *builder, const struct nt_streamer_element *element,
                     struct nt_text name)
{
    uint32_t index = builder->count;
    int32_t version = element->base_version > 0 ? element->base_version : NT_STREAMER_NEWEST;
    nt_component_add_object(builder, name, element->name, version, 0);
    if (builder->failure.status == NT_OK)
        builder->components[index].is_base = true;
}

static struct nt_text stl_type(const struct nt_streamer_element *element)
{
    bool has_type = element->type_name.length && !nt_text_is(element->type_name, "BASE");
    return pointee(has_type ? element->type_name : element->name);
}

/* One item of a member, without dimensions and counters. */
static void add_item(struct nt_component_builder *builder, const struct nt_streamer_element *element,
                     struct nt_text name, enum nt_component_header header)
{
    struct nt_text type_name = element->type_name;
    int32_t type = item_type(element->type);
    switch (type) {
    case NT_STREAMER_BITS:
        nt_custom_add_bits(builder, name, type_name);
        break;
    case NT_STREAMER_CHAR_STAR:
        nt_component_add_string(builder, name, type_name, NT_COMPONENT_BARE, sizeof(int32_t));
        break;
    case NT_STREAMER_TSTRING:
        nt_component_add_string(builder, name, type_name, NT_COMPONENT_BARE, 1);
        break;
    case NT_STREAMER_OBJECT:
    case NT_STREAMER_ANY:
    case NT_STREAMER_OBJECT_P_FULL:
    case NT_STREAMER_ANY_P_FULL:
    case NT_STREAMER_TOBJECT:
    case NT_STREAMER_TNAMED:
        nt_component_add_object(builder, name, pointee(type_name), NT_STREAMER_NEWEST, 0);
        break;
    case NT_STREAMER_OBJECT_P:
    case NT_STREAMER_ANY_P:
        nt_component_add_pointer(builder, name, type_name);
        break;
    case NT_STREAMER_STL:
    case NT_STREAMER_STL_P:
    case NT_STREAMER_STL_STRING:
        nt_component_add_type(builder, name, stl_type(element), header, element->content_type);
        break;
    case NT_STREAMER_STREAMER:
        nt_component_add_unknown(builder, name, type_name, NT_COMPONENT_OWN,
                                 "the member has a custom streamer");
        break;
    default:
        nt_component_add_number(builder, name, type_name, type, element->title);
    }
}

static bool is_stl(int32_t type)
{
    return type == NT_STREAMER_STL || type == NT_STREAMER_STL_P || type == NT_STREAMER_STL_STRING;
}

/* Is there one header around all items of a member? STL types have it, and arrays of ROOT's basic classes. */
static bool has_shared_header(const struct nt_streamer_element *element)
{
    switch (element->type) {
    case NT_STREAMER_OFFSET_L + NT_STREAMER_TSTRING:
    case NT_STREAMER_OFFSET_L + NT_STREAMER_TOBJECT:
    case NT_STREAMER_OFFSET_L + NT_STREAMER_TNAMED:
        return true;
    default:
        return is_stl(item_type(element->type));
    }
}

static void add_items(struct nt_component_builder *builder, const struct nt_streamer_element *element,
                      struct nt_text name)
{
    struct nt_dimensions dimensions = element_dimensions(element);
    enum nt_component_header header = has_shared_header(element) ? NT_COMPONENT_SHARED : NT_COMPONENT_BARE;
    uint32_t opened[NT_STREAMER_DIMENSIONS];
    nt_component_open_arrays(builder, &dimensions, &name, element->type_name, header, opened);
    add_item(builder, element, name, dimensions.count ? NT_COMPONENT_BARE : header);
    nt_component_close_arrays(builder, &dimensions, opened);
}

void nt_component_add_element(struct nt_component_builder *builder, const struct nt_streamer_element *element,
                              struct nt_text name, uint32_t first)
{
    uint32_t since = builder->count;
    unsigned depth = builder->depth;
    bool is_loop = nt_streamer_is_loop(element->type);
    if (builder->failure.status != NT_OK)
        return;
    if (nt_streamer_is_counted(element->type)) {
        add_counted_numbers(builder, element, name, first);
        return;
    }
    if (nt_streamer_is_base(element) && !is_stl(element->type)) {
        add_base(builder, element, name);
        return;
    }
    if (is_loop)
        add_loop(builder, element, name, first);
    else
        add_items(builder, element, name);
    if (is_loop || is_stl(item_type(element->type)))
        nt_component_replace(builder, since, depth, name, element->type_name, NT_COMPONENT_SHARED);
}
