/* SPDX-License-Identifier: MIT
 *
 * In: the records of a whole schema (header and extension). Out: the model's fields, columns and decoders,
 * linked. Specification, "Header Envelope": ids, parents, representations, alias columns of projected fields.
 */
#include "format/rntuple/schema.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "format/rntuple/field_kind.h"

struct builder {
    struct nt_dataset *dataset;
    const struct nt_generation *generation;
    const struct nt_schema *schema;
    struct id *field_ids; /* by id */
    struct nt_error *error;
};

/* ---- field ids ---- */

struct id {
    uint64_t id;
    uint32_t index;
};

static int compare_ids(const void *left, const void *right)
{
    const struct id *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

static enum nt_status sort_field_ids(struct builder *builder)
{
    uint32_t count = builder->schema->field_count;
    builder->field_ids = calloc(count ? count : 1, sizeof(*builder->field_ids));
    if (!builder->field_ids)
        return nt_fail_memory(builder->error);
    for (uint32_t i = 0; i < count; i++)
        builder->field_ids[i] = (struct id){builder->schema->fields[i].id, i};
    qsort(builder->field_ids, count, sizeof(*builder->field_ids), compare_ids);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = builder->field_ids[i].id;
        if (id >= NT_NONE || (i > 0 && id == builder->field_ids[i - 1].id))
            return nt_fail(builder->error, NT_CORRUPT, NT_NO_OFFSET,
                           "schema: two fields have the id %" PRIu64, id);
    }
    return NT_OK;
}

/* Index of the field of an id, NT_NONE where there is none. */
static uint32_t find_field(const struct builder *builder, uint64_t id)
{
    struct id key = {.id = id};
    const struct id *found =
        bsearch(&key, builder->field_ids, builder->schema->field_count, sizeof(key), compare_ids);
    return found ? found->index : NT_NONE;
}

/* ---- fields ---- */

static bool copy_text(struct nt_arena *arena, struct nt_text from, struct nt_text *to)
{
    *to = (struct nt_text){from.length ? nt_arena_copy(arena, from.bytes, from.length) : "", from.length};
    return to->bytes;
}

static bool copy_texts(struct nt_arena *arena, const struct nt_field_record *record, struct nt_field *field)
{
    return copy_text(arena, record->name, &field->name) && copy_text(arena, record->type, &field->type) &&
           copy_text(arena, record->alias, &field->alias) &&
           copy_text(arena, record->description, &field->description);
}

static enum nt_status find_relatives(const struct builder *builder, const struct nt_field_record *record,
                                     struct nt_field *field)
{
    field->parent = NT_NONE;
    field->source_field = NT_NONE;
    if (record->parent_id != record->id) {
        field->parent = find_field(builder, record->parent_id);
        if (field->parent == NT_NONE)
            return nt_fail(builder->error, NT_CORRUPT, NT_NO_OFFSET,
                           "schema: field %" PRIu64 " has the parent %" PRIu64 ", which does not exist",
                           record->id, record->parent_id);
    }
    if (!(record->flags & builder->generation->field_flags & NT_FIELD_PROJECTED))
        return NT_OK;
    field->source_field = find_field(builder, record->source_id);
    if (field->source_field == NT_NONE || record->source_id == record->id)
        return nt_fail(builder->error, NT_CORRUPT, NT_NO_OFFSET,
                       "schema: field %" PRIu64 " is projected from field %" PRIu64 ", which %s", record->id,
                       record->source_id, field->source_field == NT_NONE ? "does not exist" : "is itself");
    return NT_OK;
}

static enum nt_status build_fields(struct builder *builder)
{
    struct nt_dataset *dataset = builder->dataset;
    uint32_t count = builder->schema->field_count;
    dataset->fields = nt_arena_alloc(dataset->arena, count ? count : 1, sizeof(*dataset->fields));
    if (!dataset->fields)
        return nt_fail_memory(builder->error);
    dataset->field_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const struct nt_field_record *record = &builder->schema->fields[i];
        struct nt_field *field = &dataset->fields[i];
        if (!copy_texts(dataset->arena, record, field))
            return nt_fail_memory(builder->error);
        field->id = (uint32_t)record->id;
        field->role = record->role < NT_ROLE_COUNT ? (enum nt_role)record->role : NT_ROLE_PLAIN;
        field->repetition = record->repetition;
        field->field_version = record->field_version;
        field->type_version = record->type_version;
        field->flags = record->flags;
        field->type_checksum = record->type_checksum;
        field->has_type_checksum =
            record->flags & builder->generation->field_flags & NT_FIELD_HAS_TYPE_CHECKSUM;
        enum nt_status status = find_relatives(builder, record, field);
        if (status != NT_OK)
            return status;
    }
    return NT_OK;
}

