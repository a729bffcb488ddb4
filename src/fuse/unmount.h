/* SPDX-License-Identifier: MIT
 *
 * Unmounting, by whom it may be: root by the system call, others by fusermount3.
 */
#ifndef NT_FUSE_UNMOUNT_H
#define NT_FUSE_UNMOUNT_H

#include <stdbool.h>

/* Unmount what is mounted at an absolute path. Where it is in use: false, or with `is_lazy` it goes from the
 * tree at once and for good when nobody uses it any more. */
bool nt_unmount(const char *path, bool is_lazy);

#endif
