/* SPDX-License-Identifier: MIT
 *
 * Components from C++ types and from the members of classes.
 */
#include "formats/ttree/component.h"

#include <stdio.h>

const struct nt_text nt_item_name = {"item", 4};

/* ---- The tree of components ---- */

void nt_component_fail(struct nt_component_builder *builder, const char *format, ...)
{
    va_list arguments;
    if (builder->failure.status != NT_OK)
        return;
    char message[sizeof(builder->failure.message)];
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    nt_fail(&builder->failure, NT_UNSUPPORTED, NT_NO_OFFSET, "%s", message);
}

bool nt_component_check_memory(struct nt_component_builder *builder, bool is_allocated)
{
    if (!is_allocated && builder->failure.status == NT_OK)
        nt_fail_memory(&builder->failure);
    return is_allocated;
}

uint32_t nt_component_open(struct nt_component_builder *builder, const struct nt_component *component)
{
    if (builder->opened >= NT_COMPONENT_LIMIT)
        nt_component_fail(builder, "the type has more than %d members and items", NT_COMPONENT_LIMIT);
    else if (builder->depth >= NT_COMPONENT_DEPTH)
        nt_component_fail(builder, "the type is nested deeper than %d levels", NT_COMPONENT_DEPTH);
    if (builder->failure.status != NT_OK)
        return 0;
    if (!nt_component_check_memory(builder, NT_GROW(builder->components, builder->count, builder->capacity)))
        return 0;
    builder->depth++;
    builder->opened++;
    builder->components[builder->count] = *component;
    if (component->version == 0)
        builder->components[builder->count].version = NT_STREAMER_NEWEST;
    return builder->count++;
}

void nt_component_close(struct nt_component_builder *builder, uint32_t index)
{
    if (builder->failure.status != NT_OK)
        return;
    builder->components[index].end = builder->count;
    builder->depth--;
}

void nt_component_add(struct nt_component_builder *builder, const struct nt_component *component)
{
    nt_component_close(builder, nt_component_open(builder, component));
}

void nt_component_add_number(struct nt_component_builder *builder, struct nt_text name, struct nt_text type,
                             int32_t number, struct nt_text title)
{
    struct nt_component component = {.kind = NT_COMPONENT_NUMBER, .name = name, .type = type};
    if (!nt_number_of(number, title, &component.number))
        nt_component_fail(builder, "cannot read numbers of the basic type %d: %.*s", (int)number,
                          FORMAT_TEXT(type));
    nt_component_add(builder, &component);
}

/* "Float_t[2][3]" */
static struct nt_text name_array(struct nt_component_builder *builder, struct nt_text type,
                                 const struct nt_dimensions *dimensions, uint32_t first)
{
    struct nt_buffer text = {0};
    nt_buffer_append(&text, type.bytes, type.length);
    for (uint32_t i = first; i < dimensions->count; i++)
        nt_buffer_append_format(&text, "[%u]", dimensions->sizes[i]);
    const char *copy = nt_buffer_to_arena(&text, builder->arena);
    return nt_component_check_memory(builder, copy) ? nt_text_of(copy) : (struct nt_text){0};
}

