/* SPDX-License-Identifier: MIT
 *
 * Arrow types, names and metadata of nodes, for the C data interface and the table Schema (Schema.fbs).
 */
#include "render/arrow/arrow.h"

#include <string.h>

#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "render/render.h"

/* ---- Types of nodes ---- */

/* The union Type of Schema.fbs. */
enum {
    TYPE_NULL = 1,
    TYPE_INT = 2,
    TYPE_FLOATING_POINT = 3,
    TYPE_BINARY = 4,
    TYPE_UTF8 = 5,
    TYPE_BOOL = 6,
    TYPE_DECIMAL = 7,
    TYPE_DATE = 8,
    TYPE_TIME = 9,
    TYPE_TIMESTAMP = 10,
    TYPE_LIST = 12,
    TYPE_STRUCT = 13,
    TYPE_UNION = 14,
    TYPE_FIXED_SIZE_BINARY = 15,
    TYPE_FIXED_SIZE_LIST = 16,
    TYPE_MAP = 17,
    TYPE_DURATION = 18,
    TYPE_LARGE_BINARY = 19,
    TYPE_LARGE_UTF8 = 20,
    TYPE_LARGE_LIST = 21,
};

enum { SLOTS = 3 };

struct primitive {
    const char *format; /* a timestamp: the part before its time zone */
    unsigned type;
    struct {
        unsigned bytes; /* 0: end of the table */
        uint64_t value; /* bits, precision, unit or signedness */
    } slots[SLOTS];
};

static const struct primitive primitives[] = {
    {"c", TYPE_INT, {{4, 8}, {1, true}}},  {"C", TYPE_INT, {{4, 8}, {1, false}}},
    {"s", TYPE_INT, {{4, 16}, {1, true}}}, {"S", TYPE_INT, {{4, 16}, {1, false}}},
    {"i", TYPE_INT, {{4, 32}, {1, true}}}, {"I", TYPE_INT, {{4, 32}, {1, false}}},
    {"l", TYPE_INT, {{4, 64}, {1, true}}}, {"L", TYPE_INT, {{4, 64}, {1, false}}},
    {"e", TYPE_FLOATING_POINT, {{2, 0}}},  {"f", TYPE_FLOATING_POINT, {{2, 1}}},
    {"g", TYPE_FLOATING_POINT, {{2, 2}}},  {"tdD", TYPE_DATE, {{2, 0}}},
    {"tdm", TYPE_DATE, {{2, 1}}},          {"tts", TYPE_TIME, {{2, 0}, {4, 32}}},
    {"ttm", TYPE_TIME, {{2, 1}, {4, 32}}}, {"ttu", TYPE_TIME, {{2, 2}, {4, 64}}},
    {"ttn", TYPE_TIME, {{2, 3}, {4, 64}}}, {"tss:", TYPE_TIMESTAMP, {{2, 0}}},
    {"tsm:", TYPE_TIMESTAMP, {{2, 1}}},    {"tsu:", TYPE_TIMESTAMP, {{2, 2}}},
    {"tsn:", TYPE_TIMESTAMP, {{2, 3}}},    {"tDs", TYPE_DURATION, {{2, 0}}},
    {"tDm", TYPE_DURATION, {{2, 1}}},      {"tDu", TYPE_DURATION, {{2, 2}}},
    {"tDn", TYPE_DURATION, {{2, 3}}},
};

static bool is_format(const char *format, const struct primitive *primitive)
{
    return primitive->type == TYPE_TIMESTAMP ? !strncmp(format, primitive->format, strlen(primitive->format))
                                             : !strcmp(format, primitive->format);
}

/* Other types are fixed-size binaries ("w:" and the size). */
static struct primitive primitive_of(const struct nt_dtype *dtype)
{
    struct nt_decimal decimal;
    for (size_t i = 0; i < sizeof(primitives) / sizeof(*primitives); i++)
        if (is_format(dtype->arrow, &primitives[i]))
            return primitives[i];
    if (nt_decimal_of(dtype, &decimal))
        return (struct primitive){
            .type = TYPE_DECIMAL,
            .slots = {{4, decimal.precision}, {4, (uint32_t)decimal.scale}, {4, decimal.bits}}};
    return (struct primitive){.type = TYPE_FIXED_SIZE_BINARY, .slots = {{4, dtype->bytes}}};
}

