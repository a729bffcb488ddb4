/* SPDX-License-Identifier: MIT
 *
 * Fetching what is asked for over a socket, to its end.
 */
#ifndef NT_FETCH_WORKER_H
#define NT_FETCH_WORKER_H

#include <stdint.h>

#include "remote/helper/rules.h"

/* `credentials`: a socket by which files of them are had (credential_files.h). */
_Noreturn void nt_fetch_work(int channel, uint64_t epoch, int credentials, const struct nt_rules *rules);

#endif
