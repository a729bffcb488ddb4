/* SPDX-License-Identifier: MIT
 *
 * In: Lance's fields, depth first, and its columns. Out: fields and columns of the model.
 *
 * In version 2.0 each field has a column of the file; later only leaves have, whose levels tell of all that
 * surrounds them: a list or structure is then read from the first leaf below it. A leaf's layers are counted
 * from inside, so that a field so many steps above it is the layer of that number. Packed structures and
 * fixed-size lists are leaves.
 */
#include "format/lance/fields.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/overflow.h"
#include "format/lance/columns.h"
#include "format/lance/logical.h"
#include "model/builder.h"

/* Of a field of Lance's. */
struct place {
    struct nt_lance_type type;
    uint32_t depth; /* fields above it */
    uint32_t children;
    uint32_t leaf, leaf_column; /* the first one with a column at it or below it */
    uint32_t packed;            /* the packed structure that it is a member of, NT_NONE */
    uint32_t member;            /* its number there, of a packed structure: how many have been counted */
    uint64_t member_offset;     /* its first byte there, of a packed structure: behind all */
    uint32_t built;             /* the field of the model that its children lie in */
    bool is_packed;
    bool is_nullable; /* it, or a structure around it: what lies in a null structure is null */
    bool is_in_list;  /* it is a list within a packed structure, or lies in one */
};

struct building {
    struct nt_dataset *dataset;
    struct nt_lance *lance;
    struct place *places;
    struct nt_lance_use *uses;
    struct nt_lance_value *values; /* by Lance's field */
    struct nt_builder builder;
    uint32_t columns; /* of the file, that have been given out */
    bool is_2_0;
    struct nt_error *error;
};

/* ---- which columns are whose ---- */

static bool is_marked(const struct nt_lance_field *field, const char *key)
{
    struct nt_text value;
    return nt_lance_find_entry(field->message, NT_LANCE_FIELD_METADATA, key, &value) &&
           nt_text_is(value, "true");
}

static enum nt_status look_at_field(struct building *build, uint32_t number)
{
    const struct nt_lance_field *field = &build->lance->fields[number];
    struct place *place = &build->places[number];
    enum nt_status status =
        nt_lance_parse_type(build->dataset->arena, field->logical_type, &place->type, build->error);
    place->leaf = place->leaf_column = place->packed = NT_NONE;
    place->is_packed = place->type.shape == NT_LANCE_IS_STRUCT &&
                       (is_marked(field, "packed") || is_marked(field, "lance-encoding:packed"));
    if (status != NT_OK || field->parent == NT_NONE)
        return status;
    struct place *parent = &build->places[field->parent];
    parent->children++;
    place->depth = parent->depth + 1;
    place->packed = parent->is_packed ? field->parent : parent->packed;
    place->is_in_list =
        place->packed != NT_NONE && (parent->is_in_list || place->type.shape == NT_LANCE_IS_LIST);
    return NT_OK;
}

static bool has_column(const struct building *build, const struct place *place)
{
    bool is_parent = place->type.shape == NT_LANCE_IS_STRUCT || place->type.shape == NT_LANCE_IS_LIST;
    return place->packed == NT_NONE && (build->is_2_0 || place->is_packed || !place->children || !is_parent);
}

static void give_column(struct building *build, uint32_t number)
{
    struct place *place = &build->places[number];
    if (!has_column(build, place))
        return;
    uint32_t column = build->columns++;
    for (uint32_t at = number; at != NT_NONE && build->places[at].leaf == NT_NONE;
         at = build->lance->fields[at].parent) {
        build->places[at].leaf = number;
        build->places[at].leaf_column = column;
    }
}

/* The bytes of members of a packed structure, which lie one behind the other. */
static void count_member(struct building *build, uint32_t number)
{
    struct place *place = &build->places[number];
    if (place->packed == NT_NONE)
        return;
    struct place *whole = &build->places[place->packed];
    uint64_t bits = place->type.value.bits;
    for (uint32_t i = 0; i < place->type.value.list_count; i++)
        if (!nt_multiply(bits, place->type.value.lists[i], &bits))
            bits = 0;
    place->member = whole->member++;
    place->member_offset = whole->member_offset;
    place->leaf_column = whole->leaf_column;
    if (!nt_add(whole->member_offset, bits / 8, &whole->member_offset))
        whole->member_offset = UINT64_MAX;
}

