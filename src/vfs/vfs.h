/* SPDX-License-Identifier: MIT
 *
 * Private declarations of the virtual tree: node numbers, the tables of pseudo-files for each type of
 * node, directory sources, and file contents.
 */
#pragma once

#include <stdio.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "render/render.h"
#include "vfs/inode.h"
#include "vfs/tree.h"

struct nt_content_ops;
struct nt_error_log;
struct nt_generated;
struct nt_pseudo_file;
struct nt_dir_source;
struct nt_text_pool;

/* ---- Node numbers ---- */

/* The levels of the tree. Each level has its own directories and its own table of pseudo-files. */
enum nt_node_type {
    NT_NODE_INODE, /* passthrough directory, or directories of a data file; inode 0 is the root */
    NT_NODE_MOUNT, /* .ntuplefs */
    NT_NODE_DATASET,
    NT_NODE_FIELD,
    NT_NODE_COLUMN,
    NT_NODE_PAGE_RAW,  /* pages/<n>.raw */
    NT_NODE_PAGE_BIN,  /* pages/<n>.bin */
    NT_NODE_PAGE_FILE, /* pages/<n>.<...>: a part of the page */
    NT_NODE_ENTRY,     /* rows.d/<n>.json */
    NT_NODE_BLOB,      /* blob.d/<n> of a field */
    NT_NODE_VERSION,   /* versions.d/v<n>: a link to versions.d/<n> */
    NT_NODE_TYPES
};

enum {
    NT_NODE_SELF = 1,              /* the level's own directory; makes the root (inode 0) node 1 */
    NT_NODE_FIRST_FILE = 2,        /* row 0 of the level's table */
    NT_NODE_FIRST_DOCUMENT = 1024, /* document 0 of the format */
};

struct nt_node {
    enum nt_node_type type;
    uint32_t owner;  /* inode number; from datasets down: dataset id */
    uint32_t item;   /* index of a directory in its file, or of a field or column in its dataset */
    uint32_t file;   /* NT_NODE_SELF, or a file of the directory; for page files, the number from 1 */
    uint64_t number; /* of a document, page, entry or blob */
};

/* Returns false if a part does not fit its bits. The tree cannot show such a node. */
bool nt_node_pack(const struct nt_node *node, uint64_t *number_ret);
/* Returns false for numbers that nt_node_pack never returns. */
bool nt_node_unpack(uint64_t number, struct nt_node *node);
/* Packs a node other than a document, page, entry or blob. Returns 0 if the tree cannot show it. */
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

/* The calling thread starts slow work. The reader and the files use it as their hook, too. */
void nt_vfs_before_blocking(void *vfs);

struct nt_resolved_node {
    struct nt_vfs *vfs;
    uint64_t number; /* of `node` */
    struct nt_node node;
    uint32_t inode;
    enum nt_inode_kind inode_kind;
    struct nt_open_file *opened; /* held until nt_node_release; NULL: directory, failed, .ntuplefs */
    struct nt_file *file;        /* of `opened`; after nt_node_resolve_stub the complete file */
    struct nt_dataset *dataset;  /* of `file`; NULL above datasets */
    uint32_t field;              /* NT_NONE above fields */
    uint32_t column; /* NT_NONE except for columns and pages; there `dataset` is its physical dataset */
    struct nt_page_file page_file;       /* for NT_NODE_PAGE_FILE */
    const struct nt_names *field_names;  /* of `dataset`, if `field` is set */
    const struct nt_pseudo_file *pseudo; /* the file's row; NULL: a directory of the model */
    const struct nt_document *document;  /* if the row is a document of the format */
    const struct nt_vfs_caller *caller;  /* the waiting caller, or NULL */
};

/* Releases what nt_node_resolve acquired. */
void nt_node_release(struct nt_resolved_node *resolved);

/* Names come from the file's stub if it has one. This call replaces `file` and `dataset` by the
 * complete ones, which have entries; on failure they stay as they are. Without `may_block`, returns
 * NT_NOT_FOUND if it would have to open files. */
enum nt_status nt_node_resolve_stub(struct nt_resolved_node *resolved, bool may_block,
                                    struct nt_error *error);

/* Can the content of the node change from one access to the next? True for the daemon's own files,
 * files that are generated for each access, and the error of a failed inode, which may open later. */
