/* SPDX-License-Identifier: MIT
 *
 * Comes in: a text, piece by piece. Goes out: any part of it. The file has no name from the beginning, so
 * that nothing is left behind, however the program ends.
 */
#include "vfs/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the file system has no files without a name, one that loses it at once. */
static int open_named(const char *directory)
{
    char *path = NULL;
    if (asprintf(&path, "%s/ntuplefs-text-XXXXXX", directory) < 0) {
        errno = ENOMEM;
        return -1;
    }
    int descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor >= 0)
        unlink(path);
    free(path);
    return descriptor;
}

static int open_nameless(const char *directory)
{
    int descriptor = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    bool is_unknown = descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT);
    return is_unknown ? open_named(directory) : descriptor;
}

/* Whatever the disk says, it is not that the text is not there. */
static enum nt_status fail_disk(struct nt_error *error, const char *directory)
{
    nt_fail_system(error, errno, "a text cannot be kept in %s", directory);
    if (error)
        error->status = NT_IO;
    return NT_IO;
}

static enum nt_status write_out(struct nt_spool *spool, const char *bytes, size_t count,
                                const char *directory, struct nt_error *error)
{
    while (count) {
        ssize_t written = pwrite(spool->descriptor, bytes, count, (off_t)spool->bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return fail_disk(error, directory);
        bytes += written;
        count -= (size_t)written;
        spool->bytes += (uint64_t)written;
    }
    return NT_OK;
}

static enum nt_status move_to_file(struct nt_spool *spool, const char *directory, struct nt_error *error)
{
    spool->descriptor = open_nameless(directory);
    if (spool->descriptor < 0)
        return fail_disk(error, directory);
    spool->bytes = 0;
    enum nt_status status = write_out(spool, spool->memory.bytes, spool->memory.length, directory, error);
    nt_buffer_deinit(&spool->memory);
    return status;
}

enum nt_status nt_spool_append(struct nt_spool *spool, const void *bytes, size_t count, uint64_t memory_bytes,
                               const char *directory, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (spool->descriptor < 0 && spool->bytes + count > memory_bytes)
        status = move_to_file(spool, directory, error);
    if (status != NT_OK)
        return status;
    if (spool->descriptor >= 0)
        return write_out(spool, bytes, count, directory, error);
    nt_buffer_append(&spool->memory, bytes, count);
    spool->bytes = spool->memory.length;
    return spool->memory.failed ? nt_fail_memory(error) : NT_OK;
}

enum nt_status nt_spool_read(const struct nt_spool *spool, uint64_t offset, void *buffer, size_t count,
                             struct nt_error *error)
{
    if (spool->descriptor < 0) {
        if (count)
            memcpy(buffer, spool->memory.bytes + offset, count);
        return NT_OK;
    }
    for (char *at = buffer; count;) {
        ssize_t got = pread(spool->descriptor, at, count, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return nt_fail_system(error, got < 0 ? errno : EIO, "a text that was kept cannot be read");
        at += got;
        count -= (size_t)got;
        offset += (uint64_t)got;
    }
    return NT_OK;
}

void nt_spool_deinit(struct nt_spool *spool)
{
    nt_buffer_deinit(&spool->memory);
    if (spool->descriptor >= 0)
        close(spool->descriptor);
    *spool = NT_SPOOL_EMPTY;
}
