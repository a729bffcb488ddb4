/* SPDX-License-Identifier: MIT
 *
 * Parses a Lance schema: the list of fields in a file descriptor or manifest, and the logical types
 * that name Arrow types.
 */
#include "formats/lance/file/file.h"

#include <stdio.h>

/* ---- Fields of a schema ---- */

bool nt_lance_find_entry(struct nt_proto message, uint32_t map, const char *key, struct nt_text *value_ret)
{
    struct nt_proto entry;
    while (nt_proto_next_message(&message, map, &entry)) {
        if (!nt_text_is(nt_proto_text(entry, NT_LANCE_ENTRY_KEY), key))
            continue;
        *value_ret = nt_proto_text(entry, NT_LANCE_ENTRY_VALUE);
        return true;
    }
    return false;
}

static bool has_metadata(struct nt_proto field, const char *key, const char *value)
{
    struct nt_text found;
    return nt_lance_find_entry(field, NT_LANCE_FIELD_METADATA, key, &found) && nt_text_is(found, value);
}

bool nt_lance_is_marked(const struct nt_lance_field *field, const char *key)
{
    return has_metadata(field->message, key, "true");
}

enum nt_status nt_lance_read_entries(struct nt_file *file, struct nt_proto message, uint32_t map,
                                     const struct nt_property **properties_ret, uint32_t *count_ret,
                                     struct nt_error *error)
{
    struct nt_proto entry;
    uint64_t count = nt_proto_count(message, map);
    NT_TRY(nt_budget_take(&file->budget, NT_COST_JSON_VALUE, count, NT_NO_OFFSET, error));
    if (!count)
        return NT_OK;
    struct nt_property *property = nt_arena_alloc(file->arena, count, sizeof(*property));
    *properties_ret = property;
    *count_ret = (uint32_t)count;
    while (property && nt_proto_next_message(&message, map, &entry)) {
        if (!nt_text_copy(file->arena, nt_proto_text(entry, NT_LANCE_ENTRY_KEY), &property->key) ||
            !nt_text_copy(file->arena, nt_proto_text(entry, NT_LANCE_ENTRY_VALUE), &property->value))
            return nt_fail_memory(error);
        property++;
    }
    return nt_check_memory(property, error);
}

/* ---- Fields by their ids ---- */

struct known_id {
    struct nt_hash_link link;
    int32_t id;
    uint32_t field;
};

static const struct known_id *find_id(const struct nt_hash_table *ids, int32_t id)
{
    struct nt_hash_link *link = nt_hash_table_find(ids, (uint32_t)id);
    for (; link; link = nt_hash_table_next(link))
        if (NT_CONTAINER_OF(link, struct known_id, link)->id == id)
            return NT_CONTAINER_OF(link, struct known_id, link);
    return NULL;
}

struct lance_schema_reader {
    struct nt_file *file;
    const struct nt_lance_message *message; /* contains the fields */
    struct nt_lance_field *fields;
    uint32_t count;
    struct known_id *known; /* one for each field */
    struct nt_hash_table ids;
    struct nt_error *error;
};

static uint64_t position_of(const struct lance_schema_reader *reader, struct nt_proto message)
{
    return reader->message->offset + (uint64_t)(message.bytes - reader->message->message.bytes);
}

static enum nt_status find_parent(struct lance_schema_reader *reader, struct nt_lance_field *field)
{
    enum { TOP_LEVEL = -1 };
    int32_t parent_id = (int32_t)nt_proto_number(field->message, NT_LANCE_FIELD_PARENT_ID);
    field->parent = NT_NONE;
    if (parent_id == TOP_LEVEL)
        return NT_OK;
    const struct known_id *parent = find_id(&reader->ids, parent_id);
    if (!parent)
        return nt_fail(reader->error, NT_CORRUPT, position_of(reader, field->message),
                       "field %" PRId32 ": no field before it has the id of its parent, %" PRId32, field->id,
                       parent_id);
    field->parent = parent->field;
    return NT_OK;
}

