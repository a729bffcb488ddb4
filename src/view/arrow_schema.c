/* SPDX-License-Identifier: MIT
 *
 * The Schema table of a message or the footer: nodes come in, a FlatBuffers table as Arrow's Schema.fbs has
 * it goes out. What a node or the table is called and what is told about it is here, for the C data
 * interface, too.
 */
#include <string.h>

#include "base/text.h"
#include "json/json.h"
#include "view/json_values.h"
#include "view/arrow_internal.h"
#include "view/flatbuffer.h"

/* Type of Schema.fbs. */
enum {
    TYPE_NULL = 1,
    TYPE_INT = 2,
    TYPE_FLOATING_POINT = 3,
    TYPE_BOOL = 6,
    TYPE_TIMESTAMP = 10,
    TYPE_STRUCT = 13,
    TYPE_UNION = 14,
    TYPE_FIXED_SIZE_BINARY = 15,
    TYPE_FIXED_SIZE_LIST = 16,
    TYPE_DURATION = 18,
    TYPE_LARGE_BINARY = 19,
    TYPE_LARGE_UTF8 = 20,
    TYPE_LARGE_LIST = 21,
};

enum {
    FIELD_NAME,
    FIELD_NULLABLE,
    FIELD_TYPE_TYPE,
    FIELD_TYPE,
    FIELD_DICTIONARY,
    FIELD_CHILDREN,
    FIELD_METADATA
};

/* What Schema.fbs has for the format strings of the C data interface. */
static const struct primitive {
    const char *format;
    unsigned type;
    unsigned value_bytes; /* of the table's first slot */
    uint64_t value;       /* bits, precision, unit */
    bool is_signed;
} primitives[] = {
    {.format = "c", .type = TYPE_INT, .value_bytes = 4, .value = 8, .is_signed = true},
    {.format = "C", .type = TYPE_INT, .value_bytes = 4, .value = 8},
    {.format = "s", .type = TYPE_INT, .value_bytes = 4, .value = 16, .is_signed = true},
    {.format = "S", .type = TYPE_INT, .value_bytes = 4, .value = 16},
    {.format = "i", .type = TYPE_INT, .value_bytes = 4, .value = 32, .is_signed = true},
    {.format = "I", .type = TYPE_INT, .value_bytes = 4, .value = 32},
    {.format = "l", .type = TYPE_INT, .value_bytes = 4, .value = 64, .is_signed = true},
    {.format = "L", .type = TYPE_INT, .value_bytes = 4, .value = 64},
    {.format = "e", .type = TYPE_FLOATING_POINT, .value_bytes = 2, .value = 0},
    {.format = "f", .type = TYPE_FLOATING_POINT, .value_bytes = 2, .value = 1},
    {.format = "g", .type = TYPE_FLOATING_POINT, .value_bytes = 2, .value = 2},
    {.format = "tss:", .type = TYPE_TIMESTAMP, .value_bytes = 2, .value = 0},
    {.format = "tsm:", .type = TYPE_TIMESTAMP, .value_bytes = 2, .value = 1},
    {.format = "tsu:", .type = TYPE_TIMESTAMP, .value_bytes = 2, .value = 2},
    {.format = "tsn:", .type = TYPE_TIMESTAMP, .value_bytes = 2, .value = 3},
    {.format = "tDs", .type = TYPE_DURATION, .value_bytes = 2, .value = 0},
    {.format = "tDm", .type = TYPE_DURATION, .value_bytes = 2, .value = 1},
    {.format = "tDu", .type = TYPE_DURATION, .value_bytes = 2, .value = 2},
    {.format = "tDn", .type = TYPE_DURATION, .value_bytes = 2, .value = 3},
};

/* All others are bytes, "w:" and their number. */
static struct primitive primitive_of(const struct nt_dtype *dtype)
{
    for (size_t i = 0; i < sizeof(primitives) / sizeof(*primitives); i++)
        if (!strcmp(primitives[i].format, dtype->arrow))
            return primitives[i];
    return (struct primitive){.type = TYPE_FIXED_SIZE_BINARY, .value_bytes = 4, .value = dtype->bytes};
}

