/* SPDX-License-Identifier: MIT
 *
 * Prepares the mountpoint, mounts and unmounts it through libfuse or fusermount3, reads
 * /proc/self/mountinfo, and raises the read-ahead of the mount.
 */

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuse/operations.h"

/* ---- Read the mount table ---- */

static bool is_octal(char digit)
{
    return digit >= '0' && digit <= '7';
}

/* The table escapes space, tab, newline and backslash as \ooo. Works in place. */
static void unescape(char *text)
{
    char *out = text;
    while (*text) {
        if (text[0] == '\\' && is_octal(text[1]) && is_octal(text[2]) && is_octal(text[3])) {
            *out++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
            text += 4;
        } else {
            *out++ = *text++;
        }
    }
    *out = '\0';
}

/* Parses a line, and modifies it. Returns false if it is not for `mountpoint`. */
static bool parse_line(char *line, const char *mountpoint, struct nt_mountinfo *info)
{
    struct nt_mountinfo found;
    int position = 0;
    const char *rest = strstr(line, " - "); /* ends the optional fields */
    if (!rest || sscanf(rest, " - %63s", found.type) != 1 ||
        sscanf(line, "%*s %*s %u:%u %*s %n", &found.major, &found.minor, &position) != 2 || !position)
        return false;
    char *path = line + position;
    path[strcspn(path, " ")] = '\0';
    unescape(path);
    if (strcmp(path, mountpoint) != 0)
        return false;
    *info = found;
    return true;
}

bool nt_mountinfo_find(FILE *stream, const char *mountpoint, struct nt_mountinfo *info)
{
    bool found = false;
    NT_AUTO_FREE char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stream) > 0)
        found |= parse_line(line, mountpoint, info);
    return found;
}

bool nt_mountinfo_get(const char *mountpoint, struct nt_mountinfo *info)
{
    FILE *stream = fopen("/proc/self/mountinfo", "re");
    if (!stream)
        return false;
    bool found = nt_mountinfo_find(stream, mountpoint, info);
    fclose(stream);
    return found;
}

/* ---- Raise the readahead ---- */

/* Raises the readahead of the mount at `mountpoint`, so that buffered reads arrive in larger pieces.
 * Only root may do this. For others, and without /sys, reads stay at the kernel's 128 KiB. */
static void readahead_raise(const char *mountpoint)
{
    /* More is hardly faster, and page faults read as much around an offset, also of other columns. */
    static const char kibibytes[] = "256";
    struct nt_mountinfo info;
    if (!nt_mountinfo_get(mountpoint, &info))
        return;
    char path[64];
    snprintf(path, sizeof(path), "/sys/class/bdi/%u:%u/read_ahead_kb", info.major, info.minor);
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
        return;
    ssize_t written = write(descriptor, kibibytes, strlen(kibibytes));
    (void)written; /* only a hint */
    close(descriptor);
}

/* ---- Prepare the mountpoint ---- */

extern char **environ;

#define MOUNT_TYPE_PREFIX "fuse.ntuplefs"

/* Real path of the parent + "/" + last component, for a missing or inaccessible directory. */
static char *absolute_in_parent(const char *path)
{
    NT_AUTO_FREE char *copy = strdup(path);
    char *result;
    if (!copy)
        return NULL;
    size_t length = strlen(copy);
    while (length > 1 && copy[length - 1] == '/')
        copy[--length] = '\0';
    char *slash = strrchr(copy, '/');
    const char *name = slash ? slash + 1 : copy;
    if (slash)
        *slash = '\0';
    NT_AUTO_FREE char *parent = realpath(!slash ? "." : slash == copy ? "/" : copy, NULL);
    if (!parent || asprintf(&result, "%s/%s", strcmp(parent, "/") == 0 ? "" : parent, name) < 0)
        return NULL;
    return result;
}

/* Returns 0, or the errno value why a directory is unusable. The kernel may answer stat() and readdir()
 * from its cache although the daemon is dead; statfs() always asks the daemon. */
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