bool nt_node_is_volatile(const struct nt_resolved_node *resolved);

/* Returns NT_CANCELED if the waiting caller has given up. Long work calls it repeatedly. */
enum nt_status nt_node_check_caller(const struct nt_resolved_node *resolved, struct nt_error *error);
/* Waits for the condition, at most 100 ms: the caller checks it in a loop. NT_CANCELED as above. */
enum nt_status nt_node_wait(const struct nt_resolved_node *resolved, pthread_cond_t *condition,
                            pthread_mutex_t *lock, struct nt_error *error);

/* The number of the directory of a field or column. 0: the tree cannot show it. */
uint64_t nt_node_of_field(const struct nt_resolved_node *resolved, uint32_t field);
uint64_t nt_node_of_column(const struct nt_resolved_node *resolved, uint32_t column);

/* ---- Node numbers to objects, names and paths ---- */

/* Unpacks a node number and opens the object. Returns NT_NOT_FOUND for stale and invalid numbers. After
 * success the caller must call nt_node_release. */
enum nt_status nt_node_resolve(struct nt_vfs *vfs, uint64_t number, struct nt_resolved_node *resolved,
                               struct nt_error *error);

/* Resolves a remote directory as far as its attributes need, without probing its type. Returns false
 * for all other nodes. The status is NT_NOT_FOUND if the attributes are unknown and it must not
 * block. */
bool nt_node_resolve_unprobed(struct nt_vfs *vfs, uint64_t number, bool may_block,
                              struct nt_resolved_node *resolved, enum nt_status *status_ret,
                              struct nt_error *error);
/* The directory of the level (inode, dataset, field, column) that contains the node, or is the node. */
uint64_t nt_node_directory(const struct nt_resolved_node *resolved);
/* The parent directory of a node. The root is its own parent. */
uint64_t nt_node_parent(const struct nt_resolved_node *resolved);
/* Appends the path from the root to a node, without a leading slash. */
enum nt_status nt_node_path(struct nt_vfs *vfs, uint64_t number, struct nt_buffer *path,
                            struct nt_error *error);

/* ---- Pseudo-files and directory sources ---- */

/* Every level of the tree has a table of pseudo-files. Each row has a name, a class and the functions
 * that produce the content. A directory has a list of sources of entries (files of the table, fields,
 * columns, pages, ...). Each source can list its entries and find one by name. Listing, lookup, attributes
 * and reading exist once and work on these tables.
 *
 * To add a file, write its function and add a row to the level's table in <level>_files.c. */

/* The content of an open file: `size` bytes, or a text of unknown size (UINT64_MAX). */
struct nt_content {
    const struct nt_content_ops *ops;
    uint64_t size;   /* including the header */
    uint8_t *header; /* from malloc; NULL: none */
    size_t header_bytes;
    bool is_streamed;         /* no seeks: it ends in a failure, or a stat() does not know its size */
    struct nt_stream *stream; /* whose bytes follow the header, and can be pinned; NULL: `read` gives them */
};

/* Offsets start after the header. */
struct nt_content_ops {
    /* Reads exactly `bytes` bytes, which must exist; *bytes_ret is this number already. For a text of unknown
     * size, or a damaged one, it may read less, up to the end, and sets the count. */
    enum nt_status (*read)(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                           size_t *bytes_ret, struct nt_error *error);
    void (*close)(struct nt_content *content);
    /* For contents of unknown size: see nt_vfs_probable_bytes. NULL: no estimate. */
    uint64_t (*probable_bytes)(struct nt_content *content);
};

/* The types of the functions in the rows. */
typedef bool nt_pseudo_exists(const struct nt_resolved_node *resolved, unsigned parameter);
typedef enum nt_status nt_pseudo_size(const struct nt_resolved_node *resolved, bool may_block,
                                      uint64_t *size_ret, struct nt_error *error);
typedef enum nt_status nt_pseudo_content(const struct nt_resolved_node *resolved, bool may_block,
                                         uint64_t *size_ret, struct nt_content **content_ret,
                                         struct nt_error *error);
typedef enum nt_status nt_pseudo_generate(const struct nt_resolved_node *resolved, struct nt_buffer *out,
                                          struct nt_error *error);
