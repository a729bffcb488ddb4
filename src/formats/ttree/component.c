/* SPDX-License-Identifier: MIT
 *
 * Components from C++ types and from the members of classes.
 */
#include "formats/ttree/interpret.h"

#include "core/base/error.h"
#include "core/base/text.h"

const struct nt_text nt_item_name = {"item", 4};

/* ---- The tree of components ---- */

enum nt_status nt_component_open(struct nt_component_builder *builder, const struct nt_component *component,
                                 uint32_t *index_ret, struct nt_error *error)
{
    if (builder->opened >= NT_COMPONENT_LIMIT)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "the type has more than %d members and items",
                       NT_COMPONENT_LIMIT);
    if (builder->depth >= NT_COMPONENT_DEPTH)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "the type is nested deeper than %d levels",
                       NT_COMPONENT_DEPTH);
    struct nt_component *components =
        nt_grow(builder->components, builder->count, &builder->capacity, sizeof(*builder->components));
    if (!components)
        return nt_fail_memory(error);
    builder->components = components;
    builder->depth++;
    builder->opened++;
    *index_ret = builder->count++;
    components[*index_ret] = *component;
    return NT_OK;
}

void nt_component_close(struct nt_component_builder *builder, uint32_t index)
{
    builder->components[index].end = builder->count;
    builder->depth--;
}

enum nt_status nt_component_add(struct nt_component_builder *builder, const struct nt_component *component,
                                struct nt_error *error)
{
    uint32_t index = 0;
    enum nt_status status = nt_component_open(builder, component, &index, error);
    if (status == NT_OK)
        nt_component_close(builder, index);
    return status;
}

enum nt_status nt_component_add_number(struct nt_component_builder *builder, struct nt_text name,
                                       struct nt_text type, int32_t number, struct nt_text title,
                                       struct nt_error *error)
{
    struct nt_component component = {
        .kind = NT_COMPONENT_NUMBER, .name = name, .type = type, .version = NT_STREAMER_NEWEST};
    if (!nt_number_of(number, title, &component.number))
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "cannot read numbers of the basic type %d: %.*s",
                       (int)number, FORMAT_TEXT(type));
    return nt_component_add(builder, &component, error);
}

/* "Float_t[2][3]" */
static enum nt_status name_array(struct nt_component_builder *builder, struct nt_text type,
                                 const struct nt_dimensions *dimensions, uint32_t first,
                                 struct nt_text *name_ret, struct nt_error *error)
{
    struct nt_buffer text = {0};
    nt_buffer_append(&text, type.bytes, type.length);
    for (uint32_t i = first; i < dimensions->count; i++)
        nt_buffer_format(&text, "[%u]", dimensions->sizes[i]);
    char *copy = nt_buffer_to_arena(&text, builder->arena);
    if (!copy)
        return nt_fail_memory(error);
    *name_ret = nt_text_of(copy);
    return NT_OK;
}

enum nt_status nt_component_open_arrays(struct nt_component_builder *builder,
                                        const struct nt_dimensions *dimensions, struct nt_text *name,
                                        struct nt_text type, enum nt_component_header header,
                                        uint32_t opened[NT_STREAMER_DIMENSIONS], struct nt_error *error)
{
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; status == NT_OK && i < dimensions->count; i++) {
        struct nt_component component = {.kind = NT_COMPONENT_ARRAY,
                                         .name = *name,
                                         .header = i == 0 ? header : NT_COMPONENT_BARE,
                                         .version = NT_STREAMER_NEWEST,
                                         .count = dimensions->sizes[i]};
        status = name_array(builder, type, dimensions, i, &component.type, error);
        if (status == NT_OK)
            status = nt_component_open(builder, &component, &opened[i], error);
        *name = nt_item_name;
    }
    return status;
}

void nt_component_close_arrays(struct nt_component_builder *builder, const struct nt_dimensions *dimensions,
                               const uint32_t opened[NT_STREAMER_DIMENSIONS])
{
    for (uint32_t i = dimensions->count; i-- > 0;)
        nt_component_close(builder, opened[i]);
}

/* ---- Classes ---- */

