/* SPDX-License-Identifier: MIT
 *
 * In: Lance's fields, depth first. Out: what each is, and which column of a file it is read from.
 */
#include "formats/lance/file/places.h"

#include <inttypes.h>

#include "core/base/arena.h"
#include "core/base/overflow.h"
#include "formats/lance/file/columns.h"
#include "formats/lance/file/schema.h"

/* ---- the schema ---- */

static enum nt_status look_at_field(struct nt_arena *arena, const struct nt_lance_schema *schema,
                                    struct nt_lance_place *places, uint32_t number, struct nt_error *error)
{
    const struct nt_lance_field *field = &schema->fields[number];
    struct nt_lance_place *place = &places[number];
    enum nt_status status = nt_lance_parse_type(arena, field->logical_type, &place->type, error);
    place->packed = NT_NONE;
    place->is_packed = place->type.shape == NT_LANCE_IS_STRUCT && !schema->is_legacy &&
                       (nt_lance_is_marked(field, "packed") ||
                        nt_lance_is_marked(field, "lance-encoding:packed") || field->is_description);
    place->is_in_struct_list = place->type.shape == NT_LANCE_IS_STRUCT_LIST;
    place->multiple = 1;
    if (status != NT_OK)
        nt_error_context(error, "schema: field %" PRId32, field->id);
    if (status != NT_OK || field->parent == NT_NONE)
        return status;
    struct nt_lance_place *parent = &places[field->parent];
    parent->children++;
    place->is_in_struct_list |= parent->is_in_struct_list;
    place->multiple = parent->multiple;
    if (parent->type.shape == NT_LANCE_IS_STRUCT_LIST &&
        !nt_multiply(parent->multiple, parent->type.items, &place->multiple))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "schema: field %" PRId32 ": the number of items of fixed-size lists overflows",
                       field->id);
    place->depth = parent->depth + 1;
    place->packed = parent->is_packed ? field->parent : parent->packed;
    place->is_in_list =
        place->packed != NT_NONE && (parent->is_in_list || place->type.shape == NT_LANCE_IS_LIST ||
                                     place->type.shape == NT_LANCE_IS_STRUCT_LIST);
    return NT_OK;
}

/* Blobs have no levels: what is stored in their places tells of nulls, and not where a list begins. */
static void mark_blob(const struct nt_lance_schema *schema, struct nt_lance_place *places, uint32_t number)
{
    bool is_blob = places[number].type.shape == NT_LANCE_IS_BYTES &&
                   nt_lance_is_marked(&schema->fields[number], "lance-encoding:blob");
    for (uint32_t at = schema->fields[number].parent; is_blob && at != NT_NONE;
         at = schema->fields[at].parent)
        places[number].is_listed_blob |=
            places[at].type.shape == NT_LANCE_IS_LIST || places[at].type.shape == NT_LANCE_IS_STRUCT_LIST;
}

/* Where a list is around fixed-size lists of structures, no repetition tells its items from theirs. */
static void mark_lists(const struct nt_lance_schema *schema, struct nt_lance_place *places)
{
    for (uint32_t i = 0; i < schema->field_count; i++)
        for (uint32_t at = schema->fields[i].parent;
             places[i].type.shape == NT_LANCE_IS_STRUCT_LIST && at != NT_NONE; at = schema->fields[at].parent)
            places[at].has_struct_lists |= places[at].type.shape == NT_LANCE_IS_LIST;
    for (uint32_t i = 0; i < schema->field_count; i++)
        if (schema->fields[i].parent != NT_NONE)
            places[i].has_struct_lists |= places[schema->fields[i].parent].has_struct_lists;
}

/* The bytes of members of a packed structure, which lie one behind the other. */
static void count_member(struct nt_lance_place *places, uint32_t number)
{
    struct nt_lance_place *place = &places[number];
    if (place->packed == NT_NONE)
        return;
    struct nt_lance_place *whole = &places[place->packed];
    uint64_t bits = place->type.value.bits;
    for (uint32_t i = 0; i < place->type.value.list_count; i++)
        if (!nt_multiply(bits, place->type.value.lists[i], &bits))
            bits = 0;
    whole->has_strings |= place->type.shape == NT_LANCE_IS_TEXT || place->type.shape == NT_LANCE_IS_BYTES;
    place->member = whole->member++;
    place->member_offset = whole->member_offset;
    if (!nt_add(whole->member_offset, bits / 8, &whole->member_offset))
        whole->member_offset = UINT64_MAX;
}