static enum nt_status add_id(struct lance_schema_reader *reader, uint32_t number)
{
    const struct nt_lance_field *field = &reader->fields[number];
    struct known_id *known = &reader->known[number];
    if (find_id(&reader->ids, field->id))
        return nt_fail(reader->error, NT_CORRUPT, position_of(reader, field->message),
                       "field %" PRIu32 " has the id %" PRId32 ", like another field", number, field->id);
    known->id = field->id;
    known->field = number;
    nt_hash_table_insert(&reader->ids, &known->link, (uint32_t)field->id);
    return NT_OK;
}

/* ---- Descriptions of blobs ---- */

/* The schema of a dataset has the extension, that of its data files the encoding. */
static bool is_description(struct nt_proto field)
{
    return nt_text_is(nt_proto_text(field, NT_LANCE_FIELD_LOGICAL_TYPE), "struct") &&
           (has_metadata(field, "lance-encoding:blob", "true") ||
            has_metadata(field, "ARROW:extension:name", "lance.blob.v2"));
}

/* The members of a description (lance's rust/lance-core/src/datatypes.rs). No schema contains them
 * properly: in datasets, the field's children are what the blobs were written from; in data files,
 * these members are present, but without ids and beside the field. */
static const struct {
    const char *name, *logical_type;
} description[] = {
    {"kind", "uint8"},     {"position", "uint64"}, {"size", "uint64"},
    {"blob_id", "uint32"}, {"blob_uri", "string"},
};
enum { DESCRIPTION_FIELDS = sizeof(description) / sizeof(*description) };

static void add_description(struct lance_schema_reader *reader)
{
    const uint32_t parent = reader->count - 1;
    const struct nt_proto nothing = {reader->fields[parent].message.bytes, 0};
    for (uint32_t i = 0; i < DESCRIPTION_FIELDS; i++)
        reader->fields[reader->count++] =
            (struct nt_lance_field){.id = NT_LANCE_NO_ID,
                                    .parent = parent,
                                    .name = nt_text_of(description[i].name),
                                    .logical_type = nt_text_of(description[i].logical_type),
                                    .message = nothing};
}

/* ---- All fields ---- */

static enum nt_status read_field(struct lance_schema_reader *reader, struct nt_proto message)
{
    struct nt_arena *arena = reader->file->arena;
    struct nt_lance_field *field = &reader->fields[reader->count];
    field->message = message;
    field->id = (int32_t)nt_proto_number(message, NT_LANCE_FIELD_ID);
    field->is_nullable = nt_proto_number(message, NT_LANCE_FIELD_NULLABLE);
    field->is_description = is_description(message);
    if (!nt_text_copy(arena, nt_proto_text(message, NT_LANCE_FIELD_NAME), &field->name) ||
        !nt_text_copy(arena, nt_proto_text(message, NT_LANCE_FIELD_LOGICAL_TYPE), &field->logical_type))
        return nt_fail_memory(reader->error);
    NT_TRY(find_parent(reader, field));
    bool is_input = field->parent != NT_NONE && reader->fields[field->parent].is_description;
    if (is_input)
        return NT_OK;
    NT_TRY(add_id(reader, reader->count++));
    if (field->is_description)
        add_description(reader);
    return NT_OK;
}

/* Finds the next field of a list. */
static bool next_field(struct nt_proto *list, struct nt_proto *field_ret)
{
    while (nt_proto_next_message(list, NT_LANCE_SCHEMA_FIELDS, field_ret))
        if ((int32_t)nt_proto_number(*field_ret, NT_LANCE_FIELD_ID) != NT_LANCE_NO_ID)
            return true;
    return false;
}

/* Returns an upper bound. */
static uint64_t count_fields(struct nt_proto list)
{
    struct nt_proto field;
    uint64_t count = 0;
    while (next_field(&list, &field))
        count += is_description(field) ? 1 + DESCRIPTION_FIELDS : 1;
    return count;
}