/* ---- decoders ---- */

struct decoder_key {
    struct nt_decoder decoder;
    uint32_t column;
};

static int compare_numbers(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)); /* by bits: any total order will do, also for NaN */
}

static int compare_decoders(const void *left, const void *right)
{
    const struct nt_decoder *a = &((const struct decoder_key *)left)->decoder;
    const struct nt_decoder *b = &((const struct decoder_key *)right)->decoder;
    if (a->encoding != b->encoding)
        return a->encoding < b->encoding ? -1 : 1;
    if (a->bits != b->bits)
        return a->bits < b->bits ? -1 : 1;
    int order = compare_numbers(a->minimum, b->minimum);
    return order ? order : compare_numbers(a->maximum, b->maximum);
}

/* A type that is not known, that cannot have so many bits or that lacks its range of values is kept: its
 * field is shown without data. */
static struct nt_decoder decoder_of(const struct nt_column_record *record, enum nt_encoding_kind encoding)
{
    struct nt_decoder decoder = {0};
    bool lacks_range = encoding == NT_ENCODING_REAL32_QUANT && !record->has_range;
    if (encoding != NT_ENCODING_UNKNOWN && !lacks_range &&
        nt_decoder_init(&decoder, encoding, record->bits, record->minimum, record->maximum, NULL) == NT_OK)
        return decoder;
    return (struct nt_decoder){
        .encoding = NT_ENCODING_UNKNOWN,
        .element = NT_ELEMENT_OPAQUE,
        .bits = record->bits,
        .element_bytes = (record->bits + 7u) / 8,
    };
}

/* Columns of the same decoder share it. */
static enum nt_status share_decoders(struct builder *builder, struct decoder_key *keys)
{
    struct nt_dataset *dataset = builder->dataset;
    uint32_t count = dataset->column_count, used = 0;
    qsort(keys, count, sizeof(*keys), compare_decoders);
    for (uint32_t i = 0; i < count; i++)
        used += i == 0 || compare_decoders(&keys[i - 1], &keys[i]) != 0;
    if (used > UINT16_MAX)
        return nt_fail(builder->error, NT_LIMIT, NT_NO_OFFSET, "schema: %u different encodings of columns",
                       used);
    dataset->decoders = nt_arena_alloc(dataset->arena, used ? used : 1, sizeof(*dataset->decoders));
    if (!dataset->decoders)
        return nt_fail_memory(builder->error);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || compare_decoders(&keys[i - 1], &keys[i]) != 0)
            dataset->decoders[dataset->decoder_count++] = keys[i].decoder;
        dataset->columns[keys[i].column].decoder = (uint16_t)(dataset->decoder_count - 1);
    }
    return NT_OK;
}

/* ---- columns ---- */

static enum nt_status build_column(struct builder *builder, uint32_t index, struct decoder_key *key)
{
    const struct nt_column_record *record = &builder->schema->columns[index];
    struct nt_column *column = &builder->dataset->columns[index];
    struct nt_arena *arena = builder->dataset->arena;
    column->id = (uint32_t)record->id;
    column->field = find_field(builder, record->field_id);
    column->representation = record->representation;
    column->type_number = record->type_number;
    column->flags = record->flags;
    column->is_deferred = record->is_deferred;
    column->is_deferred_suppressed = record->first_element < 0;
    column->first_element =
        record->first_element < 0 ? 0 - (uint64_t)record->first_element : (uint64_t)record->first_element;
    column->has_range = record->has_range;
    enum nt_encoding_kind encoding = nt_generation_encoding(builder->generation, builder->dataset->writer,
                                                            record->type_number, &column->type_name);
    if (!column->type_name)
        column->type_name = nt_arena_format(arena, "unknown (0x%02x)", record->type_number);
    *key = (struct decoder_key){decoder_of(record, encoding), index};
    if (record->id >= NT_NONE || (index > 0 && record->id == record[-1].id))
        return nt_fail(builder->error, NT_CORRUPT, NT_NO_OFFSET, "schema: two columns have the id %" PRIu64,
                       record->id);
    if (column->field == NT_NONE)
        return nt_fail(builder->error, NT_CORRUPT, NT_NO_OFFSET,
                       "schema: column %" PRIu64 " belongs to field %" PRIu64 ", which does not exist",
                       record->id, record->field_id);
    return column->type_name ? NT_OK : nt_fail_memory(builder->error);
}

