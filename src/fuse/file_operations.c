/* SPDX-License-Identifier: MIT
 *
 * Handlers of open, read and release. Small files are written to the kernel's page cache on first open,
 * so that no read request follows. Reads beyond those in service wait in a queue while other requests are
 * pending. Replies lie in a pool of buffers with a total limit.
 */
#include "fuse/operations.h"

/* ---- Reply buffers ---- */

/* The last returned buffer is lent first, because it is still in the CPU cache; over the limit threads
 * wait in FIFO order. */
int nt_reply_buffers_init(struct nt_reply_buffers *buffers, uint64_t limit)
{
    *buffers = (struct nt_reply_buffers){.limit = limit};
    pthread_mutex_init(&buffers->lock, NULL);
    return nt_fifo_init(&buffers->fifo);
}

static void free_all(struct nt_reply_buffer_list *list)
{
    struct nt_reply_buffer *buffer;
    while ((buffer = SLIST_FIRST(list))) {
        SLIST_REMOVE_HEAD(list, link);
        free(buffer->bytes);
        free(buffer);
    }
}

void nt_reply_buffers_deinit(struct nt_reply_buffers *buffers)
{
    free_all(&buffers->idle);
    nt_fifo_deinit(&buffers->fifo);
    pthread_mutex_destroy(&buffers->lock);
}

static bool has_room(const void *context, uint64_t bytes)
{
    const struct nt_reply_buffers *buffers = context;
    return buffers->lent == 0 || buffers->lent + bytes <= buffers->limit;
}

/* Takes an idle buffer that is large enough, or NULL. Call it under the lock. */
static struct nt_reply_buffer *take_fitting(struct nt_reply_buffers *buffers, size_t size)
{
    struct nt_reply_buffer *buffer;
    SLIST_FOREACH (buffer, &buffers->idle, link)
        if (buffer->capacity >= size && buffers->lent + buffer->capacity <= buffers->limit)
            break;
    if (!buffer)
        return NULL;
    SLIST_REMOVE(&buffers->idle, buffer, nt_reply_buffer, link);
    buffers->kept -= buffer->capacity;
    return buffer;
}

/* Takes the idle buffers that exceed the limit. Call it under the lock. */
static struct nt_reply_buffer_list take_surplus(struct nt_reply_buffers *buffers)
{
    struct nt_reply_buffer_list surplus = SLIST_HEAD_INITIALIZER(surplus);
    struct nt_reply_buffer *buffer;
    while (buffers->lent + buffers->kept > buffers->limit && (buffer = SLIST_FIRST(&buffers->idle))) {
        SLIST_REMOVE_HEAD(&buffers->idle, link);
        buffers->kept -= buffer->capacity;
        SLIST_INSERT_HEAD(&surplus, buffer, link);
    }
    return surplus;
}

static struct nt_reply_buffer *buffer_new(size_t size)
{
    struct nt_reply_buffer *buffer = calloc(1, sizeof(*buffer));
    if (buffer && !(buffer->bytes = nt_hugepage_alloc(size, &buffer->capacity))) {
        free(buffer);
        buffer = NULL;
    }
    return buffer;
}

struct nt_reply_buffer *nt_reply_buffer_borrow(struct nt_reply_buffers *buffers, size_t size)
{
    uint64_t bytes = nt_hugepage_capacity(size);
    pthread_mutex_lock(&buffers->lock);
    nt_fifo_wait(&buffers->fifo, &buffers->lock, has_room, buffers, bytes);
    struct nt_reply_buffer *buffer = take_fitting(buffers, size);
    if (buffer)
        bytes = buffer->capacity;
    buffers->lent += bytes;
    struct nt_reply_buffer_list surplus = take_surplus(buffers);
    pthread_mutex_unlock(&buffers->lock);
    free_all(&surplus);
    if (buffer || (buffer = buffer_new(size)))
        return buffer;
    pthread_mutex_lock(&buffers->lock);
    buffers->lent -= bytes;
    nt_fifo_wake(&buffers->fifo);
    pthread_mutex_unlock(&buffers->lock);
    return NULL;
}

void nt_reply_buffer_return(struct nt_reply_buffers *buffers, struct nt_reply_buffer *buffer)
{
    if (!buffer)
        return;
    pthread_mutex_lock(&buffers->lock);
    buffers->lent -= buffer->capacity;
    buffers->kept += buffer->capacity;
    SLIST_INSERT_HEAD(&buffers->idle, buffer, link);
    struct nt_reply_buffer_list surplus = take_surplus(buffers);
    nt_fifo_wake(&buffers->fifo);
    pthread_mutex_unlock(&buffers->lock);
    free_all(&surplus);
}

