/* SPDX-License-Identifier: MIT
 *
 * A text that is written once and then read: in memory while it is short, else in a file without a name.
 */
#ifndef NT_VFS_SPOOL_H
#define NT_VFS_SPOOL_H

#include "core/base/buffer.h"
#include "core/base/error.h"

struct nt_spool {
    struct nt_buffer memory; /* all of it, while `descriptor` is negative */
    uint64_t bytes;
    int descriptor;
};

#define NT_SPOOL_EMPTY ((struct nt_spool){.descriptor = -1})

/* Append to the text; from `memory_bytes` on it lies in a file in `directory`, which nobody else sees and
 * which ends with the spool or the program. A failure of the disk names the directory. */
enum nt_status nt_spool_append(struct nt_spool *spool, const void *bytes, size_t count, uint64_t memory_bytes,
                               const char *directory, struct nt_error *error);
/* Bytes [offset, offset + count), which must be there. Threads may read at once. */
enum nt_status nt_spool_read(const struct nt_spool *spool, uint64_t offset, void *buffer, size_t count,
                             struct nt_error *error);
void nt_spool_deinit(struct nt_spool *spool);

#endif
