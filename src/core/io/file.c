/* SPDX-License-Identifier: MIT
 *
 * Regular files as sources, read by pread. Each read checks that the file has not changed (device,
 * inode, size, mtime). The files of a pool share a limited number of descriptors: the least recently
 * used file is closed, and reopened on demand. The first read of a small file of a pool reads all of it.
 * Its bytes are kept while its descriptor is open, since datasets of many small files read each in small
 * pieces.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/queue.h"
#include "core/base/thread.h"
#include "core/io/address.h"
#include "core/io/source.h"

/* ---- Identity and reads ---- */

#define UNCHANGED (-1)

static struct nt_identity identity_of(const struct stat *attributes)
{
    return (struct nt_identity){.device = attributes->st_dev,
                                .inode = attributes->st_ino,
                                .size = attributes->st_size,
                                .modified = attributes->st_mtim,
                                .changed_size = UNCHANGED};
}

static bool is_same(const struct nt_identity *left, const struct nt_identity *right)
{
    return left->device == right->device && left->inode == right->inode && left->size == right->size &&
           left->modified.tv_sec == right->modified.tv_sec &&
           left->modified.tv_nsec == right->modified.tv_nsec;
}

/* NT_CHANGED if `found` is not `expected`, now or at any earlier time; always with the same message. */
static enum nt_status compare(const char *path, struct nt_identity *expected, const struct nt_identity *found,
                              struct nt_error *error)
{
    long long size = atomic_load_explicit(&expected->changed_size, memory_order_relaxed);
    if (size == UNCHANGED) {
        if (is_same(expected, found))
            return NT_OK;
        /* The first thread decides the message of all. */
        if (atomic_compare_exchange_strong(&expected->changed_size, &size, (long long)found->size))
            size = (long long)found->size;
    }
    if (size == (long long)expected->size)
        return nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "%s: was replaced or modified since it was opened",
                       path);
    return nt_fail(error, NT_CHANGED, NT_NO_OFFSET,
                   "%s: was replaced or modified since it was opened: it had %lld bytes, now %lld", path,
                   (long long)expected->size, size);
}

enum nt_status nt_descriptor_identify(int descriptor, const char *path, struct nt_identity *identity_ret,
                                      struct nt_error *error)
{
    struct stat attributes;
    NT_TRY(nt_descriptor_stat(descriptor, path, &attributes, error));
    if (!S_ISREG(attributes.st_mode))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: not a regular file", path);
    *identity_ret = identity_of(&attributes);
    return NT_OK;
}

enum nt_status nt_descriptor_stat(int descriptor, const char *path, struct stat *attributes,
                                  struct nt_error *error)
{
    return fstat(descriptor, attributes) ? nt_fail_system(error, errno, "%s", path) : NT_OK;
}

enum nt_status nt_check_writers(const struct stat *attributes, const char *path, struct nt_error *error)
{
    uid_t owner = attributes->st_uid;
    unsigned mode = (unsigned)attributes->st_mode & 07777;
    if ((owner == geteuid() || owner == 0) && !(mode & (S_IWGRP | S_IWOTH)))
        return NT_OK;
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                   "%s: expected user %u or root as the owner and only the owner to have write permission, "
                   "found owner %u and mode %04o",
                   path, (unsigned)geteuid(), (unsigned)owner, mode);
}

/* ---- Pool of descriptors ---- */

enum { MAX_DESCRIPTORS = 128, SHARE_OF_LIMIT = 4 };

struct file_source {
    struct nt_source source;
    struct nt_source_pool *pool; /* NULL: the descriptor stays open, and the file is identified */
    uint32_t name_at;            /* of the name for the pool's opener, in `path` */
    int descriptor;              /* -1: closed; the pool's lock protects this and all below */
    unsigned users;
    uint8_t *content; /* all bytes of a small file of a pool while it is open; NULL: not read */
    bool is_identified;
    struct nt_identity identity; /* constant once set */
    TAILQ_ENTRY(file_source) used;
    char path[]; /* there may be very many files, so this is no allocation of its own */
};

