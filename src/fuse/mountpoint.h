/* SPDX-License-Identifier: MIT
 *
 * The directory that is mounted on: made when it is missing, and then removed again; dead mounts of ours are
 * recognised.
 */
#ifndef NT_FUSE_MOUNTPOINT_H
#define NT_FUSE_MOUNTPOINT_H

#include "core/base/error.h"

struct nt_mountpoint {
    char *path;   /* absolute, without symbolic links */
    bool is_ours; /* the directory was made by nt_mountpoint_prepare */
};

/* Find or make the directory. A mount of ntuplefs that is there already is refused where it lives; where its
 * daemon is dead it is said, or, with `force`, unmounted. On failure nothing is left behind. */
enum nt_status nt_mountpoint_prepare(struct nt_mountpoint *mountpoint, const char *path, bool force,
                                     struct nt_error *error);

/* After the unmount: removes the directory if it is ours and empty, never anything else. Accepts what a
 * failed or missing (zeroed) preparation left. */
void nt_mountpoint_release(struct nt_mountpoint *mountpoint);

/* Unmount what is mounted at an absolute path: root by the system call, others by fusermount3. Where it is in
 * use: false, or with `is_lazy` it goes from the tree at once and for good when nobody uses it any more. */
bool nt_unmount(const char *path, bool is_lazy);

#endif
