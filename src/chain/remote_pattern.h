/* SPDX-License-Identifier: MIT
 *
 * Patterns that are addresses.
 */
#ifndef NT_CHAIN_REMOTE_PATTERN_H
#define NT_CHAIN_REMOTE_PATTERN_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/io/folder.h"

struct nt_fetcher;

/* A file or folder on a server that a pattern matches. */
struct nt_remote_match {
    const char *path;         /* below the folder in front of the pattern, of names as they are called */
    const char *address;      /* of a folder with a slash at its end */
    struct nt_folder *folder; /* that was listed, */
    const char *name;         /* and what it is called there */
    bool is_folder;
};

/* Folders that were listed, as they were then. */
struct nt_listed_folders {
    struct nt_folder **items;
    size_t count, capacity;
};

typedef enum nt_status nt_remote_take(void *context, const struct nt_remote_match *match,
                                      struct nt_error *error);

/* The same as nt_pattern_expand, of an address (nt_address_is_pattern) and by what its server tells of folders: one request for each folder
 * that is looked at. What `take` is given lies in the arena, and in folders that are added. NT_NOT_FOUND where nothing matches,
 * NT_LIMIT of a tree without an end; else as nt_folder_open_address. */
enum nt_status nt_remote_pattern_expand(const char *pattern, struct nt_fetcher *fetcher,
                                        struct nt_arena *arena, struct nt_listed_folders *folders,
                                        nt_remote_take *take, void *context, struct nt_error *error);

void nt_listed_folders_close(struct nt_listed_folders *folders);

#endif
