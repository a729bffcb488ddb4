/* SPDX-License-Identifier: MIT
 *
 * The Schema table of a message or the footer: nodes come in, a FlatBuffers table as Arrow's Schema.fbs has
 * it goes out. What a node or the table is called and what is told about it is here, for the C data
 * interface, too.
 */
#include <string.h>

#include "core/base/text.h"
#include "core/json/json.h"
#include "render/json_values.h"
#include "render/arrow/arrow_internal.h"
#include "render/arrow/flatbuffer.h"

enum {
    FIELD_NAME,
    FIELD_NULLABLE,
    FIELD_TYPE_TYPE,
    FIELD_TYPE,
    FIELD_DICTIONARY,
    FIELD_CHILDREN,
    FIELD_METADATA
};

/* ---- names and metadata ---- */

void nt_arrow_append_text(struct nt_buffer *out, struct nt_text text)
{
    if (nt_is_utf8(text.bytes, text.length))
        nt_buffer_append(out, text.bytes, text.length);
    else
        nt_append_printable(out, text.bytes, text.length);
}

/* Fields that Arrow cannot express, and clusters that it cannot hold, as JSON. */
static void append_left_out(const struct nt_arrow *arrow, struct nt_buffer *out)
{
    struct nt_json json;
    nt_json_init(&json, out, true);
    nt_json_array(&json);
    for (uint32_t i = 0; i < arrow->left_out_count; i++) {
        nt_json_object(&json);
        nt_json_member_field_path(&json, "field", arrow->dataset, arrow->left_out[i].field);
        nt_json_member_string(&json, "reason", arrow->left_out[i].reason);
        nt_json_end_object(&json);
    }
    for (uint32_t i = 0; i < arrow->left_out_cluster_count; i++) {
        uint64_t first, entries = nt_arrow_left_out_cluster(arrow, i, &first);
        nt_json_object(&json);
        nt_json_member_unsigned(&json, "first_entry", first);
        nt_json_member_unsigned(&json, "entries", entries);
        nt_json_member_string(&json, "reason", "a cluster that is larger than Arrow's types can count");
        nt_json_end_object(&json);
    }
    nt_json_end_array(&json);
}

/* What the table tells of itself. */
enum { TABLE_PAIRS = 6 };

static const char extension_key[] = "ARROW:extension:name";

static struct nt_text text_of_table(const struct nt_dataset *dataset, uint32_t number, const char **key_ret)
{
    const struct {
        const char *key;
        struct nt_text value;
    } pairs[TABLE_PAIRS - 1] = {
        {"ntuple.file", nt_text_of(dataset->file->path)},
        {"ntuple.name", dataset->title},
        {"ntuple.format", nt_text_of(dataset->format)},
        {"ntuple.version", nt_text_of(dataset->version)},
        {"ntuple.writer", dataset->writer},
    };
    *key_ret = pairs[number].key;
    return pairs[number].value;
}

static const struct nt_field *told_field(const struct nt_arrow *arrow, uint32_t node)
{
    uint32_t typed_by = arrow->nodes[node].typed_by;
    return typed_by == NT_NONE ? NULL : &arrow->dataset->fields[typed_by];
}

/* The number of the property that names an extension type; NT_NONE: there is none. */
static uint32_t find_extension(const struct nt_field *field)
{
    for (uint32_t i = 0; i < field->property_count; i++)
        if (nt_text_is(field->properties[i].key, extension_key))
            return i;
    return NT_NONE;
}

/* A property of a field, or the one that is added to those of texts of JSON: their type is Arrow's, not the file's. */
static struct nt_property property_of(const struct nt_arrow *arrow, uint32_t node,
                                      const struct nt_field *field, uint32_t number)
{
    uint32_t extension = find_extension(field);
    if (arrow->nodes[node].texts && (number == extension || number == field->property_count))
        return (struct nt_property){nt_text_of(extension_key), nt_text_of("arrow.json")};
    return field->properties[number];
}

uint32_t nt_arrow_pair_count(const struct nt_arrow *arrow, uint32_t node)
{
    const struct nt_field *field = told_field(arrow, node);
    uint32_t added = field && arrow->nodes[node].texts && find_extension(field) == NT_NONE;
    return field ? 1 + field->property_count + added : node ? 0 : TABLE_PAIRS;
}