typedef enum nt_status nt_pseudo_text(const struct nt_resolved_node *resolved,
                                      struct nt_text_generator **text_ret, struct nt_error *error);
typedef enum nt_status nt_is_short(const struct nt_resolved_node *resolved, bool *is_short_ret,
                                   struct nt_error *error);

struct nt_pseudo_file {
    const char *name;
    enum nt_vfs_class class;
    unsigned parameter; /* for functions that serve several rows */
    bool is_npy;        /* likewise: the elements follow a NumPy header */
    bool is_private;    /* only the owner may read it */
    bool takes_budget;  /* of its file's metadata, for what is neither a page list nor the model */
    /* Does this node have the file? NULL: always. Must not do any work. */
    nt_pseudo_exists *exists;

    /* SIZED: the size; without `may_block`, NT_NOT_FOUND if it depends on page lists that are not
     * loaded. Files in pages/ read the list of their page again. If `content_ret` is not NULL, opens the
     * content instead. */
    nt_pseudo_content *content;
    /* SIZED: if the size depends on pages that are far away, it is unknown, as that of a STREAMED file. */
    bool needs_pages;
    /* SIZED: is a stub enough to know the size? NULL: no. */
    bool (*stub_has_size)(const struct nt_resolved_node *resolved);
    /* GENERATED: generates the same bytes each time, except in .ntuplefs. */
    nt_pseudo_generate *generate;
    /* GENERATED: the size before generation; NT_NOT_FOUND or NULL if it is unknown. */
    nt_pseudo_size *size;
    /* STREAMED: `open_text` generates the same bytes each time. If `is_short` finds from metadata that
     * this is little work, a lookup generates the text, and the file behaves like a GENERATED one. */
    nt_pseudo_text *open_text;
    nt_is_short *is_short;
    /* Has the file the same text as that of the row before? NULL: no. Must not do any work. */
    bool (*equals_previous)(const struct nt_resolved_node *resolved);
    /* DIRECTORY: one source, then NULL. */
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

/* A part of the entries of a directory. */
struct nt_dir_source {
    /* Returns the first entry with an index of at least *index, and sets *index to its index;
     * NT_NOT_FOUND at the end. NULL: the source finds entries by name but does not list them, because
     * there may be many and each lookup is expensive. */
    enum nt_status (*next)(const struct nt_resolved_node *directory, uint64_t *index,
                           struct nt_dir_entry *listed, struct nt_error *error);
    /* NT_NOT_FOUND if the source has no such name. */
    enum nt_status (*find)(const struct nt_resolved_node *directory, const char *name, uint64_t *node_ret,
                           struct nt_error *error);
    /* Called before a listing starts. May be NULL. */
    enum nt_status (*begin)(const struct nt_resolved_node *directory, struct nt_error *error);
};

/* ---- The levels ---- */

extern const struct nt_pseudo_table nt_container_files; /* files of a data file: file.json, ... */
extern const struct nt_pseudo_table nt_mount_files;     /* .ntuplefs */
extern const struct nt_pseudo_table nt_dataset_files;
extern const struct nt_pseudo_table nt_field_files;
extern const struct nt_pseudo_table nt_column_files;
extern const struct nt_pseudo_table nt_failed_files; /* of one that fails to open: error.json */
extern const struct nt_pseudo_file nt_page_raw_file, nt_page_bin_file; /* <n>.raw, <n>.bin */
extern const struct nt_pseudo_file nt_page_part_file,
    nt_page_text_file;                                 /* <n>.0.raw, <n>.chunks.jsonl, ... */
extern const struct nt_pseudo_file nt_entry_file;      /* rows.d/<n>.json */
extern const struct nt_pseudo_file nt_blob_file;       /* blob.d/<n> */
extern const struct nt_pseudo_file nt_version_link;    /* versions.d/v<n> */
extern const struct nt_pseudo_file nt_mount_directory; /* .ntuplefs */
extern const struct nt_pseudo_file nt_generated_document, nt_streamed_document; /* of formats */
extern const struct nt_dir_source nt_dir_source_pages;
extern const struct nt_dir_source nt_dir_source_entries;     /* found by number */
extern const struct nt_dir_source nt_dir_source_blobs;       /* found by number */
extern const struct nt_dir_source nt_dir_source_versions;    /* found by number, listed as links */
extern const struct nt_dir_source nt_dir_source_chain_files; /* found by name */

/* For NT_CLEANUP: unpins the page. */
static inline void nt_page_unpin_at(struct nt_page_position *place)
{
    nt_group_unpin(place->group);
}

/* Returns the files that a page of the column has in addition to <n>.raw and <n>.bin. Returns none if
 * the page does not exist or its page list is unreadable. Fails only for system errors. */
enum nt_status nt_page_files(const struct nt_resolved_node *column, uint64_t page,
                             struct nt_page_file files[NT_PAGE_FILES], uint32_t *count_ret,
                             struct nt_error *error);

/* Call if a size depends on the page lists of the node's field or, unless NT_NONE, of a column of `dataset`.
 * If they are not loaded, fails without `may_block` (nt_fail_unknown_size), else requests those of fields
 * that may be next. */
enum nt_status nt_node_need_lists(const struct nt_resolved_node *resolved, struct nt_dataset *dataset,
                                  uint32_t column, bool may_block, struct nt_error *error);

static inline bool nt_node_is_directory(const struct nt_resolved_node *resolved)
{
    return !resolved->pseudo || resolved->pseudo->class == NT_VFS_DIRECTORY;
}

/* ---- Contents of directories ---- */

/* The sources of the node's directory, terminated by NULL. */
const struct nt_dir_source *const *nt_node_dir_sources(const struct nt_resolved_node *resolved);

/* The table of the node's level. */
const struct nt_pseudo_table *nt_node_files(const struct nt_resolved_node *resolved);

/* Is the name that of a generated file in the root directory of a data file? */
bool nt_is_container_file(const struct nt_file *file, struct nt_text name);

/* ---- Documents of formats: header.json, pagelist.<n>.bin, keys.jsonl ---- */

/* The documents in the node's directory. */
const struct nt_document *nt_node_documents(const struct nt_resolved_node *resolved, uint32_t *count_ret);
struct nt_document_request nt_document_request(const struct nt_resolved_node *resolved);
uint64_t nt_document_count(const struct nt_resolved_node *resolved, const struct nt_document *document);
void nt_document_name(const struct nt_document *document, uint64_t number, struct nt_buffer *name);

/* ---- Helpers for rows and directory sources ---- */

/* For the end of a listing, and for an unknown name or number. */
static inline enum nt_status nt_fail_no_such_file(struct nt_error *error)
{
    return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "no such file");
}