enum nt_status nt_lance_read_fields(struct nt_file *file, const struct nt_lance_message *message,
                                    struct nt_proto list, struct nt_lance_schema *schema,
                                    struct nt_error *error)
{
    struct lance_schema_reader reader = {.file = file, .message = message, .error = error};
    struct nt_proto field;
    uint64_t count = count_fields(list);
    NT_TRY(nt_budget_take(&file->budget, NT_COST_FIELD, count, message->offset, error));
    if (count >= NT_NONE)
        return nt_fail(error, NT_LIMIT, message->offset,
                       "the schema has %" PRIu64 " fields, more than the limit of 2^32", count);
    NT_AUTO_FREE struct known_id *known = calloc(count + 1, sizeof(*known));
    reader.fields = nt_arena_alloc(file->arena, count, sizeof(*reader.fields));
    reader.known = known;
    NT_TRY(nt_check_memory(reader.fields && known && nt_hash_table_init(&reader.ids), error));
    enum nt_status status = NT_OK;
    while (status == NT_OK && next_field(&list, &field))
        status = read_field(&reader, field);
    nt_hash_table_deinit(&reader.ids);
    *schema = (struct nt_lance_schema){.fields = reader.fields, .field_count = reader.count};
    return status;
}

static struct nt_lance_message descriptor_of(const struct nt_lance *lance)
{
    return (struct nt_lance_message){lance->descriptor, lance->globals[0].offset};
}

enum nt_status nt_lance_read_descriptor(struct nt_lance *lance, struct nt_error *error)
{
    const struct nt_lance_message descriptor = descriptor_of(lance);
    enum nt_status status =
        nt_proto_check(descriptor.message, &nt_lance_file_descriptor, descriptor.offset, error);
    NT_TRY(nt_with_context(status, error, "schema"));
    lance->rows = nt_proto_number(lance->descriptor, NT_LANCE_FILE_DESCRIPTOR_LENGTH);
    return NT_OK;
}

enum nt_status nt_lance_read_schema(struct nt_file *file, struct nt_lance *lance, struct nt_error *error)
{
    const struct nt_lance_message descriptor = descriptor_of(lance);
    struct nt_proto schema = nt_proto_message(lance->descriptor, NT_LANCE_FILE_DESCRIPTOR_SCHEMA);
    enum nt_status status = nt_lance_read_fields(file, &descriptor, schema, &lance->schema, error);
    lance->schema.has_item_columns = nt_lance_has_item_columns(&lance->tail);
    return nt_with_context(status, error, "schema");
}

/* ---- Types without parameters ---- */

static const struct {
    const char *name;
    enum nt_lance_shape shape;
    enum nt_element element;
    bool has_short_offsets, is_map, is_json;
} plain[] = {
    {"bool", NT_LANCE_IS_VALUE, NT_ELEMENT_BOOL, false, false, false},
    {"int8", NT_LANCE_IS_VALUE, NT_ELEMENT_INT8, false, false, false},
    {"uint8", NT_LANCE_IS_VALUE, NT_ELEMENT_UINT8, false, false, false},
    {"int16", NT_LANCE_IS_VALUE, NT_ELEMENT_INT16, false, false, false},
    {"uint16", NT_LANCE_IS_VALUE, NT_ELEMENT_UINT16, false, false, false},
    {"int32", NT_LANCE_IS_VALUE, NT_ELEMENT_INT32, false, false, false},
    {"uint32", NT_LANCE_IS_VALUE, NT_ELEMENT_UINT32, false, false, false},
    {"int64", NT_LANCE_IS_VALUE, NT_ELEMENT_INT64, false, false, false},
    {"uint64", NT_LANCE_IS_VALUE, NT_ELEMENT_UINT64, false, false, false},
    {"halffloat", NT_LANCE_IS_VALUE, NT_ELEMENT_REAL16, false, false, false},
    {"float", NT_LANCE_IS_VALUE, NT_ELEMENT_REAL32, false, false, false},
    {"double", NT_LANCE_IS_VALUE, NT_ELEMENT_REAL64, false, false, false},
    {"string", NT_LANCE_IS_TEXT, NT_ELEMENT_BYTE, true, false, false},
    {"large_string", NT_LANCE_IS_TEXT, NT_ELEMENT_BYTE, false, false, false},
    {"binary", NT_LANCE_IS_BYTES, NT_ELEMENT_BYTE, true, false, false},
    {"large_binary", NT_LANCE_IS_BYTES, NT_ELEMENT_BYTE, false, false, false},
    {"list", NT_LANCE_IS_LIST, NT_ELEMENT_BYTE, true, false, false},
    {"list.struct", NT_LANCE_IS_LIST, NT_ELEMENT_BYTE, true, false, false},
    {"large_list", NT_LANCE_IS_LIST, NT_ELEMENT_BYTE, false, false, false},
    {"large_list.struct", NT_LANCE_IS_LIST, NT_ELEMENT_BYTE, false, false, false},
    {"map", NT_LANCE_IS_LIST, NT_ELEMENT_BYTE, true, true, false},
    {"struct", NT_LANCE_IS_STRUCT, NT_ELEMENT_BYTE, false, false, false},
    {"null", NT_LANCE_IS_NULL, NT_ELEMENT_BYTE, false, false, false},
    {"json", NT_LANCE_IS_BYTES, NT_ELEMENT_BYTE, false, false, true},
    {"blob", NT_LANCE_IS_BLOB, NT_ELEMENT_BYTE, false, false, false},
};

