/* SPDX-License-Identifier: MIT
 *
 * In: a header's or schema extension's records. Out: header.json, and the schema's part of other documents:
 * every item as it is stored.
 */
#include "formats/rntuple/shown.h"
#include "formats/rntuple/header.h"

void nt_unknown_bytes_json(struct nt_json *json, size_t bytes)
{
    if (bytes > 0)
        nt_json_member_unsigned(json, "unknown_bytes", bytes);
}

void nt_feature_flags_json(struct nt_json *json, const struct nt_generation *generation,
                           const struct nt_feature_flags *flags)
{
    nt_json_key(json, "feature_flags");
    nt_json_array(json);
    for (uint32_t i = 0; i < flags->count; i++)
        nt_json_signed(json, flags->words[i]);
    nt_json_end_array(json);
    nt_json_key(json, "features");
    nt_json_array(json);
    for (uint32_t i = 0; i < generation->feature_count; i++) {
        const struct nt_feature *feature = &generation->features[i];
        uint32_t word = feature->number / 64;
        if (word < flags->count && (uint64_t)flags->words[word] >> feature->number % 64 & 1)
            nt_json_string(json, feature->name);
    }
    nt_json_end_array(json);
}

static void field_json(struct nt_json *json, const struct nt_generation *generation,
                       const struct nt_field_record *field, uint64_t id)
{
    uint16_t flags = field->flags & generation->field_flags;
    nt_json_object(json);
    nt_json_member_unsigned(json, "id", id);
    nt_json_member_text(json, "name", field->name);
    nt_json_member_text(json, "type", field->type);
    nt_json_member_text(json, "type_alias", field->alias);
    nt_json_member_text(json, "description", field->description);
    nt_json_member_unsigned(json, "field_version", field->field_version);
    nt_json_member_unsigned(json, "type_version", field->type_version);
    nt_json_member_unsigned(json, "parent_field_id", field->parent_id);
    nt_json_member_unsigned(json, "structural_role", field->role);
    nt_json_member_string(json, "role", field->role < NT_ROLE_COUNT ? nt_role_name(field->role) : NULL);
    nt_json_member_unsigned(json, "flags", field->flags);
    if (flags & NT_FIELD_REPETITIVE || field->repetition)
        nt_json_member_unsigned(json, "repetition", field->repetition);
    if (flags & NT_FIELD_PROJECTED)
        nt_json_member_unsigned(json, "source_field_id", field->source_id);
    if (flags & NT_FIELD_HAS_TYPE_CHECKSUM)
        nt_json_member_hex32(json, "type_checksum", field->type_checksum);
    nt_unknown_bytes_json(json, field->unknown_bytes);
    nt_json_end_object(json);
}

static void column_json(struct nt_json *json, const struct nt_dataset *dataset,
                        const struct nt_column_record *column, uint64_t id)
{
    const struct nt_generation *generation = nt_rntuple_of(dataset)->generation;
    const char *type;
    nt_generation_encoding(generation, dataset->writer, column->type_number, &type);
    nt_json_object(json);
    nt_json_member_unsigned(json, "id", id);
    nt_json_member_string(json, "type", type);
    nt_json_member_unsigned(json, "type_number", column->type_number);
    nt_json_member_unsigned(json, "bits", column->bits);
    nt_json_member_unsigned(json, "field_id", column->field_id);
    nt_json_member_unsigned(json, "flags", column->flags);
    nt_json_member_unsigned(json, "representation_index", column->representation);
    if (column->is_deferred)
        nt_json_member_signed(json, "first_element", column->first_element);
    if (column->has_range) {
        nt_json_member_double(json, "minimum", column->minimum);
        nt_json_member_double(json, "maximum", column->maximum);
    }
    nt_unknown_bytes_json(json, column->unknown_bytes);
    nt_json_end_object(json);
}

