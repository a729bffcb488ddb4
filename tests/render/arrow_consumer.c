/* SPDX-License-Identifier: MIT
 *
 * Reads Arrow arrays as a consumer of the C data interface does, into lines like those of rows.
 */
#include "arrow_consumer.h"

#include <string.h>

#include "support.h"
#include "core/json/json.h"
#include "render/render.h"
#include "core/base/memory.h"
#include "core/model/model.h"
#include "render/arrow/arrow.h"

struct nt_arrow *open_arrow_with(struct builder *builder, enum nt_arrow_unions unions)
{
    struct nt_error error;
    struct nt_arrow *arrow;
    struct nt_arrow_options options = NT_ARROW_OPTIONS_INIT;
    options.unions = unions;
    assert_ok(nt_arrow_new(builder->reader, builder->dataset, &options, &arrow, &error));
    return arrow;
}

struct nt_arrow *open_arrow(struct builder *builder)
{
    return open_arrow_with(builder, NT_ARROW_UNIONS_STRUCT);
}

bool has_broken_variant(const struct builder *builder, const struct nt_arrow *arrow)
{
    const char *reason;
    for (uint32_t i = 0; i < nt_arrow_omitted_fields(arrow); i++)
        for (uint32_t field = nt_arrow_omitted_field(arrow, i, &reason); field != NT_NONE;
             field = builder->dataset->fields[field].parent)
            if (builder->dataset->fields[field].kind == NT_FIELD_VARIANT)
                return true;
    return false;
}

/* ---- a consumer of the C data interface ---- */

static bool is_valid(const struct ArrowArray *array, int64_t slot)
{
    const uint8_t *bits = array->buffers[0];
    return !bits || bits[slot / 8] >> slot % 8 & 1;
}

static void put_number(struct nt_json *json, char format, const struct ArrowArray *array, int64_t slot)
{
    static const struct {
        char format;
        enum nt_element element;
    } elements[] = {{'c', NT_ELEMENT_INT8},   {'C', NT_ELEMENT_UINT8},  {'s', NT_ELEMENT_INT16},
                    {'S', NT_ELEMENT_UINT16}, {'i', NT_ELEMENT_INT32},  {'I', NT_ELEMENT_UINT32},
                    {'l', NT_ELEMENT_INT64},  {'L', NT_ELEMENT_UINT64}, {'e', NT_ELEMENT_REAL16},
                    {'f', NT_ELEMENT_REAL32}, {'g', NT_ELEMENT_REAL64}};
    size_t row = 0;
    while (row < sizeof(elements) / sizeof(*elements) && elements[row].format != format)
        row++;
    ck_assert_msg(row < sizeof(elements) / sizeof(*elements), "format %c", format);
    const struct nt_dtype dtype = nt_element_dtype(elements[row].element);
    nt_json_element(json, &dtype, (const uint8_t *)array->buffers[1] + slot * dtype.bytes);
}

/* 32 bits if the format is that of the small types. */
static int64_t offset_at(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t slot)
{
    bool is_short =
        strchr("uz", schema->format[0]) || !strcmp(schema->format, "+l") || !strcmp(schema->format, "+m");
    return is_short ? ((const int32_t *)array->buffers[1])[slot] : ((const int64_t *)array->buffers[1])[slot];
}

static void put_items(struct nt_json *json, const struct ArrowSchema *schema, const struct ArrowArray *array,
                      int64_t first, int64_t end)
{
    ck_assert_int_le(0, first);
    ck_assert_int_le(first, end);
    ck_assert_int_le(end, array->children[0]->length);
    nt_json_array(json);
    for (int64_t i = first; i < end; i++)
        put_slot(json, schema->children[0], array->children[0], i);
    nt_json_end_array(json);
}

static void put_bytes(struct nt_json *json, const struct ArrowSchema *schema, const struct ArrowArray *array,
                      int64_t slot)
{
    int64_t first = offset_at(schema, array, slot), end = offset_at(schema, array, slot + 1);
    const char *bytes = (const char *)array->buffers[2] + first;
    ck_assert_int_le(0, first);
    ck_assert_int_le(first, end);
    if (strchr("Uu", schema->format[0]))
        nt_json_bytes(json, bytes, (size_t)(end - first));
    else
        nt_json_base64(json, (const uint8_t *)bytes, (size_t)(end - first));
}

static void put_struct(struct nt_json *json, const struct ArrowSchema *schema, const struct ArrowArray *array,
                       int64_t slot)
{
    nt_json_object(json);
    for (int64_t i = 0; i < schema->n_children; i++) {
        ck_assert_int_eq(array->children[i]->length, array->length);
        nt_json_key(json, schema->children[i]->name);
        put_slot(json, schema->children[i], array->children[i], slot);
    }
    nt_json_end_object(json);
}

/* A variant as a struct: its tag, then the alternatives; all but one are null. */
static bool is_variant(const struct ArrowSchema *schema)
{
    return schema->n_children && !strcmp(schema->children[0]->name, "tag");
}

