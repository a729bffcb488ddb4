/* SPDX-License-Identifier: MIT
 *
 * In: a field that describes blobs (page/page.h). Out: blob.d/<row>, a file for each row that is not null, and what a binary field has,
 * data and offsets.
 */
#include "vfs/blob_files.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/base/overflow.h"
#include "read/page.h"
#include "vfs/content.h"
#include "vfs/npy.h"

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

bool nt_has_blobs(const struct nt_scope *scope, unsigned unused)
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

enum nt_status nt_blobs_bin_size(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
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

enum nt_status nt_blobs_npy_size(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
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

enum nt_status nt_blobs_bin_open(const struct nt_scope *scope, struct nt_content **content_ret,
                                 struct nt_error *error)
{
    struct nt_buffer none = {0};
    return open_all(scope, &none, content_ret, error);
}

enum nt_status nt_blobs_npy_open(const struct nt_scope *scope, struct nt_content **content_ret,
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
