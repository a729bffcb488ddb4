/* SPDX-License-Identifier: MIT
 *
 * Sources on other machines: who fetches them is started before a program gives up its rights.
 */
#ifndef NT_CLI_FETCHING_H
#define NT_CLI_FETCHING_H

#include "cli/settings.h"

/* Of sources on other machines, as they were given; zeros: none. They stay where they are. */
struct nt_addresses {
    const char **items; /* ends with NULL where there are any */
    size_t count, capacity;
};
void nt_addresses_deinit(struct nt_addresses *addresses);

/* What sources stand for: the files of a chain, to be freed (NULL: they are none), and the addresses among them, behind those that are there already.
 * NT_INVALID where one may not be asked for; as nt_chain_list_new. */
enum nt_status nt_find_sources(const struct nt_settings *settings, const char *const *sources, size_t count,
                               struct nt_chain_list **chain_ret, struct nt_addresses *addresses,
                               struct nt_error *error);

/* Where there are addresses, start the process that fetches them, and nothing else: settings->fetcher, which is freed by the caller. */
enum nt_status nt_start_fetching(struct nt_settings *settings, const struct nt_addresses *addresses,
                                 struct nt_error *error);

#endif
