/* SPDX-License-Identifier: MIT
 *
 * In: sources. Out: a process that fetches, where one of them is on another machine.
 */
#include "cli/fetching.h"

#include <stdlib.h>

#include "core/base/grow.h"
#include "remote/client/fetcher_life.h"
#include "remote/client/fetcher.h"
#include "core/io/remote.h"

static enum nt_status add(struct nt_addresses *addresses, const char *address, struct nt_error *error)
{
    const char **items =
        nt_grow(addresses->items, addresses->count + 1, &addresses->capacity, sizeof(*addresses->items));
    if (!items)
        return nt_fail_memory(error);
    addresses->items = items;
    items[addresses->count++] = address;
    items[addresses->count] = NULL;
    return NT_OK;
}

void nt_addresses_deinit(struct nt_addresses *addresses)
{
    free(addresses->items);
}

/* It has a sandbox of its own, which no option opens. */
static enum nt_status check_strictly(const struct nt_settings *settings, struct nt_error *error)
{
    struct nt_fetch_sandbox sandbox;
    enum nt_status status = nt_fetch_await_sandbox(settings->fetcher, &sandbox, error);
    if (status != NT_OK || !sandbox.missing[0])
        return status;
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   "sandbox=strict: for the process that fetches there is no %s here", sandbox.missing);
}

enum nt_status nt_start_fetching(struct nt_settings *settings, const struct nt_addresses *addresses,
                                 struct nt_error *error)
{
    const struct nt_fetcher_options options = {.struct_bytes = sizeof(options),
                                               .timeout_seconds = settings->timeout_seconds,
                                               .cache_bytes = settings->remote_cache_bytes,
                                               .disk_cache = settings->disk_cache,
                                               .disk_cache_bytes = settings->disk_cache_bytes,
                                               .addresses = addresses->items,
                                               .certificate_to_origin = settings->certificate != 0};
    if (!addresses->count)
        return NT_OK;
    enum nt_status status = nt_fetcher_new(&options, &settings->fetcher, error);
    if (status == NT_OK)
        nt_fetcher_hand_over(settings->fetcher); /* of the processes of a mount the one that decodes asks */
    char *shown = status == NT_OK ? NULL : nt_address_shown(addresses->items[addresses->count - 1]);
    if (shown)
        nt_error_context(error, "%s", shown);
    free(shown);
    return status == NT_OK && settings->sandbox == NT_CONFINEMENT_STRICT ? check_strictly(settings, error)
                                                                         : status;
}

enum nt_status nt_find_sources(const struct nt_settings *settings, const char *const *sources, size_t count,
                               struct nt_chain_list **chain_ret, struct nt_addresses *addresses,
                               struct nt_error *error)
{
    enum nt_status status = nt_settings_chain(settings, sources, count, chain_ret, error);
    const struct nt_chain_list *chain = status == NT_OK ? *chain_ret : NULL;
    for (uint32_t i = 0; chain && status == NT_OK && i < chain->count; i++)
        if (chain->files[i].address)
            status = add(addresses, chain->files[i].address, error);
    for (size_t i = 0; !chain && status == NT_OK && i < count; i++)
        if (nt_is_address(sources[i]) && (status = nt_address_check(sources[i], error)) == NT_OK)
            status = add(addresses, sources[i], error);
    return status;
}
