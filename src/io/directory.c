/* SPDX-License-Identifier: MIT
 *
 * A directory as a source: no bytes, but owner, times and mode. What lies in it may change; it may not be
 * replaced by another directory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ntuple/source.h>

struct directory_source {
    struct nt_source source;
    dev_t device;
    ino_t inode;
    char *path;
};

static enum nt_status directory_read_at(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                        struct nt_error *error)
{
    (void)buffer, (void)bytes;
    return nt_fail(error, NT_TRUNCATED, offset, "%s: a directory has no bytes", source->path);
}

static enum nt_status directory_stat(struct nt_source *source, struct stat *attributes,
                                     struct nt_error *error)
{
    if (stat(source->path, attributes))
        return nt_fail_system(error, errno, "%s", source->path);
    if (!S_ISDIR(attributes->st_mode))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: not a directory", source->path);
    return NT_OK;
}

static enum nt_status directory_check(struct nt_source *source, struct nt_error *error)
{
    struct directory_source *directory = (struct directory_source *)source;
    struct stat attributes;
    if (stat(source->path, &attributes))
        return errno == ENOENT || errno == ENOTDIR
                   ? nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "%s: is no longer there", source->path)
                   : nt_fail_system(error, errno, "%s", source->path);
    if (attributes.st_dev != directory->device || attributes.st_ino != directory->inode)
        return nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "%s: was replaced", source->path);
    return NT_OK;
}

static void directory_close(struct nt_source *source)
{
    free(((struct directory_source *)source)->path);
    free(source);
}

static const struct nt_source_ops directory_ops = {
    .read_at = directory_read_at, .check = directory_check, .stat = directory_stat, .close = directory_close};

enum nt_status nt_source_open_directory(const char *path, struct nt_source **source_ret,
                                        struct nt_error *error)
{
    struct directory_source *directory = calloc(1, sizeof(*directory));
    char *path_copy = strdup(path);
    if (!directory || !path_copy) {
        free(directory);
        free(path_copy);
        return nt_fail_memory(error);
    }
    directory->path = path_copy;
    directory->source = (struct nt_source){.ops = &directory_ops, .size = 0, .path = path_copy};
    struct stat attributes;
    enum nt_status status = directory_stat(&directory->source, &attributes, error);
    if (status) {
        directory_close(&directory->source);
        return status;
    }
    directory->device = attributes.st_dev;
    directory->inode = attributes.st_ino;
    *source_ret = &directory->source;
    return NT_OK;
}
