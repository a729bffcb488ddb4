/* SPDX-License-Identifier: MIT
 *
 * Files by name. The part of a name before a slash is a directory.
 */
#include "memory_folder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/io/folder.h"
#include "core/io/source.h"
#include <ntuple/source.h>

enum { MAX_FILES = 64 };

struct memory_folder {
    struct nt_folder folder;
    struct nt_source source;
    size_t count;
    struct memory_file files[MAX_FILES];
};

static struct memory_folder *folder_of(struct nt_folder *folder)
{
    return (struct memory_folder *)folder;
}

static const struct memory_file *find_file(struct nt_folder *folder, const char *name)
{
    struct memory_folder *memory = folder_of(folder);
    for (size_t i = 0; i < memory->count; i++)
        if (strcmp(memory->files[i].name, name) == 0)
            return &memory->files[i];
    return NULL;
}

/* The name of a file within a directory; NULL: it is not in the directory. */
static const char *name_within(const struct memory_file *file, const char *folder)
{
    size_t length = strlen(folder);
    if (!length)
        return file->name;
    return strncmp(file->name, folder, length) == 0 && file->name[length] == '/' ? file->name + length + 1
                                                                                 : NULL;
}

static enum nt_status fail_missing(const char *name, struct nt_error *error)
{
    return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s: no such file", name);
}

/* ---- what a directory does ---- */

/* Is an earlier file in the same subdirectory, whose name has so many bytes? */
static bool is_listed(const struct memory_folder *memory, size_t before, const char *folder,
                      const char *within, size_t length)
{
    for (size_t i = 0; i < before; i++) {
        const char *other = name_within(&memory->files[i], folder);
        if (other && strncmp(other, within, length + 1) == 0)
            return true;
    }
    return false;
}

static enum nt_status visit_folder(const struct memory_folder *memory, size_t file, const char *folder,
                                   nt_folder_visit *visit, void *context, struct nt_error *error)
{
    const char *within = name_within(&memory->files[file], folder);
    char name[sizeof(memory->files[file].name)] = "";
    size_t length = strcspn(within, "/");
    if (!length || is_listed(memory, file, folder, within, length))
        return NT_OK;
    memcpy(name, within, length);
    return visit(context, &(struct nt_folder_entry){name, NT_ENTRY_FOLDER}, error);
}

static enum nt_status list(struct nt_folder *folder, const char *name, nt_folder_visit *visit, void *context,
                           struct nt_error *error)
{
    struct memory_folder *memory = folder_of(folder);
    enum nt_status status = NT_OK;
    for (size_t i = 0; status == NT_OK && i < memory->count; i++) {
        const char *within = name_within(&memory->files[i], name);
        if (within && strchr(within, '/'))
            status = visit_folder(memory, i, name, visit, context, error);
        else if (within && *within)
            status = visit(context, &(struct nt_folder_entry){within, NT_ENTRY_FILE}, error);
    }
    return status;
}

static enum nt_status stat_name(struct nt_folder *folder, const char *name, struct stat *attributes,
                                struct nt_error *error)
{
    struct memory_folder *memory = folder_of(folder);
    bool is_folder = false;
    for (size_t i = 0; i < memory->count; i++)
        is_folder |= name_within(&memory->files[i], name) != NULL;
    if (!is_folder && !find_file(folder, name))
        return fail_missing(name, error);
    uint64_t number = UINT64_C(0xcbf29ce484222325); /* FNV-1a of the name: one for each */
    for (const char *at = name; *at; at++)
        number = (number ^ (uint8_t)*at) * UINT64_C(0x100000001b3);
    *attributes = (struct stat){.st_mode = is_folder ? S_IFDIR | 0755 : S_IFREG | 0644, .st_ino = number};
    return NT_OK;
}

static enum nt_status open_file(struct nt_folder *folder, const char *name, struct nt_source **source_ret,
                                struct nt_error *error)
{
    const struct memory_file *file = find_file(folder, name);
    return file ? nt_source_open_memory(file->bytes, file->count, name, source_ret, error)
                : fail_missing(name, error);
}

static enum nt_status open_sibling(struct nt_folder *folder, const char *path, struct nt_folder **sibling_ret,
                                   struct nt_error *error)
{
    return fail_missing(path, error);
}

static enum nt_status check(struct nt_folder *folder, struct nt_error *error)
{
    return NT_OK;
}

static enum nt_status show(struct nt_folder *folder, struct stat *attributes, struct nt_error *error)
{
    return stat_name(folder, "", attributes, error);
}

static void close_folder(struct nt_folder *folder)
{
    free(folder);
}

/* ---- a file that is missed when it is used ---- */

static enum nt_status miss(struct nt_source *source, uint64_t *size_ret, struct nt_error *error)
{
    *size_ret = 0;
    return fail_missing(source->path, error);
}

static enum nt_status read_missing(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                   struct nt_error *error)
{
    return fail_missing(source->path, error);
}

static void close_missing(struct nt_source *source)
{
    free(source);
}

static enum nt_status open_lazily(struct nt_folder *folder, const char *name, struct nt_source **source_ret,
                                  struct nt_error *error)
{
    static const struct nt_source_ops missing_ops = {
        .read_at = read_missing, .size = miss, .close = close_missing};
    if (find_file(folder, name))
        return open_file(folder, name, source_ret, error);
    struct nt_source *source = calloc(1, sizeof(*source));
    if (!source)
        return nt_fail_memory(error);
    *source = (struct nt_source){.ops = &missing_ops, .size = NT_UNKNOWN_SIZE, .path = "missing"};
    *source_ret = source;
    return NT_OK;
}

/* ---- all ---- */

static enum nt_status read_nothing(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                   struct nt_error *error)
{
    return nt_fail(error, NT_TRUNCATED, offset, "%s: a directory", source->path);
}

static void close_source(struct nt_source *source)
{
    nt_folder_close(source->folder);
}

static const struct nt_folder_ops folder_ops = {.list = list,
                                                .stat = stat_name,
                                                .open = open_file,
                                                .open_lazily = open_lazily,
                                                .open_sibling = open_sibling,
                                                .check = check,
                                                .show = show,
                                                .close = close_folder};
static const struct nt_source_ops source_ops = {.read_at = read_nothing, .close = close_source};

bool memory_file_next(const uint8_t **bytes, size_t *count, struct memory_file *file_ret)
{
    if (!*count)
        return false;
    const uint8_t *at = *bytes, *end = at + *count;
    *file_ret = (struct memory_file){.count = 0};
    size_t name = at[0] < *count - 1 ? at[0] : *count - 1;
    memcpy(file_ret->name, at + 1, name);
    at += 1 + name;
    size_t left = (size_t)(end - at), requested = left < 4 ? 0 : nt_load_le32(at);
    at += left < 4 ? left : 4;
    left = (size_t)(end - at);
    file_ret->bytes = at;
    file_ret->count = requested < left ? requested : left;
    *bytes = at + file_ret->count;
    *count = left - file_ret->count;
    return true;
}

enum nt_status memory_folder_open(const uint8_t *bytes, size_t count, struct nt_source **source_ret,
                                  struct nt_error *error)
{
    struct memory_folder *memory = calloc(1, sizeof(*memory));
    if (!memory)
        return nt_fail_memory(error);
    while (memory->count < MAX_FILES && memory_file_next(&bytes, &count, &memory->files[memory->count]))
        memory->count++;
    memory->folder = (struct nt_folder){.ops = &folder_ops, .path = "input"};
    memory->source = (struct nt_source){.ops = &source_ops, .path = "input", .folder = &memory->folder};
    *source_ret = &memory->source;
    return NT_OK;
}
