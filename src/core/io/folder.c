/* SPDX-License-Identifier: MIT
 *
 * What all folders share: questions that are answered by the implementation's functions.
 */
#include "core/io/folder.h"

#include <string.h>

#include "core/base/error.h"

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

enum nt_status nt_folder_has(struct nt_folder *folder, const char *name, bool *has_ret,
                             struct nt_error *error)
{
    struct stat attributes;
    struct nt_error failure = {0};
    enum nt_status status = nt_folder_stat(folder, name, &attributes, &failure);
    *has_ret = status != NT_NOT_FOUND;
    return nt_is_refused_for_now(status, &failure) ? nt_fail_with(error, &failure) : NT_OK;
}

enum nt_status nt_folder_has_folder(struct nt_folder *folder, const char *name, bool *has_ret,
                                    struct nt_error *error)
{
    struct stat attributes;
    struct nt_error failure = {0};
    enum nt_status status = nt_folder_stat(folder, name, &attributes, &failure);
    *has_ret = status == NT_OK && S_ISDIR(attributes.st_mode);
    return nt_is_refused_for_now(status, &failure) ? nt_fail_with(error, &failure) : NT_OK;
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

enum nt_status nt_folder_open_beside(struct nt_folder *folder, const char *path,
                                     struct nt_folder **beside_ret, struct nt_error *error)
{
    return folder->ops->open_beside(folder, path, beside_ret, error);
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

void nt_folder_hold(struct nt_folder *folder)
{
    atomic_fetch_add(&folder->more_holders, 1);
}

void nt_folder_close(struct nt_folder *folder)
{
    if (folder && atomic_fetch_sub(&folder->more_holders, 1) == 0)
        folder->ops->close(folder);
}
