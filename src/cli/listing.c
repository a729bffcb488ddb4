/* SPDX-License-Identifier: MIT
 *
 * In: a directory of the tree. Out: its entries, a batch at a time, in the tree's order.
 */
#include "cli/listing.h"

#include <stdio.h>
#include <stdlib.h>

struct nt_dir_listing *nt_dir_listing_new(struct nt_vfs *vfs, uint64_t directory, unsigned depth,
                                          struct nt_error *error)
{
    if (depth > NT_DEEPEST_DIRECTORY) {
        nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "more than %d directories deep", NT_DEEPEST_DIRECTORY);
        return NULL;
    }
    struct nt_dir_listing *listing = malloc(sizeof(*listing));
    if (!listing) {
        nt_fail_memory(error);
        return NULL;
    }
    listing->vfs = vfs;
    listing->directory = directory;
    listing->cursor = 0;
    listing->is_at_end = false;
    listing->count = 0;
    return listing;
}

static bool take(void *context, const char *name, uint64_t node, enum nt_vfs_class class,
                 uint64_t next_cursor)
{
    struct nt_dir_listing *listing = context;
    if (listing->count == NT_LISTING_BATCH) {
        listing->is_at_end = false;
        return false;
    }
    struct nt_tree_entry *entry = &listing->entries[listing->count++];
    snprintf(entry->name, sizeof(entry->name), "%s", name);
    entry->node = node;
    entry->class = class;
    listing->cursor = next_cursor;
    return true;
}

enum nt_status nt_dir_listing_next(struct nt_dir_listing *listing, struct nt_error *error)
{
    listing->count = 0;
    if (listing->is_at_end)
        return NT_OK;
    listing->is_at_end = true; /* unless an entry is left over */
    return nt_vfs_readdir(listing->vfs, listing->directory, listing->cursor, take, listing, error);
}
