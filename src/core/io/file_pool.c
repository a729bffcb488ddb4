/* SPDX-License-Identifier: MIT
 *
 * Pool of files that share a limited number of descriptors. The least recently used file is closed and
 * reopened on demand.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/thread.h"
#include "core/io/source.h"

enum { MOST_DESCRIPTORS = 128, SHARE_OF_LIMIT = 4 };

struct pooled_source {
    struct nt_source source;
    struct nt_source_pool *pool;
    char *path;
    const char *name; /* within it */
    int descriptor;   /* -1: closed; this and all below is under the pool's lock */
    unsigned users;
    bool is_identified;
    struct nt_identity identity; /* does not change once it is there */
    struct pooled_source *newer, *older;
};

struct nt_source_pool {
    struct nt_pool_opener opener;
    struct nt_lock lock;
    size_t holders; /* the caller and the sources */
    size_t open, limit;
    struct pooled_source *newest, *oldest;
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
    pool->limit = MOST_DESCRIPTORS;
    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur / SHARE_OF_LIMIT < MOST_DESCRIPTORS)
        pool->limit = limit.rlim_cur / SHARE_OF_LIMIT;
    pool->holders = 1;
    return pool;
}

void nt_source_pool_free(struct nt_source_pool *pool)
{
    if (!pool)
        return;
    nt_lock_take(&pool->lock);
    bool is_last = --pool->holders == 0;
    nt_lock_give(&pool->lock);
    if (is_last) {
        nt_lock_deinit(&pool->lock);
        pool->opener.release(pool->opener.context);
        free(pool);
    }
}

size_t nt_source_pool_open(struct nt_source_pool *pool)
{
    nt_lock_take(&pool->lock);
    size_t open = pool->open;
    nt_lock_give(&pool->lock);
    return open;
}

static void list_remove(struct nt_source_pool *pool, struct pooled_source *file)
{
    *(file->newer ? &file->newer->older : &pool->newest) = file->older;
    *(file->older ? &file->older->newer : &pool->oldest) = file->newer;
    file->newer = file->older = NULL;
    pool->open--;
}

static void list_add_newest(struct nt_source_pool *pool, struct pooled_source *file)
{
    file->older = pool->newest;
    *(pool->newest ? &pool->newest->newer : &pool->oldest) = file;
    pool->newest = file;
    pool->open++;
}

/* The descriptor of the file that was not used for longest, taken from it; -1 where all are in use. */
static int take_oldest(struct nt_source_pool *pool)
{
    struct pooled_source *file = pool->oldest;
    while (file && file->users > 0)
        file = file->newer;
    if (!file)
        return -1;
    int descriptor = file->descriptor;
    file->descriptor = -1;
    list_remove(pool, file);
    return descriptor;
}

/* Open the file; where the process is out of descriptors, at the cost of another file of the pool. */
static enum nt_status open_descriptor(struct pooled_source *file, int *descriptor_ret,
                                      struct nt_identity *identity_ret, struct nt_error *error)
{
    for (;;) {
        struct nt_error failure = {0};
        enum nt_status status = file->pool->opener.open(file->pool->opener.context, file->name,
                                                        descriptor_ret, identity_ret, &failure);
        bool is_out_of_descriptors = failure.system_error == EMFILE || failure.system_error == ENFILE;
        int spare = -1;
        if (status && is_out_of_descriptors) {
            nt_lock_take(&file->pool->lock);
            spare = take_oldest(file->pool);
            nt_lock_give(&file->pool->lock);
        }
        if (spare < 0) {
            if (status && error)
                *error = failure;
            return status;
        }
        close(spare);
    }
}

/* Give the file the descriptor that was opened for it, unless another thread was faster; under the lock.
 * Returns the descriptor that is not needed, or -1. */
static int install(struct pooled_source *file, int descriptor)
{
    if (file->descriptor >= 0)
        return descriptor;
    file->descriptor = descriptor;
    list_add_newest(file->pool, file);
    return file->pool->open > file->pool->limit ? take_oldest(file->pool) : -1;
}

