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
    struct nt_produced *produced; /* documents that were made, see produced.h */
    struct nt_failures *failures; /* what goes into errors.jsonl, see failures.h */
    struct stat daemon;           /* attributes of .ntuplefs and its files */
};

struct nt_scope {
    struct nt_vfs *vfs;
    uint64_t number; /* the node's */
    struct nt_node node;
    uint32_t place;
    enum nt_place_kind place_kind;
    struct nt_open_file
        *opened;          /* of the place, held until the scope is closed; NULL: a folder, failed, ours */
    struct nt_file *file; /* the opened one */
    struct nt_dataset *dataset;         /* NULL above data sets */
    uint32_t field;                     /* NT_NONE above fields */
    uint32_t column;                    /* NT_NONE but for columns and pages */
    const struct nt_names *field_names; /* of the data set where `field` is set */
    const struct nt_pseudo *pseudo;     /* the file's row; NULL: a directory of the model */
    const struct nt_document *document; /* where the row is a format's document */
};

/* The end of what nt_scope_open (resolve.h) began. */
void nt_scope_close(struct nt_scope *scope);

/* Number of a field's directory, a column's directory. 0 where it cannot be shown. */
uint64_t nt_scope_field_node(const struct nt_scope *scope, uint32_t field);
uint64_t nt_scope_column_node(const struct nt_scope *scope, uint32_t column);

#endif