/* ---- Types with other names in NumPy or Arrow ---- */

/* NumPy's dates and times have 64 bits, so 32-bit ones are shown as integers. A bfloat16 field is a
 * fixed-size binary with metadata; as items of fixed-size lists, the type has its own name. */
static const struct {
    const char *name;
    uint32_t bytes;
    const char *numpy, *arrow, *extension;
} named[] = {
    {"date32:day", 4, "<i4", "tdD", NULL},
    {"date64:ms", 8, "<M8[ms]", "tdm", NULL},
    {"time32:s", 4, "<i4", "tts", NULL},
    {"time32:ms", 4, "<i4", "ttm", NULL},
    {"time64:us", 8, "<m8[us]", "ttu", NULL},
    {"time64:ns", 8, "<m8[ns]", "ttn", NULL},
    {"duration:s", 8, "<m8[s]", "tDs", NULL},
    {"duration:ms", 8, "<m8[ms]", "tDm", NULL},
    {"duration:us", 8, "<m8[us]", "tDu", NULL},
    {"duration:ns", 8, "<m8[ns]", "tDn", NULL},
    {"lance.bfloat16", 2, "|V2", "w:2", "lance.bfloat16"},
};

static const struct {
    const char *unit, *numpy, *arrow;
} timestamps[] = {{"s:", "<M8[s]", "tss:"},
                  {"ms:", "<M8[ms]", "tsm:"},
                  {"us:", "<M8[us]", "tsu:"},
                  {"ns:", "<M8[ns]", "tsn:"}};

static void set_opaque(struct nt_lance_type *type, uint32_t bytes, const char *numpy, const char *arrow)
{
    bool is_number = bytes == 4 || bytes == 8;
    type->shape = NT_LANCE_IS_VALUE;
    type->value.bits = bytes * 8;
    type->dtype = (struct nt_dtype){.element = NT_ELEMENT_OPAQUE,
                                    .bytes = bytes,
                                    .number = !is_number   ? NT_ELEMENT_OPAQUE
                                              : bytes == 4 ? NT_ELEMENT_INT32
                                                           : NT_ELEMENT_INT64,
                                    .numpy = numpy,
                                    .arrow = arrow};
}

/* ---- Numbers in texts ---- */

