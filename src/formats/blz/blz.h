/* SPDX-License-Identifier: MIT
 *
 * Types and functions of the BLZ, bcolz and Bloscpack reader.
 */
#pragma once

#include <ntuple/source.h>

#include <jansson.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/codec/codec.h"
#include "core/io/folder.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/budget.h"
#include "core/model/builder.h"
#include "core/model/model.h"

struct nt_blz;
struct nt_blz_member;

/* ---- Python literals ---- */

struct nt_literal {
    const char *text;
    size_t at, end;
    const char *mistake; /* what was expected at `at`; NULL: no error so far */
};

/* Does a string start here, with or without one of the prefixes u and b? */
bool nt_literal_is_string(struct nt_literal *literal);
/* Appends the content of a string to `out`: escapes resolved, \x as a byte, \u and \U as UTF-8. */
void nt_literal_string(struct nt_literal *literal, struct nt_buffer *out);
/* Reads an integer from 0 to 2^63 - 1; accepts Python 2's suffix L. */
uint64_t nt_literal_integer(struct nt_literal *literal);

/* Appends a text as a Python string literal in ASCII. */
void nt_append_literal(struct nt_buffer *out, const char *bytes, size_t length);

/* ---- Plain types ---- */

struct nt_blz_dtype {
    struct nt_dtype dtype; /* of one item */
    bool is_object;        /* Python objects: the bytes are pickles of any length */
    bool is_void;          /* raw bytes; in a structure, unnamed ones are padding */
    uint32_t member_count; /* of a structured type */
    struct nt_blz_member *members;
    uint32_t dimension_count; /* of a sub-array; `dtype` is one item of it */
    const uint64_t *dimensions;
    uint64_t items; /* product of the dimensions, 1 without */
};

struct nt_blz_member {
    struct nt_text name;
    uint64_t offset; /* bytes from the start of the structure */
    struct nt_blz_dtype type;
};

/* ---- Structured types ---- */

/* Parses the text of a dtype; the arena owns the result. NT_CORRUPT for invalid text, with the offset
 * in the text; NT_UNSUPPORTED for a structure whose members overlap or are out of order; NT_LIMIT. */
enum nt_status nt_blz_dtype_parse(struct nt_arena *arena, const char *text, size_t length,
                                  struct nt_blz_dtype *dtype, struct nt_error *error);

/* ---- Python JSON ---- */

/* Copies a JSON text and turns what strict readers refuse into strings: NaN, Infinity and -Infinity
 * outside of strings, and integers above 63 bits, which get the prefix U+0001. Counts the values,
 * including keys. NT_LIMIT if it is nested too deeply. */
enum nt_status nt_blz_json_quote(const char *text, size_t length, struct nt_buffer *out, uint64_t *values_ret,
                                 struct nt_error *error);

/* Parses a JSON text; only white space is an empty object. NT_CORRUPT; NT_LIMIT if the budget is too
 * small for the result. Free with json_decref. */
enum nt_status nt_blz_json_parse(const char *text, size_t length, struct nt_budget *budget,
                                 json_t **value_ret, struct nt_error *error);

/* Parses a small file of a directory; `number` identifies it to the budget. NT_NOT_FOUND. */
enum nt_status nt_blz_json_load(struct nt_folder *folder, const char *name, uint32_t number,
                                struct nt_budget *budget, json_t **value_ret, struct nt_error *error);

/* Writes a parsed value; restores quoted numbers if JSON has them. NULL: null. */
void nt_blz_json_write(struct nt_json *json, const json_t *value);

/* Gets a member that is an integer from 0 to 2^63 - 1; false if there is none. */
bool nt_blz_json_unsigned(const json_t *object, const char *key, uint64_t *value_ret);

/* ---- Blosc chunk headers ---- */

enum { NT_BLOSC_HEADER_BYTES = 16 };

struct nt_blosc_header {
    uint8_t version; /* of the format, 1 or 2 */
    uint8_t flags;
    uint8_t type_bytes;
    uint32_t plain_bytes;  /* after decompression */
    uint32_t block_bytes;  /* before compression */
    uint32_t stored_bytes; /* including this header */
};

/* NULL if the 16 bytes are a header of a chunk that fits into `room` bytes, else what is wrong. */
const char *nt_blosc_header_read(const uint8_t *bytes, uint64_t room, struct nt_blosc_header *header);

bool nt_blosc_is_stored(const struct nt_blosc_header *header); /* not compressed at all */
const char *nt_blosc_codec(const struct nt_blosc_header *header);
const char *nt_blosc_shuffle(const struct nt_blosc_header *header); /* "none", "byte" or "bit" */

/* ---- Bloscpack files ---- */

