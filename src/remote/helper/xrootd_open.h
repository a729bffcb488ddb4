/* SPDX-License-Identifier: MIT
 *
 * Opening files on XRootD's servers for the first time, with both of their ends.
 */
#ifndef NT_FETCH_XROOTD_OPEN_H
#define NT_FETCH_XROOTD_OPEN_H

#include "remote/helper/files.h"
#include "remote/helper/xrootd_file.h"

/* False without memory; `address` is copied. What comes of it is told by nt_file_opened or nt_file_not_opened. */
bool nt_xrootd_open(struct nt_engine *engine, struct nt_xrootd_wanting *wanting, struct nt_fetched *fetched,
                    const char *address);
/* The same of a file that a list has told of, with its stamp; nothing more is told. */
bool nt_xrootd_open_listed(struct nt_engine *engine, struct nt_xrootd_wanting *wanting,
                           struct nt_fetched *fetched, const char *address, const char *stamp);
void nt_xrootd_close(struct nt_fetched *fetched);
/* Whether the job is an opening, which wants both ends. */
bool nt_xrootd_is_opening(const struct nt_transfer *job);

#endif
