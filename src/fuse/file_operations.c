/* SPDX-License-Identifier: MIT
 *
 * In: open, read and release. Bytes are decoded into a buffer that each thread keeps, and are written to the
 * kernel from there: splicing was measured to be no faster.
 */
#include "fuse/operations.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "fuse/status_errno.h"

struct reply_buffer {
    void *bytes;
    size_t capacity;
};

static void reply_buffer_free(void *argument)
{
    struct reply_buffer *buffer = argument;
    if (buffer)
        free(buffer->bytes);
    free(buffer);
}

int nt_reply_buffers_init(pthread_key_t *key)
{
    return pthread_key_create(key, reply_buffer_free);
}

void nt_reply_buffers_deinit(pthread_key_t key)
{
    reply_buffer_free(pthread_getspecific(key));
    pthread_key_delete(key);
}

static struct reply_buffer *thread_buffer(pthread_key_t key)
{
    struct reply_buffer *buffer = pthread_getspecific(key);
    if (buffer)
        return buffer;
    buffer = calloc(1, sizeof(*buffer));
    if (buffer && pthread_setspecific(key, buffer) != 0) {
        free(buffer);
        return NULL;
    }
    return buffer;
}

/* At least `size` bytes on a page border, the calling thread's own until its next call. NULL without memory.
 */
static void *reply_bytes(pthread_key_t key, size_t size)
{
    enum { PAGE = 4096 };
    struct reply_buffer *buffer = thread_buffer(key);
    if (!buffer)
        return NULL;
    if (buffer->capacity < size) {
        free(buffer->bytes);
        buffer->capacity = (size + PAGE - 1) / PAGE * PAGE;
        buffer->bytes = aligned_alloc(PAGE, buffer->capacity);
    }
    if (!buffer->bytes)
        buffer->capacity = 0;
    return buffer->bytes;
}

/* Streamed files have no size that the kernel could go by. What never changes stays in its page cache, also
 * from one open to the next. */
static void choose_caching(const struct nt_mount *mount, const struct nt_vfs_attributes *attributes,
                           struct fuse_file_info *info)
{
    bool is_streamed = attributes->class == NT_VFS_STREAMED;
    info->direct_io = is_streamed || mount->settings.direct_io == NT_DIRECT_IO_ON;
    info->keep_cache = !is_streamed && attributes->is_immutable;
}

static void on_open(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info)
{
    struct nt_mount *mount = fuse_req_userdata(request);
    struct nt_vfs_attributes attributes;
    struct nt_vfs_handle *handle = NULL;
    if ((info->flags & O_ACCMODE) != O_RDONLY) {
        fuse_reply_err(request, EROFS);
        return;
    }
    enum nt_status status = nt_vfs_stat(mount->vfs, node, true, &attributes, NULL);
    if (status == NT_OK)
        status = nt_vfs_open(mount->vfs, node, &handle, NULL);
    if (status != NT_OK) {
        fuse_reply_err(request, nt_status_errno(status));
        return;
    }
    choose_caching(mount, &attributes, info);
    info->fh = (uintptr_t)handle;
    if (fuse_reply_open(request, info) == -ENOENT)
        nt_vfs_close(handle); /* the caller was interrupted: there will be no release */
}

static void on_read(fuse_req_t request, fuse_ino_t node, size_t size, off_t offset,
                    struct fuse_file_info *info)
{
    struct nt_mount *mount = fuse_req_userdata(request);
    struct nt_vfs_handle *handle = (struct nt_vfs_handle *)(uintptr_t)info->fh;
    size_t count = 0;
    if (fuse_req_interrupted(request)) { /* while it waited for its turn: nobody wants the bytes any more */
        fuse_reply_err(request, EINTR);
        return;
    }
    void *bytes = reply_bytes(mount->reply_buffers, size);
    if (!bytes) {
        fuse_reply_err(request, ENOMEM);
        return;
    }
    enum nt_status status = nt_vfs_read(handle, (uint64_t)offset, bytes, size, &count, NULL);
    if (status == NT_OK)
        fuse_reply_buf(request, bytes, count);
    else
        fuse_reply_err(request, nt_status_errno(status));
}

static void on_release(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info)
{
    nt_vfs_close((struct nt_vfs_handle *)(uintptr_t)info->fh);
    fuse_reply_err(request, 0);
}

void nt_add_file_operations(struct fuse_lowlevel_ops *operations)
{
    operations->open = on_open;
    operations->read = on_read;
    operations->release = on_release;
}
