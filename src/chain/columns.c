/* SPDX-License-Identifier: MIT
 *
 * Builds the fields and columns of a chained dataset. Members that store a field with other column
 * types add a further column representation of it.
 */
#include "chain/chain.h"

#include "core/model/builder.h"

/* A representation of a field in the chain: columns [first, first + width). */
struct shape {
    uint32_t field, number, first, width;
    struct shape *next; /* of the same field */
};

struct chain_column_builder {
    struct nt_dataset *dataset;
    struct nt_builder model;
    struct shape **shapes; /* by field */
    uint32_t next_id;
    struct nt_error *error;
};

bool nt_chain_columns_agree(const struct nt_column *a, const struct nt_column *b)
{
    const char *a_type = a->type_name ? a->type_name : "", *b_type = b->type_name ? b->type_name : "";
    return strcmp(a_type, b_type) == 0 && a->dtype.element == b->dtype.element &&
           a->dtype.bytes == b->dtype.bytes;
}

/* Do the columns of a file have the same types as the representation? */
static bool has_shape(const struct chain_column_builder *builder, const struct shape *shape,
                      const struct nt_chain_slice *slice, const uint32_t *columns, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        if (!nt_chain_columns_agree(&builder->model.columns[shape->first + i],
                                    &slice->dataset->columns[columns[i]]))
            return false;
    return true;
}

static bool is_taken(const struct nt_chain_slice *slice, const struct shape *shape)
{
    for (uint32_t i = 0; i < slice->dataset->column_count; i++)
        if (slice->columns[i] == shape->first)
            return true;
    return false;
}

/* Returns a matching representation that the file does not use yet; NULL if there is none. */
static const struct shape *find_shape(const struct chain_column_builder *builder,
                                      const struct nt_chain_slice *slice, uint32_t field,
                                      const uint32_t *columns, uint32_t width, bool has_others)
{
    for (const struct shape *shape = builder->shapes[field]; shape; shape = shape->next)
        if (has_shape(builder, shape, slice, columns, width) && (!has_others || !is_taken(slice, shape)))
            return shape;
    return NULL;
}

/* Appends a copy of a file's column. */
static enum nt_status add_column_like(struct chain_column_builder *builder,
                                      const struct nt_chain_slice *slice, const struct shape *shape,
                                      uint32_t position, uint32_t number, bool keeps_id)
{
    struct nt_column column = slice->dataset->columns[number];
    column.field = shape->field;
    column.representation = shape->number;
    column.physical = shape->first + position;
    if (!keeps_id)
        column.id = builder->next_id;
    if (column.id >= builder->next_id)
        builder->next_id = column.id + 1;
    return nt_builder_add_column(&builder->model, &column, nt_column_decoder(slice->dataset, number),
                                 builder->error);
}

/* Finds a slice in which the field is nullable, and which so has a column for nulls. */
static const struct nt_chain_slice *find_nullable(const struct chain_column_builder *builder, uint32_t field)
{
    const struct nt_chain_slice *slice = nt_chain_dataset_of(builder->dataset)->slices;
    while (slice->failure || slice->fields[field] == NT_NONE ||
           !slice->dataset->fields[slice->fields[field]].is_nullable)
        slice++;
    return slice;
}

/* `width`: the number of columns that the file has. */
static enum nt_status add_columns(struct chain_column_builder *builder, const struct nt_chain_slice *slice,
                                  const struct shape *shape, const uint32_t *columns, uint32_t width)
{
    bool is_first = slice->member->first_source == 0;
    for (uint32_t i = 0; i < width; i++)
        NT_TRY(add_column_like(builder, slice, shape, i, columns[i], is_first));
    if (shape->width == width)
        return NT_OK;
    const struct nt_chain_slice *nullable = find_nullable(builder, shape->field);
    return add_column_like(builder, nullable, shape, width,
                           nt_field_column(nullable->dataset, nullable->fields[shape->field], 0, width),
                           false);
}

/* Adds a representation to the chain for one of a file. */
static enum nt_status add_shape(struct chain_column_builder *builder, const struct nt_chain_slice *slice,
                                uint32_t field, const uint32_t *columns, uint32_t own_width, uint32_t width,
                                const struct shape **shape_ret)
{
    struct shape **end = &builder->shapes[field];
    uint32_t number = 0;
    for (; *end; end = &(*end)->next)
        number++;
    struct shape *shape = nt_arena_alloc(builder->dataset->arena, 1, sizeof(*shape));
    NT_TRY(nt_check_memory(shape, builder->error));
    *shape = (struct shape){field, number, builder->model.column_count, width, NULL};
    *end = shape;
    *shape_ret = shape;
    return add_columns(builder, slice, shape, columns, own_width);
}