/* For a size that is requested without work. */
static inline enum nt_status nt_fail_unknown_size(struct nt_error *error)
{
    return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "the size is unknown until page lists are read");
}

/* ---- Hidden directories ---- */

/* Is the node in the current version of a dataset? Versions in versions.d have no versions.d. */
nt_pseudo_exists nt_has_versions;
/* Is the node in a chain? */
nt_pseudo_exists nt_is_in_chain;

/* ---- Distinct failures ---- */

struct nt_error_log *nt_error_log_new(void);            /* NULL: out of memory */
void nt_error_log_free(struct nt_error_log *error_log); /* accepts NULL */
/* Appends a JSON line for each failure, the oldest first. */
void nt_error_log_write(struct nt_error_log *error_log, struct nt_buffer *out);

/* ---- Error reports ---- */

/* Ends a request for a node and records its failure. Returns `status`, and copies `failure` to `error`
 * (may be NULL) if the status is not NT_OK. */
enum nt_status nt_report_failure(struct nt_vfs *vfs, uint64_t node, enum nt_status status,
                                 const struct nt_error *failure, struct nt_error *error);

/* Like nt_node_resolve, but records failures, including those of the node's file or dataset. */
enum nt_status nt_report_open(struct nt_vfs *vfs, uint64_t node, struct nt_resolved_node *resolved,
                              struct nt_error *error);

/* A request for a node. No inode is freed between its begin and end. */
struct nt_request {
    struct nt_resolved_node resolved;
    struct nt_error failure; /* cleared; what the end records */
    unsigned epoch_token;
};
enum nt_status nt_request_begin(struct nt_request *request, struct nt_vfs *vfs, uint64_t node,
                                struct nt_error *error);
