/* SPDX-License-Identifier: MIT
 *
 * The data model that every format is described in: files, datasets, fields, columns, clusters and pages,
 * with decoders, lazy loading, field paths and row selections.
 */
#ifndef NT_CORE_MODEL_MODEL_H
#define NT_CORE_MODEL_MODEL_H

#include <ntuple/dataset.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/hash_table.h"
#include "core/base/thread.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/model/budget.h"

struct nt_arena;
struct nt_buffer;
struct nt_dataset;
struct nt_file;
struct nt_folder;
struct nt_format;
struct nt_json;
struct nt_source;

/* ---- Lazy loading ---- */

enum nt_lazy_state { NT_LAZY_EMPTY, NT_LAZY_READY, NT_LAZY_FAILED };

struct nt_lazy {
    atomic_int *state;         /* enum nt_lazy_state */
    struct nt_error **failure; /* of malloc, once it has failed */
    enum nt_status (*make)(void *owner, uint32_t number, struct nt_error *error);
    void *owner; /* that `make` is called with, and `number` */
    uint32_t number;
    struct nt_lock *lock; /* held meanwhile */
    /* Called before something is made or waited for, with `context`; may be NULL. */
    void (*before)(void *context);
    void *context;
};

/* The first thread that comes makes it, others wait. What is there and turns out to be bad is remembered, `is_new_ret` is
 * set where that was now; after a failure of the machine the next call tries again. */
enum nt_status nt_lazy_get(const struct nt_lazy *lazy, bool *is_new_ret, struct nt_error *error);

static inline bool nt_lazy_is_ready(const atomic_int *state)
{
    return atomic_load_explicit(state, memory_order_acquire) == NT_LAZY_READY;
}

/* ---- Pages ---- */

enum nt_checksum_covers {
    NT_COVERS_STORED,           /* the bytes as stored */
    NT_COVERS_STORED_OR_PACKED, /* drafts: either the stored or the uncompressed bytes; both are accepted */
};

struct nt_page {
    uint64_t offset; /* in its source; see nt_dataset_ops.page_extents where it may lie in several places */
    uint64_t stored_bytes;  /* checksum not counted */
    uint64_t first_element; /* within its column range */
    uint64_t parameter;     /* handed to the decoder (Roaring: what is added to each value) */
    uint32_t elements;
    uint32_t decoder; /* number of one of the dataset's */
    uint32_t source;  /* index into the dataset's sources */
    uint8_t checksum; /* enum nt_checksum_kind; the digest follows the stored bytes */
    uint8_t checksum_covers;
    uint8_t compression; /* enum nt_compression_kind */
    bool is_missing : 1; /* there are no bytes, and what is read instead fails: equal to no other page */
    bool is_uniform : 1; /* all elements are equal: see nt_page_made_elements */
};

enum { NT_UNIFORM_ELEMENTS = 8192 };

/* How many elements are decoded: of a page whose elements are all equal only so many, which stand for any run of as many. */
static inline uint32_t nt_page_made_elements(const struct nt_page *page)
{
    return page->is_uniform && page->elements > NT_UNIFORM_ELEMENTS ? NT_UNIFORM_ELEMENTS : page->elements;
}

/* ---- Blobs ---- */

/* The numbers of `kind` in the file. */
enum nt_blob_kind {
    NT_BLOB_INLINE,    /* in the data file that has the row */
    NT_BLOB_PACKED,    /* in a file beside it that has several */
    NT_BLOB_DEDICATED, /* in a file of its own beside it */
    NT_BLOB_EXTERNAL,  /* in a file that does not belong to the dataset */
    NT_BLOB_MANAGED,   /* in a file of the dataset that has a name of its own */
    NT_BLOB_KINDS
};

/* Whether `uri` is read: the others have none. */
static inline bool nt_blob_has_uri(uint8_t kind)
{
    return kind == NT_BLOB_EXTERNAL || kind == NT_BLOB_MANAGED;
}

/* A row that is not null, in the types of the file. */
struct nt_description {
    uint8_t kind;
    uint64_t position, size;
    uint32_t id;
    struct nt_text uri;
};

/* Where a blob lies. Zero at first. */
struct nt_blob {
    uint64_t bytes;
    uint64_t offset;          /* in `source` */
    struct nt_source *source; /* NULL: no file is open */
    struct nt_folder *folder; /* that the file lies beneath, and its name there, from malloc */
    char *name;
};

/* Closes the file. */
void nt_blob_deinit(struct nt_blob *blob);

/* ---- Decoders ---- */

struct nt_decoder_row {
    struct nt_link link;
    uint32_t number;
    struct nt_decoder decoder;
};

enum { NT_FIRST_DECODERS = 32, NT_DECODER_SEGMENTS = 27 };