/* Names of templates are not spelled everywhere as in the description: compares each. */
static const struct nt_streamer_class *find_spelled_otherwise(struct nt_component_builder *builder,
                                                              struct nt_text name)
{
    const struct nt_streamer_class *best = NULL;
    if (!name.length || !memchr(name.bytes, '<', name.length) ||
        builder->slow_lookups++ >= NT_SLOW_LOOKUP_LIMIT)
        return NULL;
    for (uint32_t i = 0; i < builder->info->class_count; i++) {
        const struct nt_streamer_class *class = &builder->info->classes[i];
        if ((!best || class->version > best->version) && nt_cpp_names_are_equal(class->name, name))
            best = class;
    }
    return best;
}

static bool have_equal_elements(const struct nt_streamer_class *a, const struct nt_streamer_class *b)
{
    bool are_equal = a->element_count == b->element_count;
    for (uint32_t i = 0; are_equal && i < a->element_count; i++) {
        const struct nt_streamer_element *left = &a->elements[i], *right = &b->elements[i];
        are_equal = left->type == right->type && nt_texts_are_equal(left->name, right->name) &&
                    nt_texts_are_equal(left->type_name, right->type_name);
    }
    return are_equal;
}

/* Files describe only the classes of the objects that they hold. If all described instances of a template
 * (at least two) have the same members, the other instances have them, too. */
static const struct nt_streamer_class *find_other_instance(struct nt_component_builder *builder,
                                                           struct nt_text name)
{
    const struct nt_streamer_class *found = NULL;
    const char *end = name.length ? memchr(name.bytes, '<', name.length) : NULL;
    size_t length = end ? (size_t)(end - name.bytes) + 1 : 0;
    bool has_several = false;
    if (!end || builder->slow_lookups++ >= NT_SLOW_LOOKUP_LIMIT)
        return NULL;
    for (uint32_t i = 0; i < builder->info->class_count; i++) {
        const struct nt_streamer_class *class = &builder->info->classes[i];
        if (class->name.length < length || memcmp(class->name.bytes, name.bytes, length))
            continue;
        if (found && !have_equal_elements(found, class))
            return NULL;
        has_several |= found && !nt_texts_are_equal(found->name, class->name); /* not only versions */
        found = class;
    }
    return has_several ? found : NULL;
}

const struct nt_streamer_class *nt_component_find_class(struct nt_component_builder *builder,
                                                        struct nt_text name, int32_t version,
                                                        uint32_t checksum)
{
    const struct nt_streamer_class *found = nt_streamer_find(builder->info, name, NT_STREAMER_NEWEST);
    if (!found)
        found = find_spelled_otherwise(builder, name);
    if (!found)
        return NULL;
    name = found->name;
    const struct nt_streamer_class *exact =
        checksum ? nt_streamer_find_checksum(builder->info, name, checksum) : NULL;
    if (!exact && version != NT_STREAMER_NEWEST)
        exact = nt_streamer_find(builder->info, name, version);
    return exact ? exact : found;
}

enum nt_status nt_component_add_unknown(struct nt_component_builder *builder, struct nt_text name,
                                        struct nt_text type, enum nt_component_header header,
                                        const char *reason, struct nt_error *error)
{
    const char *copy = nt_arena_copy(builder->arena, reason, strlen(reason));
    if (!copy)
        return nt_fail_memory(error);
    return nt_component_add(builder,
                            &(struct nt_component){.kind = NT_COMPONENT_UNKNOWN,
                                                   .header = header,
                                                   .name = name,
                                                   .type = type,
                                                   .version = NT_STREAMER_NEWEST,
                                                   .unreadable = copy},
                            error);
}

enum nt_status nt_component_add_pointer(struct nt_component_builder *builder, struct nt_text name,
                                        struct nt_text type, struct nt_error *error)
{
    const char *reason = nt_arena_format(builder->arena, "cannot read pointers to polymorphic objects: %.*s",
                                         FORMAT_TEXT(type));
    if (!reason)
        return nt_fail_memory(error);
    return nt_component_add(
        builder,
        &(struct nt_component){
            .kind = NT_COMPONENT_POINTER, .name = name, .type = type, .unreadable = reason},
        error);
}

