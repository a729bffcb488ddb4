/* SPDX-License-Identifier: MIT
 *
 * Sources on other machines: who fetches them is started before a program gives up its rights.
 */
#ifndef NT_CLI_FETCHING_H
#define NT_CLI_FETCHING_H

#include "cli/settings.h"

/* What sources stand for: the files of a chain, to be freed (NULL: they are none), and an address that is among them (NULL: there is none).
 * NT_INVALID where one may not be asked for; as nt_chain_list_new. */
enum nt_status nt_find_sources(const struct nt_settings *settings, const char *const *sources, size_t count,
                               struct nt_chain_list **chain_ret, const char **address_ret,
                               struct nt_error *error);

/* Where there is an address (NULL: there is none), start the process that fetches: settings->fetcher, which is freed by the caller. */
enum nt_status nt_start_fetching(struct nt_settings *settings, const char *address, struct nt_error *error);

#endif
