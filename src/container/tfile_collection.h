/* SPDX-License-Identifier: MIT
 *
 * What is found while a ROOT file is opened, until all of it is known.
 */
#ifndef NT_FORMAT_RNTUPLE_TFILE_COLLECTION_H
#define NT_FORMAT_RNTUPLE_TFILE_COLLECTION_H

#include "container/tfile.h"

/* Classes of keys that are counted by name. */
enum { NT_TFILE_MAX_CLASSES = 256 };

struct nt_tfile_collection {
    struct nt_file *file;
    struct nt_tfile_directory *directories; /* in step with the file's */
    uint32_t directory_count;
    struct nt_anchor_object *anchors;
    uint32_t anchor_count;
    size_t directory_capacity, anchor_capacity;
    struct nt_tfile_class *classes; /* in the file's arena */
    uint32_t class_count;
    uint64_t other_keys;
    bool has_doubts; /* there is a failure, or more than the lists tell: see struct nt_container */
};

enum nt_status nt_tfile_collection_init(struct nt_tfile_collection *found, struct nt_file *file,
                                        struct nt_error *error);
void nt_tfile_collection_deinit(struct nt_tfile_collection *found); /* accepts a zeroed one */

/* A directory, also for the file; the first one is its root. */
enum nt_status nt_tfile_add_directory(struct nt_tfile_collection *found,
                                      const struct nt_tfile_directory *directory, uint32_t parent,
                                      struct nt_text name, struct nt_error *error);
/* Append an anchor with the names of a key, which are copied; the caller fills in the rest. NULL without
 * memory. Valid until the next is added. */
struct nt_anchor_object *nt_tfile_add_anchor(struct nt_tfile_collection *found, uint32_t directory,
                                             struct nt_text name, struct nt_text class_name);
enum nt_status nt_tfile_set_failure(struct nt_tfile_collection *found, struct nt_anchor_object *anchor,
                                    const struct nt_error *failure, struct nt_error *error);
/* An anchor that is only a failure, under the names of a key. */
enum nt_status nt_tfile_add_failure(struct nt_tfile_collection *found, uint32_t directory,
                                    const struct nt_tfile_key *key, const struct nt_error *failure,
                                    struct nt_error *error);
enum nt_status nt_tfile_count_class(struct nt_tfile_collection *found, struct nt_text name,
                                    struct nt_error *error);

/* Tell older cycles from newest ones and hand everything over to the container. */
enum nt_status nt_tfile_collection_keep(struct nt_tfile_collection *found,
                                        const struct nt_tfile_header *header, struct nt_container *container,
                                        struct nt_error *error);

#endif
