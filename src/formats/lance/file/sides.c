/* SPDX-License-Identifier: MIT
 *
 * In: the fields of the model, and which column of the file each leaf is stored in. Out: two data sets of the same
 * fields: one with a column for each of the file's, one with what stands beside their values.
 */
#include "formats/lance/file/sides.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "formats/lance/file/content.h"
#include "formats/lance/file/describe.h"
#include "formats/lance/file/fields.h"
#include "formats/lance/file/page_files.h"
#include "formats/lance/file/places.h"
#include "formats/lance/file/stored.h"
#include "core/model/builder.h"

/* ---- types ---- */

static const struct nt_dtype
    unsigned16 = {.element = NT_ELEMENT_UINT16, .bytes = 2, .number = NT_ELEMENT_UINT16, .numpy = "<u2"},
    unsigned64 = {.element = NT_ELEMENT_UINT64, .bytes = 8, .number = NT_ELEMENT_UINT64, .numpy = "<u8"};
static const struct nt_dtype_member level_members[] = {
    {.name = {"repetition", 10}, .dtype = &unsigned16},
    {.name = {"definition", 10}, .dtype = &unsigned16},
};
static const struct nt_dtype_member place_members[] = {
    {.name = {"position", 8}, .dtype = &unsigned64},
    {.name = {"size", 4}, .dtype = &unsigned64},
};
static const struct nt_dtype level = {.element = NT_ELEMENT_OPAQUE,
                                      .bytes = NT_TREE_LEVEL_BYTES,
                                      .number = NT_ELEMENT_OPAQUE,
                                      .numpy = "[('repetition', '<u2'), ('definition', '<u2')]",
                                      .members = level_members,
                                      .member_count = 2};
static const struct nt_dtype place = {.element = NT_ELEMENT_OPAQUE,
                                      .bytes = 16,
                                      .number = NT_ELEMENT_OPAQUE,
                                      .numpy = "[('position', '<u8'), ('size', '<u8')]",
                                      .members = place_members,
                                      .member_count = 2};

struct adding {
    const struct nt_dataset *dataset;
    const struct nt_lance_side *side;
    struct nt_builder builder;
    struct nt_error *error;
};

/* What a field takes of its column. */
static struct nt_lance_use use_of(const struct adding *adding, uint32_t field)
{
    const struct nt_lance_side *side = adding->side;
    const struct nt_lance_part *part = &side->schema->parts[field];
    return nt_lance_use_of(side->schema, &side->leaves[part->field], side->schema->has_item_columns, part);
}

/* The bytes of a packed structure. */
static enum nt_status set_rows(const struct adding *adding, uint32_t bytes, struct nt_dtype *dtype)
{
    char text[16];
    int length = snprintf(text, sizeof(text), "|V%u", bytes);
    *dtype = (struct nt_dtype){.element = NT_ELEMENT_OPAQUE, .bytes = bytes, .number = NT_ELEMENT_OPAQUE};
    dtype->numpy = nt_arena_copy(adding->builder.dataset->arena, text, (size_t)length + 1);
    return dtype->numpy ? NT_OK : nt_fail_memory(adding->error);
}

static enum nt_status set_dtype(const struct adding *adding, uint32_t field, enum nt_lance_content content,
                                struct nt_dtype *dtype)
{
    switch (content) {
    case NT_LANCE_HAS_VALUES:
        *dtype = adding->dataset->fields[field].dtype;
        return NT_OK;
    case NT_LANCE_HAS_ROWS:
        return set_rows(adding, use_of(adding, field).value->bits / 8, dtype);
    case NT_LANCE_HAS_PLACES:
        *dtype = place;
        return NT_OK;
    case NT_LANCE_HAS_LEVELS:
        *dtype = level;
        return NT_OK;
    case NT_LANCE_HAS_LIST_ENDS:
    case NT_LANCE_HAS_ENDS:
        *dtype = nt_element_dtype(NT_ELEMENT_UINT64);
        return NT_OK;
    default:
        *dtype = nt_element_dtype(NT_ELEMENT_BYTE);
        return NT_OK;
    }
}

/* ---- columns ---- */

/* Pages have decoders of their own; this one tells the type. */
static enum nt_status add_column(struct adding *adding, uint32_t field, enum nt_lance_content content)
{
    struct nt_decoder decoder;
    struct nt_column column = {.id = use_of(adding, field).column,
                               .field = field,
                               .type_name = nt_lance_content_info(content)->name};
    enum nt_status status = set_dtype(adding, field, content, &column.dtype);
    enum nt_element element = column.dtype.element;
    enum nt_encoding_kind encoding =
        content == NT_LANCE_HAS_NOTHING ? NT_ENCODING_UNKNOWN : nt_lance_encoding_of(element);
    if (status == NT_OK)
        status =
            nt_decoder_init(&decoder, encoding, element == NT_ELEMENT_OPAQUE ? column.dtype.bytes * 8 : 0, 0,
                            0, adding->error);
    return status == NT_OK ? nt_builder_add_column(&adding->builder, &column, &decoder, adding->error)
                           : status;
}

static enum nt_lance_content content_of_field(const struct adding *adding, uint32_t field)
{
    const struct nt_lance_use use = use_of(adding, field);
    switch (adding->dataset->fields[field].kind) {
    case NT_FIELD_VALUE:
        return NT_LANCE_HAS_VALUES;
    case NT_FIELD_STRING:
    case NT_FIELD_STREAMED:
    case NT_FIELD_JSON:
        return NT_LANCE_HAS_BYTES;
    case NT_FIELD_PAGE_BYTES:
        return NT_LANCE_HAS_PLACES;
    case NT_FIELD_COLLECTION:
        return NT_LANCE_HAS_LIST_ENDS;
    case NT_FIELD_RECORD:
        return use.value->is_packed && use.value->bits ? NT_LANCE_HAS_ROWS : NT_LANCE_HAS_NOTHING;
    default:
        return NT_LANCE_HAS_NOTHING;
    }
}

