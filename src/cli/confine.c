/* SPDX-License-Identifier: MIT
 *
 * In: what the program was told to read and to write. Out: the rules of a sandbox, which it enters.
 */
#include "cli/confine.h"

#include <stdlib.h>

#include "cli/choices.h"

/* Besides what is told: all, where links may lead anywhere; texts; an index; what is kept of remote files. */
enum { MOST_OWN_PLACES = 4 };

static void add(struct nt_sandbox_place *places, size_t *count, const char *path, bool is_written)
{
    places[(*count)++] = (struct nt_sandbox_place){path, is_written};
}

enum nt_status nt_confine(const struct nt_settings *settings, const char *const *sources, size_t source_count,
                          const struct nt_sandbox_place *others, size_t other_count, unsigned uses,
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
    struct nt_sandbox_place *places =
        calloc(source_count + base_count + select_count + other_count + MOST_OWN_PLACES, sizeof(*places));
    if (!places)
        return nt_fail_memory(error);
    for (size_t i = 0; i < source_count; i++)
        add(places, &count, sources[i], false);
    for (size_t i = 0; i < base_count; i++)
        add(places, &count, settings->bases[i], false);
    for (size_t i = 0; i < select_count; i++)
        add(places, &count, nt_select_path(settings->select[i]), false);
    if (settings->index)
        add(places, &count, settings->index, false);
    if (tree.follow_links)
        add(places, &count, "/", false);
    if (tree.text_sized)
        add(places, &count, tree.text_directory ? tree.text_directory : NT_VFS_TEXT_DIRECTORY, true);
    if (settings->fetcher && settings->disk_cache)
        add(places, &count, settings->disk_cache, true);
    for (size_t i = 0; i < other_count; i++)
        places[count++] = others[i];
    uses |= settings->fetcher ? NT_SANDBOX_FETCHES : 0;
    for (size_t i = 0; i < count; i++)
        uses |= places[i].is_written ? NT_SANDBOX_WRITES : 0;
    nt_sandbox_enter(sandbox_ret, &(struct nt_sandbox_rules){places, count, uses, .has_sources = true});
    free(places);
    if (settings->sandbox == NT_CONFINEMENT_STRICT && sandbox_ret->missing[0])
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "sandbox=strict: there is no %s here",
                       sandbox_ret->missing);
    return NT_OK;
}
