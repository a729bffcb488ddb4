/* SPDX-License-Identifier: MIT
 *
 * Outcome of one request to a server.
 */
#pragma once

#include <errno.h>

#include "remote/protocol.h"

enum nt_request_outcome {
    NT_OUTCOME_OK,           /* all requested bytes have arrived */
    NT_OUTCOME_RETRY,        /* request the missing part again */
    NT_OUTCOME_OTHER_SERVER, /* this server refuses or is gone, but there is another: ask at once */
    NT_OUTCOME_FAILED,
};

struct nt_result {
    enum nt_request_outcome outcome;
    enum nt_fetch_failure failure;
    uint64_t got;          /* bytes received, from the first on: not requested again */
    uint64_t wait_seconds; /* requested by the server */
    char message[160];     /* the reason of a failure */
};

extern const struct nt_result nt_result_no_memory;

#define NT_ANOTHER_VERSION "the server has another version now"
#define NT_NEVER_CONTACTED                                                                                   \
    "its server has an address for instance metadata, and ntuplefs never contacts such servers"
/* The system's own connect never sets it. */
#define NT_ERRNO_NEVER_CONTACTED ENONET