struct nt_decoders {
    struct nt_decoder_row *segments[NT_DECODER_SEGMENTS]; /* each twice as long as the one before */
    uint32_t count;
    struct nt_hash_table table;
};

/* False without memory. */
bool nt_decoders_init(struct nt_decoders *decoders);
void nt_decoders_deinit(struct nt_decoders *decoders);

/* The number of a decoder: that of an equal one, or of a new row in the arena's memory, with a copy of its
 * state and its inputs, which are taken from the budget. It is checked; its inputs' decoders were added before. Not thread-safe, but others may get the rows that they know the numbers of. */
enum nt_status nt_decoders_add(struct nt_decoders *decoders, struct nt_arena *arena, struct nt_budget *budget,
                               const struct nt_decoder *decoder, uint32_t *number_ret,
                               struct nt_error *error);

static inline unsigned nt_decoder_segment(uint32_t number)
{
    return 31u - (unsigned)__builtin_clz(number / NT_FIRST_DECODERS + 1);
}

static inline uint32_t nt_decoder_segment_first(unsigned segment)
{
    return NT_FIRST_DECODERS * ((1u << segment) - 1);
}

static inline const struct nt_decoder_row *nt_decoder_row(const struct nt_decoders *decoders, uint32_t number)
{
    unsigned segment = nt_decoder_segment(number);
    return &decoders->segments[segment][number - nt_decoder_segment_first(segment)];
}

static inline const struct nt_decoder *nt_decoders_get(const struct nt_decoders *decoders, uint32_t number)
{
    return &nt_decoder_row(decoders, number)->decoder;
}

/* ---- Files, datasets and clusters ---- */

/* The model: what every format is turned into. A file holds directories and datasets; a dataset has a tree
 * of fields, the columns that store them, and, cluster by cluster, the pages of each column. Formats only
 * describe; loading, decoding, caching and serving are written once, for this model.
 * 
 * Everything is immutable after opening, but for the cluster groups' page lists, a dataset's sides and the file that an
 * stub stands for, which are made at first touch behind nt_dataset_load_group, nt_dataset_physical and nt_file_resolve_stub
 * (thread-safe), and for the choice of entries, which is made before anybody reads (nt_dataset_select). All memory belongs
 * to the nt_file. */

/* ---- clusters ---- */

struct nt_cluster {
    uint64_t first_entry;
    uint64_t entries;
    uint32_t group; /* cluster group */
    /* NT_NONE: holds all columns; else index into the dataset's column groups (sharded). */
    uint32_t column_group;
};

enum nt_range_state {
    NT_RANGE_PRESENT,
    NT_RANGE_ABSENT,     /* the cluster does not have the column (added later, or another shard) */
    NT_RANGE_SUPPRESSED, /* another representation is the active one in this cluster */
    NT_RANGE_NULL,       /* absent, and all rows are null there: zeros stand for them */
    NT_RANGE_VALID,      /* of a column that tells which rows are null: absent, and none is */
};

/* A column's share of a cluster. */
struct nt_range {
    uint64_t first_element; /* the listed element offset; of its absolute value where suppressed */
    uint32_t first_page;    /* index into the group's pages */
    uint32_t pages;
    uint32_t compression_settings; /* algorithm * 100 + level as the writer noted it; a hint */
    uint32_t state;                /* enum nt_range_state */
};

#define NT_NOT_DEFERRED UINT64_MAX

/* The first element that is stored of a column that was added later, zeros stand for those before; NT_NOT_DEFERRED where it
 * was not, or where it began suppressed: then another representation has what was before. */
static inline uint64_t nt_column_deferral(const struct nt_column *column)
{
    return column->is_deferred && !column->is_deferred_suppressed ? column->first_element : NT_NOT_DEFERRED;
}

struct nt_group {
    uint64_t first_entry, entries; /* as the footer tells; 0,0 where it does not */
    uint32_t first_cluster;
    uint32_t clusters;
    uint32_t field;   /* of a dataset with field_groups: whose columns its cluster holds */
    atomic_int state; /* enum nt_lazy_state */
    /* Set by loading: */
    struct nt_range
        *ranges; /* [cluster - first_cluster][column, of the field's where it has one], row after row */
    struct nt_page *pages;
    uint64_t page_count;
    struct nt_error *failure;
};

/* What else is known of a group. Of those that hold one field, of which there are many, most have nothing of it. */
struct nt_group_more {
    uint64_t metadata_bytes; /* that loading takes apart; 0: it costs nothing to speak of */
    /* Of a dataset that joins files: the first group of its file, and, where there is any such column, [column]: the
     * deferral that it has in the file. */
    uint32_t origin;
    const uint64_t *deferred;
    const char *file;  /* likewise: its path. NULL: the dataset's own */
    void *format_data; /* set by loading */
};

