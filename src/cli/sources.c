/* SPDX-License-Identifier: MIT
 *
 * Resolves the sources of a command line: chains of files, remote URLs, for which the network helper is
 * started, and the entry selections that the options give. Enters the sandbox that the options demand,
 * in which a program may read its sources and write what options name.
 */
#include "cli/cli.h"

#include <ntuple/selection.h>

#include "core/io/address.h"

/* ---- Open entry selections ---- */

const char *nt_select_path(const char *value)
{
    return strchr(value, ':') + 1; /* the option parser guarantees a colon */
}

/* Takes ownership of the selection. Its name is the first part of `value`. */
static enum nt_status add_choice(struct nt_selections *selections, const char *value, size_t length,
                                 struct nt_selection *selection, struct nt_error *error)
{
    char *name = strndup(value, length);
    selections->items[selections->count++] = (struct nt_vfs_selection){name, selection};
    return name ? NT_OK : nt_fail_memory(error);
}

/* The option parser has validated name and range. */
static enum nt_status open_entries(const char *value, struct nt_selections *selections,
                                   struct nt_error *error)
{
    struct nt_row_range range = {0};
    struct nt_selection *selection;
    size_t length;
    nt_named_row_range_parse(value, &length, &range);
    NT_TRY(nt_selection_of_range(range.first, range.end, &selection, error));
    return add_choice(selections, value, length, selection, error);
}

static enum nt_status open_file(const char *value, struct nt_selections *selections, struct nt_error *error)
{
    struct nt_selection *selection;
    const char *path = nt_select_path(value);
    NT_TRY(nt_with_context(nt_selection_open(path, &selection, error), error, "option \"select\""));
    return add_choice(selections, value, (size_t)(path - 1 - value), selection, error);
}

static size_t count_of(const char *const *values)
{
    size_t count = 0;
    while (values && values[count])
        count++;
    return count;
}

enum nt_status nt_selections_open(const struct nt_settings *settings, struct nt_selections *selections,
                                  struct nt_error *error)
{
    size_t files = count_of(settings->select), ranges = count_of(settings->entries);
    if (!files && !ranges)
        return NT_OK;
    selections->items = calloc(files + ranges, sizeof(*selections->items));
    NT_TRY(nt_check_memory(selections->items, error));
    for (size_t i = 0; i < files; i++)
        NT_TRY(open_file(settings->select[i], selections, error));
    for (size_t i = 0; i < ranges; i++)
        NT_TRY(open_entries(settings->entries[i], selections, error));
    return NT_OK;
}

void nt_selections_deinit(struct nt_selections *selections)
{
    for (size_t i = 0; i < selections->count; i++) {
        free((char *)selections->items[i].dataset);
        nt_selection_free((struct nt_selection *)selections->items[i].selection);
    }
    free(selections->items);
    *selections = (struct nt_selections){0};
}

/* ---- Find remote sources ---- */

static enum nt_status add_address(struct nt_addresses *addresses, const char *address, struct nt_error *error)
{
    NT_TRY(nt_check_memory(NT_GROW(addresses->items, addresses->count + 1, addresses->capacity), error));
    addresses->items[addresses->count++] = address;
    addresses->items[addresses->count] = NULL;
    return NT_OK;
}

void nt_addresses_deinit(struct nt_addresses *addresses)
{
    free(addresses->items);
}

/* The network helper has a sandbox of its own; no option disables it. */
static enum nt_status check_strictly(const struct nt_settings *settings, struct nt_error *error)
{
    struct nt_helper_sandbox sandbox;
    NT_TRY(nt_helper_await_sandbox(settings->tree.open.fetcher, &sandbox, error));
    if (!sandbox.missing[0])
        return NT_OK;
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   "sandbox=strict: this system lacks a part of the network helper's sandbox: %s",
                   sandbox.missing);
}

