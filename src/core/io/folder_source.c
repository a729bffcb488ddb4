/* SPDX-License-Identifier: MIT
 *
 * A folder as a source: no bytes, but owner, times and mode. What lies in it may change; it may not be
 * replaced by another folder.
 */
#include "core/io/folder.h"

#include <stdlib.h>

static enum nt_status read_nothing(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                   struct nt_error *error)
{
    (void)buffer, (void)bytes;
    return nt_fail(error, NT_TRUNCATED, offset, "%s: a directory has no bytes", source->path);
}

static enum nt_status check_folder(struct nt_source *source, struct nt_error *error)
{
    return source->folder->ops->check(source->folder, error);
}

static enum nt_status show_folder(struct nt_source *source, struct stat *attributes, struct nt_error *error)
{
    return source->folder->ops->show(source->folder, attributes, error);
}

static void close_folder(struct nt_source *source)
{
    nt_folder_close(source->folder);
    free(source);
}

static const struct nt_source_ops folder_source_ops = {
    .read_at = read_nothing, .check = check_folder, .stat = show_folder, .close = close_folder};

enum nt_status nt_source_of_folder(struct nt_folder *folder, struct nt_source **source_ret,
                                   struct nt_error *error)
{
    struct nt_source *source = calloc(1, sizeof(*source));
    if (!source)
        return nt_fail_memory(error);
    *source = (struct nt_source){.ops = &folder_source_ops, .path = folder->path, .folder = folder};
    *source_ret = source;
    return NT_OK;
}

enum nt_status nt_source_open_folder(const char *path, enum nt_folder_use use, struct nt_source **source_ret,
                                     struct nt_error *error)
{
    struct nt_folder *folder;
    enum nt_status status = nt_folder_open(path, use, &folder, error);
    if (status == NT_OK && (status = nt_source_of_folder(folder, source_ret, error)) != NT_OK)
        nt_folder_close(folder);
    return status;
}
