/* SPDX-License-Identifier: MIT
 *
 * Outcome of one request to a server.
 */
#ifndef NT_REMOTE_HELPER_RESULT_H
#define NT_REMOTE_HELPER_RESULT_H

#include <stdint.h>

#include "remote/protocol.h"

enum nt_request_outcome {
    NT_OUTCOME_OK,           /* all that was asked for has arrived */
    NT_OUTCOME_RETRY,        /* the same may be asked for again, of what is missing */
    NT_OUTCOME_OTHER_SERVER, /* this server refuses, or has gone, where there is another way: ask at once */
    NT_OUTCOME_FAILED,
};

struct nt_result {
    enum nt_request_outcome outcome;
    enum nt_fetch_failure failure;
    uint64_t got;          /* bytes, from the first on: they are not asked for again */
    uint64_t wait_seconds; /* that the server wants */
    char message[160];     /* why it is not good */
};

extern const struct nt_result nt_result_no_memory;

#endif