/* Called with users > 0 and without the lock. */
static enum nt_status open_again(struct pooled_source *file, struct nt_error *error)
{
    int descriptor, surplus;
    struct nt_identity identity;
    enum nt_status status = open_descriptor(file, &descriptor, &identity, error);
    if (status)
        return status;
    nt_lock_take(&file->pool->lock);
    if (!file->is_identified) {
        file->identity = identity;
        file->is_identified = true;
    }
    status = nt_identity_compare(file->path, &file->identity, &identity, error);
    surplus = status ? descriptor : install(file, descriptor);
    nt_lock_give(&file->pool->lock);
    if (surplus >= 0)
        close(surplus);
    return status;
}

static void pool_release(struct pooled_source *file)
{
    nt_lock_take(&file->pool->lock);
    file->users--;
    nt_lock_give(&file->pool->lock);
}

/* Make sure that the file is open, and stays so until pool_release. */
static enum nt_status pool_acquire(struct pooled_source *file, struct nt_error *error)
{
    struct nt_source_pool *pool = file->pool;
    nt_lock_take(&pool->lock);
    file->users++;
    bool was_opened_before = file->is_identified;
    bool is_open = file->descriptor >= 0;
    if (is_open) {
        list_remove(pool, file);
        list_add_newest(pool, file);
    }
    nt_lock_give(&pool->lock);
    enum nt_status status = is_open ? NT_OK : open_again(file, error);
    if (status)
        pool_release(file);
    if (status == NT_NOT_FOUND && was_opened_before)
        return nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "%s: is no longer there", file->path);
    return status;
}

static enum nt_status pooled_read_at(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                     struct nt_error *error)
{
    struct pooled_source *file = (struct pooled_source *)source;
    enum nt_status status = pool_acquire(file, error);
    if (status)
        return status;
    status = nt_descriptor_read(file->descriptor, file->path, &file->identity, offset, buffer, bytes, error);
    pool_release(file);
    return status;
}

static enum nt_status pooled_check(struct nt_source *source, struct nt_error *error)
{
    struct pooled_source *file = (struct pooled_source *)source;
    enum nt_status status = pool_acquire(file, error);
    if (status)
        return status;
    status = nt_descriptor_check(file->descriptor, file->path, &file->identity, error);
    pool_release(file);
    return status;
}

static enum nt_status pooled_stat(struct nt_source *source, struct stat *attributes, struct nt_error *error)
{
    struct pooled_source *file = (struct pooled_source *)source;
    enum nt_status status = pool_acquire(file, error);
    if (status)
        return status;
    status = nt_descriptor_stat(file->descriptor, file->path, attributes, error);
    pool_release(file);
    return status;
}

static enum nt_status pooled_size(struct nt_source *source, uint64_t *size_ret, struct nt_error *error)
{
    struct pooled_source *file = (struct pooled_source *)source;
    enum nt_status status = pool_acquire(file, error);
    if (status)
        return status;
    *size_ret = (uint64_t)file->identity.size;
    pool_release(file);
    return NT_OK;
}

static void pooled_close(struct nt_source *source)
{
    struct pooled_source *file = (struct pooled_source *)source;
    struct nt_source_pool *pool = file->pool;
    nt_lock_take(&pool->lock);
    int descriptor = file->descriptor;
    if (descriptor >= 0)
        list_remove(pool, file);
    nt_lock_give(&pool->lock);
    if (descriptor >= 0)
        close(descriptor);
    nt_source_pool_free(pool);
    free(file->path);
    free(file);
}

static const struct nt_source_ops pooled_ops = {.read_at = pooled_read_at,
                                                .check = pooled_check,
                                                .reads_check = true,
                                                .stat = pooled_stat,
                                                .size = pooled_size,
                                                .close = pooled_close};

enum nt_status nt_source_pool_add(struct nt_source_pool *pool, const char *path, size_t name_at,
                                  struct nt_source **source_ret, struct nt_error *error)
{
    struct pooled_source *file = calloc(1, sizeof(*file));
    char *path_copy = strdup(path);
    if (!file || !path_copy) {
        free(file);
        free(path_copy);
        return nt_fail_memory(error);
    }
    *file = (struct pooled_source){.source = {.ops = &pooled_ops, .size = NT_UNKNOWN_SIZE, .path = path_copy},
                                   .pool = pool,
                                   .name = path_copy + name_at,
                                   .path = path_copy,
                                   .descriptor = -1};
    nt_lock_take(&pool->lock);
    pool->holders++;
    nt_lock_give(&pool->lock);
    *source_ret = &file->source;
    return NT_OK;
}
