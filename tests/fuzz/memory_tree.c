/* SPDX-License-Identifier: MIT
 *
 * Replaces the file system calls of src/vfs (tests/fuzz/meson.build names them) by the input. No call
 * reaches the kernel, so only the work of the tree takes time.
 */
#include "memory_tree.h"

#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"
#include "memory_folder.h"
#include "core/base/error.h"
#include "core/io/source.h"
#include "core/model/model.h"

char *__wrap_realpath(const char *path, char *resolved);
enum nt_status __wrap_nt_local_stat(const char *path, struct stat *attributes, struct nt_error *error);
enum nt_status __wrap_nt_is_dataset_path(const char *path, bool *is_dataset_ret, struct nt_error *error);
enum nt_status __wrap_nt_file_open(const char *path, const struct nt_open_options *options,
                                   struct nt_file **file_ret, struct nt_error *error);
enum nt_status __wrap_nt_find_version(const char *path, const struct nt_open_options *options,
                                      struct nt_dataset_version *version_ret, struct nt_error *error);

enum { LONG_AGO = 1000000000 };

static struct memory_tree_input input;

void memory_tree_set(const struct memory_tree_input *requested)
{
    input = *requested;
}

char *__wrap_realpath(const char *path, char *resolved)
{
    (void)resolved;
    return strdup(path);
}

enum nt_status __wrap_nt_local_stat(const char *path, struct stat *attributes, struct nt_error *error)
{
    bool is_input = strcmp(path, MEMORY_TREE_PATH) == 0;
    if (!is_input && strncmp(path, MEMORY_TREE_PATH "/", strlen(MEMORY_TREE_PATH "/")) != 0)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s: no such file", path);
    *attributes = (struct stat){.st_mode = is_input && input.is_folder ? S_IFDIR | 0755 : S_IFREG | 0644,
                                .st_ino = 1,
                                .st_size = (off_t)input.count,
                                .st_mtim = {.tv_sec = LONG_AGO}};
    return NT_OK;
}

static enum nt_status stat_input(struct nt_source *source, struct stat *attributes, struct nt_error *error)
{
    (void)source;
    return __wrap_nt_local_stat(MEMORY_TREE_PATH, attributes, error);
}

/* A source in memory, with the attributes of a file. */
static enum nt_status open_input(struct nt_source **source_ret, struct nt_error *error)
{
    static struct nt_source_ops with_attributes;
    enum nt_status status = input.is_folder
                                ? memory_folder_open(input.bytes, input.count, source_ret, error)
                                : nt_source_open_memory(input.bytes, input.count, "input", source_ret, error);
    if (status != NT_OK)
        return status;
    with_attributes = *(*source_ret)->ops;
    with_attributes.stat = stat_input;
    (*source_ret)->ops = &with_attributes;
    return NT_OK;
}

enum nt_status __wrap_nt_is_dataset_path(const char *path, bool *is_dataset_ret, struct nt_error *error)
{
    struct nt_source *source;
    (void)path;
    enum nt_status status = open_input(&source, error);
    if (status != NT_OK)
        return status;
    status = nt_is_dataset_folder(source->folder, is_dataset_ret, error);
    nt_source_close(source);
    return status;
}

enum nt_status __wrap_nt_file_open(const char *path, const struct nt_open_options *options,
                                   struct nt_file **file_ret, struct nt_error *error)
{
    struct nt_source *source;
    (void)path;
    enum nt_status status = open_input(&source, error);
    return status == NT_OK ? nt_file_take_source(source, options, file_ret, error) : status;
}

/* By the format of the folder, like nt_find_version. */
enum nt_status __wrap_nt_find_version(const char *path, const struct nt_open_options *options,
                                      struct nt_dataset_version *version_ret, struct nt_error *error)
{
    struct nt_source *source;
    bool is_taken = false;
    (void)path;
    *version_ret = (struct nt_dataset_version){.number = 0};
    if (!input.is_folder)
        return NT_OK;
    enum nt_status status = memory_folder_open(input.bytes, input.count, &source, error);
    if (status != NT_OK)
        return status;
    status = nt_format_lance.takes_folder(source->folder, &is_taken, error);
    if (status == NT_OK && is_taken)
        status = nt_format_lance.find_version(source->folder, options->version, version_ret, error);
    nt_source_close(source);
    return status;
}
