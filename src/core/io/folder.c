/* SPDX-License-Identifier: MIT
 *
 * Common part of all directories: dispatch to the implementation, reference counts, name checks, and the
 * directory as a source without bytes.
 */
#include "core/io/folder.h"

#include "core/io/source.h"

/* ---- Dispatch ---- */

enum nt_status nt_folder_list(struct nt_folder *folder, const char *name, nt_folder_visit *visit,
                              void *context, struct nt_error *error)
{
    return folder->ops->list(folder, name, visit, context, error);
}

enum nt_status nt_folder_stat(struct nt_folder *folder, const char *name, struct stat *attributes,
                              struct nt_error *error)
{
    return folder->ops->stat(folder, name, attributes, error);
}

enum nt_status nt_folder_probe(struct nt_folder *folder, const char *name, struct nt_file_probe *probe,
                               struct nt_error *error)
{
    return folder->ops->probe ? folder->ops->probe(folder, name, probe, error)
                              : nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "%s is not local", folder->path);
}

enum nt_status nt_folder_has(struct nt_folder *folder, const char *name, bool *has_ret,
                             struct nt_error *error)
{
    struct stat attributes;
    struct nt_error failure = {0};
    enum nt_status status = nt_folder_stat(folder, name, &attributes, &failure);
    *has_ret = status != NT_NOT_FOUND;
    return nt_is_retryable(status, &failure) ? nt_fail_copy(error, &failure) : NT_OK;
}

enum nt_status nt_folder_has_folder(struct nt_folder *folder, const char *name, bool *has_ret,
                                    struct nt_error *error)
{
    struct stat attributes;
    struct nt_error failure = {0};
    enum nt_status status = nt_folder_stat(folder, name, &attributes, &failure);
    *has_ret = status == NT_OK && S_ISDIR(attributes.st_mode);
    return nt_is_retryable(status, &failure) ? nt_fail_copy(error, &failure) : NT_OK;
}

bool nt_folder_is_name_below(struct nt_text name)
{
    for (size_t at = 0;; at++) {
        const char *part = name.bytes + at, *end = memchr(part, '/', name.length - at);
        size_t bytes = end ? (size_t)(end - part) : name.length - at;
        bool is_way = (bytes == 1 && part[0] == '.') || (bytes == 2 && part[0] == '.' && part[1] == '.');
        if (bytes == 0 || is_way || memchr(part, '\0', bytes))
            return false;
        at += bytes;
        if (at == name.length)
            return true;
    }
}

bool nt_folder_name_below(struct nt_text path, const char *directory, struct nt_text *name_ret)
{
    size_t length = strlen(directory);
    while (length && directory[length - 1] == '/')
        length--;
    if (path.length < length || memcmp(path.bytes, directory, length) ||
        (path.length > length && path.bytes[length] != '/'))
        return false;
    size_t skipped = path.length > length ? length + 1 : length;
    *name_ret = (struct nt_text){path.bytes + skipped, path.length - skipped};
    return !name_ret->length || nt_folder_is_name_below(*name_ret);
}

enum nt_status nt_folder_open_file(struct nt_folder *folder, const char *name, struct nt_source **source_ret,
                                   struct nt_error *error)
{
    return folder->ops->open(folder, name, source_ret, error);
}

enum nt_status nt_folder_open_file_lazily(struct nt_folder *folder, const char *name,
                                          struct nt_source **source_ret, struct nt_error *error)
{
    return folder->ops->open_lazily(folder, name, source_ret, error);
}

enum nt_status nt_folder_open_sibling(struct nt_folder *folder, const char *path,
                                      struct nt_folder **sibling_ret, struct nt_error *error)
{
    return folder->ops->open_sibling(folder, path, sibling_ret, error);
}

enum nt_status nt_folder_open_below(struct nt_folder *folder, const char *name, struct nt_folder **below_ret,
                                    struct nt_error *error)
{
    return folder->ops->open_below(folder, name, below_ret, error);
}

enum nt_status nt_folder_refresh(struct nt_folder *folder, const char *name, uint64_t *list_ret,
                                 struct nt_error *error)
{
    uint64_t list = 0;
    enum nt_status status = folder->ops->refresh ? folder->ops->refresh(folder, name, &list, error) : NT_OK;
    if (list_ret)
        *list_ret = list;
    return status;
}

size_t nt_folder_descriptors(struct nt_folder *folder)
{
    return folder->ops->descriptors ? folder->ops->descriptors(folder) : 0;
}

void nt_folder_ref(struct nt_folder *folder)
{
    atomic_fetch_add(&folder->extra_references, 1);
}

void nt_folder_close(struct nt_folder *folder)
{
    if (folder && atomic_fetch_sub(&folder->extra_references, 1) == 0)
        folder->ops->close(folder);
}

/* ---- Directory as a source ---- */

static enum nt_status read_nothing(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                   struct nt_error *error)
{
    return nt_fail(error, NT_TRUNCATED, offset, "%s: a directory has no bytes", source->path);
}

static enum nt_status check_folder(struct nt_source *source, struct nt_error *error)
{
    const struct nt_folder *folder = source->folder;
    return folder->ops->check ? folder->ops->check(source->folder, error) : NT_OK;
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
    NT_TRY(nt_check_memory(source, error));
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
