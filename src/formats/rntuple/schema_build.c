/* SPDX-License-Identifier: MIT
 *
 * Builds the fields, columns and decoders of the model from the records of a complete schema, and links
 * them (specification, "Header Envelope": ids, parents, column representations, alias columns of
 * projected fields).
 */
#include "formats/rntuple/rntuple.h"

struct schema_builder {
    struct nt_builder model;
    struct nt_dataset *dataset;
    const struct nt_generation *generation;
    const struct nt_schema *schema;
    struct id *field_ids; /* by id */
    struct nt_error *error;
};

/* ---- Field ids ---- */

struct id {
    uint64_t id;
    uint32_t index;
};

static enum nt_status check_id(const struct schema_builder *builder, const char *what, uint64_t id,
                               bool is_repeated)
{
    if (id >= NT_NONE)
        return nt_fail(builder->error, NT_CORRUPT, NT_NO_OFFSET,
                       "schema: id of a %s: expected less than %" PRIu32 ", found %" PRIu64, what, NT_NONE,
                       id);
    return is_repeated ? nt_fail(builder->error, NT_CORRUPT, NT_NO_OFFSET,
                                 "schema: two %ss have the id %" PRIu64, what, id)
                       : NT_OK;
}

static enum nt_status sort_field_ids(struct schema_builder *builder)
{
    uint32_t count = builder->schema->field_count;
    builder->field_ids = calloc(count ? count : 1, sizeof(*builder->field_ids));
    NT_TRY(nt_check_memory(builder->field_ids, builder->error));
    for (uint32_t i = 0; i < count; i++)
        builder->field_ids[i] = (struct id){builder->schema->fields[i].id, i};
    qsort(builder->field_ids, count, sizeof(*builder->field_ids), nt_compare_u64);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = builder->field_ids[i].id;
        NT_TRY(check_id(builder, "field", id, i > 0 && id == builder->field_ids[i - 1].id));
    }
    return NT_OK;
}

/* Finds the index of the field with an id; NT_NONE if there is none. */
static uint32_t find_field(const struct schema_builder *builder, uint64_t id)
{
    struct id key = {.id = id};
    const struct id *found =
        bsearch(&key, builder->field_ids, builder->schema->field_count, sizeof(key), nt_compare_u64);
    return found ? found->index : NT_NONE;
}

/* ---- Fields ---- */

static bool copy_texts(struct nt_arena *arena, const struct nt_field_record *record, struct nt_field *field)
{
    return nt_text_copy(arena, record->name, &field->name) &&
           nt_text_copy(arena, record->type, &field->type) &&
           nt_text_copy(arena, record->description, &field->description);
}

static enum nt_status find_relatives(const struct schema_builder *builder,
                                     const struct nt_field_record *record, struct nt_field *field)
{
    field->parent = NT_NONE;
    if (record->parent_id != record->id) {
        field->parent = find_field(builder, record->parent_id);
        if (field->parent == NT_NONE)
            return nt_fail(builder->error, NT_CORRUPT, NT_NO_OFFSET,
                           "schema: field %" PRIu64 " has the parent %" PRIu64 ", which does not exist",
                           record->id, record->parent_id);
    }
    if (!(record->flags & builder->generation->field_flags & NT_FIELD_PROJECTED))
        return NT_OK;
    uint32_t source = find_field(builder, record->source_id);
    if (source == NT_NONE || record->source_id == record->id)
        return nt_fail(builder->error, NT_CORRUPT, NT_NO_OFFSET,
                       "schema: field %" PRIu64 " is projected from field %" PRIu64 ", which %s", record->id,
                       record->source_id, source == NT_NONE ? "does not exist" : "is itself");
    return nt_check_memory(nt_field_set_source(builder->dataset->arena, field, source), builder->error);
}

static enum nt_status build_fields(struct schema_builder *builder)
{
    for (uint32_t i = 0; i < builder->schema->field_count; i++) {
        const struct nt_field_record *record = &builder->schema->fields[i];
        struct nt_field field = {
            .id = (uint32_t)record->id,
            .role = record->role < NT_ROLE_COUNT ? (enum nt_role)record->role : NT_ROLE_PLAIN,
            .repetition = record->repetition,
            .unreadable = builder->schema->unreadable,
        };
        NT_TRY(nt_check_memory(copy_texts(builder->dataset->arena, record, &field), builder->error));
        NT_TRY(find_relatives(builder, record, &field));
        NT_TRY(nt_builder_add_field(&builder->model, &field, NULL, builder->error));
    }
    return NT_OK;
}

/* ---- Columns ---- */

