/* SPDX-License-Identifier: MIT
 *
 * In: the bytes of a message that lists fields: the FileDescriptor of a file (lance's protos/file.proto), the
 * Manifest of a data set. Out: the fields. A field names its parent by an id; fields stand depth first, so that
 * the parent stands before it.
 */
#include "formats/lance/file/schema.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/hash_table.h"

bool nt_lance_find_entry(struct nt_proto message, uint32_t map, const char *key, struct nt_text *value_ret)
{
    struct nt_proto_item item;
    while (nt_proto_next(&message, &item)) {
        const struct nt_proto entry = {item.bytes, item.size};
        if (item.number != map || !nt_text_is(nt_proto_text(entry, NT_LANCE_ENTRY_KEY), key))
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

static uint64_t count_entries(struct nt_proto message, uint32_t map)
{
    struct nt_proto_item item;
    uint64_t count = 0;
    while (nt_proto_next(&message, &item))
        count += item.number == map;
    return count;
}

enum nt_status nt_lance_read_entries(struct nt_file *file, struct nt_proto message, uint32_t map,
                                     const struct nt_property **properties_ret, uint32_t *count_ret,
                                     struct nt_error *error)
{
    struct nt_proto_item item;
    uint64_t count = count_entries(message, map);
    enum nt_status status = nt_budget_take(&file->budget, NT_COST_JSON_VALUE, count, NT_NO_OFFSET, error);
    if (status != NT_OK || !count)
        return status;
    struct nt_property *property = nt_arena_alloc(file->arena, count, sizeof(*property));
    *properties_ret = property;
    *count_ret = (uint32_t)count;
    while (property && nt_proto_next(&message, &item)) {
        const struct nt_proto entry = {item.bytes, item.size};
        if (item.number != map)
            continue;
        if (!nt_text_copy(file->arena, nt_proto_text(entry, NT_LANCE_ENTRY_KEY), &property->key) ||
            !nt_text_copy(file->arena, nt_proto_text(entry, NT_LANCE_ENTRY_VALUE), &property->value))
            return nt_fail_memory(error);
        property++;
    }
    return property ? NT_OK : nt_fail_memory(error);
}

/* ---- fields by their ids ---- */

struct known_id {
    struct nt_link link;
    int32_t id;
    uint32_t field;
};

static const struct known_id *find_id(const struct nt_hash_table *ids, int32_t id)
{
    struct nt_link *link = nt_hash_table_find(ids, (uint32_t)id);
    for (; link; link = nt_hash_table_next(link))
        if (NT_LINKED(link, struct known_id, link)->id == id)
            return NT_LINKED(link, struct known_id, link);
    return NULL;
}

struct reading {
    struct nt_file *file;
    const struct nt_lance_message *message; /* that the fields lie in */
    struct nt_lance_field *fields;
    uint32_t count;
    struct known_id *known; /* one for each field */
    struct nt_hash_table ids;
    struct nt_error *error;
};

static uint64_t place_of(const struct reading *reading, struct nt_proto message)
{
    return reading->message->offset + (uint64_t)(message.bytes - reading->message->message.bytes);
}

static enum nt_status find_parent(struct reading *reading, struct nt_lance_field *field)
{
    enum { TOP_LEVEL = -1 };
    int32_t parent_id = (int32_t)nt_proto_number(field->message, NT_LANCE_FIELD_PARENT_ID);
    field->parent = NT_NONE;
    if (parent_id == TOP_LEVEL)
        return NT_OK;
    const struct known_id *parent = find_id(&reading->ids, parent_id);
    if (!parent)
        return nt_fail(reading->error, NT_CORRUPT, place_of(reading, field->message),
                       "field %" PRId32 ": no field in front of it has the id of its parent, %" PRId32,
                       field->id, parent_id);
    field->parent = parent->field;
    return NT_OK;
}

static enum nt_status add_id(struct reading *reading, uint32_t number)
{
    const struct nt_lance_field *field = &reading->fields[number];
    struct known_id *known = &reading->known[number];
    if (find_id(&reading->ids, field->id))
        return nt_fail(reading->error, NT_CORRUPT, place_of(reading, field->message),
                       "field %" PRIu32 " has the id %" PRId32 " of another one", number, field->id);
    known->id = field->id;
    known->field = number;
    nt_hash_table_insert(&reading->ids, &known->link, (uint32_t)field->id);
    return NT_OK;
}

/* ---- descriptions of blobs ---- */

/* Of a data set the extension tells, of its data files the encoding. */
static bool is_description(struct nt_proto field)
{
    return nt_text_is(nt_proto_text(field, NT_LANCE_FIELD_LOGICAL_TYPE), "struct") &&
           (has_metadata(field, "lance-encoding:blob", "true") ||
            has_metadata(field, "ARROW:extension:name", "lance.blob.v2"));
}

/* What each consists of (lance's rust/lance-core/src/datatypes.rs). No schema tells: those of data sets have what blobs are made from
 * below it, those of data files these, without an id and beside it. */
static const struct {
    const char *name, *logical_type;
} description[] = {
    {"kind", "uint8"},     {"position", "uint64"}, {"size", "uint64"},
    {"blob_id", "uint32"}, {"blob_uri", "string"},
};
enum { DESCRIPTION_FIELDS = sizeof(description) / sizeof(*description) };

static void add_description(struct reading *reading)
{
    const uint32_t parent = reading->count - 1;
    const struct nt_proto nothing = {reading->fields[parent].message.bytes, 0};
    for (uint32_t i = 0; i < DESCRIPTION_FIELDS; i++)
        reading->fields[reading->count++] =
            (struct nt_lance_field){.id = NT_LANCE_NO_ID,
                                    .parent = parent,
                                    .name = nt_text_of(description[i].name),
                                    .logical_type = nt_text_of(description[i].logical_type),
                                    .message = nothing};
}

/* ---- all fields ---- */

static enum nt_status read_field(struct reading *reading, struct nt_proto message)
{
    struct nt_arena *arena = reading->file->arena;
    struct nt_lance_field *field = &reading->fields[reading->count];
    field->message = message;
    field->id = (int32_t)nt_proto_number(message, NT_LANCE_FIELD_ID);
    field->is_nullable = nt_proto_number(message, NT_LANCE_FIELD_NULLABLE);
    field->is_description = is_description(message);
    if (!nt_text_copy(arena, nt_proto_text(message, NT_LANCE_FIELD_NAME), &field->name) ||
        !nt_text_copy(arena, nt_proto_text(message, NT_LANCE_FIELD_LOGICAL_TYPE), &field->logical_type))
        return nt_fail_memory(reading->error);
    enum nt_status status = find_parent(reading, field);
    bool is_input = field->parent != NT_NONE && reading->fields[field->parent].is_description;
    if (status != NT_OK || is_input)
        return status;
    status = add_id(reading, reading->count++);
    if (status == NT_OK && field->is_description)
        add_description(reading);
    return status;
}

/* The next field of a list. */
static bool next_field(struct nt_proto *list, struct nt_proto *field_ret)
{
    struct nt_proto_item item;
    while (nt_proto_next(list, &item)) {
        *field_ret = (struct nt_proto){item.bytes, item.size};
        if (item.number == NT_LANCE_SCHEMA_FIELDS &&
            (int32_t)nt_proto_number(*field_ret, NT_LANCE_FIELD_ID) != NT_LANCE_NO_ID)
            return true;
    }
    return false;
}

/* At most. */
static uint64_t count_fields(struct nt_proto list)
{
    struct nt_proto field;
    uint64_t count = 0;
    while (next_field(&list, &field))
        count += is_description(field) ? 1 + DESCRIPTION_FIELDS : 1;
    return count;
}

static enum nt_status read_fields(struct reading *reading, struct nt_proto list)
{
    struct nt_proto field;
    enum nt_status status = NT_OK;
    while (status == NT_OK && next_field(&list, &field))
        status = read_field(reading, field);
    return status;
}

enum nt_status nt_lance_read_fields(struct nt_file *file, const struct nt_lance_message *message,
                                    struct nt_proto list, struct nt_lance_schema *schema,
                                    struct nt_error *error)
{
    struct reading reading = {.file = file, .message = message, .error = error};
    uint64_t count = count_fields(list);
    enum nt_status status = nt_budget_take(&file->budget, NT_COST_FIELD, count, message->offset, error);
    if (status == NT_OK && count >= NT_NONE)
        status = nt_fail(error, NT_LIMIT, message->offset, "%" PRIu64 " fields", count);
    if (status != NT_OK)
        return status;
    reading.fields = nt_arena_alloc(file->arena, count, sizeof(*reading.fields));
    reading.known = calloc(count + 1, sizeof(*reading.known));
    bool has_table = nt_hash_table_init(&reading.ids);
    if (reading.fields && reading.known && has_table)
        status = read_fields(&reading, list);
    else
        status = nt_fail_memory(error);
    if (has_table)
        nt_hash_table_deinit(&reading.ids);
    free(reading.known);
    *schema = (struct nt_lance_schema){.fields = reading.fields, .field_count = reading.count};
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
    if (status == NT_OK)
        lance->rows = nt_proto_number(lance->descriptor, NT_LANCE_FILE_DESCRIPTOR_LENGTH);
    else
        nt_error_context(error, "schema");
    return status;
}

enum nt_status nt_lance_read_schema(struct nt_file *file, struct nt_lance *lance, struct nt_error *error)
{
    const struct nt_lance_message descriptor = descriptor_of(lance);
    struct nt_proto schema = nt_proto_message(lance->descriptor, NT_LANCE_FILE_DESCRIPTOR_SCHEMA);
    enum nt_status status = nt_lance_read_fields(file, &descriptor, schema, &lance->schema, error);
    lance->schema.has_item_columns = nt_lance_has_item_columns(&lance->tail);
    if (status != NT_OK)
        nt_error_context(error, "schema");
    return status;
}
