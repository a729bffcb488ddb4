/* SPDX-License-Identifier: MIT
 *
 * Arrow types, names and metadata of nodes, as the table Schema (Schema.fbs) and in the C data interface.
 * The C data and C stream interfaces export the schema and the batches of a table to memory that the
 * consumer releases.
 */
#include "render/arrow/arrow.h"

#include <errno.h>

#include "core/json/json.h"
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

static unsigned arrow_type_number(const struct nt_arrow_node *node)
{
    if (node->kind == NT_ARROW_PRIMITIVE)
        return primitive_of(node->dtype).type;
    if (node->is_binary)
        return node->has_short_offsets ? TYPE_BINARY : TYPE_LARGE_BINARY;
    return kinds[node->kind][node->has_short_offsets].type;
}

/* The format string of the C data interface without parameters; NULL: no format. */
static const char *arrow_format(const struct nt_arrow_node *node)
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
    struct nt_flatbuffer_fields table = {0};
    for (unsigned i = 0; i < SLOTS && primitive.slots[i].bytes; i++)
        nt_flatbuffer_set(&table, i, primitive.slots[i].bytes, primitive.slots[i].value);
    const char *zone = primitive.type == TYPE_TIMESTAMP ? dtype->arrow + strlen(primitive.format) : "";
    if (*zone)
        nt_flatbuffer_set_offset(&table, ZONE);
    nt_flatbuffer_table(out, field_offset, &table);
    if (*zone)
        nt_flatbuffer_string(out, table.field_offsets[ZONE], zone, strlen(zone));
}

static void arrow_write_type(const struct nt_arrow_node *node, struct nt_buffer *out, size_t field_offset)
{
    struct nt_flatbuffer_fields table = {0};
    if (node->kind == NT_ARROW_PRIMITIVE) {
        write_primitive(node->dtype, out, field_offset);
        return;
    }
    if (node->kind == NT_ARROW_FIXED_LIST) {
        nt_flatbuffer_set(&table, 0, 4, node->list_size);
    } else if (node->kind == NT_ARROW_UNION) {
        nt_flatbuffer_set(&table, 0, 2, 1); /* dense */
        nt_flatbuffer_set_offset(&table, 1);
    }
    nt_flatbuffer_table(out, field_offset, &table);
    if (node->kind == NT_ARROW_UNION) {
        nt_flatbuffer_vector(out, table.field_offsets[1], node->child_count, 4);
        for (uint32_t i = 0; i < node->child_count; i++)
            nt_buffer_le32(out, i);
    }
}

/* ---- Names and metadata ---- */

enum {
    FIELD_NAME,
    FIELD_NULLABLE,
    FIELD_TYPE_TYPE,
    FIELD_TYPE,
    FIELD_DICTIONARY,
    FIELD_CHILDREN,
    FIELD_METADATA
};

/* The metadata of a node (0: the table): our keys, and properties of the file under their own keys.
 * Texts are UTF-8; the caller deinits them. */
struct metadata_pair {
    struct nt_buffer key, value;
};

/* Appends a text as UTF-8, which Arrow requires. Escapes invalid UTF-8 as \x... */
static void arrow_append_text(struct nt_buffer *out, struct nt_text text)
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

static uint32_t arrow_pair_count(const struct nt_arrow *arrow, uint32_t node)
{
    const struct nt_field *field = declared_field(arrow, node);
    uint32_t added = field && arrow->nodes[node].texts && find_extension(field) == NT_NONE, count;
    if (!field)
        return node ? 0 : TABLE_PAIRS;
    nt_field_properties(field, &count);
    return 1 + count + added;
}

