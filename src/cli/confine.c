/* SPDX-License-Identifier: MIT
 *
 * Enters the sandbox that the options demand: which paths a program may read and write.
 */
#include "cli/cli.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "sandbox/sandbox.h"
#include "vfs/tree.h"

/* Besides the arguments: everything, if links may lead anywhere; texts; an index; the disk cache. */
enum { MAX_OWN_PATHS = 4 };

static void add(struct nt_sandbox_path *paths, size_t *count, const char *path, bool is_written)
{
    paths[(*count)++] = (struct nt_sandbox_path){path, is_written};
}

enum nt_status nt_confine(const struct nt_settings *settings, const char *const *sources, size_t source_count,
                          const struct nt_sandbox_path *others, size_t other_count, unsigned uses,
                          struct nt_sandbox *sandbox_ret, struct nt_error *error)
{
    const struct nt_vfs_options tree = nt_settings_tree(settings);
    *sandbox_ret = (struct nt_sandbox){0};
    if (settings->sandbox == NT_CONFINEMENT_OFF)
        return NT_OK;
    size_t count = 0, base_count = 0, select_count = 0;
    while (settings->bases && settings->bases[base_count])
        base_count++;
    while (settings->select && settings->select[select_count])
        select_count++;
    struct nt_sandbox_path *paths =
        calloc(source_count + base_count + select_count + other_count + MAX_OWN_PATHS, sizeof(*paths));
    if (!paths)
        return nt_fail_memory(error);
    for (size_t i = 0; i < source_count; i++)
        add(paths, &count, sources[i], false);
    for (size_t i = 0; i < base_count; i++)
        add(paths, &count, settings->bases[i], false);
    for (size_t i = 0; i < select_count; i++)
        add(paths, &count, nt_select_path(settings->select[i]), false);
    if (settings->index)
        add(paths, &count, settings->index, false);
    if (tree.follow_links)
        add(paths, &count, "/", false);
    if (tree.text_sized)
        add(paths, &count, tree.text_directory ? tree.text_directory : NT_VFS_TEXT_DIRECTORY, true);
    if (settings->fetcher && settings->disk_cache)
        add(paths, &count, settings->disk_cache, true);
    for (size_t i = 0; i < other_count; i++)
        paths[count++] = others[i];
    uses |= settings->fetcher ? NT_SANDBOX_FETCHES : 0;
    for (size_t i = 0; i < count; i++)
        uses |= paths[i].is_written ? NT_SANDBOX_WRITES : 0;
    nt_sandbox_enter(sandbox_ret, &(struct nt_sandbox_rules){paths, count, uses, .has_sources = true});
    free(paths);
    if (settings->sandbox == NT_CONFINEMENT_STRICT && sandbox_ret->missing[0])
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "sandbox=strict: this system lacks a part of the sandbox: %s", sandbox_ret->missing);
    return NT_OK;
}
