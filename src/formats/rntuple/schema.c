/* SPDX-License-Identifier: MIT
 *
 * Reads the header envelope and the schema description in the header and in the footer's extension:
 * fields, columns, alias columns and extra type information (specification, "Header Envelope").
 */
#include "formats/rntuple/rntuple.h"

/* ---- Fields, columns, aliases, extra type information ---- */

void nt_schema_release(struct nt_schema *schema)
{
    if (!schema->budget)
        return;
    nt_budget_release(schema->budget, NT_COST_FIELD_RECORD, schema->fields_taken);
    nt_budget_release(schema->budget, NT_COST_COLUMN_RECORD, schema->columns_taken);
    schema->fields_taken = schema->columns_taken = 0;
}

void nt_schema_deinit(struct nt_schema *schema)
{
    nt_schema_release(schema);
    free(schema->fields);
    free(schema->columns);
    free(schema->aliases);
    free(schema->extra_types);
    *schema = (struct nt_schema){0};
}

/* ---- Records ---- */

static void read_field_values(struct nt_cursor *cursor, struct nt_field_record *field, uint16_t known_flags)
{
    uint16_t flags = field->flags & known_flags;
    if (flags & NT_FIELD_REPETITIVE)
        field->repetition = nt_labelled_le64(cursor, "field", "repetition");
    if (flags & NT_FIELD_PROJECTED)
        field->source_id = nt_labelled_le32(cursor, "field", "source field id");
    if (flags & NT_FIELD_HAS_TYPE_CHECKSUM)
        field->type_checksum = nt_labelled_le32(cursor, "field", "type checksum");
}

static const char *read_field(const struct nt_generation *generation, struct nt_cursor *cursor, void *record)
{
    struct nt_field_record *field = record;
    field->field_version = nt_labelled_le32(cursor, "field", "version");
    field->type_version = nt_labelled_le32(cursor, "field", "type version");
    field->parent_id = nt_labelled_le32(cursor, "field", "parent field id");
    field->role = nt_labelled_le16(cursor, "field", "role");
    field->flags = nt_labelled_le16(cursor, "field", "flags");
    if (generation->has_early_field_values)
        read_field_values(cursor, field, generation->field_flags);
    field->name = nt_labelled_text(cursor, "field", "name");
    field->type = nt_labelled_text(cursor, "field", "type");
    field->alias = nt_labelled_text(cursor, "field", "alias");
    field->description = nt_labelled_text(cursor, "field", "description");
    if (!generation->has_early_field_values)
        read_field_values(cursor, field, generation->field_flags);
    return NULL;
}

static const char *read_column(const struct nt_generation *generation, struct nt_cursor *cursor, void *record)
{
    struct nt_column_record *column = record;
    column->type_number = nt_labelled_le16(cursor, "column", "type");
    column->bits = nt_labelled_le16(cursor, "column", "bits");
    column->field_id = nt_labelled_le32(cursor, "column", "field id");
    column->flags = generation->has_representations ? nt_get_le16(cursor) : nt_get_le32(cursor);
    nt_cursor_label(cursor, "column", "flags");
    column->representation = generation->has_representations ? nt_get_le16(cursor) : 0;
    nt_cursor_label(cursor, "column", "representation");
    column->is_deferred = column->flags & generation->deferred_flag;
    column->has_range = column->flags & generation->range_flag;
    if (column->is_deferred)
        column->first_element = (int64_t)nt_labelled_le64(cursor, "column", "first element");
    if (column->has_range) {
        column->minimum = nt_labelled_real64(cursor, "column", "minimum");
        column->maximum = nt_labelled_real64(cursor, "column", "maximum");
    }
    return NULL;
}

static const char *read_alias(const struct nt_generation *generation, struct nt_cursor *cursor, void *record)
{
    struct nt_alias_record *alias = record;
    alias->physical_column = nt_labelled_le32(cursor, "alias column", "physical column");
    alias->field = nt_labelled_le32(cursor, "alias column", "field");
    return NULL;
}

static const char *read_extra_type(const struct nt_generation *generation, struct nt_cursor *cursor,
                                   void *record)
{
    static const char whole[] = "extra type information";
    struct nt_extra_type_record *extra = record;
    if (generation->has_extra_type_content) {
        extra->content_id = nt_labelled_le32(cursor, whole, "content id");
        extra->version_from = extra->version_to = nt_labelled_le32(cursor, whole, "type version");
        extra->type_name = nt_labelled_text(cursor, whole, "type name");
        extra->content = nt_labelled_text(cursor, whole, "content");
    } else {
        extra->version_from = nt_labelled_le32(cursor, whole, "version from");
        extra->version_to = nt_labelled_le32(cursor, whole, "version to");
        extra->content_id = nt_labelled_le32(cursor, whole, "content id");
        extra->type_name = nt_labelled_text(cursor, whole, "type name");
    }
    return NULL;
}

/* ---- Lists of a schema ---- */

enum schema_list { FIELDS, COLUMNS, ALIASES, EXTRA_TYPES, LISTS };

#define LIST(array, counter) offsetof(struct nt_schema, array), offsetof(struct nt_schema, counter)

