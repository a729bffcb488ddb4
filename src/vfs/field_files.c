/* SPDX-License-Identifier: MIT
 *
 * The files of a field directory: its logical streams as .bin and .npy, field.json, and the blobs that a
 * field describes, also one file per row in blob.d.
 */
#include "vfs/vfs.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "read/page.h"
#include "read/read.h"
#include "render/render.h"
#include "vfs/inode.h"
#include "vfs/tree.h"

/* ---- Blobs ---- */

static enum nt_status open_blobs(const struct nt_scope *scope, bool may_work, struct nt_blobs **blobs_ret,
                                 struct nt_error *error)
{
    return nt_open_file_blobs(scope->opened, scope->vfs->reader, scope->dataset, scope->field, may_work,
                              blobs_ret, error);
}

/* ---- what is open ---- */

struct body {
    struct nt_blobs *blobs; /* of the open file */
    uint64_t row;           /* of one blob */
    struct nt_blob blob;    /* where that lies */
    struct nt_blobs_cursor cursor;
    pthread_mutex_t lock; /* of the cursor */
};

static enum nt_status read_data(void *body, uint64_t offset, void *buffer, size_t bytes,
                                struct nt_error *error)
{
    struct body *reading = body;
    pthread_mutex_lock(&reading->lock);
    enum nt_status status = nt_blobs_read(reading->blobs, &reading->cursor, offset, buffer, bytes, error);
    pthread_mutex_unlock(&reading->lock);
    return status;
}

static enum nt_status read_offsets(void *body, uint64_t offset, void *buffer, size_t bytes,
                                   struct nt_error *error)
{
    return nt_blobs_read_offsets(((struct body *)body)->blobs, offset, buffer, bytes, error);
}

static enum nt_status read_row(void *body, uint64_t offset, void *buffer, size_t bytes,
                               struct nt_error *error)
{
    const struct body *reading = body;
    return nt_blobs_read_row(reading->blobs, reading->row, &reading->blob, offset, buffer, bytes, error);
}

static void close_body(void *body)
{
    struct body *closed = body;
    nt_blob_deinit(&closed->blob);
    nt_blobs_cursor_deinit(&closed->cursor);
    pthread_mutex_destroy(&closed->lock);
    free(closed);
}

/* Takes the header and what the blob has open, also on failure. */
static enum nt_status make_content(struct nt_buffer *header, const struct body *from, uint64_t size,
                                   nt_content_read_body *read, struct nt_content **content_ret,
                                   struct nt_error *error)
{
    struct body *body = malloc(sizeof(*body));
    if (!body) {
        struct nt_blob blob = from->blob;
        nt_blob_deinit(&blob);
        nt_buffer_deinit(header);
        return nt_fail_memory(error);
    }
    *body = *from;
    pthread_mutex_init(&body->lock, NULL);
    const struct nt_content_body content = {.body = body, .size = size, .read = read, .close = close_body};
    return nt_content_new(header->bytes, header->length, &content, content_ret, error);
}

/* ---- of all rows ---- */

/* Rows' parameters: an enum nt_stream_kind, data or offsets. */
static bool nt_has_blobs(const struct nt_scope *scope, unsigned unused)
{
    (void)unused;
    return nt_field_has_blobs(scope->dataset, scope->field);
}

bool nt_field_shows(const struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind)
{
    bool is_of_blobs = kind == NT_STREAM_DATA || kind == NT_STREAM_OFFSETS;
    return nt_field_has_stream(&dataset->fields[field], kind) ||
           (is_of_blobs && nt_field_has_blobs(dataset, field));
}

/* Rows of what lies in no list follow from the number of entries. */
static enum nt_status count_offsets(const struct nt_scope *scope, bool may_work, uint64_t *count_ret,
                                    struct nt_error *error)
{
    uint64_t rows;
    if (!may_work && nt_field_row_parent(scope->dataset, scope->field) != NT_NONE &&
        !nt_groups_are_loaded(scope->dataset, nt_groups_of_field(scope->dataset, scope->field)))
        return nt_unknown_size(error);
    enum nt_status status = nt_field_rows(scope->vfs->reader, scope->dataset, scope->field, &rows, error);
    if (status == NT_OK && !nt_add(rows, 1, count_ret))
        status = nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the number of rows overflows");
    return status;
}