/* Of a packed structure the whole row. */
static struct nt_lance_value value_of(const struct nt_lance_place *place, bool is_nullable)
{
    struct nt_lance_value value = place->type.value;
    value.is_nullable = is_nullable;
    value.is_packed = place->is_packed;
    if (place->is_packed && !place->has_strings && place->member_offset <= UINT32_MAX / 8)
        value.bits = (uint32_t)place->member_offset * 8;
    return value;
}

enum nt_status nt_lance_find_places(struct nt_arena *arena, struct nt_lance_schema *schema,
                                    struct nt_error *error)
{
    size_t count = (size_t)schema->field_count + 1;
    struct nt_lance_place *places = nt_arena_alloc(arena, count, sizeof(*places));
    struct nt_lance_value *values = nt_arena_alloc(arena, count, sizeof(*values));
    enum nt_status status = places && values ? NT_OK : nt_fail_memory(error);
    for (uint32_t i = 0; status == NT_OK && i < schema->field_count; i++)
        status = look_at_field(arena, schema, places, i, error);
    if (status != NT_OK)
        return status;
    mark_lists(schema, places);
    for (uint32_t i = 0; i < schema->field_count; i++) {
        places[i].is_memberless = places[i].type.shape == NT_LANCE_IS_STRUCT && !places[i].children;
        mark_blob(schema, places, i);
        count_member(places, i);
    }
    for (uint32_t i = 0; i < schema->field_count; i++)
        values[i] = value_of(&places[i], schema->fields[i].is_nullable);
    schema->places = places;
    schema->values = values;
    return NT_OK;
}

/* ---- columns of a file ---- */

/* Version 2.0 packs what is in fixed-size lists of structures. */
static bool has_column(const struct nt_lance_schema *schema, uint32_t number)
{
    const struct nt_lance_place *place = &schema->places[number];
    uint32_t parent = schema->fields[number].parent;
    bool is_parent = place->type.shape == NT_LANCE_IS_STRUCT || place->type.shape == NT_LANCE_IS_LIST ||
                     place->type.shape == NT_LANCE_IS_STRUCT_LIST;
    if (place->packed != NT_NONE)
        return false;
    if (schema->has_item_columns)
        return schema->is_legacy || parent == NT_NONE || !schema->places[parent].is_in_struct_list;
    return place->is_packed || !place->children || !is_parent;
}

static bool is_strings(const struct nt_lance_schema *schema, uint32_t number)
{
    enum nt_lance_shape shape = schema->places[number].type.shape;
    return shape == NT_LANCE_IS_TEXT || shape == NT_LANCE_IS_BYTES;
}

/* Of a field that has some. */
static uint32_t count_columns(const struct nt_lance_schema *schema, uint32_t number)
{
    return is_strings(schema, number) && schema->has_byte_columns ? 2 : 1;
}

/* What has no column is told by the first one below it that can tell of it. */
static void find_tellers(const struct nt_lance_schema *schema, unsigned teller, struct nt_lance_leaf *leaves)
{
    for (uint32_t i = 0; i < schema->field_count; i++) {
        if (leaves[i].field != i || nt_lance_teller(&schema->places[i]) != teller)
            continue;
        for (uint32_t at = schema->fields[i].parent; at != NT_NONE && leaves[at].field == NT_NONE;
             at = schema->fields[at].parent)
            leaves[at] = leaves[i];
    }
}

enum nt_status nt_lance_number_columns(struct nt_arena *arena, const struct nt_lance_schema *schema,
                                       const struct nt_lance_leaf **leaves_ret, uint32_t *count_ret,
                                       struct nt_error *error)
{
    struct nt_lance_leaf *leaves = nt_arena_alloc(arena, (size_t)schema->field_count + 1, sizeof(*leaves));
    uint32_t columns = 0;
    if (!leaves)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < schema->field_count; i++)
        leaves[i] = (struct nt_lance_leaf){NT_NONE, NT_NONE};
    for (uint32_t i = 0; i < schema->field_count; i++)
        if (has_column(schema, i)) {
            leaves[i] = (struct nt_lance_leaf){i, columns};
            columns += count_columns(schema, i);
        }
    for (unsigned teller = 0; teller < NT_LANCE_TELLERS; teller++)
        find_tellers(schema, teller, leaves);
    for (uint32_t i = 0; i < schema->field_count; i++)
        if (schema->places[i].packed != NT_NONE)
            leaves[i] = leaves[schema->places[i].packed];
    *leaves_ret = leaves;
    *count_ret = columns;
    return NT_OK;
}

