/* SPDX-License-Identifier: MIT
 *
 * Keeps commands that write from overwriting what they read: the source, its directories, the files of a
 * chain, and selections.
 */
#include "cli/cli.h"

#include <errno.h>

static enum nt_status add_folder(struct nt_overwrite_guard *guard, const char *path, struct nt_error *error)
{
    char *resolved = realpath(path, NULL);
    if (resolved)
        guard->folders[guard->folder_count++] = resolved;
    else if (errno == ENOMEM)
        return nt_fail_memory(error);
    return NT_OK;
}

/* Adds the path of a copied node's dataset or passthrough directory. The content of one file in a
 * passthrough directory may be copied next to the file. */
static enum nt_status add_copied_folder(struct nt_overwrite_guard *guard, uint64_t node,
                                        struct nt_error *error)
{
    NT_CLEANUP(nt_node_release) struct nt_resolved_node resolved = {0};
    NT_TRY(nt_node_resolve(guard->vfs, node, &resolved, error));
    const char *path = nt_inodes_get(guard->vfs->inodes, resolved.inode)->path;
    bool is_copied = resolved.file || nt_node_is_directory(&resolved);
    return path && is_copied && nt_is_directory(path) ? add_folder(guard, path, error) : NT_OK;
}

enum nt_status nt_overwrite_guard_init(struct nt_overwrite_guard *guard,
                                       const struct nt_invocation *invocation, struct nt_vfs *vfs,
                                       uint64_t node, struct nt_error *error)
{
    const struct nt_chain_list *chain = invocation->chains[0];
    *guard = (struct nt_overwrite_guard){
        .settings = invocation->settings, .vfs = vfs, .source = invocation->operands[0], .chain = chain};
    guard->folders = calloc(chain ? chain->count : 1, sizeof(*guard->folders));
    NT_TRY(nt_check_memory(guard->folders, error));
    guard->resolved_source = chain ? NULL : realpath(guard->source, NULL);
    if (!chain && !guard->resolved_source && errno == ENOMEM)
        return nt_fail_memory(error);
    NT_TRY(chain ? NT_OK : add_copied_folder(guard, node, error));
    for (uint32_t i = 0; chain && i < chain->count; i++)
        if (S_ISDIR(chain->files[i].identity.st_mode))
            NT_TRY(add_folder(guard, chain->files[i].path, error));
    return NT_OK;
}

void nt_overwrite_guard_deinit(struct nt_overwrite_guard *guard)
{
    for (size_t i = 0; i < guard->folder_count; i++)
        free(guard->folders[i]);
    free(guard->folders);
    free(guard->resolved_source);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_at(const char *path, const struct stat *file)
{
    struct stat attributes;
    return stat(path, &attributes) == 0 && is_same(&attributes, file);
}

/* Is the file the source, its list, a file of the chain, or a selection? */
static bool is_read(const struct nt_overwrite_guard *guard, const struct stat *file)
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

/* Is the path that of a file or dataset in the tree, or below one? */
static bool is_in_tree(struct nt_vfs *vfs, char *path)
{
    for (char *slash = path; slash;) {
        struct nt_resolved_node resolved;
        uint64_t node;
        slash = strchr(slash, '/');
        if (slash)
            *slash = '\0';
        enum nt_status status = nt_vfs_resolve(vfs, path, &node, NULL);
        if (status == NT_OK)
            status = nt_node_resolve(vfs, node, &resolved, NULL);
        if (status != NT_OK)
            return status != NT_NOT_FOUND;
        bool is_folder = resolved.inode_kind == NT_INODE_PASSTHROUGH;
        nt_node_release(&resolved);
        if (!is_folder)
            return true;
        if (slash)
            *slash++ = '/';
    }
    return false;
}

/* Is it one of the files that the source, a directory, shows? */
static bool is_shown(const struct nt_overwrite_guard *guard, char *resolved)
{
    const char *folder = guard->resolved_source;
    if (!folder || !nt_path_is_within(resolved, folder))
        return false;
    size_t length = strlen(folder);
    return resolved[length] && is_in_tree(guard->vfs, resolved + length + (resolved[length] == '/'));
}

/* The real path, or that of the parent directory if it does not exist; NULL: neither, or out of memory. */
static char *resolve(const char *path)
{
    char *resolved = realpath(path, NULL);
    if (resolved || errno != ENOENT)
        return resolved;
    size_t length = (size_t)(nt_path_name(path).bytes - path);
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer folder = {0};
    nt_buffer_append(&folder, length ? path : ".", length ? length : 1);
    return folder.failed ? NULL : realpath(folder.bytes, NULL);
}

enum nt_status nt_overwrite_guard_check(const struct nt_overwrite_guard *guard, const char *path,
                                        struct nt_error *error)
{
    struct stat attributes;
    NT_AUTO_FREE char *resolved = resolve(path);
    if (!resolved)
        return errno == ENOMEM ? nt_fail_memory(error) : NT_OK; /* a write there reports the error */
    for (size_t i = 0; i < guard->folder_count; i++)
        if (nt_path_is_within(resolved, guard->folders[i]))
            return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "is the source %s itself, or inside it",
                           guard->folders[i]);
    bool is_file = stat(path, &attributes) == 0 && !S_ISDIR(attributes.st_mode);
    if (is_file && (is_read(guard, &attributes) || is_shown(guard, resolved)))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "is the source %s itself", guard->source);
    return NT_OK;
}
