/* SPDX-License-Identifier: MIT
 *
 * Folders on the disk: what lies in them, and whether a file is still the same.
 */
#ifndef NT_VFS_FOLDER_H
#define NT_VFS_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include <ntuple/error.h>

struct nt_folder_entry {
    char *name;
    struct stat stat;
    bool is_folder; /* to be mirrored; else a file or a directory that is a data set */
};

enum nt_status nt_folder_stat(const char *path, struct stat *attributes, struct nt_error *error);
/* Same inode, size and times of modification. */
bool nt_folder_is_same(const struct stat *left, const struct stat *right);
/* A directory that some format takes as a whole. */
bool nt_folder_is_dataset(const char *path);

/* The files and folders in a folder, by name. Hidden ones, special files and links to folders are left out.
 */
enum nt_status nt_folder_read(const char *path, struct nt_folder_entry **entries_ret, size_t *count_ret,
                              struct nt_error *error);
void nt_folder_free(struct nt_folder_entry *entries, size_t count);

#endif