/* Call it after a successful begin. Returns the status, and records the failure. */
enum nt_status nt_request_end(struct nt_request *request, enum nt_status status, struct nt_error *error);

/* Record failures that the reader and the model find, perhaps outside any request. `vfs` is a struct
 * nt_vfs. A page is recorded under its column's directory, a page list under its dataset's. */
void nt_report_page(void *vfs, const struct nt_dataset *dataset, uint32_t column, const struct nt_page *page,
                    const struct nt_error *error);
void nt_report_group(void *vfs, const struct nt_dataset *dataset, uint32_t group,
                     const struct nt_error *error);

/* ---- File contents ---- */

/* Allocates a zeroed structure of `bytes` bytes whose first member is a content: a header (NULL: none), then
 * `size` bytes that `ops` reads. On success the header is empty: the content has its bytes. `ops->close`
 * frees the structure. Returns NULL and sets the error if memory is short. */
void *nt_content_new(size_t bytes, const struct nt_content_ops *ops, struct nt_buffer *header, uint64_t size,
                     struct nt_error *error);

/* Opens the text generator of the node's row. A sequential read generates the text once; a seek back
 * restarts it. The node must outlive the content. */
enum nt_status nt_content_new_streamed(const struct nt_resolved_node *resolved,
                                       struct nt_content **content_ret, struct nt_error *error);

static inline void nt_content_close(struct nt_content *content)
{
    if (!content)
        return;
    free(content->header);
    content->ops->close(content);
}

/* ---- The node's dataset as a table, and its blobs ---- */

/* The Arrow table, until it is released. */
enum nt_status nt_node_arrow(const struct nt_resolved_node *resolved, struct nt_arrow **arrow_ret,
                             struct nt_error *error);
void nt_open_file_release_arrow(struct nt_open_file *opened, const struct nt_dataset *dataset);
/* The size of the Arrow file. The first call reads all page lists; without `may_block` it returns
 * NT_NOT_FOUND instead. Only the number is kept. */
enum nt_status nt_node_arrow_bytes(const struct nt_resolved_node *resolved, bool may_block,
                                   uint64_t *bytes_ret, struct nt_error *error);
/* The blobs that the node's field describes, valid as long as its open file. Without `may_block`, returns
 * NT_NOT_FOUND if they are not built yet. */
enum nt_status nt_node_blobs(const struct nt_resolved_node *resolved, bool may_block,
                             struct nt_blobs **blobs_ret, struct nt_error *error);

/* ---- Generated files ---- */

struct nt_generated_options {
    struct nt_reader *reader;       /* accounts for the memory in use */
    struct nt_text_pool *text_pool; /* of the tree: see nt_text_pool_begin */
    /* Limits the disk space of all cached texts together, and of each text while it is generated; a
     * longer one fails. Texts in generation, and evicted texts that are being read, come on top. */
    uint64_t disk_bytes;
    const char *directory; /* for disk files; must outlive this object */
    bool generate_all;     /* every text, not only short ones */
    bool keeps_last;       /* only the text that was generated last */
};

/* NULL: out of memory. */
struct nt_generated *nt_generated_new(const struct nt_generated_options *options);
void nt_generated_free(struct nt_generated *generated); /* accepts NULL; no content may be open */

/* Opens the node's document or text, from the cache or by generating it. The caller closes the content.
 * Returns NULL for a text that is, or may be, too long: the caller must stream it. */
enum nt_status nt_generated_open(struct nt_generated *generated, const struct nt_resolved_node *resolved,
                                 struct nt_content **content_ret, struct nt_error *error);
/* Is the result of nt_generated_open known without generating it? Either the size is known, from the
 * cache or the row, which may load page lists if it may block; or the text is too long. */
bool nt_generated_has_size(struct nt_generated *generated, const struct nt_resolved_node *resolved,
                           bool may_block, bool *is_long_ret, uint64_t *size_ret);

/* Drops the files of retired inodes. Call it under the lock of the inode table. */
void nt_generated_invalidate(struct nt_generated *generated, const struct nt_inode_table *inodes);

/* Returns the name and value of counter `index`; false after the last. */
bool nt_generated_counter(struct nt_generated *generated, uint32_t index, const char **name_ret,
                          uint64_t *value_ret);