static void alias_json(struct nt_json *json, const struct nt_alias_record *alias)
{
    nt_json_object(json);
    nt_json_member_unsigned(json, "physical_column_id", alias->physical_column);
    nt_json_member_unsigned(json, "field_id", alias->field);
    nt_unknown_bytes_json(json, alias->unknown_bytes);
    nt_json_end_object(json);
}

static void extra_type_json(struct nt_json *json, const struct nt_generation *generation,
                            const struct nt_extra_type_record *extra)
{
    nt_json_object(json);
    nt_json_member_unsigned(json, "content_identifier", extra->content_id);
    if (generation->has_extra_type_content) {
        nt_json_member_unsigned(json, "type_version", extra->version_from);
    } else {
        nt_json_member_unsigned(json, "type_version_from", extra->version_from);
        nt_json_member_unsigned(json, "type_version_to", extra->version_to);
    }
    nt_json_member_text(json, "type_name", extra->type_name);
    if (generation->has_extra_type_content)
        nt_json_member_text(json, "content", extra->content);
    nt_unknown_bytes_json(json, extra->unknown_bytes);
    nt_json_end_object(json);
}

void nt_schema_json(struct nt_json *json, const struct nt_dataset *dataset, const struct nt_schema *schema,
                    uint32_t first_field, uint32_t first_column)
{
    const struct nt_generation *generation = nt_rntuple_of(dataset)->generation;
    nt_json_key(json, "fields");
    nt_json_array(json);
    for (uint32_t i = 0; i < schema->field_count; i++)
        field_json(json, generation, &schema->fields[i], first_field + schema->fields[i].id);
    nt_json_end_array(json);
    nt_json_key(json, "columns");
    nt_json_array(json);
    for (uint32_t i = 0; i < schema->column_count; i++)
        column_json(json, dataset, &schema->columns[i], first_column + schema->columns[i].id);
    nt_json_end_array(json);
    nt_json_key(json, "alias_columns");
    nt_json_array(json);
    for (uint32_t i = 0; i < schema->alias_count; i++)
        alias_json(json, &schema->aliases[i]);
    nt_json_end_array(json);
    nt_json_key(json, "extra_type_information");
    nt_json_array(json);
    for (uint32_t i = 0; i < schema->extra_type_count; i++)
        extra_type_json(json, generation, &schema->extra_types[i]);
    nt_json_end_array(json);
}

static void header_json(const struct nt_dataset *dataset, const struct nt_envelope *envelope,
                        const struct nt_header *header, const struct nt_schema *schema, struct nt_buffer *out)
{
    struct nt_json json;
    nt_json_document(&json, out, "header");
    nt_json_member_unsigned(&json, "decoded_bytes", envelope->length);
    nt_json_member_hex64(&json, "checksum", envelope->checksum);
    nt_feature_flags_json(&json, envelope->generation, &header->flags);
    if (envelope->generation->has_release_candidate_tag)
        nt_json_member_unsigned(&json, "release_candidate_tag", header->release_candidate_tag);
    nt_json_member_text(&json, "name", header->name);
    nt_json_member_text(&json, "description", header->description);
    nt_json_member_text(&json, "writer", header->writer);
    nt_schema_json(&json, dataset, schema, 0, 0);
    nt_unknown_bytes_json(&json, header->unknown_bytes);
    nt_json_finish(&json);
}

enum nt_status nt_header_json(const struct nt_dataset *dataset, struct nt_buffer *out, struct nt_error *error)
{
    struct nt_envelope envelope;
    struct nt_schema schema = {0};
    struct nt_header header;
    enum nt_status status = nt_rntuple_load_envelope(dataset, NT_ENVELOPE_HEADER, 0, &envelope, error);
    if (status != NT_OK)
        return status;
    status = nt_header_read(&envelope, &header, &schema, error);
    if (status == NT_OK)
        header_json(dataset, &envelope, &header, &schema, out);
    nt_schema_deinit(&schema);
    nt_envelope_deinit(&envelope);
    return status;
}
