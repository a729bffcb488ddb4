/* SPDX-License-Identifier: MIT
 *
 * The kernel's read-ahead on a mount.
 */
#ifndef NT_FUSE_READAHEAD_H
#define NT_FUSE_READAHEAD_H

/* Raise the read-ahead of the mount at `mountpoint` to 1 MiB, so that buffered reads arrive in that size.
 * Only root may; for others, and where /sys is missing, nothing happens and reads stay at the kernel's 128
 * KiB. */
void nt_readahead_raise(const char *mountpoint);

#endif
