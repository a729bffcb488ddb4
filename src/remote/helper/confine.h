/* SPDX-License-Identifier: MIT
 *
 * The sandbox of a process that fetches.
 */
#ifndef NT_FETCH_CONFINE_H
#define NT_FETCH_CONFINE_H

#include "remote/fetch.h"

/* It is entered before anything is asked of a server, or any thread started. `module`: a file that may be loaded later. */
void nt_fetch_confine(struct nt_fetch_sandbox *told_ret, const char *module);

#endif