/* Types of the other kinds; [1]: with 32-bit offsets. */
static const struct {
    unsigned type;
    const char *format;
} kinds[NT_ARROW_KIND_COUNT][2] = {
    [NT_ARROW_NULL] = {{TYPE_NULL, "n"}},
    [NT_ARROW_EMPTY] = {{TYPE_FIXED_SIZE_BINARY, "w:0"}},
    [NT_ARROW_BOOL] = {{TYPE_BOOL, "b"}},
    [NT_ARROW_BYTES] = {{TYPE_LARGE_UTF8, "U"}, {TYPE_UTF8, "u"}},
    [NT_ARROW_LIST] = {{TYPE_LARGE_LIST, "+L"}, {TYPE_LIST, "+l"}},
    [NT_ARROW_MAP] = {{0, NULL}, {TYPE_MAP, "+m"}},
    [NT_ARROW_STRUCT] = {{TYPE_STRUCT, "+s"}},
    [NT_ARROW_FIXED_LIST] = {{TYPE_FIXED_SIZE_LIST, "+w:"}},
    [NT_ARROW_UNION] = {{TYPE_UNION, "+ud:"}},
};

static unsigned nt_arrow_type_number(const struct nt_arrow_node *node)
{
    if (node->kind == NT_ARROW_PRIMITIVE)
        return primitive_of(node->dtype).type;
    if (node->is_binary)
        return node->has_short_offsets ? TYPE_BINARY : TYPE_LARGE_BINARY;
    return kinds[node->kind][node->has_short_offsets].type;
}

const char *nt_arrow_format(const struct nt_arrow_node *node)
{
    if (node->kind == NT_ARROW_PRIMITIVE)
        return node->dtype->arrow;
    if (node->is_binary)
        return node->has_short_offsets ? "z" : "Z";
    return kinds[node->kind][node->has_short_offsets].format;
}

/* The time zone of a timestamp follows its unit. */
static void write_primitive(const struct nt_dtype *dtype, struct nt_buffer *out, size_t field_offset)
{
    enum { ZONE = 1 };
    struct primitive primitive = primitive_of(dtype);
    struct nt_table table = {0};
    for (unsigned i = 0; i < SLOTS && primitive.slots[i].bytes; i++)
        nt_table_set(&table, i, primitive.slots[i].bytes, primitive.slots[i].value);
    const char *zone = primitive.type == TYPE_TIMESTAMP ? dtype->arrow + strlen(primitive.format) : "";
    if (*zone)
        nt_table_set_offset(&table, ZONE);
    nt_flatbuffer_table(out, field_offset, &table);
    if (*zone)
        nt_flatbuffer_string(out, table.field_offsets[ZONE], zone, strlen(zone));
}

static void nt_arrow_write_type(const struct nt_arrow_node *node, struct nt_buffer *out, size_t field_offset)
{
    struct nt_table table = {0};
    if (node->kind == NT_ARROW_PRIMITIVE) {
        write_primitive(node->dtype, out, field_offset);
        return;
    }
    if (node->kind == NT_ARROW_FIXED_LIST) {
        nt_table_set(&table, 0, 4, node->list_size);
    } else if (node->kind == NT_ARROW_UNION) {
        nt_table_set(&table, 0, 2, 1); /* dense */
        nt_table_set_offset(&table, 1);
    }
    nt_flatbuffer_table(out, field_offset, &table);
    if (node->kind == NT_ARROW_UNION) {
        nt_flatbuffer_vector(out, table.field_offsets[1], node->child_count, 4);
        for (uint32_t i = 0; i < node->child_count; i++)
            nt_buffer_le32(out, i);
    }
}

/* ---- Names, metadata and Schema table ---- */

enum {
    FIELD_NAME,
    FIELD_NULLABLE,
    FIELD_TYPE_TYPE,
    FIELD_TYPE,
    FIELD_DICTIONARY,
    FIELD_CHILDREN,
    FIELD_METADATA
};

/* ---- Names and metadata ---- */

void nt_arrow_append_text(struct nt_buffer *out, struct nt_text text)
{
    if (nt_is_utf8(text.bytes, text.length))
        nt_buffer_append(out, text.bytes, text.length);
    else
        nt_append_printable(out, text.bytes, text.length);
}

/* Appends the fields that Arrow cannot express and the clusters that it cannot hold, as JSON. */
static void append_omitted(const struct nt_arrow *arrow, struct nt_buffer *out)
{
    struct nt_json json;
    nt_json_init(&json, out, true);
    nt_json_array(&json);
    for (uint32_t i = 0; i < arrow->omitted_count; i++) {
        nt_json_object(&json);
        nt_json_member_field_path(&json, "field", arrow->dataset, arrow->omitted[i].field);
        nt_json_member_string(&json, "reason", arrow->omitted[i].reason);
        nt_json_end_object(&json);
    }
    for (uint32_t i = 0; i < arrow->omitted_cluster_count; i++) {
        uint64_t first, entries = nt_arrow_omitted_cluster(arrow, i, &first);
        nt_json_object(&json);
        nt_json_member_unsigned(&json, "first_entry", first);
        nt_json_member_unsigned(&json, "entries", entries);
        nt_json_member_string(&json, "reason", "the cluster has more items than Arrow's types can count");
        nt_json_end_object(&json);
    }
    nt_json_end_array(&json);
}

