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

static enum nt_status start(struct nt_settings *settings, const char *address, struct nt_error *error)
{
    const struct nt_fetcher_options options = {.struct_bytes = sizeof(options),
                                               .timeout_seconds = settings->timeout_seconds,
                                               .cache_bytes = settings->remote_cache_bytes,
                                               .disk_cache = settings->disk_cache,
                                               .disk_cache_bytes = settings->disk_cache_bytes};
    enum nt_status status = nt_fetcher_new(&options, &settings->fetcher, error);
    char *shown = status == NT_OK ? NULL : nt_address_shown(address);
    if (shown)
        nt_error_context(error, "%s", shown);
    free(shown);
    return status == NT_OK && settings->sandbox == NT_CONFINEMENT_STRICT ? check_strictly(settings, error)
                                                                         : status;
}

enum nt_status nt_start_fetching(struct nt_settings *settings, const char *const *sources, size_t count,
                                 struct nt_error *error)
{
    const char *address = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!nt_is_address(sources[i]))
            continue;
        enum nt_status status = nt_address_check(sources[i], error);
        if (status != NT_OK)
            return status;
        address = sources[i];
    }
    return address ? start(settings, address, error) : NT_OK;
}
