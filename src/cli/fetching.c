/* SPDX-License-Identifier: MIT
 *
 * In: sources. Out: a process that fetches, where one of them is on another machine.
 */
#include "cli/fetching.h"

#include <stdlib.h>

#include "io/remote.h"

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

enum nt_status nt_start_fetching(struct nt_settings *settings, const char *address, struct nt_error *error)
{
    const struct nt_fetcher_options options = {.struct_bytes = sizeof(options),
                                               .timeout_seconds = settings->timeout_seconds,
                                               .cache_bytes = settings->remote_cache_bytes,
                                               .disk_cache = settings->disk_cache,
                                               .disk_cache_bytes = settings->disk_cache_bytes};
    if (!address)
        return NT_OK;
    enum nt_status status = nt_fetcher_new(&options, &settings->fetcher, error);
    char *shown = status == NT_OK ? NULL : nt_address_shown(address);
    if (shown)
        nt_error_context(error, "%s", shown);
    free(shown);
    return status == NT_OK && settings->sandbox == NT_CONFINEMENT_STRICT ? check_strictly(settings, error)
                                                                         : status;
}

enum nt_status nt_find_sources(const struct nt_settings *settings, const char *const *sources, size_t count,
                               struct nt_chain_list **chain_ret, const char **address_ret,
                               struct nt_error *error)
{
    enum nt_status status = nt_settings_chain(settings, sources, count, chain_ret, error);
    *address_ret = status == NT_OK && *chain_ret ? (*chain_ret)->address : NULL;
    if (status != NT_OK || *chain_ret)
        return status;
    for (size_t i = 0; status == NT_OK && i < count; i++)
        if (nt_is_address(sources[i])) {
            *address_ret = sources[i];
            status = nt_address_check(sources[i], error);
        }
    return status;
}
