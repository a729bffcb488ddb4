/* SPDX-License-Identifier: MIT
 *
 * Arrays and tables of BLZ and bcolz (directories), and Bloscpack files: what an open one keeps beside the
 * model.
 */
#ifndef NT_FORMAT_BLZ_OPENED_H
#define NT_FORMAT_BLZ_OPENED_H

#include <jansson.h>

#include "formats/blz/bloscpack.h"
#include "core/model/model.h"

/* Tables in tables, and structures in structures. */
enum { NT_BLZ_DEPTH = 32 };

/* How the chunks of a column lie in its files. */
enum nt_blz_chunking {
    NT_BLZ_CHUNK_FILES,  /* __<n>.blp from 0: one chunk of `chunk_rows` rows each */
    NT_BLZ_OBJECT_FILES, /* the same, but each chunk is one row's pickle */
    NT_BLZ_SUPERCHUNKS,  /* files of many chunks, in order: __<n>__.bin from 1, or one Bloscpack file */
};

/* What the model does not know of a column, by the column's index. */
struct nt_blz_column {
    enum nt_blz_chunking chunking;
    uint64_t rows;       /* as its own sizes tell; the table may have more */
    uint64_t chunk_rows; /* of a full chunk; chunk files only */
    uint64_t items;      /* elements per row */
    uint32_t first_source, file_count;
    const uint64_t *numbers; /* of the files, ascending */
};

/* A file of meta/ that no writer is known to write. */
struct nt_blz_meta_file {
    struct nt_text name;
    json_t *content;
    const char *unreadable; /* why there is no content, or NULL */
};

/* A directory with its metadata, for metadata.json. */
struct nt_blz_node {
    struct nt_text name;
    json_t *names; /* of a table: __rootdirs__; NULL: an array */
    json_t *sizes, *storage, *attributes;
    struct nt_blz_meta_file *others;
    size_t other_count;
    const char *problem;    /* why a part could not be read, or NULL */
    enum nt_status failure; /* the same as a status */
    struct nt_blz_node *children, *last_child, *next;
};

struct nt_blz {
    struct nt_blz_node *root; /* NULL: a Bloscpack file */
    struct nt_folder *folder; /* the file's; NULL likewise */
    uint64_t state;           /* of the folder, before anything was read (state.h) */
    struct nt_blz_column *columns;
    uint32_t file_count;           /* sources that are files; the failures follow */
    uint32_t chunk_file_count;     /* of these, the ones with chunks; the metadata's follow */
    struct nt_bloscpack bloscpack; /* of a Bloscpack file */
    json_t *metadata;              /* its metadata section, or NULL */
    const char *metadata_problem;  /* why the section does not tell what the bytes are */
};

/* ---- what the model asks of this format ---- */

/* For the model's table: see struct nt_dataset_ops. */
enum nt_status nt_blz_load_group(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);

enum nt_status nt_blz_write_metadata(const struct nt_file *file, const struct nt_dataset *dataset,
                                     uint64_t number, struct nt_buffer *out, struct nt_error *error);
void nt_blz_describe_field(const struct nt_dataset *dataset, uint32_t field, struct nt_json *json);
enum nt_status nt_blz_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                    const struct nt_page *page, struct nt_json *json);
enum nt_status nt_blz_describe_file(const struct nt_file *file, struct nt_json *json, struct nt_error *error);
enum nt_status nt_blz_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                             struct nt_error *error);

#endif
