/* SPDX-License-Identifier: MIT
 *
 * The files of a field's directory: the logical streams as .bin and .npy, and what is told about the field.
 */
#include "read/page.h"
#include "vfs/view_files.h"
#include "vfs/blob_files.h"
#include "vfs/content.h"
#include "vfs/documents.h"
#include "vfs/npy.h"
#include "vfs/pseudo.h"
#include "vfs/shape.h"
#include "vfs/short_texts.h"

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