static struct metadata_pair pair_of(const struct nt_arrow *arrow, uint32_t node, uint32_t number)
{
    const struct nt_field *field = declared_field(arrow, node);
    struct metadata_pair pair = {0};
    struct nt_text value;
    const char *key = "ntuple.type";
    if (field && number) {
        const struct nt_property property = property_of(arrow, node, field, number - 1);
        arrow_append_text(&pair.key, property.key);
        arrow_append_text(&pair.value, property.value);
        return pair;
    }
    if (!field && number == TABLE_PAIRS - 1) {
        nt_buffer_append_string(&pair.key, "ntuple.left_out");
        append_omitted(arrow, &pair.value);
        return pair;
    }
    value = field ? field->type : text_of_table(arrow->dataset, number, &key);
    nt_buffer_append_string(&pair.key, key);
    arrow_append_text(&pair.value, value);
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
    uint32_t count = arrow_pair_count(arrow, node);
    size_t field_offsets = nt_flatbuffer_offsets(out, field_offset, count);
    for (uint32_t i = 0; i < count; i++) {
        struct metadata_pair pair = pair_of(arrow, node, i);
        struct nt_flatbuffer_fields table = {0};
        nt_flatbuffer_set_offset(&table, 0);
        nt_flatbuffer_set_offset(&table, 1);
        nt_flatbuffer_table(out, field_offsets + 4 * i, &table);
        write_string(out, table.field_offsets[0], &pair.key);
        write_string(out, table.field_offsets[1], &pair.value);
    }
}

static void write_field(const struct nt_arrow *arrow, uint32_t number, struct nt_buffer *out,
                        size_t field_offset)
{
    const struct nt_arrow_node *node = &arrow->nodes[number];
    struct nt_flatbuffer_fields table = {0};
    struct nt_buffer name = {0};
    nt_flatbuffer_set_offset(&table, FIELD_NAME);
    nt_flatbuffer_set(&table, FIELD_NULLABLE, 1, node->is_nullable);
    nt_flatbuffer_set(&table, FIELD_TYPE_TYPE, 1, arrow_type_number(node));
    nt_flatbuffer_set_offset(&table, FIELD_TYPE);
    nt_flatbuffer_set_offset(&table, FIELD_CHILDREN);
    nt_flatbuffer_set_offset(&table, FIELD_METADATA);
    nt_flatbuffer_table(out, field_offset, &table);
    arrow_append_text(&name, node->name);
    write_string(out, table.field_offsets[FIELD_NAME], &name);
    arrow_write_type(node, out, table.field_offsets[FIELD_TYPE]);
    size_t children = nt_flatbuffer_offsets(out, table.field_offsets[FIELD_CHILDREN], node->child_count);
    for (uint32_t child = number + 1, i = 0; child < node->end; child = arrow->nodes[child].end, i++)
        write_field(arrow, child, out, children + 4 * i);
    write_metadata(arrow, number, out, table.field_offsets[FIELD_METADATA]);
}

void nt_arrow_write_schema(const struct nt_arrow *arrow, struct nt_buffer *out, size_t field_offset)
{
    enum { ENDIANNESS, FIELDS, METADATA };
    struct nt_flatbuffer_fields table = {0};
    nt_flatbuffer_set_offset(&table, FIELDS);
    nt_flatbuffer_set_offset(&table, METADATA);
    nt_flatbuffer_table(out, field_offset, &table);
    size_t fields = nt_flatbuffer_offsets(out, table.field_offsets[FIELDS], arrow->nodes[0].child_count);
    for (uint32_t node = 1, i = 0; node < arrow->node_count; node = arrow->nodes[node].end, i++)
        write_field(arrow, node, out, fields + 4 * i);
    write_metadata(arrow, 0, out, table.field_offsets[METADATA]);
}

/* ---- Schema ---- */

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i] && schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    free(schema->children);
    free((char *)schema->format);
    free((char *)schema->name);
    free((char *)schema->metadata);
    *schema = (struct ArrowSchema){0};
}

/* Returns the text of a buffer, which the caller frees; NULL: out of memory. */
static char *take_text(struct nt_buffer *text)
{
    nt_buffer_append_byte(text, '\0');
    if (text->failed)
        nt_buffer_deinit(text);
    return text->bytes;
}

static char *format_of(const struct nt_arrow_node *node)
{
    struct nt_buffer format = {0};
    nt_buffer_append_string(&format, arrow_format(node));
    if (node->kind == NT_ARROW_FIXED_LIST)
        nt_buffer_append_format(&format, "%llu", (unsigned long long)node->list_size);
    for (uint32_t i = 0; i < node->child_count && node->kind == NT_ARROW_UNION; i++)
        nt_buffer_append_format(&format, i ? ",%u" : "%u", i);
    return take_text(&format);
}

