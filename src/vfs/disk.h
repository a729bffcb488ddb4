/* SPDX-License-Identifier: MIT
 *
 * What the disk has now: attributes of files and folders, what lies in a folder, and whether a file is still
 * the same.
 */
#ifndef NT_VFS_DISK_H
#define NT_VFS_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "core/base/error.h"

struct nt_folder;

struct nt_disk_entry {
    char *name;
    struct stat stat;
    bool is_folder; /* to be mirrored; else a file or a folder that is a data set */
};

enum nt_status nt_disk_stat(const char *path, struct stat *attributes, struct nt_error *error);
/* Same inode, size and times of modification. */
bool nt_disk_is_same(const struct stat *left, const struct stat *right);
/* The same of what may be a folder, whose entries are then those that it had. Its time of modification tells that only if it
 * was settled: older than the clock's step. */
bool nt_disk_is_unchanged(const struct stat *left, const struct stat *right);
bool nt_disk_is_settled(const struct stat *attributes);

/* The files and folders in a folder, by name. Hidden ones, special files and links to folders are left out.
 */
enum nt_status nt_disk_list(const char *path, struct nt_disk_entry **entries_ret, size_t *count_ret,
                            struct nt_error *error);
/* The same of a folder on a server. What its folders are is not known before they are asked for: none of them is told to be mirrored. */
enum nt_status nt_disk_list_folder(struct nt_folder *folder, struct nt_disk_entry **entries_ret,
                                   size_t *count_ret, struct nt_error *error);
/* NT_OK where a path, which begins with the folder's, leads to what lies beneath it; else which link leads out. */
enum nt_status nt_disk_check_beneath(const char *folder, const char *path, struct nt_error *error);
void nt_disk_free(struct nt_disk_entry *entries, size_t count);

#endif