static enum nt_status build_columns(struct builder *builder)
{
    struct nt_dataset *dataset = builder->dataset;
    uint32_t count = builder->schema->column_count;
    dataset->columns = nt_arena_alloc(dataset->arena, count ? count : 1, sizeof(*dataset->columns));
    struct decoder_key *keys = calloc(count ? count : 1, sizeof(*keys));
    enum nt_status status = dataset->columns && keys ? NT_OK : nt_fail_memory(builder->error);
    dataset->column_count = status == NT_OK ? count : 0;
    for (uint32_t i = 0; i < count && status == NT_OK; i++)
        status = build_column(builder, i, &keys[i]);
    if (status == NT_OK)
        status = share_decoders(builder, keys);
    free(keys);
    return status;
}

/* ---- projected fields ---- */

/* The columns of a projected field, by its alias columns in the order of the file. */
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

static enum nt_status collect_aliases(struct builder *builder, struct alias *aliases)
{
    const struct nt_schema *schema = builder->schema;
    for (uint32_t i = 0; i < schema->alias_count; i++) {
        const struct nt_alias_record *record = &schema->aliases[i];
        uint32_t field = find_field(builder, record->field);
        if (field == NT_NONE || record->physical_column >= schema->column_count)
            return nt_fail(
                builder->error, NT_CORRUPT, NT_NO_OFFSET,
                "schema: alias column %u joins column %u and field %u, of which one does not exist", i,
                record->physical_column, record->field);
        if (builder->dataset->fields[field].owns_columns)
            return nt_fail(builder->error, NT_CORRUPT, NT_NO_OFFSET,
                           "schema: field %u has both an alias column and columns of its own", record->field);
        aliases[i] = (struct alias){field, i, record->physical_column};
    }
    qsort(aliases, schema->alias_count, sizeof(*aliases), compare_aliases);
    return NT_OK;
}

/* True where the aliases name the source's columns of the first representation, all and in order: then the
 * projected field has all the source's representations. */
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

/* Join the aliases of one field. `used` counts the entries of field_columns. */
static enum nt_status project(struct builder *builder, const struct alias *aliases, uint32_t count,
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
    if (field->source_field == NT_NONE)
        field->source_field = source_index;
    if (covers_source(dataset, aliases, count, source)) {
        field->first_column = source->first_column;
        field->column_count = source->column_count;
        field->columns_per_representation = source->columns_per_representation;
    } else if (source->column_count == source->columns_per_representation) {
        field->first_column = *used;
        field->column_count = field->columns_per_representation = count;
        for (uint32_t i = 0; i < count; i++)
            dataset->field_columns[(*used)++] = aliases[i].column;
    } else {
        field->unreadable = "its alias columns do not cover all representations of the source field";
    }
    return NT_OK;
}

/* field_columns with room for the aliases behind the columns. */
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

static enum nt_status build_projections(struct builder *builder)
{
    uint32_t count = builder->schema->alias_count, used = builder->dataset->column_count;
    if (count == 0)
        return NT_OK;
    struct alias *aliases = calloc(count, sizeof(*aliases));
    if (!aliases || !extend_field_columns(builder->dataset, count)) {
        free(aliases);
        return nt_fail_memory(builder->error);
    }
    enum nt_status status = collect_aliases(builder, aliases);
    for (uint32_t first = 0, end; first < count && status == NT_OK; first = end) {
        for (end = first; end < count && aliases[end].field == aliases[first].field; end++) {
            /* to the end of this field's aliases */
        }
        status = project(builder, aliases + first, end - first, &used);
    }
    free(aliases);
    return status;
}

/* ---- all ---- */

static enum nt_status decide_kinds(struct builder *builder)
{
    uint32_t count = builder->schema->field_count;
    uint16_t *roles = calloc(count ? count : 1, sizeof(*roles));
    if (!roles)
        return nt_fail_memory(builder->error);
    for (uint32_t i = 0; i < count; i++)
        roles[i] = builder->schema->fields[i].role;
    enum nt_status status = nt_field_kinds_decide(builder->dataset, roles, builder->error);
    free(roles);
    return status;
}

enum nt_status nt_schema_build(struct nt_dataset *dataset, const struct nt_generation *generation,
                               const struct nt_schema *schema, struct nt_error *error)
{
    struct builder builder = {.dataset = dataset, .generation = generation, .schema = schema, .error = error};
    enum nt_status status = sort_field_ids(&builder);
    if (status == NT_OK)
        status = build_fields(&builder);
    if (status == NT_OK)
        status = build_columns(&builder);
    if (status == NT_OK)
        status = nt_dataset_link(dataset, error);
    if (status == NT_OK)
        status = build_projections(&builder);
    if (status == NT_OK)
        status = decide_kinds(&builder);
    free(builder.field_ids);
    return status;
}
