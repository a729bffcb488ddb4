/* SPDX-License-Identifier: MIT
 *
 * Paths that are no paths: addresses of remote files, which are not read.
 */
#ifndef NT_IO_REMOTE_H
#define NT_IO_REMOTE_H

#include "base/error.h"

/* Why a path could not be opened: the system's error; of an address, what to do instead (NT_UNSUPPORTED). */
enum nt_status nt_fail_path(struct nt_error *error, int system_error, const char *path);

#endif
