/* SPDX-License-Identifier: MIT
 *
 * Fetching what is asked for over a socket, to its end.
 */
#ifndef NT_FETCH_WORKER_H
#define NT_FETCH_WORKER_H

#include <stdint.h>

_Noreturn void nt_fetch_work(int channel, uint32_t epoch);

#endif