static enum nt_status count_bytes(const struct nt_scope *scope, bool may_work, uint64_t *bytes_ret,
                                  struct nt_error *error)
{
    struct nt_blobs *blobs;
    enum nt_status status = open_blobs(scope, may_work, &blobs, error);
    return status == NT_OK ? nt_blobs_bytes(blobs, may_work, bytes_ret, error) : status;
}

static enum nt_status count_elements(const struct nt_scope *scope, bool may_work, struct nt_dtype *dtype,
                                     uint64_t *elements_ret, struct nt_error *error)
{
    enum nt_stream_kind kind = scope->pseudo->parameter;
    nt_field_stream_dtype(scope->dataset, scope->field, kind, dtype);
    return kind == NT_STREAM_DATA ? count_bytes(scope, may_work, elements_ret, error)
                                  : count_offsets(scope, may_work, elements_ret, error);
}

static enum nt_status nt_blobs_bin_size(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
                                        struct nt_error *error)
{
    struct nt_dtype dtype;
    uint64_t elements;
    enum nt_status status = count_elements(scope, may_work, &dtype, &elements, error);
    if (status == NT_OK && !nt_multiply(elements, dtype.bytes, size_ret))
        status = nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the size of the stream overflows");
    return status;
}

static enum nt_status put_header(const struct nt_scope *scope, bool may_work, struct nt_buffer *header,
                                 struct nt_error *error)
{
    struct nt_dtype dtype;
    uint64_t elements;
    enum nt_status status = count_elements(scope, may_work, &dtype, &elements, error);
    if (status != NT_OK)
        return status;
    nt_npy_header(header, &dtype, false, &elements, 1);
    return header->failed ? nt_fail_memory(error) : NT_OK;
}

static enum nt_status nt_blobs_npy_size(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
                                        struct nt_error *error)
{
    struct nt_buffer header = {0};
    enum nt_status status = nt_blobs_bin_size(scope, may_work, size_ret, error);
    if (status == NT_OK)
        status = put_header(scope, may_work, &header, error);
    if (status == NT_OK)
        *size_ret += header.length;
    nt_buffer_deinit(&header);
    return status;
}

/* Behind what the header holds, which is taken. */
static enum nt_status open_all(const struct nt_scope *scope, struct nt_buffer *header,
                               struct nt_content **content_ret, struct nt_error *error)
{
    struct body body = {0};
    uint64_t size;
    enum nt_status status = open_blobs(scope, true, &body.blobs, error);
    if (status == NT_OK)
        status = nt_blobs_bin_size(scope, true, &size, error);
    if (status != NT_OK) {
        nt_buffer_deinit(header);
        return status;
    }
    return make_content(header, &body, size,
                        scope->pseudo->parameter == NT_STREAM_DATA ? read_data : read_offsets, content_ret,
                        error);
}

static enum nt_status nt_blobs_bin_open(const struct nt_scope *scope, struct nt_content **content_ret,
                                        struct nt_error *error)
{
    struct nt_buffer none = {0};
    return open_all(scope, &none, content_ret, error);
}

static enum nt_status nt_blobs_npy_open(const struct nt_scope *scope, struct nt_content **content_ret,
                                        struct nt_error *error)
{
    struct nt_buffer header = {0};
    enum nt_status status = put_header(scope, true, &header, error);
    if (status == NT_OK)
        return open_all(scope, &header, content_ret, error);
    nt_buffer_deinit(&header);
    return status;
}

/* ---- one row ---- */

static enum nt_status find_row(const struct nt_scope *scope, uint64_t row, bool wants_file, struct body *body,
                               struct nt_error *error)
{
    *body = (struct body){.row = row};
    enum nt_status status = open_blobs(scope, true, &body->blobs, error);
    if (status == NT_OK)
        status = nt_blobs_find(body->blobs, row, wants_file, &body->blob, error);
    if (status != NT_OK)
        nt_blob_deinit(&body->blob);
    return status;
}

static enum nt_status row_size(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
                               struct nt_error *error)
{
    struct body body;
    if (!may_work)
        return nt_unknown_size(error);
    enum nt_status status = find_row(scope, scope->node.number, false, &body, error);
    if (status == NT_OK)
        *size_ret = body.blob.bytes;
    return status;
}

