/* SPDX-License-Identifier: MIT
 *
 * Opens names beneath a directory: by openat2 with RESOLVE_BENEATH where available, else part by part.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/io/folder.h"

enum { TRIES = 16 }; /* while other programs rename directories on the path */

/* Returns the descriptor or a negative errno. */
static int open_resolved(int directory, const char *name, int flags)
{
    const struct open_how how = {.flags = (unsigned)flags,
                                 .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    for (int tries = 0;; tries++) {
        long descriptor = syscall(SYS_openat2, directory, *name ? name : ".", &how, sizeof(how));
        if (descriptor >= 0)
            return (int)descriptor;
        if ((errno != EAGAIN && errno != EINTR) || tries == TRIES)
            return -errno;
    }
}

/* ---- Report the link ---- */

static enum nt_status fail_link(int link, const char *path, const char *name, struct nt_error *error)
{
    char target[256];
    ssize_t length = readlinkat(link, "", target, sizeof(target) - 1);
    target[length > 0 ? length : 0] = '\0';
    return nt_fail_system(error, EACCES, "%s/%s: is a link out of the directory, to %s", path, name, target);
}

static bool is_link(int descriptor)
{
    struct stat attributes;
    return fstat(descriptor, &attributes) == 0 && S_ISLNK(attributes.st_mode);
}

/* Is the part of the name that ends at `end` a link that must not be followed? If so, reports it. */
static bool is_way_out(int directory, const char *path, const char *part, enum nt_status *status_ret,
                       struct nt_error *error)
{
    int itself = open_resolved(directory, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (itself < 0)
        return false;
    int followed = is_link(itself) ? open_resolved(directory, part, O_PATH | O_CLOEXEC) : -ENOENT;
    bool is_out = followed == -EXDEV || followed == -ELOOP;
    if (is_out)
        *status_ret = fail_link(itself, path, part, error);
    if (followed >= 0)
        close(followed);
    close(itself);
    return is_out;
}

/* Reports why a name was not resolved. */
static enum nt_status fail_resolving(int directory, const char *path, const char *name, int system_error,
                                     struct nt_error *error)
{
    enum nt_status status;
    NT_AUTO_FREE char *part = strdup(name);
    NT_TRY(nt_check_memory(part, error));
    for (size_t end = 1; end <= strlen(name); end++) {
        if (name[end] != '/' && name[end] != '\0')
            continue;
        part[end] = '\0';
        if (is_way_out(directory, path, part, &status, error))
            return status;
        part[end] = name[end];
    }
    return nt_fail_system(error, system_error == EXDEV ? EACCES : system_error,
                          "%s/%s: leads out of the directory", path, name);
}

/* ---- Part by part ---- */

/* Opens one part without following links. */
static enum nt_status open_part(int directory, const char *path, const char *part, const char *name,
                                int flags, int *descriptor_ret, struct nt_error *error)
{
    struct stat attributes;
    *descriptor_ret = openat(directory, part, flags | O_NOFOLLOW | O_CLOEXEC);
    if (*descriptor_ret >= 0)
        return NT_OK;
    int system_error = errno;
    if (fstatat(directory, part, &attributes, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(attributes.st_mode))
        return nt_fail_system(error, EACCES,
                              "%s/%s: %s is a link, and this kernel cannot check where it leads", path, name,
                              part);
    return nt_fail_system(error, system_error, "%s/%s", path, name);
}

enum nt_status nt_beneath_open_by_parts(int directory, const char *path, const char *name, int flags,
                                        int *descriptor_ret, struct nt_error *error)
{
    NT_AUTO_FREE char *parts = strdup(*name ? name : ".");
    NT_TRY(nt_check_memory(parts, error));
    char *rest = parts;
    int at = directory, next = -1;
    enum nt_status status = NT_OK;
    while (status == NT_OK && rest) {
        char *part = strsep(&rest, "/");
        if (strcmp(part, "..") == 0 || *part == '\0')
            status = nt_fail_system(error, EACCES, "%s/%s: leads out of the directory", path, name);
        else
            status = open_part(at, path, part, name, rest ? O_PATH | O_DIRECTORY : flags, &next, error);
        if (at != directory)
            close(at);
        at = status == NT_OK ? next : directory;
    }
    if (status == NT_OK)
        *descriptor_ret = at;
    return status;
}

enum nt_status nt_beneath_open(int directory, const char *path, const char *name, int flags,
                               int *descriptor_ret, struct nt_error *error)
{
    int descriptor = open_resolved(directory, name, flags | O_CLOEXEC);
    if (descriptor >= 0) {
        *descriptor_ret = descriptor;
        return NT_OK;
    }
    if (descriptor == -ENOSYS || descriptor == -EPERM) /* EPERM: a filter does not know the call */
        return nt_beneath_open_by_parts(directory, path, name, flags, descriptor_ret, error);
    if (descriptor == -EXDEV || descriptor == -ELOOP)
        return fail_resolving(directory, path, name, -descriptor, error);
    return nt_fail_system(error, -descriptor, "%s/%s", path, name);
}