/* Do two records have a member of the same name, where members of base classes count as theirs? */
static bool has_name(const struct nt_component_builder *builder, uint32_t first, uint32_t end,
                     struct nt_text name)
{
    for (uint32_t i = first; i < end; i = builder->components[i].end) {
        const struct nt_component *component = &builder->components[i];
        if (component->is_flat ? has_name(builder, i + 1, component->end, name)
                               : nt_texts_are_equal(component->name, name))
            return true;
    }
    return false;
}

static bool shares_name(const struct nt_component_builder *builder, uint32_t base, uint32_t first,
                        uint32_t end)
{
    const struct nt_component *component = &builder->components[base];
    for (uint32_t i = first; i < component->end; i = builder->components[i].end) {
        const struct nt_component *member = &builder->components[i];
        if (member->kind >= NT_COMPONENT_SKIP)
            continue;
        if (member->is_flat ? shares_name(builder, i, i + 1, end)
                            : has_name(builder, component->end, end, member->name))
            return true;
    }
    return false;
}

/* Members of base classes go to the record itself, unless a later member has the same name. */
static void flatten_bases(struct nt_component_builder *builder, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i = builder->components[i].end)
        builder->components[i].is_flat =
            builder->components[i].is_base && builder->components[i].kind == NT_COMPONENT_RECORD;
    for (uint32_t i = first; i < end; i = builder->components[i].end)
        if (builder->components[i].is_flat && shares_name(builder, i, i + 1, end))
            builder->components[i].is_flat = false;
}

static enum nt_status add_members(struct nt_component_builder *builder, const struct nt_streamer_class *class,
                                  struct nt_error *error)
{
    uint32_t first = builder->count;
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; status == NT_OK && i < class->element_count; i++)
        status =
            nt_component_add_element(builder, &class->elements[i], class->elements[i].name, first, error);
    if (status == NT_OK)
        flatten_bases(builder, first, builder->count);
    return status;
}

static enum nt_status add_described(struct nt_component_builder *builder, struct nt_text name,
                                    struct nt_text class_name, const struct nt_streamer_class *class,
                                    bool has_objects, struct nt_error *error)
{
    struct nt_component component = {.kind = NT_COMPONENT_RECORD,
                                     .header = NT_COMPONENT_OWN,
                                     .name = name,
                                     .type = class_name,
                                     .version = class->version > 0 ? class->version : NT_STREAMER_NEWEST,
                                     .checksum = class->checksum};
    uint32_t index = 0;
    if (!has_objects)
        component.version = NT_STREAMER_NO_OBJECTS;
    enum nt_status status = nt_component_open(builder, &component, &index, error);
    if (status != NT_OK)
        return status;
    builder->classes[builder->class_depth++] = class;
    status = add_members(builder, class, error);
    builder->class_depth--;
    nt_component_close(builder, index);
    return status;
}

static bool is_within(const struct nt_component_builder *builder, const struct nt_streamer_class *class)
{
    for (unsigned i = 0; i < builder->class_depth; i++)
        if (builder->classes[i] == class)
            return true;
    return false;
}

enum nt_status nt_component_replace(struct nt_component_builder *builder, uint32_t since, unsigned depth,
                                    struct nt_text name, struct nt_text type, enum nt_component_header header,
                                    const char *reason, struct nt_error *error)
{
    builder->count = since;
    builder->depth = depth;
    return nt_component_add_unknown(builder, name, type, header, reason, error);
}

static bool is_collection(struct nt_text class_name)
{
    enum nt_cpp_kind kind = nt_cpp_type_parse(class_name).kind;
    return kind == NT_CPP_COLLECTION || kind == NT_CPP_MAP || kind == NT_CPP_BITSET;
}

