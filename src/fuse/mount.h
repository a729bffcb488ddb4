/* SPDX-License-Identifier: MIT
 *
 * A virtual tree at a mountpoint: session with the kernel, loop, signals.
 */
#ifndef NT_FUSE_MOUNT_H
#define NT_FUSE_MOUNT_H

#include "fuse/settings.h"
#include "vfs/vfs.h"

struct nt_mount;

/* Before a file is opened: load what threads cannot be ended without, and nothing links to. */
enum nt_status nt_unwinder_load(struct nt_error *error);

/* Mount. The tree stays the caller's and must outlive the mount. */
enum nt_status nt_mount_new(struct nt_vfs *vfs, const struct nt_mount_settings *settings,
                            struct nt_mount **mount_ret, struct nt_error *error);

/* Why a mount has ended. */
struct nt_mount_end {
    int signal;    /* 0: it was unmounted */
    bool was_idle; /* by the program itself */
};

/* Answer requests until the mount is unmounted, or SIGINT, SIGTERM or SIGHUP arrives (which is
 * no failure). */
enum nt_status nt_mount_serve(struct nt_mount *mount, struct nt_mount_end *end_ret, struct nt_error *error);

/* Unmounts where it is still mounted. Accepts NULL. */
void nt_mount_free(struct nt_mount *mount);

/* The version of libfuse, e.g. "3.14.0". */
const char *nt_mount_libfuse_version(void);
/* What does not work because libfuse is too old; NULL where everything does. */
const char *nt_mount_libfuse_lacks(void);

#endif
