/* SPDX-License-Identifier: MIT
 *
 * Private declarations of the virtual tree: node numbers, the tables of pseudo-files for each type of
 * node, directory sources, and file contents.
 */
#ifndef NT_VFS_VFS_H
#define NT_VFS_VFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "read/page.h"
#include "vfs/inode.h"
#include "vfs/tree.h"

struct nt_column_sums;
struct nt_content_ops;
struct nt_error_log;
struct nt_names;
struct nt_generated;
struct nt_pseudo_file;
struct nt_reader;
struct nt_dir_source;
struct nt_text_pool;

/* ---- Node numbers ---- */

/* The levels of the tree. Each has directories of its own and a table of pseudo-files. */
enum nt_node_type {
    NT_NODE_INODE, /* a passthrough directory, or a file's directories; place 0 is the root of the mount */
    NT_NODE_MOUNT, /* .ntuplefs */
    NT_NODE_DATASET,
    NT_NODE_FIELD,
    NT_NODE_COLUMN,
    NT_NODE_PAGE_RAW,  /* pages/<n>.raw */
    NT_NODE_PAGE_BIN,  /* pages/<n>.bin */
    NT_NODE_PAGE_FILE, /* pages/<n>.<...>: what the page consists of */
    NT_NODE_ENTRY,     /* rows.d/<n>.json */
    NT_NODE_BLOB,      /* blob.d/<n> of a field */
    NT_NODE_TYPES
};

enum {
    NT_NODE_SELF = 1,              /* `file` of the level's directory itself; so that place 0 is node 1 */
    NT_NODE_FIRST_FILE = 2,        /* row 0 of the level's table */
    NT_NODE_FIRST_DOCUMENT = 1024, /* document 0 that the format gives */
};

struct nt_node {
    enum nt_node_type type;
    uint32_t owner;  /* place; from datasets on: id of the dataset */
    uint32_t item;   /* index of a directory in its file; of a field, column in its dataset */
    uint32_t file;   /* SELF, or which file of the directory; of a page's files the number, counted from 1 */
    uint64_t number; /* of a document, page, entry or blob */
};

/* False where a part does not fit its bits: such a node cannot be shown. */
bool nt_node_pack(const struct nt_node *node, uint64_t *number_ret);
/* False for numbers that nt_node_pack never gives. */
bool nt_node_unpack(uint64_t number, struct nt_node *node);
/* The number of a node that is no document, page, entry or blob; 0: it cannot be shown. */
uint64_t nt_node_number(enum nt_node_type level, uint32_t owner, uint32_t item, uint32_t file);

/* ---- Resolved nodes ---- */

struct nt_vfs {
    struct nt_vfs_options options;
    struct nt_reader *reader;
    struct nt_inode_table *inodes;
    struct nt_generated *generated; /* cache of generated files */
    struct nt_text_pool *text_pool; /* streamed files that are open */
    struct nt_error_log *error_log; /* for errors.jsonl */
    struct stat daemon;             /* attributes of .ntuplefs and its files */
};

/* The calling thread begins slow work. Also the hook of the reader and of the files. */
void nt_vfs_before_blocking(void *vfs);

struct nt_resolved_node {
    struct nt_vfs *vfs;
    uint64_t number; /* the node's */
    struct nt_node node;
    uint32_t inode;
    enum nt_inode_kind inode_kind;
    struct nt_open_file
        *opened;          /* of the place, held until the scope is closed; NULL: a folder, failed, ours */
    struct nt_file *file; /* the opened one; since nt_node_resolve_stub that with all it has */
    struct nt_dataset *dataset; /* of `file`; NULL above datasets */
    uint32_t field;             /* NT_NONE above fields */
    uint32_t column; /* NT_NONE but for columns and pages, where the dataset is its physical dataset */
    struct nt_page_file page_file;       /* of that level */
    const struct nt_names *field_names;  /* of the dataset where `field` is set */
    const struct nt_pseudo_file *pseudo; /* the file's row; NULL: a directory of the model */
    const struct nt_document *document;  /* where the row is a format's document */
    const struct nt_vfs_caller *caller;  /* who waits, where that is known; else NULL */
};

/* The end of what nt_node_resolve began. */
void nt_node_release(struct nt_resolved_node *resolved);

