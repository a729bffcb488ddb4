/* SPDX-License-Identifier: MIT
 *
 * In: the records of a whole schema. Out: what they tell that only this format has (versions, flags, the
 * alias of a type, numbers of column types), kept for field.json and column.json. Specification, "Header
 * Envelope".
 */
#include "formats/rntuple/shown.h"

#include "core/base/arena.h"
#include "core/base/text.h"

struct nt_field_details {
    uint32_t field_version, type_version;
    uint32_t type_checksum;
    uint16_t flags;
    bool has_type_checksum;
    bool may_be_structure_of_arrays; /* where the generation has the flag: collections */
    struct nt_text alias;
};

struct nt_column_details {
    uint16_t type_number;
    uint32_t flags;
};

static bool keep_field(struct nt_arena *arena, const struct nt_generation *generation,
                       const struct nt_field_record *record, struct nt_field_details *details)
{
    *details = (struct nt_field_details){
        .field_version = record->field_version,
        .type_version = record->type_version,
        .type_checksum = record->type_checksum,
        .flags = record->flags,
        .has_type_checksum = record->flags & generation->field_flags & NT_FIELD_HAS_TYPE_CHECKSUM,
        .may_be_structure_of_arrays =
            record->role == NT_ROLE_COLLECTION && generation->field_flags & NT_FIELD_IS_STRUCTURE_OF_ARRAYS,
    };
    return nt_text_copy(arena, record->alias, &details->alias);
}

enum nt_status nt_rntuple_keep_details(struct nt_dataset *dataset, struct nt_rntuple *rntuple,
                                       const struct nt_schema *schema, struct nt_error *error)
{
    struct nt_field_details *fields =
        nt_arena_alloc(dataset->arena, schema->field_count + 1u, sizeof(*fields));
    struct nt_column_details *columns =
        nt_arena_alloc(dataset->arena, schema->column_count + 1u, sizeof(*columns));
    if (!fields || !columns)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < schema->field_count; i++)
        if (!keep_field(dataset->arena, rntuple->generation, &schema->fields[i], &fields[i]))
            return nt_fail_memory(error);
    for (uint32_t i = 0; i < schema->column_count; i++)
        columns[i] = (struct nt_column_details){schema->columns[i].type_number, schema->columns[i].flags};
    rntuple->fields = fields;
    rntuple->columns = columns;
    return NT_OK;
}

void nt_rntuple_describe_field(const struct nt_dataset *dataset, uint32_t field, struct nt_json *json)
{
    const struct nt_field_details *details = &nt_rntuple_of(dataset)->fields[field];
    nt_json_member_text(json, "type_alias", details->alias);
    nt_json_member_unsigned(json, "flags", details->flags);
    if (details->may_be_structure_of_arrays)
        nt_json_member_bool(json, "is_structure_of_arrays", details->flags & NT_FIELD_IS_STRUCTURE_OF_ARRAYS);
    nt_json_member_unsigned(json, "field_version", details->field_version);
    nt_json_member_unsigned(json, "type_version", details->type_version);
    if (details->has_type_checksum)
        nt_json_member_hex32(json, "type_checksum", details->type_checksum);
}

void nt_rntuple_describe_column(const struct nt_dataset *dataset, uint32_t column, struct nt_json *json)
{
    const struct nt_column_details *details = &nt_rntuple_of(dataset)->columns[column];
    nt_json_member_unsigned(json, "type_number", details->type_number);
    nt_json_member_unsigned(json, "flags", details->flags);
}
