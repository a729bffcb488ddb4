/* SPDX-License-Identifier: MIT
 *
 * Comes in: a path. Goes out: what the file system says about it.
 */
#include "vfs/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum nt_status nt_folder_stat(const char *path, struct stat *attributes, struct nt_error *error)
{
    return stat(path, attributes) == 0 ? NT_OK : nt_fail_system(error, errno, "%s", path);
}

bool nt_folder_is_same(const struct stat *left, const struct stat *right)
{
    if (left->st_dev != right->st_dev || left->st_ino != right->st_ino ||
        (left->st_mode & S_IFMT) != (right->st_mode & S_IFMT))
        return false;
    return S_ISDIR(left->st_mode) ||
           (left->st_size == right->st_size && left->st_mtim.tv_sec == right->st_mtim.tv_sec &&
            left->st_mtim.tv_nsec == right->st_mtim.tv_nsec);
}

/* What is in a directory that is a data set: BLZ arrays and tables, Lance data sets. */
static const char *const dataset_marks[] = {"meta/storage", "__rootdirs__", "_versions"};

bool nt_folder_is_dataset(const char *path)
{
    char inside[PATH_MAX];
    for (size_t i = 0; i < sizeof(dataset_marks) / sizeof(dataset_marks[0]); i++) {
        int length = snprintf(inside, sizeof(inside), "%s/%s", path, dataset_marks[i]);
        if (length > 0 && (size_t)length < sizeof(inside) && access(inside, F_OK) == 0)
            return true;
    }
    return false;
}

static int compare_entries(const void *left, const void *right)
{
    const struct nt_folder_entry *a = left, *b = right;
    return strcmp(a->name, b->name);
}

/* False where the entry is none that is shown. */
static bool look_at(const char *folder, int descriptor, const char *name, struct nt_folder_entry *entry)
{
    struct stat link;
    if (name[0] == '.' || fstatat(descriptor, name, &link, AT_SYMLINK_NOFOLLOW) ||
        fstatat(descriptor, name, &entry->stat, 0))
        return false;
    if (S_ISREG(entry->stat.st_mode)) {
        entry->is_folder = false;
        return true;
    }
    if (!S_ISDIR(entry->stat.st_mode) || S_ISLNK(link.st_mode)) /* a linked folder may contain itself */
        return false;
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/%s", folder, name);
    entry->is_folder = !(length > 0 && (size_t)length < sizeof(path) && nt_folder_is_dataset(path));
    return true;
}

static bool append(struct nt_folder_entry **entries, size_t *count, const struct nt_folder_entry *entry,
                   const char *name)
{
    if ((*count & (*count - 1)) == 0) { /* grow at powers of two */
        struct nt_folder_entry *more = realloc(*entries, (*count ? 2 * *count : 1) * sizeof(**entries));
        if (!more)
            return false;
        *entries = more;
    }
    (*entries)[*count] = *entry;
    (*entries)[*count].name = strdup(name);
    return (*entries)[*count].name && ++*count;
}

enum nt_status nt_folder_read(const char *path, struct nt_folder_entry **entries_ret, size_t *count_ret,
                              struct nt_error *error)
{
    struct nt_folder_entry *entries = NULL, entry = {0};
    size_t count = 0;
    enum nt_status status = NT_OK;
    DIR *directory = opendir(path);
    if (!directory)
        return nt_fail_system(error, errno, "%s", path);
    while (status == NT_OK) {
        errno = 0;
        const struct dirent *found = readdir(directory);
        if (!found && errno)
            status = nt_fail_system(error, errno, "%s", path);
        if (!found)
            break;
        if (look_at(path, dirfd(directory), found->d_name, &entry) &&
            !append(&entries, &count, &entry, found->d_name))
            status = nt_fail_memory(error);
    }
    closedir(directory);
    if (status != NT_OK) {
        nt_folder_free(entries, count);
        return status;
    }
    if (count)
        qsort(entries, count, sizeof(*entries), compare_entries);
    *entries_ret = entries;
    *count_ret = count;
    return NT_OK;
}

void nt_folder_free(struct nt_folder_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(entries[i].name);
    free(entries);
}
