/* SPDX-License-Identifier: MIT
 *
 * In: a folder that files are written to, by several processes. Out: no more in it than was said. It is looked through again whenever a
 * sixteenth of that has been written, down to seven eighths: so two processes keep to it together.
 */
#include "remote/client/disk_room.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/grow.h"
#include "core/io/descriptor.h"

struct file {
    char name[NT_DISK_NAME_LENGTH + 1];
    uint64_t bytes;
    struct timespec used;
};

struct files {
    struct file *list;
    size_t count, capacity;
    uint64_t bytes;
};

enum nt_status nt_disk_cache_open(struct nt_disk_cache *cache, const char *path, uint64_t most_bytes,
                                  struct nt_error *error)
{
    struct stat attributes;
    *cache = (struct nt_disk_cache){.folder = -1, .most_bytes = most_bytes};
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return nt_fail_system(error, errno, "%s cannot be made", path);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder < 0 || fstat(folder, &attributes) != 0) {
        nt_fail_system(error, errno, "%s cannot be opened", path);
        if (folder >= 0)
            close(folder);
        return NT_IO;
    }
    enum nt_status status = nt_check_writers(&attributes, path, error);
    if (status == NT_OK)
        cache->folder = folder;
    else
        close(folder);
    return status;
}

void nt_disk_cache_close(struct nt_disk_cache *cache)
{
    if (cache->folder >= 0)
        close(cache->folder);
    cache->folder = -1;
}

void nt_disk_room_remove(struct nt_disk_cache *cache, const char *name)
{
    int file = openat(cache->folder, name, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (file >= 0)
        close(file);
    unlinkat(cache->folder, name, 0);
}

/* ---- looking through ---- */

static bool is_later(struct timespec one, struct timespec other)
{
    return one.tv_sec != other.tv_sec ? one.tv_sec > other.tv_sec : one.tv_nsec > other.tv_nsec;
}

static int compare(const void *one, const void *other)
{
    const struct file *left = one, *right = other;
    return is_later(left->used, right->used) - is_later(right->used, left->used);
}

/* Files that are not the cache's are left alone, and not counted. */
static void note(struct files *files, const struct nt_disk_cache *cache, const char *name)
{
    struct stat attributes;
    if (strlen(name) != NT_DISK_NAME_LENGTH || strspn(name, "0123456789abcdef") != NT_DISK_NAME_LENGTH ||
        fstatat(cache->folder, name, &attributes, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(attributes.st_mode))
        return;
    struct file *list = nt_grow(files->list, files->count, &files->capacity, sizeof(*list));
    if (!list)
        return;
    files->list = list;
    struct file *file = &list[files->count++];
    memcpy(file->name, name, sizeof(file->name));
    file->bytes = (uint64_t)attributes.st_blocks * 512;
    file->used = is_later(attributes.st_atim, attributes.st_mtim) ? attributes.st_atim : attributes.st_mtim;
    files->bytes += file->bytes;
}

static bool look(struct files *files, const struct nt_disk_cache *cache)
{
    int folder = openat(cache->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = folder >= 0 ? fdopendir(folder) : NULL;
    const struct dirent *found;
    if (!directory) {
        if (folder >= 0)
            close(folder);
        return false;
    }
    while ((found = readdir(directory)))
        note(files, cache, found->d_name);
    closedir(directory);
    return true;
}

static bool is_open(const struct nt_disk_cache *cache, const char *name)
{
    for (const struct nt_disk_name *open = cache->first; open; open = open->next)
        if (strcmp(open->text, name) == 0)
            return true;
    return false;
}

uint64_t nt_disk_room_share(const struct nt_disk_cache *cache)
{
    return cache->most_bytes / 16;
}

/* What may be written from now on, after others have made room. */
static uint64_t allow(struct nt_disk_cache *cache)
{
    struct files files = {0};
    uint64_t share = nt_disk_room_share(cache), goal = cache->most_bytes - 2 * share;
    bool is_known = look(&files, cache);
    if (files.count)
        qsort(files.list, files.count, sizeof(*files.list), compare);
    for (size_t i = 0; i < files.count && files.bytes > goal; i++)
        if (!is_open(cache, files.list[i].name)) {
            nt_disk_room_remove(cache, files.list[i].name);
            files.bytes -= files.list[i].bytes;
        }
    free(files.list);
    return is_known && files.bytes <= goal ? share : 0;
}

bool nt_disk_room_take(struct nt_disk_cache *cache, uint64_t bytes)
{
    if (cache->allowance < bytes)
        cache->allowance = allow(cache);
    if (cache->allowance < bytes)
        return false;
    cache->allowance -= bytes;
    return true;
}