_Static_assert(sizeof(struct file_source) <= NT_POOLED_SOURCE_BYTES, "memory of a source of a pool");

struct nt_source_pool {
    struct nt_pool_opener opener;
    struct nt_lock lock;
    size_t holders; /* the caller and the sources */
    size_t open, limit;
    TAILQ_HEAD(used_files, file_source) used; /* open files, most recently used first */
};

struct nt_source_pool *nt_source_pool_new(const struct nt_pool_opener *opener)
{
    struct nt_source_pool *pool = calloc(1, sizeof(*pool));
    if (!pool)
        return NULL;
    if (nt_lock_init(&pool->lock, NULL)) {
        free(pool);
        return NULL;
    }
    struct rlimit limit;
    pool->opener = *opener;
    pool->limit = MAX_DESCRIPTORS;
    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur / SHARE_OF_LIMIT < MAX_DESCRIPTORS)
        pool->limit = limit.rlim_cur / SHARE_OF_LIMIT;
    pool->holders = 1;
    TAILQ_INIT(&pool->used);
    return pool;
}

void nt_source_pool_free(struct nt_source_pool *pool)
{
    if (!pool)
        return;
    nt_lock_acquire(&pool->lock);
    bool is_last = --pool->holders == 0;
    nt_lock_release(&pool->lock);
    if (is_last) {
        nt_lock_deinit(&pool->lock);
        pool->opener.release(pool->opener.context);
        free(pool);
    }
}

size_t nt_source_pool_open(struct nt_source_pool *pool)
{
    NT_LOCK_GUARD(&pool->lock);
    return pool->open;
}

/* Takes the descriptor of the least recently used file; -1 if all are in use. */
static int take_oldest(struct nt_source_pool *pool)
{
    struct file_source *file;
    NT_TAILQ_FOREACH_REVERSE (file, &pool->used, file_source, used) {
        if (file->users > 0)
            continue;
        int descriptor = file->descriptor;
        file->descriptor = -1;
        free(file->content);
        file->content = NULL;
        TAILQ_REMOVE(&pool->used, file, used);
        pool->open--;
        return descriptor;
    }
    return -1;
}

/* Opens the file; if the process is out of descriptors, closes another file of the pool. */
static enum nt_status open_descriptor(struct file_source *file, int *descriptor_ret,
                                      struct nt_identity *identity_ret, struct nt_error *error)
{
    for (;;) {
        struct nt_error failure = {0};
        enum nt_status status = file->pool->opener.open(
            file->pool->opener.context, file->path + file->name_at, descriptor_ret, identity_ret, &failure);
        bool is_out_of_descriptors = failure.system_error == EMFILE || failure.system_error == ENFILE;
        int spare = -1;
        if (status && is_out_of_descriptors) {
            nt_lock_acquire(&file->pool->lock);
            spare = take_oldest(file->pool);
            nt_lock_release(&file->pool->lock);
        }
        if (spare < 0) {
            if (status && error)
                *error = failure;
            return status;
        }
        close(spare);
    }
}

/* Gives the file its new descriptor unless another thread was faster; under the lock. Returns the
 * surplus descriptor, or -1. */
static int install(struct file_source *file, int descriptor)
{
    if (file->descriptor >= 0)
        return descriptor;
    file->descriptor = descriptor;
    TAILQ_INSERT_HEAD(&file->pool->used, file, used);
    return ++file->pool->open > file->pool->limit ? take_oldest(file->pool) : -1;
}

/* Called with users > 0 and without the lock. */
static enum nt_status open_again(struct file_source *file, struct nt_error *error)
{
    int descriptor, surplus;
    struct nt_identity identity;
    NT_TRY(open_descriptor(file, &descriptor, &identity, error));
    nt_lock_acquire(&file->pool->lock);
    if (!file->is_identified) {
        file->identity = identity;
        file->is_identified = true;
    }
    enum nt_status status = compare(file->path, &file->identity, &identity, error);
    surplus = status ? descriptor : install(file, descriptor);
    nt_lock_release(&file->pool->lock);
    if (surplus >= 0)
        close(surplus);
    return status;
}