static enum nt_status look_at_fields(struct building *build)
{
    enum nt_status status = NT_OK;
    uint32_t count = build->lance->field_count;
    for (uint32_t i = 0; status == NT_OK && i < count; i++)
        status = look_at_field(build, i);
    for (uint32_t i = 0; status == NT_OK && i < count; i++) {
        give_column(build, i);
        count_member(build, i);
    }
    if (status == NT_OK && build->columns != build->lance->tail.columns)
        status = nt_fail_number(build->error, NT_CORRUPT, build->lance->tail.column_table,
                                "columns, as the schema tells", build->columns, build->lance->tail.columns);
    return status;
}

/* ---- columns of the model ---- */

static enum nt_encoding_kind encoding_of(enum nt_element element)
{
    static const enum nt_encoding_kind kinds[NT_ELEMENT_COUNT] = {
        [NT_ELEMENT_BOOL] = NT_ENCODING_BIT,      [NT_ELEMENT_BYTE] = NT_ENCODING_BYTE,
        [NT_ELEMENT_INT8] = NT_ENCODING_INT8,     [NT_ELEMENT_UINT8] = NT_ENCODING_UINT8,
        [NT_ELEMENT_INT16] = NT_ENCODING_INT16,   [NT_ELEMENT_UINT16] = NT_ENCODING_UINT16,
        [NT_ELEMENT_INT32] = NT_ENCODING_INT32,   [NT_ELEMENT_UINT32] = NT_ENCODING_UINT32,
        [NT_ELEMENT_INT64] = NT_ENCODING_INT64,   [NT_ELEMENT_UINT64] = NT_ENCODING_UINT64,
        [NT_ELEMENT_REAL16] = NT_ENCODING_REAL16, [NT_ELEMENT_REAL32] = NT_ENCODING_REAL32,
        [NT_ELEMENT_REAL64] = NT_ENCODING_REAL64, [NT_ELEMENT_OPAQUE] = NT_ENCODING_OPAQUE,
    };
    return kinds[element];
}

static enum nt_status add_column(struct building *build, uint32_t field, uint32_t position,
                                 const char *type_name, enum nt_encoding_kind encoding, struct nt_dtype dtype)
{
    struct nt_decoder decoder;
    const struct nt_column column = {.id = build->builder.column_count,
                                     .field = field,
                                     .position = position,
                                     .type_name = type_name,
                                     .dtype = dtype};
    uint32_t bits = dtype.element == NT_ELEMENT_OPAQUE ? dtype.bytes * 8 : 0;
    enum nt_status status = nt_decoder_init(&decoder, encoding, bits, 0, 0, build->error);
    return status == NT_OK ? nt_builder_add_column(&build->builder, &column, &decoder, build->error) : status;
}

static enum nt_status add_validity(struct building *build, uint32_t field, uint32_t position)
{
    return add_column(build, field, position, "validity", NT_ENCODING_BIT, nt_element_dtype(NT_ELEMENT_BOOL));
}

static enum nt_status add_columns(struct building *build, uint32_t number, const struct nt_field *field)
{
    enum nt_status status = NT_OK;
    uint32_t position = 0;
    const struct nt_dtype byte = nt_element_dtype(NT_ELEMENT_BYTE),
                          index = nt_element_dtype(NT_ELEMENT_UINT64);
    switch (field->kind) {
    case NT_FIELD_VALUE:
        status =
            add_column(build, number, position++, "values", encoding_of(field->dtype.element), field->dtype);
        break;
    case NT_FIELD_STRING:
    case NT_FIELD_STREAMED:
        status = add_column(build, number, position++, "offsets", NT_ENCODING_INDEX64, index);
        if (status == NT_OK)
            status = add_column(build, number, position++, "bytes", NT_ENCODING_BYTE, byte);
        break;
    case NT_FIELD_COLLECTION:
        status = add_column(build, number, position++, "offsets", NT_ENCODING_INDEX64, index);
        break;
    case NT_FIELD_PAGE_BYTES:
        status = add_column(build, number, position++, "bytes", NT_ENCODING_BYTE, byte);
        break;
    default:
        break;
    }
    return status == NT_OK && field->is_nullable ? add_validity(build, number, position) : status;
}