enum nt_status nt_lance_find_leaves(struct nt_arena *arena, struct nt_lance *lance, struct nt_error *error)
{
    uint32_t columns;
    enum nt_status status = nt_lance_number_columns(arena, &lance->schema, &lance->leaves, &columns, error);
    if (status == NT_OK && columns != lance->tail.columns && lance->schema.has_item_columns &&
        !lance->legacy) {
        lance->schema.has_byte_columns = true;
        status = nt_lance_number_columns(arena, &lance->schema, &lance->leaves, &columns, error);
    }
    if (status == NT_OK && columns != lance->tail.columns)
        return nt_fail_number(error, NT_CORRUPT, lance->tail.column_table, "columns, as the schema tells",
                              columns, lance->tail.columns);
    for (uint32_t i = 0; status == NT_OK && i < lance->schema.field_count; i++)
        if (lance->leaves[i].field == i)
            status = nt_lance_check_rows(&lance->schema, &lance->leaves[i], lance, error);
    return status;
}

enum nt_status nt_lance_check_rows(const struct nt_lance_schema *schema, const struct nt_lance_leaf *leaf,
                                   const struct nt_lance *lance, struct nt_error *error)
{
    const struct nt_lance_column *column = &lance->columns[leaf->column];
    uint64_t rows;
    if (lance->legacy || nt_lance_has_item_columns(&lance->tail) || column->failure)
        return NT_OK;
    if (!nt_multiply(lance->rows, schema->places[leaf->field].multiple, &rows))
        rows = UINT64_MAX;
    if (column->rows == rows)
        return NT_OK;
    nt_fail_number(error, NT_CORRUPT, column->metadata.offset, "rows of its pages", rows, column->rows);
    nt_error_context(error, "column %" PRIu32, leaf->column);
    return NT_CORRUPT;
}

uint32_t nt_lance_byte_column(const struct nt_lance *lance, const struct nt_lance_schema *schema,
                              const struct nt_lance_leaf *leaf)
{
    uint32_t column = leaf->column;
    bool is_apart = leaf->field != NT_NONE && is_strings(schema, leaf->field) &&
                    column < lance->tail.columns && lance->columns[column].page_count &&
                    nt_lance_has_lists(&lance->columns[column].pages[0]);
    return is_apart && column + 1 < lance->tail.columns ? column + 1 : NT_NONE;
}

struct nt_lance_use nt_lance_use_of(const struct nt_lance_schema *schema, const struct nt_lance_leaf *leaf,
                                    bool has_item_columns, const struct nt_lance_part *part)
{
    const struct nt_lance_place *place = &schema->places[part->field];
    uint32_t leaf_field = leaf->field == NT_NONE ? part->field : leaf->field;
    struct nt_lance_use use = {.column = leaf->column,
                               .depth = part->depth,
                               .items = part->items,
                               .repeats = schema->places[leaf_field].multiple / place->multiple,
                               .is_one_based = !schema->places[leaf_field].type.is_dictionary,
                               .is_memberless = schema->places[leaf_field].is_memberless,
                               .value = &schema->values[leaf_field]};
    if (place->packed != NT_NONE) {
        use.member = place->member;
        use.member_offset = place->member_offset;
    } else if (!has_item_columns) {
        use.layer = schema->places[leaf_field].depth - place->depth;
    }
    return use;
}

struct nt_lance_use nt_lance_use_in(const struct nt_lance *lance, uint32_t field)
{
    const struct nt_lance_part *part = &lance->schema.parts[field];
    return nt_lance_use_of(&lance->schema, &lance->leaves[part->field],
                           nt_lance_has_item_columns(&lance->tail), part);
}