/* Names are those of the file's stub, where it has one. Here file and dataset become the ones that have entries, too;
 * on failure they stay as they are. `may_block` false: NT_NOT_FOUND where files would be opened for it. */
enum nt_status nt_node_resolve_stub(struct nt_resolved_node *resolved, bool may_block,
                                    struct nt_error *error);

/* What the node shows may be something else at the next look: the daemon's own files, what is made again for each who asks, and
 * why a place has failed, which may open then. */
bool nt_node_is_volatile(const struct nt_resolved_node *resolved);

/* NT_CANCELED where the caller who waits has given up; to be asked in the course of long work. */
enum nt_status nt_node_check_caller(const struct nt_resolved_node *resolved, struct nt_error *error);

/* Number of a field's directory, a column's directory. 0 where it cannot be shown. */
uint64_t nt_node_of_field(const struct nt_resolved_node *resolved, uint32_t field);
uint64_t nt_node_of_column(const struct nt_resolved_node *resolved, uint32_t column);

/* ---- from node numbers to what they stand for, and from there to names and paths ---- */

/* Take a node apart and open what it stands for; NT_NOT_FOUND for stale and senseless numbers. On success the
 * scope must be closed. */
enum nt_status nt_node_resolve(struct nt_vfs *vfs, uint64_t number, struct nt_resolved_node *resolved,
                               struct nt_error *error);

/* A directory on a server, as far as its attributes are told without asking for what it is: NT_NOT_FOUND where they are not and no
 * work is to be done for them. False for all else. */
bool nt_node_resolve_unprobed(struct nt_vfs *vfs, uint64_t number, bool may_block,
                              struct nt_resolved_node *resolved, enum nt_status *status_ret,
                              struct nt_error *error);
/* The directory of the level (the place, dataset, field, column) that the scope is in, or is. */
uint64_t nt_node_directory(const struct nt_resolved_node *resolved);
/* The directory that a node lies in; the root is its own. */
uint64_t nt_node_parent(const struct nt_resolved_node *resolved);
/* Append the path from the root to a node, without a leading slash. */
enum nt_status nt_node_path(struct nt_vfs *vfs, uint64_t number, struct nt_buffer *path,
                            struct nt_error *error);

/* ---- Pseudo-files and directory sources ---- */

/* The tables that the tree is made of. Every level of the tree has a table of pseudo-files, a row each: a
 * name, a class and the functions that make its content. A directory is a list of sections (files of the
 * table, fields, columns, pages, ...), each of which can list its entries and find one by name. Listing,
 * looking up, attributes and reading are written once, over these tables.
 * 
 * To add a file: write its function, and a row in the level's table in <level>_files.c. */

/* What an open file gives: `size` bytes, or a text of unknown size (UINT64_MAX). */
struct nt_content {
    const struct nt_content_ops *ops;
    uint64_t size;   /* of the header, too */
    uint8_t *header; /* from malloc; NULL: none */
    size_t header_bytes;
    bool is_truncated; /* the text is damaged: its last byte cannot be read */
};

/* Offsets count from the end of the header. */
struct nt_content_ops {
    /* Exactly `bytes`, which are there; of a text that is unsized or ends early up to its end, *bytes_ret tells. */
    enum nt_status (*read)(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                           size_t *bytes_ret, struct nt_error *error);
    void (*close)(struct nt_content *content);
    /* Of one without a size: as nt_vfs_probable_bytes. NULL: nobody knows. */
    uint64_t (*probable_bytes)(struct nt_content *content);
    /* Pin the same bytes in the cache, as nt_stream_pin does; the content has to stay open. May be NULL. */
    bool (*pin)(const struct nt_content *content, uint64_t offset, size_t bytes, struct nt_pins *pins);
};

/* What rows of the tables do. */
typedef bool nt_pseudo_exists(const struct nt_resolved_node *resolved, unsigned parameter);
typedef enum nt_status nt_pseudo_size(const struct nt_resolved_node *resolved, bool may_block,
                                      uint64_t *size_ret, struct nt_error *error);
typedef enum nt_status nt_pseudo_open(const struct nt_resolved_node *resolved,
                                      struct nt_content **content_ret, struct nt_error *error);
typedef enum nt_status nt_pseudo_produce(const struct nt_resolved_node *resolved, struct nt_buffer *out,
                                         struct nt_error *error);
