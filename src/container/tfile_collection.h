/* SPDX-License-Identifier: MIT
 *
 * What is found of a ROOT file while it is opened: directories, anchors, trees and the classes of keys.
 */
#ifndef NT_CONTAINER_TFILE_COLLECTION_H
#define NT_CONTAINER_TFILE_COLLECTION_H

#include "container/container.h"

struct nt_tfile_collection {
    struct nt_file *file;
    struct nt_tfile_directory *directories; /* match the file's directories by index */
    uint32_t directory_count;
    struct nt_anchor_object *anchors;
    uint32_t anchor_count;
    struct nt_tfile_object *objects;
    uint32_t object_count;
    size_t directory_capacity, anchor_capacity, object_capacity;
    struct nt_tfile_class *classes; /* in the file's arena */
    uint32_t class_count;
    uint64_t other_keys;
    bool may_have_orphans;            /* a failure, or signs of more anchors: see struct nt_container */
    uint64_t info_offset, info_bytes; /* see struct nt_tfile */
};

enum nt_status nt_tfile_collection_init(struct nt_tfile_collection *found, struct nt_file *file,
                                        struct nt_error *error);
void nt_tfile_collection_deinit(struct nt_tfile_collection *found); /* accepts a zero-initialised one */

/* Adds a directory, also to the file; the first one is the root. */
enum nt_status nt_tfile_add_directory(struct nt_tfile_collection *found,
                                      const struct nt_tfile_directory *directory, uint32_t parent,
                                      struct nt_text name, struct nt_error *error);

/* Appends an anchor and copies the names of its key; the caller fills in the rest. NULL if out of
 * memory. Valid until the next call. */
struct nt_anchor_object *nt_tfile_add_anchor(struct nt_tfile_collection *found, uint32_t directory,
                                             struct nt_text name, struct nt_text class_name);
enum nt_status nt_tfile_set_failure(struct nt_tfile_collection *found, struct nt_anchor_object *anchor,
                                    const struct nt_error *failure, struct nt_error *error);
/* Adds an anchor that is only a failure, under the names of a key. */
enum nt_status nt_tfile_add_failure(struct nt_tfile_collection *found, uint32_t directory,
                                    const struct nt_tfile_key *key, const struct nt_error *failure,
                                    struct nt_error *error);

/* Appends a tree and copies the texts of its key. NULL if out of memory. Valid until the next call. */
struct nt_tfile_object *nt_tfile_add_object(struct nt_tfile_collection *found, uint32_t directory,
                                            const struct nt_tfile_key *key);
/* Of the trees without a list of keys, keeps the newest of each name that no readable listed tree has. */
enum nt_status nt_tfile_keep_newest_lost(struct nt_tfile_collection *found, struct nt_error *error);

enum nt_status nt_tfile_count_class(struct nt_tfile_collection *found, struct nt_text name,
                                    struct nt_error *error);

/* Marks the newest cycles and passes everything to the container. */
enum nt_status nt_tfile_collection_keep(struct nt_tfile_collection *found,
                                        const struct nt_tfile_header *header, struct nt_container *container,
                                        struct nt_error *error);

#endif
