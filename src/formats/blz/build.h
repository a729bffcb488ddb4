/* SPDX-License-Identifier: MIT
 *
 * What a data set is gathered in, until its numbers are known.
 */
#ifndef NT_FORMAT_BLZ_BUILD_H
#define NT_FORMAT_BLZ_BUILD_H

#include "formats/blz/dtype.h"
#include "formats/blz/opened.h"
#include "core/io/folder.h"
#include "core/model/builder.h"

struct nt_blz_files {
    struct nt_source **sources;
    uint32_t count;
    size_t capacity;
};

struct nt_blz_build {
    struct nt_dataset *dataset;
    struct nt_blz *blz;
    struct nt_folder *folder; /* of the data set; NULL: it is a Bloscpack file */
    void *tables;             /* the directories that are tables, see directory.c */
    struct nt_builder model;
    struct nt_blz_column *infos; /* by column */
    size_t info_capacity;
    struct nt_blz_files chunks, metadata;
    uint64_t entries;
};

/* Append a field with the given parent. NT_LIMIT where the file has too many. */
enum nt_status nt_blz_add_field(struct nt_blz_build *build, uint32_t parent, struct nt_text name,
                                struct nt_text type, enum nt_field_kind kind, uint32_t *index_ret,
                                struct nt_error *error);
/* Give a field the column that `column` describes, and the type, shape and members of its elements. */
enum nt_status nt_blz_add_column(struct nt_blz_build *build, uint32_t field, const struct nt_blz_dtype *dtype,
                                 const uint64_t *dimensions, uint32_t dimension_count,
                                 struct nt_blz_column *column, struct nt_error *error);
/* The name of what lies in a directory of the folder ("": the folder itself), in the arena; NULL without
 * memory. */
char *nt_blz_name(struct nt_blz_build *build, const char *directory, const char *name);
/* The path of a directory of the folder, for messages; in the arena. */
const char *nt_blz_path(struct nt_blz_build *build, const char *directory);
/* Append a source. */
enum nt_status nt_blz_add_source(struct nt_blz_files *files, struct nt_source *source,
                                 struct nt_error *error);
/* Append a file of the folder as a source, opened when it is first needed. */
enum nt_status nt_blz_add_file(struct nt_blz_build *build, struct nt_blz_files *files, const char *name,
                               struct nt_error *error);
/* Make the data set of all that was added. */
enum nt_status nt_blz_build_finish(struct nt_blz_build *build, struct nt_error *error);
void nt_blz_build_deinit(struct nt_blz_build *build);

/* ---- what a path may be: each way to gather a data set from it ---- */

/* A directory: an array, or a table with its columns (directory.c). */
enum nt_status nt_blz_read_directory(struct nt_blz_build *build, struct nt_error *error);
/* A Bloscpack file, source 0 (bloscpack_file.c). */
enum nt_status nt_blz_read_bloscpack(struct nt_blz_build *build, struct nt_source *source,
                                     struct nt_error *error);

#endif
