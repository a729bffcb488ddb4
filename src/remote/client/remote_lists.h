/* SPDX-License-Identifier: MIT
 *
 * What the folders beneath an address have. Not for several threads at once: who has the lists has a lock.
 */
#ifndef NT_IO_REMOTE_LISTS_H
#define NT_IO_REMOTE_LISTS_H

#include <stdint.h>

#include <ntuple/text.h>

#include "core/base/error.h"

struct nt_fetcher;
struct nt_remote_entry;
struct nt_remote_inner;
struct nt_remote_list;

/* Filled in by who has them, but for: */
struct nt_remote_lists {
    struct nt_fetcher *fetcher;
    const char *address, *shown;   /* of the folder that they are all beneath */
    struct nt_remote_inner *inner; /* those that somebody wanted */
    uint64_t count;                /* of lists that were asked for */
};

void nt_remote_lists_deinit(struct nt_remote_lists *lists);

/* The list of a folder, "" of the outermost. NT_NOT_FOUND where there is no such folder, which the lists of those above may tell. It
 * is there until the next refreshing, or longer with a holder of its own. */
enum nt_status nt_remote_lists_get(struct nt_remote_lists *lists, struct nt_text name,
                                   struct nt_remote_list **list_ret, struct nt_error *error);
/* What the list of its folder tells of a file or folder. */
enum nt_status nt_remote_lists_find(struct nt_remote_lists *lists, const char *name,
                                    const struct nt_remote_entry **entry_ret, struct nt_error *error);
/* See nt_folder_refresh. The innermost folder on the way to a name that was listed is asked for again: those below it will be, when
 * they are wanted. What was known stays where nothing can be learned. */
enum nt_status nt_remote_lists_refresh(struct nt_remote_lists *lists, struct nt_text name,
                                       uint64_t *number_ret, struct nt_error *error);

#endif
