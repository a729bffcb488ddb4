/* SPDX-License-Identifier: MIT
 *
 * field.json: what the schema tells about a field. No page list is read for it: numbers that only page lists
 * tell are null. What lists that were read before tell of why the field is not read is there.
 */
#include "read/page.h"
#include "vfs/blob_files.h"
#include "vfs/documents.h"
#include "vfs/shape.h"
#include "render/json_values.h"
#include "render/unread.h"

static void put_identity(struct nt_json *json, const struct nt_dataset *dataset, const struct nt_field *field)
{
    nt_json_member_unsigned(json, "id", field->id);
    nt_json_member_text(json, "name", field->name);
    nt_json_member_field_path(json, "field", dataset, (uint32_t)(field - dataset->fields));
    nt_json_member_text(json, "type", field->type);
    nt_json_member_text(json, "description", field->description);
    nt_json_member_string(json, "role", nt_role_name(field->role));
    nt_json_member_string(json, "kind", nt_field_kind_name(field->kind));
    nt_json_key(json, "parent_field_id");
    if (field->parent == NT_NONE)
        nt_json_null(json);
    else
        nt_json_unsigned(json, dataset->fields[field->parent].id);
    if (dataset->ops && dataset->ops->describe_field)
        dataset->ops->describe_field(dataset, (uint32_t)(field - dataset->fields), json);
    if (field->is_nullable)
        nt_json_member_bool(json, "is_nullable", true);
    if (field->repetition)
        nt_json_member_unsigned(json, "repetition", field->repetition);
}

static enum nt_status put_columns(struct nt_json *json, const struct nt_scope *scope, struct nt_error *error)
{
    uint32_t count;
    struct nt_dataset *stored;
    enum nt_status status = nt_dataset_stored(scope->dataset, &stored, error);
    if (status != NT_OK)
        return status;
    const uint32_t *columns = nt_field_columns(stored, scope->field, &count);
    bool are_own = stored->fields[scope->field].owns_columns;
    nt_json_key(json, "columns");
    nt_json_array(json);
    for (uint32_t i = 0; i < count; i++) {
        const struct nt_column *column = &stored->columns[columns[i]];
        nt_json_object(json);
        nt_json_member_unsigned(json, "id", column->id);
        nt_json_member_string(json, "type", column->type_name);
        nt_json_member_unsigned(json, "bits", nt_column_decoder(stored, columns[i])->bits);
        nt_json_member_unsigned(json, "representation_index", column->representation);
        nt_json_member_unsigned(json, "index_in_representation", column->position);
        if (are_own)
            nt_json_member_format(json, "directory", "column.%u", i);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
    return NT_OK;
}

/* [dimensions], null where page lists would have to be read. */
static enum nt_status put_shape(struct nt_json *json, const char *key, const struct nt_scope *scope,
                                enum nt_stream_kind kind, struct nt_error *error)
{
    struct nt_shape shape;
    nt_json_key(json, key);
    if (!nt_stream_is_known(scope->dataset, scope->field, kind)) {
        nt_json_null(json);
        return NT_OK;
    }
    enum nt_status status =
        nt_stream_shape(scope->vfs->reader, scope->dataset, scope->field, kind, &shape, error);
    if (status != NT_OK)
        return status;
    nt_json_array(json);
    for (uint32_t i = 0; i < shape.count; i++)
        nt_json_unsigned(json, shape.dimensions[i]);
    nt_json_end_array(json);
    return NT_OK;
}

static enum nt_status put_stream(struct nt_json *json, const struct nt_scope *scope, enum nt_stream_kind kind,
                                 struct nt_error *error)
{
    struct nt_dtype dtype;
    nt_field_stream_dtype(scope->dataset, scope->field, kind, &dtype);
    nt_json_key(json, nt_stream_name(kind));
    nt_json_object(json);
    nt_json_key(json, "dtype");
    nt_json_dtype(json, &dtype);
    enum nt_status status = put_shape(json, "shape", scope, kind, error);
    nt_json_end_object(json);
    return status;
}

/* "dtype" and "shape" are those of data, and all streams follow. */
static enum nt_status put_streams(struct nt_json *json, const struct nt_scope *scope, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (nt_field_shows(scope->dataset, scope->field, NT_STREAM_DATA)) {
        struct nt_dtype dtype;
        nt_field_stream_dtype(scope->dataset, scope->field, NT_STREAM_DATA, &dtype);
        nt_json_key(json, "dtype");
        nt_json_dtype(json, &dtype);
        status = put_shape(json, "shape", scope, NT_STREAM_DATA, error);
    } else {
        nt_json_member_null(json, "dtype");
        nt_json_member_null(json, "shape");
    }
    nt_json_key(json, "streams");
    nt_json_object(json);
    for (unsigned kind = 0; kind < NT_STREAM_COUNT && status == NT_OK; kind++)
        if (nt_field_shows(scope->dataset, scope->field, (enum nt_stream_kind)kind))
            status = put_stream(json, scope, kind, error);
    nt_json_end_object(json);
    return status;
}

enum nt_status nt_field_json(const struct nt_scope *scope, struct nt_buffer *out, struct nt_error *error)
{
    const struct nt_field *field = &scope->dataset->fields[scope->field];
    struct nt_json json;
    nt_json_document(&json, out, "field");
    put_identity(&json, scope->dataset, field);
    enum nt_status status = put_streams(&json, scope, error);
    const struct nt_error *reason = nt_unread_known(scope->dataset, scope->field);
    if (field->unreadable || reason)
        nt_json_member_string(&json, "unreadable", field->unreadable ? field->unreadable : reason->message);
    if (field->source_field != NT_NONE) {
        nt_json_key(&json, "source_field_id");
        nt_json_unsigned(&json, scope->dataset->fields[field->source_field].id);
        nt_json_member_field_path(&json, "source", scope->dataset, field->source_field);
    }
    if (status == NT_OK)
        status = put_columns(&json, scope, error);
    nt_json_finish(&json);
    return status;
}
