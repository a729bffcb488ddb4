/* SPDX-License-Identifier: MIT
 *
 * A directory's entries in batches: bounded memory for directories of any size.
 */
#ifndef NT_CLI_LISTING_H
#define NT_CLI_LISTING_H

#include "vfs/vfs.h"

enum { NT_LISTING_BATCH = 128 };

/* Deeper trees are refused: a guard for the stack, far above what files and directories have. */
enum { NT_DEEPEST_DIRECTORY = 1024 };

struct nt_tree_entry {
    char name[256];
    uint64_t node;
    enum nt_vfs_class class;
};

struct nt_dir_listing {
    struct nt_vfs *vfs;
    uint64_t directory;
    uint64_t cursor; /* where the next batch starts */
    bool is_at_end;
    size_t count;
    struct nt_tree_entry entries[NT_LISTING_BATCH];
};

/* NULL without memory, or below NT_DEEPEST_DIRECTORY (`error` says so). Free with free(). */
struct nt_dir_listing *nt_dir_listing_new(struct nt_vfs *vfs, uint64_t directory, unsigned depth,
                                          struct nt_error *error);

/* Read the next batch: `count` is 0 at the end. */
enum nt_status nt_dir_listing_next(struct nt_dir_listing *listing, struct nt_error *error);

#endif