static enum nt_status row_open(const struct nt_scope *scope, struct nt_content **content_ret,
                               struct nt_error *error)
{
    struct nt_buffer none = {0};
    struct body body;
    enum nt_status status = find_row(scope, scope->node.number, true, &body, error);
    return status == NT_OK ? make_content(&none, &body, body.blob.bytes, read_row, content_ret, error)
                           : status;
}

const struct nt_pseudo nt_blob_file = {"", NT_VFS_SIZED, .size = row_size, .open = row_open};

/* Each look at one reads its description. */
static enum nt_status blobs_next(const struct nt_scope *directory, uint64_t *index,
                                 struct nt_dir_entry *listed, struct nt_error *error)
{
    (void)directory, (void)index, (void)listed;
    return nt_no_such_file(error);
}

static enum nt_status blobs_find(const struct nt_scope *directory, const char *name, uint64_t *node_ret,
                                 struct nt_error *error)
{
    struct nt_node node = {.level = NT_LEVEL_BLOB, .slot = directory->node.slot, .item = directory->field};
    struct nt_scope complete = *directory;
    struct body body;
    if (!nt_parse_between(name, "", "", &node.number))
        return nt_no_such_file(error);
    enum nt_status status = nt_scope_complete(&complete, true, error);
    if (status == NT_OK)
        status = find_row(&complete, node.number, false, &body, error);
    if (status == NT_OK && !nt_node_pack(&node, node_ret))
        return nt_no_such_file(error);
    return status;
}

const struct nt_section nt_section_blobs = {.next = blobs_next, .find = blobs_find};

/* ---- field.json ---- */

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

static enum nt_status nt_field_json(const struct nt_scope *scope, struct nt_buffer *out,
                                    struct nt_error *error)
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

/* ---- The table of field files ---- */

static bool has_stream(const struct nt_scope *scope, unsigned kind)
{
    return nt_field_has_stream(&scope->dataset->fields[scope->field], (enum nt_stream_kind)kind);
}

/* The header for .npy; nothing is put before the elements of a .bin. */
static enum nt_status npy_header(const struct nt_scope *scope, const struct nt_shape *shape,
                                 struct nt_buffer *header, struct nt_error *error)
{
    enum nt_stream_kind kind = scope->pseudo->parameter;
    struct nt_dtype dtype;
    nt_field_stream_dtype(scope->dataset, scope->field, kind, &dtype);
    bool is_fortran_order = kind == NT_STREAM_DATA && scope->dataset->fields[scope->field].is_fortran_order;
    nt_npy_header(header, &dtype, is_fortran_order, shape->dimensions, shape->count);
    return header->failed ? nt_fail_memory(error) : NT_OK;
}

static enum nt_status stream_shape(const struct nt_scope *scope, struct nt_shape *shape,
                                   struct nt_error *error)
{
    return nt_stream_shape(scope->vfs->reader, scope->dataset, scope->field, scope->pseudo->parameter, shape,
                           error);
}

static enum nt_status known_shape(const struct nt_scope *scope, bool may_work, struct nt_shape *shape,
                                  struct nt_error *error)
{
    if (!may_work && !nt_stream_is_known(scope->dataset, scope->field, scope->pseudo->parameter) &&
        !nt_groups_are_loaded(scope->dataset, nt_groups_of_field(scope->dataset, scope->field)))
        return nt_unknown_size(error);
    return stream_shape(scope, shape, error);
}

static enum nt_status bin_size(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
                               struct nt_error *error)
{
    struct nt_shape shape;
    enum nt_status status = known_shape(scope, may_work, &shape, error);
    if (status == NT_OK)
        *size_ret = shape.bytes;
    return status;
}

static enum nt_status npy_size(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
                               struct nt_error *error)
{
    struct nt_shape shape;
    struct nt_buffer header = {0};
    enum nt_status status = known_shape(scope, may_work, &shape, error);
    if (status == NT_OK)
        status = npy_header(scope, &shape, &header, error);
    if (status == NT_OK)
        *size_ret = shape.bytes + header.length;
    nt_buffer_deinit(&header);
    return status;
}

/* ---- reading ---- */