static void release(struct file_source *file)
{
    if (!file->pool)
        return;
    NT_LOCK_GUARD(&file->pool->lock);
    file->users--;
}
NT_DEFINE_CLEANUP(struct file_source, release)

/* Opens the file if necessary and keeps it open until it is released. `file_ret` is set only then. */
static enum nt_status acquire(struct nt_source *source, struct file_source **file_ret, struct nt_error *error)
{
    struct file_source *file = (struct file_source *)source;
    struct nt_source_pool *pool = file->pool;
    if (!pool) {
        *file_ret = file;
        return NT_OK;
    }
    nt_lock_acquire(&pool->lock);
    file->users++;
    bool was_opened_before = file->is_identified;
    bool is_open = file->descriptor >= 0;
    if (is_open) {
        TAILQ_REMOVE(&pool->used, file, used);
        TAILQ_INSERT_HEAD(&pool->used, file, used);
    }
    nt_lock_release(&pool->lock);
    enum nt_status status = is_open ? NT_OK : open_again(file, error);
    if (status)
        release(file);
    else
        *file_ret = file;
    if (status == NT_NOT_FOUND && was_opened_before)
        return nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "%s: no longer exists", file->path);
    return status;
}

/* ---- Source operations ---- */

static enum nt_status check(struct file_source *file, struct nt_error *error)
{
    struct stat attributes;
    NT_TRY(nt_descriptor_stat(file->descriptor, file->path, &attributes, error));
    struct nt_identity found = identity_of(&attributes);
    return compare(file->path, &file->identity, &found, error);
}

/* Gives the file its content unless another thread was faster, and returns it. */
static const uint8_t *set_content(struct file_source *file, uint8_t *content)
{
    nt_lock_acquire(&file->pool->lock);
    if (!file->content) {
        file->content = content;
        content = NULL;
    }
    const uint8_t *found = file->content;
    nt_lock_release(&file->pool->lock);
    free(content);
    return found;
}

/* All bytes of a small file of a pool that is acquired; NULL: read the descriptor, which reports failures. */
static const uint8_t *find_content(struct file_source *file)
{
    enum { MAX_BYTES = 16 * 1024 };
    size_t bytes = (size_t)file->identity.size;
    if (!file->pool || bytes > MAX_BYTES)
        return NULL;
    nt_lock_acquire(&file->pool->lock);
    const uint8_t *found = file->content;
    nt_lock_release(&file->pool->lock);
    uint8_t *content = found ? NULL : malloc(bytes ? bytes : 1);
    if (!content)
        return found;
    if (pread(file->descriptor, content, bytes, 0) == (ssize_t)bytes)
        return set_content(file, content);
    free(content);
    return NULL;
}

static enum nt_status file_read_at(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                   struct nt_error *error)
{
    NT_CLEANUP(release_at) struct file_source *file = NULL;
    uint8_t *output = buffer;
    ssize_t count = 1;
    if (offset > INT64_MAX || bytes > INT64_MAX - offset)
        return nt_fail(error, NT_TRUNCATED, offset, "%s: the offset is beyond the largest possible file",
                       source->path);
    NT_TRY(acquire(source, &file, error));
    const uint8_t *content = find_content(file);
    if (content && nt_range_fits(offset, bytes, (uint64_t)file->identity.size)) {
        memcpy(output, content + offset, bytes);
        bytes = 0;
    }
    while (bytes > 0 && count != 0) {
        count = pread(file->descriptor, output, bytes, (off_t)offset);
        if (count < 0 && errno != EINTR)
            return nt_fail_system(error, errno, "%s: cannot read %zu bytes at byte %" PRIu64, file->path,
                                  bytes, offset);
        if (count > 0) {
            output += count;
            offset += (uint64_t)count;
            bytes -= (size_t)count;
        }
    }
    NT_TRY(check(file, error));
    if (bytes)
        return nt_fail(error, NT_TRUNCATED, offset, "%s: the file ends %zu bytes too early", file->path,
                       bytes);
    return NT_OK;
}

static enum nt_status file_check(struct nt_source *source, struct nt_error *error)
{
    NT_CLEANUP(release_at) struct file_source *file = NULL;
    NT_TRY(acquire(source, &file, error));
    return check(file, error);
}

