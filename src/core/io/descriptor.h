/* SPDX-License-Identifier: MIT
 *
 * Regular files as sources, and what all sources of files have in common: opening, reading and recognising a
 * file again.
 */
#ifndef NT_IO_DESCRIPTOR_H
#define NT_IO_DESCRIPTOR_H

#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/stat.h>

#include "core/base/error.h"
#include "core/io/source.h"

/* What tells a file from another one, or from itself before it was written to. The time of the last status
 * change (ctime) is left out: a new mode, owner, name or link changes it, but not a byte of the file. */
struct nt_identity {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified;
    /* The size that the file had when a change was found out, else -1: it stays changed, and the message the
     * same, whatever the file looks like later. */
    atomic_llong changed_size;
};

struct nt_identity nt_identity_of(const struct stat *attributes);

/* NT_CHANGED where `found` is not `expected`, now or at any time before; always the same message. */
enum nt_status nt_identity_compare(const char *path, struct nt_identity *expected,
                                   const struct nt_identity *found, struct nt_error *error);

/* Flags of open(2) for a file that is read; opening a FIFO must not wait for a writer. */
#define NT_DESCRIPTOR_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/* Tell the identity of a file that was opened so. NT_INVALID for anything else than a regular file. */
enum nt_status nt_descriptor_identify(int descriptor, const char *path, struct nt_identity *identity_ret,
                                      struct nt_error *error);

/* Exactly `bytes` bytes of a file that is, when they have been read, still what `identity` tells: else
 * NT_CHANGED. NT_TRUNCATED where it ends early. */
enum nt_status nt_descriptor_read(int descriptor, const char *path, struct nt_identity *identity,
                                  uint64_t offset, void *buffer, size_t bytes, struct nt_error *error);

/* Whether the file behind the descriptor is still what `identity` tells: NT_OK, NT_CHANGED or NT_IO. */
enum nt_status nt_descriptor_check(int descriptor, const char *path, struct nt_identity *identity,
                                   struct nt_error *error);

/* What a file or folder says is trusted only where nobody but the user and root may have written it: NT_INVALID where
 * another user owns it, or group or others may write to it. `path` names it in the message. */
enum nt_status nt_check_writers(const struct stat *attributes, const char *path, struct nt_error *error);

enum nt_status nt_descriptor_stat(int descriptor, const char *path, struct stat *attributes,
                                  struct nt_error *error);

/* A source that reads from the descriptor and closes it, also where this fails. */
enum nt_status nt_source_of_descriptor(int descriptor, const char *path, const struct nt_identity *identity,
                                       struct nt_source **source_ret, struct nt_error *error);

#endif
