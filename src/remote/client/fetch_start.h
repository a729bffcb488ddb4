/* SPDX-License-Identifier: MIT
 *
 * The process that fetches, as who reads remote files starts it.
 */
#ifndef NT_IO_FETCH_START_H
#define NT_IO_FETCH_START_H

#include <stdbool.h>

#include "core/base/error.h"

/* What it is told first (io/fetch.h). */
struct nt_fetch_rules {
    const char *const *addresses; /* ends with NULL: they alone may be asked for; NULL: all */
    bool certificate_to_origin;
};

/* Another process that runs `program` (NULL: the one that was installed; the variable NTUPLE_FETCH names another), with a socket to
 * it, which is closed by exec. It ends when the socket has no other user. NT_UNSUPPORTED where there is no such program. */
enum nt_status nt_fetch_start(const char *program, const struct nt_fetch_rules *rules, int *channel_ret,
                              struct nt_error *error);

#endif