/* Quantised values may exceed 32 bits despite the column type's name: the field's type decides. */
static void fit_to_field(struct nt_decoder *decoder, const struct nt_field *field)
{
    enum nt_element element;
    if (decoder->encoding == NT_ENCODING_REAL32_QUANT && nt_type_element(field->type, &element) &&
        element == NT_ELEMENT_REAL64)
        nt_decoder_set_element(decoder, element);
}

/* Keeps a column whose type is unknown, cannot have that many bits or lacks its range of values: its
 * field is shown without data. */
static struct nt_decoder decoder_of(const struct nt_column_record *record, enum nt_encoding_kind encoding,
                                    const struct nt_field *field)
{
    struct nt_decoder decoder = {0};
    bool lacks_range = encoding == NT_ENCODING_REAL32_QUANT && !record->has_range;
    if (encoding != NT_ENCODING_UNKNOWN && !lacks_range &&
        nt_decoder_init(&decoder, encoding, record->bits, record->minimum, record->maximum, NULL) == NT_OK) {
        fit_to_field(&decoder, field);
        return decoder;
    }
    return (struct nt_decoder){
        .encoding = NT_ENCODING_UNKNOWN,
        .element = NT_ELEMENT_OPAQUE,
        .bits = record->bits,
        .element_bytes = (record->bits + 7u) / 8,
    };
}

/* An element of an unknown type is opaque bytes. */
static struct nt_dtype dtype_of(struct nt_arena *arena, const struct nt_decoder *decoder)
{
    struct nt_dtype dtype = nt_element_dtype(decoder->element);
    if (decoder->element == NT_ELEMENT_OPAQUE) {
        dtype.bytes = decoder->element_bytes;
        dtype.numpy = nt_arena_format(arena, "|V%u", decoder->element_bytes);
    }
    return dtype;
}

static struct nt_column column_of(const struct schema_builder *builder, const struct nt_column_record *record)
{
    return (struct nt_column){
        .id = (uint32_t)record->id,
        .field = find_field(builder, record->field_id),
        .representation = record->representation,
    };
}

static bool set_extra(struct nt_arena *arena, struct nt_column *column, const struct nt_column_record *record)
{
    int64_t first = record->first_element;
    if (!record->is_deferred && !record->has_range)
        return true;
    struct nt_column_extra *extra = nt_arena_alloc(arena, 1, sizeof(*extra));
    if (extra)
        *extra = (struct nt_column_extra){.is_deferred = record->is_deferred,
                                          .begins_suppressed = first < 0,
                                          .first_element = first < 0 ? 0 - (uint64_t)first : (uint64_t)first,
                                          .has_range = record->has_range};
    column->extra = extra;
    return extra;
}

static enum nt_status build_column(struct schema_builder *builder, uint32_t index)
{
    const struct nt_column_record *record = &builder->schema->columns[index];
    struct nt_arena *arena = builder->dataset->arena;
    struct nt_column column = column_of(builder, record);
    enum nt_encoding_kind encoding = nt_generation_encoding(builder->generation, builder->dataset->writer,
                                                            record->type_number, &column.type_name);
    NT_TRY(check_id(builder, "column", record->id, index > 0 && record->id == record[-1].id));
    if (column.field == NT_NONE)
        return nt_fail(builder->error, NT_CORRUPT, NT_NO_OFFSET,
                       "schema: column %" PRIu64 " belongs to field %" PRIu64 ", which does not exist",
                       record->id, record->field_id);
    struct nt_decoder decoder = decoder_of(record, encoding, &builder->model.fields[column.field]);
    if (!column.type_name)
        column.type_name = nt_arena_format(arena, "unknown (0x%02x)", record->type_number);
    column.dtype = dtype_of(arena, &decoder);
    if (!column.type_name || !column.dtype.numpy || !set_extra(arena, &column, record))
        return nt_fail_memory(builder->error);
    return nt_builder_add_column(&builder->model, &column, &decoder, builder->error);
}

static enum nt_status build_columns(struct schema_builder *builder)
{
    for (uint32_t i = 0; i < builder->schema->column_count; i++)
        NT_TRY(build_column(builder, i));
    return NT_OK;
}

/* ---- Projected fields ---- */

/* An alias column of a projected field, in file order. */
struct alias {
    uint32_t field, order, column;
};