static const struct {
    const char *name;
    size_t items, count; /* offsets of the members of a schema */
    struct nt_record_kind kind;
} lists[LISTS] = {
    [FIELDS] = {"list of fields",
                LIST(fields, field_count),
                {"field", 32, sizeof(struct nt_field_record), read_field, false}},
    [COLUMNS] = {"list of columns",
                 LIST(columns, column_count),
                 {"column", 12, sizeof(struct nt_column_record), read_column, false}},
    [ALIASES] = {"list of alias columns",
                 LIST(aliases, alias_count),
                 {"alias column", 8, sizeof(struct nt_alias_record), read_alias, false}},
    [EXTRA_TYPES] = {"list of extra type information",
                     LIST(extra_types, extra_type_count),
                     {"extra type information", 16, sizeof(struct nt_extra_type_record), read_extra_type,
                      false}},
};

/* Adds room for `count` zeroed records at the end of a list; returns the first of them. */
static void *grow(struct nt_schema *schema, enum schema_list list, uint32_t count)
{
    size_t size = lists[list].kind.size;
    uint32_t *used = (uint32_t *)((char *)schema + lists[list].count);
    char *items = (char *)schema + lists[list].items, *memory;
    if (count > NT_NONE - 1 - *used)
        return NULL;
    size_t total = (size_t)*used + count;
    memcpy(&memory, items, sizeof(memory));
    memory = reallocarray(memory, total ? total : 1, size);
    if (!memory)
        return NULL;
    memcpy(items, &memory, sizeof(memory));
    char *first = memory + *used * size;
    memset(first, 0, count * size);
    *used += count;
    return first;
}

/* Grows a list. Fields and columns are taken from the budget; the schema counts them, to release them in
 * one call. */
static enum nt_status add(struct nt_schema *schema, struct nt_budget *budget, enum schema_list list,
                          uint32_t count, void **records_ret, struct nt_error *error)
{
    enum nt_cost cost = list == FIELDS ? NT_COST_FIELD_RECORD : NT_COST_COLUMN_RECORD;
    uint32_t *taken = list == FIELDS ? &schema->fields_taken : &schema->columns_taken;
    if (list == FIELDS || list == COLUMNS) {
        schema->budget = budget;
        if (count > UINT32_MAX - *taken)
            return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "schema: more than 2^32 %s",
                           nt_cost_info(cost)->name);
        NT_TRY(nt_with_context(nt_budget_take(budget, cost, count, NT_NO_OFFSET, error), error, "schema"));
        *taken += count;
    }
    *records_ret = grow(schema, list, count);
    return nt_check_memory(*records_ret, error);
}

enum nt_status nt_schema_add_fields(struct nt_schema *schema, struct nt_budget *budget, uint32_t count,
                                    struct nt_field_record **fields_ret, struct nt_error *error)
{
    void *records = NULL;
    enum nt_status status = add(schema, budget, FIELDS, count, &records, error);
    *fields_ret = records;
    return status;
}

enum nt_status nt_schema_add_columns(struct nt_schema *schema, struct nt_budget *budget, uint32_t count,
                                     struct nt_column_record **columns_ret, struct nt_error *error)
{
    void *records = NULL;
    enum nt_status status = add(schema, budget, COLUMNS, count, &records, error);
    *columns_ret = records;
    return status;
}

static enum nt_status read_list(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                enum schema_list list, struct nt_schema *schema, struct nt_error *error)
{
    const struct nt_record_kind *kind = &lists[list].kind;
    struct nt_frame frame;
    void *records;
    NT_TRY(nt_list_frame(envelope, cursor, lists[list].name, nt_record_bytes(envelope->generation, kind),
                         &frame, error));
    NT_TRY(add(schema, envelope->budget, list, frame.items, &records, error));
    return nt_records_read(envelope, &frame, kind, records, error);
}

/* Appends the four lists at the cursor. */
static enum nt_status schema_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                  struct nt_schema *schema, struct nt_error *error)
{
    uint32_t first_field = schema->field_count, first_column = schema->column_count;
    for (enum schema_list list = FIELDS; list < LISTS; list++)
        NT_TRY(read_list(envelope, cursor, list, schema, error));
    for (uint32_t i = first_field; i < schema->field_count; i++)
        schema->fields[i].id = i;
    for (uint32_t i = first_column; i < schema->column_count; i++)
        schema->columns[i].id = i;
    return NT_OK;
}

enum nt_status nt_schema_read_extension(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                        struct nt_schema *schema, struct nt_error *error)
{
    struct nt_frame record;
    NT_TRY(nt_record_frame(envelope, cursor, "schema extension", &record, error));
    if (nt_cursor_left(&record.payload) == 0)
        return NT_OK;
    return schema_read(envelope, &record.payload, schema, error);
}

enum nt_status nt_header_read(const struct nt_envelope *envelope, struct nt_header *header_ret,
                              struct nt_schema *schema, struct nt_error *error)
{
    struct nt_header header = {0};
    struct nt_cursor cursor = envelope->payload;
    NT_TRY(nt_feature_flags_read(envelope, &cursor, &header.flags, error));
    if (envelope->generation->has_release_candidate_tag)
        header.release_candidate_tag = nt_labelled_le32(&cursor, "header", "release candidate tag");
    header.name = nt_labelled_text(&cursor, "header", "name");
    header.description = nt_labelled_text(&cursor, "header", "description");
    header.writer = nt_labelled_text(&cursor, "header", "writer");
    NT_TRY(nt_envelope_check(envelope, &cursor, "header", error));
    NT_TRY(schema_read(envelope, &cursor, schema, error));
    header.unknown_bytes = nt_cursor_left(&cursor);
    *header_ret = header;
    return NT_OK;
}
