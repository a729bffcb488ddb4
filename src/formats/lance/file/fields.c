/* SPDX-License-Identifier: MIT
 *
 * Maps the fields of a Lance schema to columns of the file, and builds the fields and columns of the
 * model from them.
 */
#include "formats/lance/file/file.h"

/* ---- The schema ---- */

static enum nt_status look_at_field(struct nt_arena *arena, const struct nt_lance_schema *schema,
                                    struct nt_lance_field_layout *layouts, uint32_t number,
                                    struct nt_error *error)
{
    const struct nt_lance_field *field = &schema->fields[number];
    struct nt_lance_field_layout *layout = &layouts[number];
    enum nt_status status = nt_lance_parse_type(arena, field->logical_type, &layout->type, error);
    layout->packed = NT_NONE;
    layout->is_packed = layout->type.shape == NT_LANCE_IS_STRUCT && !schema->is_legacy &&
                        (nt_lance_is_marked(field, "packed") ||
                         nt_lance_is_marked(field, "lance-encoding:packed") || field->is_description);
    layout->is_in_struct_list = layout->type.shape == NT_LANCE_IS_STRUCT_LIST;
    layout->multiple = 1;
    NT_TRY(nt_with_context(status, error, "schema: field %" PRId32, field->id));
    if (field->parent == NT_NONE)
        return NT_OK;
    struct nt_lance_field_layout *parent = &layouts[field->parent];
    parent->children++;
    layout->is_in_struct_list |= parent->is_in_struct_list;
    layout->multiple = parent->multiple;
    if (parent->type.shape == NT_LANCE_IS_STRUCT_LIST &&
        !nt_checked_multiply(parent->multiple, parent->type.items, &layout->multiple))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "schema: field %" PRId32 ": the number of items of fixed-size lists overflows",
                       field->id);
    layout->depth = parent->depth + 1;
    layout->packed = parent->is_packed ? field->parent : parent->packed;
    layout->is_inner = parent->packed != NT_NONE;
    layout->is_in_list =
        layout->packed != NT_NONE && (parent->is_in_list || layout->type.shape == NT_LANCE_IS_LIST ||
                                      layout->type.shape == NT_LANCE_IS_STRUCT_LIST);
    return NT_OK;
}

/* Blobs have no levels: their descriptors represent nulls, but not the start of a list. */
static void mark_blob(const struct nt_lance_schema *schema, struct nt_lance_field_layout *layouts,
                      uint32_t number)
{
    bool is_blob = layouts[number].type.shape == NT_LANCE_IS_BYTES &&
                   nt_lance_is_marked(&schema->fields[number], "lance-encoding:blob");
    for (uint32_t at = schema->fields[number].parent; is_blob && at != NT_NONE;
         at = schema->fields[at].parent)
        layouts[number].is_blob_in_list |=
            layouts[at].type.shape == NT_LANCE_IS_LIST || layouts[at].type.shape == NT_LANCE_IS_STRUCT_LIST;
}

/* A list around fixed-size lists of structures has no repetition levels that separate its items from
 * theirs. */
static void mark_lists(const struct nt_lance_schema *schema, struct nt_lance_field_layout *layouts)
{
    for (uint32_t i = 0; i < schema->field_count; i++)
        for (uint32_t at = schema->fields[i].parent;
             layouts[i].type.shape == NT_LANCE_IS_STRUCT_LIST && at != NT_NONE;
             at = schema->fields[at].parent)
            layouts[at].has_struct_lists |= layouts[at].type.shape == NT_LANCE_IS_LIST;
    for (uint32_t i = 0; i < schema->field_count; i++)
        if (schema->fields[i].parent != NT_NONE)
            layouts[i].has_struct_lists |= layouts[schema->fields[i].parent].has_struct_lists;
}

/* The members of a packed structure are consecutive. */
static void count_member(struct nt_lance_field_layout *layouts, uint32_t number)
{
    struct nt_lance_field_layout *layout = &layouts[number];
    if (layout->packed == NT_NONE)
        return;
    struct nt_lance_field_layout *whole = &layouts[layout->packed];
    uint64_t bits = layout->type.value.bits;
    for (uint32_t i = 0; i < layout->type.value.list_count; i++)
        if (!nt_checked_multiply(bits, layout->type.value.lists[i], &bits))
            bits = 0;
    whole->has_strings |= layout->type.shape == NT_LANCE_IS_TEXT || layout->type.shape == NT_LANCE_IS_BYTES;
    layout->member = layout->is_inner ? NT_LANCE_INNER_MEMBER : whole->member++;
    layout->member_offset = whole->member_offset;
    if (!nt_checked_add(whole->member_offset, bits / 8, &whole->member_offset))
        whole->member_offset = UINT64_MAX;
}

