/* SPDX-License-Identifier: MIT
 *
 * Reads the header envelope and the schema description in the header and in the footer's extension:
 * fields, columns, alias columns and extra type information (specification, "Header Envelope").
 */
#include "formats/rntuple/rntuple.h"

#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/model/budget.h"

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

/* Adds room for `count` zeroed items after the `*used` items of `*array`; returns the first of them. */
static void *grow(void **array, uint32_t *used, uint32_t count, size_t item_bytes)
{
    if (count > NT_NONE - 1 - *used)
        return NULL;
    size_t total = (size_t)*used + count;
    char *memory = reallocarray(*array, total ? total : 1, item_bytes);
    if (!memory)
        return NULL;
    *array = memory;
    char *first = memory + *used * item_bytes;
    memset(first, 0, count * item_bytes);
    *used += count;
    return first;
}

#define GROW(schema, member, counter, count)                                                                 \
    grow((void **)&(schema)->member, &(schema)->counter, count, sizeof(*(schema)->member))

/* Takes from the budget; the schema counts what it takes, to release it in one call. */
static enum nt_status take(struct nt_schema *schema, struct nt_budget *budget, enum nt_cost cost,
                           uint32_t used, uint32_t count, struct nt_error *error)
{
    schema->budget = budget;
    if (count > UINT32_MAX - used)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "schema: more than 2^32 %s", nt_cost_info(cost)->name);
    enum nt_status status = nt_budget_take(budget, cost, count, NT_NO_OFFSET, error);
    if (status != NT_OK)
        nt_error_context(error, "schema");
    return status;
}

enum nt_status nt_schema_add_fields(struct nt_schema *schema, struct nt_budget *budget, uint32_t count,
                                    struct nt_error *error)
{
    enum nt_status status = take(schema, budget, NT_COST_FIELD_RECORD, schema->fields_taken, count, error);
    if (status != NT_OK)
        return status;
    schema->fields_taken += count;
    return GROW(schema, fields, field_count, count) ? NT_OK : nt_fail_memory(error);
}

enum nt_status nt_schema_add_columns(struct nt_schema *schema, struct nt_budget *budget, uint32_t count,
                                     struct nt_error *error)
{
    enum nt_status status = take(schema, budget, NT_COST_COLUMN_RECORD, schema->columns_taken, count, error);
    if (status != NT_OK)
        return status;
    schema->columns_taken += count;
    return GROW(schema, columns, column_count, count) ? NT_OK : nt_fail_memory(error);
}

/* ---- Records ---- */

static void read_field_values(struct nt_cursor *cursor, struct nt_field_record *field, uint16_t known_flags)
{
    uint16_t flags = field->flags & known_flags;
    if (flags & NT_FIELD_REPETITIVE) {
        field->repetition = nt_labelled_le64(cursor, "field", "repetition");
    }
    if (flags & NT_FIELD_PROJECTED) {
        field->source_id = nt_labelled_le32(cursor, "field", "source field id");
    }
    if (flags & NT_FIELD_HAS_TYPE_CHECKSUM) {
        field->type_checksum = nt_labelled_le32(cursor, "field", "type checksum");
    }
}

static void read_field_texts(struct nt_cursor *cursor, struct nt_field_record *field)
{
    field->name = nt_labelled_text(cursor, "field", "name");
    field->type = nt_labelled_text(cursor, "field", "type");
    field->alias = nt_labelled_text(cursor, "field", "alias");
    field->description = nt_labelled_text(cursor, "field", "description");
}

static enum nt_status read_field(const struct nt_envelope *envelope, struct nt_cursor *list,
                                 struct nt_field_record *field, struct nt_error *error)
{
    const struct nt_generation *generation = envelope->generation;
    struct nt_frame frame;
    enum nt_status status = nt_record_frame(envelope, list, "field", &frame, error);
    if (status != NT_OK)
        return status;
    struct nt_cursor *cursor = &frame.payload;
    field->field_version = nt_labelled_le32(cursor, "field", "version");
    field->type_version = nt_labelled_le32(cursor, "field", "type version");
    field->parent_id = nt_labelled_le32(cursor, "field", "parent field id");
    field->role = nt_labelled_le16(cursor, "field", "role");
    field->flags = nt_labelled_le16(cursor, "field", "flags");
    if (generation->has_early_field_values)
        read_field_values(cursor, field, generation->field_flags);
    read_field_texts(cursor, field);
    if (!generation->has_early_field_values)
        read_field_values(cursor, field, generation->field_flags);
    field->unknown_bytes = nt_cursor_left(cursor);
    return nt_envelope_check(envelope, cursor, "field", error);
}

