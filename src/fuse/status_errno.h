/* SPDX-License-Identifier: MIT
 *
 * What a program that uses the mount gets for a failure.
 */
#ifndef NT_FUSE_STATUS_ERRNO_H
#define NT_FUSE_STATUS_ERRNO_H

#include "core/base/error.h"

/* The errno value of a status; 0 for NT_OK. */
int nt_status_errno(enum nt_status status);
/* The same of a failure whose error was zero before, and may have been filled in: what the system forbids is
 * EACCES. */
int nt_failure_errno(enum nt_status status, const struct nt_error *error);

#endif