/* For a packed structure this is the whole row. */
static struct nt_lance_value value_of(const struct nt_lance_field_layout *layout, bool is_nullable)
{
    struct nt_lance_value value = layout->type.value;
    value.is_nullable = is_nullable;
    value.is_packed = layout->is_packed;
    if (layout->is_packed && !layout->has_strings && layout->member_offset <= UINT32_MAX / 8)
        value.bits = (uint32_t)layout->member_offset * 8;
    return value;
}

enum nt_status nt_lance_lay_out_schema(struct nt_arena *arena, struct nt_lance_schema *schema,
                                       struct nt_error *error)
{
    size_t count = (size_t)schema->field_count + 1;
    struct nt_lance_field_layout *layouts = nt_arena_alloc(arena, count, sizeof(*layouts));
    struct nt_lance_value *values = nt_arena_alloc(arena, count, sizeof(*values));
    NT_TRY(nt_check_memory(layouts && values, error));
    for (uint32_t i = 0; i < schema->field_count; i++)
        NT_TRY(look_at_field(arena, schema, layouts, i, error));
    mark_lists(schema, layouts);
    for (uint32_t i = 0; i < schema->field_count; i++) {
        layouts[i].is_memberless = layouts[i].type.shape == NT_LANCE_IS_STRUCT && !layouts[i].children;
        mark_blob(schema, layouts, i);
        count_member(layouts, i);
    }
    for (uint32_t i = 0; i < schema->field_count; i++)
        values[i] = value_of(&layouts[i], schema->fields[i].is_nullable);
    schema->layouts = layouts;
    schema->values = values;
    return NT_OK;
}

/* ---- Columns of a file ---- */

/* Version 2.0 packs the contents of fixed-size lists of structures. */
static bool has_column(const struct nt_lance_schema *schema, uint32_t number)
{
    const struct nt_lance_field_layout *layout = &schema->layouts[number];
    uint32_t parent = schema->fields[number].parent;
    bool is_parent = layout->type.shape == NT_LANCE_IS_STRUCT || layout->type.shape == NT_LANCE_IS_LIST ||
                     layout->type.shape == NT_LANCE_IS_STRUCT_LIST;
    if (layout->packed != NT_NONE)
        return false;
    if (schema->has_item_columns)
        return schema->is_legacy || parent == NT_NONE || !schema->layouts[parent].is_in_struct_list;
    return layout->is_packed || !layout->children || !is_parent;
}

static bool is_strings(const struct nt_lance_schema *schema, uint32_t number)
{
    enum nt_lance_shape shape = schema->layouts[number].type.shape;
    return shape == NT_LANCE_IS_TEXT || shape == NT_LANCE_IS_BYTES;
}

/* How much the column of a field omits about the fields around it, less than LEAF_RANKS. */
enum { LEAF_RANKS = 3 };
static unsigned rank_of(const struct nt_lance_field_layout *layout)
{
    return layout->is_blob_in_list ? 2 : layout->is_memberless;
}

/* A field without a column uses the first column with the lowest rank among its descendants. */
static void find_leaves_of_rank(const struct nt_lance_schema *schema, unsigned rank,
                                struct nt_lance_leaf *leaves)
{
    for (uint32_t i = 0; i < schema->field_count; i++) {
        if (leaves[i].field != i || rank_of(&schema->layouts[i]) != rank)
            continue;
        for (uint32_t at = schema->fields[i].parent; at != NT_NONE && leaves[at].field == NT_NONE;
             at = schema->fields[at].parent)
            leaves[at] = leaves[i];
    }
}

void nt_lance_inherit_leaves(const struct nt_lance_schema *schema, struct nt_lance_leaf *leaves)
{
    for (uint32_t i = 0; i < schema->field_count; i++)
        if (schema->layouts[i].packed != NT_NONE)
            leaves[i] = leaves[schema->layouts[i].packed];
    for (unsigned rank = 0; rank < LEAF_RANKS; rank++)
        find_leaves_of_rank(schema, rank, leaves);
}