static enum nt_status read_column(const struct nt_envelope *envelope, struct nt_cursor *list,
                                  struct nt_column_record *column, struct nt_error *error)
{
    const struct nt_generation *generation = envelope->generation;
    struct nt_frame frame;
    enum nt_status status = nt_record_frame(envelope, list, "column", &frame, error);
    if (status != NT_OK)
        return status;
    struct nt_cursor *cursor = &frame.payload;
    column->type_number = nt_labelled_le16(cursor, "column", "type");
    column->bits = nt_labelled_le16(cursor, "column", "bits");
    column->field_id = nt_labelled_le32(cursor, "column", "field id");
    column->flags = generation->has_representations ? nt_get_le16(cursor) : nt_get_le32(cursor);
    nt_cursor_label(cursor, "column", "flags");
    column->representation = generation->has_representations ? nt_get_le16(cursor) : 0;
    nt_cursor_label(cursor, "column", "representation");
    column->is_deferred = column->flags & generation->deferred_flag;
    column->has_range = column->flags & generation->range_flag;
    if (column->is_deferred) {
        column->first_element = (int64_t)nt_get_le64(cursor);
        nt_cursor_label(cursor, "column", "first element");
    }
    if (column->has_range) {
        column->minimum = nt_labelled_real64(cursor, "column", "minimum");
        column->maximum = nt_labelled_real64(cursor, "column", "maximum");
    }
    column->unknown_bytes = nt_cursor_left(cursor);
    return nt_envelope_check(envelope, cursor, "column", error);
}

static enum nt_status read_alias(const struct nt_envelope *envelope, struct nt_cursor *list,
                                 struct nt_alias_record *alias, struct nt_error *error)
{
    struct nt_frame frame;
    enum nt_status status = nt_record_frame(envelope, list, "alias column", &frame, error);
    if (status != NT_OK)
        return status;
    alias->physical_column = nt_labelled_le32(&frame.payload, "alias column", "physical column");
    alias->field = nt_labelled_le32(&frame.payload, "alias column", "field");
    alias->unknown_bytes = nt_cursor_left(&frame.payload);
    return nt_envelope_check(envelope, &frame.payload, "alias column", error);
}

static enum nt_status read_extra_type(const struct nt_envelope *envelope, struct nt_cursor *list,
                                      struct nt_extra_type_record *extra, struct nt_error *error)
{
    struct nt_frame frame;
    enum nt_status status = nt_record_frame(envelope, list, "extra type information", &frame, error);
    if (status != NT_OK)
        return status;
    struct nt_cursor *cursor = &frame.payload;
    if (envelope->generation->has_extra_type_content) {
        extra->content_id = nt_labelled_le32(cursor, "extra type information", "content id");
        extra->version_from = extra->version_to =
            nt_labelled_le32(cursor, "extra type information", "type version");
        extra->type_name = nt_labelled_text(cursor, "extra type information", "type name");
        extra->content = nt_labelled_text(cursor, "extra type information", "content");
    } else {
        extra->version_from = nt_labelled_le32(cursor, "extra type information", "version from");
        extra->version_to = nt_labelled_le32(cursor, "extra type information", "version to");
        extra->content_id = nt_labelled_le32(cursor, "extra type information", "content id");
        extra->type_name = nt_labelled_text(cursor, "extra type information", "type name");
    }
    extra->unknown_bytes = nt_cursor_left(cursor);
    return nt_envelope_check(envelope, cursor, "extra type information", error);
}

/* ---- Lists ---- */

static enum nt_status read_fields(const struct nt_envelope *envelope, struct nt_frame *list,
                                  struct nt_schema *schema, struct nt_error *error)
{
    uint32_t first = schema->field_count;
    enum nt_status status = nt_schema_add_fields(schema, envelope->budget, list->items, error);
    if (status != NT_OK)
        return status;
    for (uint32_t i = first; i < schema->field_count; i++) {
        schema->fields[i].id = i;
        status = read_field(envelope, &list->payload, &schema->fields[i], error);
        if (status != NT_OK)
            return status;
    }
    return NT_OK;
}