/* Whether a group's ranges and pages are there. Loads nothing. */
static inline bool nt_group_is_loaded(const struct nt_group *group)
{
    return nt_lazy_is_ready(&group->state);
}

/* Text that is made piece by piece: lines of a .jsonl, items of a large document. */
struct nt_text_generator {
    /* Append the next piece to `out`; *more_ret false when nothing is left (the piece is still valid). */
    enum nt_status (*next)(struct nt_text_generator *text, struct nt_buffer *out, bool *more_ret,
                           struct nt_error *error);
    void (*free)(struct nt_text_generator *text);
    /* Of one that can be put aside: how much memory it takes, where it stands between two pieces (0: at the
     * start), and how a new one goes on from there. NULL: of one that takes little, or has to begin again. */
    size_t (*memory)(const struct nt_text_generator *text);
    uint64_t (*position)(const struct nt_text_generator *text);
    void (*resume_at)(struct nt_text_generator *text, uint64_t place);
    /* How much of it is made, 0 to 1. NULL: nobody knows. */
    double (*share)(const struct nt_text_generator *text);
};

/* A pseudo-file that a format gives: header.json, pagelist.<n>.bin, keys.jsonl, ... */
struct nt_document {
    const char *prefix, *suffix; /* the name, or "pagelist." and ".json" with the number between */
    /* How many; NULL: one, without a number. */
    uint64_t (*count)(const struct nt_file *file, const struct nt_dataset *dataset);
    /* Exactly one of the two. `write`: produced whole, size known. `open`: made while it is read. `dataset` is NULL for
     * the file's own documents. */
    enum nt_status (*write)(const struct nt_file *file, const struct nt_dataset *dataset, uint64_t number,
                            struct nt_buffer *out, struct nt_error *error);
    enum nt_status (*open)(const struct nt_file *file, const struct nt_dataset *dataset, uint64_t number,
                           struct nt_text_generator **text_ret, struct nt_error *error);
    /* With `open`: whether the text, and the work of making it, is so little that a look may make it. NULL: who
     * knows. */
    enum nt_status (*is_short)(const struct nt_file *file, const struct nt_dataset *dataset, uint64_t number,
                               bool *is_short_ret, struct nt_error *error);
    /* With `write`: how many bytes it will write, where that is known without work. May be NULL. */
    uint64_t (*bytes)(const struct nt_dataset *dataset, uint64_t number);
    bool changes; /* each look makes it again, as it may have become another one */
};

/* A byte range of the file with its owner, for layout.jsonl. */
struct nt_layout_range {
    uint64_t offset, bytes;
    uint32_t source;    /* which file of a format with several; index into nt_file.layout_sources, 0 else */
    const char *owner;  /* "file header", "key", "anchor", "header", "footer", "page list", "page", ... */
    uint32_t dataset;   /* index or NT_NONE */
    uint32_t column;    /* index or NT_NONE */
    uint64_t cluster;   /* UINT64_MAX: none */
    uint64_t page;      /* number within the column, UINT64_MAX: none */
    const char *detail; /* class of a key, kind of an envelope; may be NULL; lives as long as the file */
};
typedef enum nt_status nt_layout_emit(void *context, const struct nt_layout_range *range);

/* Where the ranges of a format's own bytes go, which belong to no column. */
struct nt_layout_output {
    nt_layout_emit *emit;
    void *context;
    uint32_t dataset, source; /* as above */
};
/* Emit one; nothing where it is empty. Returns what `emit` returns. */
enum nt_status nt_layout_put(const struct nt_layout_output *output, uint64_t offset, uint64_t bytes,
                             const char *owner);

/* A file in pages/ that belongs to a page beside its .raw and .bin: what the page consists of. */
enum nt_page_file_kind {
    NT_PAGE_FILE_RANGE, /* bytes of the file: one of the page's buffers */
    NT_PAGE_FILE_INPUT, /* a decoded input of the page's plan */
    NT_PAGE_FILE_TEXT,  /* lines that tell of its parts */
};

struct nt_page_file {
    char suffix[24]; /* behind the page's number: ".0.raw" */
    enum nt_page_file_kind kind;
    const char *owner;      /* RANGE: what layout.jsonl calls it; lives as long as the file */
    uint64_t offset, bytes; /* RANGE */
    uint32_t input;         /* INPUT: its number */
    enum nt_status (*open)(struct nt_dataset *dataset, uint32_t column, const struct nt_page *page,
                           struct nt_text_generator **text_ret, struct nt_error *error); /* TEXT */
};
enum { NT_PAGE_FILES = 24 }; /* of one page at most */

