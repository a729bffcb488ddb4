/* SPDX-License-Identifier: MIT
 *
 * Command lines, which every user of the machine can read in /proc.
 */
#ifndef NT_CLI_ARGUMENTS_H
#define NT_CLI_ARGUMENTS_H

#include "core/base/arena.h"

/* A copy of the arguments, in the arena. In the command line itself addresses then stand without user, password, query and
 * fragment. NULL without memory. */
char **nt_arguments_hide(int count, char **arguments, struct nt_arena *arena);

#endif