/* ---- Spool files ---- */

struct nt_spool {
    struct nt_buffer memory; /* the whole text while `descriptor` is negative */
    uint64_t bytes;
    int descriptor;
};

#define NT_SPOOL_EMPTY ((struct nt_spool){.descriptor = -1})

/* Appends to the text. Beyond `memory_bytes` the text moves to an unnamed file in `directory`, which
 * disappears with the spool or the program. Disk errors name the directory. */
enum nt_status nt_spool_append(struct nt_spool *spool, const void *bytes, size_t count, uint64_t memory_bytes,
                               const char *directory, struct nt_error *error);
/* Reads bytes [offset, offset + count), which must exist. Threads may read concurrently. */
enum nt_status nt_spool_read(const struct nt_spool *spool, uint64_t offset, void *buffer, size_t count,
                             struct nt_error *error);
void nt_spool_deinit(struct nt_spool *spool);

/* ---- Suspended streamed files ---- */

/* A member of the object that owns the text. Initialize with zeros. */
struct nt_pooled_text {
    /* Frees the memory, `for_budget` also what it took from a budget. Returns false if a thread is reading
     * the text again. */
    bool (*suspend)(struct nt_pooled_text *text, bool for_budget);
    TAILQ_ENTRY(nt_pooled_text) by_use;
    size_t bytes;
    bool takes_budget; /* of the metadata of its file */
    bool is_listed;
};

/* The memory counts as the reader's. NULL: out of memory. */
struct nt_text_pool *nt_text_pool_new(struct nt_reader *reader);
void nt_text_pool_free(struct nt_text_pool *texts); /* accepts NULL; all texts must be removed */

/* A read of the text starts. */
void nt_text_pool_use(struct nt_text_pool *texts, struct nt_pooled_text *text);
/* A read has ended; the text now uses `bytes` bytes, and perhaps a part of its file's budget. Suspends the
 * least recently read texts as needed. */
void nt_text_pool_idle(struct nt_text_pool *texts, struct nt_pooled_text *text, size_t bytes,
                       bool takes_budget);
/* The text closes. */
void nt_text_pool_remove(struct nt_text_pool *texts, struct nt_pooled_text *text);

/* An nt_budget_make_room for files of a tree: suspends all texts that take from a budget and are not being
 * read. */
bool nt_vfs_suspend_texts(void *vfs);

/* A thread that generates a document or the layout charges the budget of its file. If that fails because
 * others have charged it, the thread generates the text again with `is_alone`: then the beginning waits until
 * other threads generate no such text, and releases page lists. Texts of rows and the like do not wait.
 * NT_CANCELED if the caller interrupts the wait. */
struct nt_text_attempt {
    bool is_alone;
    bool is_in_vain; /* alone: the attempt before was alone, too, made nothing, and had as much of the budget
                      */
    bool has_made;   /* a part of the text, which is made again; set by the caller */
    bool has_others; /* that generated at its beginning */
    unsigned number;
    uint64_t used; /* of the budget, at the beginning */
};
enum nt_status nt_text_pool_begin(struct nt_text_pool *texts, const struct nt_resolved_node *resolved,
                                  struct nt_text_attempt *attempt, struct nt_error *error);
/* Prepares for an attempt alone. */
void nt_text_pool_end(struct nt_text_pool *texts, const struct nt_resolved_node *resolved,
                      struct nt_text_attempt *attempt);

/* ---- Size policy ---- */

/* Is the size of this file, which is known otherwise, unknown because pages are far away? */
bool nt_size_is_far(const struct nt_resolved_node *resolved, const struct nt_pseudo_file *pseudo);
nt_is_short nt_rows_are_short;     /* rows.jsonl, head.jsonl, table.csv */
nt_is_short nt_entry_is_short;     /* rows.d/<n>.json */
nt_is_short nt_schema_is_short;    /* schema.txt */
nt_is_short nt_clusters_are_short; /* clusters.jsonl */
nt_is_short nt_files_are_short;    /* files.jsonl */
nt_is_short nt_pages_are_short;    /* pages.jsonl */
nt_is_short nt_chunks_are_short;   /* pages/<n>.chunks.jsonl */
nt_is_short nt_layout_is_short;    /* layout.jsonl */
nt_is_short nt_document_is_short;  /* documents of formats */

