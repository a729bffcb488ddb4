/* SPDX-License-Identifier: MIT
 *
 * What the kernel says about a mountpoint, and is told of it, without touching it: stat() on a mount whose
 * daemon is dead, or is this process, fails or waits for ever.
 */
#ifndef NT_FUSE_MOUNTINFO_H
#define NT_FUSE_MOUNTINFO_H

#include <stdbool.h>
#include <stdio.h>

struct nt_mountinfo {
    unsigned major, minor; /* device of the mount */
    char type[64];         /* "fuse.ntuplefs" */
};

/* The topmost mount at `mountpoint` (absolute, without symbolic links), from a stream in the format of
 * /proc/self/mountinfo, see proc_pid_mountinfo(5). False where there is none. */
bool nt_mountinfo_find(FILE *stream, const char *mountpoint, struct nt_mountinfo *info);

/* The same from this process's own table. */
bool nt_mountinfo_get(const char *mountpoint, struct nt_mountinfo *info);

/* Raise the read-ahead of the mount at `mountpoint` to 1 MiB, so that buffered reads arrive in that size.
 * Only root may; for others, and where /sys is missing, nothing happens and reads stay at the kernel's 128
 * KiB. */
void nt_readahead_raise(const char *mountpoint);

#endif