/* ---- Prefill the page cache ---- */

enum { MAX_BITS = NT_PREFILLED_BITS / 4 }; /* beyond this, more than one file in four would collide */

bool nt_prefilled_add(struct nt_prefilled *prefilled, uint64_t node, bool is_idle)
{
    const uint64_t multiplier = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t mixed = (node ^ node >> 32) * multiplier;
    uint64_t number = (mixed ^ mixed >> 32) * multiplier >> 40 & (NT_PREFILLED_BITS - 1);
    uint64_t bit = UINT64_C(1) << number % 64;
    if (is_idle && prefilled->count >= MAX_BITS)
        *prefilled = (struct nt_prefilled){.count = 0};
    if (prefilled->bits[number / 64] & bit)
        return false;
    prefilled->bits[number / 64] |= bit;
    prefilled->count++;
    return true;
}

/* ---- Files ---- */

/* One for each open(), in the list of the mount, which closes it if no release comes. An interrupted
 * caller may close a file that is still being read (timers.c): it closes with its last user. Its memory
 * is reused only for files until the end of the mount, so a late read finds that the file is closed, or
 * its answer is discarded. */
struct nt_file_handle {
    atomic_uint users;               /* 0: unused, in spare_files */
    LIST_ENTRY(nt_file_handle) link; /* in open_files or spare_files */
    struct nt_vfs_handle *handle;
    bool is_streamed;
    bool is_to_store;              /* small, and opened for the first time */
    atomic_uint_least64_t reached; /* streamed: text generated so far, roughly */
};

struct nt_read_request {
    fuse_req_t request;
    struct nt_file_handle *file; /* with a reference */
    size_t size;
    uint64_t offset;
    STAILQ_ENTRY(nt_read_request) link;
};

static struct nt_file_handle *open_file_of(const struct fuse_file_info *info)
{
    return (struct nt_file_handle *)(uintptr_t)info->fh;
}

/* Takes a spare one, or allocates one. */
static struct nt_file_handle *open_file_new(struct nt_mount *mount)
{
    pthread_mutex_lock(&mount->open_files_lock);
    struct nt_file_handle *file = LIST_FIRST(&mount->spare_files);
    if (file)
        LIST_REMOVE(file, link);
    pthread_mutex_unlock(&mount->open_files_lock);
    return file ? file : calloc(1, sizeof(*file));
}

static void open_file_spare(struct nt_mount *mount, struct nt_file_handle *file)
{
    NT_MUTEX_GUARD(&mount->open_files_lock);
    LIST_INSERT_HEAD(&mount->spare_files, file, link);
}

static enum nt_status open_file_open(struct nt_mount *mount, const struct nt_vfs_attributes *attributes,
                                     struct nt_file_handle **file_ret, struct nt_error *error)
{
    struct nt_file_handle *file = open_file_new(mount);
    if (!file)
        return NT_NO_MEMORY;
    enum nt_status status = nt_vfs_open(mount->vfs, attributes->node, &file->handle, error);
    if (status != NT_OK) {
        open_file_spare(mount, file);
        return status;
    }
    atomic_store(&file->reached, 0);
    file->is_streamed = nt_vfs_is_streamed(file->handle);
    /* Does the kernel cache the content of this small file? */
    file->is_to_store = attributes->is_immutable && !file->is_streamed &&
                        mount->settings.direct_io != NT_DIRECT_IO_ON && attributes->stat.st_size > 0 &&
                        attributes->stat.st_size <= NT_PREFILL_BYTES;
    pthread_mutex_lock(&mount->open_files_lock);
    if (file->is_to_store)
        file->is_to_store =
            nt_prefilled_add(&mount->prefilled, attributes->node, LIST_EMPTY(&mount->open_files));
    LIST_INSERT_HEAD(&mount->open_files, file, link);
    pthread_mutex_unlock(&mount->open_files_lock);
    atomic_store(&file->users, 1);
    *file_ret = file;
    return NT_OK;
}

/* Returns false if the file is closed. */
static bool open_file_ref(struct nt_file_handle *file)
{
    unsigned users = atomic_load(&file->users);
    while (users > 0 && !atomic_compare_exchange_weak(&file->users, &users, users + 1))
        ;
    return users > 0;
}

