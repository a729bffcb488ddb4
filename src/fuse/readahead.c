/* SPDX-License-Identifier: MIT
 *
 * In: a mountpoint. Out: a number in /sys/class/bdi/<major>:<minor>/read_ahead_kb. The kernel offers 128 KiB
 * and the daemon's answer can only lower that, so the limit is raised from outside. The device number comes
 * from the mount table: stat() would ask this very daemon, which is not serving yet.
 */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fuse/mountinfo.h"

void nt_readahead_raise(const char *mountpoint)
{
    /* One of the largest requests. Two are little faster, and each fault in a mapping would read as much. */
    static const char kibibytes[] = "1024";
    struct nt_mountinfo info;
    if (!nt_mountinfo_get(mountpoint, &info))
        return;
    char path[64];
    snprintf(path, sizeof(path), "/sys/class/bdi/%u:%u/read_ahead_kb", info.major, info.minor);
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
        return;
    ssize_t written = write(descriptor, kibibytes, strlen(kibibytes));
    (void)written; /* a hint: reading works without */
    close(descriptor);
}
