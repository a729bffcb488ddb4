/* SPDX-License-Identifier: MIT
 *
 * The exit status of both programs: a table with the meaning of each, and the mapping from library
 * status codes.
 */
#include "cli/cli.h"

static const char *const meanings[NT_EXIT_COUNT] = {
    [NT_EXIT_OK] = "success",
    [NT_EXIT_USAGE] = "wrong arguments",
    [NT_EXIT_NOT_FOUND] = "a source or a path in it does not exist or cannot be read",
    [NT_EXIT_UNKNOWN_FORMAT] = "the format of the source is unknown",
    [NT_EXIT_UNSUPPORTED] = "the source uses a feature that this version cannot read, or exceeds a limit",
    [NT_EXIT_DAMAGED] = "the source is damaged, or files of a chain do not match",
    [NT_EXIT_MOUNT] = "mounting failed",
    [NT_EXIT_OUTPUT] = "the output cannot be written",
    [NT_EXIT_INTERNAL] = "out of memory, or another failure of the program",
    [NT_EXIT_UNREACHABLE] = "a server did not answer, or answered with an error",
    [NT_EXIT_UNREAD] = ("some fields were not verified, described or exported, because that is not possible; "
                        "nothing else is wrong"),
};

static const enum nt_exit_status exit_of_status[] = {
    [NT_OK] = NT_EXIT_OK,
    [NT_NOT_FOUND] = NT_EXIT_NOT_FOUND,
    [NT_NOT_THIS_FORMAT] = NT_EXIT_UNKNOWN_FORMAT,
    [NT_UNSUPPORTED] = NT_EXIT_UNSUPPORTED,
    [NT_CORRUPT] = NT_EXIT_DAMAGED,
    [NT_CHECKSUM] = NT_EXIT_DAMAGED,
    [NT_TRUNCATED] = NT_EXIT_DAMAGED,
    [NT_CHANGED] = NT_EXIT_NOT_FOUND,
    [NT_IO] = NT_EXIT_NOT_FOUND,
    [NT_NO_MEMORY] = NT_EXIT_INTERNAL,
    [NT_LIMIT] = NT_EXIT_UNSUPPORTED,
    [NT_INVALID] = NT_EXIT_USAGE,
    [NT_CANCELED] = NT_EXIT_INTERNAL,
    [NT_UNREACHABLE] = NT_EXIT_UNREACHABLE,
    [NT_INCOMPATIBLE] = NT_EXIT_DAMAGED,
};

enum nt_exit_status nt_exit_status(enum nt_status status)
{
    return (size_t)status < sizeof(exit_of_status) / sizeof(*exit_of_status) ? exit_of_status[status]
                                                                             : NT_EXIT_INTERNAL;
}

void nt_exit_status_help(FILE *stream)
{
    fputs("\nExit status:\n", stream);
    for (int status = 0; status < NT_EXIT_COUNT; status++)
        fprintf(stream, "  %d  %s\n", status, meanings[status]);
}