static void put_variant(struct nt_json *json, const struct ArrowSchema *schema,
                        const struct ArrowArray *array, int64_t slot)
{
    uint32_t tag = ((const uint32_t *)array->children[0]->buffers[1])[slot];
    ck_assert_int_lt(tag, schema->n_children);
    for (int64_t i = 1; i < schema->n_children; i++)
        ck_assert(i == tag || !strncmp(schema->children[i]->format, "+ud", 3) ||
                  !is_valid(array->children[i], slot));
    if (tag)
        put_slot(json, schema->children[tag], array->children[tag], slot);
    else
        nt_json_null(json);
}

static void put_union(struct nt_json *json, const struct ArrowSchema *schema, const struct ArrowArray *array,
                      int64_t slot)
{
    int8_t type = ((const int8_t *)array->buffers[0])[slot];
    int32_t offset = ((const int32_t *)array->buffers[1])[slot];
    ck_assert(type >= 0 && type < schema->n_children);
    ck_assert(offset >= 0 && offset < array->children[type]->length);
    put_slot(json, schema->children[type], array->children[type], offset);
}

void put_slot(struct nt_json *json, const struct ArrowSchema *schema, const struct ArrowArray *array,
              int64_t slot)
{
    const char *format = schema->format;
    int64_t size = strtoll(strchr(format, ':') ? strchr(format, ':') + 1 : "0", NULL, 10);
    ck_assert_int_lt(slot, array->length);
    if (!strncmp(format, "+ud", 3))
        put_union(json, schema, array, slot);
    else if (!strcmp(format, "n") || !is_valid(array, slot))
        nt_json_null(json);
    else if (!strcmp(format, "+s") && is_variant(schema))
        put_variant(json, schema, array, slot);
    else if (!strcmp(format, "+s"))
        put_struct(json, schema, array, slot);
    else if (!strcmp(format, "+L") || !strcmp(format, "+l") || !strcmp(format, "+m"))
        put_items(json, schema, array, offset_at(schema, array, slot), offset_at(schema, array, slot + 1));
    else if (!strncmp(format, "+w", 2))
        put_items(json, schema, array, slot * size, (slot + 1) * size);
    else if (!strcmp(format, "b"))
        nt_json_bool(json, ((const uint8_t *)array->buffers[1])[slot / 8] >> slot % 8 & 1);
    else if (strchr("UuZz", format[0]))
        put_bytes(json, schema, array, slot);
    else
        put_number(json, format[0], array, slot);
}

/* All entries, a line each. */
void lines_from_arrow(const struct nt_arrow *arrow, struct nt_buffer *out)
{
    struct nt_error error;
    struct ArrowSchema schema;
    assert_ok(nt_arrow_export_schema(arrow, &schema, &error));
    for (uint32_t batch = 0; batch < nt_arrow_batches(arrow); batch++) {
        struct ArrowArray array;
        assert_ok(nt_arrow_export_batch(arrow, batch, &array, &error));
        for (int64_t slot = 0; slot < array.length; slot++) {
            struct nt_json json;
            nt_json_init(&json, out, true);
            put_slot(&json, &schema, &array, slot);
            nt_buffer_append_byte(out, '\n');
        }
        array.release(&array);
    }
    schema.release(&schema);
}

void lines_from_rows(struct builder *builder, struct nt_buffer *out)
{
    struct nt_error error;
    struct nt_text_generator *text;
    bool more = true;
    assert_ok(nt_rows_lines(builder->reader, builder->dataset, NT_NONE, 0, UINT64_MAX, &text, &error));
    while (more)
        assert_ok(text->next(text, out, &more, &error));
    text->free(text);
}

/* A number of pairs, then length and bytes of each key and value. */
void find_metadata(const struct ArrowSchema *schema, const char *key, char *value, size_t room)
{
    const char *at = schema->metadata;
    int32_t count, length, value_length;
    memcpy(&count, at, 4);
    at += 4;
    for (int32_t i = 0; i < count; i++) {
        memcpy(&length, at, 4);
        memcpy(&value_length, at + 4 + length, 4);
        if ((size_t)length == strlen(key) && !memcmp(at + 4, key, (size_t)length)) {
            ck_assert_uint_lt((size_t)value_length, room);
            memcpy(value, at + 8 + length, (size_t)value_length);
            value[value_length] = '\0';
            return;
        }
        at += 8 + length + value_length;
    }
    ck_abort_msg("no key %s", key);
}

void omitted(const struct nt_arrow *arrow, char *value, size_t room)
{
    struct nt_error error;
    struct ArrowSchema schema;
    assert_ok(nt_arrow_export_schema(arrow, &schema, &error));
    find_metadata(&schema, "ntuple.left_out", value, room);
    schema.release(&schema);
}

void read_file(struct nt_arrow *arrow, uint64_t offset, size_t bytes, uint8_t *output)
{
    struct nt_error error;
    assert_ok(nt_arrow_file_read(arrow, offset, output, bytes, &error));
}