struct nt_dataset_ops {
    /* Fill group->ranges, pages and page_count (and the clusters' entries where not known before); called
     * once, under the dataset's lock. Memory from malloc, freed by the model. */
    enum nt_status (*load_group)(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);
    /* Where the page list lies that load_group will read; false where that is not one place. NULL: it never is. */
    bool (*group_extent)(const struct nt_dataset *dataset, uint32_t group, struct nt_extent *extent_ret);
    /* Where a page's stored bytes and digest lie (`extents_ret` from malloc); nothing is set where it is the one place
     * that the page tells. NULL: it always is. */
    enum nt_status (*page_extents)(const struct nt_dataset *dataset, const struct nt_page *page,
                                   struct nt_extent **extents_ret, size_t *count_ret, struct nt_error *error);
    /* The files that a page of a loaded group has beside its .raw and .bin, ranges first: how many are in `files`.
     * Reads nothing. NULL: pages have none. */
    uint32_t (*page_files)(const struct nt_dataset *dataset, uint32_t column, const struct nt_page *page,
                           struct nt_page_file files[NT_PAGE_FILES]);
    /* What only the format knows of the dataset, a field, a column, a page, as members of their JSON: `json`
     * is inside an object. Each may be NULL. */
    enum nt_status (*describe_dataset)(const struct nt_dataset *dataset, struct nt_json *json);
    void (*describe_field)(const struct nt_dataset *dataset, uint32_t field, struct nt_json *json);
    void (*describe_column)(const struct nt_dataset *dataset, uint32_t column, struct nt_json *json);
    enum nt_status (*describe_page)(const struct nt_dataset *dataset, uint32_t column,
                                    const struct nt_page *page, struct nt_json *json);
    /* Where a page of a loaded group lies that is not in the file, in words. NULL: no page is like that. */
    const char *(*page_elsewhere)(const struct nt_dataset *dataset, const struct nt_page *page);
    /* Of a field that describes blobs: where the one is that a row of a part describes (of a dataset with field_groups), with its file
     * open, which is shorter than it ought to be in no case. Where `wants_file` is false, only `bytes` are told, and nothing is looked
     * at but where the description does not tell them. A file that `blob` has open stays open where it is the same one. NULL: no field
     * does. */
    enum nt_status (*find_blob)(struct nt_dataset *dataset, uint32_t field, uint32_t part,
                                const struct nt_description *description, bool wants_file,
                                struct nt_blob *blob, struct nt_error *error);
    /* Set `stored` and `structure`, or fail and set neither; called once, under the dataset's lock. NULL: it is its
     * own physical dataset, and has no structure. */
    enum nt_status (*add_physical)(struct nt_dataset *dataset, struct nt_error *error);
    void (*close)(struct nt_dataset *dataset); /* frees format_data */
};

/* Rows that are stored, but are no entries: runs of them in ascending order, which do not touch. */
struct nt_deletion_run {
    uint64_t first; /* as rows are stored */
    uint64_t kept;  /* rows in front of it that are not dropped */
};
struct nt_deletion_vector {
    struct nt_deletion_run
        *items; /* as many as `count`, one at least, and behind them how many rows are stored, and kept */
    uint32_t count;
};
/* Where a run of `deletions->items` ends. */
static inline uint64_t nt_deletion_run_end(const struct nt_deletion_run *run)
{
    return run[1].first - (run[1].kept - run[0].kept);
}

/* What somebody chose of a dataset's entries. */
struct nt_entry_filter {
    const struct nt_deletion_vector *excluded; /* the entries that were not chosen; NULL: all were */
    uint64_t entries;                          /* that were */
};

struct nt_column_group {
    const uint32_t *columns; /* indices, ascending */
    uint32_t count;
};

struct nt_dataset {
    struct nt_file *file;
    uint32_t index;     /* in file->datasets */
    uint32_t directory; /* index into the file's directories */
    /* Index of the dataset that this one is a linked attribute set of, else NT_NONE. */
    uint32_t attribute_of;
    uint32_t cycle; /* TKey cycle, else 0 */
    bool is_newest_cycle;
    struct nt_text name; /* the key's name, the file's stem, ... */
    /* Set when it could not be opened: of what is below only documents, format_data and ops are valid then. */
    const struct nt_error *failure;

    const char *format;     /* "rntuple" */
    const char *version;    /* "1.0.2.0" */
    const char *generation; /* the row of the generations' table that was used */
    const char *generation_reason;
    struct nt_text title; /* the name as the header tells it */
    struct nt_text description, writer;
    bool knows_all_entries; /* of an outline's: `entries` are those of the whole */
    uint64_t entries;       /* as they are stored: nt_dataset_entries tells those that were chosen */
    /* NULL: nobody chose any. Rows and streams are those of the chosen entries; clusters, columns and pages are as they
     * are stored. See nt_dataset_select. */
    const struct nt_entry_filter *selection;
    bool has_sharded_clusters;
    bool
        is_concatenated; /* of the datasets of several files: positions in columns begin again with each of them */

