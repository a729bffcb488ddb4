/* SPDX-License-Identifier: MIT
 *
 * How ntuplefs and ntuple end. The table is also what --help prints and what the manual pages are checked
 * against. All are below 126, which shells use themselves.
 */
#ifndef NT_CLI_EXIT_STATUS_H
#define NT_CLI_EXIT_STATUS_H

#include <stdio.h>

#include "core/base/error.h"

/* A command that compares ends as diff(1) and cmp(1) do: 0 the same, DIFFERENT, or TROUBLE whatever it was. */
enum nt_exit_status {
    NT_EXIT_OK = 0,
    NT_EXIT_DIFFERENT = 1,
    NT_EXIT_TROUBLE = 2,
    NT_EXIT_USAGE = 1,
    NT_EXIT_NOT_FOUND = 2,
    NT_EXIT_UNKNOWN_FORMAT = 3,
    NT_EXIT_UNSUPPORTED = 4,
    NT_EXIT_DAMAGED = 5,
    NT_EXIT_MOUNT = 6,
    NT_EXIT_OUTPUT = 7,
    NT_EXIT_INTERNAL = 8,
    NT_EXIT_UNREACHABLE = 9,
    NT_EXIT_UNREAD = 10,
    NT_EXIT_COUNT
};

/* The exit status for a failure of a source or of the tree made from it. */
enum nt_exit_status nt_exit_status(enum nt_status status);

void nt_exit_status_help(FILE *stream);

#endif