typedef enum nt_status nt_pseudo_text(const struct nt_resolved_node *resolved,
                                      struct nt_text_generator **text_ret, struct nt_error *error);
typedef enum nt_status nt_is_short(const struct nt_resolved_node *resolved, bool *is_short_ret,
                                   struct nt_error *error);

struct nt_pseudo_file {
    const char *name;
    enum nt_vfs_class class;
    unsigned parameter; /* for functions that serve several rows */
    bool is_npy;        /* the same: the elements follow a NumPy header */
    bool is_private;    /* only its owner may read it */
    /* Whether the scope has such a file; NULL: always. Must do no work. */
    nt_pseudo_exists *exists;

    /* SIZED. `may_block` false: NT_NOT_FOUND where the size is not known without reading page lists. Also
     * PRODUCED, where it is known before the document is made; NT_NOT_FOUND or no function: it is not. */
    nt_pseudo_size *size;
    nt_pseudo_open *open;
    /* SIZED: whether an stub is enough to tell the size. NULL: it is not. */
    bool (*stub_has_size)(const struct nt_resolved_node *resolved);
    /* PRODUCED: the same bytes each time, but in .ntuplefs. */
    nt_pseudo_produce *generate;
    /* UNSIZED: `open_text` makes it, the same bytes each time. Where `is_short` finds, from metadata alone, that
     * this is little work, it is done for a look, and the file is as a PRODUCED one. */
    nt_pseudo_text *open_text;
    nt_is_short *is_short;
    /* DIRECTORY: one, and NULL. */
    const struct nt_dir_source *dir_sources[2];
};

struct nt_pseudo_table {
    const struct nt_pseudo_file *rows;
    unsigned count;
};

/* An entry of a directory. */
struct nt_dir_entry {
    uint64_t node;
    enum nt_vfs_class class;
    char name[NT_NAME_BYTES + 1];
};

struct nt_dir_source {
    /* The first entry with an index of at least *index, which is set to its index. NT_NOT_FOUND at
     * the end. NULL: there may be many, and each look at one is work, so they are found, but not listed. */
    enum nt_status (*next)(const struct nt_resolved_node *directory, uint64_t *index,
                           struct nt_dir_entry *listed, struct nt_error *error);
    /* NT_NOT_FOUND where the section has no such name. */
    enum nt_status (*find)(const struct nt_resolved_node *directory, const char *name, uint64_t *node_ret,
                           struct nt_error *error);
    /* Called before a listing starts. May be NULL. */
    enum nt_status (*begin)(const struct nt_resolved_node *directory, struct nt_error *error);
};

/* ---- the levels ---- */

extern const struct nt_pseudo_table nt_container_files; /* of a file: file.json, ... */
extern const struct nt_pseudo_table nt_mount_files;     /* .ntuplefs */
extern const struct nt_pseudo_table nt_dataset_files;
extern const struct nt_pseudo_table nt_field_files;
extern const struct nt_pseudo_table nt_column_files;
extern const struct nt_pseudo_table
    nt_failed_files; /* of a dataset or file that cannot be opened: error.json */
extern const struct nt_pseudo_file nt_page_raw_file, nt_page_bin_file; /* <n>.raw, <n>.bin */
extern const struct nt_pseudo_file nt_page_part_file,
    nt_page_text_file;                                 /* <n>.0.raw, <n>.chunks.jsonl, ... */
extern const struct nt_pseudo_file nt_entry_file;      /* rows.d/<n>.json */
extern const struct nt_pseudo_file nt_blob_file;       /* blob.d/<n> */
extern const struct nt_pseudo_file nt_mount_directory; /* .ntuplefs */
extern const struct nt_pseudo_file nt_generated_document, nt_streamed_document; /* given by formats */
extern const struct nt_dir_source nt_dir_source_pages;
extern const struct nt_dir_source nt_dir_source_entries;     /* by number */
extern const struct nt_dir_source nt_dir_source_blobs;       /* the same */
extern const struct nt_dir_source nt_dir_source_versions;    /* the same */
extern const struct nt_dir_source nt_dir_source_chain_files; /* by name */

/* The files that a page of the scope's column has beside <n>.raw and <n>.bin: none where there is no such page, or no list of
 * pages that can be read. Fails where the machine does. */
