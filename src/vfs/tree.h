/* SPDX-License-Identifier: MIT
 *
 * What a tree is told, and the classes of its files.
 */
#ifndef NT_VFS_TREE_H
#define NT_VFS_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntuple/arrow.h>
#include <ntuple/choice.h>
#include <ntuple/format.h>

#include "chain/chain.h"

#define NT_VFS_ROOT 1

/* Where texts are kept that are made whole, unless the options say another place. */
#define NT_VFS_TEXT_DIRECTORY "/var/tmp"

/* Entries of a data set: its path from the root, "" for the only one of the only source. Both outlive the tree. */
struct nt_vfs_choice {
    const char *dataset;
    const struct nt_choice *choice;
};

struct nt_vfs_options {
    struct nt_open_options open;
    const struct nt_vfs_choice *choices; /* outlive the tree */
    size_t choice_count;
    uint64_t cache_bytes;       /* 0: the reader's default */
    bool always_ahead;          /* as the reader's option */
    unsigned threads;           /* workers; 0: none */
    bool list_sized;            /* leave unsized files out of listings (they still open by name) */
    bool text_sized;            /* make every text whole for its size: no file is unsized */
    uint64_t text_bytes;        /* with text_sized: as disk_bytes in content.h; 0: 16 GiB */
    const char *text_directory; /* and where; NULL: /var/tmp. Outlives the tree */
    bool follow_links;          /* out of mirrored folders; else they are refused */
    bool is_told;               /* by nt_vfs_know and nt_vfs_forget; else no number is given again */
    const struct nt_chain_list
        *chain; /* the sources are these files, as one; outlives the tree. NULL: they are not */
    struct nt_chain_options chain_options;
    const char *const *sandbox; /* the parts of it that hold, for version.json; ends with NULL. NULL: none */
    bool verify_on_open;        /* check all pages of a .bin, .npy or .arrow file when it is opened */
    bool arrow_strings_binary;
    enum nt_arrow_unions arrow_unions;
    const unsigned *owner, *group; /* shown instead of the sources' (NULL); must outlive the tree */
    /* One line for each failure that was not seen before (log). May be NULL. */
    void (*report)(void *context, const char *line);
    /* By a thread that is about to work or to wait for long: before it loads a page of 32 KiB and more or a page
     * list, opens a file, or makes a text that may be long. May be NULL. */
    void (*before_slow_work)(void *context);
    void *context;
};

enum nt_vfs_class {
    NT_VFS_DIRECTORY,
    NT_VFS_SIZED,    /* size known from metadata */
    NT_VFS_PRODUCED, /* made when looked up, kept within a bound; size exact */
    NT_VFS_UNSIZED,  /* made while it is read: st_size 0, from the beginning on */
};

/* Somebody who waits for an answer, and may give up. */
struct nt_vfs_caller {
    bool (*is_gone)(void *context);
    void *context;
};

#endif