    struct nt_field *fields;
    uint32_t field_count;
    bool is_ordered;    /* fields are shown in the order in which they stand, else in that of their ids */
    uint32_t *children; /* slices of it are the fields' children; the first `top_count` are top-level */
    uint32_t *first_children; /* [field]: where its slice begins, in the order of fields */
    uint32_t *first_columns;  /* [field]: the same in `field_columns`: [representation][position] */
    uint32_t top_count;
    struct nt_column *columns; /* all stored columns, by id */
    uint32_t column_count;
    uint32_t *field_columns;
    /* What the file has for columns where those above are made of them: datasets of the same fields, number for
     * number, that belong to this one. `stored`: the file's columns with their pages; this dataset itself where those
     * above are the file's. `structure`: where values of these columns end, and the levels around them; NULL: they have
     * none. Both are made when somebody asks for them: before nt_dataset_physical they are not to be looked at. */
    struct nt_dataset *physical, *levels;
    atomic_int physical_state; /* enum nt_lazy_state */
    struct nt_error *physical_failure;
    struct nt_dataset *logical;  /* whose side this is; itself */
    struct nt_decoders decoders; /* a page list may bring more: added under the lock */
    struct nt_source **sources;
    uint32_t source_count;

    struct nt_group *groups;
    struct nt_group_more *group_more; /* as many; NULL: all are alike, and take part_metadata_bytes */
    uint32_t group_count;
    /* All groups'; a group's slice may be filled only once it is loaded. NULL: those of field_groups. See
     * nt_dataset_cluster. */
    struct nt_cluster *clusters;
    uint32_t cluster_count;
    bool clusters_known; /* entries of all clusters are known without loading groups */
    struct nt_column_group *column_groups;
    uint32_t column_group_count;
    /* [field]: the first of the groups that hold the field's columns, as many as `part_count`, each of one cluster;
     * NT_NONE: it owns none. NULL: any group may hold any field. See nt_dataset_add_field_groups. */
    uint32_t *field_groups;
    uint32_t part_count;
    uint64_t part_metadata_bytes;
    const uint64_t *part_borders; /* [part]: its first entry, and behind the last one all entries */
    /* [part]: what is dropped of its rows, NULL: nothing; known once a group of the part is loaded. NULL: of none. */
    const struct nt_deletion_vector **part_deletions;

    const struct nt_document *documents;
    uint32_t document_count;
    const struct nt_dataset_ops *ops;
    void *format_data;
    struct nt_lock lock;    /* loading of groups, those of its sides, too */
    struct nt_arena *arena; /* everything above that the format allocates */
};

struct nt_directory {
    uint32_t parent; /* index; the root (0) is its own parent */
    struct nt_text name;
};

/* What a file may ask for; 0: as much as follows from what there is of it. */
struct nt_limits {
    uint64_t metadata_bytes; /* see model/budget.h */
    uint64_t page_bytes;     /* of a page, decoded */
};

typedef void nt_failure_emit(void *context, const struct nt_error *failure);

struct nt_file {
    const struct nt_format *format;
    const char *path;         /* absolute */
    struct nt_budget budget;  /* of its metadata */
    uint64_t page_bytes;      /* see nt_file_page_limit */
    bool is_size_claimed;     /* nobody knows here how much of the source there is */
    struct nt_source *source; /* of the whole file; for directories one that answers stat and check only */
    struct nt_source **layout_sources; /* files that the layout covers; NULL: only `source` */
    uint32_t layout_source_count;
    struct nt_directory *directories; /* [0] is the root; may be a single one */
    uint32_t directory_count;
    struct nt_dataset **datasets;
    uint32_t dataset_count;
    /* Why nothing of it can be served as data, though its container can be described; NULL: something can, or
     * the datasets tell. */
    const struct nt_error *failure;
    const struct nt_document *documents; /* of the file: file.json's format part, keys.jsonl */
    uint32_t document_count;
    /* Members of file.json beside the common ones: `json` is inside an object. May be NULL. */
    enum nt_status (*describe)(const struct nt_file *file, struct nt_json *json, struct nt_error *error);
    /* Byte ranges that are not pages or their checksums, in any order. May be NULL. */
    enum nt_status (*layout)(const struct nt_file *file, nt_layout_emit *emit, void *context,
                             struct nt_error *error);
    /* What no page, page list or dataset's failure tells: datasets that nothing leads to, columns without
     * metadata. For verification; may be NULL. */
    enum nt_status (*check)(const struct nt_file *file, nt_failure_emit *emit, void *context,
                            struct nt_error *error);
    /* Of an stub, which has all names and fields of a file that takes long to open, and of what they hold only a part:
     * make that file, with the same directories, datasets and fields, number for number (see nt_file_set_stub); called as
     * nt_dataset_ops.add_physical is, under the file's lock. NULL: it is no stub. */
    enum nt_status (*resolve)(struct nt_file *stub, struct nt_file **file_ret, struct nt_error *error);
    struct nt_file *resolved;   /* by nt_file_resolve_stub: before, it is not to be looked at */
    const struct nt_file *stub; /* whose file this is; itself */
    atomic_int resolved_state;  /* enum nt_lazy_state */
    struct nt_error *resolved_failure;
    struct nt_lock lock;
    void (*close)(struct nt_file *file); /* frees format_data */
    void *format_data;
    /* Told once of each cluster group whose page list turns out to be bad, by the thread that found it,
     * without a lock. To be set before threads share the file. May be NULL. */
    void (*on_group_failure)(void *context, const struct nt_dataset *dataset, uint32_t group,
                             const struct nt_error *error);
    /* Called by a thread that is about to load a page list or to wait for one. Likewise. */
    void (*before_blocking)(void *context);
    void *context; /* of both */
    struct nt_arena *arena;
};

