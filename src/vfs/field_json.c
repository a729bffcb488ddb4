/* SPDX-License-Identifier: MIT
 *
 * field.json: what the schema tells about a field. No page list is read for it: numbers that only page lists
 * tell are null.
 */
#include "vfs/documents.h"
#include "vfs/shape.h"
#include "model/path.h"

static void put_text(struct nt_json *json, const char *key, struct nt_text text)
{
    nt_json_member_text(json, key, text.bytes, text.length);
}

void nt_json_member_field_path(struct nt_json *json, const char *key, const struct nt_dataset *dataset,
                               uint32_t field)
{
    struct nt_buffer path = {0};
    nt_append_field_path(&path, dataset, field, '/');
    nt_json_member_text(json, key, path.bytes ? path.bytes : "", path.length);
    json->out->failed = json->out->failed || path.failed;
    nt_buffer_deinit(&path);
}

static void put_identity(struct nt_json *json, const struct nt_dataset *dataset, const struct nt_field *field)
{
    nt_json_member_unsigned(json, "id", field->id);
    put_text(json, "name", field->name);
    nt_json_member_field_path(json, "path", dataset, (uint32_t)(field - dataset->fields));
    put_text(json, "type", field->type);
    put_text(json, "alias", field->alias);
    put_text(json, "description", field->description);
    nt_json_member_string(json, "role", nt_role_name(field->role));
    nt_json_member_string(json, "kind", nt_field_kind_info(field->kind)->name);
    nt_json_key(json, "parent");
    if (field->parent == NT_NONE)
        nt_json_null(json);
    else
        nt_json_unsigned(json, dataset->fields[field->parent].id);
    nt_json_member_unsigned(json, "flags", field->flags);
    nt_json_member_unsigned(json, "field_version", field->field_version);
    nt_json_member_unsigned(json, "type_version", field->type_version);
    if (field->has_type_checksum)
        nt_json_member_unsigned(json, "type_checksum", field->type_checksum);
    if (field->repetition)
        nt_json_member_unsigned(json, "repetition", field->repetition);
}

static void put_columns(struct nt_json *json, const struct nt_dataset *dataset, const struct nt_field *field)
{
    nt_json_key(json, "columns");
    nt_json_array(json);
    for (uint32_t i = 0; i < field->column_count; i++) {
        const struct nt_column *column = &dataset->columns[dataset->field_columns[field->first_column + i]];
        nt_json_object(json);
        nt_json_member_unsigned(json, "id", column->id);
        nt_json_member_string(json, "type", column->type_name);
        nt_json_member_unsigned(json, "bits", dataset->decoders[column->decoder].bits);
        nt_json_member_unsigned(json, "representation", column->representation);
        nt_json_member_unsigned(json, "position", column->position);
        if (field->owns_columns) {
            nt_json_key(json, "directory");
            nt_buffer_format(json->out, "\"column.%u\"", i);
            json->after_key = false;
        }
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
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
    unsigned streams = nt_field_kind_info(scope->dataset->fields[scope->field].kind)->streams;
    enum nt_status status = NT_OK;
    if (streams >> NT_STREAM_DATA & 1) {
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
        if (streams >> kind & 1)
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
    if (field->unreadable)
        nt_json_member_string(&json, "unreadable", field->unreadable);
    if (field->source_field != NT_NONE) {
        nt_json_key(&json, "source_id");
        nt_json_unsigned(&json, scope->dataset->fields[field->source_field].id);
        nt_json_member_field_path(&json, "source", scope->dataset, field->source_field);
    }
    put_columns(&json, scope->dataset, field);
    nt_json_finish(&json);
    return status;
}
