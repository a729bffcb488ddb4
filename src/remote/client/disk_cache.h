/* SPDX-License-Identifier: MIT
 *
 * Bytes of remote files that stay on disk from one program to the next: a folder, with a file for each version of a remote file. What is
 * there is believed only if its checksum holds. Several processes may have one folder. Users of one have a lock for all of it.
 */
#ifndef NT_IO_DISK_CACHE_H
#define NT_IO_DISK_CACHE_H

#include "remote/client/disk_room.h"

/* What is kept of a file of `size` bytes. `key` tells it from all others, and is seen by who reads the folder. NULL where nothing
 * can be kept. */
struct nt_disk_cache_file *nt_disk_cache_file_open(struct nt_disk_cache *cache, const char *key,
                                                   uint64_t size);
void nt_disk_cache_file_close(struct nt_disk_cache_file *entry);

/* The piece that has the byte at `offset`, and its end; else false, and where the next one begins, or UINT64_MAX. Of NULL there
 * is none. */
bool nt_disk_cache_file_find(const struct nt_disk_cache_file *entry, uint64_t offset,
                             uint64_t *end_or_next_ret);
/* Bytes of one piece. False where it is not what was written: then it is there no more. */
bool nt_disk_cache_file_read(struct nt_disk_cache_file *entry, uint64_t offset, void *bytes, size_t count);
/* Keep a range. Nothing is said where that cannot be. */
void nt_disk_cache_file_add(struct nt_disk_cache_file *entry, uint64_t offset, const uint8_t *bytes,
                            size_t count);
/* Bytes that make no sense: the pieces that have some of them are not there any more. */
void nt_disk_cache_file_forget(struct nt_disk_cache_file *entry, uint64_t offset, uint64_t bytes);

#endif