enum nt_status nt_page_files(const struct nt_resolved_node *column, uint64_t page,
                             struct nt_page_file files[NT_PAGE_FILES], uint32_t *count_ret,
                             struct nt_error *error);

/* The page of a number of the scope's column. NT_NOT_FOUND where there are not so many. */
static inline enum nt_status nt_scope_page(const struct nt_resolved_node *resolved, uint64_t number,
                                           const struct nt_page **page_ret, struct nt_error *error)
{
    uint32_t cluster;
    uint64_t first_element;
    return nt_column_page(resolved->vfs->reader, resolved->dataset, resolved->column, number, page_ret,
                          &cluster, &first_element, error);
}

/* Whether the sizes that page lists of the scope's column, or else field, tell are known without work. */
static inline bool nt_scope_lists_are_loaded(const struct nt_resolved_node *resolved)
{
    return nt_groups_are_loaded(resolved->dataset,
                                resolved->column != NT_NONE
                                    ? nt_groups_of_column(resolved->dataset, resolved->column)
                                    : nt_groups_of_field(resolved->dataset, resolved->field));
}

/* Whether the scope is a directory. */
static inline bool nt_node_is_directory(const struct nt_resolved_node *resolved)
{
    return !resolved->pseudo || resolved->pseudo->class == NT_VFS_DIRECTORY;
}

/* ---- what a directory has ---- */

/* The sections of the scope's directory; NULL-terminated. */
const struct nt_dir_source *const *nt_node_dir_sources(const struct nt_resolved_node *resolved);

/* The table of the scope's level. */
const struct nt_pseudo_table *nt_node_files(const struct nt_resolved_node *resolved);

/* Whether a name in a file's topmost directory is one of ours. */
bool nt_is_container_file(const struct nt_file *file, struct nt_text name);

/* ---- documents that a format gives: header.json, pagelist.<n>.bin, keys.jsonl ---- */

/* Those in the scope's directory. */
const struct nt_document *nt_node_documents(const struct nt_resolved_node *resolved, uint32_t *count_ret);
uint64_t nt_document_count(const struct nt_resolved_node *resolved, const struct nt_document *document);
void nt_document_name(const struct nt_document *document, uint64_t number, struct nt_buffer *name);

/* ---- what the functions of rows and sections have in common ---- */

/* The end of a listing, or a name or a number that is not there. */
static inline enum nt_status nt_fail_no_such_file(struct nt_error *error)
{
    return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "no such file");
}

/* For a size that is asked for without work. */
static inline enum nt_status nt_fail_unknown_size(struct nt_error *error)
{
    return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "the size is not known without reading page lists");
}

/* ---- Hidden directories ---- */

/* Whether the scope is in the present version of a dataset: the versions in versions.d have no versions.d. */
nt_pseudo_exists nt_has_versions;
/* Whether it is in a chain. */
nt_pseudo_exists nt_is_of_chain;

/* ---- Distinct failures ---- */

struct nt_error_log *nt_error_log_new(void);            /* NULL without memory */
void nt_error_log_free(struct nt_error_log *error_log); /* accepts NULL */
/* Append a JSON line for each, the oldest first. */
void nt_error_log_write(struct nt_error_log *error_log, struct nt_buffer *out);

/* ---- Error reports ---- */

/* The end of a request for a node: records a failure. Returns `status`, and copies `failure` to `error` (may be NULL)
 * where it is not NT_OK. */
enum nt_status nt_report(struct nt_vfs *vfs, uint64_t node, enum nt_status status,
                         const struct nt_error *failure, struct nt_error *error);

/* nt_node_resolve that records its failures, and why a file or dataset there cannot be opened. */
enum nt_status nt_report_open(struct nt_vfs *vfs, uint64_t node, struct nt_resolved_node *resolved,
                              struct nt_error *error);

/* Failures that the reader and the model find, perhaps without any request. `vfs` is the struct nt_vfs. A page is recorded
 * under its column's directory, a page list under its dataset's. */
void nt_report_page(void *vfs, const struct nt_dataset *dataset, uint32_t column, const struct nt_page *page,
                    const struct nt_error *error);
void nt_report_group(void *vfs, const struct nt_dataset *dataset, uint32_t group,
                     const struct nt_error *error);

/* ---- File contents ---- */

