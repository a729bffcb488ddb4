/* SPDX-License-Identifier: MIT
 *
 * The process that is asked, from its start to its end, and in forked processes.
 */
#ifndef NT_IO_FETCHER_LIFE_H
#define NT_IO_FETCHER_LIFE_H

#include "remote/client/fetcher.h"

/* One holder more, and from the first one on a thread that takes the answers. */
enum nt_status nt_fetcher_hold(struct nt_fetcher *fetcher, struct nt_error *error);

/* Where none is given, a new one, which `own_ret` has then, too: whoever asked frees that. */
enum nt_status nt_fetcher_or_own(struct nt_fetcher **fetcher, struct nt_fetcher **own_ret,
                                 struct nt_error *error);

/* Forked processes will have this one, of which one alone may ask: it is the one that forks before it has asked for anything, and hands it over. */
void nt_fetcher_hand_over(struct nt_fetcher *fetcher);

/* In another process that has the same one: all that is under way in any of them fails, and whatever is asked for later. */
void nt_fetcher_stop(struct nt_fetcher *fetcher);

/* Under the lock. Until there is somebody to ask, who is started where this process has nobody. NT_UNREACHABLE where there is nobody before the deadline. */
enum nt_status nt_fetcher_be_there(struct nt_fetcher *fetcher, const char *shown, uint64_t deadline,
                                   struct nt_error *error);

#endif