void nt_component_open_arrays(struct nt_component_builder *builder, const struct nt_dimensions *dimensions,
                              struct nt_text *name, struct nt_text type, enum nt_component_header header,
                              uint32_t opened[NT_STREAMER_DIMENSIONS])
{
    for (uint32_t i = 0; i < dimensions->count; i++) {
        opened[i] = nt_component_open(builder,
                                      &(struct nt_component){.kind = NT_COMPONENT_ARRAY,
                                                             .name = *name,
                                                             .type = name_array(builder, type, dimensions, i),
                                                             .header = i == 0 ? header : NT_COMPONENT_BARE,
                                                             .count = dimensions->sizes[i]});
        *name = nt_item_name;
    }
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

struct nt_text nt_component_class_name(struct nt_component_builder *builder, struct nt_text name)
{
    /* Before ROOT 5, some of these typedefs were classes. */
    bool is_class = nt_streamer_find(builder->info, name, NT_STREAMER_NEWEST);
    return is_class ? name : nt_cpp_without_typedef(name);
}

void nt_component_add_unknown(struct nt_component_builder *builder, struct nt_text name, struct nt_text type,
                              enum nt_component_header header, const char *reason)
{
    const char *copy = nt_arena_copy(builder->arena, reason, strlen(reason));
    nt_component_check_memory(builder, copy);
    nt_component_add(
        builder,
        &(struct nt_component){
            .kind = NT_COMPONENT_UNKNOWN, .header = header, .name = name, .type = type, .unreadable = copy});
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
        builder->components[i].is_flat |=
            builder->components[i].is_base && builder->components[i].kind == NT_COMPONENT_RECORD;
    for (uint32_t i = first; i < end; i = builder->components[i].end)
        if (builder->components[i].is_flat && shares_name(builder, i, i + 1, end))
            builder->components[i].is_flat = false;
}

/* Is it a std::array? The file describes it as a class whose only member is the array: it is that member. */
static bool is_std_array(const struct nt_streamer_class *class)
{
    struct nt_text name = class->name;
    nt_text_skip(&name, "std::");
    return nt_text_skip(&name, "array<") && class->element_count == 1 && class->elements[0].length;
}

static void add_described(struct nt_component_builder *builder, struct nt_text name,
                          struct nt_text class_name, const struct nt_streamer_class *class, bool has_objects)
{
    int32_t version = class->version > 0    ? class->version
                      : class->version == 0 ? NT_STREAMER_VERSION_0
                                            : NT_STREAMER_NEWEST;
    bool is_array = is_std_array(class);
    uint32_t index = nt_component_open(
        builder, &(struct nt_component){.kind = NT_COMPONENT_RECORD,
                                        .header = NT_COMPONENT_OWN,
                                        .name = name,
                                        .type = class_name,
                                        .version = has_objects ? version : NT_STREAMER_NO_OBJECTS,
                                        .checksum = class->checksum,
                                        .is_flat = is_array});
    uint32_t first = builder->count;
    builder->classes[builder->class_depth++] = class;
    for (uint32_t i = 0; builder->failure.status == NT_OK && i < class->element_count; i++)
        nt_component_add_element(builder, &class->elements[i], is_array ? name : class->elements[i].name,
                                 first);
    builder->class_depth--;
    if (builder->failure.status == NT_OK)
        flatten_bases(builder, first, builder->count);
    nt_component_close(builder, index);
}

static bool is_within(const struct nt_component_builder *builder, const struct nt_streamer_class *class)
{
    for (unsigned i = 0; i < builder->class_depth; i++)
        if (builder->classes[i] == class)
            return true;
    return false;
}

void nt_component_replace(struct nt_component_builder *builder, uint32_t since, unsigned depth,
                          struct nt_text name, struct nt_text type, enum nt_component_header header)
{
    if (builder->failure.status != NT_UNSUPPORTED)
        return;
    builder->failure.status = NT_OK;
    builder->count = since;
    builder->depth = depth;
    nt_component_add_unknown(builder, name, type, header, builder->failure.message);
}

static bool is_of_template(struct nt_text class_name)
{
    enum nt_cpp_kind kind = nt_cpp_type_parse(class_name).kind;
    return kind == NT_CPP_COLLECTION || kind == NT_CPP_MAP || kind == NT_CPP_BITSET || kind == NT_CPP_PAIR;
}

static void add_collection(struct nt_component_builder *builder, struct nt_text name, struct nt_text text,
                           const struct nt_cpp_type *type, enum nt_component_header header, int32_t content);
static void add_map(struct nt_component_builder *builder, struct nt_text name, struct nt_text text,
                    const struct nt_cpp_type *type, enum nt_component_header header);

/* A class may be a collection: then its only element stands for all of it, and the title of that begins with
 * the type of the items, as "<Hit> Used to call the proper TStreamerInfo case". */
static bool find_items(const struct nt_streamer_class *class, struct nt_cpp_type *collection_ret)
{
    const struct nt_streamer_element *element = class->elements;
    if (class->element_count != 1 || element->type != NT_STREAMER_STL || !nt_text_is(element->name, "This"))
        return false;
    struct nt_text title = element->title;
    const char *end = nt_text_skip(&title, "<") ? memrchr(title.bytes, '>', title.length) : NULL;
    if (!end)
        return false;
    title.length = (size_t)(end - title.bytes);
    const struct nt_cpp_type item = nt_cpp_type_parse(title);
    bool is_map = element->stl_type == NT_STL_MAP || element->stl_type == NT_STL_MULTIMAP;
    *collection_ret = (struct nt_cpp_type){.kind = NT_CPP_COLLECTION, .arguments = {title}};
    if (is_map && item.kind == NT_CPP_PAIR)
        *collection_ret =
            (struct nt_cpp_type){.kind = NT_CPP_MAP, .arguments = {item.arguments[0], item.arguments[1]}};
    return true;
}

static void add_described_collection(struct nt_component_builder *builder, struct nt_text name,
                                     const struct nt_streamer_class *class, const struct nt_cpp_type *type,
                                     enum nt_component_header header)
{
    builder->classes[builder->class_depth++] = class;
    if (type->kind == NT_CPP_MAP)
        add_map(builder, name, class->name, type, header);
    else
        add_collection(builder, name, class->name, type, header, class->elements[0].content_type);
    builder->class_depth--;
}

/* `header`: of classes that are collections. */
static void add_class(struct nt_component_builder *builder, struct nt_text name, struct nt_text class_name,
                      int32_t version, uint32_t checksum, enum nt_component_header header)
{
    uint32_t since = builder->count;
    unsigned depth = builder->depth;
    struct nt_cpp_type collection;
    if (builder->failure.status != NT_OK)
        return;
    class_name = nt_component_class_name(builder, class_name);
    if (nt_custom_is_known(class_name)) {
        nt_custom_add(builder, name, class_name);
        return;
    }
    const struct nt_streamer_class *class = nt_component_find_class(builder, class_name, version, checksum);
    bool is_described = class != NULL;
    if (!class && is_of_template(class_name)) { /* a pair, or an item of std::array */
        nt_component_add_type(builder, name, class_name, NT_COMPONENT_BARE, 0);
        return;
    }
    if (!class)
        class = find_other_instance(builder, class_name);
    if (!class)
        nt_component_fail(builder, "the file does not describe the class %.*s", FORMAT_TEXT(class_name));
    else if (is_within(builder, class))
        nt_component_fail(builder, "objects of class %.*s contain objects of this class",
                          FORMAT_TEXT(class_name));
    else if (builder->class_depth >= NT_CLASS_DEPTH)
        nt_component_fail(builder, "objects are nested deeper than %d classes: %.*s", NT_CLASS_DEPTH,
                          FORMAT_TEXT(class_name));
    else if (find_items(class, &collection))
        add_described_collection(builder, name, class, &collection, header);
    else
        add_described(builder, name, class_name, class, is_described);
    nt_component_replace(builder, since, depth, name, class_name, NT_COMPONENT_OWN);
}

void nt_component_add_object(struct nt_component_builder *builder, struct nt_text name,
                             struct nt_text class_name, int32_t version, uint32_t checksum)
{
    add_class(builder, name, class_name, version, checksum, NT_COMPONENT_SHARED);
}

/* ---- Pointers ---- */

void nt_component_close_objects(struct nt_component_builder *builder, uint32_t index)
{
    nt_component_close(builder, index);
    if (builder->failure.status != NT_OK || index + 1 == builder->count ||
        builder->components[index + 1].kind != NT_COMPONENT_UNKNOWN)
        return;
    builder->components[index].class_name = (struct nt_text){0};
    builder->components[index].count = NT_NONE;
}

/* A pointer that may be null, to an object that cannot be read. */
static void add_unread_pointer(struct nt_component_builder *builder, struct nt_text name, struct nt_text type,
                               const char *reason)
{
    uint32_t index = nt_component_open(
        builder, &(struct nt_component){.kind = NT_COMPONENT_OPTIONAL, .name = name, .type = type});
    nt_component_add_unknown(builder, nt_item_name, nt_cpp_type_parse(type).arguments[0], NT_COMPONENT_BARE,
                             reason);
    nt_component_close_objects(builder, index);
}

/* The class of a pointer's objects, if there is no other in the file that is derived from it. */
static const struct nt_streamer_class *find_only_class(struct nt_component_builder *builder,
                                                       struct nt_text type)
{
    struct nt_text pointee = nt_cpp_type_parse(type).arguments[0];
    if (builder->skips_extras || nt_cpp_type_parse(pointee).kind != NT_CPP_CLASS)
        return NULL;
    const struct nt_streamer_class *class = nt_component_find_class(builder, pointee, NT_STREAMER_NEWEST, 0);
    return class && !class->is_base ? class : NULL;
}

static uint32_t add_case(struct nt_component_builder *builder, struct nt_text name, struct nt_text type,
                         struct nt_text class_name)
{
    uint32_t index = nt_component_open(
        builder, &(struct nt_component){
                     .kind = NT_COMPONENT_OPTIONAL, .name = name, .type = type, .class_name = class_name});
    nt_component_add_object(builder, nt_item_name, class_name, NT_STREAMER_NEWEST, 0);
    builder->has_extras = true;
    return index;
}

const char *nt_component_reason_of_sample(const struct nt_component_builder *builder)
{
    return builder->skips_extras || builder->sample_count > NT_SAMPLE_LIMIT
               ? "the branch has too many members to read the objects of its pointers and lists"
               : "the first baskets have no object, which would name its class";
}

bool nt_component_next_sample(struct nt_component_builder *builder, struct nt_text *names_ret)
{
    const struct nt_text none = {0};
    uint32_t number = builder->sample_count++;
    bool is_known = number < builder->known_samples,
         is_left_out = builder->skips_extras || number >= NT_SAMPLE_LIMIT;
    *names_ret = is_known && !is_left_out ? builder->samples[number] : none;
    return is_known || is_left_out;
}

uint8_t nt_component_new_counter(struct nt_component_builder *builder)
{
    if (builder->counter_count >= UINT8_MAX)
        nt_component_fail(builder, "the type has more than %d counters", UINT8_MAX);
    builder->has_extras = true;
    return (uint8_t)++builder->counter_count;
}

/* A line of the text, without its end. */
static struct nt_text next_line(struct nt_text *text)
{
    const char *end = text->length ? memchr(text->bytes, '\n', text->length) : NULL;
    struct nt_text line = {text->bytes, end ? (size_t)(end - text->bytes) : text->length};
    text->bytes += line.length + (end != NULL);
    text->length -= line.length + (end != NULL);
    return line;
}

/* An optional for each class that an object has in the first baskets; if there is only one, it is the pointer
 * itself. */
static void add_sampled_pointer(struct nt_component_builder *builder, struct nt_text name,
                                struct nt_text type)
{
    struct nt_text names;
    struct nt_component cases = {.kind = NT_COMPONENT_CASES, .name = name, .type = type};
    if (!nt_component_next_sample(builder, &names)) {
        cases.is_sample = true;
        nt_component_add(builder, &cases);
        return;
    }
    if (!names.length) {
        add_unread_pointer(builder, name, type, nt_component_reason_of_sample(builder));
        return;
    }
    struct nt_text class_name = next_line(&names);
    if (!names.length) {
        nt_component_close_objects(builder, add_case(builder, name, type, class_name));
        return;
    }
    cases.count = 1;
    uint32_t index = nt_component_open(builder, &cases);
    for (; class_name.length; class_name = next_line(&names))
        nt_component_close(builder, add_case(builder, class_name, class_name, class_name));
    nt_component_close(builder, index);
}

void nt_component_add_pointer(struct nt_component_builder *builder, struct nt_text name, struct nt_text type)
{
    const struct nt_streamer_class *class = find_only_class(builder, type);
    enum nt_cpp_kind kind = nt_cpp_type_parse(nt_cpp_type_parse(type).arguments[0]).kind;
    if (class)
        nt_component_close_objects(builder, add_case(builder, name, type, class->name));
    else if (kind == NT_CPP_CLASS)
        add_sampled_pointer(builder, name, type);
    else if (kind == NT_CPP_NUMBER)
        nt_component_add_unknown(builder, name, type, NT_COMPONENT_BARE,
                                 "ROOT does not store pointers to numbers");
    else
        add_unread_pointer(builder, name, type, "cannot read what pointers of this type lead to");
}

/* ---- C++ types ---- */

void nt_component_add_string(struct nt_component_builder *builder, struct nt_text name, struct nt_text type,
                             enum nt_component_header header, uint8_t length_bytes)
{
    nt_component_add(builder, &(struct nt_component){.kind = NT_COMPONENT_STRING,
                                                     .header = header,
                                                     .name = name,
                                                     .type = type,
                                                     .length_bytes = length_bytes});
}

/* The basic type of a collection's items, or of a member of a pair (without `collection`), if they are an
 * enumeration, which files do not describe; else 0. The file can describe the collection as a class with one
 * element, itself. Its description may have another type than int, although it stores int; and nothing
 * describes nested collections. Then the first baskets must have items, all of which can be read so. No
 * instance of a template is an enumeration. */
static int32_t enumeration_type(struct nt_component_builder *builder, struct nt_text collection,
                                const struct nt_cpp_type *item, int32_t content, bool *is_sample_ret)
{
    struct nt_text found;
    if (builder->failure.status != NT_OK || item->kind != NT_CPP_CLASS || nt_custom_is_known(item->name) ||
        nt_component_find_class(builder, item->name, NT_STREAMER_NEWEST, 0))
        return 0;
    const struct nt_streamer_class *class =
        content ? NULL : nt_component_find_class(builder, collection, NT_STREAMER_NEWEST, 0);
    if (class && class->element_count == 1)
        content = class->elements[0].content_type;
    if (content < 0 || content >= NT_STREAMER_OFFSET_L ||
        (!content && memchr(item->name.bytes, '<', item->name.length)))
        return 0;
    int32_t type = content ? content : NT_STREAMER_INT, otherwise = content ? NT_STREAMER_INT : 0;
    if (type == otherwise)
        return type;
    if (nt_component_next_sample(builder, &found))
        return found.length ? type : otherwise;
    *is_sample_ret = builder->sample_count == builder->known_samples + 1; /* one at a time */
    return *is_sample_ret ? type : otherwise;
}

static void add_collection(struct nt_component_builder *builder, struct nt_text name, struct nt_text text,
                           const struct nt_cpp_type *type, enum nt_component_header header, int32_t content)
{
    const struct nt_cpp_type item = nt_cpp_type_parse(type->arguments[0]);
    bool is_bitset = type->kind == NT_CPP_BITSET, is_sample = false;
    uint32_t index = nt_component_open(
        builder, &(struct nt_component){
                     .kind = NT_COMPONENT_COLLECTION, .header = header, .name = name, .type = text});
    int32_t number =
        is_bitset ? NT_STREAMER_BOOL : enumeration_type(builder, text, &item, content, &is_sample);
    if (number)
        nt_component_add_number(builder, nt_item_name, is_bitset ? NT_TEXT("bool") : type->arguments[0],
                                number, (struct nt_text){0});
    else
        nt_component_add_type(builder, nt_item_name, type->arguments[0], NT_COMPONENT_BARE, 0);
    nt_component_close(builder, index);
    if (builder->failure.status != NT_OK || index + 1 >= builder->count)
        return;
    builder->components[index + 1].is_sample |= is_sample;
    builder->components[index].has_class = (item.kind == NT_CPP_CLASS || item.kind == NT_CPP_PAIR) &&
                                           builder->components[index + 1].header == NT_COMPONENT_OWN &&
                                           !builder->components[index + 1].is_tobject;
}

/* The description of the items of a map, as ROOT spells their class; or NULL. */
static const struct nt_streamer_class *find_pair(struct nt_component_builder *builder,
                                                 const struct nt_text arguments[2])
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer name = {0};
    bool has_bracket = arguments[1].length && arguments[1].bytes[arguments[1].length - 1] == '>';
    nt_buffer_append_string(&name, "pair<");
    nt_buffer_append(&name, arguments[0].bytes, arguments[0].length);
    nt_buffer_append_byte(&name, ',');
    nt_buffer_append(&name, arguments[1].bytes, arguments[1].length);
    nt_buffer_append_string(&name, has_bracket ? " >" : ">");
    if (name.failed)
        return NULL;
    const struct nt_streamer_class *found =
        nt_streamer_find(builder->info, (struct nt_text){name.bytes, name.length}, NT_STREAMER_NEWEST);
    return found && found->element_count == 2 ? found : NULL;
}