/* Returns its exit status, or -1 if it cannot run. */
static int run_fusermount(const char *const *arguments)
{
    pid_t process;
    int status;
    if (posix_spawnp(&process, arguments[0], NULL, NULL, (char *const *)arguments, environ) != 0)
        return -1;
    if (TEMP_FAILURE_RETRY(waitpid(process, &status, 0)) < 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool nt_unmount(const char *path, bool is_lazy)
{
    if (umount2(path, UMOUNT_NOFOLLOW | (is_lazy ? MNT_DETACH : 0)) == 0)
        return true;
    const char *const arguments[] = {"fusermount3", is_lazy ? "-uqz" : "-uq", "--", path, NULL};
    return errno == EPERM && run_fusermount(arguments) == 0;
}

/* Handles an earlier ntuplefs mount: refuses a running one; unmounts or reports a dead one. */
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
                       "%s: a dead mount of ntuplefs is here; run \"fusermount3 -u %s\" or use -o force",
                       path, path);
    if (!nt_unmount(path, true))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: cannot unmount the dead mount of ntuplefs",
                       path);
    return NT_OK;
}

/* A directory that cannot be listed counts as not empty. */
static bool is_empty(const char *path)
{
    unsigned names = 0;
    DIR *directory = opendir(path);
    while (directory && names <= 2 && readdir(directory)) /* "." and ".." */
        names++;
    if (directory)
        closedir(directory);
    return directory && names <= 2;
}

static enum nt_status find_or_make(struct nt_mountpoint *mountpoint, unsigned flags, struct nt_error *error)
{
    const char *path = mountpoint->path;
    int problem = probe(path);
    NT_TRY(clear_previous(path, problem, flags & NT_MOUNTPOINT_FORCE, error));
    if (is_dead(problem))
        problem = probe(path);
    if (problem == ENOENT && mkdir(path, 0755) == 0) {
        mountpoint->is_ours = true;
        return NT_OK;
    }
    if (problem == ENOTDIR)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: not a directory; %s", path,
                       flags & NT_MOUNTPOINT_EMPTY ? "give a mountpoint as the last argument"
                                                   : "the last argument is the mountpoint");
    if (problem != 0)
        return nt_fail_system(error, problem == ENOENT ? errno : problem, "%s", path);
    if (flags & NT_MOUNTPOINT_EMPTY && !is_empty(path))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "%s: exists and is not empty; give a mountpoint as the last argument", path);
    return NT_OK;
}

/* An earlier mount that created the directory removes it when it ends, which may be now. The shared lock
 * prevents that. Returns false if the directory is gone, or about to be removed. A file system that has no
 * locks cannot prevent it. */
