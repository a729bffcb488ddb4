/* SPDX-License-Identifier: MIT
 *
 * Arrays and tables of BLZ and bcolz (directories), and Bloscpack files: what an open one keeps beside the
 * model.
 */
#ifndef NT_FORMAT_BLZ_BLZ_H
#define NT_FORMAT_BLZ_BLZ_H

#include <jansson.h>

#include <ntuple/format.h>

#include "base/buffer.h"
#include "format/blz/bloscpack.h"
#include "format/blz/dtype.h"

/* Tables in tables, and structures in structures. */
enum { NT_BLZ_DEPTH = 32 };

/* How the chunks of a column lie in its files. */
enum nt_blz_layout {
    NT_BLZ_CHUNK_FILES,  /* __<n>.blp from 0: one chunk of `chunk_rows` rows each */
    NT_BLZ_OBJECT_FILES, /* the same, but each chunk is one row's pickle */
    NT_BLZ_SUPERCHUNKS,  /* files of many chunks, in order: __<n>__.bin from 1, or one Bloscpack file */
};

/* What the model does not know of a column, by the column's index. */
struct nt_blz_column {
    enum nt_blz_layout layout;
    uint64_t rows;       /* as its own sizes tell; the table may have more */
    uint64_t chunk_rows; /* of a full chunk; chunk files only */
    uint64_t items;      /* elements per row */
    uint32_t first_source, file_count;
    const uint64_t *numbers; /* of the files, ascending */
};

/* A directory with its metadata, for metadata.json. */
struct nt_blz_node {
    struct nt_text name;
    json_t *names; /* of a table: __rootdirs__; NULL: an array */
    json_t *sizes, *storage, *attributes;
    const char *problem; /* why a part could not be read, or NULL */
    struct nt_blz_node *children, *last_child, *next;
};

/* The sources at the end of the data set's, which only give an error: for chunks that are not there. */
enum nt_blz_failure {
    NT_BLZ_FILE_MISSING,
    NT_BLZ_HEADER_DAMAGED,
    NT_BLZ_CHUNK_DAMAGED,
    NT_BLZ_CHUNK_LOST,
    NT_BLZ_ROWS_MISSING,
    NT_BLZ_FAILURE_COUNT
};

struct nt_blz {
    struct nt_source_pool *pool;
    struct nt_blz_node *root; /* NULL: a Bloscpack file */
    struct nt_blz_column *columns;
    uint32_t file_count;           /* sources that are files; the failures follow */
    uint32_t chunk_file_count;     /* of these, the ones with chunks; the metadata's follow */
    struct nt_bloscpack bloscpack; /* of a Bloscpack file */
    json_t *metadata;              /* its metadata section, or NULL */
    const char *metadata_problem;  /* why the section does not tell what the bytes are */
};

/* ---- building (build.c) ---- */

/* What a data set is gathered in, until its numbers are known. */
struct nt_blz_build {
    struct nt_dataset *dataset;
    struct nt_blz *blz;
    struct nt_buffer fields, columns, column_infos, decoders,
        sources; /* arrays of the model's and own structs */
    struct nt_buffer metadata_sources;
    uint64_t entries;
};

uint32_t nt_blz_field_count(const struct nt_blz_build *build);
/* Append a field with the given parent; its index, or NT_NONE without memory. */
uint32_t nt_blz_add_field(struct nt_blz_build *build, uint32_t parent, struct nt_text name,
                          struct nt_text type, enum nt_field_kind kind);
struct nt_field *nt_blz_field(struct nt_blz_build *build, uint32_t field);
/* Give a field the column that `column` describes, and the type, shape and members of its elements. */
enum nt_status nt_blz_add_column(struct nt_blz_build *build, uint32_t field, const struct nt_blz_dtype *dtype,
                                 const uint64_t *dimensions, uint32_t dimension_count,
                                 struct nt_blz_column *column, struct nt_error *error);
/* Append a file as a source, opened when it is first needed. */
enum nt_status nt_blz_add_source(struct nt_blz_build *build, struct nt_buffer *list, const char *path,
                                 struct nt_error *error);
/* Make the data set of all that was added. */
enum nt_status nt_blz_build_finish(struct nt_blz_build *build, struct nt_error *error);
void nt_blz_build_deinit(struct nt_blz_build *build);

/* ---- the parts ---- */

/* A directory: an array, or a table with its columns (directory.c). */
enum nt_status nt_blz_read_directory(struct nt_blz_build *build, const char *path, struct nt_error *error);
/* A Bloscpack file, source 0 (bloscpack_file.c). */
enum nt_status nt_blz_read_bloscpack(struct nt_blz_build *build, struct nt_source *source,
                                     struct nt_error *error);

/* A source whose every read is the given error (failure.c). */
enum nt_status nt_blz_failure_source(enum nt_blz_failure failure, struct nt_source **source_ret,
                                     struct nt_error *error);

/* The pages of all columns (pages.c). */
enum nt_status nt_blz_load_group(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);

/* For the model's tables (describe.c). */
enum nt_status nt_blz_write_metadata(const struct nt_file *file, const struct nt_dataset *dataset,
                                     uint64_t number, struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_blz_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                    const struct nt_page *page, void *json);
enum nt_status nt_blz_describe_file(const struct nt_file *file, void *json);
enum nt_status nt_blz_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                             struct nt_error *error);

#endif