/* `class`: NULL: the members are those of the template's arguments, and may be enumerations, as items of
 * collections may. Its elements say which enumerations are numbers. */
static void add_pair_members(struct nt_component_builder *builder, const struct nt_cpp_type *type,
                             const struct nt_streamer_class *class, const char *const names[2])
{
    for (size_t i = 0; i < 2; i++) {
        const struct nt_streamer_element *element = class ? &class->elements[i] : NULL;
        struct nt_text name = nt_text_of(names[i]), argument = type->arguments[i];
        const struct nt_cpp_type member = nt_cpp_type_parse(argument);
        struct nt_number number;
        bool is_sample = false;
        int32_t basic =
            element ? element->type : enumeration_type(builder, (struct nt_text){0}, &member, 0, &is_sample);
        if (member.kind == NT_CPP_CLASS && nt_number_of(basic, (struct nt_text){0}, &number))
            nt_component_add_number(builder, name, argument, basic, (struct nt_text){0});
        else
            nt_component_add_type(builder, name, argument, NT_COMPONENT_SHARED,
                                  element ? element->content_type : 0);
        if (is_sample && builder->failure.status == NT_OK)
            builder->components[builder->count - 1].is_sample = true;
    }
}

/* A pair that the file does not describe is that of its template's arguments. */
static void add_pair(struct nt_component_builder *builder, struct nt_text name, struct nt_text text,
                     const struct nt_cpp_type *type)
{
    if (nt_component_find_class(builder, type->name, NT_STREAMER_NEWEST, 0)) {
        nt_component_add_object(builder, name, type->name, NT_STREAMER_NEWEST, 0);
        return;
    }
    uint32_t index = nt_component_open(
        builder, &(struct nt_component){
                     .kind = NT_COMPONENT_RECORD, .header = NT_COMPONENT_OWN, .name = name, .type = text});
    add_pair_members(builder, type, NULL, (const char *[]){"first", "second"});
    nt_component_close(builder, index);
}

