/* SPDX-License-Identifier: MIT
 *
 * An open file with the names that its directories, data sets and fields have in the tree.
 */
#ifndef NT_VFS_OPENED_H
#define NT_VFS_OPENED_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/stat.h>

#include <ntuple/arrow.h>
#include <ntuple/model.h>

#include "vfs/names.h"

struct nt_opened {
    struct nt_file *file;
    uint32_t place;      /* see sources.h */
    uint32_t first_slot; /* of its data sets */
    struct stat stat;    /* of the source, when it was opened */
    /* Items are the directories, then the data sets. Parents are the directories, then (of linked attribute
     * sets) the data sets. */
    struct nt_names *names;
    uint32_t *children;                    /* items in the order of their parents */
    uint32_t *first_child;                 /* of each parent, and the end of the last one's */
    struct nt_names *_Atomic *field_names; /* of each data set, made on first use */
    struct nt_arrow *_Atomic *arrows;      /* of each data set, made on first use */
    pthread_mutex_t lock;                  /* making of field names and arrows */

    uint32_t users;    /* from here on sources.c's, behind its lock */
    uint64_t last_use; /* a count of openings */
};

/* Takes the file, also on failure. */
enum nt_status nt_opened_new(struct nt_file *file, struct nt_opened **opened_ret, struct nt_error *error);
void nt_opened_free(struct nt_opened *opened); /* accepts NULL */

struct nt_vfs;

static inline uint32_t nt_opened_items(const struct nt_opened *opened)
{
    return opened->file->directory_count + opened->file->dataset_count;
}

/* The items below a directory, or the attribute sets of a data set (directory_count + its index). */
const uint32_t *nt_opened_children(const struct nt_opened *opened, uint32_t parent, uint32_t *count_ret);

/* The names of a data set's fields; item and parent are field indices. Valid as long as `opened`. */
enum nt_status nt_opened_field_names(struct nt_opened *opened, uint32_t dataset,
                                     const struct nt_names **names_ret, struct nt_error *error);

/* A data set as Arrow. Valid as long as `opened`. */
enum nt_status nt_opened_arrow(struct nt_opened *opened, const struct nt_vfs *vfs, uint32_t dataset,
                               const struct nt_arrow **arrow_ret, struct nt_error *error);
/* Whether it was made already. */
bool nt_opened_has_arrow(const struct nt_opened *opened, uint32_t dataset);

#endif