enum nt_status nt_lance_number_columns(struct nt_arena *arena, const struct nt_lance_schema *schema,
                                       const struct nt_lance_leaf **leaves_ret, uint32_t *count_ret,
                                       struct nt_error *error)
{
    struct nt_lance_leaf *leaves = nt_arena_alloc(arena, (size_t)schema->field_count + 1, sizeof(*leaves));
    uint32_t columns = 0;
    NT_TRY(nt_check_memory(leaves, error));
    for (uint32_t i = 0; i < schema->field_count; i++)
        leaves[i] = (struct nt_lance_leaf){.field = NT_NONE, .column = NT_NONE};
    for (uint32_t i = 0; i < schema->field_count; i++)
        if (has_column(schema, i)) {
            leaves[i] = (struct nt_lance_leaf){.field = i, .column = columns};
            columns += is_strings(schema, i) && schema->has_byte_columns ? 2 : 1;
        }
    nt_lance_inherit_leaves(schema, leaves);
    *leaves_ret = leaves;
    *count_ret = columns;
    return NT_OK;
}

enum nt_status nt_lance_find_leaves(struct nt_arena *arena, struct nt_lance *lance, struct nt_error *error)
{
    uint32_t columns;
    NT_TRY(nt_lance_number_columns(arena, &lance->schema, &lance->leaves, &columns, error));
    if (columns != lance->tail.columns && lance->schema.has_item_columns && !lance->legacy) {
        lance->schema.has_byte_columns = true;
        NT_TRY(nt_lance_number_columns(arena, &lance->schema, &lance->leaves, &columns, error));
    }
    if (columns != lance->tail.columns)
        return nt_fail_number(error, NT_CORRUPT, lance->tail.column_table, "columns that the schema declares",
                              columns, lance->tail.columns);
    for (uint32_t i = 0; i < lance->schema.field_count; i++)
        if (lance->leaves[i].field == i)
            NT_TRY(nt_lance_check_rows(&lance->schema, &lance->leaves[i], lance, error));
    return NT_OK;
}

enum nt_status nt_lance_check_rows(const struct nt_lance_schema *schema, const struct nt_lance_leaf *leaf,
                                   const struct nt_lance *lance, struct nt_error *error)
{
    const struct nt_lance_column *column = &lance->columns[leaf->column];
    uint64_t rows;
    if (lance->legacy || nt_lance_has_item_columns(&lance->tail) || column->failure)
        return NT_OK;
    if (!nt_checked_multiply(lance->rows, schema->layouts[leaf->field].multiple, &rows))
        rows = UINT64_MAX;
    if (column->rows == rows)
        return NT_OK;
    return nt_with_context(
        nt_fail_number(error, NT_CORRUPT, column->metadata.offset, "rows of its pages", rows, column->rows),
        error, "column %" PRIu32, leaf->column);
}

bool nt_lance_has_byte_column(const struct nt_lance *lance, uint32_t column)
{
    return column < lance->tail.columns && lance->columns[column].page_count &&
           nt_lance_has_lists(&lance->columns[column].pages[0]);
}

uint32_t nt_lance_byte_column(const struct nt_lance *lance, const struct nt_lance_schema *schema,
                              const struct nt_lance_leaf *leaf)
{
    uint32_t column = leaf->column;
    bool is_apart =
        leaf->field != NT_NONE && is_strings(schema, leaf->field) && nt_lance_has_byte_column(lance, column);
    return is_apart && column + 1 < lance->tail.columns ? column + 1 : NT_NONE;
}

struct nt_lance_column_map nt_lance_map_column(const struct nt_lance_schema *schema,
                                               const struct nt_lance_leaf *leaf, bool has_item_columns,
                                               const struct nt_lance_model_field *part)
{
    const struct nt_lance_field_layout *layout = &schema->layouts[part->field];
    uint32_t leaf_field = leaf->field == NT_NONE ? part->field : leaf->field;
    struct nt_lance_column_map column_map = {.column = leaf->column,
                                             .depth = part->depth,
                                             .items = part->items,
                                             .repeats =
                                                 schema->layouts[leaf_field].multiple / layout->multiple,
                                             .is_one_based = !schema->layouts[leaf_field].type.is_dictionary,
                                             .is_memberless = schema->layouts[leaf_field].is_memberless,
                                             .value = &schema->values[leaf_field]};
    if (layout->packed != NT_NONE) {
        column_map.member = layout->member;
        column_map.member_offset = layout->member_offset;
    } else if (!has_item_columns) {
        column_map.layer = schema->layouts[leaf_field].depth - layout->depth;
    }
    return column_map;
}

