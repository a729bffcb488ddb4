/* SPDX-License-Identifier: MIT
 *
 * What all folders share: questions that are answered by the implementation's functions.
 */
#include "io/folder.h"

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

bool nt_folder_has(struct nt_folder *folder, const char *name)
{
    struct stat attributes;
    return nt_folder_stat(folder, name, &attributes, NULL) != NT_NOT_FOUND;
}

bool nt_folder_has_folder(struct nt_folder *folder, const char *name)
{
    struct stat attributes;
    return nt_folder_stat(folder, name, &attributes, NULL) == NT_OK && S_ISDIR(attributes.st_mode);
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

void nt_folder_close(struct nt_folder *folder)
{
    if (folder)
        folder->ops->close(folder);
}