/* A key or value of an unknown type may be an enumeration without a header: the pair is skipped with its
 * map. */
static void replace_unknown_pair(struct nt_component_builder *builder, uint32_t item)
{
    if (builder->failure.status != NT_OK)
        return;
    const struct nt_component pair = builder->components[item];
    for (uint32_t i = item + 1; i < pair.end; i = builder->components[i].end) {
        if (builder->components[i].kind == NT_COMPONENT_UNKNOWN) {
            const char *reason = builder->components[i].unreadable;
            builder->count = item;
            nt_component_add_unknown(builder, pair.name, pair.type, NT_COMPONENT_OWN, reason);
            return;
        }
    }
}

/* Keys and values are called 0 and 1, as in other readers. */
static void add_map(struct nt_component_builder *builder, struct nt_text name, struct nt_text text,
                    const struct nt_cpp_type *type, enum nt_component_header header)
{
    uint32_t index = nt_component_open(builder, &(struct nt_component){.kind = NT_COMPONENT_COLLECTION,
                                                                       .header = header,
                                                                       .name = name,
                                                                       .type = text,
                                                                       .is_map = true,
                                                                       .has_class = true});
    uint32_t item = nt_component_open(
        builder, &(struct nt_component){
                     .kind = NT_COMPONENT_RECORD, .name = nt_item_name, .type = text, .is_map_item = true});
    add_pair_members(builder, type, find_pair(builder, type->arguments), (const char *[]){"0", "1"});
    nt_component_close(builder, item);
    replace_unknown_pair(builder, item);
    nt_component_close(builder, index);
}