/* The metadata of the table. */
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

static const struct nt_field *declared_field(const struct nt_arrow *arrow, uint32_t node)
{
    uint32_t type_field = arrow->nodes[node].type_field;
    return type_field == NT_NONE ? NULL : &arrow->dataset->fields[type_field];
}

/* Returns the index of the property with the extension type; NT_NONE: none. */
static uint32_t find_extension(const struct nt_field *field)
{
    uint32_t count;
    const struct nt_property *properties = nt_field_properties(field, &count);
    for (uint32_t i = 0; i < count; i++)
        if (nt_text_is(properties[i].key, extension_key))
            return i;
    return NT_NONE;
}

/* Returns a property. JSON strings have the type arrow.json instead of that of the file. */
static struct nt_property property_of(const struct nt_arrow *arrow, uint32_t node,
                                      const struct nt_field *field, uint32_t number)
{
    uint32_t extension = find_extension(field), count;
    const struct nt_property *properties = nt_field_properties(field, &count);
    if (arrow->nodes[node].texts && (number == extension || number == count))
        return (struct nt_property){nt_text_of(extension_key), nt_text_of("arrow.json")};
    return properties[number];
}

uint32_t nt_arrow_pair_count(const struct nt_arrow *arrow, uint32_t node)
{
    const struct nt_field *field = declared_field(arrow, node);
    uint32_t added = field && arrow->nodes[node].texts && find_extension(field) == NT_NONE, count;
    if (!field)
        return node ? 0 : TABLE_PAIRS;
    nt_field_properties(field, &count);
    return 1 + count + added;
}

struct nt_arrow_pair nt_arrow_pair(const struct nt_arrow *arrow, uint32_t node, uint32_t number)
{
    const struct nt_field *field = declared_field(arrow, node);
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
        append_omitted(arrow, &pair.value);
        return pair;
    }
    value = field ? field->type : text_of_table(arrow->dataset, number, &key);
    nt_buffer_text(&pair.key, key);
    nt_arrow_append_text(&pair.value, value);
    return pair;
}

/* ---- Tables ---- */

/* Writes a text and deinits it. */
static void write_string(struct nt_buffer *out, size_t field_offset, struct nt_buffer *text)
{
    nt_flatbuffer_string(out, field_offset, nt_buffer_string(text), text->length);
    nt_buffer_deinit_part(text, out);
}

static void write_metadata(const struct nt_arrow *arrow, uint32_t node, struct nt_buffer *out,
                           size_t field_offset)
{
    uint32_t count = nt_arrow_pair_count(arrow, node);
    size_t field_offsets = nt_flatbuffer_offsets(out, field_offset, count);
    for (uint32_t i = 0; i < count; i++) {
        struct nt_arrow_pair pair = nt_arrow_pair(arrow, node, i);
        struct nt_table table = {0};
        nt_table_set_offset(&table, 0);
        nt_table_set_offset(&table, 1);
        nt_flatbuffer_table(out, field_offsets + 4 * i, &table);
        write_string(out, table.field_offsets[0], &pair.key);
        write_string(out, table.field_offsets[1], &pair.value);
    }
}

static void write_field(const struct nt_arrow *arrow, uint32_t number, struct nt_buffer *out,
                        size_t field_offset)
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
    nt_flatbuffer_table(out, field_offset, &table);
    nt_arrow_append_text(&name, node->name);
    write_string(out, table.field_offsets[FIELD_NAME], &name);
    nt_arrow_write_type(node, out, table.field_offsets[FIELD_TYPE]);
    size_t children = nt_flatbuffer_offsets(out, table.field_offsets[FIELD_CHILDREN], node->child_count);
    for (uint32_t child = number + 1, i = 0; child < node->end; child = arrow->nodes[child].end, i++)
        write_field(arrow, child, out, children + 4 * i);
    write_metadata(arrow, number, out, table.field_offsets[FIELD_METADATA]);
}

void nt_arrow_write_schema(const struct nt_arrow *arrow, struct nt_buffer *out, size_t field_offset)
{
    enum { ENDIANNESS, FIELDS, METADATA };
    struct nt_table table = {0};
    nt_table_set_offset(&table, FIELDS);
    nt_table_set_offset(&table, METADATA);
    nt_flatbuffer_table(out, field_offset, &table);
    size_t fields = nt_flatbuffer_offsets(out, table.field_offsets[FIELDS], arrow->nodes[0].child_count);
    for (uint32_t node = 1, i = 0; node < arrow->node_count; node = arrow->nodes[node].end, i++)
        write_field(arrow, node, out, fields + 4 * i);
    write_metadata(arrow, 0, out, table.field_offsets[METADATA]);
}