struct nt_bloscpack_header {
    uint8_t version;
    bool has_offsets, has_metadata;
    enum nt_checksum_kind checksum;
    uint8_t type_bytes;
    int32_t chunk_bytes, last_chunk_bytes; /* before compression; -1: unknown, as in version 1 */
    int64_t chunks;                        /* -1: as many as the file contains */
    int64_t append_chunks;                 /* free slots in the offsets */
    uint32_t header_bytes;
};

struct nt_bloscpack_metadata {
    enum nt_checksum_kind checksum;
    uint8_t codec, level;                        /* codec 0: stored, 1: zlib */
    uint32_t bytes, maximum_bytes, stored_bytes; /* of the text; reserved for it; as stored */
    uint64_t section_bytes;                      /* header, reserved bytes and digest */
};

struct nt_bloscpack {
    struct nt_bloscpack_header header;
    struct nt_bloscpack_metadata metadata;
    uint64_t size;           /* of the file */
    uint64_t offsets_offset; /* of the offsets, which end where the chunks start */
    uint64_t chunks_offset;
    bool uses_offsets; /* the offsets exist and refer to chunks in ascending order */
};

/* Parses a header from `count` bytes. NT_NOT_THIS_FORMAT without the magic, NT_UNSUPPORTED for later
 * versions, NT_TRUNCATED, NT_CORRUPT. */
enum nt_status nt_bloscpack_header_parse(const uint8_t *bytes, size_t count,
                                         struct nt_bloscpack_header *header, struct nt_error *error);

/* Reads everything before the chunks. `metadata` receives the text of the metadata section, verified
 * and decompressed; NULL: not needed. */
enum nt_status nt_bloscpack_open(struct nt_source *source, struct nt_bloscpack *bloscpack,
                                 struct nt_buffer *metadata, struct nt_error *error);

struct nt_bloscpack_chunk {
    uint64_t number;
    uint64_t offset;
    struct nt_blosc_header header;
    const char *damage;   /* why the chunk cannot be read; NULL: its header is valid */
    bool is_lost;         /* its offset is unknown */
    uint64_t plain_bytes; /* from the file's header, else from the chunk's header */
    bool is_size_known;
};

/* A walk over the chunks in order, with one read each. If the number of chunks is known, there are that many,
 * including lost ones; otherwise all up to the end of the file, and the last one is damaged if the file
 * ends within it. */
struct nt_bloscpack_walk {
    struct nt_source *source;
    const struct nt_bloscpack *bloscpack;
    uint64_t number;     /* of the next chunk */
    uint64_t next;       /* where the next chunk starts if chunks are contiguous */
    const char *lost_by; /* why that is unknown */
};
struct nt_bloscpack_walk nt_bloscpack_walk_begin(struct nt_source *source,
                                                 const struct nt_bloscpack *bloscpack);
/* False after the last chunk, or with a status other than NT_OK: NT_CORRUPT if bytes follow the last chunk,
 * NT_IO if reading fails. */
bool nt_bloscpack_walk_next(struct nt_bloscpack_walk *walk, struct nt_bloscpack_chunk *chunk,
                            enum nt_status *status_ret, struct nt_error *error);

/* The bytes of all chunks before compression; false if the header does not contain it. */
bool nt_bloscpack_plain_bytes(const struct nt_bloscpack_header *header, uint64_t *bytes_ret);

/* ---- Open datasets ---- */

/* The maximum nesting of tables and of structures. */
enum { NT_BLZ_DEPTH = 32 };

/* How the chunks of a column are spread over its files. */
enum nt_blz_chunking {
    NT_BLZ_CHUNK_FILES,  /* __<n>.blp from 0: one chunk of `chunk_rows` rows each */
    NT_BLZ_OBJECT_FILES, /* the same, but each chunk is the pickle of one row */
    NT_BLZ_SUPERCHUNKS,  /* files of many chunks, in order: __<n>__.bin from 1, or one Bloscpack file */
};

/* What the model does not store of a column, by the column's index. */
struct nt_blz_column {
    enum nt_blz_chunking chunking;
    uint64_t rows;       /* from the column's own sizes; the table may have more */
    uint64_t chunk_rows; /* of a full chunk; chunk files only */
    uint64_t items;      /* elements per row */
    uint32_t first_source, file_count;
    const uint64_t *numbers; /* of the files, ascending */
};

/* A file of meta/ that is not part of the format. */
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
    enum nt_status failure; /* the status for `problem` */
    struct nt_blz_node *children, *last_child, *next;
};