/* Appends the length and the bytes of a text, and deinits it. */
static void append_sized(struct nt_buffer *out, struct nt_buffer *text)
{
    int32_t count = (int32_t)text->length;
    nt_buffer_append(out, &count, sizeof(count));
    nt_buffer_append(out, nt_buffer_string(text), text->length);
    out->failed |= text->length > INT32_MAX;
    nt_buffer_deinit_part(text, out);
}

/* Format: the number of pairs, then length and bytes of each key and value, in native byte order. */
static bool set_metadata(const struct nt_arrow *arrow, uint32_t number, struct ArrowSchema *schema)
{
    struct nt_buffer out = {0};
    uint32_t count = arrow_pair_count(arrow, number);
    nt_buffer_append(&out, &(int32_t){(int32_t)count}, sizeof(int32_t));
    for (uint32_t i = 0; i < count; i++) {
        struct metadata_pair pair = pair_of(arrow, number, i);
        append_sized(&out, &pair.key);
        append_sized(&out, &pair.value);
    }
    if (out.failed)
        nt_buffer_deinit(&out);
    schema->metadata = out.bytes;
    return out.bytes != NULL;
}

static bool export_schema_node(const struct nt_arrow *arrow, uint32_t number, struct ArrowSchema *schema)
{
    const struct nt_arrow_node *node = &arrow->nodes[number];
    struct nt_buffer name = {0};
    *schema = (struct ArrowSchema){.release = release_schema};
    arrow_append_text(&name, node->name);
    schema->format = format_of(node);
    schema->name = take_text(&name);
    schema->flags = node->is_nullable ? ARROW_FLAG_NULLABLE : 0;
    schema->children = calloc((size_t)node->child_count + 1, sizeof(struct ArrowSchema *));
    if (!schema->format || !schema->name || !schema->children || !set_metadata(arrow, number, schema))
        return false;
    schema->n_children = node->child_count;
    for (uint32_t child = number + 1, i = 0; child < node->end; child = arrow->nodes[child].end, i++) {
        schema->children[i] = calloc(1, sizeof(struct ArrowSchema));
        if (!schema->children[i] || !export_schema_node(arrow, child, schema->children[i]))
            return false;
    }
    return true;
}

enum nt_status nt_arrow_export_schema(const struct nt_arrow *arrow, struct ArrowSchema *schema_ret,
                                      struct nt_error *error)
{
    if (export_schema_node(arrow, 0, schema_ret))
        return NT_OK;
    release_schema(schema_ret);
    return nt_fail_memory(error);
}

/* ---- Arrays ---- */

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i] && array->children[i]->release)
            array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    free(array->children);
    for (int64_t i = 0; i < array->n_buffers; i++)
        free((void *)array->buffers[i]);
    free(array->buffers);
    *array = (struct ArrowArray){0};
}

/* A batch on its way into arrays. */
struct export
{
    const struct nt_arrow *arrow;
    const struct nt_arrow_body *body;
    void **memory; /* [buffer]; NULL: none, or moved into an array */
    struct nt_error *error;
};

static enum nt_status export_array_node(struct export *export, uint32_t number, struct ArrowArray *array)
{
    const struct nt_arrow_node *node = &export->arrow->nodes[number];
    *array = (struct ArrowArray){.release = release_array};
    array->length = (int64_t) export->body->slots[number];
    array->null_count = (int64_t) export->body->null_counts[number];
    uint32_t buffers = number == 0 ? 1 : node->buffer_count; /* the table is a struct without nulls */
    array->buffers = calloc(buffers + 1, sizeof(void *));
    array->children = calloc(node->child_count + 1, sizeof(struct ArrowArray *));
    NT_TRY(nt_check_memory(array->buffers && array->children, export->error));
    array->n_buffers = buffers;
    array->n_children = node->child_count;
    for (uint32_t i = 0; i < node->buffer_count; i++) {
        array->buffers[i] = export->memory[node->first_buffer + i];
        export->memory[node->first_buffer + i] = NULL;
    }
    for (uint32_t child = number + 1, i = 0; child < node->end;
         child = export->arrow->nodes[child].end, i++) {
        array->children[i] = calloc(1, sizeof(struct ArrowArray));
        NT_TRY(array->children[i] ? export_array_node(export, child, array->children[i])
                                  : nt_fail_memory(export->error));
    }
    return NT_OK;
}