struct nt_arrow_pair nt_arrow_pair(const struct nt_arrow *arrow, uint32_t node, uint32_t number)
{
    const struct nt_field *field = told_field(arrow, node);
    struct nt_arrow_pair pair = {0};
    struct nt_text value;
    const char *key = "ntuple.type";
    if (field && number) {
        const struct nt_property property = property_of(arrow, node, field, number - 1);
        nt_arrow_append_text(&pair.key, property.key);
        nt_arrow_append_text(&pair.value, property.value);
        return pair;
    }
    if (!field && number == TABLE_PAIRS - 1) {
        nt_buffer_text(&pair.key, "ntuple.left_out");
        append_left_out(arrow, &pair.value);
        return pair;
    }
    value = field ? field->type : text_of_table(arrow->dataset, number, &key);
    nt_buffer_text(&pair.key, key);
    nt_arrow_append_text(&pair.value, value);
    return pair;
}

/* ---- tables ---- */

/* Ends the text. */
static void write_string(struct nt_buffer *out, size_t place, struct nt_buffer *text)
{
    nt_flatbuffer_string(out, place, nt_buffer_string(text), text->length);
    nt_buffer_deinit_part(text, out);
}

static void write_metadata(const struct nt_arrow *arrow, uint32_t node, struct nt_buffer *out, size_t place)
{
    uint32_t count = nt_arrow_pair_count(arrow, node);
    size_t places = nt_flatbuffer_offsets(out, place, count);
    for (uint32_t i = 0; i < count; i++) {
        struct nt_arrow_pair pair = nt_arrow_pair(arrow, node, i);
        struct nt_table table = {0};
        nt_table_set_offset(&table, 0);
        nt_table_set_offset(&table, 1);
        nt_flatbuffer_table(out, places + 4 * i, &table);
        write_string(out, table.places[0], &pair.key);
        write_string(out, table.places[1], &pair.value);
    }
}

static void write_field(const struct nt_arrow *arrow, uint32_t number, struct nt_buffer *out, size_t place)
{
    const struct nt_arrow_node *node = &arrow->nodes[number];
    struct nt_table table = {0};
    struct nt_buffer name = {0};
    nt_table_set_offset(&table, FIELD_NAME);
    nt_table_set(&table, FIELD_NULLABLE, 1, node->is_nullable);
    nt_table_set(&table, FIELD_TYPE_TYPE, 1, nt_arrow_type_number(node));
    nt_table_set_offset(&table, FIELD_TYPE);
    nt_table_set_offset(&table, FIELD_CHILDREN);
    nt_table_set_offset(&table, FIELD_METADATA);
    nt_flatbuffer_table(out, place, &table);
    nt_arrow_append_text(&name, node->name);
    write_string(out, table.places[FIELD_NAME], &name);
    nt_arrow_write_type(node, out, table.places[FIELD_TYPE]);
    size_t children = nt_flatbuffer_offsets(out, table.places[FIELD_CHILDREN], node->child_count);
    for (uint32_t child = number + 1, i = 0; child < node->end; child = arrow->nodes[child].end, i++)
        write_field(arrow, child, out, children + 4 * i);
    write_metadata(arrow, number, out, table.places[FIELD_METADATA]);
}

void nt_arrow_write_schema(const struct nt_arrow *arrow, struct nt_buffer *out, size_t place)
{
    enum { ENDIANNESS, FIELDS, METADATA };
    struct nt_table table = {0};
    nt_table_set_offset(&table, FIELDS);
    nt_table_set_offset(&table, METADATA);
    nt_flatbuffer_table(out, place, &table);
    size_t fields = nt_flatbuffer_offsets(out, table.places[FIELDS], arrow->nodes[0].child_count);
    for (uint32_t node = 1, i = 0; node < arrow->node_count; node = arrow->nodes[node].end, i++)
        write_field(arrow, node, out, fields + 4 * i);
    write_metadata(arrow, 0, out, table.places[METADATA]);
}