/* ---- for formats: building ---- */

/* A new empty file over a source, with its arena and root directory. nt_file_close closes the source, too. */
enum nt_status nt_file_new(const char *path, struct nt_source *source, const struct nt_limits *limits,
                           struct nt_file **file_ret, struct nt_error *error);
/* Append a range of a source to a text, where the budget has room for it while it is read. */
enum nt_status nt_file_append_range(struct nt_file *file, struct nt_source *source, uint64_t offset,
                                    uint64_t bytes, struct nt_buffer *out, struct nt_error *error);
/* What a page of so many stored bytes may decode to. Of a file whose size is only claimed, more than file->page_bytes where as much
 * as a page's own bytes allow, which have to be there when it is read. */
uint64_t nt_file_page_limit(const struct nt_file *file, uint64_t stored_bytes);
/* What a format makes of a new file. `context`: as it was given. */
typedef enum nt_status nt_file_fill(struct nt_file *file, const void *context, struct nt_error *error);
/* A new file named like its source, once `fill` has filled it; where that fails the source stays open. */
enum nt_status nt_file_make(struct nt_source *source, const struct nt_limits *limits, nt_file_fill *fill,
                            const void *context, struct nt_file **file_ret, struct nt_error *error);
/* The end of a file that did not come to be: its source stays open, for the next format to try.
 * Accepts NULL. */
void nt_file_discard(struct nt_file *file);
/* Append an empty dataset / directory (pointers stay valid). */
enum nt_status nt_file_add_dataset(struct nt_file *file, struct nt_dataset **dataset_ret,
                                   struct nt_error *error);
uint32_t nt_file_add_directory(struct nt_file *file, uint32_t parent,
                               struct nt_text name); /* NT_NONE: no memory */
/* A dataset of the same fields without columns, to be built like any other and to become `dataset->physical` or
 * `dataset->levels`: name, sources, entries, format and format_data are the dataset's. Freed with it once it is one of the two. */
enum nt_status nt_dataset_new_physical(struct nt_dataset *dataset, struct nt_dataset **side_ret,
                                       struct nt_error *error);
/* The end of a side that did not become one. Accepts NULL. */
void nt_dataset_free(struct nt_dataset *dataset);
/* Copy a failure of a part of the file, so that the rest can do without it. What the machine refused is no
 * reason to do without: then the failure itself is returned. */
enum nt_status nt_failure_keep(const struct nt_error *failure, struct nt_arena *arena,
                               const struct nt_error **kept_ret, struct nt_error *error);
/* Note that a dataset cannot be opened, in the same way. */
enum nt_status nt_dataset_set_failure(struct nt_dataset *dataset, const struct nt_error *failure,
                                      struct nt_error *error);
/* After fields (with parent, ids in any order), columns and decoders are filled: checks parents (no cycles,
 * depth at most NT_MAX_DEPTH), fills children, field_columns of owning fields, positions; NT_CORRUPT. */
enum nt_status nt_dataset_link(struct nt_dataset *dataset, struct nt_error *error);
/* Give a field of a linked dataset the columns of another one, which owns them. */
void nt_field_project_columns(struct nt_dataset *dataset, uint32_t field, uint32_t owner);

/* Note that a new file is the one that an stub stands for, and tell those of it who are told of the stub. */
void nt_file_set_stub(struct nt_file *file, const struct nt_file *stub);
/* The file that an stub stands for, which belongs to it; itself, where it is none. A failure is remembered. */
enum nt_status nt_file_resolve_stub(struct nt_file *file, struct nt_file **resolved_ret,
                                    struct nt_error *error);
/* Whether it is there, or no file of an stub. */
static inline bool nt_file_is_resolved(const struct nt_file *file)
{
    return !file->resolve || nt_lazy_is_ready(&file->resolved_state);
}

