/* SPDX-License-Identifier: MIT
 *
 * Reads of files that are open: what is short and wanted at once is read at once.
 */
#ifndef NT_FETCH_XROOTD_READ_H
#define NT_FETCH_XROOTD_READ_H

#include "remote/helper/xrootd_file.h"

/* Read what all want that wait for the file. */
void nt_xrootd_read_all(struct nt_xrootd_file *file);
/* Bytes that have come, and were not taken then. */
void nt_xrootd_read_deliver(struct nt_xrd_attempt *attempt);
/* It has no use for its bytes any more. */
void nt_xrootd_read_leave(struct nt_xrd_attempt *attempt);

#endif
