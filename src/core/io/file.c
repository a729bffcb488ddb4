/* SPDX-License-Identifier: MIT
 *
 * Regular files as sources, read by pread. Each read checks that the file is still the one that was opened
 * (device, inode, size, mtime).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/io/address.h"
#include "core/io/source.h"

/* ---- Identity and reads ---- */

#define UNCHANGED (-1)

static struct nt_identity nt_identity_of(const struct stat *attributes)
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

enum nt_status nt_identity_compare(const char *path, struct nt_identity *expected,
                                   const struct nt_identity *found, struct nt_error *error)
{
    long long size = atomic_load_explicit(&expected->changed_size, memory_order_relaxed);
    if (size == UNCHANGED) {
        if (is_same(expected, found))
            return NT_OK;
        /* The first of many threads decides what all of them say. */
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
    enum nt_status status = nt_descriptor_stat(descriptor, path, &attributes, error);
    if (!status && !S_ISREG(attributes.st_mode))
        status = nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: not a regular file", path);
    if (!status)
        *identity_ret = nt_identity_of(&attributes);
    return status;
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
    return nt_fail(
        error, NT_INVALID, NT_NO_OFFSET,
        "%s: expected to be owned by user %u or root and writable by its owner alone, found owner %u "
        "and mode %04o",
        path, (unsigned)geteuid(), (unsigned)owner, mode);
}

enum nt_status nt_descriptor_check(int descriptor, const char *path, struct nt_identity *identity,
                                   struct nt_error *error)
{
    struct stat attributes;
    enum nt_status status = nt_descriptor_stat(descriptor, path, &attributes, error);
    if (status)
        return status;
    struct nt_identity found = nt_identity_of(&attributes);
    return nt_identity_compare(path, identity, &found, error);
}

static enum nt_status ended_early(int descriptor, const char *path, struct nt_identity *identity,
                                  uint64_t offset, size_t missing, struct nt_error *error)
{
    enum nt_status status = nt_descriptor_check(descriptor, path, identity, error);
    return status
               ? status
               : nt_fail(error, NT_TRUNCATED, offset, "%s: the file ends %zu bytes too early", path, missing);
}

enum nt_status nt_descriptor_read(int descriptor, const char *path, struct nt_identity *identity,
                                  uint64_t offset, void *buffer, size_t bytes, struct nt_error *error)
{
    if (offset > INT64_MAX || bytes > INT64_MAX - offset)
        return nt_fail(error, NT_TRUNCATED, offset, "%s: no file is that long", path);
    uint8_t *output = buffer;
    while (bytes > 0) {
        ssize_t count = pread(descriptor, output, bytes, (off_t)offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return nt_fail_system(error, errno, "%s: reading %zu bytes at byte %" PRIu64, path, bytes,
                                  offset);
        if (count == 0)
            return ended_early(descriptor, path, identity, offset, bytes, error);
        output += count;
        offset += (uint64_t)count;
        bytes -= (size_t)count;
    }
    return nt_descriptor_check(descriptor, path, identity, error);
}

/* ---- File source ---- */

struct file_source {
    struct nt_source source;
    struct nt_identity identity;
    int descriptor;
    char *path;
};

static enum nt_status file_read_at(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                   struct nt_error *error)
{
    struct file_source *file = (struct file_source *)source;
    return nt_descriptor_read(file->descriptor, file->path, &file->identity, offset, buffer, bytes, error);
}

static enum nt_status file_check(struct nt_source *source, struct nt_error *error)
{
    struct file_source *file = (struct file_source *)source;
    return nt_descriptor_check(file->descriptor, file->path, &file->identity, error);
}

static enum nt_status file_stat(struct nt_source *source, struct stat *attributes, struct nt_error *error)
{
    struct file_source *file = (struct file_source *)source;
    return nt_descriptor_stat(file->descriptor, file->path, attributes, error);
}

static uint64_t file_skip_hole(struct nt_source *source, uint64_t offset)
{
    off_t data = lseek(((struct file_source *)source)->descriptor, (off_t)offset, SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? source->size : offset;
    return (uint64_t)data;
}

static void file_close(struct nt_source *source)
{
    struct file_source *file = (struct file_source *)source;
    close(file->descriptor);
    free(file->path);
    free(file);
}

static const struct nt_source_ops file_ops = {.read_at = file_read_at,
                                              .check = file_check,
                                              .reads_check = true,
                                              .stat = file_stat,
                                              .skip_hole = file_skip_hole,
                                              .close = file_close};

enum nt_status nt_source_of_descriptor(int descriptor, const char *path, const struct nt_identity *identity,
                                       struct nt_source **source_ret, struct nt_error *error)
{
    struct file_source *file = calloc(1, sizeof(*file));
    char *path_copy = strdup(path);
    if (!file || !path_copy) {
        free(file);
        free(path_copy);
        close(descriptor);
        return nt_fail_memory(error);
    }
    file->descriptor = descriptor;
    file->identity = *identity;
    file->path = path_copy;
    file->source = (struct nt_source){.ops = &file_ops, .size = (uint64_t)identity->size, .path = path_copy};
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
