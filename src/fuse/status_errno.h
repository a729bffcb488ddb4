/* SPDX-License-Identifier: MIT
 *
 * What a program that uses the mount gets for a failure.
 */
#ifndef NT_FUSE_STATUS_ERRNO_H
#define NT_FUSE_STATUS_ERRNO_H

#include <ntuple/error.h>

/* The errno value of a status; 0 for NT_OK. */
int nt_status_errno(enum nt_status status);

#endif