static bool lock_directory(struct nt_mountpoint *mountpoint)
{
    struct stat locked, named;
    mountpoint->directory = open(mountpoint->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (mountpoint->directory < 0)
        return errno != ENOENT;
    bool is_ending = flock(mountpoint->directory, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    return !is_ending && fstat(mountpoint->directory, &locked) == 0 && stat(mountpoint->path, &named) == 0 &&
           locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
}

static void close_directory(struct nt_mountpoint *mountpoint)
{
    if (mountpoint->directory >= 0)
        close(mountpoint->directory);
    mountpoint->directory = -1;
}

enum nt_status nt_mountpoint_prepare(struct nt_mountpoint *mountpoint, const char *path, unsigned flags,
                                     struct nt_error *error)
{
    static const struct timespec millisecond = {0, 1000000};
    *mountpoint = (struct nt_mountpoint){.directory = -1};
    if (!*path) /* an unset shell variable; would otherwise mean the working directory */
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "the mountpoint has an empty name");
    mountpoint->path = realpath(path, NULL);
    if (!mountpoint->path)
        mountpoint->path = absolute_in_parent(path);
    if (!mountpoint->path)
        return nt_fail_system(error, errno, "%s", path);
    enum nt_status status = find_or_make(mountpoint, flags, error);
    for (int tries = 0; status == NT_OK && tries < 100 && !lock_directory(mountpoint); tries++) {
        close_directory(mountpoint);
        nanosleep(&millisecond, NULL);
        status = find_or_make(mountpoint, flags, error);
    }
    if (status != NT_OK)
        nt_mountpoint_release(mountpoint);
    return status;
}

void nt_mountpoint_release(struct nt_mountpoint *mountpoint)
{
    if (!mountpoint->path)
        return;
    /* Another mount that has the lock uses the directory. */
    if (mountpoint->is_ours && (flock(mountpoint->directory, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK))
        rmdir(mountpoint->path);
    close_directory(mountpoint);
    free(mountpoint->path);
    *mountpoint = (struct nt_mountpoint){0};
}

/* ---- Mount and unmount ---- */

/* libfuse runs this program for all users but root, and does not say which package it is in. */
static bool has_fusermount(void)
{
    for (const char *folder = getenv("PATH"); folder && *folder; folder += strspn(folder, ":")) {
        size_t length = strcspn(folder, ":");
        char path[4096];
        snprintf(path, sizeof(path), "%.*s/fusermount3", (int)length, folder);
        if (access(path, X_OK) == 0)
            return true;
        folder += length;
    }
    return geteuid() == 0;
}

/* The open sockets among the lowest 64 descriptors, a bit for each. libfuse does not report the socket
 * that it keeps for auto_unmount; it is the one that is new. Few descriptors are open then. */
static uint64_t sockets(void)
{
    uint64_t found = 0;
    for (int descriptor = 0; descriptor < 64; descriptor++) {
        struct stat attributes;
        if (fstat(descriptor, &attributes) == 0 && S_ISSOCK(attributes.st_mode))
            found |= UINT64_C(1) << descriptor;
    }
    return found;
}

static enum nt_status mount_session(struct nt_kernel_mount *mount, const struct nt_mount_settings *settings,
                                    struct fuse_session *session, int *descriptors_ret, int *count_ret,
                                    struct nt_error *error)
{
    const uint64_t before = sockets();
    struct nt_mountinfo info = {0};
    if (fuse_session_mount(session, settings->mountpoint) != 0)
        return nt_fail(error, NT_IO, NT_NO_OFFSET, "cannot mount on %s%s", settings->mountpoint,
                       has_fusermount() ? "" : ": fusermount3 is missing; install the package fuse3");
    mount->mountpoint = settings->mountpoint;
    mount->is_made = nt_mountinfo_get(settings->mountpoint, &info); /* nothing covers it yet */
    mount->major = info.major;
    mount->minor = info.minor;
    const uint64_t opened = sockets() & ~before;
    *count_ret = 0;
    if (opened)
        descriptors_ret[(*count_ret)++] = __builtin_ctzll(opened);
    descriptors_ret[(*count_ret)++] = fuse_session_fd(session);
    return NT_OK;
}

/* libfuse frees a mounted session only together with an unmount of whatever is mounted there then. So
 * the session stays, reachable for leak checkers; its descriptor is passed on. */
static struct fuse_session *volatile kept;

enum nt_status nt_kernel_mount_make(struct nt_kernel_mount *mount, const struct nt_mount_settings *settings,
                                    int descriptors_ret[NT_MESSAGE_DESCRIPTORS], int *count_ret,
                                    struct nt_error *error)
{
    static const struct fuse_lowlevel_ops none;
    struct fuse_session *session;
    NT_TRY(nt_session_new(settings, &none, NULL, &session, error));
    enum nt_status status = mount_session(mount, settings, session, descriptors_ret, count_ret, error);
    if (status != NT_OK) {
        fuse_session_destroy(session);
        return status;
    }
    kept = session;
    readahead_raise(settings->mountpoint);
    return NT_OK;
}

bool nt_kernel_mount_end(struct nt_kernel_mount *mount, bool is_lazy)
{
    struct nt_mountinfo info;
    if (!mount->is_made || !nt_mountinfo_get(mount->mountpoint, &info) || info.major != mount->major ||
        info.minor != mount->minor || !nt_unmount(mount->mountpoint, is_lazy))
        return false;
    mount->is_made = false;
    return true;
}
