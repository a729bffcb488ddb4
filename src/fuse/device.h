/* SPDX-License-Identifier: MIT
 *
 * The descriptor of /dev/fuse, over which kernel and program talk: two things that libfuse 3.14 leaves
 * undone.
 */
#ifndef NT_FUSE_DEVICE_H
#define NT_FUSE_DEVICE_H

#include "fuse/operations.h"

/* Mount the session, so that auto_unmount is reliable: a killed program's descriptors are closed in the order
 * of their numbers, and fusermount3, which learns of it by a socket, leaves the mount alone where the device
 * still seems to live. So the device gets a lower number than that socket. 0, or -1 where mounting failed
 * (libfuse has told why). */
int nt_device_mount(struct nt_mount *mount);

#endif
