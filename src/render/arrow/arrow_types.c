/* SPDX-License-Identifier: MIT
 *
 * In: a node, whose values have a format string of Arrow's C data interface ("Data type description"). Out: what the
 * schema of a file has for it (Arrow's Schema.fbs): which member of the union Type, and its table.
 */
#include <string.h>

#include "render/arrow/arrow_internal.h"
#include "core/json/decimal.h"
#include "render/arrow/flatbuffer.h"

/* Type of Schema.fbs. */
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
    const char *format; /* of a time stamp, what stands before its zone */
    unsigned type;
    struct {
        unsigned bytes; /* 0: the table ends before */
        uint64_t value; /* bits, precision, unit, whether it has a sign */
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

/* What is neither a number nor a time is bytes, "w:" and their number. */
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

/* Of arrays that are no primitives, by kind, and of those with offsets by whether these have 32 bits. */
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

unsigned nt_arrow_type_number(const struct nt_arrow_node *node)
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

/* The zone of a time stamp, where it has one, stands behind its unit. */
static void write_primitive(const struct nt_dtype *dtype, struct nt_buffer *out, size_t place)
{
    enum { ZONE = 1 };
    struct primitive primitive = primitive_of(dtype);
    struct nt_table table = {0};
    for (unsigned i = 0; i < SLOTS && primitive.slots[i].bytes; i++)
        nt_table_set(&table, i, primitive.slots[i].bytes, primitive.slots[i].value);
    const char *zone = primitive.type == TYPE_TIMESTAMP ? dtype->arrow + strlen(primitive.format) : "";
    if (*zone)
        nt_table_set_offset(&table, ZONE);
    nt_flatbuffer_table(out, place, &table);
    if (*zone)
        nt_flatbuffer_string(out, table.places[ZONE], zone, strlen(zone));
}

void nt_arrow_write_type(const struct nt_arrow_node *node, struct nt_buffer *out, size_t place)
{
    struct nt_table table = {0};
    if (node->kind == NT_ARROW_PRIMITIVE) {
        write_primitive(node->dtype, out, place);
        return;
    }
    if (node->kind == NT_ARROW_FIXED_LIST) {
        nt_table_set(&table, 0, 4, node->list_size);
    } else if (node->kind == NT_ARROW_UNION) {
        nt_table_set(&table, 0, 2, 1); /* dense */
        nt_table_set_offset(&table, 1);
    }
    nt_flatbuffer_table(out, place, &table);
    if (node->kind == NT_ARROW_UNION) {
        nt_flatbuffer_vector(out, table.places[1], node->child_count, 4);
        for (uint32_t i = 0; i < node->child_count; i++)
            nt_buffer_le32(out, i);
    }
}