/* Parses digits up to `end` or the end of the text; returns false if there are none, or too many. */
static bool take_number(struct nt_text *text, char end, uint64_t *number_ret)
{
    uint64_t number = 0;
    size_t i = 0;
    for (; i < text->length && text->bytes[i] >= '0' && text->bytes[i] <= '9' && number <= UINT32_MAX; i++)
        number = number * 10 + (uint64_t)(text->bytes[i] - '0');
    if (i == 0 || number > UINT32_MAX || (i < text->length && text->bytes[i] != end))
        return false;
    size_t used = i < text->length ? i + 1 : i;
    *text = (struct nt_text){text->bytes + used, text->length - used};
    *number_ret = number;
    return true;
}

/* ---- Types with parameters: each parser takes the text after its prefix ---- */

typedef enum nt_status take_parameters(struct nt_arena *arena, struct nt_text rest,
                                       struct nt_lance_type *type, struct nt_error *error);

static enum nt_status take_timestamp(struct nt_arena *arena, struct nt_text rest, struct nt_lance_type *type,
                                     struct nt_error *error)
{
    for (size_t i = 0; i < sizeof(timestamps) / sizeof(*timestamps); i++) {
        if (!nt_text_skip(&rest, timestamps[i].unit))
            continue;
        const char *arrow = nt_arena_format(arena, "%s%.*s", timestamps[i].arrow,
                                            nt_text_is(rest, "-") ? 0 : (int)rest.length, rest.bytes);
        NT_TRY(nt_check_memory(arrow, error));
        set_opaque(type, 8, timestamps[i].numpy, arrow);
        return NT_OK;
    }
    return NT_OK;
}

/* Is a text a decimal number that can be the scale of a decimal? */
static bool is_scale(struct nt_text text)
{
    enum { MAX_SCALE = 76 };
    uint64_t scale;
    nt_text_skip(&text, "-");
    return take_number(&text, '\0', &scale) && scale <= MAX_SCALE;
}

/* "128:10:2" is "d:10,2" in Arrow. */
static enum nt_status take_decimal(struct nt_arena *arena, struct nt_text rest, struct nt_lance_type *type,
                                   struct nt_error *error)
{
    enum { TEXT = 64, MAX_128 = 38, MAX_256 = 76 };
    uint64_t bits, precision;
    if (!take_number(&rest, ':', &bits) || !take_number(&rest, ':', &precision) ||
        (bits != 128 && bits != 256) || precision < 1 || precision > (bits == 128 ? MAX_128 : MAX_256) ||
        !is_scale(rest))
        return NT_OK;
    char *arrow = nt_arena_alloc(arena, TEXT, 1);
    NT_TRY(nt_check_memory(arrow, error));
    snprintf(arrow, TEXT, "d:%" PRIu64 ",%.*s%s", precision, (int)rest.length, rest.bytes,
             bits == 256 ? ",256" : "");
    set_opaque(type, (uint32_t)bits / 8, bits == 128 ? "|V16" : "|V32", arrow);
    return NT_OK;
}

static enum nt_status take_binary(struct nt_arena *arena, struct nt_text rest, struct nt_lance_type *type,
                                  struct nt_error *error)
{
    uint64_t bytes;
    struct nt_text digits = rest;
    if (!take_number(&rest, '\0', &bytes) || bytes > UINT32_MAX / 8)
        return NT_OK;
    if (!bytes) {
        type->shape = NT_LANCE_IS_EMPTY;
        return NT_OK;
    }
    const char *numpy = nt_arena_format(arena, "|V%.*s", (int)digits.length, digits.bytes),
               *arrow = nt_arena_format(arena, "w:%.*s", (int)digits.length, digits.bytes);
    NT_TRY(nt_check_memory(numpy && arrow, error));
    set_opaque(type, (uint32_t)bytes, numpy, arrow);
    type->dtype.number = NT_ELEMENT_OPAQUE;
    return NT_OK;
}

/* Cuts the text at its last colon; *behind_ret is the text after it. */
static void cut_after_colon(struct nt_text *text, struct nt_text *after_ret)
{
    size_t colon = text->length;
    while (colon && text->bytes[colon - 1] != ':')
        colon--;
    *after_ret = (struct nt_text){text->bytes + colon, text->length - colon};
    text->length = colon ? colon - 1 : 0;
}