static enum nt_status export_body(const struct nt_arrow *arrow, struct nt_arrow_body *body,
                                  struct ArrowArray *array, struct nt_error *error)
{
    struct export export = {.arrow = arrow, .body = body, .error = error};
    export.memory = calloc((size_t)arrow->buffer_count + 1, sizeof(*export.memory));
    enum nt_status status =
        export.memory ? nt_arrow_decode_body(arrow, body, export.memory, error) : nt_fail_memory(error);
    if (status == NT_OK)
        status = export_array_node(&export, 0, array);
    for (uint32_t i = 0; export.memory && i < arrow->buffer_count; i++)
        free(export.memory[i]);
    free(export.memory);
    return status;
}

enum nt_status nt_arrow_export_batch(const struct nt_arrow *arrow, uint32_t batch,
                                     struct ArrowArray *array_ret, struct nt_error *error)
{
    NT_AUTO_FREE struct nt_arrow_body *body = NULL;
    if (batch >= arrow->batch_count)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "batch %u does not exist: there are %u batches",
                       batch, arrow->batch_count);
    NT_TRY(nt_reader_after_fork(arrow->reader, error));
    NT_TRY(nt_arrow_body_new(arrow, nt_arrow_batch(arrow, batch).cluster, &body, error));
    *array_ret = (struct ArrowArray){.release = release_array};
    enum nt_status status = export_body(arrow, body, array_ret, error);
    if (status != NT_OK)
        release_array(array_ret);
    return status;
}

/* ---- C stream interface ---- */

struct batches {
    const struct nt_arrow *arrow;
    uint32_t next;
    void (*on_release)(void *context);
    void *context;
    struct nt_error error;
};

static int errno_of(const struct nt_error *error)
{
    switch (error->status) {
    case NT_NO_MEMORY:
        return ENOMEM;
    case NT_UNSUPPORTED:
        return ENOTSUP;
    case NT_IO:
        return error->system_error ? error->system_error : EIO;
    default:
        return EIO;
    }
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema_ret)
{
    struct batches *batches = stream->private_data;
    batches->error = (struct nt_error){0};
    if (nt_arrow_export_schema(batches->arrow, schema_ret, &batches->error) == NT_OK)
        return 0;
    return errno_of(&batches->error);
}

/* Returns a released array at the end of the stream. */
static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *array_ret)
{
    struct batches *batches = stream->private_data;
    batches->error = (struct nt_error){0};
    *array_ret = (struct ArrowArray){0};
    if (batches->next == nt_arrow_batches(batches->arrow))
        return 0;
    if (nt_arrow_export_batch(batches->arrow, batches->next, array_ret, &batches->error) != NT_OK)
        return errno_of(&batches->error);
    batches->next++;
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    struct batches *batches = stream->private_data;
    return batches->error.status == NT_OK ? NULL : batches->error.message;
}

static void release(struct ArrowArrayStream *stream)
{
    struct batches *batches = stream->private_data;
    if (batches->on_release)
        batches->on_release(batches->context);
    free(batches);
    *stream = (struct ArrowArrayStream){0};
}

enum nt_status nt_arrow_export_stream(const struct nt_arrow *arrow, void (*on_release)(void *context),
                                      void *context, struct ArrowArrayStream *stream_ret,
                                      struct nt_error *error)
{
    struct batches *batches = calloc(1, sizeof(*batches));
    NT_TRY(nt_check_memory(batches, error));
    batches->arrow = arrow;
    batches->on_release = on_release;
    batches->context = context;
    *stream_ret = (struct ArrowArrayStream){
        .get_schema = get_schema,
        .get_next = get_next,
        .get_last_error = get_last_error,
        .release = release,
        .private_data = batches,
    };
    return NT_OK;
}