void nt_component_add_type(struct nt_component_builder *builder, struct nt_text name, struct nt_text text,
                           enum nt_component_header header, int32_t content)
{
    struct nt_cpp_type type = nt_cpp_type_parse(text);
    if (builder->failure.status != NT_OK)
        return;
    switch (type.kind) {
    case NT_CPP_NUMBER:
        nt_component_add_number(builder, name, text, type.number, (struct nt_text){0});
        break;
    case NT_CPP_STRING:
        nt_component_add_string(builder, name, text, header, 1);
        break;
    case NT_CPP_TSTRING:
        nt_component_add_string(builder, name, text, NT_COMPONENT_BARE, 1);
        break;
    case NT_CPP_CHAR_STAR:
        nt_component_add_string(builder, name, text, NT_COMPONENT_BARE, sizeof(int32_t));
        break;
    case NT_CPP_COLLECTION:
    case NT_CPP_BITSET:
        add_collection(builder, name, text, &type, header, content);
        break;
    case NT_CPP_MAP:
        add_map(builder, name, text, &type, header);
        break;
    case NT_CPP_PAIR:
        add_pair(builder, name, text, &type);
        break;
    case NT_CPP_POINTER:
        nt_component_add_pointer(builder, name, text);
        break;
    case NT_CPP_CLASS:
        add_class(builder, name, type.name, NT_STREAMER_NEWEST, 0, header);
        break;
    }
}
