/* SPDX-License-Identifier: MIT
 *
 * In: what the system says of memory. Out: a bound for metadata. Control groups of both versions: a line "0::/path" names the
 * one whose limit is in memory.max, "4:memory:/path" that of memory.limit_in_bytes.
 */
#include "core/model/ceiling.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MEBIBYTE (UINT64_C(1) << 20)

enum { PATH_BYTES = 4096 };

static uint64_t least(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

/* A number; UINT64_MAX where it says "max" or is not there. */
static uint64_t read_number(const char *path)
{
    uint64_t number = UINT64_MAX;
    FILE *file = fopen(path, "re");
    if (!file)
        return UINT64_MAX;
    if (fscanf(file, "%" SCNu64, &number) != 1)
        number = UINT64_MAX;
    fclose(file);
    return number;
}

/* Of the group at a path of its own, and of all above it. */
static uint64_t read_groups(const char *mount, const char *group, const char *name)
{
    char path[PATH_BYTES], file[PATH_BYTES + 64];
    uint64_t memory = UINT64_MAX;
    if (snprintf(path, sizeof(path), "%s%s", mount, group) >= (int)sizeof(path))
        return memory;
    for (size_t end = strlen(path), first = strlen(mount); end >= first; end--) {
        if (path[end] != '/' && path[end])
            continue;
        path[end] = '\0';
        snprintf(file, sizeof(file), "%s/%s", path, name);
        memory = least(memory, read_number(file));
    }
    return memory;
}

static uint64_t read_line(char *line, const char *root)
{
    char mount[PATH_BYTES];
    char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return UINT64_MAX;
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    controllers++;
    if (*controllers == '\0')
        return read_groups(root, group, "memory.max");
    if (strcmp(controllers, "memory") != 0)
        return UINT64_MAX;
    snprintf(mount, sizeof(mount), "%s/memory", root);
    return read_groups(mount, group, "memory.limit_in_bytes");
}

uint64_t nt_group_memory(const char *groups, const char *root)
{
    char line[PATH_BYTES];
    uint64_t memory = UINT64_MAX;
    FILE *file = fopen(groups, "re");
    while (file && fgets(line, sizeof(line), file))
        memory = least(memory, read_line(line, root));
    if (file)
        fclose(file);
    return memory;
}

uint64_t nt_metadata_ceiling_of(uint64_t memory_bytes)
{
    const uint64_t most = 1024 * MEBIBYTE, wanted = 160 * MEBIBYTE;
    uint64_t eighth = memory_bytes / 8, room = least(wanted, memory_bytes / 8 * 5);
    return least(most, eighth > room ? eighth : room);
}

static uint64_t memory_here;

static void find_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    uint64_t machine = pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes : UINT64_MAX;
    memory_here = least(machine, nt_group_memory("/proc/self/cgroup", "/sys/fs/cgroup"));
}

uint64_t nt_memory_here(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_memory);
    return memory_here;
}

uint64_t nt_metadata_ceiling(void)
{
    return nt_metadata_ceiling_of(nt_memory_here());
}
