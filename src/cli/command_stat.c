/* SPDX-License-Identifier: MIT
 *
 * ntuple stat: what is known about a file or directory of the tree, as "key: value" lines: its attributes,
 * then its extended attributes without their common prefix.
 */
#include <limits.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"

#define XATTR_PREFIX "user.ntuplefs."

static const char *const class_names[] = {
    [NT_VFS_DIRECTORY] = "directory",
    [NT_VFS_SIZED] = "sized",
    [NT_VFS_PRODUCED] = "produced",
    [NT_VFS_UNSIZED] = "unsized",
};

static void print_text(const char *key, const char *value)
{
    printf("%s: ", key);
    nt_print_name(value);
    putchar('\n');
}

static void print_attributes(const char *path, const struct nt_vfs_attributes *attributes)
{
    const struct stat *stat = &attributes->stat;
    char mode[NT_MODE_TEXT], time[64];
    struct tm utc;
    print_text("path", *path ? path : "/");
    print_text("class", class_names[attributes->class]);
    if (attributes->class != NT_VFS_UNSIZED)
        printf("size: %jd\n", (intmax_t)stat->st_size);
    nt_format_mode(stat->st_mode, mode);
    printf("inode: %ju\nmode: %s\nuid: %ju\ngid: %ju\n", (uintmax_t)stat->st_ino, mode,
           (uintmax_t)stat->st_uid, (uintmax_t)stat->st_gid);
    if (gmtime_r(&stat->st_mtime, &utc) && strftime(time, sizeof(time), "%Y-%m-%dT%H:%M:%SZ", &utc))
        print_text("modified", time);
}

static enum nt_status print_xattrs(struct nt_vfs *vfs, uint64_t node, struct nt_error *error)
{
    struct nt_buffer names = {0}, value = {0};
    enum nt_status status = nt_vfs_listxattr(vfs, node, &names, error);
    for (size_t at = 0; status == NT_OK && at < names.length; at += strlen(names.bytes + at) + 1) {
        const char *name = names.bytes + at;
        bool is_ours = strncmp(name, XATTR_PREFIX, strlen(XATTR_PREFIX)) == 0;
        nt_buffer_clear(&value);
        status = nt_vfs_getxattr(vfs, node, name, &value, error);
        if (status == NT_OK)
            print_text(is_ours ? name + strlen(XATTR_PREFIX) : name, value.length ? value.bytes : "");
    }
    if (status == NT_OK && (names.failed || value.failed))
        status = nt_fail_memory(error);
    nt_buffer_deinit(&names);
    nt_buffer_deinit(&value);
    return status;
}

static enum nt_exit_status stat_path(void *context, struct nt_vfs *vfs, const char *path, uint64_t node)
{
    (void)context;
    struct nt_error error = {0};
    struct nt_vfs_attributes attributes;
    enum nt_status status = nt_vfs_stat(vfs, node, true, &attributes, &error);
    if (status == NT_OK) {
        print_attributes(path, &attributes);
        status = print_xattrs(vfs, node, &error);
    }
    return status == NT_OK ? NT_EXIT_OK : nt_complain(path, &error);
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    return nt_for_each_path(invocation, stat_path, NULL);
}

const struct nt_command nt_command_stat = {
    .name = "stat",
    .operands = "FILE [PATH...]",
    .help = "print attributes and extended attributes",
    .fewest = 1,
    .most = INT_MAX,
    .shows_broken = true,
    .run = run,
};
