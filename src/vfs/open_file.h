/* SPDX-License-Identifier: MIT
 *
 * An open file with the names that its directories, data sets and fields have in the tree.
 */
#ifndef NT_VFS_OPEN_FILE_H
#define NT_VFS_OPEN_FILE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

#include <ntuple/arrow.h>

#include "read/page.h"
#include "vfs/names.h"

/* What is made of a data set on first use. Each has a lock of its own for its making, so that nobody waits
 * for another data set, and for names not even for the table of their own. */
struct nt_open_dataset {
    struct nt_names *_Atomic field_names;
    struct nt_arrow *_Atomic arrow;
    atomic_uint_least64_t arrow_bytes;       /* of table.arrow; 0: not known yet */
    struct nt_blobs *_Atomic *_Atomic blobs; /* [field]; NULL: nobody asked for any */
    pthread_mutex_t names_lock, arrow_lock, blobs_lock;
};

struct nt_open_file {
    struct nt_file *file;
    uint32_t place;      /* see places.h */
    uint32_t first_slot; /* of its data sets */
    struct stat stat;    /* of the source, when it was opened */
    /* Items are the directories, then the data sets. Parents are the directories, then (of linked attribute
     * sets) the data sets. */
    struct nt_names *names;
    uint32_t *children;    /* items in the order of their parents */
    uint32_t *first_child; /* of each parent, and the end of the last one's */
    struct nt_open_dataset *datasets;

    /* From here on behind the lock of the places: */
    uint32_t users;
    uint64_t last_use;         /* a count of openings */
    size_t descriptors;        /* of a data set in many files, when it was idle last */
    struct nt_open_file *next; /* of the open ones */
};

/* Whether a name in a file's topmost directory is one that the tree gives itself. */
typedef bool nt_is_ours(const struct nt_file *file, struct nt_text name);

/* Takes the file, also on failure. */
enum nt_status nt_open_file_new(struct nt_file *file, nt_is_ours *is_ours, struct nt_open_file **opened_ret,
                                struct nt_error *error);
void nt_open_file_free(struct nt_open_file *opened); /* accepts NULL */

static inline uint32_t nt_open_file_items(const struct nt_open_file *opened)
{
    return opened->file->directory_count + opened->file->dataset_count;
}

/* The items below a directory, or the attribute sets of a data set (directory_count + its index). */
const uint32_t *nt_open_file_children(const struct nt_open_file *opened, uint32_t parent,
                                      uint32_t *count_ret);

/* Append the path of an item (directory_count + index: of a data set) below the file's own directory. False
 * where it is longer than a path may be: nobody could use it. */
bool nt_open_file_path(const struct nt_open_file *opened, uint32_t item, struct nt_buffer *path);

/* The names of a data set's fields; item and parent are field indices. Valid as long as `opened`. */
enum nt_status nt_open_file_field_names(struct nt_open_file *opened, uint32_t dataset,
                                        const struct nt_names **names_ret, struct nt_error *error);

/* A data set of the file, or of the one that this is the outline of, as Arrow, with the same options each time. Valid as long as `opened`. */
enum nt_status nt_open_file_arrow(struct nt_open_file *opened, struct nt_reader *reader,
                                  const struct nt_arrow_options *options, struct nt_dataset *dataset,
                                  struct nt_arrow **arrow_ret, struct nt_error *error);
/* The size of its file. Reads all page lists the first time; without `may_work` NT_NOT_FOUND then. Keeps the
 * number alone. */
enum nt_status nt_open_file_arrow_bytes(struct nt_open_file *opened, struct nt_reader *reader,
                                        const struct nt_arrow_options *options, struct nt_dataset *dataset,
                                        bool may_work, uint64_t *bytes_ret, struct nt_error *error);
/* The blobs that a field of such a data set describes. Valid as long as `opened`. Without `may_work` NT_NOT_FOUND where nobody has asked
 * for them yet. */
enum nt_status nt_open_file_blobs(struct nt_open_file *opened, struct nt_reader *reader,
                                  struct nt_dataset *dataset, uint32_t field, bool may_work,
                                  struct nt_blobs **blobs_ret, struct nt_error *error);

#endif