/* The type of elements that are no more than their kind says; of OPAQUE ones, nothing but that. */
struct nt_dtype nt_element_dtype(enum nt_element element);

#define NT_MAX_DEPTH 256

/* ---- for readers ---- */

/* All columns of a field: [representation][position]. */
const uint32_t *nt_field_columns(const struct nt_dataset *dataset, uint32_t field, uint32_t *count_ret);
const char *nt_role_name(enum nt_role role); /* "plain", "collection", ... */
/* How many sets of columns a field has, of which each cluster uses one. */
uint32_t nt_field_representations(const struct nt_dataset *dataset, uint32_t field);
/* The nearest ancestor whose rows are not in step with the field's: a collection, a variant, or one that
 * cannot be read; else NT_NONE. */
uint32_t nt_field_row_parent(const struct nt_dataset *dataset, uint32_t field);

/* Load the page lists of a cluster group; at once where it was done before. A failure is remembered. */
enum nt_status nt_dataset_load_group(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);
enum nt_status nt_dataset_load_all(struct nt_dataset *dataset, struct nt_error *error);
/* What loading all of them takes apart, whether it was done or not. */
uint64_t nt_dataset_metadata_bytes(const struct nt_dataset *dataset);
/* Loads all, but page lists that are bad are omitted: only what the machine refuses fails the call. */
enum nt_status nt_dataset_load_readable(struct nt_dataset *dataset, struct nt_error *error);

/* How a column's elements are decoded; pages may have decoders of their own. */
static inline const struct nt_decoder *nt_column_decoder(const struct nt_dataset *dataset, uint32_t column)
{
    return nt_decoders_get(&dataset->decoders, dataset->columns[column].decoder);
}

/* A cluster, by its number. */
struct nt_cluster nt_dataset_cluster(const struct nt_dataset *dataset, uint32_t cluster);
struct nt_group_more nt_group_more(const struct nt_dataset *dataset, const struct nt_group *group);
/* The group that would hold a cluster: groups are ordered by their first one. Loads nothing. */
struct nt_group *nt_cluster_group(const struct nt_dataset *dataset, uint32_t cluster);
/* Whether a cluster is one that holds a column: all that are not sharded do. False for one whose column group does
 * not exist, as its page list is then bad. */
bool nt_cluster_holds(const struct nt_dataset *dataset, uint32_t cluster, uint32_t column);
/* Whether columns are made of the file's, which are those of its sides; a field has one of each at most. */
static inline bool nt_dataset_has_physical(const struct nt_dataset *dataset)
{
    return dataset->ops && dataset->ops->add_physical;
}
/* The file's columns: dataset->physical, which is made with dataset->levels by the first who asks. A failure is
 * remembered. Both members may be read once this was successful. */
enum nt_status nt_dataset_physical(struct nt_dataset *dataset, struct nt_dataset **stored_ret,
                                   struct nt_error *error);
/* The number among the file's columns of the one that a column is made of. */
static inline uint32_t nt_physical_column(const struct nt_dataset *dataset, uint32_t column)
{
    return nt_dataset_has_physical(dataset) ? dataset->columns[column].physical : column;
}
/* Elements in a range; its pages are group->pages + range->first_page. */
uint64_t nt_range_elements(const struct nt_group *group, const struct nt_range *range);

/* Groups that follow one another: the first, and the one behind the last. */
struct nt_groups {
    uint32_t first, end;
};
/* The groups that may hold a column, or any of a field's own (NT_NONE: any). Loads nothing. */
struct nt_groups nt_groups_of_column(const struct nt_dataset *dataset, uint32_t column);
struct nt_groups nt_groups_of_field(const struct nt_dataset *dataset, uint32_t field);
/* nt_dataset_load_all and nt_dataset_load_readable for some groups. */
enum nt_status nt_groups_load(struct nt_dataset *dataset, struct nt_groups groups, struct nt_error *error);
enum nt_status nt_groups_load_readable(struct nt_dataset *dataset, struct nt_groups groups,
                                       struct nt_error *error);
/* Whether they are loaded. */
bool nt_groups_are_loaded(const struct nt_dataset *dataset, struct nt_groups groups);
/* The first of their clusters, and how many there are. */
uint32_t nt_groups_clusters(const struct nt_dataset *dataset, struct nt_groups groups, uint32_t *count_ret);

/* How many columns a cluster of the group has a range for, and these ranges. */
uint32_t nt_group_column_count(const struct nt_dataset *dataset, const struct nt_group *group);
static inline const struct nt_range *nt_cluster_ranges(const struct nt_dataset *dataset,
                                                       const struct nt_group *group, uint32_t cluster,
                                                       uint32_t *count_ret)
{
    *count_ret = nt_group_column_count(dataset, group);
    return group->ranges + (size_t)(cluster - group->first_cluster) * *count_ret;
}
/* Which of them is a column's; NT_NONE: the group holds another field's. */
uint32_t nt_group_range_index(const struct nt_dataset *dataset, const struct nt_group *group,
                              uint32_t column);
