/* SPDX-License-Identifier: MIT
 *
 * In: sources. Out: a process that fetches, where one of them is on another machine.
 */
#include "cli/fetching.h"

#include <stdlib.h>

#include "io/remote.h"

static enum nt_status start(struct nt_settings *settings, const char *address, struct nt_error *error)
{
    const struct nt_fetcher_options options = {.struct_bytes = sizeof(options),
                                               .timeout_seconds = settings->timeout_seconds,
                                               .cache_bytes = settings->remote_cache_bytes};
    enum nt_status status = nt_fetcher_new(&options, &settings->fetcher, error);
    char *shown = status == NT_OK ? NULL : nt_address_shown(address);
    if (shown)
        nt_error_context(error, "%s", shown);
    free(shown);
    return status;
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
