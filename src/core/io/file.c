/* SPDX-License-Identifier: MIT
 *
 * A regular file as a source that keeps its descriptor.
 */
#include "core/io/descriptor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/io/remote.h"

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