struct nt_lance_column_map nt_lance_map_own_column(const struct nt_lance *lance, uint32_t field)
{
    const struct nt_lance_model_field *part = &lance->schema.parts[field];
    return nt_lance_map_column(&lance->schema, &lance->leaves[part->field],
                               nt_lance_has_item_columns(&lance->tail), part);
}

/* ---- Fields of the model ---- */

struct lance_field_builder {
    struct nt_dataset *dataset;
    struct nt_lance_schema *schema;
    const struct nt_lance_leaf *leaves; /* by Lance's field */
    const struct nt_lance *lance;       /* the file; NULL: a dataset, where each file has its own */
    struct nt_lance_model_field *parts;
    uint32_t *built;   /* by Lance's field: the field of the model that contains its children */
    bool *is_nullable; /* it or a structure around it is: null structures have null members */
    struct nt_builder builder;
    struct nt_error *error;
};

enum nt_encoding_kind nt_lance_encoding_of(enum nt_element element)
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

static enum nt_status add_column(struct lance_field_builder *build, uint32_t field, uint32_t position,
                                 const char *type_name, enum nt_encoding_kind encoding, struct nt_dtype dtype)
{
    struct nt_decoder decoder;
    const struct nt_column column = {.id = build->builder.column_count,
                                     .field = field,
                                     .position = position,
                                     .type_name = type_name,
                                     .dtype = dtype};
    uint32_t bits = dtype.element == NT_ELEMENT_OPAQUE ? dtype.bytes * 8 : 0;
    NT_TRY(nt_decoder_init(&decoder, encoding, bits, 0, 0, build->error));
    return nt_builder_add_column(&build->builder, &column, &decoder, build->error);
}

static enum nt_status add_columns(struct lance_field_builder *build, uint32_t number,
                                  const struct nt_field *field)
{
    uint32_t position = 0;
    const struct nt_dtype byte = nt_element_dtype(NT_ELEMENT_BYTE),
                          index = nt_element_dtype(NT_ELEMENT_UINT64),
                          valid = nt_element_dtype(NT_ELEMENT_BOOL);
    switch (field->kind) {
    case NT_FIELD_VALUE:
        NT_TRY(add_column(build, number, position++, "values", nt_lance_encoding_of(field->dtype.element),
                          field->dtype));
        break;
    case NT_FIELD_STRING:
    case NT_FIELD_STREAMED:
    case NT_FIELD_JSON:
        NT_TRY(add_column(build, number, position++, "offsets", NT_ENCODING_INDEX64, index));
        NT_TRY(add_column(build, number, position++, "bytes", NT_ENCODING_BYTE, byte));
        break;
    case NT_FIELD_COLLECTION:
        NT_TRY(add_column(build, number, position++, "offsets", NT_ENCODING_INDEX64, index));
        break;
    case NT_FIELD_PAGE_BYTES:
        NT_TRY(add_column(build, number, position++, "bytes", NT_ENCODING_BYTE, byte));
        break;
    default:
        break;
    }
    return field->is_nullable ? add_column(build, number, position, "validity", NT_ENCODING_BIT, valid)
                              : NT_OK;
}

static enum nt_status add_field(struct lance_field_builder *build, struct nt_field *field,
                                const struct nt_lance_model_field *part, uint32_t *number_ret)
{
    field->description = (struct nt_text){"", 0};
    field->columns_per_representation = 0;
    NT_TRY(nt_builder_add_field(&build->builder, field, number_ret, build->error));
    build->parts[*number_ret] = *part;
    return field->unreadable ? NT_OK : add_columns(build, *number_ret, field);
}

/* Is a field's data outside the column? In a dataset, the schema shows this; in a file, its pages
 * do. */
