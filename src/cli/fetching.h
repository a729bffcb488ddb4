/* SPDX-License-Identifier: MIT
 *
 * Sources on other machines: who fetches them is started before a program gives up its rights.
 */
#ifndef NT_CLI_FETCHING_H
#define NT_CLI_FETCHING_H

#include "cli/settings.h"

/* Where one of the sources is an address, start the process that fetches it: settings->fetcher, which is freed by the caller. */
enum nt_status nt_start_fetching(struct nt_settings *settings, const char *const *sources, size_t count,
                                 struct nt_error *error);

#endif