/* ---- fields of the model ---- */

static enum nt_status add_field(struct building *build, struct nt_field *field,
                                const struct nt_lance_use *use, uint32_t *number_ret)
{
    field->source_field = NT_NONE;
    field->description = (struct nt_text){"", 0};
    field->columns_per_representation = 0;
    enum nt_status status = nt_builder_add_field(&build->builder, field, number_ret, build->error);
    if (status != NT_OK)
        return status;
    build->uses[*number_ret] = *use;
    return field->unreadable ? NT_OK : add_columns(build, *number_ret, field);
}

/* Why a column of the file cannot be served; NULL: it can. */
static const char *find_refusal(const struct building *build, const struct place *place)
{
    uint32_t column = place->leaf_column;
    if (place->type.shape == NT_LANCE_IS_UNKNOWN)
        return "the field's type is not known to this version";
    if (place->is_in_list)
        return "lists in packed structures are not read";
    if (column == NT_NONE)
        return "none of the file's columns stores it";
    return build->lance->columns[column].failure ? build->lance->columns[column].failure->message : NULL;
}

static bool is_blob(const struct building *build, uint32_t column)
{
    const struct nt_lance_column *c = &build->lance->columns[column];
    return c->is_blob || (c->page_count && nt_lance_has_places(&c->pages[0]));
}

static void set_kind(const struct building *build, const struct place *place, struct nt_field *field)
{
    static const struct {
        enum nt_field_kind kind;
        enum nt_role role;
    } kinds[] = {
        [NT_LANCE_IS_VALUE] = {NT_FIELD_VALUE, NT_ROLE_PLAIN},
        [NT_LANCE_IS_TEXT] = {NT_FIELD_STRING, NT_ROLE_PLAIN},
        [NT_LANCE_IS_BYTES] = {NT_FIELD_STREAMED, NT_ROLE_PLAIN},
        [NT_LANCE_IS_LIST] = {NT_FIELD_COLLECTION, NT_ROLE_COLLECTION},
        [NT_LANCE_IS_STRUCT] = {NT_FIELD_RECORD, NT_ROLE_RECORD},
        [NT_LANCE_IS_NULL] = {NT_FIELD_NULL, NT_ROLE_PLAIN},
        [NT_LANCE_IS_BLOB] = {NT_FIELD_PAGE_BYTES, NT_ROLE_PLAIN},
        [NT_LANCE_IS_UNKNOWN] = {NT_FIELD_UNREADABLE, NT_ROLE_PLAIN},
    };
    enum nt_lance_shape shape = place->type.shape;
    if (shape == NT_LANCE_IS_BYTES && place->leaf_column != NT_NONE && is_blob(build, place->leaf_column))
        shape = NT_LANCE_IS_BLOB;
    field->kind = kinds[shape].kind;
    field->role = kinds[shape].role;
    field->dtype = shape == NT_LANCE_IS_VALUE ? place->type.dtype : nt_element_dtype(NT_ELEMENT_BYTE);
}

/* The lists of fixed size around a value: a field each, and the value at the end. */
static enum nt_status add_lists(struct building *build, const struct place *place, struct nt_field *field,
                                struct nt_lance_use *use, uint32_t *number_ret)
{
    const struct nt_lance_value *value = &place->type.value;
    enum nt_status status = NT_OK;
    uint32_t number;
    struct nt_field item = *field;
    for (uint32_t i = 0;
         status == NT_OK && i <= value->list_count && !field->unreadable && field->kind == NT_FIELD_VALUE;
         i++) {
        bool is_list = i < value->list_count;
        item.kind = is_list ? NT_FIELD_ARRAY : NT_FIELD_VALUE;
        item.repetition = is_list ? value->lists[i] : 0;
        item.dtype = is_list ? nt_element_dtype(NT_ELEMENT_BYTE) : field->dtype;
        if (i) {
            item.name = (struct nt_text){"item", 4};
            item.parent = number;
        }
        use->depth = i;
        status = add_field(build, &item, use, &number);
        if (i == 0)
            *number_ret = number;
        if (is_list && !nt_multiply(use->items, value->lists[i], &use->items))
            status = nt_fail(build->error, NT_LIMIT, NT_NO_OFFSET,
                             "the number of items of fixed-size lists overflows");
    }
    if (status == NT_OK && (field->unreadable || field->kind != NT_FIELD_VALUE))
        status = add_field(build, field, use, number_ret);
    return status;
}