static bool is_blob(const struct lance_field_builder *build, uint32_t number)
{
    if (!build->lance)
        return nt_lance_is_marked(&build->schema->fields[number], "lance-encoding:blob");
    uint32_t column = build->leaves[number].column;
    if (column == NT_NONE)
        return false;
    const struct nt_lance_column *c = &build->lance->columns[column];
    return c->is_blob || (c->page_count && nt_lance_has_descriptors(&c->pages[0]));
}

/* Is a field a list, or in a list, that only blob columns describe? */
static bool is_lost(const struct lance_field_builder *build, uint32_t number)
{
    const struct nt_lance_field_layout *layouts = build->schema->layouts;
    uint32_t leaf = build->leaves[number].field;
    if (build->schema->has_item_columns || leaf == NT_NONE || layouts[leaf].type.shape != NT_LANCE_IS_BYTES ||
        !is_blob(build, leaf))
        return false;
    bool is_in_list = layouts[leaf].multiple != layouts[number].multiple;
    for (uint32_t at = leaf; at != NT_NONE; at = build->schema->fields[at].parent)
        is_in_list |= layouts[at].type.shape == NT_LANCE_IS_LIST;
    return is_in_list;
}

/* Returns why a field is unsupported, or NULL. */
static const char *find_refusal(const struct lance_field_builder *build, uint32_t number)
{
    const struct nt_lance_schema *schema = build->schema;
    const struct nt_lance_field_layout *layout = &schema->layouts[number];
    if (layout->is_in_struct_list && schema->has_item_columns)
        return "cannot read fixed-size lists of structures in files before version 2.1";
    if (layout->has_struct_lists && !schema->has_item_columns)
        return "cannot read lists around fixed-size lists of structures";
    if (is_lost(build, number))
        return "cannot read lists around blobs: the file does not store where they begin";
    if (layout->type.shape == NT_LANCE_IS_UNKNOWN)
        return "this version does not know the field's type";
    if (layout->is_in_list)
        return "cannot read lists in packed structures";
    if (layout->is_inner && schema->layouts[layout->packed].has_strings)
        return "cannot read structures within packed structures with strings";
    if (!build->lance)
        return schema->refusals ? schema->refusals[number] : NULL;
    uint32_t column = build->leaves[number].column;
    if (column == NT_NONE)
        return "no column of the file stores it";
    const struct nt_error *failure = build->lance->columns[column].failure;
    return failure ? failure->message : NULL;
}

static void set_kind(const struct lance_field_builder *build, uint32_t number, struct nt_field *field)
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
        [NT_LANCE_IS_STRUCT_LIST] = {NT_FIELD_ARRAY, NT_ROLE_PLAIN},
        [NT_LANCE_IS_NULL] = {NT_FIELD_NULL, NT_ROLE_PLAIN},
        [NT_LANCE_IS_EMPTY] = {NT_FIELD_EMPTY, NT_ROLE_PLAIN},
        [NT_LANCE_IS_BLOB] = {NT_FIELD_PAGE_BYTES, NT_ROLE_PLAIN},
        [NT_LANCE_IS_UNKNOWN] = {NT_FIELD_UNREADABLE, NT_ROLE_PLAIN},
    };
    const struct nt_lance_type *type = &build->schema->layouts[number].type;
    enum nt_lance_shape shape = type->shape;
    if (shape == NT_LANCE_IS_BYTES && is_blob(build, number))
        shape = NT_LANCE_IS_BLOB;
    field->kind = shape == NT_LANCE_IS_BYTES && type->is_json ? NT_FIELD_JSON : kinds[shape].kind;
    field->role = kinds[shape].role;
    field->repetition = shape == NT_LANCE_IS_STRUCT_LIST ? type->items : 0;
    field->dtype = shape == NT_LANCE_IS_VALUE ? type->dtype : nt_element_dtype(NT_ELEMENT_BYTE);
}

/* Structures of version 2.0 are never null, except in files of a dataset that lack them; members of a
 * packed structure are null where the structure is. Legacy files have no validity, but strings without
 * bytes are null. */
static bool has_validity(const struct lance_field_builder *build, uint32_t number)
{
    const struct nt_lance_field_layout *layout = &build->schema->layouts[number];
    if (build->schema->is_legacy)
        return layout->type.shape == NT_LANCE_IS_TEXT || layout->type.shape == NT_LANCE_IS_BYTES;
    bool is_never_null =
        build->lance && build->schema->has_item_columns && layout->type.shape == NT_LANCE_IS_STRUCT;
    return layout->packed == NT_NONE && !is_never_null;
}