static int compare_aliases(const void *left, const void *right)
{
    const struct alias *a = left, *b = right;
    if (a->field != b->field)
        return a->field < b->field ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static enum nt_status collect_aliases(struct schema_builder *builder, struct alias *aliases)
{
    const struct nt_schema *schema = builder->schema;
    for (uint32_t i = 0; i < schema->alias_count; i++) {
        const struct nt_alias_record *record = &schema->aliases[i];
        uint32_t field = find_field(builder, record->field);
        if (field == NT_NONE || record->physical_column >= schema->column_count)
            return nt_fail(
                builder->error, NT_CORRUPT, NT_NO_OFFSET,
                "schema: alias column %u joins column %u and field %u, one of which does not exist", i,
                record->physical_column, record->field);
        if (builder->dataset->fields[field].owns_columns)
            return nt_fail(builder->error, NT_CORRUPT, NT_NO_OFFSET,
                           "schema: field %u has both an alias column and columns of its own", record->field);
        aliases[i] = (struct alias){field, i, record->physical_column};
    }
    qsort(aliases, schema->alias_count, sizeof(*aliases), compare_aliases);
    return NT_OK;
}

/* Do the aliases name all columns of the source's first representation, in order? Then the projected
 * field has all representations of its source. */
static bool covers_source(const struct nt_dataset *dataset, const struct alias *aliases, uint32_t count,
                          const struct nt_field *source)
{
    uint32_t position = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct nt_column *column = &dataset->columns[aliases[i].column];
        if (column->representation == 0 && column->position != position++)
            return false;
    }
    return position == source->columns_per_representation;
}

/* Joins the aliases of one field. `used` counts the entries of field_columns. */
static enum nt_status project(struct schema_builder *builder, const struct alias *aliases, uint32_t count,
                              uint32_t *used)
{
    struct nt_dataset *dataset = builder->dataset;
    struct nt_field *field = &dataset->fields[aliases[0].field];
    uint32_t source_index = dataset->columns[aliases[0].column].field;
    const struct nt_field *source = &dataset->fields[source_index];
    for (uint32_t i = 1; i < count; i++)
        if (dataset->columns[aliases[i].column].field != source_index)
            return nt_fail(builder->error, NT_CORRUPT, NT_NO_OFFSET,
                           "schema: the alias columns of field %u belong to several fields", field->id);
    if (nt_field_source(field) == NT_NONE && !nt_field_set_source(dataset->arena, field, source_index))
        return nt_fail_memory(builder->error);
    if (covers_source(dataset, aliases, count, source)) {
        nt_field_project_columns(dataset, aliases[0].field, source_index);
    } else if (source->column_count == source->columns_per_representation) {
        dataset->first_columns[aliases[0].field] = *used;
        field->column_count = field->columns_per_representation = count;
        for (uint32_t i = 0; i < count; i++)
            dataset->field_columns[(*used)++] = aliases[i].column;
    } else {
        field->unreadable = "its alias columns do not cover all representations of the source field";
    }
    return NT_OK;
}

/* Extends field_columns with room for the aliases after the columns. */
static bool extend_field_columns(struct nt_dataset *dataset, uint32_t alias_count)
{
    uint32_t *extended =
        nt_arena_alloc(dataset->arena, (size_t)dataset->column_count + alias_count, sizeof(*extended));
    if (!extended)
        return false;
    memcpy(extended, dataset->field_columns, dataset->column_count * sizeof(*extended));
    dataset->field_columns = extended;
    return true;
}

static enum nt_status build_projections(struct schema_builder *builder)
{
    uint32_t count = builder->schema->alias_count, used = builder->dataset->column_count;
    if (count == 0)
        return NT_OK;
    NT_AUTO_FREE struct alias *aliases = calloc(count, sizeof(*aliases));
    NT_TRY(nt_check_memory(aliases && extend_field_columns(builder->dataset, count), builder->error));
    NT_TRY(collect_aliases(builder, aliases));
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && aliases[end].field == aliases[first].field; end++) {
            /* find the end of this field's aliases */
        }
        NT_TRY(project(builder, aliases + first, end - first, &used));
    }
    return NT_OK;
}

static enum nt_status build_all(struct schema_builder *builder)
{
    NT_TRY(sort_field_ids(builder));
    NT_TRY(build_fields(builder));
    NT_TRY(build_columns(builder));
    NT_TRY(nt_builder_finish(&builder->model, builder->error));
    NT_TRY(build_projections(builder));
    return nt_field_kinds_decide(builder->dataset, builder->generation, builder->schema->fields,
                                 builder->error);
}

enum nt_status nt_schema_build(struct nt_dataset *dataset, const struct nt_generation *generation,
                               struct nt_schema *schema, struct nt_error *error)
{
    struct schema_builder builder = {
        .dataset = dataset, .generation = generation, .schema = schema, .error = error};
    nt_builder_init(&builder.model, dataset);
    nt_schema_release(schema);
    enum nt_status status = build_all(&builder);
    nt_builder_deinit(&builder.model);
    free(builder.field_ids);
    return status;
}
