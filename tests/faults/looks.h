/* SPDX-License-Identifier: MIT
 *
 * Reads everything that the tree shows of a source, in steps. The results are kept as a digest. This code
 * allocates nothing, so every allocation is one of the tree.
 */
#include "vfs/vfs.h"

#pragma once

enum look {
    LOOK_ATTRIBUTES, /* lookup of each part of the path, stat */
    LOOK_LISTING,
    LOOK_XATTRS,
    LOOK_CONTENT,
    LOOK_TREE,   /* all of the above, for all paths */
    LOOK_VERIFY, /* what nt_verify finds in the file, without the tree */
    LOOK_DIFF,   /* each of its datasets with itself, without the tree */
    LOOK_ARROW,  /* schema and batches of its datasets as C structures, without the tree */
    LOOKS
};
extern const char *const look_names[LOOKS];

struct sight {
    enum nt_status status;  /* the first failure */
    enum nt_status refusal; /* the first environmental failure */
    enum nt_status last;    /* of the last call */
    uint64_t digest;        /* of everything that was seen, up to the failure */
    bool is_whole;          /* an environmental failure was retried at once, and then all was seen */
};

void look_at(struct nt_vfs *vfs, const char *path, enum look look, struct sight *sight);

struct tree_path {
    char *path; /* NULL: after the last one */
    bool is_directory;
};

/* Does the look apply to a path? A directory has no content, a file no listing. */
static inline bool look_applies(enum look look, const struct tree_path *at)
{
    return look != (at->is_directory ? LOOK_CONTENT : LOOK_LISTING);
}

/* Paths of the tree without its root ""; free them with free_paths. The daemon's counters are omitted. */
struct tree_path *list_paths(struct nt_vfs *vfs);
void free_paths(struct tree_path *paths);

/* The number of failures that the mount would show in errors.jsonl. */
unsigned count_failures(struct nt_vfs *vfs);
