/* SPDX-License-Identifier: MIT
 *
 * In: the source of a copy, and paths that it is about to write. Out: whether they are the source itself. Paths are
 * compared where links lead, files by device and inode.
 */
#include "cli/source_guard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buffer.h"
#include "core/base/text.h"
#include "cli/choices.h"
#include "vfs/pseudo.h"

/* ---- folders ---- */

static enum nt_status add_folder(struct nt_source_guard *guard, const char *path, struct nt_error *error)
{
    char *resolved = realpath(path, NULL);
    if (resolved)
        guard->folders[guard->folder_count++] = resolved;
    else if (errno == ENOMEM)
        return nt_fail_memory(error);
    return NT_OK;
}

/* Of what is copied: the path of its data set or mirrored folder. What lies in one file of a mirrored folder may be copied
 * beside it. */
static enum nt_status add_place(struct nt_source_guard *guard, uint64_t node, struct nt_error *error)
{
    struct nt_scope scope;
    enum nt_status status = nt_scope_open(guard->vfs, node, &scope, error);
    if (status != NT_OK)
        return status;
    const char *path = nt_places_path(guard->vfs->places, scope.place);
    bool is_copied = scope.file || nt_scope_is_directory(&scope);
    if (path && is_copied && nt_is_directory(path))
        status = add_folder(guard, path, error);
    nt_scope_close(&scope);
    return status;
}

enum nt_status nt_source_guard_init(struct nt_source_guard *guard, const struct nt_invocation *invocation,
                                    struct nt_vfs *vfs, uint64_t node, struct nt_error *error)
{
    const struct nt_chain_list *chain = invocation->chains[0];
    *guard = (struct nt_source_guard){
        .settings = invocation->settings, .vfs = vfs, .source = invocation->operands[0], .chain = chain};
    guard->folders = calloc(chain ? chain->count : 1, sizeof(*guard->folders));
    if (!guard->folders)
        return nt_fail_memory(error);
    guard->resolved_source = chain ? NULL : realpath(guard->source, NULL);
    if (!chain && !guard->resolved_source && errno == ENOMEM)
        return nt_fail_memory(error);
    enum nt_status status = chain ? NT_OK : add_place(guard, node, error);
    for (uint32_t i = 0; chain && i < chain->count && status == NT_OK; i++)
        if (S_ISDIR(chain->files[i].identity.st_mode))
            status = add_folder(guard, chain->files[i].path, error);
    return status;
}

void nt_source_guard_deinit(struct nt_source_guard *guard)
{
    for (size_t i = 0; i < guard->folder_count; i++)
        free(guard->folders[i]);
    free(guard->folders);
    free(guard->resolved_source);
}

/* ---- files ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_at(const char *path, const struct stat *file)
{
    struct stat attributes;
    return stat(path, &attributes) == 0 && is_same(&attributes, file);
}

/* The source, or the list that names it; files of a chain; what chooses entries. */
static bool is_read(const struct nt_source_guard *guard, const struct stat *file)
{
    const char *const *select = guard->settings->select;
    const struct nt_chain_list *chain = guard->chain;
    bool is_found = is_at(guard->source, file);
    for (uint32_t i = 0; chain && i < chain->count && !is_found; i++)
        is_found = chain->files[i].identity.st_ino && is_same(&chain->files[i].identity, file);
    for (; select && *select && !is_found; select++)
        is_found = is_at(nt_select_path(*select), file);
    return is_found;
}

/* Whether a path leads to a file or data set of the tree, or into one. */
static bool is_in_tree(struct nt_vfs *vfs, char *path)
{
    for (char *slash = path; slash;) {
        struct nt_scope scope;
        uint64_t node;
        slash = strchr(slash, '/');
        if (slash)
            *slash = '\0';
        enum nt_status status = nt_vfs_resolve(vfs, path, &node, NULL);
        if (status == NT_OK)
            status = nt_scope_open(vfs, node, &scope, NULL);
        if (status != NT_OK)
            return status != NT_NOT_FOUND;
        bool is_folder = scope.place_kind == NT_PLACE_FOLDER;
        nt_scope_close(&scope);
        if (!is_folder)
            return true;
        if (slash)
            *slash++ = '/';
    }
    return false;
}

/* Whether it is one of the files that the source, a folder, mirrors. */
static bool is_mirrored(const struct nt_source_guard *guard, char *resolved)
{
    const char *folder = guard->resolved_source;
    if (!folder || !nt_path_is_within(resolved, folder))
        return false;
    size_t length = strlen(folder);
    return resolved[length] && is_in_tree(guard->vfs, resolved + length + (resolved[length] == '/'));
}

/* ---- both ---- */

/* Where a path leads, or the folder that it would be made in; NULL: nowhere, or no memory. */
static char *resolve(const char *path)
{
    char *resolved = realpath(path, NULL);
    if (resolved || errno != ENOENT)
        return resolved;
    size_t length = (size_t)(nt_path_name(path).bytes - path);
    struct nt_buffer folder = {0};
    nt_buffer_append(&folder, length ? path : ".", length ? length : 1);
    resolved = folder.failed ? NULL : realpath(folder.bytes, NULL);
    nt_buffer_deinit(&folder);
    return resolved;
}

enum nt_status nt_source_guard_check(const struct nt_source_guard *guard, const char *path,
                                     struct nt_error *error)
{
    struct stat attributes;
    enum nt_status status = NT_OK;
    char *resolved = resolve(path);
    if (!resolved)
        return errno == ENOMEM ? nt_fail_memory(error) : NT_OK; /* who writes there finds out why not */
    for (size_t i = 0; i < guard->folder_count && status == NT_OK; i++)
        if (nt_path_is_within(resolved, guard->folders[i]))
            status = nt_fail(error, NT_INVALID, NT_NO_OFFSET, "is the source itself, %s, or lies in it",
                             guard->folders[i]);
    bool is_file = status == NT_OK && stat(path, &attributes) == 0 && !S_ISDIR(attributes.st_mode);
    if (is_file && (is_read(guard, &attributes) || is_mirrored(guard, resolved)))
        status = nt_fail(error, NT_INVALID, NT_NO_OFFSET, "is the source itself, %s", guard->source);
    free(resolved);
    return status;
}