static enum nt_status set_properties(const struct lance_field_builder *build, struct nt_field *field,
                                     const struct nt_property *properties, uint32_t count)
{
    struct nt_field_extra extra = *nt_field_extra(field);
    extra.properties = properties;
    extra.property_count = count;
    return nt_check_memory(nt_field_set_extra(build->dataset->arena, field, &extra), build->error);
}

/* The file stores Lance's binary JSON, not text. Some writers name it with Arrow's extension type for
 * text; this replaces that name with the one that other writers use. */
static enum nt_status name_json(const struct lance_field_builder *build, struct nt_field *field)
{
    uint32_t count;
    const struct nt_property *from = nt_field_properties(field, &count);
    struct nt_property *properties =
        nt_arena_alloc(build->dataset->arena, (size_t)count + 1, sizeof(*properties));
    NT_TRY(nt_check_memory(properties, build->error));
    for (uint32_t i = 0; i < count; i++) {
        properties[i] = from[i];
        if (nt_text_is(properties[i].key, "ARROW:extension:name") &&
            nt_text_is(properties[i].value, "arrow.json"))
            properties[i].value = nt_text_of("lance.json");
    }
    return set_properties(build, field, properties, count);
}

/* Sets metadata that the field's message lacks: two keys with their values. */
static enum nt_status set_metadata(const struct lance_field_builder *build, struct nt_field *field,
                                   const char *const entries[4])
{
    struct nt_property *properties = nt_arena_alloc(build->dataset->arena, 2, sizeof(*properties));
    NT_TRY(nt_check_memory(properties, build->error));
    properties[0] = (struct nt_property){nt_text_of(entries[0]), nt_text_of(entries[1])};
    properties[1] = (struct nt_property){nt_text_of(entries[2]), nt_text_of(entries[3])};
    return set_properties(build, field, properties, 2);
}

/* Is a field a value, maybe within fixed-size lists? */
static bool is_value(const struct nt_field *field)
{
    return !field->unreadable &&
           (field->kind == NT_FIELD_VALUE || field->kind == NT_FIELD_NULL || field->kind == NT_FIELD_EMPTY);
}

/* Adds the fixed-size lists around a value: a field for each, then the value. Items are always
 * nullable, because the type cannot say otherwise. */
static enum nt_status add_lists(struct lance_field_builder *build, struct nt_field *field,
                                struct nt_lance_model_field *part, uint32_t *number_ret)
{
    const struct nt_lance_type *type = &build->schema->layouts[part->field].type;
    const struct nt_lance_value *value = &type->value;
    static const struct nt_field_extra item_extra = {.is_declared_nullable = true};
    /* Lance's writers declare an Arrow extension type in the metadata of a field. */
    const char *const extension[] = {"ARROW:extension:name", type->extension, "ARROW:extension:metadata", ""};
    uint32_t number = NT_NONE;
    struct nt_field item = *field;
    if (!is_value(field))
        return add_field(build, field, part, number_ret);
    for (uint32_t i = 0; i <= value->list_count; i++) {
        bool is_list = i < value->list_count;
        item.kind = is_list ? NT_FIELD_ARRAY : field->kind;
        item.repetition = is_list ? value->lists[i] : 0;
        item.dtype = is_list ? nt_element_dtype(NT_ELEMENT_BYTE) : field->dtype;
        if (i) {
            item.name = (struct nt_text){"item", 4};
            item.extra = &item_extra;
            item.is_nullable |= has_validity(build, part->field);
            item.parent = number;
        }
        if (i && !is_list && type->extension)
            NT_TRY(set_metadata(build, &item, extension));
        item.is_nullable = item.is_nullable && item.kind != NT_FIELD_NULL;
        part->depth = i;
        NT_TRY(add_field(build, &item, part, &number));
        if (i == 0)
            *number_ret = number;
        if (is_list && !nt_checked_multiply(part->items, value->lists[i], &part->items))
            return nt_fail(build->error, NT_LIMIT, NT_NO_OFFSET,
                           "the number of items of fixed-size lists overflows");
    }
    return NT_OK;
}

static enum nt_lance_shape shape_of_parent(const struct lance_field_builder *build, uint32_t number)
{
    uint32_t parent = build->schema->fields[number].parent;
    return parent == NT_NONE ? NT_LANCE_IS_UNKNOWN : build->schema->layouts[parent].type.shape;
}