/* A column's range in a cluster of a loaded group; an absent one where the group holds another field's. */
const struct nt_range *nt_group_range(const struct nt_dataset *dataset, const struct nt_group *group,
                                      uint32_t cluster, uint32_t column);
/* Of a dataset with field_groups: the cluster that holds a part's rows of a field; NT_NONE: it owns no columns. */
static inline uint32_t nt_part_cluster(const struct nt_dataset *dataset, uint32_t field, uint32_t part)
{
    uint32_t group = dataset->field_groups[field];
    return group == NT_NONE ? NT_NONE : group + part; /* a group has one cluster, of its own number */
}
/* Whether ranges tell where in their column they begin; else that follows from those before. */
static inline bool nt_dataset_has_positions(const struct nt_dataset *dataset)
{
    return !dataset->is_concatenated &&
           (!dataset->field_groups || (dataset->part_count == 1 && !dataset->part_deletions));
}
/* Whether all fields have the same clusters, so that their rows can be told cluster by cluster. */
static inline bool nt_dataset_shares_borders(const struct nt_dataset *dataset)
{
    return !dataset->has_sharded_clusters || dataset->field_groups;
}

/* ---- Fields by name ---- */

struct nt_field_name {
    struct nt_text text;
    uint32_t field;
    uint32_t place; /* among those that were given */
    uint32_t alike; /* of the first of a name: how many have it, which stand behind it as they came */
    uint32_t taken; /* likewise: the caller's, 0 at first */
};

struct nt_field_names {
    struct nt_field_name *sorted; /* from malloc */
    uint32_t count;
};

/* `fields`: their numbers among the `all` of a dataset, whose names stay until deinit. */
enum nt_status nt_field_names_init(struct nt_field_names *names, const struct nt_field *all,
                                   const uint32_t *fields, uint32_t count, struct nt_error *error);
/* Of names that are all 0 nothing. */
void nt_field_names_deinit(struct nt_field_names *names);

/* The first of this name; NULL: there is none. Takes the logarithm of their number. */
struct nt_field_name *nt_field_names_find(const struct nt_field_names *names, struct nt_text text);

/* ---- Paths ---- */

/* ---- encoded, as in the mounted tree ---- */

/* A linked attribute set lies in its dataset under a name with this in front. */
#define NT_ATTRIBUTE_PREFIX "attribute."

enum nt_name_rule {
    NT_NAME_FIELD,    /* every dot is encoded: names with a dot are ours */
    NT_NAME_DATASET,  /* dots stay, but for one at the beginning */
    NT_NAME_RESERVED, /* a dataset's name that equals one of ours: its first dot is encoded */
};

/* Append the encoded name; of any length, empty where the text is empty. */
void nt_name_encode(struct nt_text text, enum nt_name_rule rule, struct nt_buffer *out);

/* The path of a dataset within its file, as nt_dataset_path (<ntuple/dataset.h>) has it. */
void nt_append_dataset_path(struct nt_buffer *out, const struct nt_dataset *dataset);

/* ---- as they are ---- */

/* The names of a field and its ancestors, outermost first, with `separator` between, byte for byte. */
void nt_append_field_path(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field,
                          char separator);

/* ---- Selections and deletion vectors ---- */

/* Rows that are kept, told in ascending order; begins as zeros. */
struct nt_deletion_vector_builder {
    struct nt_deletion_run *items;
    size_t count, capacity;
    uint64_t end, kept; /* behind the last that is kept; how many are */
};
/* `count` rows from `first` on, which is not in front of `end`. NT_LIMIT where there are too many runs. */
enum nt_status nt_deletion_vector_builder_add(struct nt_deletion_vector_builder *builder, uint64_t first,
                                              uint64_t count, struct nt_error *error);
/* All are told, of `stored`: the list has builder->count runs. The last may be of no rows, so that there is one. */
enum nt_status nt_deletion_vector_builder_finish(struct nt_deletion_vector_builder *builder, uint64_t stored,
                                                 struct nt_error *error);
void nt_deletion_vector_builder_deinit(struct nt_deletion_vector_builder *builder);

/* How many of the first `stored` rows are kept. */
uint64_t nt_deletion_vector_kept_before(const struct nt_deletion_vector *deletions, uint64_t stored);
/* How many of the first `entries` entries are chosen: all of them where nobody chose. */
uint64_t nt_dataset_selected_before(const struct nt_dataset *dataset, uint64_t entries);
/* Where the `entry`th of those that are chosen is stored. There is one. */
uint64_t nt_dataset_selected_entry(const struct nt_dataset *dataset, uint64_t entry);

#endif