/* A zeroed structure of `bytes` bytes whose first member is a content: `size` bytes that `ops` read, behind a header
 * that is taken, also on failure. `ops->close` frees it. NULL without memory, as the error tells. */
void *nt_content_new(size_t bytes, const struct nt_content_ops *ops, struct nt_buffer *header, uint64_t size,
                     struct nt_error *error);

/* The `close` of one that is just memory, and the `free` of such a text. */
void nt_content_free(struct nt_content *content);
static inline void nt_text_free(struct nt_text_generator *text)
{
    free(text);
}

/* A text generator, opened by the scope's row. Read in order it is made once; going back makes it again from
 * the start. The scope must outlive the content. */
enum nt_status nt_content_new_streamed(const struct nt_resolved_node *resolved,
                                       struct nt_content **content_ret, struct nt_error *error);

static inline void nt_content_close(struct nt_content *content)
{
    if (!content)
        return;
    free(content->header);
    content->ops->close(content);
}

/* ---- Generated files ---- */

struct nt_generated_options {
    struct nt_reader *reader; /* what is kept in memory counts as its */
    /* Of the disk: for the texts that are kept, all together, and for each one that is being made, for itself: one
     * that is longer fails. Those that are being made, or are read though not kept any more, come on top. */
    uint64_t disk_bytes;
    const char *directory; /* of the disk; lives as long as this */
    bool generate_all;     /* every text, not only those that are short */
};

/* NULL without memory. */
struct nt_generated *nt_generated_new(const struct nt_generated_options *options);
void nt_generated_free(struct nt_generated *generated); /* accepts NULL; no content may be open */

/* The scope's document or text, from the cache or generated now; closed by the caller. NULL for a text that is, or may be,
 * too long: it has to be streamed. */
enum nt_status nt_generated_open(struct nt_generated *generated, const struct nt_resolved_node *resolved,
                                 struct nt_content **content_ret, struct nt_error *error);
/* Whether the outcome of nt_generated_open is known without work: the size, from the cache or from the row; or that a text
 * is too long. */
bool nt_generated_has_size(struct nt_generated *generated, const struct nt_resolved_node *resolved,
                           bool *is_long_ret, uint64_t *size_ret);

/* Drop the files of retired inodes. Under the lock of the inode table. */
void nt_generated_forget(struct nt_generated *generated, const struct nt_inode_table *inodes);

/* Name and value of counter `index`; false past the last. */
bool nt_generated_counter(struct nt_generated *generated, uint32_t index, const char **name_ret,
                          uint64_t *value_ret);

/* ---- Spool files ---- */

struct nt_spool {
    struct nt_buffer memory; /* all of it, while `descriptor` is negative */
    uint64_t bytes;
    int descriptor;
};

#define NT_SPOOL_EMPTY ((struct nt_spool){.descriptor = -1})

/* Append to the text. Beyond `memory_bytes` it moves to an unnamed file in `directory`, which ends with the spool or the
 * program. A failure of the disk names the directory. */
enum nt_status nt_spool_append(struct nt_spool *spool, const void *bytes, size_t count, uint64_t memory_bytes,
                               const char *directory, struct nt_error *error);
/* Bytes [offset, offset + count), which must be there. Threads may read at once. */
enum nt_status nt_spool_read(const struct nt_spool *spool, uint64_t offset, void *buffer, size_t count,
                             struct nt_error *error);
void nt_spool_deinit(struct nt_spool *spool);

/* ---- Suspended streamed files ---- */

/* A member of the owner of the text; zeroed at first. */
struct nt_pooled_text {
    /* Free the memory; false where the text is being read again already. */
    bool (*suspend)(struct nt_pooled_text *text);
    TAILQ_ENTRY(nt_pooled_text) by_use;
    size_t bytes;
    bool is_listed;
};

/* The memory counts as the reader's. NULL without memory. */
struct nt_text_pool *nt_text_pool_new(struct nt_reader *reader);
void nt_text_pool_free(struct nt_text_pool *texts); /* accepts NULL; all texts have left */

/* A read of the text begins. */
void nt_text_pool_use(struct nt_text_pool *texts, struct nt_pooled_text *text);
/* The read has ended; the text now takes so many bytes. Suspends the least recently read texts where memory is short. */
void nt_text_pool_idle(struct nt_text_pool *texts, struct nt_pooled_text *text, size_t bytes);
/* The text is closed. */
void nt_text_pool_remove(struct nt_text_pool *texts, struct nt_pooled_text *text);