static enum nt_status read_columns(const struct nt_envelope *envelope, struct nt_frame *list,
                                   struct nt_schema *schema, struct nt_error *error)
{
    uint32_t first = schema->column_count;
    enum nt_status status = nt_schema_add_columns(schema, envelope->budget, list->items, error);
    if (status != NT_OK)
        return status;
    for (uint32_t i = first; i < schema->column_count; i++) {
        schema->columns[i].id = i;
        status = read_column(envelope, &list->payload, &schema->columns[i], error);
        if (status != NT_OK)
            return status;
    }
    return NT_OK;
}

static enum nt_status read_aliases(const struct nt_envelope *envelope, struct nt_frame *list,
                                   struct nt_schema *schema, struct nt_error *error)
{
    struct nt_alias_record *aliases = GROW(schema, aliases, alias_count, list->items);
    if (!aliases)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < list->items; i++) {
        enum nt_status status = read_alias(envelope, &list->payload, &aliases[i], error);
        if (status != NT_OK)
            return status;
    }
    return NT_OK;
}

static enum nt_status read_extra_types(const struct nt_envelope *envelope, struct nt_frame *list,
                                       struct nt_schema *schema, struct nt_error *error)
{
    struct nt_extra_type_record *extra_types = GROW(schema, extra_types, extra_type_count, list->items);
    if (!extra_types)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < list->items; i++) {
        enum nt_status status = read_extra_type(envelope, &list->payload, &extra_types[i], error);
        if (status != NT_OK)
            return status;
    }
    return NT_OK;
}

struct list {
    const char *name;
    uint32_t record_bytes; /* minimum payload of a record */
    enum nt_status (*read)(const struct nt_envelope *envelope, struct nt_frame *list,
                           struct nt_schema *schema, struct nt_error *error);
};

static const struct list lists[] = {
    {"list of fields", 32, read_fields},
    {"list of columns", 12, read_columns},
    {"list of alias columns", 8, read_aliases},
    {"list of extra type information", 16, read_extra_types},
};

/* Appends the four lists at the cursor. */
static enum nt_status schema_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                  struct nt_schema *schema, struct nt_error *error)
{
    for (unsigned i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct nt_frame list;
        uint32_t least = nt_record_frame_bytes(envelope->generation) + lists[i].record_bytes;
        enum nt_status status = nt_list_frame(envelope, cursor, lists[i].name, least, &list, error);
        if (status == NT_OK)
            status = lists[i].read(envelope, &list, schema, error);
        if (status != NT_OK)
            return status;
    }
    return NT_OK;
}

enum nt_status nt_schema_read_extension(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                        struct nt_schema *schema, struct nt_error *error)
{
    struct nt_frame record;
    enum nt_status status = nt_record_frame(envelope, cursor, "schema extension", &record, error);
    if (status != NT_OK || nt_cursor_left(&record.payload) == 0)
        return status;
    return schema_read(envelope, &record.payload, schema, error);
}

/* ---- Header envelope ---- */

enum nt_status nt_header_read(const struct nt_envelope *envelope, struct nt_header *header_ret,
                              struct nt_schema *schema, struct nt_error *error)
{
    struct nt_header header = {0};
    struct nt_cursor cursor = envelope->payload;
    enum nt_status status = nt_feature_flags_read(envelope, &cursor, &header.flags, error);
    if (status != NT_OK)
        return status;
    if (envelope->generation->has_release_candidate_tag) {
        header.release_candidate_tag = nt_labelled_le32(&cursor, "header", "release candidate tag");
    }
    header.name = nt_labelled_text(&cursor, "header", "name");
    header.description = nt_labelled_text(&cursor, "header", "description");
    header.writer = nt_labelled_text(&cursor, "header", "writer");
    status = nt_envelope_check(envelope, &cursor, "header", error);
    if (status == NT_OK)
        status = schema_read(envelope, &cursor, schema, error);
    if (status != NT_OK)
        return status;
    header.unknown_bytes = nt_cursor_left(&cursor);
    *header_ret = header;
    return NT_OK;
}