static enum nt_status file_stat(struct nt_source *source, struct stat *attributes, struct nt_error *error)
{
    NT_CLEANUP(release_at) struct file_source *file = NULL;
    NT_TRY(acquire(source, &file, error));
    return nt_descriptor_stat(file->descriptor, file->path, attributes, error);
}

static enum nt_status file_size(struct nt_source *source, uint64_t *size_ret, struct nt_error *error)
{
    NT_CLEANUP(release_at) struct file_source *file = NULL;
    NT_TRY(acquire(source, &file, error));
    *size_ret = (uint64_t)file->identity.size;
    return NT_OK;
}

/* Only without a pool: a pool's file has no known size, and may be closed. */
static uint64_t file_skip_hole(struct nt_source *source, uint64_t offset)
{
    const struct file_source *file = (struct file_source *)source;
    off_t data = file->pool ? (off_t)offset : lseek(file->descriptor, (off_t)offset, SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? source->size : offset;
    return (uint64_t)data;
}

static void file_close(struct nt_source *source)
{
    struct file_source *file = (struct file_source *)source;
    struct nt_source_pool *pool = file->pool;
    if (pool)
        nt_lock_acquire(&pool->lock);
    int descriptor = file->descriptor;
    if (pool && descriptor >= 0) {
        TAILQ_REMOVE(&pool->used, file, used);
        pool->open--;
    }
    if (pool)
        nt_lock_release(&pool->lock);
    if (descriptor >= 0)
        close(descriptor);
    nt_source_pool_free(pool);
    free(file->content);
    free(file);
}

static const struct nt_source_ops file_ops = {.read_at = file_read_at,
                                              .check = file_check,
                                              .reads_check = true,
                                              .stat = file_stat,
                                              .size = file_size,
                                              .skip_hole = file_skip_hole,
                                              .close = file_close};

/* ---- Opening ---- */

static struct file_source *new_file(const char *path, uint64_t size)
{
    size_t length = strlen(path);
    struct file_source *file = calloc(1, sizeof(*file) + length + 1);
    if (!file)
        return NULL;
    memcpy(file->path, path, length);
    file->source = (struct nt_source){.ops = &file_ops, .size = size, .path = file->path};
    file->descriptor = -1;
    return file;
}

enum nt_status nt_source_of_descriptor(int descriptor, const char *path, const struct nt_identity *identity,
                                       struct nt_source **source_ret, struct nt_error *error)
{
    struct file_source *file = new_file(path, (uint64_t)identity->size);
    if (!file) {
        close(descriptor);
        return nt_fail_memory(error);
    }
    file->descriptor = descriptor;
    file->identity = *identity;
    *source_ret = &file->source;
    return NT_OK;
}

enum nt_status nt_source_open_local(const char *path, struct nt_source **source_ret, struct nt_error *error)
{
    struct nt_identity identity;
    int descriptor = open(path, NT_DESCRIPTOR_FLAGS);
    if (descriptor < 0)
        return nt_fail_path(error, errno, path);
    enum nt_status status = nt_descriptor_identify(descriptor, path, &identity, error);
    if (status == NT_OK)
        return nt_source_of_descriptor(descriptor, path, &identity, source_ret, error);
    close(descriptor);
    return status;
}

enum nt_status nt_source_pool_add(struct nt_source_pool *pool, const char *path, size_t name_at,
                                  struct nt_source **source_ret, struct nt_error *error)
{
    struct file_source *file = new_file(path, NT_UNKNOWN_SIZE);
    NT_TRY(nt_check_memory(file, error));
    file->pool = pool;
    file->name_at = (uint32_t)name_at;
    nt_lock_acquire(&pool->lock);
    pool->holders++;
    nt_lock_release(&pool->lock);
    *source_ret = &file->source;
    return NT_OK;
}

/* ---- Writing ---- */

int nt_write_all(int descriptor, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(descriptor, bytes, count);
        if (written < 0 && errno != EINTR)
            return errno;
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
    return 0;
}
