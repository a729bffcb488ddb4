/* SPDX-License-Identifier: MIT
 *
 * A node with what it stands for: the open file, data set, field, column that the functions of the tables
 * work on.
 */
#ifndef NT_VFS_SCOPE_H
#define NT_VFS_SCOPE_H

#include "vfs/node.h"
#include "vfs/places.h"
#include "vfs/tree.h"

struct nt_pseudo;
struct nt_produced;
struct nt_failures;

struct nt_vfs {
    struct nt_vfs_options options;
    struct nt_reader *reader;
    struct nt_places *places;
    struct nt_produced *produced; /* documents that were made, see content.h */
    struct nt_texts *texts;       /* that are being read piece by piece, see texts.h */
    struct nt_failures *failures; /* what goes into errors.jsonl, see failures.h */
    struct stat daemon;           /* attributes of .ntuplefs and its files */
};

/* The calling thread is about to work or to wait for long. A hook of the tree's reader and files, too. */
void nt_vfs_before_slow_work(void *vfs);

struct nt_scope {
    struct nt_vfs *vfs;
    uint64_t number; /* the node's */
    struct nt_node node;
    uint32_t place;
    enum nt_place_kind place_kind;
    struct nt_open_file
        *opened;          /* of the place, held until the scope is closed; NULL: a folder, failed, ours */
    struct nt_file *file; /* the opened one; since nt_scope_complete that with all it has */
    struct nt_dataset *dataset; /* of `file`; NULL above data sets */
    uint32_t field;             /* NT_NONE above fields */
    uint32_t column;            /* NT_NONE but for columns and pages, where the data set is its stored side */
    struct nt_page_file page_file;      /* of that level */
    const struct nt_names *field_names; /* of the data set where `field` is set */
    const struct nt_pseudo *pseudo;     /* the file's row; NULL: a directory of the model */
    const struct nt_document *document; /* where the row is a format's document */
    const struct nt_vfs_caller *caller; /* who waits, where that is known; else NULL */
};

/* The end of what nt_scope_open began. */
void nt_scope_close(struct nt_scope *scope);

/* Names are those of the file's outline, where it has one. Here file and data set become the ones that have entries, too;
 * on failure they stay as they are. `may_work` false: NT_NOT_FOUND where files would be opened for it. */
enum nt_status nt_scope_complete(struct nt_scope *scope, bool may_work, struct nt_error *error);

/* What the node shows may be something else at the next look: the daemon's own files, what is made anew for each who asks, and
 * why a place has failed, which may open then. */
bool nt_scope_is_changing(const struct nt_scope *scope);

/* NT_CANCELED where the caller who waits has given up; to be asked in the course of long work. */
enum nt_status nt_scope_check_caller(const struct nt_scope *scope, struct nt_error *error);

/* Number of a field's directory, a column's directory. 0 where it cannot be shown. */
uint64_t nt_scope_field_node(const struct nt_scope *scope, uint32_t field);
uint64_t nt_scope_column_node(const struct nt_scope *scope, uint32_t column);

/* ---- from node numbers to what they stand for, and from there to names and paths ---- */

/* Take a node apart and open what it stands for; NT_NOT_FOUND for stale and senseless numbers. On success the
 * scope must be closed. */
enum nt_status nt_scope_open(struct nt_vfs *vfs, uint64_t number, struct nt_scope *scope,
                             struct nt_error *error);

/* A directory on a server, as far as its attributes are told without asking for what it is: NT_NOT_FOUND where they are not and no
 * work is to be done for them. False for all else. */
bool nt_scope_open_outside(struct nt_vfs *vfs, uint64_t number, bool may_work, struct nt_scope *scope,
                           enum nt_status *status_ret, struct nt_error *error);

/* Append the name that a node has in its parent directory (none for the root). */
void nt_scope_name(const struct nt_scope *scope, struct nt_buffer *name);
/* The directory of the level (the place, data set, field, column) that the scope is in, or is. */
uint64_t nt_scope_directory(const struct nt_scope *scope);
/* The directory that a node lies in; the root is its own. */
uint64_t nt_scope_parent(const struct nt_scope *scope);
/* Append the path from the root to a node, without a leading slash. */
enum nt_status nt_scope_path(struct nt_vfs *vfs, uint64_t number, struct nt_buffer *path,
                             struct nt_error *error);

#endif