struct nt_blz {
    struct nt_blz_node *root; /* NULL: a Bloscpack file */
    struct nt_folder *folder; /* of the file; NULL for a Bloscpack file */
    uint64_t state;           /* of the directory, before anything was read (see nt_blz_check_state) */
    struct nt_blz_column *columns;
    uint32_t file_count;           /* sources that are files; the failure sources follow */
    uint32_t chunk_file_count;     /* the first of these, with chunks; metadata files follow */
    struct nt_bloscpack bloscpack; /* of a Bloscpack file */
    json_t *metadata;              /* its metadata section, or NULL */
    const char *metadata_problem;  /* why the section does not describe the bytes, or NULL */
    bool is_metadata_damaged;      /* it is no JSON, or no description of NumPy's */
};

/* ---- Operations of the model ---- */

/* See struct nt_dataset_ops. */
enum nt_status nt_blz_load_group(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);

/* ---- Detect changes ---- */

enum nt_status nt_blz_check_state(const struct nt_blz *blz, struct nt_error *error);

/* ---- Error sources ---- */

/* In the order in which they end the list of the dataset's sources. */
enum nt_blz_failure {
    NT_BLZ_FILE_MISSING,
    NT_BLZ_HEADER_DAMAGED,
    NT_BLZ_CHUNK_DAMAGED,
    NT_BLZ_CHUNK_LOST,
    NT_BLZ_SUPERCHUNK_DAMAGED,
    NT_BLZ_ROWS_NOT_PLACED,
    NT_BLZ_ROWS_MISSING,
    NT_BLZ_FAILURE_COUNT
};

/* Creates a source for each in the arena: it returns the error for every read, or NT_CHANGED if the state of
 * the directory has changed. Closing them is not necessary. False without memory. */
bool nt_blz_failure_sources(struct nt_arena *arena, const struct nt_blz *blz,
                            struct nt_source *sources[NT_BLZ_FAILURE_COUNT]);

/* ---- Build the dataset ---- */

struct nt_blz_files {
    struct nt_source **sources;
    uint32_t count;
    size_t capacity;
};

struct nt_blz_build {
    struct nt_dataset *dataset;
    struct nt_blz *blz;
    struct nt_folder *folder; /* of the dataset; NULL: a Bloscpack file */
    void *tables;             /* the directories of tables; see directory.c */
    struct nt_builder model;
    struct nt_blz_column *infos; /* by column */
    size_t info_capacity;
    struct nt_blz_files chunks, metadata;
    uint64_t entries;
};

/* Appends a field with the given parent. NT_LIMIT if the file has too many. */
enum nt_status nt_blz_add_field(struct nt_blz_build *build, uint32_t parent, struct nt_text name,
                                struct nt_text type, enum nt_field_kind kind, uint32_t *index_ret,
                                struct nt_error *error);
/* Adds the column `column` to a field and sets the type, shape and members of its elements. */
enum nt_status nt_blz_add_column(struct nt_blz_build *build, uint32_t field, const struct nt_blz_dtype *dtype,
                                 const uint64_t *dimensions, uint32_t dimension_count,
                                 struct nt_blz_column *column, struct nt_error *error);
/* Joins a subdirectory of the dataset ("": the dataset) and a name, in the arena; NULL if out of memory. */
char *nt_blz_name(struct nt_blz_build *build, const char *directory, const char *name);
/* The path of a subdirectory of the dataset, for messages; in the arena. */
const char *nt_blz_path(struct nt_blz_build *build, const char *directory);
enum nt_status nt_blz_add_source(struct nt_blz_files *files, struct nt_source *source,
                                 struct nt_error *error);
/* Appends a file of the directory as a source that is opened on first use. */
enum nt_status nt_blz_add_file(struct nt_blz_build *build, struct nt_blz_files *files, const char *name,
                               struct nt_error *error);
/* Builds the dataset from everything that was added. */
enum nt_status nt_blz_build_finish(struct nt_blz_build *build, struct nt_error *error);
void nt_blz_build_deinit(struct nt_blz_build *build);

/* ---- Read a dataset from a path ---- */

/* A directory: an array, or a table with its columns (directory.c). */
enum nt_status nt_blz_read_directory(struct nt_blz_build *build, struct nt_error *error);
/* A Bloscpack file, source 0 (bloscpack.c). */
enum nt_status nt_blz_read_bloscpack(struct nt_blz_build *build, struct nt_source *source,
                                     struct nt_error *error);

/* ---- Array directories ---- */

/* Reads sizes from a JSON list of integers: the number of rows, then the others, into the arena. */
enum nt_status nt_blz_shape_read(struct nt_arena *arena, const json_t *shape, uint64_t *rows_ret,
                                 uint64_t **dimensions_ret, uint32_t *count_ret, struct nt_error *error);
