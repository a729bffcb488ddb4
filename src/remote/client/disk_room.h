/* SPDX-License-Identifier: MIT
 *
 * The folder of a cache on disk, and how much is in it.
 */
#ifndef NT_IO_DISK_ROOM_H
#define NT_IO_DISK_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

enum { NT_DISK_NAME_LENGTH = 32 };

/* A file of the folder that this process has open. */
struct nt_disk_name {
    char text[NT_DISK_NAME_LENGTH + 1];
    struct nt_disk_name *next;
};

struct nt_disk_cache {
    int folder; /* -1: there is none, and nothing is kept */
    uint64_t most_bytes;
    uint64_t allowance; /* that may be written before the folder is looked through again */
    uint64_t read_bytes, written_bytes, bad_pieces;
    struct nt_disk_name *first;
};

/* The folder is made where it is missing. It must be the user's, and nobody else may write to it. */
enum nt_status nt_disk_cache_open(struct nt_disk_cache *cache, const char *path, uint64_t most_bytes,
                                  struct nt_error *error);
void nt_disk_cache_close(struct nt_disk_cache *cache);

/* The most that can be asked for at once. */
uint64_t nt_disk_room_share(const struct nt_disk_cache *cache);
/* Whether so much may be written. What was used longest ago goes where there is no room, but nothing that this process has open. */
bool nt_disk_room_take(struct nt_disk_cache *cache, uint64_t bytes);
/* It takes nothing any more, even of others who have it open. */
void nt_disk_room_remove(struct nt_disk_cache *cache, const char *name);

#endif