enum nt_status nt_start_helper(struct nt_settings *settings, const struct nt_addresses *addresses,
                               bool reads_at_once, struct nt_error *error)
{
    struct nt_fetcher_options options = settings->remote;
    struct nt_fetcher **fetcher = &settings->tree.open.fetcher;
    options.struct_bytes = sizeof(options);
    options.addresses = addresses->items;
    if (!addresses->count)
        return NT_OK;
    enum nt_status status = nt_fetcher_new(&options, fetcher, error);
    if (status != NT_OK) {
        NT_AUTO_FREE char *shown = nt_address_redact(addresses->items[addresses->count - 1]);
        return shown ? nt_with_context(status, error, "%s", shown) : status;
    }
    nt_fetcher_hand_over(*fetcher); /* only the worker of a mount sends requests */
    if (!reads_at_once)
        nt_fetcher_read_later(*fetcher);
    return settings->sandbox == NT_SANDBOX_MODE_STRICT ? check_strictly(settings, error) : NT_OK;
}

enum nt_status nt_expand_sources(const struct nt_settings *settings, const char *const *sources, size_t count,
                                 struct nt_chain_list **chain_ret, struct nt_addresses *addresses,
                                 struct nt_error *error)
{
    NT_TRY(nt_settings_chain(settings, sources, count, chain_ret, error));
    const struct nt_chain_list *chain = *chain_ret;
    for (uint32_t i = 0; chain && i < chain->count; i++)
        if (chain->files[i].address)
            NT_TRY(add_address(addresses, chain->files[i].address, error));
    for (size_t i = 0; !chain && i < count; i++)
        if (nt_is_address(sources[i])) {
            NT_TRY(nt_address_check(sources[i], error));
            NT_TRY(add_address(addresses, sources[i], error));
        }
    return NT_OK;
}

/* Besides the arguments: everything, if links may lead anywhere; texts; an index; the disk cache. */
enum { MAX_OWN_PATHS = 4 };

static void add(struct nt_sandbox_path *paths, size_t *count, const char *path, bool is_written)
{
    paths[(*count)++] = (struct nt_sandbox_path){path, is_written};
}

enum nt_status nt_enter_sandbox(const struct nt_settings *settings, const char *const *sources,
                                size_t source_count, const struct nt_sandbox_path *others, size_t other_count,
                                unsigned uses, struct nt_sandbox *sandbox_ret, struct nt_error *error)
{
    const struct nt_vfs_options tree = nt_settings_tree(settings);
    *sandbox_ret = (struct nt_sandbox){0};
    if (settings->sandbox == NT_SANDBOX_MODE_OFF)
        return NT_OK;
    size_t count = 0, base_count = count_of(tree.open.bases), select_count = count_of(settings->select);
    NT_AUTO_FREE struct nt_sandbox_path *paths =
        calloc(source_count + base_count + select_count + other_count + MAX_OWN_PATHS, sizeof(*paths));
    NT_TRY(nt_check_memory(paths, error));
    for (size_t i = 0; i < source_count; i++)
        add(paths, &count, sources[i], false);
    for (size_t i = 0; i < base_count; i++)
        add(paths, &count, tree.open.bases[i], false);
    for (size_t i = 0; i < select_count; i++)
        add(paths, &count, nt_select_path(settings->select[i]), false);
    if (settings->index)
        add(paths, &count, settings->index, false);
    if (tree.follow_links)
        add(paths, &count, "/", false);
    if (tree.text_sized)
        add(paths, &count, tree.text_directory ? tree.text_directory : NT_VFS_TEXT_DIRECTORY, true);
    if (settings->tree.open.fetcher && settings->remote.disk_cache)
        add(paths, &count, settings->remote.disk_cache, true);
    for (size_t i = 0; i < other_count; i++)
        paths[count++] = others[i];
    uses |= settings->tree.open.fetcher ? NT_SANDBOX_FETCHES : 0;
    for (size_t i = 0; i < count; i++)
        uses |= paths[i].is_written ? NT_SANDBOX_WRITES : 0;
    nt_sandbox_enter(sandbox_ret, &(struct nt_sandbox_rules){paths, count, uses, .has_sources = true});
    if (settings->sandbox == NT_SANDBOX_MODE_STRICT && sandbox_ret->missing[0])
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "sandbox=strict: this system lacks a part of the sandbox: %s", sandbox_ret->missing);
    return NT_OK;
}