/* From 2.1 on a column has levels where anything around its values may be null or is a list. */
static bool may_have_levels(const struct nt_lance_side *side, uint32_t leaf)
{
    const struct nt_lance_schema *schema = side->schema;
    for (uint32_t at = leaf; at != NT_NONE; at = schema->fields[at].parent)
        if (schema->fields[at].is_nullable || schema->places[at].type.shape == NT_LANCE_IS_LIST)
            return side->has_levels;
    return false;
}

static enum nt_status add_structure_of(struct adding *adding, uint32_t field)
{
    uint32_t leaf = adding->side->schema->parts[field].field;
    enum nt_status status = NT_OK;
    if (content_of_field(adding, field) == NT_LANCE_HAS_BYTES)
        status = add_column(adding, field, NT_LANCE_HAS_ENDS);
    if (status == NT_OK && may_have_levels(adding->side, leaf) &&
        adding->dataset->fields[field].kind != NT_FIELD_UNREADABLE)
        status = add_column(adding, field, NT_LANCE_HAS_LEVELS);
    return status;
}

/* Whether a field of the model is what a column of the file is shown at: the field that it stores, of fixed-size lists
 * the innermost items. */
static bool has_column(const struct adding *adding, uint32_t field)
{
    const struct nt_lance_side *side = adding->side;
    uint32_t leaf = side->schema->parts[field].field;
    bool is_last = field + 1 == adding->dataset->field_count || side->schema->parts[field + 1].field != leaf;
    return is_last && side->leaves[leaf].field == leaf;
}

/* The parts are those of the data set, and as dear to look at. */
static enum nt_status add_parts(struct nt_dataset *side, const struct nt_dataset *dataset,
                                struct nt_error *error)
{
    uint64_t *entries = calloc((size_t)dataset->part_count + 1, sizeof(*entries));
    if (!entries)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < dataset->part_count; i++)
        entries[i] = dataset->part_borders[i + 1] - dataset->part_borders[i];
    enum nt_status status = nt_dataset_add_field_groups(side, entries, dataset->part_count, error);
    free(entries);
    side->part_metadata_bytes = dataset->part_metadata_bytes;
    return status;
}

static enum nt_status add_side(struct nt_dataset *dataset, const struct nt_lance_side *of,
                               const struct nt_dataset_ops *ops, struct nt_dataset **side_ret,
                               struct nt_error *error)
{
    struct adding adding = {.dataset = dataset, .side = of, .error = error};
    bool is_structure = !ops->page_files;
    struct nt_dataset *side;
    enum nt_status status = nt_dataset_new_side(dataset, &side, error);
    if (status != NT_OK)
        return status;
    side->ops = ops;
    side->format_data = (void *)of;
    nt_builder_init(&adding.builder, side);
    status = nt_builder_add_linked_fields(&adding.builder, dataset->fields, dataset->field_count, error);
    for (uint32_t i = 0; status == NT_OK && i < dataset->field_count; i++) {
        if (!has_column(&adding, i))
            continue;
        status = is_structure ? add_structure_of(&adding, i)
                              : add_column(&adding, i, content_of_field(&adding, i));
    }
    if (status == NT_OK)
        status = nt_builder_finish(&adding.builder, error);
    if (status == NT_OK)
        status = add_parts(side, dataset, error);
    nt_builder_deinit(&adding.builder);
    if (status == NT_OK)
        *side_ret = side;
    else
        nt_dataset_free(side);
    return status;
}

enum nt_status nt_lance_add_sides_of(struct nt_dataset *dataset, const struct nt_lance_side *side,
                                     struct nt_error *error)
{
    static const struct nt_dataset_ops stored_ops = {
        .load_group = nt_lance_load_stored,
        .page_files = nt_lance_page_files,
        .describe_column = nt_lance_describe_column,
        .describe_page = nt_lance_describe_page,
    };
    static const struct nt_dataset_ops structure_ops = {.load_group = nt_lance_load_stored};
    struct nt_dataset *stored, *structure;
    enum nt_status status = add_side(dataset, side, &stored_ops, &stored, error);
    if (status != NT_OK)
        return status;
    status = add_side(dataset, side, &structure_ops, &structure, error);
    if (status != NT_OK) {
        nt_dataset_free(stored);
        return status;
    }
    dataset->stored = stored;
    dataset->structure = structure;
    return NT_OK;
}

/* ---- a file that is mounted alone ---- */

static enum nt_status find_home(struct nt_dataset *dataset, uint32_t field, uint32_t part,
                                struct nt_lance_home *home_ret, struct nt_error *error)
{
    const struct nt_lance *lance = nt_lance_of(dataset);
    (void)part, (void)error;
    *home_ret = (struct nt_lance_home){.lance = lance, .use = nt_lance_use_in(lance, field)};
    return NT_OK;
}

enum nt_status nt_lance_add_sides(struct nt_dataset *dataset, struct nt_error *error)
{
    const struct nt_lance *lance = nt_lance_of(dataset);
    struct nt_lance_side *side = nt_arena_alloc(dataset->arena, 1, sizeof(*side));
    if (!side)
        return nt_fail_memory(error);
    *side = (struct nt_lance_side){.schema = &lance->schema,
                                   .leaves = lance->leaves,
                                   .has_levels = !lance->schema.has_item_columns,
                                   .find_home = find_home};
    return nt_lance_add_sides_of(dataset, side, error);
}
