/* SPDX-License-Identifier: MIT
 *
 * What the file sources have in common: opening, reading and recognising a regular file again.
 */
#ifndef NT_IO_DESCRIPTOR_H
#define NT_IO_DESCRIPTOR_H

#include <stddef.h>
#include <sys/stat.h>

#include <ntuple/error.h>

/* What tells a file from another one, or from itself before it was written to. The time of the last status
 * change (ctime) is left out: a new mode, owner, name or link changes it, but not a byte of the file. */
struct nt_identity {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified;
};

struct nt_identity nt_identity_of(const struct stat *attributes);

/* NT_CHANGED, with what differs, where `found` is not `expected`. */
enum nt_status nt_identity_compare(const char *path, const struct nt_identity *expected,
                                   const struct nt_identity *found, struct nt_error *error);

/* Open a regular file for reading and tell its identity. NT_INVALID for anything else than a regular file. */
enum nt_status nt_descriptor_open(const char *path, int *descriptor_ret, struct nt_identity *identity_ret,
                                  struct nt_error *error);

/* Exactly `bytes` bytes. A file that ends early is NT_CHANGED where it is no longer what `identity` tells,
 * else NT_TRUNCATED. */
enum nt_status nt_descriptor_read(int descriptor, const char *path, const struct nt_identity *identity,
                                  uint64_t offset, void *buffer, size_t bytes, struct nt_error *error);

/* Whether the file behind the descriptor is still what `identity` tells: NT_OK, NT_CHANGED or NT_IO. */
enum nt_status nt_descriptor_check(int descriptor, const char *path, const struct nt_identity *identity,
                                   struct nt_error *error);

enum nt_status nt_descriptor_stat(int descriptor, const char *path, struct stat *attributes,
                                  struct nt_error *error);

#endif
