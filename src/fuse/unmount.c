/* SPDX-License-Identifier: MIT
 *
 * In: a mountpoint. Out: nothing mounted there any more, where that was possible.
 */
#include "fuse/unmount.h"

#include <errno.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/wait.h>

extern char **environ;

static bool run_fusermount(const char *path, bool is_lazy)
{
    pid_t process;
    int status;
    const char *const arguments[] = {"fusermount3", is_lazy ? "-uqz" : "-uq", "--", path, NULL};
    if (posix_spawnp(&process, arguments[0], NULL, NULL, (char *const *)arguments, environ) != 0)
        return false;
    while (waitpid(process, &status, 0) < 0) {
        if (errno != EINTR)
            return false;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool nt_unmount(const char *path, bool is_lazy)
{
    if (umount2(path, UMOUNT_NOFOLLOW | (is_lazy ? MNT_DETACH : 0)) == 0)
        return true;
    return errno == EPERM && run_fusermount(path, is_lazy);
}