static enum nt_status read_stream(void *body, uint64_t offset, void *buffer, size_t bytes,
                                  struct nt_error *error)
{
    return nt_stream_read(body, offset, buffer, bytes, error);
}

static bool pin_stream(void *body, uint64_t offset, size_t bytes, struct nt_pins *pins)
{
    return nt_stream_pin(body, offset, bytes, pins);
}

static void close_stream(void *body)
{
    nt_stream_close(body);
}

/* The stream behind what the header holds, which is taken. */
static enum nt_status open_stream(const struct nt_scope *scope, struct nt_buffer *header,
                                  struct nt_content **content_ret, struct nt_error *error)
{
    struct nt_stream *stream;
    enum nt_status status = nt_stream_open(scope->vfs->reader, scope->dataset, scope->field,
                                           scope->pseudo->parameter, &stream, error);
    if (status != NT_OK) {
        nt_buffer_deinit(header);
        return status;
    }
    const struct nt_content_body body = {
        .body = stream,
        .size = nt_stream_elements(stream) * nt_stream_element_bytes(stream),
        .read = read_stream,
        .close = close_stream,
        .pin = pin_stream,
    };
    return nt_content_new(header->bytes, header->length, &body, content_ret, error);
}

static enum nt_status bin_open(const struct nt_scope *scope, struct nt_content **content_ret,
                               struct nt_error *error)
{
    struct nt_buffer none = {0};
    return open_stream(scope, &none, content_ret, error);
}

static enum nt_status npy_open(const struct nt_scope *scope, struct nt_content **content_ret,
                               struct nt_error *error)
{
    struct nt_shape shape;
    struct nt_buffer header = {0};
    enum nt_status status = stream_shape(scope, &shape, error);
    if (status == NT_OK)
        status = npy_header(scope, &shape, &header, error);
    if (status == NT_OK)
        return open_stream(scope, &header, content_ret, error);
    nt_buffer_deinit(&header);
    return status;
}

/* ---- the table ---- */

static bool is_readable(const struct nt_scope *scope, unsigned parameter)
{
    (void)parameter;
    return scope->dataset->fields[scope->field].kind != NT_FIELD_UNREADABLE;
}

static bool follows_from_entries(const struct nt_scope *scope)
{
    return scope->dataset->tells_entries &&
           nt_stream_is_known(scope->dataset, scope->field, scope->pseudo->parameter);
}

/* clang-format off */
#define STREAM_FILE(name, kind, form) \
    {name "." #form, NT_VFS_SIZED, kind, .exists = has_stream, .is_outlined = follows_from_entries, \
     .size = form##_size, .open = form##_open}
#define STREAM(name, kind) STREAM_FILE(name, kind, bin), STREAM_FILE(name, kind, npy)
#define BLOBS_FILE(name, kind, form) \
    {name "." #form, NT_VFS_SIZED, kind, .exists = nt_has_blobs, .size = nt_blobs_##form##_size, .open = nt_blobs_##form##_open}
#define BLOBS(name, kind) BLOBS_FILE(name, kind, bin), BLOBS_FILE(name, kind, npy)
/* clang-format on */

static const struct nt_section *const blobs_sections[] = {&nt_section_blobs, NULL};

static const struct nt_pseudo rows[] = {
    {"field.json", NT_VFS_PRODUCED, .produce = nt_field_json},
    STREAM("data", NT_STREAM_DATA),
    STREAM("offsets", NT_STREAM_OFFSETS),
    STREAM("tags", NT_STREAM_TAGS),
    STREAM("index", NT_STREAM_INDEX),
    STREAM("valid", NT_STREAM_VALID),
    BLOBS("data", NT_STREAM_DATA),
    BLOBS("offsets", NT_STREAM_OFFSETS),
    {"blob.d", NT_VFS_DIRECTORY, .exists = nt_has_blobs, .sections = blobs_sections},
    {"rows.jsonl", NT_VFS_UNSIZED, .exists = is_readable, .open_text = nt_rows_jsonl,
     .is_short = nt_rows_are_short},
    {"head.jsonl", NT_VFS_UNSIZED, .exists = is_readable, .open_text = nt_head_jsonl,
     .is_short = nt_head_is_short},
};

const struct nt_pseudo_table nt_field_files = {rows, sizeof(rows) / sizeof(rows[0])};