static uint32_t integer_bits(struct nt_text name)
{
    nt_text_skip(&name, "u");
    return nt_text_is(name, "int8")    ? 8
           : nt_text_is(name, "int16") ? 16
           : nt_text_is(name, "int32") ? 32
           : nt_text_is(name, "int64") ? 64
                                       : 0;
}

/* "string:int32:false": the type of the values is before the last two parts. Within fixed-size lists,
 * Lance's writer writes dictionaries, but its reader rejects them. */
static enum nt_status take_dictionary(struct nt_arena *arena, struct nt_text rest, struct nt_lance_type *type,
                                      struct nt_error *error)
{
    struct nt_text ordered, index;
    if (type->value.list_count)
        return NT_OK;
    cut_after_colon(&rest, &ordered);
    cut_after_colon(&rest, &index);
    NT_TRY(nt_lance_parse_type(arena, rest, type, error));
    type->is_dictionary = true;
    type->index_bits = integer_bits(index);
    return NT_OK;
}

static const struct {
    const char *prefix;
    take_parameters *take;
} families[] = {
    {"timestamp:", take_timestamp},
    {"decimal:", take_decimal},
    {"fixed_size_binary:", take_binary},
    {"dict:", take_dictionary},
};

/* ---- Parse a type ---- */

static enum nt_status parse_inner(struct nt_arena *arena, struct nt_text text, struct nt_lance_type *type,
                                  struct nt_error *error)
{
    type->shape = NT_LANCE_IS_UNKNOWN;
    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
        if (nt_text_is(text, plain[i].name)) {
            type->shape = plain[i].shape;
            type->has_short_offsets = plain[i].has_short_offsets;
            type->is_map = plain[i].is_map;
            type->is_json = plain[i].is_json;
            type->dtype = nt_element_dtype(plain[i].element);
            if (type->shape == NT_LANCE_IS_VALUE)
                type->value.bits = plain[i].element == NT_ELEMENT_BOOL ? 1 : type->dtype.bytes * 8;
            return NT_OK;
        }
    for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
        if (nt_text_is(text, named[i].name)) {
            set_opaque(type, named[i].bytes, named[i].numpy, named[i].arrow);
            type->extension = named[i].extension;
            return NT_OK;
        }
    for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
        if (nt_text_skip(&text, families[i].prefix))
            return families[i].take(arena, text, type, error);
    return NT_OK;
}

/* Cuts the size of the list after the last colon; the rest is the type of its items. */
static bool cut_list(struct nt_text *text, uint64_t *items_ret)
{
    struct nt_text number;
    cut_after_colon(text, &number);
    return text->length && take_number(&number, '\0', items_ret);
}

enum nt_status nt_lance_parse_type(struct nt_arena *arena, struct nt_text text, struct nt_lance_type *type,
                                   struct nt_error *error)
{
    *type = (struct nt_lance_type){.shape = NT_LANCE_IS_UNKNOWN};
    struct nt_lance_value *value = &type->value;
    while (nt_text_skip(&text, "fixed_size_list:")) {
        if (value->list_count == NT_LANCE_DEPTH)
            return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                           "fixed-size lists are nested deeper than the limit of %d", NT_LANCE_DEPTH);
        if (!cut_list(&text, &value->lists[value->list_count++]))
            return NT_OK;
    }
    enum nt_status status = parse_inner(arena, text, type, error);
    value->is_empty = !value->bits && (type->shape == NT_LANCE_IS_EMPTY || type->shape == NT_LANCE_IS_NULL);
    if (!value->list_count || value->bits || value->is_empty)
        return status;
    bool is_struct_list = type->shape == NT_LANCE_IS_STRUCT && value->list_count == 1 && value->lists[0];
    type->shape = is_struct_list ? NT_LANCE_IS_STRUCT_LIST : NT_LANCE_IS_UNKNOWN;
    type->items = value->lists[0];
    value->list_count = 0; /* its items have columns of their own */
    return status;
}
