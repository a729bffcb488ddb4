/* SPDX-License-Identifier: MIT
 *
 * A virtual tree at a mountpoint: session with the kernel, loop.
 */
#ifndef NT_FUSE_MOUNT_H
#define NT_FUSE_MOUNT_H

#include "fuse/settings.h"
#include "vfs/vfs.h"

struct nt_mount;

/* Before a file is opened: load what threads cannot be ended without, and nothing links to. */
enum nt_status nt_unwinder_load(struct nt_error *error);

/* Be who answers the requests of a mount that was made (fuse/mounting.h). The tree stays the caller's and must outlive
 * the mount; the device becomes the mount's. */
enum nt_status nt_mount_new(struct nt_vfs *vfs, const struct nt_mount_settings *settings, int device,
                            struct nt_mount **mount_ret, struct nt_error *error);

/* Answer requests until the mount is unmounted, or a signal arrives that ends a program (which is no failure): then the mount
 * is left. */
enum nt_status nt_mount_serve(struct nt_mount *mount, bool *is_left_ret, struct nt_error *error);

/* Does not unmount. Accepts NULL. */
void nt_mount_free(struct nt_mount *mount);

/* The version of libfuse, e.g. "3.14.0". */
const char *nt_mount_libfuse_version(void);
/* What does not work because libfuse is too old; NULL where everything does. */
const char *nt_mount_libfuse_lacks(void);

#endif