enum { NT_HEAD_ROWS = 100 };
/* Is head.jsonl the same as rows.jsonl? False below lists, where page lists have the number of rows. */
bool nt_head_has_all_rows(const struct nt_resolved_node *resolved);

/* ---- NumPy headers ---- */

/* Errors stay in the buffer. */
void nt_npy_header(struct nt_buffer *out, const struct nt_dtype *dtype, bool is_fortran_order,
                   const uint64_t *shape, size_t dimensions);

/* ---- Shapes ---- */

struct nt_shape {
    uint64_t dimensions[NT_MAX_DEPTH + 2];
    uint32_t count;
    uint64_t bytes; /* of all elements */
};

/* Does the number of elements follow from the schema and the number of entries alone? */
bool nt_stream_is_known(const struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind);

/* Returns the shape of the stream: [elements], or for data [rows, N, ...]. An array without dimensions
 * omits the rows. May read page lists. */
enum nt_status nt_stream_shape(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                               enum nt_stream_kind kind, struct nt_shape *shape, struct nt_error *error);

/* Writes a dtype like NumPy's .str or .descr: a string, or a list for structured types. */
void nt_json_dtype(struct nt_json *json, const struct nt_dtype *dtype);

/* ---- Byte ranges of columns and pages ---- */

/* A range of a column's decoded bytes, or of a page's stored bytes. */
struct nt_range_file {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t column;
    uint64_t first_byte;
    const struct nt_page *page;
    struct nt_group *group; /* pinned for the page, or NULL */
};

/* For nt_range_file_content. decoded: the column's decoded bytes from `first_byte`; stored: the page's
 * stored bytes; page: decoded bytes of any page; source: bytes of the page's file from `first_byte`. */
extern const struct nt_content_ops nt_range_file_decoded, nt_range_file_stored, nt_range_file_page,
    nt_range_file_source;

/* Opens a header plus `size` bytes of the range, which it copies. On success it has taken the header and the
 * pin. */
enum nt_status nt_range_file_content(struct nt_range_file *range_file, struct nt_buffer *header,
                                     uint64_t size, const struct nt_content_ops *ops,
                                     struct nt_content **content_ret, struct nt_error *error);

/* ---- JSON files ---- */

nt_pseudo_generate nt_error_json;
nt_pseudo_text nt_pages_jsonl;

/* "ratio": packed bytes / stored bytes, null if nothing is stored. */
void nt_json_ratio(struct nt_json *json, uint64_t packed_bytes, uint64_t stored_bytes);

/* "pages", "stored_bytes", "packed_bytes", "decoded_bytes", "ratio". */
void nt_json_members_sums(struct nt_json *json, const struct nt_column_sums *sums);

/* What one pass over the page lists of a column (NT_NONE: of all) finds. Bad ones are omitted. */
enum { NT_SETTINGS = 1024 };
struct nt_column_summary {
    struct nt_column_sums sums;
    bool has_suppressed, has_absent; /* clusters */
    uint32_t setting_count;
    uint16_t settings[NT_SETTINGS]; /* the distinct ones of the writer: 100 * algorithm + level */
};
enum nt_status nt_column_summarize(struct nt_dataset *dataset, uint32_t column,
                                   struct nt_column_summary *summary, struct nt_error *error);
/* "compression_settings". */
void nt_json_member_settings(struct nt_json *json, const struct nt_column_summary *summary);

/* "path": the path of a dataset below its file's directory; null if it exceeds the length limit. */
void nt_json_member_dataset_path(struct nt_json *json, const struct nt_open_file *opened, uint32_t dataset);

/* ---- Rows of a dataset or field ---- */

nt_pseudo_text nt_rows_jsonl; /* and head.jsonl */

/* The rows of such a text, at most. The parameter of head.jsonl is its limit. */
static inline uint64_t nt_row_limit(const struct nt_pseudo_file *pseudo)
{
    return pseudo->parameter ? pseudo->parameter : UINT64_MAX;
}

/* ---- Blob files ---- */

/* Does a field have files for such a stream: its own, or those of the blobs that it describes? */
bool nt_field_shows(const struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind);
