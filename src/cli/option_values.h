/* SPDX-License-Identifier: MIT
 *
 * What texts mean as values of options.
 */
#ifndef NT_CLI_OPTION_VALUES_H
#define NT_CLI_OPTION_VALUES_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "cli/option.h"

/* Set the row's member; NULL is the value of rows without an argument. NT_INVALID names option and value, and tells what is one. */
enum nt_status nt_option_set(const struct nt_option *row, const char *value, void *member,
                             struct nt_arena *arena, struct nt_error *error);

#endif