/* ---- Size policy ---- */

nt_is_short nt_rows_are_short;     /* rows.jsonl, table.csv */
nt_is_short nt_head_is_short;      /* head.jsonl */
nt_is_short nt_entry_is_short;     /* rows.d/<n>.json */
nt_is_short nt_schema_is_short;    /* schema.txt */
nt_is_short nt_clusters_are_short; /* clusters.jsonl */
nt_is_short nt_files_are_short;    /* files.jsonl */
nt_is_short nt_pages_are_short;    /* pages.jsonl */
nt_is_short nt_layout_is_short;    /* layout.jsonl */
nt_is_short nt_document_is_short;  /* what formats give */

enum { NT_HEAD_ROWS = 100 };

/* ---- NumPy headers ---- */

/* Failures are the buffer's. */
void nt_npy_header(struct nt_buffer *out, const struct nt_dtype *dtype, bool is_fortran_order,
                   const uint64_t *shape, size_t dimensions);

/* ---- Shapes ---- */

struct nt_shape {
    uint64_t dimensions[NT_MAX_DEPTH + 2];
    uint32_t count;
    uint64_t bytes; /* of all elements */
};

/* Whether the number of elements follows from the schema and the number of entries alone. */
bool nt_stream_is_known(const struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind);

/* The stream's shape: [elements], or for data [rows, N, ...], without the rows of an array of no dimensions. May read page lists. */
enum nt_status nt_stream_shape(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                               enum nt_stream_kind kind, struct nt_shape *shape, struct nt_error *error);

/* A dtype as NumPy's .str or .descr would be in JSON: a string, or a list for structured ones. */
void nt_json_dtype(struct nt_json *json, const struct nt_dtype *dtype);

/* ---- Byte ranges of columns and pages ---- */

/* A stretch of a column's decoded bytes, or of a page's stored ones. */
struct nt_range_file {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t column;
    const struct nt_page *page;
    uint64_t first_byte;
};

/* For nt_range_file_content: the column's decoded bytes from `first_byte` on; the page's stored ones; the page's
 * decoded ones, whichever page it is; those of the page's file from `first_byte` on. */
extern const struct nt_content_ops nt_stretch_decoded, nt_stretch_stored, nt_stretch_page, nt_stretch_source;

/* `size` bytes of the stretch, which is copied, behind a header that is taken, also on failure. */
enum nt_status nt_range_file_content(const struct nt_range_file *range_file, struct nt_buffer *header,
                                     uint64_t size, const struct nt_content_ops *ops,
                                     struct nt_content **content_ret, struct nt_error *error);

/* ---- JSON files ---- */

nt_pseudo_produce nt_error_json;
nt_pseudo_text nt_pages_jsonl;

/* "ratio": packed to stored bytes, null where nothing is stored. */
void nt_json_ratio(struct nt_json *json, uint64_t packed_bytes, uint64_t stored_bytes);

/* "pages", "stored_bytes", "packed_bytes", "decoded_bytes", "ratio". */
void nt_json_members_sums(struct nt_json *json, const struct nt_column_sums *sums);

/* "compression_settings": those that the writer noted for a column (NT_NONE: for all), each once. A setting
 * is 100 times the algorithm, plus the level; page lists that are not loaded are omitted. */
void nt_json_member_settings(struct nt_json *json, const struct nt_dataset *dataset, uint32_t column);

/* "path": where a dataset lies below the directory of its file, null where no path is that long. */
void nt_json_member_dataset_path(struct nt_json *json, const struct nt_open_file *opened, uint32_t dataset);

/* ---- Rendered files ---- */

nt_pseudo_text nt_schema_txt, nt_rows_jsonl, nt_head_jsonl, nt_table_csv, nt_layout_jsonl;
nt_pseudo_exists nt_has_table_arrow;
nt_pseudo_size nt_table_arrow_size, nt_layout_svg_size, nt_sizes_svg_size;
nt_pseudo_open nt_table_arrow_open;
nt_pseudo_produce nt_layout_svg_file, nt_sizes_svg_file;

/* ---- Blob files ---- */

/* Whether a field has files of such a stream: its own, or those of the blobs that it describes. */
bool nt_field_shows(const struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind);

#endif