/* Structures of version 2.0 are never null; members of packed ones are where the whole is. */
static bool is_nullable(const struct building *build, const struct nt_lance_field *field,
                        const struct place *place)
{
    const struct place *parent = field->parent == NT_NONE ? NULL : &build->places[field->parent];
    bool has_validity =
        place->packed == NT_NONE && !(build->is_2_0 && place->type.shape == NT_LANCE_IS_STRUCT);
    return (field->is_nullable && has_validity) ||
           (parent && parent->type.shape == NT_LANCE_IS_STRUCT && parent->is_nullable);
}

static enum nt_status build_field(struct building *build, uint32_t number)
{
    const struct nt_lance_field *from = &build->lance->fields[number];
    struct place *place = &build->places[number];
    uint32_t leaf_number = place->packed != NT_NONE ? place->packed
                           : place->leaf != NT_NONE ? place->leaf
                                                    : number;
    const struct place *leaf = &build->places[leaf_number];
    const struct nt_lance_field *parent =
        from->parent == NT_NONE ? NULL : &build->lance->fields[from->parent];
    struct nt_field field = {.id = (uint32_t)from->id,
                             .parent = parent ? build->places[from->parent].built : NT_NONE,
                             .name = from->name,
                             .type = from->logical_type};
    struct nt_lance_use use = {
        .column = place->leaf_column, .items = 1, .value = &build->values[leaf_number]};
    if (!build->is_2_0 && place->packed == NT_NONE)
        use.layer = leaf->depth - place->depth;
    if (parent && build->places[from->parent].type.shape == NT_LANCE_IS_LIST)
        field.name = (struct nt_text){"item", 4};
    if (place->packed != NT_NONE) {
        use.member = place->member;
        use.member_offset = place->member_offset;
    }
    use.is_one_based = !leaf->type.is_dictionary;
    set_kind(build, place, &field);
    field.unreadable = find_refusal(build, place);
    place->is_nullable = is_nullable(build, from, place);
    field.is_nullable = place->is_nullable && field.kind != NT_FIELD_NULL && !field.unreadable;
    if (field.unreadable)
        field.kind = NT_FIELD_UNREADABLE;
    return add_lists(build, place, &field, &use, &place->built);
}

/* ---- all ---- */

/* Of a packed structure the whole row. */
static struct nt_lance_value value_of(const struct place *place)
{
    struct nt_lance_value value = place->type.value;
    value.is_packed = place->is_packed;
    if (place->is_packed && place->member_offset <= UINT32_MAX / 8)
        value.bits = (uint32_t)place->member_offset * 8;
    return value;
}

static enum nt_status build_all(struct building *build)
{
    uint64_t count = 0;
    enum nt_status status = look_at_fields(build);
    build->values =
        nt_arena_alloc(build->dataset->arena, build->lance->field_count + 1, sizeof(*build->values));
    for (uint32_t i = 0; build->values && i < build->lance->field_count; i++) {
        build->values[i] = value_of(&build->places[i]);
        count += 1 + build->values[i].list_count;
    }
    build->uses = nt_arena_alloc(build->dataset->arena, count + 1, sizeof(*build->uses));
    if (status == NT_OK && (!build->uses || !build->values))
        status = nt_fail_memory(build->error);
    for (uint32_t i = 0; status == NT_OK && i < build->lance->field_count; i++)
        status = build_field(build, i);
    build->lance->uses = build->uses;
    return status == NT_OK ? nt_builder_finish(&build->builder, build->error) : status;
}

enum nt_status nt_lance_build_fields(struct nt_dataset *dataset, struct nt_lance *lance,
                                     struct nt_error *error)
{
    struct building build = {.dataset = dataset, .lance = lance, .error = error};
    build.is_2_0 = nt_lance_has_item_columns(&lance->tail);
    build.places = calloc((size_t)lance->field_count + 1, sizeof(*build.places));
    if (!build.places)
        return nt_fail_memory(error);
    nt_builder_init(&build.builder, dataset);
    enum nt_status status = build_all(&build);
    nt_builder_deinit(&build.builder);
    free(build.places);
    return status;
}
