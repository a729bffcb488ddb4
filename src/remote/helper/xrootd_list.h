/* SPDX-License-Identifier: MIT
 *
 * Folders on XRootD's servers.
 */
#ifndef NT_FETCH_XROOTD_LIST_H
#define NT_FETCH_XROOTD_LIST_H

#include "remote/helper/listings.h"
#include "remote/helper/xrootd_file.h"

/* Begin to list a folder: what is in it is told to the listing. False without memory. */
bool nt_xrootd_list(struct nt_listing *listing, struct nt_xrootd_wanting *wanting, const char *address);
void nt_xrootd_end_list(struct nt_listing *listing);

/* Ask for what is in it, for its job that waits. */
void nt_xrootd_list_ask(struct nt_xrootd_file *folder, struct nt_xrd_queue *queue);
/* Its job waits no more. */
void nt_xrootd_list_leave(struct nt_xrootd_file *folder);

#endif
