/* SPDX-License-Identifier: MIT
 *
 * In: the mountpoint as the user wrote it. Out: an absolute path of a directory that can be mounted on. A
 * directory that already was there is never removed, and one that we made only by rmdir.
 */
#include "fuse/mountpoint.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuse/mountinfo.h"

extern char **environ;

#define MOUNT_TYPE_PREFIX "fuse.ntuplefs"

/* Parent's real path + "/" + last name: for a directory that does not exist yet, or that cannot be
 * looked at. */
static char *absolute_in_parent(const char *path)
{
    char *copy = strdup(path), *result = NULL;
    if (!copy)
        return NULL;
    size_t length = strlen(copy);
    while (length > 1 && copy[length - 1] == '/')
        copy[--length] = '\0';
    char *slash = strrchr(copy, '/');
    const char *name = slash ? slash + 1 : copy;
    if (slash)
        *slash = '\0';
    char *parent = realpath(!slash ? "." : slash == copy ? "/" : copy, NULL);
    if (parent && asprintf(&result, "%s/%s", strcmp(parent, "/") == 0 ? "" : parent, name) < 0)
        result = NULL;
    free(parent);
    free(copy);
    return result;
}

static char *absolute(const char *path)
{
    char *result = realpath(path, NULL);
    return result ? result : absolute_in_parent(path);
}

/* 0, or why a directory cannot be used. Attributes and listings may be answered from the kernel's cache
 * although the program is dead; statfs() always asks it. */
static int probe(const char *path)
{
    struct statvfs statistics;
    struct stat attributes;
    if (stat(path, &attributes) != 0 || statvfs(path, &statistics) != 0)
        return errno;
    return S_ISDIR(attributes.st_mode) ? 0 : ENOTDIR;
}

static bool is_dead(int system_error)
{
    return system_error == ENOTCONN || system_error == ECONNABORTED;
}

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

/* What is mounted there already: nothing of ours, a living mount (refused) or a dead one (cleaned
 * or told). */
static enum nt_status clear_previous(const char *path, int problem, bool force, struct nt_error *error)
{
    struct nt_mountinfo info;
    if (!nt_mountinfo_get(path, &info) ||
        strncmp(info.type, MOUNT_TYPE_PREFIX, strlen(MOUNT_TYPE_PREFIX)) != 0)
        return NT_OK;
    if (!is_dead(problem))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: ntuplefs is already mounted there", path);
    if (!force)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "%s: a mount of ntuplefs is there whose program has died; "
                       "run \"fusermount3 -u %s\" or use -o force",
                       path, path);
    if (!nt_unmount(path, true))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: cannot unmount the dead mount of ntuplefs",
                       path);
    return NT_OK;
}

static enum nt_status find_or_make(struct nt_mountpoint *mountpoint, bool force, struct nt_error *error)
{
    const char *path = mountpoint->path;
    int problem = probe(path);
    enum nt_status status = clear_previous(path, problem, force, error);
    if (status != NT_OK)
        return status;
    if (is_dead(problem))
        problem = probe(path);
    if (problem == ENOENT && mkdir(path, 0755) == 0) {
        mountpoint->is_ours = true;
        return NT_OK;
    }
    if (problem != 0)
        return nt_fail_system(error, problem == ENOENT ? errno : problem, "%s", path);
    return NT_OK;
}

enum nt_status nt_mountpoint_prepare(struct nt_mountpoint *mountpoint, const char *path, bool force,
                                     struct nt_error *error)
{
    *mountpoint = (struct nt_mountpoint){0};
    if (!*path) /* a shell's variable that is not set: else this would be the working directory */
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "the name of the mountpoint is empty");
    mountpoint->path = absolute(path);
    if (!mountpoint->path)
        return nt_fail_system(error, errno, "%s", path);
    enum nt_status status = find_or_make(mountpoint, force, error);
    if (status != NT_OK)
        nt_mountpoint_release(mountpoint);
    return status;
}

void nt_mountpoint_release(struct nt_mountpoint *mountpoint)
{
    if (mountpoint->is_ours)
        rmdir(mountpoint->path);
    free(mountpoint->path);
    *mountpoint = (struct nt_mountpoint){0};
}
