/* SPDX-License-Identifier: MIT
 *
 * A file's text from its beginning to its end, made in one pass.
 */
#ifndef NT_VFS_WHOLE_H
#define NT_VFS_WHOLE_H

#include "vfs/pseudo.h"
#include "vfs/spool.h"

struct nt_whole {
    struct nt_spool spool;
    /* Why the text ends before its end, where something in the file is damaged; else NULL. From malloc. */
    struct nt_error *failure;
    bool is_long; /* nothing was kept */
};

struct nt_whole_limits {
    uint64_t bytes;        /* a longer text is long, or, where all are to be made, fails with NT_LIMIT */
    uint64_t memory_bytes; /* a longer text lies on disk */
    const char *directory; /* of the disk */
    bool may_be_long;
};

/* Make the text of the scope's row, which is PRODUCED or UNSIZED. What the machine refuses fails the call. */
enum nt_status nt_whole_make(const struct nt_scope *scope, const struct nt_whole_limits *limits,
                             struct nt_whole *whole, struct nt_error *error);
void nt_whole_deinit(struct nt_whole *whole);

/* What an open file of that size gives: of a damaged text there is one byte more than could be made, and who
 * reads it gets the failure. */
uint64_t nt_whole_size(const struct nt_whole *whole);
enum nt_status nt_whole_read(const struct nt_whole *whole, uint64_t offset, void *buffer, size_t bytes,
                             size_t *bytes_ret, struct nt_error *error);

#endif
