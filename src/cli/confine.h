/* SPDX-License-Identifier: MIT
 *
 * The sandbox as the option of that name has it.
 */
#ifndef NT_CLI_CONFINE_H
#define NT_CLI_CONFINE_H

#include "cli/settings.h"
#include "sandbox/sandbox.h"

/* From here on the program can do nothing but read the sources, keep texts where the settings say so, and read or write in other
 * places. Before any thread has been started. Fails where a part is missing that the settings insist on. */
enum nt_status nt_confine(const struct nt_settings *settings, const char *const *sources, size_t source_count,
                          const struct nt_sandbox_place *others, size_t other_count, unsigned uses,
                          struct nt_sandbox *sandbox_ret, struct nt_error *error);

#endif