static void open_file_unref(struct nt_mount *mount, struct nt_file_handle *file)
{
    if (atomic_fetch_sub(&file->users, 1) > 1)
        return;
    pthread_mutex_lock(&mount->open_files_lock);
    LIST_REMOVE(file, link);
    pthread_mutex_unlock(&mount->open_files_lock);
    nt_vfs_close(file->handle);
    open_file_spare(mount, file);
}

int nt_file_operations_init(struct nt_mount *mount)
{
    STAILQ_INIT(&mount->reads.waiting);
    pthread_mutex_init(&mount->reads.lock, NULL);
    pthread_mutex_init(&mount->open_files_lock, NULL);
    return nt_reply_buffers_init(&mount->reply_buffers, mount->settings.reply_bytes);
}

void nt_file_operations_deinit(struct nt_mount *mount)
{
    struct nt_file_handle *file;
    while ((file = LIST_FIRST(&mount->open_files)))
        open_file_unref(mount, file);
    while ((file = LIST_FIRST(&mount->spare_files))) {
        LIST_REMOVE(file, link);
        free(file);
    }
    pthread_mutex_destroy(&mount->open_files_lock);
    pthread_mutex_destroy(&mount->reads.lock);
    nt_reply_buffers_deinit(&mount->reply_buffers);
}

bool nt_has_open_files(struct nt_mount *mount)
{
    NT_MUTEX_GUARD(&mount->open_files_lock);
    return !LIST_EMPTY(&mount->open_files);
}

/* Stores all bytes of a small file in the kernel's page cache. */
static void store(struct nt_mount *mount, uint64_t node, struct nt_file_handle *file, size_t bytes)
{
    char content[NT_PREFILL_BYTES];
    size_t count;
    if (nt_vfs_read(file->handle, 0, content, bytes, &count, NULL) != NT_OK || count != bytes)
        return; /* the reader gets the error */
    struct fuse_bufvec buffers = FUSE_BUFVEC_INIT(bytes);
    buffers.buf[0].mem = content;
    (void)fuse_lowlevel_notify_store(mount->session, node, 0, &buffers, 0);
}

static void on_open(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info)
{
    struct nt_mount *mount = fuse_req_userdata(request);
    struct nt_vfs_attributes attributes;
    const struct nt_vfs_caller caller = nt_caller(request);
    struct nt_file_handle *file = NULL;
    struct nt_error error;
    if ((info->flags & O_ACCMODE) != O_RDONLY) {
        fuse_reply_err(request, EROFS);
        return;
    }
    nt_error_clear(&error);
    enum nt_status status = nt_vfs_stat_for(mount->vfs, node, &caller, &attributes, &error);
    if (status == NT_OK)
        status = open_file_open(mount, &attributes, &file, &error);
    if (status != NT_OK) {
        fuse_reply_err(request, nt_failure_errno(status, &error));
        return;
    }
    /* A stream has no size and no seek: seeking returns ESPIPE, and sendfile or mmap an error, so that no
     * program trusts the size 0. Immutable files stay in the page cache across opens. */
    info->nonseekable = file->is_streamed;
    info->keep_cache = !file->is_streamed && attributes.is_immutable;
    info->direct_io = !info->keep_cache || mount->settings.direct_io == NT_DIRECT_IO_ON;
    info->fh = (uintptr_t)file;
    if (file->is_to_store && !(info->flags & O_DIRECT))
        store(mount, node, file, (size_t)attributes.stat.st_size);
    if (fuse_reply_open(request, info) != 0)
        open_file_unref(mount, file); /* interrupted or not opened: no release will come */
}

/* A far seek generates all text before it. This runs in steps, so that an interrupted or killed reader
 * does not have to wait: the kernel waits for the answer. */
static enum nt_status approach(fuse_req_t request, struct nt_file_handle *file, uint64_t offset)
{
    enum { STEP = 1 << 20 };
    uint64_t reached = atomic_load(&file->reached);
    char byte;
    size_t count = 1;
    if (reached > offset && reached - offset > STEP)
        reached = 0; /* too far back to be cached: regenerates from the start */
    while (count > 0 && offset > reached && offset - reached > STEP) {
        reached += STEP;
        NT_TRY(fuse_req_interrupted(request) ? NT_CANCELED
                                             : nt_vfs_read(file->handle, reached, &byte, 1, &count, NULL));
    }
    atomic_store(&file->reached, offset);
    return NT_OK;
}

