/* SPDX-License-Identifier: MIT
 *
 * The descriptor of /dev/fuse, over which kernel and program talk: two things that libfuse 3.14 leaves
 * undone.
 */
#ifndef NT_FUSE_DEVICE_H
#define NT_FUSE_DEVICE_H

#include "fuse/operations.h"

/* Mount the session, so that auto_unmount is reliable: Linux releases the files of a killed program from the
 * highest descriptor down, and fusermount3, which learns of the end by a socket, must find the device
 * released already. libfuse gives the device the lower number; here it gets a higher one. 0, or -1 where
 * mounting failed (libfuse has told why). */
int nt_device_mount(struct nt_mount *mount);

#endif