enum nt_status nt_component_add_object(struct nt_component_builder *builder, struct nt_text name,
                                       struct nt_text class_name, int32_t version, uint32_t checksum,
                                       struct nt_error *error)
{
    struct nt_error mine = {0};
    uint32_t since = builder->count;
    unsigned depth = builder->depth;
    enum nt_status status;
    const struct nt_streamer_class *class;
    if (nt_custom_is_known(class_name))
        return nt_custom_add(builder, name, class_name, error);
    class = nt_component_find_class(builder, class_name, version, checksum);
    bool is_described = class != NULL;
    if (!class && is_collection(class_name)) /* an item of std::array */
        return nt_component_add_type(builder, name, class_name, NT_COMPONENT_BARE, 0, error);
    if (!class)
        class = find_other_instance(builder, class_name);
    if (!class)
        status = nt_fail(&mine, NT_UNSUPPORTED, NT_NO_OFFSET, "the file does not describe the class %.*s",
                         FORMAT_TEXT(class_name));
    else if (is_within(builder, class))
        status = nt_fail(&mine, NT_UNSUPPORTED, NT_NO_OFFSET,
                         "objects of class %.*s contain objects of this class", FORMAT_TEXT(class_name));
    else if (builder->class_depth >= NT_CLASS_DEPTH)
        status =
            nt_fail(&mine, NT_UNSUPPORTED, NT_NO_OFFSET, "objects are nested deeper than %d classes: %.*s",
                    NT_CLASS_DEPTH, FORMAT_TEXT(class_name));
    else
        status = add_described(builder, name, class_name, class, is_described, &mine);
    if (status == NT_UNSUPPORTED)
        return nt_component_replace(builder, since, depth, name, class_name, NT_COMPONENT_OWN, mine.message,
                                    error);
    return status == NT_OK ? status : nt_fail_with(error, &mine);
}

/* ---- C++ types ---- */

enum nt_status nt_component_add_string(struct nt_component_builder *builder, struct nt_text name,
                                       struct nt_text type, enum nt_component_header header,
                                       uint8_t length_bytes, struct nt_error *error)
{
    return nt_component_add(builder,
                            &(struct nt_component){.kind = NT_COMPONENT_STRING,
                                                   .header = header,
                                                   .name = name,
                                                   .type = type,
                                                   .version = NT_STREAMER_NEWEST,
                                                   .length_bytes = length_bytes},
                            error);
}

/* Is an unknown class an enumeration? */
static bool is_enumeration(struct nt_component_builder *builder, const struct nt_cpp_type *type,
                           int32_t content)
{
    return type->kind == NT_CPP_CLASS && content > 0 && content < NT_STREAMER_OFFSET_L &&
           !nt_component_find_class(builder, type->name, NT_STREAMER_NEWEST, 0);
}

static enum nt_status add_collection(struct nt_component_builder *builder, struct nt_text name,
                                     struct nt_text text, const struct nt_cpp_type *type,
                                     enum nt_component_header header, int32_t content, struct nt_error *error)
{
    struct nt_cpp_type item = nt_cpp_type_parse(type->arguments[0]);
    struct nt_component component = {.kind = NT_COMPONENT_COLLECTION,
                                     .header = header,
                                     .name = name,
                                     .type = text,
                                     .version = NT_STREAMER_NEWEST};
    uint32_t index = 0;
    enum nt_status status = nt_component_open(builder, &component, &index, error);
    if (status != NT_OK)
        return status;
    if (type->kind == NT_CPP_BITSET)
        status = nt_component_add_number(builder, nt_item_name, NT_TEXT("bool"), NT_STREAMER_BOOL,
                                         (struct nt_text){0}, error);
    else if (is_enumeration(builder, &item, content))
        status = nt_component_add_number(builder, nt_item_name, type->arguments[0], NT_STREAMER_INT,
                                         (struct nt_text){0}, error);
    else
        status =
            nt_component_add_type(builder, nt_item_name, type->arguments[0], NT_COMPONENT_BARE, 0, error);
    nt_component_close(builder, index);
    if (status == NT_OK && index + 1 < builder->count)
        builder->components[index].has_class = (item.kind == NT_CPP_CLASS || item.kind == NT_CPP_PAIR) &&
                                               builder->components[index + 1].header == NT_COMPONENT_OWN &&
                                               !builder->components[index + 1].is_tobject;
    return status;
}

static enum nt_status add_pair_members(struct nt_component_builder *builder, const struct nt_cpp_type *type,
                                       struct nt_text first, struct nt_text second, struct nt_error *error)
{
    enum nt_status status =
        nt_component_add_type(builder, first, type->arguments[0], NT_COMPONENT_SHARED, 0, error);
    return status == NT_OK
               ? nt_component_add_type(builder, second, type->arguments[1], NT_COMPONENT_SHARED, 0, error)
               : status;
}