static bool find_nullable(const struct lance_field_builder *build, uint32_t number)
{
    const struct nt_lance_field *field = &build->schema->fields[number];
    enum nt_lance_shape parent = shape_of_parent(build, number);
    return (field->is_nullable && has_validity(build, number)) ||
           ((parent == NT_LANCE_IS_STRUCT || parent == NT_LANCE_IS_STRUCT_LIST) &&
            build->is_nullable[field->parent]);
}

static enum nt_status build_field(struct lance_field_builder *build, uint32_t number)
{
    /* Lance's reader gives each description of blobs these metadata. Those in the message belong to the
     * field from which the blobs were written. */
    static const char *const description[] = {"lance-encoding:blob", "true", "lance-encoding:packed", "true"};
    const struct nt_lance_field *from = &build->schema->fields[number];
    const struct nt_lance_type *type = &build->schema->layouts[number].type;
    struct nt_field field = {
        .id = (uint32_t)(from->id == NT_LANCE_NO_ID ? build->schema->fields[from->parent].id : from->id),
        .parent = from->parent == NT_NONE ? NT_NONE : build->built[from->parent],
        .name = from->name,
        .type = from->logical_type,
        .is_map = type->is_map};
    struct nt_field_extra extra = {.is_declared_nullable = from->is_nullable,
                                   .has_short_offsets = type->has_short_offsets,
                                   .is_description = from->is_description};
    struct nt_lance_model_field part = {.field = number, .items = 1};
    enum nt_lance_shape parent = shape_of_parent(build, number);
    if (parent == NT_LANCE_IS_LIST || parent == NT_LANCE_IS_STRUCT_LIST) {
        extra.item_name = from->name;
        field.name = (struct nt_text){"item", 4};
    }
    if (!from->is_description)
        NT_TRY(nt_lance_read_entries(build->dataset->file, from->message, NT_LANCE_FIELD_METADATA,
                                     &extra.properties, &extra.property_count, build->error));
    NT_TRY(nt_check_memory(nt_field_set_extra(build->dataset->arena, &field, &extra), build->error));
    set_kind(build, number, &field);
    field.unreadable = find_refusal(build, number);
    build->is_nullable[number] = find_nullable(build, number);
    field.is_nullable = build->is_nullable[number] && !field.unreadable;
    if (field.unreadable)
        field.kind = NT_FIELD_UNREADABLE;
    if (from->is_description)
        NT_TRY(set_metadata(build, &field, description));
    if (nt_text_is(from->logical_type, "json"))
        NT_TRY(name_json(build, &field));
    return add_lists(build, &field, &part, &build->built[number]);
}

/* ---- Build all fields ---- */

static enum nt_status build_all(struct lance_field_builder *build)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < build->schema->field_count; i++)
        count += 1 + build->schema->values[i].list_count;
    build->parts = nt_arena_alloc(build->dataset->arena, count + 1, sizeof(*build->parts));
    NT_TRY(nt_check_memory(build->parts, build->error));
    build->schema->parts = build->parts;
    for (uint32_t i = 0; i < build->schema->field_count; i++)
        NT_TRY(build_field(build, i));
    return nt_builder_finish(&build->builder, build->error);
}

enum nt_status nt_lance_build_fields(struct nt_dataset *dataset, struct nt_lance_schema *schema,
                                     const struct nt_lance_leaf *leaves, const struct nt_lance *lance,
                                     struct nt_error *error)
{
    NT_AUTO_FREE uint32_t *built = calloc((size_t)schema->field_count + 1, sizeof(*built));
    NT_AUTO_FREE bool *is_nullable = calloc((size_t)schema->field_count + 1, sizeof(*is_nullable));
    struct lance_field_builder build = {.dataset = dataset,
                                        .schema = schema,
                                        .leaves = leaves,
                                        .lance = lance,
                                        .built = built,
                                        .is_nullable = is_nullable,
                                        .error = error};
    NT_TRY(nt_check_memory(built && is_nullable, error));
    dataset->is_ordered = true; /* a column whose type changed is a new field at the old position */
    nt_builder_init(&build.builder, dataset);
    enum nt_status status = build_all(&build);
    nt_builder_deinit(&build.builder);
    return status;
}