/* Replies directly from the pages of the cache. Returns false if the bytes must be read. */
static bool reply_pinned(fuse_req_t request, struct nt_file_handle *file, size_t size, uint64_t offset)
{
    struct nt_pins pins;
    struct iovec parts[NT_MAX_PINS];
    if (file->is_streamed || !nt_vfs_pin(file->handle, offset, size, &pins))
        return false;
    for (unsigned i = 0; i < pins.count; i++)
        parts[i] = (struct iovec){(void *)(uintptr_t)pins.items[i].bytes, pins.items[i].count};
    fuse_reply_iov(request, parts, (int)pins.count);
    nt_pins_release(&pins);
    return true;
}

/* ---- Reads and their queue ---- */

static void read_serve(struct nt_mount *mount, const struct nt_read_request *read)
{
    enum nt_status status = NT_OK;
    size_t count = 0;
    struct nt_error error;
    if (read->size >= NT_MIN_PINNED && reply_pinned(read->request, read->file, read->size, read->offset))
        return;
    nt_error_clear(&error);
    struct nt_reply_buffer *buffer = nt_reply_buffer_borrow(&mount->reply_buffers, read->size);
    if (!buffer)
        status = NT_NO_MEMORY;
    else if (fuse_req_interrupted(read->request)) /* while it waited */
        status = NT_CANCELED;
    else if (read->file->is_streamed)
        status = approach(read->request, read->file, read->offset);
    if (status == NT_OK)
        status = nt_vfs_read(read->file->handle, read->offset, buffer->bytes, read->size, &count, &error);
    if (status == NT_OK)
        fuse_reply_buf(read->request, buffer->bytes, count);
    else
        fuse_reply_err(read->request, nt_failure_errno(status, &error));
    nt_reply_buffer_return(&mount->reply_buffers, buffer);
}

/* Takes the first read from the queue; false: there is none. The caller holds the lock. */
static bool read_take(struct nt_read_queue *queue, struct nt_read_request *read)
{
    struct nt_read_request *first = STAILQ_FIRST(&queue->waiting);
    if (!first)
        return false;
    STAILQ_REMOVE_HEAD(&queue->waiting, link);
    *read = *first;
    free(first);
    return true;
}

/* Decides whether this thread serves a read now. If enough reads are in service, the read goes to the queue.
 * If others wait there, it does so, too, and *read becomes the first of them. Without memory it does not
 * wait. */
static bool read_begin(struct nt_mount *mount, struct nt_read_request *read)
{
    const struct nt_mount_settings *settings = &mount->settings;
    struct nt_read_queue *queue = &mount->reads;
    struct nt_read_request *last = NULL;
    NT_MUTEX_GUARD(&queue->lock);
    bool must_wait = queue->in_service >= settings->reads ||
                     (queue->in_service >= settings->reads_ahead && nt_others_are_pending(mount));
    if (must_wait || !STAILQ_EMPTY(&queue->waiting))
        last = malloc(sizeof(*last));
    if (last) {
        *last = *read;
        STAILQ_INSERT_TAIL(&queue->waiting, last, link);
    }
    bool is_mine = !last || (!must_wait && read_take(queue, read));
    queue->in_service += is_mine;
    return is_mine;
}

/* Ends a read, and takes the next one from the queue; false: none. If requests are pending, this thread
 * receives them instead, unless no other one serves reads. */
static bool read_next(struct nt_mount *mount, struct nt_read_request *read)
{
    struct nt_read_queue *queue = &mount->reads;
    open_file_unref(mount, read->file);
    NT_MUTEX_GUARD(&queue->lock);
    bool must_receive =
        queue->in_service > 1 && !STAILQ_EMPTY(&queue->waiting) && nt_others_are_pending(mount);
    bool is_mine = !must_receive && read_take(queue, read);
    queue->in_service -= !is_mine;
    return is_mine;
}

static void on_read(fuse_req_t request, fuse_ino_t node, size_t size, off_t offset,
                    struct fuse_file_info *info)
{
    struct nt_mount *mount = fuse_req_userdata(request);
    struct nt_read_request read = {
        .request = request, .file = open_file_of(info), .size = size, .offset = (uint64_t)offset};
    if (!open_file_ref(read.file)) {
        fuse_reply_err(request, EBADF);
        return;
    }
    bool is_mine = read_begin(mount, &read);
    while (is_mine) {
        read_serve(mount, &read);
        is_mine = read_next(mount, &read);
    }
}

static void on_release(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info)
{
    open_file_unref(fuse_req_userdata(request), open_file_of(info));
    fuse_reply_err(request, 0);
}

void nt_add_file_operations(struct fuse_lowlevel_ops *operations)
{
    operations->open = on_open;
    operations->read = on_read;
    operations->release = on_release;
}