/* A representation has an extra column for nulls if the field is nullable in another file. */
static enum nt_status map_field(struct chain_column_builder *builder, const struct nt_chain_slice *slice,
                                uint32_t field)
{
    uint32_t own = slice->fields[field], count;
    if (own == NT_NONE || !slice->dataset->fields[own].owns_columns)
        return NT_OK;
    uint32_t width = nt_chain_dataset_of(builder->dataset)->fields.items[field].columns_per_representation;
    /* fields that cannot be merged have single-column representations */
    uint32_t own_width = nt_min(slice->dataset->fields[own].columns_per_representation, width);
    const uint32_t *columns = nt_field_columns(slice->dataset, own, &count);
    for (uint32_t i = 0; i < count; i += own_width) {
        const struct shape *shape = find_shape(builder, slice, field, columns + i, own_width, i > 0);
        if (!shape)
            NT_TRY(add_shape(builder, slice, field, columns + i, own_width, width, &shape));
        for (uint32_t k = 0; k < own_width; k++)
            slice->columns[columns[i + k]] = shape->first + k;
    }
    return NT_OK;
}

static enum nt_status map_share(struct chain_column_builder *builder, struct nt_chain_slice *slice)
{
    uint32_t count = slice->dataset->column_count;
    slice->columns = nt_arena_alloc(builder->dataset->arena, (size_t)count + 1, sizeof(*slice->columns));
    NT_TRY(nt_check_memory(slice->columns, builder->error));
    for (uint32_t i = 0; i < count; i++)
        slice->columns[i] = NT_NONE;
    for (uint32_t i = 0; i < builder->dataset->field_count; i++)
        NT_TRY(map_field(builder, slice, i));
    return NT_OK;
}

/* ---- Deferred columns ---- */

static bool has_deferred(const struct nt_dataset *dataset)
{
    for (uint32_t i = 0; i < dataset->column_count; i++)
        if (nt_column_is_deferred(&dataset->columns[i]))
            return true;
    return false;
}

/* A deferred column starts at a different element in each file, or at the first one. */
static enum nt_status set_deferred(struct nt_dataset *dataset, struct nt_chain_slice *slice,
                                   struct nt_error *error)
{
    uint64_t *deferred = nt_arena_alloc(dataset->arena, (size_t)dataset->column_count + 1, sizeof(*deferred));
    NT_TRY(nt_check_memory(deferred, error));
    for (uint32_t i = 0; i < dataset->column_count; i++)
        deferred[i] = NT_NOT_DEFERRED;
    for (uint32_t i = 0; i < slice->dataset->column_count; i++) {
        const struct nt_column *column = &slice->dataset->columns[i];
        if (slice->columns[i] != NT_NONE)
            deferred[slice->columns[i]] = nt_column_deferral(column);
    }
    slice->deferred = deferred;
    return NT_OK;
}

/* ---- All columns ---- */

static enum nt_status build(struct chain_column_builder *builder)
{
    struct nt_dataset *dataset = builder->dataset;
    struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    const struct nt_chain_fields *fields = &chain->fields;
    enum nt_status status =
        nt_builder_add_linked_fields(&builder->model, fields->items, fields->count, builder->error);
    dataset->field_count = fields->count;
    builder->shapes = calloc((size_t)fields->count + 1, sizeof(struct shape *));
    NT_TRY(status);
    NT_TRY(nt_check_memory(builder->shapes, builder->error));
    for (uint32_t i = 0; i < chain->slice_count; i++)
        if (chain->slices[i].lazy) { /* it has the schema of the first member */
            chain->slices[i].fields = chain->slices[i].series->slices[0].fields;
            chain->slices[i].columns = chain->slices[i].series->slices[0].columns;
        } else if (!chain->slices[i].failure) {
            NT_TRY(map_share(builder, &chain->slices[i]));
        }
    NT_TRY(nt_builder_finish(&builder->model, builder->error));
    for (uint32_t i = 0; i < fields->count; i++)
        if (fields->owners[i] != NT_NONE)
            nt_field_project_columns(dataset, i, fields->owners[i]);
    bool is_any_deferred = has_deferred(dataset);
    for (uint32_t i = 0; i < chain->slice_count; i++) {
        struct nt_chain_slice *slice = &chain->slices[i];
        if (!slice->failure && !slice->lazy && (is_any_deferred || has_deferred(slice->dataset)))
            NT_TRY(set_deferred(dataset, slice, builder->error));
    }
    return NT_OK;
}

enum nt_status nt_chain_build_columns(struct nt_dataset *dataset, struct nt_error *error)
{
    struct chain_column_builder builder = {.dataset = dataset, .error = error};
    nt_builder_init(&builder.model, dataset);
    enum nt_status status = build(&builder);
    nt_builder_deinit(&builder.model);
    free(builder.shapes);
    return status;
}

const struct nt_chain_slice *nt_chain_column_slice(const struct nt_dataset *dataset, uint32_t column,
                                                   uint32_t *column_ret)
{
    const struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    for (uint32_t i = 0; i < chain->slice_count; i++) {
        const struct nt_chain_slice *slice = &chain->slices[i];
        for (uint32_t k = 0; !slice->failure && !slice->lazy && k < slice->dataset->column_count; k++)
            if (slice->columns[k] == column) {
                *column_ret = k;
                return slice;
            }
    }
    return NULL;
}