/* A pair that the file does not describe is that of its template's arguments. */
static enum nt_status add_pair(struct nt_component_builder *builder, struct nt_text name, struct nt_text text,
                               const struct nt_cpp_type *type, struct nt_error *error)
{
    if (nt_component_find_class(builder, type->name, NT_STREAMER_NEWEST, 0))
        return nt_component_add_object(builder, name, type->name, NT_STREAMER_NEWEST, 0, error);
    struct nt_component component = {.kind = NT_COMPONENT_RECORD,
                                     .header = NT_COMPONENT_OWN,
                                     .name = name,
                                     .type = text,
                                     .version = NT_STREAMER_NEWEST};
    uint32_t index = 0;
    enum nt_status status = nt_component_open(builder, &component, &index, error);
    if (status != NT_OK)
        return status;
    status = add_pair_members(builder, type, NT_TEXT("first"), NT_TEXT("second"), error);
    nt_component_close(builder, index);
    return status;
}

/* A key or value of an unknown type may be an enumeration without a header: the pair is skipped with its
 * map. */
static enum nt_status replace_unknown_pair(struct nt_component_builder *builder, uint32_t item,
                                           struct nt_error *error)
{
    const struct nt_component pair = builder->components[item];
    for (uint32_t i = item + 1; i < pair.end; i = builder->components[i].end)
        if (builder->components[i].kind == NT_COMPONENT_UNKNOWN)
            return nt_component_replace(builder, item, builder->depth, pair.name, pair.type, NT_COMPONENT_OWN,
                                        builder->components[i].unreadable, error);
    return NT_OK;
}

/* Keys and values are called 0 and 1, as in other readers. */
static enum nt_status add_map(struct nt_component_builder *builder, struct nt_text name, struct nt_text text,
                              const struct nt_cpp_type *type, enum nt_component_header header,
                              struct nt_error *error)
{
    struct nt_component map = {.kind = NT_COMPONENT_COLLECTION,
                               .header = header,
                               .name = name,
                               .type = text,
                               .version = NT_STREAMER_NEWEST,
                               .is_map = true,
                               .has_class = true};
    struct nt_component pair = {.kind = NT_COMPONENT_RECORD,
                                .name = nt_item_name,
                                .type = text,
                                .version = NT_STREAMER_NEWEST,
                                .is_map_item = true};
    uint32_t index = 0, item = 0;
    enum nt_status status = nt_component_open(builder, &map, &index, error);
    if (status != NT_OK)
        return status;
    status = nt_component_open(builder, &pair, &item, error);
    if (status == NT_OK) {
        status = add_pair_members(builder, type, NT_TEXT("0"), NT_TEXT("1"), error);
        nt_component_close(builder, item);
    }
    if (status == NT_OK)
        status = replace_unknown_pair(builder, item, error);
    nt_component_close(builder, index);
    return status;
}

enum nt_status nt_component_add_type(struct nt_component_builder *builder, struct nt_text name,
                                     struct nt_text text, enum nt_component_header header, int32_t content,
                                     struct nt_error *error)
{
    struct nt_cpp_type type = nt_cpp_type_parse(text);
    switch (type.kind) {
    case NT_CPP_NUMBER:
        return nt_component_add_number(builder, name, text, type.number, (struct nt_text){0}, error);
    case NT_CPP_STRING:
        return nt_component_add_string(builder, name, text, header, 1, error);
    case NT_CPP_TSTRING:
        return nt_component_add_string(builder, name, text, NT_COMPONENT_BARE, 1, error);
    case NT_CPP_CHAR_STAR:
        return nt_component_add_string(builder, name, text, NT_COMPONENT_BARE, sizeof(int32_t), error);
    case NT_CPP_COLLECTION:
    case NT_CPP_BITSET:
        return add_collection(builder, name, text, &type, header, content, error);
    case NT_CPP_MAP:
        return add_map(builder, name, text, &type, header, error);
    case NT_CPP_PAIR:
        return add_pair(builder, name, text, &type, error);
    case NT_CPP_POINTER:
        return nt_component_add_pointer(builder, name, text, error);
    case NT_CPP_CLASS:
        break;
    }
    return nt_component_add_object(builder, name, type.name, NT_STREAMER_NEWEST, 0, error);
}
