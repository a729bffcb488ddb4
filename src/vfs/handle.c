/* SPDX-License-Identifier: MIT
 *
 * Open files of the tree: in comes a node, out come its bytes, read or where they lie, from the content that its row
 * of a table gives.
 */
#include <stdlib.h>

#include "vfs/content.h"
#include "vfs/pseudo.h"
#include "vfs/places.h"
#include "vfs/report.h"
#include "vfs/scope.h"
#include "vfs/vfs.h"

enum { PIECE = 1 << 20 }; /* that is verified at once */

struct nt_vfs_handle {
    struct nt_scope scope; /* holds the source open */
    struct nt_content *content;
};

static enum nt_status open_content(struct nt_scope *scope, struct nt_content **content_ret,
                                   struct nt_error *error)
{
    enum nt_status status = nt_scope_complete(scope, true, error);
    if (status != NT_OK)
        return status;
    switch (scope->pseudo ? scope->pseudo->class : NT_VFS_DIRECTORY) {
    case NT_VFS_SIZED:
        return scope->pseudo->open(scope, content_ret, error);
    case NT_VFS_PRODUCED:
    case NT_VFS_UNSIZED:
        status = nt_produced_open(scope->vfs->produced, scope, content_ret, error);
        return status == NT_OK && !*content_ret ? nt_content_new_unsized(scope, content_ret, error) : status;
    default:
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "a directory");
    }
}

/* Read all of a file once, so that what is damaged is found now. */
static enum nt_status verify(struct nt_content *content, struct nt_error *error)
{
    size_t piece = PIECE, got;
    void *buffer = malloc(piece);
    enum nt_status status = buffer ? NT_OK : nt_fail_memory(error);
    for (uint64_t offset = 0; status == NT_OK && offset < content->size; offset += piece) {
        uint64_t left = content->size - offset;
        status =
            content->ops->read(content, offset, buffer, left < piece ? (size_t)left : piece, &got, error);
    }
    free(buffer);
    return status;
}

/* The bytes as stored are shown even where they are damaged. */
static bool is_verified(const struct nt_scope *scope)
{
    return scope->vfs->options.verify_on_open && scope->pseudo->class == NT_VFS_SIZED &&
           scope->node.level != NT_LEVEL_PAGE_RAW;
}

/* In a visit. */
static enum nt_status open_node(struct nt_vfs *vfs, uint64_t node, struct nt_vfs_handle **handle_ret,
                                struct nt_error *error)
{
    struct nt_vfs_handle *handle = calloc(1, sizeof(*handle));
    struct nt_error failure = {0};
    if (!handle)
        return nt_fail_memory(error);
    enum nt_status status = nt_report_open(vfs, node, &handle->scope, error);
    if (status != NT_OK) {
        free(handle);
        return status;
    }
    nt_vfs_know(vfs, node); /* to the handle's end */
    status = open_content(&handle->scope, &handle->content, &failure);
    if (status == NT_OK && is_verified(&handle->scope))
        status = verify(handle->content, &failure);
    if (status != NT_OK)
        nt_vfs_close(handle);
    else
        *handle_ret = handle;
    return nt_report(vfs, node, status, &failure, error);
}

enum nt_status nt_vfs_open(struct nt_vfs *vfs, uint64_t node, struct nt_vfs_handle **handle_ret,
                           struct nt_error *error)
{
    unsigned visit = nt_places_come(vfs->places);
    enum nt_status status = open_node(vfs, node, handle_ret, error);
    nt_places_leave(vfs->places, visit);
    return status;
}

static uint64_t checked_reads(const struct nt_vfs_handle *handle)
{
    const struct nt_file *file = handle->scope.file;
    return file ? nt_source_checked_reads(file->source) : 0;
}

/* What was read is served if the file is still the one that was opened, also where all of it was in memory;
 * damage in one that is not is no damage. A read of the file since there were `before` has found that out. */
static enum nt_status check_source(const struct nt_vfs_handle *handle, uint64_t before, enum nt_status status,
                                   struct nt_error *failure)
{
    const struct nt_file *file = handle->scope.file;
    struct nt_error change = {0};
    if (status == NT_OK && checked_reads(handle) != before)
        return NT_OK;
    enum nt_status found = file ? nt_source_check(file->source, &change) : NT_OK;
    return found == NT_OK || (status != NT_OK && found != NT_CHANGED) ? status
                                                                      : nt_fail_with(failure, &change);
}

/* A report looks at places, of which a read that succeeds needs none. */
static enum nt_status report(const struct nt_vfs_handle *handle, enum nt_status status,
                             const struct nt_error *failure, struct nt_error *error)
{
    struct nt_vfs *vfs = handle->scope.vfs;
    unsigned visit = nt_places_come(vfs->places);
    status = nt_report(vfs, handle->scope.number, status, failure, error);
    nt_places_leave(vfs->places, visit);
    return status;
}

enum nt_status nt_vfs_read(struct nt_vfs_handle *handle, uint64_t offset, void *buffer, size_t bytes,
                           size_t *bytes_ret, struct nt_error *error)
{
    struct nt_content *content = handle->content;
    struct nt_error failure = {0};
    *bytes_ret = 0;
    if (offset >= content->size || bytes == 0)
        return NT_OK;
    if (bytes > content->size - offset)
        bytes = (size_t)(content->size - offset);
    uint64_t before = checked_reads(handle);
    enum nt_status status = content->ops->read(content, offset, buffer, bytes, bytes_ret, &failure);
    status = check_source(handle, before, status, &failure);
    return status == NT_OK ? NT_OK : report(handle, status, &failure, error);
}

bool nt_vfs_pin(struct nt_vfs_handle *handle, uint64_t offset, size_t bytes, struct nt_pins *pins)
{
    const struct nt_content *content = handle->content;
    struct nt_error unused;
    *pins = (struct nt_pins){0};
    if (!content->ops->pin || offset >= content->size)
        return false;
    if (bytes > content->size - offset)
        bytes = (size_t)(content->size - offset);
    uint64_t before = checked_reads(handle);
    if (!content->ops->pin(content, offset, bytes, pins))
        return false;
    if (check_source(handle, before, NT_OK, &unused) == NT_OK)
        return true;
    nt_pins_release(pins);
    return false;
}

bool nt_vfs_is_unsized(const struct nt_vfs_handle *handle)
{
    return handle->content->size == UINT64_MAX || handle->content->ends_early;
}

uint64_t nt_vfs_probable_bytes(const struct nt_vfs_handle *handle)
{
    const struct nt_content_ops *ops = handle->content->ops;
    return ops->probable_bytes ? ops->probable_bytes(handle->content) : 0;
}

void nt_vfs_close(struct nt_vfs_handle *handle)
{
    if (!handle)
        return;
    nt_content_close(handle->content);
    nt_scope_close(&handle->scope);
    nt_vfs_forget(handle->scope.vfs, handle->scope.number, 1);
    free(handle);
}