static unsigned type_number(const struct nt_arrow_node *node)
{
    switch (node->kind) {
    case NT_ARROW_NULL:
        return TYPE_NULL;
    case NT_ARROW_PRIMITIVE:
        return primitive_of(node->dtype).type;
    case NT_ARROW_BOOL:
        return TYPE_BOOL;
    case NT_ARROW_BYTES:
        return node->is_binary ? TYPE_LARGE_BINARY : TYPE_LARGE_UTF8;
    case NT_ARROW_LIST:
        return TYPE_LARGE_LIST;
    case NT_ARROW_FIXED_LIST:
        return TYPE_FIXED_SIZE_LIST;
    case NT_ARROW_UNION:
        return TYPE_UNION;
    case NT_ARROW_STRUCT:
    case NT_ARROW_KIND_COUNT:
        break;
    }
    return TYPE_STRUCT;
}

static void write_type(const struct nt_arrow_node *node, struct nt_buffer *out, size_t place)
{
    struct nt_table table = {0};
    unsigned type = type_number(node);
    if (node->kind == NT_ARROW_PRIMITIVE) {
        struct primitive primitive = primitive_of(node->dtype);
        nt_table_set(&table, 0, primitive.value_bytes, primitive.value);
        if (type == TYPE_INT)
            nt_table_set(&table, 1, 1, primitive.is_signed);
    } else if (type == TYPE_FIXED_SIZE_LIST) {
        nt_table_set(&table, 0, 4, node->list_size);
    } else if (type == TYPE_UNION) {
        nt_table_set(&table, 0, 2, 1); /* dense */
        nt_table_set_offset(&table, 1);
    }
    nt_flatbuffer_table(out, place, &table);
    if (type == TYPE_UNION) {
        nt_flatbuffer_vector(out, table.places[1], node->child_count, 4);
        for (uint32_t i = 0; i < node->child_count; i++)
            nt_buffer_le32(out, i);
    }
}

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

static struct nt_arrow_pair pair_of(const char *key, struct nt_text text)
{
    struct nt_arrow_pair pair = {.key = key};
    nt_arrow_append_text(&pair.value, text);
    return pair;
}

uint32_t nt_arrow_pairs(const struct nt_arrow *arrow, uint32_t node, struct nt_arrow_pair *pairs)
{
    const struct nt_dataset *dataset = arrow->dataset;
    uint32_t typed_by = arrow->nodes[node].typed_by;
    if (node > 0 && typed_by == NT_NONE)
        return 0;
    if (node > 0) {
        pairs[0] = pair_of("ntuple.type", dataset->fields[typed_by].type);
        return 1;
    }
    pairs[0] = pair_of("ntuple.file", nt_text_of(dataset->file->path));
    pairs[1] = pair_of("ntuple.name", dataset->title);
    pairs[2] = pair_of("ntuple.format", nt_text_of(dataset->format));
    pairs[3] = pair_of("ntuple.version", nt_text_of(dataset->version));
    pairs[4] = pair_of("ntuple.writer", dataset->writer);
    pairs[5] = (struct nt_arrow_pair){.key = "ntuple.left_out"};
    append_left_out(arrow, &pairs[5].value);
    return 6;
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
    struct nt_arrow_pair pairs[NT_ARROW_MOST_PAIRS];
    uint32_t count = nt_arrow_pairs(arrow, node, pairs);
    size_t places = nt_flatbuffer_offsets(out, place, count);
    for (uint32_t i = 0; i < count; i++) {
        struct nt_table table = {0};
        nt_table_set_offset(&table, 0);
        nt_table_set_offset(&table, 1);
        nt_flatbuffer_table(out, places + 4 * i, &table);
        nt_flatbuffer_string(out, table.places[0], pairs[i].key, strlen(pairs[i].key));
        write_string(out, table.places[1], &pairs[i].value);
    }
}

static void write_field(const struct nt_arrow *arrow, uint32_t number, struct nt_buffer *out, size_t place)
{
    const struct nt_arrow_node *node = &arrow->nodes[number];
    struct nt_table table = {0};
    struct nt_buffer name = {0};
    nt_table_set_offset(&table, FIELD_NAME);
    nt_table_set(&table, FIELD_NULLABLE, 1, nt_arrow_is_nullable(node));
    nt_table_set(&table, FIELD_TYPE_TYPE, 1, type_number(node));
    nt_table_set_offset(&table, FIELD_TYPE);
    nt_table_set_offset(&table, FIELD_CHILDREN);
    nt_table_set_offset(&table, FIELD_METADATA);
    nt_flatbuffer_table(out, place, &table);
    nt_arrow_append_text(&name, node->name);
    write_string(out, table.places[FIELD_NAME], &name);
    write_type(node, out, table.places[FIELD_TYPE]);
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
