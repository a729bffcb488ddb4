/* SPDX-License-Identifier: MIT
 *
 * The data model of all formats: files, datasets, fields, columns, clusters and pages, with decoders,
 * lazy loading, field paths and row selections.
 */
#pragma once

#include <ntuple/dataset.h>

#include "core/base/hash_table.h"
#include "core/base/thread.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/model/budget.h"

struct nt_format;
struct nt_json;

/* ---- Lazy loading ---- */

enum nt_lazy_state {
    NT_LAZY_EMPTY,
    NT_LAZY_READY,
    NT_LAZY_FAILED,
    NT_LAZY_STATES = 4, /* higher bits of a state are its owner's */
};

struct nt_lazy {
    atomic_uint *state;        /* enum nt_lazy_state */
    struct nt_error **failure; /* from malloc, after a permanent failure */
    enum nt_status (*make)(void *owner, uint32_t number, struct nt_error *error);
    void *owner; /* arguments of `make` */
    uint32_t number;
    /* NT_LIMIT is no permanent failure if others have half of this; NULL: it always is. */
    const struct nt_budget *budget;
    struct nt_lock *lock; /* held while making */
    /* Called with `context` before making or waiting; may be NULL. */
    void (*before)(void *context);
    void *context;
};

/* The first caller makes the value, others wait. A bad value is remembered, and `is_new_ret` is set for
 * the call that found it. After an environmental failure the next call retries. */
enum nt_status nt_lazy_get(const struct nt_lazy *lazy, bool *is_new_ret, struct nt_error *error);

/* Changes the state from `before`, which only this thread can change. Keeps the owner's bits. */
void nt_lazy_set(atomic_uint *state, enum nt_lazy_state before, enum nt_lazy_state after);

static inline enum nt_lazy_state nt_lazy_state(const atomic_uint *state)
{
    return (enum nt_lazy_state)(atomic_load_explicit(state, memory_order_acquire) % NT_LAZY_STATES);
}
static inline bool nt_lazy_is_ready(const atomic_uint *state)
{
    return nt_lazy_state(state) == NT_LAZY_READY;
}

/* ---- Pages ---- */

enum nt_checksum_covers {
    NT_COVERS_STORED,           /* the bytes as stored */
    NT_COVERS_STORED_OR_PACKED, /* drafts: the stored or the uncompressed bytes; either is accepted */
};

struct nt_page {
    uint64_t offset;        /* in its source; see nt_dataset_ops.page_extents for several extents */
    uint64_t stored_bytes;  /* without checksum */
    uint64_t first_element; /* within its column range */
    uint64_t parameter;     /* passed to the decoder (Roaring: added to each value) */
    uint32_t elements;
    uint32_t decoder; /* index into the dataset's decoders */
    uint32_t source;  /* index into the dataset's sources */
    uint8_t checksum; /* enum nt_checksum_kind; the digest follows the stored bytes */
    uint8_t checksum_covers;
    uint8_t compression; /* enum nt_compression_kind */
    bool is_missing : 1; /* has no bytes; reading fails; not equal to any other page */
    bool is_uniform : 1; /* all elements are equal: see nt_page_decoded_elements */
};

enum { NT_UNIFORM_ELEMENTS = 8192 };

/* Elements to decode; of a uniform page a limited number, which represents any run of them. */
static inline uint32_t nt_page_decoded_elements(const struct nt_page *page)
{
    return page->is_uniform && page->elements > NT_UNIFORM_ELEMENTS ? NT_UNIFORM_ELEMENTS : page->elements;
}

/* ---- Blobs ---- */

/* Numbered as in the file. */
enum nt_blob_kind {
    NT_BLOB_INLINE,    /* in the data file that contains the row */
    NT_BLOB_PACKED,    /* in a file next to it that contains several */
    NT_BLOB_DEDICATED, /* in a separate file next to it */
    NT_BLOB_EXTERNAL,  /* in a file outside the dataset */
    NT_BLOB_MANAGED,   /* in a named file of the dataset */
    NT_BLOB_KINDS
};

/* Do blobs of this kind use `uri`? The others have none. */
static inline bool nt_blob_has_uri(uint8_t kind)
{
    return kind == NT_BLOB_EXTERNAL || kind == NT_BLOB_MANAGED;
}

/* A row that is not null, with the types of the file. */
struct nt_blob_description {
    uint8_t kind;
    uint64_t position, size;
    uint32_t id;
    struct nt_text uri;
};

/* The location of a blob. Initially zero. */
struct nt_blob {
    uint64_t bytes;
    uint64_t offset;          /* within `source` */
    struct nt_source *source; /* NULL: no file is open */
    struct nt_folder *folder; /* that contains the file, and its name there, from malloc */
    char *name;
};

/* Closes the source. */
void nt_blob_deinit(struct nt_blob *blob);

/* ---- Decoders ---- */

struct nt_decoder_row {
    struct nt_hash_link link;
    uint32_t number;
    struct nt_decoder decoder;
};

enum { NT_FIRST_DECODERS = 32, NT_DECODER_SEGMENTS = 27 };

struct nt_decoders {
    struct nt_decoder_row *segments[NT_DECODER_SEGMENTS]; /* each twice as long as the previous one */
    uint32_t count;
    struct nt_hash_table table;
};

/* Returns false without memory. */
bool nt_decoders_init(struct nt_decoders *decoders);
void nt_decoders_deinit(struct nt_decoders *decoders);

/* Returns the number of an equal decoder, or of a new row in the arena with copies of state and dependencies,
 * which the budget counts. Checks it; its dependencies' decoders must exist. Not thread-safe, but other
 * threads may get rows whose numbers they know. */
enum nt_status nt_decoders_add(struct nt_decoders *decoders, struct nt_arena *arena, struct nt_budget *budget,
                               const struct nt_decoder *decoder, uint32_t *number_ret,
                               struct nt_error *error);

/* Tables whose rows never move have segments, each twice as long as the one before: which one has a row,
 * and which row is its first. */
static inline unsigned nt_table_segment(uint32_t row, uint32_t first_rows)
{
    return 31u - (unsigned)__builtin_clz(row / first_rows + 1);
}

static inline uint32_t nt_table_segment_first(unsigned segment, uint32_t first_rows)
{
    return first_rows * ((1u << segment) - 1);
}

static inline const struct nt_decoder_row *nt_decoder_row(const struct nt_decoders *decoders, uint32_t number)
{
    unsigned segment = nt_table_segment(number, NT_FIRST_DECODERS);
    return &decoders->segments[segment][number - nt_table_segment_first(segment, NT_FIRST_DECODERS)];
}

static inline const struct nt_decoder *nt_decoders_get(const struct nt_decoders *decoders, uint32_t number)
{
    return &nt_decoder_row(decoders, number)->decoder;
}

/* ---- Files, datasets and clusters ---- */

/* The common model of all formats. A file contains directories and datasets; a dataset has a tree of
 * fields, the columns that store them, and the pages of each column per cluster. Formats only describe;
 * loading, decoding, caching and serving are written once, for this model.
 *
 * Everything is immutable after opening, with these exceptions. A dataset's physical datasets and the
 * file of a stub are loaded on first use by nt_dataset_physical and nt_file_resolve (thread-safe).
 * The page lists of a cluster group are loaded by nt_group_pin (thread-safe) and may be released, to be
 * loaded again on the next use, while nobody has pinned the group: a pointer to a range or a page is
 * valid as long as the pin. The selection is set before the first read (nt_dataset_select). The nt_file
 * owns all memory. */

struct nt_cluster {
    uint64_t first_entry; /* first: nt_compare_u64 sorts by it */
    uint64_t entries;
    uint32_t group; /* cluster group */
    /* Index into the dataset's column groups (sharded); NT_NONE: the cluster holds all columns. */
    uint32_t column_group;
};

enum nt_range_state {
    NT_RANGE_PRESENT,
    NT_RANGE_ABSENT,     /* not in the cluster (added later, or in another shard) */
    NT_RANGE_SUPPRESSED, /* the cluster uses another representation */
    NT_RANGE_NULL,       /* absent, and all rows are null: read as zeros */
    NT_RANGE_VALID,      /* of a validity column: absent, and no row is null */
};

/* The part of a column in one cluster. */
struct nt_range {
    uint64_t first_element; /* the listed element offset; if suppressed, its absolute value */
    uint32_t first_page;    /* index into the group's pages */
    uint32_t pages;
    uint32_t compression_settings; /* algorithm * 100 + level from the writer; a hint */
    uint32_t state;                /* enum nt_range_state */
};

/* Members of a column that only RNTuple has. The functions of <ntuple/dataset.h> that return them describe
 * them. */
struct nt_column_extra {
    uint64_t first_element;
    bool is_deferred, begins_suppressed, has_range;
};

#define NT_NOT_DEFERRED UINT64_MAX

/* The first stored element of a column that was added later; earlier elements are zeros.
 * NT_NOT_DEFERRED for other columns, and for those that began suppressed, where another representation
 * has the earlier elements. */
static inline uint64_t nt_column_deferral(const struct nt_column *column)
{
    const struct nt_column_extra *extra = column->extra;
    return extra && extra->is_deferred && !extra->begins_suppressed ? extra->first_element : NT_NOT_DEFERRED;
}

/* What is known of a cluster group without its page list. */
struct nt_group_record {
    uint64_t first_entry, entries; /* from the footer; 0,0 if it has none */
    uint32_t first_cluster;
    uint32_t clusters;
    uint32_t field;          /* of a dataset with field_groups: the owner of the cluster's columns */
    uint64_t metadata_bytes; /* parsed by loading; 0: negligible */
    /* In a dataset that joins files: the first group of the same file (or part of the same field), and, if
     * any column is deferred, [column]: the deferral of each column in that file. */
    uint32_t origin;
    const uint64_t *deferred;
    const char *file; /* likewise: its path. NULL: the dataset's own */
};

/* A cluster group that is in memory. Many have been in memory at different times at the same address, so
 * only a pin says which one it is. */
struct nt_group {
    atomic_uint state;                       /* enum nt_lazy_state, and enum nt_group_state */
    uint32_t number;                         /* in the dataset */
    uint32_t first_cluster, clusters, field; /* as in its record */
    /* Set by loading: */
    uint32_t page_count;
    struct nt_page *pages;
    struct nt_range *ranges;  /* [cluster - first_cluster][column, or column of the field], row-major */
    void *format_data;        /* the format's own; in the dataset's arena, so the group must be kept */
    struct nt_error *failure; /* stays */
};

/* Bits of a group's state besides enum nt_lazy_state. */
enum nt_group_state {
    NT_GROUP_USED = NT_LAZY_STATES,    /* since groups->hand passed it */
    NT_GROUP_KEPT = 2 * NT_GROUP_USED, /* never released, so pins need not be counted */
    NT_GROUP_PIN = 2 * NT_GROUP_KEPT,  /* one pin; all higher bits count them */
};

/* From now on, the page lists of a group stay. */
static inline void nt_group_set_kept(struct nt_group *group)
{
    atomic_fetch_or_explicit(&group->state, NT_GROUP_KEPT, memory_order_relaxed);
}
/* Accepts NULL. */
static inline void nt_group_unpin(struct nt_group *group)
{
    if (group && !(atomic_load_explicit(&group->state, memory_order_relaxed) & NT_GROUP_KEPT))
        atomic_fetch_sub_explicit(&group->state, NT_GROUP_PIN, memory_order_release);
}
NT_DEFINE_CLEANUP(struct nt_group, nt_group_unpin)

/* Generates text in pieces: lines of a .jsonl file, items of a large document. */
struct nt_text_generator {
    /* Appends the next piece to `out`; *more_ret is false for the last piece, which is still valid. */
    enum nt_status (*next)(struct nt_text_generator *text, struct nt_buffer *out, bool *more_ret,
                           struct nt_error *error);
    /* If `next` is nt_text_next_lines: the same for a line, or for the fact that there is none. Advances only
     * if it succeeds. *more_ret is true before. */
    enum nt_status (*next_line)(struct nt_text_generator *text, struct nt_buffer *out, bool *more_ret,
                                struct nt_error *error);
    void (*free)(struct nt_text_generator *text);
    /* For generators that can be suspended: the memory in use, the position between two pieces (0: the
     * start), and resuming a new generator there. NULL: uses little memory, or must restart. */
    size_t (*memory)(const struct nt_text_generator *text);
    uint64_t (*position)(const struct nt_text_generator *text);
    void (*resume_at)(struct nt_text_generator *text, uint64_t position);
    /* Progress, 0 to 1. NULL: unknown. */
    double (*share)(const struct nt_text_generator *text);
    /* With `memory`: frees what `next` finds again, so that the generator need not be freed. May be NULL. */
    void (*shrink)(struct nt_text_generator *text);
    bool takes_budget; /* of the file's metadata, while it exists */
    /* Set by the caller: a piece with so many bytes is not needed (0: each is). `next` may give up such
     * a piece: it fails with NT_LIMIT and sets `is_given_up`. */
    uint64_t too_many_bytes;
    bool is_given_up;
};

/* `next` of a generator of lines. Those before a failure come first: the next call fails. */
enum nt_status nt_text_next_lines(struct nt_text_generator *text, struct nt_buffer *out, bool *more_ret,
                                  struct nt_error *error);

/* `free` of a generator that owns only memory. */
static inline void nt_text_free(struct nt_text_generator *text)
{
    free(text);
}

/* A document to generate. */
struct nt_document_request {
    const struct nt_document *document;
    const struct nt_file *file;
    const struct nt_dataset *dataset; /* NULL for documents of the file */
    uint64_t number;                  /* below the number of documents */
};

/* A generated file of a format: header.json, pagelist.<n>.bin, keys.jsonl, ... */
struct nt_document {
    const char *prefix, *suffix; /* the name, or "pagelist." and ".json" around the number */
    /* The number of documents; NULL: one, without a number. */
    uint64_t (*count)(const struct nt_file *file, const struct nt_dataset *dataset);
    /* Set exactly one. `write`: produced whole, with known size. `open`: generated while it is read. */
    enum nt_status (*write)(const struct nt_document_request *request, struct nt_buffer *out,
                            struct nt_error *error);
    enum nt_status (*open)(const struct nt_document_request *request, struct nt_text_generator **text_ret,
                           struct nt_error *error);
    /* With `open`: is the text so cheap that a stat may generate it? NULL: unknown. */
    enum nt_status (*is_short)(const struct nt_document_request *request, bool *is_short_ret,
                               struct nt_error *error);
    /* With `write`: the size, if known without work. May be NULL. */
    uint64_t (*bytes)(const struct nt_document_request *request);
    unsigned part;     /* for these functions: what they show, as a number of the format */
    bool reads_source; /* with `open`: it needs bytes that are neither envelopes nor page lists */
    bool changes;      /* generate again for each lookup, as the contents may change */
};

/* A byte range of the file and its owner, for layout.jsonl. */
struct nt_layout_range {
    uint64_t offset, bytes;
    uint32_t source;    /* file of a format with several: index into nt_file.layout_sources, else 0 */
    const char *owner;  /* "file header", "key", "anchor", "header", "footer", "page list", ... */
    uint32_t dataset;   /* index or NT_NONE */
    uint32_t column;    /* index or NT_NONE */
    uint64_t cluster;   /* UINT64_MAX: none */
    uint64_t page;      /* index within the column, UINT64_MAX: none */
    const char *detail; /* class of a key, kind of an envelope, or NULL; lives as long as the file */
};
typedef enum nt_status nt_layout_emit(void *context, const struct nt_layout_range *range);

/* Consecutive files of a layout. */
struct nt_layout_sources {
    uint32_t first, end;
};

/* Receives the ranges of a format's own bytes, which belong to no column. */
struct nt_layout_output {
    nt_layout_emit *emit;
    void *context;
    uint32_t dataset, source; /* of each range, as in nt_layout_range */
};
/* Emits a range, unless it is empty. Returns the result of `emit`. */
enum nt_status nt_layout_emit_range(const struct nt_layout_output *output, uint64_t offset, uint64_t bytes,
                                    const char *owner);

/* A file in pages/ next to a page's .raw and .bin, with a part of the page. */
enum nt_page_file_kind {
    NT_PAGE_FILE_RANGE,      /* bytes of the file: one of the page's buffers */
    NT_PAGE_FILE_DEPENDENCY, /* a decoded dependency of the page */
    NT_PAGE_FILE_TEXT,       /* lines that describe the parts */
};

struct nt_page_file {
    char suffix[24]; /* after the page's number: ".0.raw" */
    enum nt_page_file_kind kind;
    const char *owner;      /* RANGE: the owner in layout.jsonl; lives as long as the file */
    uint64_t offset, bytes; /* RANGE */
    uint32_t dependency;    /* DEPENDENCY: its index */
    enum nt_status (*open)(struct nt_dataset *dataset, uint32_t column, const struct nt_page *page,
                           struct nt_text_generator **text_ret, struct nt_error *error); /* TEXT */
};
enum { NT_PAGE_FILES = 24 }; /* most of one page */

typedef enum nt_status nt_visit_version(void *context, uint64_t number, struct nt_error *error);

/* Consecutive groups: the first, and the one after the last. */
struct nt_groups {
    uint32_t first, end;
};

/* Groups that are loaded in order: the one that is expected next, the end of those whose bytes were
 * requested, the end of all, and how many are requested at once. */
struct nt_groups_ahead {
    uint32_t next, requested, end, count;
};

/* A field whose numbers repeat the lengths of another one's lists, row by row. */
struct nt_repeated_lengths {
    uint32_t field;
    bool may_be_empty; /* a list that was not written has no items, whatever its number is */
};

struct nt_dataset_ops {
    /* Fills the slot's ranges, pages and page_count (and the clusters' entries if not yet known). Called
     * under the dataset's lock. The model frees the memory (malloc). */
    enum nt_status (*load_group)(struct nt_dataset *dataset, uint32_t number, struct nt_error *error);
    /* Completes the record of a group of a field with what the parts do not say. NULL: nothing. */
    void (*complete_record)(const struct nt_dataset *dataset, uint32_t number,
                            struct nt_group_record *record);
    /* The stored elements of a field's columns at a position, in a cluster whose page list need not be
     * loaded: loading it fails if they are others. False if unknown. NULL: no page list can be spared. */
    bool (*unverified_elements)(struct nt_dataset *dataset, uint32_t cluster, uint32_t field,
                                uint32_t position, uint64_t *elements_ret);
    /* Page lists are cheap to load again, with equal results. So they are released if memory is short. */
    bool reloads_groups;
    /* Frees what else can be read again if memory is short, and returns how many bytes of the budget.
     * Called under the dataset's lock. NULL: nothing. */
    uint64_t (*release)(struct nt_dataset *dataset);
    /* Adds the bytes that loading groups will read and, `with_pages`, those of all of their pages. May
     * read metadata that locates them; false if that fails. Called under the dataset's lock. NULL: does
     * nothing. */
    bool (*plan_groups)(struct nt_dataset *dataset, struct nt_groups groups, bool with_pages,
                        struct nt_prefetch *prefetch);
    /* See nt_fields_announce. Called under the dataset's lock. NULL: does nothing. */
    void (*announce_fields)(struct nt_dataset *dataset, const uint32_t *fields, size_t count);
    /* The extents of a page's stored bytes and digest (`extents_ret` from malloc); sets nothing if the
     * page has one extent, at its offset. NULL: all pages have one. */
    enum nt_status (*page_extents)(const struct nt_dataset *dataset, const struct nt_page *page,
                                   struct nt_extent **extents_ret, size_t *count_ret, struct nt_error *error);
    /* For a page that is one extent of the file, the operations below have nothing to add. So the dataset may
     * be closed once the page list has been copied. */
    bool pages_stand_alone;
    /* The files of a page of a loaded group next to its .raw and .bin, ranges first. Returns their
     * number. Reads nothing. NULL: none. */
    uint32_t (*page_files)(const struct nt_dataset *dataset, uint32_t column, const struct nt_page *page,
                           struct nt_page_file files[NT_PAGE_FILES]);
    /* Write format-specific JSON members of the dataset, a field, a column, a page: `json` is inside an
     * object. Each may be NULL. */
    enum nt_status (*describe_dataset)(const struct nt_dataset *dataset, struct nt_json *json);
    void (*describe_field)(const struct nt_dataset *dataset, uint32_t field, struct nt_json *json);
    void (*describe_column)(const struct nt_dataset *dataset, uint32_t column, struct nt_json *json);
    enum nt_status (*describe_page)(const struct nt_dataset *dataset, uint32_t column,
                                    const struct nt_page *page, struct nt_json *json);
    /* Calls `visit` with the number of each version in the history of the open one, as it is now, in any
     * order. Opens none of them. NULL: the format has no versions. */
    enum nt_status (*each_version)(const struct nt_dataset *dataset, nt_visit_version *visit, void *context,
                                   struct nt_error *error);
    /* branch.json of a field: is the field a branch of a tree, and what does the file store of it?
     * NULL: no field is one. */
    bool (*is_branch)(const struct nt_dataset *dataset, uint32_t field);
    enum nt_status (*write_branch)(const struct nt_dataset *dataset, uint32_t field, struct nt_buffer *out,
                                   struct nt_error *error);
    /* The groups of a column that parts [first, end) of a layout have pages of (see nt_file.layout_part).
     * NULL: part n has those of group n of the column. */
    struct nt_groups (*groups_of_parts)(const struct nt_dataset *dataset, uint32_t column, uint32_t first,
                                        uint32_t end);
    /* Columns whose pages are the same stored bytes, and whose elements are mostly needed with those of
     * `column`, which is about to be decoded: what is needed may depend on the columns that were decoded
     * before. Returns their number. Any thread. NULL: none. */
    uint32_t (*sibling_columns)(const struct nt_dataset *dataset, uint32_t column,
                                uint32_t columns[NT_MAX_SHARED_OUTPUTS - 1]);
    /* Where the lengths of the lists that a column of end offsets has are stored again; the field is NT_NONE
     * if they are not. NULL: they never are. */
    struct nt_repeated_lengths (*repeated_lengths)(const struct nt_dataset *dataset, uint32_t column);
    /* Fails with what is known of a page that is not in the file (NT_COMPRESSION_ELSEWHERE); its group is
     * loaded. NULL: there are no such pages. */
    enum nt_status (*fail_elsewhere)(const struct nt_dataset *dataset, const struct nt_page *page,
                                     struct nt_error *error);
    /* Finds the blob that a row of a part describes (dataset with field_groups), and opens its file,
     * which is never shorter than the blob. Without `opens_file` it sets only `bytes`, and accesses
     * files only if the description lacks the size. Keeps the open file of `blob` if it is the same
     * one. NULL: no field describes blobs. */
    enum nt_status (*find_blob)(struct nt_dataset *dataset, uint32_t field, uint32_t part,
                                const struct nt_blob_description *description, bool opens_file,
                                struct nt_blob *blob, struct nt_error *error);
    /* Makes the copy of a decoder's state refer to memory that lives as long as another file, so that a
     * decoder of that file can have it. Called under the lock of that file. NULL: states refer to nothing. */
    enum nt_status (*keep_state)(struct nt_file *file, const struct nt_decoder *decoder, void *state,
                                 struct nt_error *error);
    /* Sets `physical` and `levels`, or fails and sets neither. Called once, under the dataset's lock.
     * NULL: the dataset is its own physical dataset and has no levels. */
    enum nt_status (*add_physical)(struct nt_dataset *dataset, struct nt_error *error);
    void (*close)(struct nt_dataset *dataset); /* frees format_data */
};

/* Deleted rows: stored rows that are no entries, as ascending runs that do not touch. */
struct nt_deletion_run {
    uint64_t first; /* index of the stored row */
    uint64_t kept;  /* rows before it that are kept */
};
struct nt_deletion_vector {
    struct nt_deletion_run *items; /* `count` runs (at least 1), then totals of stored and kept rows */
    uint32_t count;
};
/* The end of a run of `deletions->items`. */
static inline uint64_t nt_deletion_run_end(const struct nt_deletion_run *run)
{
    return run[1].first - (run[1].kept - run[0].kept);
}

/* The selected entries of a dataset. */
struct nt_entry_filter {
    const struct nt_deletion_vector *excluded; /* the other entries; NULL: all are selected */
    uint64_t entries;                          /* number of selected entries */
};

struct nt_column_group {
    const uint32_t *columns; /* indices, ascending */
    uint32_t count;
};

/* The parts of the entries that the fields from `first_field` on have. */
struct nt_parts {
    uint32_t first_field, count;
    const uint64_t *boundaries; /* [part]: its first entry; then the number of all entries */
};

/* A field with groups of its own, and the first of them. */
struct nt_group_owner {
    uint32_t field, first_group;
};

enum { NT_FIRST_GROUPS = 16, NT_GROUP_SEGMENTS = 28, NT_BLOCK_GROUPS = 64 };

/* The slots of a block's groups that are in memory. When none is, another block takes it over. */
struct nt_group_slot_map {
    struct nt_group_slot_map *next_free;
    uint32_t used;
    atomic_uint slots[NT_BLOCK_GROUPS]; /* [group in the block]: its slot + 1; 0: none */
};

struct nt_group_block {
    struct nt_group_slot_map *_Atomic slot_map; /* NULL: no group is in memory */
    atomic_uint_least64_t known;                /* bits of groups: it was in memory once */
};

/* The cluster groups of a dataset. The groups in memory are slots, in segments of doubling size that do not
 * move. A slot is used again for another group once its page list has been released. The others take a
 * quarter of a byte: their part of a block. */
struct nt_group_store {
    struct nt_group_record *records; /* [group]; NULL with field_groups: they follow from fields and parts */
    struct nt_group_block *blocks;
    struct nt_group *segments[NT_GROUP_SEGMENTS];
    /* Under the dataset's lock: */
    struct nt_group_slot_map *spare_slot_maps;
    uint32_t slot_count;
    uint32_t free_slot;  /* + 1: the first of those that hold no group, which are a list; 0: none */
    uint32_t hand;       /* the slot to look at next to release its page list */
    uint64_t list_bytes; /* of loaded page lists; 0 unless they may be released */
};

struct nt_dataset {
    struct nt_file *file;
    uint32_t index;     /* in file->datasets */
    uint32_t directory; /* index into the file's directories */
    /* Index of the dataset that links this one as an attribute set, else NT_NONE. */
    uint32_t attribute_of;
    uint32_t cycle; /* TKey cycle, else 0 */
    /* False: the cycle is part of its path. Another dataset of this name and directory has a higher
     * cycle or, if this is a TTree, is an RNTuple. */
    bool is_newest_cycle;
    bool is_secondary;   /* does not count as the only dataset of the file: see nt_file_only */
    struct nt_text name; /* the key's name, the file's stem, ... */
    /* Set if opening failed; then only documents, format_data and ops below are valid. */
    const struct nt_error *failure;
    /* What an option requested but the dataset lacks, for messages and the log. */
    const struct nt_error *notes;
    uint32_t note_count;

    const char *format;     /* "rntuple" */
    const char *version;    /* "1.0.2.0" */
    const char *generation; /* the matching row of the table of generations */
    const char *generation_reason;
    struct nt_text title; /* the name in the header */
    struct nt_text description, writer;
    bool knows_all_entries; /* `entries` of a stub's dataset are complete */
    uint64_t entries;       /* stored entries; nt_dataset_entries returns the selected ones */
    /* NULL: no selection. Rows and streams have the selected entries; clusters, columns and pages stay
     * as stored. See nt_dataset_select. */
    const struct nt_entry_filter *selection;
    bool has_sharded_clusters;
    bool parts_are_clusters; /* each field has the clusters of the dataset, in groups of its own */
    bool is_concatenated;    /* joins several files: positions in columns restart with each file */

    struct nt_field *fields;
    uint32_t field_count;
    bool is_ordered;          /* show fields in storage order, else in the order of ids */
    uint32_t *children;       /* slices have each field's children; the first `top_count` are roots */
    uint32_t *first_children; /* [field]: start of its slice, in field order */
    uint32_t *first_columns;  /* [field]: the same in `field_columns`: [representation][position] */
    uint32_t top_count;
    struct nt_column *columns; /* all stored columns, by id */
    uint32_t column_count;
    uint32_t *field_columns;
    /* For a dataset whose columns are derived from the file's columns: datasets of the same fields
     * and numbers, owned by this one. `physical`: the file's columns with their pages; this dataset
     * itself if nothing is derived. `levels`: where values of these columns end, and the levels around
     * them; NULL: none. Both are loaded on first use: read them only after nt_dataset_physical. */
    struct nt_dataset *physical, *levels;
    atomic_uint physical_state; /* enum nt_lazy_state */
    struct nt_error *physical_failure;
    struct nt_dataset *logical;  /* the dataset whose physical or levels this is, or itself */
    struct nt_decoders decoders; /* a page list may add more, under the lock */
    struct nt_source **sources;
    uint32_t source_count;

    struct nt_group_store groups;
    uint32_t group_count;
    /* Clusters of all groups; a group's slice may be filled only when it is loaded. NULL with
     * field_groups. See nt_dataset_cluster. */
    struct nt_cluster *clusters;
    uint32_t cluster_count;
    bool clusters_known; /* all clusters' entries are known without loading groups */
    struct nt_column_group *column_groups;
    uint32_t column_group_count;
    /* [field]: the first of the groups with the field's columns, each of one cluster, one for each part;
     * NT_NONE: owns no columns. NULL: any group may hold any field. See nt_dataset_add_field_groups. */
    uint32_t *field_groups;
    struct nt_group_owner *group_owners; /* the fields that have groups, ascending */
    uint32_t group_owner_count;
    uint32_t part_count;
    uint64_t part_metadata_bytes;
    /* Other parts, of the fields of friends, in the order of their fields. See nt_field_parts. */
    const struct nt_parts *friend_parts;
    uint32_t friend_count;
    const uint64_t *part_boundaries; /* [part]: its first entry; then the number of all entries */
    /* [part]: its deleted rows or NULL; known once a group of it is loaded. NULL: no deletions. */
    const struct nt_deletion_vector **part_deletions;

    const struct nt_document *documents;
    uint32_t document_count;
    const struct nt_dataset_ops *ops;
    void *format_data;
    struct nt_lock lock;          /* for loading groups, also of `physical` and `levels` */
    struct nt_groups_ahead ahead; /* under the lock */
    bool *announced;              /* [field]: see nt_groups_announce_fields; from malloc, under the lock */
    atomic_uint found_group;      /* the last result of nt_page_group */
    struct nt_arena *arena;       /* owns everything above that the format allocates */
};

struct nt_directory {
    uint32_t parent; /* index; the root (0) is its own parent */
    struct nt_text name;
};

/* Limits for the file; 0: derived from its size. */
struct nt_limits {
    uint64_t metadata_bytes; /* see model/budget.h */
    uint64_t page_bytes;     /* of a decoded page */
};

typedef void nt_failure_emit(void *context, const struct nt_error *failure);

struct nt_file {
    const struct nt_format *format;
    const char *path;            /* absolute */
    struct nt_budget budget;     /* for its metadata */
    _Atomic uint64_t page_bytes; /* see nt_file_page_limit; that of a chain grows while others read it */
    bool is_size_unverified;     /* the real size of the source is unknown here */
    struct nt_source *source;    /* the whole file; for directories only stat and check */
    /* Files in the layout; NULL: only `source`. An entry equal to the previous one stands for a source of the
     * file's datasets that is no file of its own. */
    struct nt_source **layout_sources;
    uint32_t layout_source_count;
    struct nt_directory *directories; /* [0] is the root; may be the only one */
    uint32_t directory_count;
    struct nt_dataset **datasets;
    uint32_t dataset_count;
    /* Why the file has no readable data although its container can be described; NULL: it has, or the
     * datasets have failures. */
    const struct nt_error *failure;
    const struct nt_document *documents; /* of the file: format members of file.json, keys.jsonl */
    uint32_t document_count;
    /* Writes format-specific members of file.json: `json` is inside an object. May be NULL. */
    enum nt_status (*describe)(const struct nt_file *file, struct nt_json *json, struct nt_error *error);
    /* Emits byte ranges other than pages and their checksums, in any order. May be NULL. */
    enum nt_status (*layout)(const struct nt_file *file, nt_layout_emit *emit, void *context,
                             struct nt_error *error);
    /* The same for some of the layout's files, and the part whose pages are in a file; NT_NONE: none are.
     * Later files have later parts. A part is one of the entries, or see nt_dataset_ops.groups_of_parts.
     * NULL: pages of a part may be in any file. */
    enum nt_status (*layout_of)(const struct nt_file *file, struct nt_layout_sources sources,
                                nt_layout_emit *emit, void *context, struct nt_error *error);
    uint32_t (*layout_part)(const struct nt_file *file, uint32_t source);
    /* Emits problems that pages, page lists and datasets do not report: unreachable datasets, columns
     * without metadata. For verification; may be NULL. */
    enum nt_status (*check)(const struct nt_file *file, nt_failure_emit *emit, void *context,
                            struct nt_error *error);
    /* For a stub, which has all names and fields of a slow file but only part of their contents: opens
     * that file, with equal directories, datasets and fields, number for number (see nt_file_set_stub).
     * Called as nt_dataset_ops.add_physical, under the file's lock. NULL: not a stub. */
    enum nt_status (*resolve)(struct nt_file *stub, struct nt_file **file_ret, struct nt_error *error);
    struct nt_file *resolved;   /* set by nt_file_resolve; do not read it before */
    const struct nt_file *stub; /* the stub of this file, or itself */
    atomic_uint resolved_state; /* enum nt_lazy_state */
    struct nt_error *resolved_failure;
    struct nt_lock lock;
    void (*close)(struct nt_file *file); /* frees format_data */
    void *format_data;
    struct nt_hash_table kept; /* what states of decoders refer to, each equal one once */
    /* Called once per cluster group with a bad page list, by the thread that found it, without a lock.
     * Set it before threads share the file. May be NULL. */
    void (*on_group_failure)(void *context, const struct nt_dataset *dataset, uint32_t group,
                             const struct nt_error *error);
    /* Called by a thread before it loads or waits for a page list. Likewise. */
    void (*before_blocking)(void *context);
    void *context; /* of both */
    struct nt_arena *arena;
};

/* ---- For formats: building ---- */

NT_DEFINE_CLEANUP(struct nt_file, nt_file_close)

/* An empty file over a source, with arena and root. nt_file_close closes the source, too. */
enum nt_status nt_file_new(const char *path, struct nt_source *source, const struct nt_limits *limits,
                           struct nt_file **file_ret, struct nt_error *error);
/* Appends a range of a source to a buffer while the budget has room for it. */
enum nt_status nt_file_append_range(struct nt_file *file, struct nt_source *source, uint64_t offset,
                                    uint64_t bytes, struct nt_buffer *out, struct nt_error *error);
/* The size limit of a decoded page. For a file of unverified size it may exceed file->page_bytes if the
 * page's stored bytes justify it, as these must exist. */
uint64_t nt_file_page_limit(const struct nt_file *file, uint64_t stored_bytes);
/* Fills a new file for a format. `context` is that of nt_file_make. */
typedef enum nt_status nt_file_fill(struct nt_file *file, const void *context, struct nt_error *error);
/* Creates a file with the name of its source and fills it; on failure the source stays open. */
enum nt_status nt_file_make(struct nt_source *source, const struct nt_limits *limits, nt_file_fill *fill,
                            const void *context, struct nt_file **file_ret, struct nt_error *error);
/* Frees a file after a failure; its source stays open for the next format. Accepts NULL. */
void nt_file_discard(struct nt_file *file);
/* Append an empty dataset or directory (pointers stay valid). */
enum nt_status nt_file_add_dataset(struct nt_file *file, struct nt_dataset **dataset_ret,
                                   struct nt_error *error);
uint32_t nt_file_add_directory(struct nt_file *file, uint32_t parent,
                               struct nt_text name); /* NT_NONE: no memory */
/* Creates a dataset of the same fields without columns, to be built as `dataset->physical` or
 * `->levels`. Shares name, sources, entries, format and format_data. The dataset frees it once it is
 * one of the two. */
enum nt_status nt_dataset_new_physical(struct nt_dataset *dataset, struct nt_dataset **physical_ret,
                                       struct nt_error *error);
/* Frees a physical dataset that was not used. Accepts NULL. */
void nt_dataset_free(struct nt_dataset *dataset);
/* Keeps a copy of the failure of one part, so that the rest can be used. An environmental failure is
 * not kept but returned. */
enum nt_status nt_failure_keep(const struct nt_error *failure, struct nt_arena *arena,
                               const struct nt_error **kept_ret, struct nt_error *error);
/* Marks a dataset as failed, in the same way. */
enum nt_status nt_dataset_set_failure(struct nt_dataset *dataset, const struct nt_error *failure,
                                      struct nt_error *error);
/* Call after filling fields (with parent, ids in any order), columns and decoders. Checks parents (no
 * cycles, depth at most NT_MAX_DEPTH); fills children, field_columns, positions; NT_CORRUPT. Of fields
 * beside one another with equal names, makes the second one's "name~2" (docs/tree.md, "Names"). */
enum nt_status nt_dataset_link(struct nt_dataset *dataset, struct nt_error *error);
/* Gives a field of a linked dataset the columns of their owner. */
void nt_field_project_columns(struct nt_dataset *dataset, uint32_t field, uint32_t owner);

/* Members of a field that only one format has. The functions of <ntuple/dataset.h> that return them
 * describe them. */
struct nt_field_extra {
    uint32_t source;                                              /* RNTuple, if is_projected */
    bool is_projected;                                            /* RNTuple */
    bool is_fortran_order, is_scalar;                             /* BLZ */
    uint64_t member_offset;                                       /* BLZ */
    bool is_declared_nullable, has_short_offsets, is_description; /* Lance */
    struct nt_text item_name;                                     /* Lance */
    const struct nt_property *properties;                         /* Lance */
    uint32_t property_count;                                      /* Lance */
};
/* Those of a field. Defaults if none were set. */
const struct nt_field_extra *nt_field_extra(const struct nt_field *field);
/* Sets a copy. False without memory. */
NT_CHECKED bool nt_field_set_extra(struct nt_arena *arena, struct nt_field *field,
                                   const struct nt_field_extra *extra);
/* Sets the field that a projected field shows. NT_NONE: none. False without memory. */
NT_CHECKED bool nt_field_set_source(struct nt_arena *arena, struct nt_field *field, uint32_t source);

/* Makes a new file the target of a stub, with the stub's callbacks. nt_file_resolve remembers a failure. */
void nt_file_set_stub(struct nt_file *file, const struct nt_file *stub);
/* Fails if the dataset did not open, or if it is a stub's, which has no values. */
enum nt_status nt_dataset_check(const struct nt_dataset *dataset, struct nt_error *error);
/* Is the file resolved, or not a stub? */
static inline bool nt_file_is_resolved(const struct nt_file *file)
{
    return !file->resolve || nt_lazy_is_ready(&file->resolved_state);
}

/* The type of elements that their kind defines completely; of OPAQUE ones only that. */
struct nt_dtype nt_element_dtype(enum nt_element element);

#define NT_MAX_DEPTH 256

/* ---- For readers ---- */

/* All columns of a field: [representation][position]. */
const uint32_t *nt_field_columns(const struct nt_dataset *dataset, uint32_t field, uint32_t *count_ret);
const char *nt_role_name(enum nt_role role); /* "plain", "collection", ... */
/* The number of representations of a field; each cluster uses one. */
uint32_t nt_field_representations(const struct nt_dataset *dataset, uint32_t field);
/* The nearest ancestor whose rows do not correspond to the field's: a collection, a variant or an
 * unreadable field; else NT_NONE. */
uint32_t nt_field_row_parent(const struct nt_dataset *dataset, uint32_t field);

/* [field]: the field under whose name users know it: itself, or the projected field that shows it if it
 * is part of an untyped top-level collection or record of which projected fields show everything, as
 * RNTupleImporter writes them. From malloc. */
enum nt_status nt_shown_fields(const struct nt_dataset *dataset, uint32_t **shown_ret,
                               struct nt_error *error);
/* The top-level fields without those that projected fields show. From malloc. */
enum nt_status nt_shown_top_fields(const struct nt_dataset *dataset, uint32_t **fields_ret,
                                   uint32_t *count_ret, struct nt_error *error);

/* With field_groups: the field of a group, and its part of the entries (`part_ret` may be NULL). */
uint32_t nt_group_field(const struct nt_dataset *dataset, uint32_t number, uint32_t *part_ret);
/* A group's record. Loads nothing. */
struct nt_group_record nt_group_record(const struct nt_dataset *dataset, uint32_t number);
/* The memory of a group that is being loaded or is pinned; else it may be in use for another group soon.
 * NULL: it has none. */
struct nt_group *nt_group_slot(const struct nt_dataset *dataset, uint32_t number);
/* Pins a group that is loaded; else returns NULL. */
struct nt_group *nt_group_try_pin(const struct nt_dataset *dataset, uint32_t number);
/* Is the group's page list loaded? Without a pin it may be released at once. */
bool nt_group_is_loaded(const struct nt_dataset *dataset, uint32_t number);
/* Was it loaded once, so that its clusters are known? */
bool nt_group_is_known(const struct nt_dataset *dataset, uint32_t number);
/* The lasting failure of loading it, or NULL. */
const struct nt_error *nt_group_failure(const struct nt_dataset *dataset, uint32_t number);

/* Loads the page lists of a cluster group, unless they are loaded. They stay until nt_group_unpin; NULL is
 * returned in `group_ret` after a failure, which is remembered. */
enum nt_status nt_group_pin(struct nt_dataset *dataset, uint32_t number, struct nt_group **group_ret,
                            struct nt_error *error);
/* The same, but bad lists are no failure: `group_ret` is NULL. Only environmental failures fail the call. */
enum nt_status nt_group_pin_readable(struct nt_dataset *dataset, uint32_t number, struct nt_group **group_ret,
                                     struct nt_error *error);
/* For pages whose users are unknown: the lists of a pinned group stay with the dataset; unpins it. */
void nt_group_keep(struct nt_group *group);
/* Loads a group that was never loaded: then its clusters are known, or its failure. */
enum nt_status nt_dataset_load_group(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);
enum nt_status nt_dataset_load_all(struct nt_dataset *dataset, struct nt_error *error);
/* The bytes that loading all page lists parses, loaded or not. */
uint64_t nt_dataset_metadata_bytes(const struct nt_dataset *dataset);
/* The same for all groups, but skips bad ones; only environmental failures fail the call. */
enum nt_status nt_dataset_load_readable(struct nt_dataset *dataset, struct nt_error *error);

/* The outermost ancestor of a field, or the field itself. */
static inline uint32_t nt_field_top(const struct nt_dataset *dataset, uint32_t field)
{
    while (dataset->fields[field].parent != NT_NONE)
        field = dataset->fields[field].parent;
    return field;
}

/* The decoder of a column; pages may have their own. */
static inline const struct nt_decoder *nt_column_decoder(const struct nt_dataset *dataset, uint32_t column)
{
    return nt_decoders_get(&dataset->decoders, dataset->columns[column].decoder);
}

/* The number of ranges of entries that clusters divide the dataset into, as far as all fields share
 * them; else that of all fields' clusters. */
static inline uint32_t nt_dataset_cluster_count(const struct nt_dataset *dataset)
{
    return dataset->parts_are_clusters ? dataset->part_count : dataset->cluster_count;
}
struct nt_cluster nt_dataset_cluster(const struct nt_dataset *dataset, uint32_t cluster);
/* The group of a cluster: groups are ordered by first cluster. Loads nothing. */
uint32_t nt_cluster_group(const struct nt_dataset *dataset, uint32_t cluster);
/* Does a cluster hold a column? All unsharded clusters do. False if its column group does not exist, as
 * its page list is bad then. */
bool nt_cluster_holds(const struct nt_dataset *dataset, uint32_t cluster, uint32_t column);
/* Are columns derived from the physical ones? A field has at most one of each. */
static inline bool nt_dataset_has_physical(const struct nt_dataset *dataset)
{
    return dataset->ops && dataset->ops->add_physical;
}
/* The file's columns: dataset->physical, loaded on first use together with dataset->levels. Remembers a
 * failure. Both members may be read after success. */
enum nt_status nt_dataset_physical(struct nt_dataset *dataset, struct nt_dataset **physical_ret,
                                   struct nt_error *error);
/* The index, within the file's columns, of the one that a column is derived from. */
static inline uint32_t nt_physical_column(const struct nt_dataset *dataset, uint32_t column)
{
    return nt_dataset_has_physical(dataset) ? dataset->columns[column].physical : column;
}
/* The number of elements in a range of a pinned group; its pages are group->pages + range->first_page. */
uint64_t nt_range_elements(const struct nt_group *group, const struct nt_range *range);

/* The groups that may hold a column, or any column of a field (NT_NONE: any). Loads nothing. */
struct nt_groups nt_groups_of_column(const struct nt_dataset *dataset, uint32_t column);
struct nt_groups nt_groups_of_field(const struct nt_dataset *dataset, uint32_t field);
/* nt_dataset_load_all and nt_dataset_load_readable for these groups only. */
enum nt_status nt_groups_load(struct nt_dataset *dataset, struct nt_groups groups, struct nt_error *error);
enum nt_status nt_groups_load_readable(struct nt_dataset *dataset, struct nt_groups groups,
                                       struct nt_error *error);
bool nt_groups_are_loaded(const struct nt_dataset *dataset, struct nt_groups groups);
/* Their first cluster and their number of clusters. */
uint32_t nt_groups_clusters(const struct nt_dataset *dataset, struct nt_groups groups, uint32_t *count_ret);
/* Releases all lists without a pin, and what else a logical dataset can read again. Returns how many bytes
 * of the budget. Under its lock. */
uint64_t nt_groups_release(struct nt_dataset *logical);
/* The same with the lock. */
void nt_dataset_release_lists(struct nt_dataset *logical);
/* These groups will be loaded one after the other: what that reads is requested in advance. */
void nt_groups_announce(struct nt_dataset *dataset, struct nt_groups groups);
/* The groups of these fields, and of those below them, will be loaded: what the first of them reads is
 * requested with what the others read. Replaces an earlier announcement; no fields: withdraws it. */
void nt_groups_announce_fields(struct nt_dataset *dataset, const uint32_t *fields, size_t count);
/* Plans to load groups and, `with_pages`, to read all of their pages. False if the format cannot say
 * which bytes that are. */
bool nt_groups_plan(struct nt_dataset *dataset, struct nt_groups groups, bool with_pages,
                    struct nt_prefetch *prefetch);

/* The group that holds a page of a column (NT_NONE: of any), which is pinned; or NULL. Fast for a page near
 * the one that was found last. */
struct nt_group *nt_page_group(const struct nt_dataset *dataset, uint32_t column, const struct nt_page *page);

/* The number of columns that have ranges in a cluster of the group, and these ranges. */
uint32_t nt_group_column_count(const struct nt_dataset *dataset, const struct nt_group *group);
static inline const struct nt_range *nt_cluster_ranges(const struct nt_dataset *dataset,
                                                       const struct nt_group *group, uint32_t cluster,
                                                       uint32_t *count_ret)
{
    *count_ret = nt_group_column_count(dataset, group);
    return group->ranges + (size_t)(cluster - group->first_cluster) * *count_ret;
}
/* The index of a column's range; NT_NONE: the group holds another field's. */
uint32_t nt_group_range_index(const struct nt_dataset *dataset, const struct nt_group *group,
                              uint32_t column);
/* A column's range in a cluster of a pinned group; absent if the group holds another field's. */
const struct nt_range *nt_group_range(const struct nt_dataset *dataset, const struct nt_group *group,
                                      uint32_t cluster, uint32_t column);
/* With field_groups: the part of a pinned group. */
static inline uint32_t nt_group_part(const struct nt_dataset *dataset, const struct nt_group *group)
{
    return group->number - dataset->field_groups[group->field];
}
/* With field_groups: the parts that a field has groups for. */
struct nt_parts nt_field_parts(const struct nt_dataset *dataset, uint32_t field);
/* With field_groups: the cluster of a part's rows of a field; NT_NONE: owns no columns. */
static inline uint32_t nt_part_cluster(const struct nt_dataset *dataset, uint32_t field, uint32_t part)
{
    uint32_t group = dataset->field_groups[field];
    return group == NT_NONE ? NT_NONE : group + part; /* a group has one cluster, of equal number */
}
/* Do ranges contain their position in the column? Otherwise it follows from the previous ranges. */
static inline bool nt_dataset_has_positions(const struct nt_dataset *dataset)
{
    return !dataset->is_concatenated &&
           (!dataset->field_groups || (dataset->part_count == 1 && !dataset->part_deletions));
}
/* Do all fields have the same clusters, so that rows can be counted per cluster? */
static inline bool nt_dataset_shares_boundaries(const struct nt_dataset *dataset)
{
    return !dataset->friend_count && (!dataset->has_sharded_clusters || dataset->field_groups);
}

/* ---- Fields by name ---- */

struct nt_field_name {
    struct nt_text text;
    uint32_t field;
    uint32_t position; /* index into the given fields */
    uint32_t alike;    /* in the first field of a name: how many share it, in given order */
    uint32_t taken;    /* likewise: for the caller, initially 0 */
};

struct nt_field_names {
    struct nt_field_name *sorted; /* from malloc */
    uint32_t count;
};

/* `fields`: indices into the `all` fields of a dataset, whose names must live until deinit. */
enum nt_status nt_field_names_init(struct nt_field_names *names, const struct nt_field *all,
                                   const uint32_t *fields, uint32_t count, struct nt_error *error);
/* Accepts names that are all zero. */
void nt_field_names_deinit(struct nt_field_names *names);

/* The first field of this name, or NULL. O(log n). */
struct nt_field_name *nt_field_names_find(const struct nt_field_names *names, struct nt_text text);

/* The size of a file in the layout; 0 if it is the one before. */
enum nt_status nt_file_layout_size(const struct nt_file *file, uint32_t source, uint64_t *size_ret,
                                   struct nt_error *error);

/* ---- Paths ---- */

/* Is it no attribute set, older cycle or secondary dataset? */
bool nt_dataset_is_main(const struct nt_dataset *dataset);

/* The dataset that is meant if none is named: the only main one. NULL: none or several; `*count_ret` (may be
 * NULL) is their number. */
struct nt_dataset *nt_file_only(const struct nt_file *file, uint32_t *count_ret);

/* The directory of a dataset contains its linked attribute sets, whose names have this prefix. */
#define NT_ATTRIBUTE_PREFIX "attribute."

enum nt_name_rule {
    NT_NAME_FIELD,    /* every dot is encoded: generated files have names with dots */
    NT_NAME_DATASET,  /* dots stay, except at the beginning */
    NT_NAME_RESERVED, /* a dataset named like a generated file: its first dot is encoded */
    NT_NAME_TYPED,    /* dots stay: a path that users type */
};

/* Is a part of a path the name? Its bytes may be percent-encoded. */
bool nt_name_is(struct nt_text part, struct nt_text name);

/* Appends the encoded name, of any length; empty for an empty text. */
void nt_name_encode(struct nt_text text, enum nt_name_rule rule, struct nt_buffer *out);

/* The path of a dataset within its file, see nt_dataset_path (<ntuple/dataset.h>). */
void nt_append_dataset_path(struct nt_buffer *out, const struct nt_dataset *dataset);

/* ---- Names that users type ---- */

/* Where a name starts: at a file or one of its directories (`dataset` is NULL), at a dataset, or at one of
 * its fields. */
struct nt_name_scope {
    const struct nt_file *file;
    uint32_t directory;
    const struct nt_dataset *dataset;
    uint32_t field;
};

/* What a name means: a dataset, or a field of one; `field` is NT_NONE for the dataset. */
struct nt_match {
    uint32_t dataset, field;
};

struct nt_matches {
    struct nt_match *items; /* from malloc, in the order of the schema */
    size_t count, capacity;
    const char *rest; /* what follows their paths in the name: the path of a file in the tree, or "" */
};

/* Finds what a path or pattern means, in this order: a path; a path without the items of collections,
 * as in schemas ("muons/pt"); a pattern; the same without items; each of these below any field, where a
 * name without a pattern must be the only one. A pattern is a path whose names have
 * '*', '?' or [a-z]; "**" stands for any number of names. Dots may separate names, as in
 * nt_dataset_find. At a file, the dataset may be left out if no other has such a field, and patterns
 * also name datasets. With `has_files`, the last names may be left for `rest`. No match is no failure;
 * NT_INVALID if a name without its dataset is found in several. */
enum nt_status nt_name_match(const struct nt_name_scope *scope, const char *name, bool has_files,
                             struct nt_matches *matches, struct nt_error *error);
void nt_matches_deinit(struct nt_matches *matches);

/* Appends ": did you mean NAME?" if a name is similar, with `before` in front of it; else the datasets of
 * a file. Compares with the paths of some thousand fields. */
void nt_name_suggest(const struct nt_name_scope *scope, const char *before, const char *name,
                     struct nt_buffer *out);

/* The same where only a dataset can be meant. If the name is that of a field, appends where it is. */
void nt_dataset_suggest(const struct nt_file *file, const char *name, struct nt_buffer *out);

/* The names of a field and its ancestors, outermost first, separated by '/', byte for byte. */
void nt_append_field_path(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field);
/* The same for terminals and logs. */
void nt_append_printable_path(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field);
/* Puts the field in front of an error, or its part ("data"; NULL: none), unless it is there already. Returns
 * `status`. */
enum nt_status nt_name_field(const struct nt_dataset *dataset, uint32_t field, const char *part,
                             enum nt_status status, struct nt_error *error);
/* Puts a page list in front of an error: that of a field, if each has its own, else of a cluster group. */
void nt_name_group(const struct nt_dataset *dataset, uint32_t group, struct nt_error *error);

/* ---- Selections and deletion vectors ---- */

/* Collects kept rows in ascending order; initially zero. */
struct nt_deletion_vector_builder {
    struct nt_deletion_run *items;
    size_t count, capacity;
    uint64_t end, kept; /* after the last kept row; number of kept rows */
};
/* Adds `count` rows from `first`, which is at least `end`. NT_LIMIT for too many runs. */
enum nt_status nt_deletion_vector_builder_add(struct nt_deletion_vector_builder *builder, uint64_t first,
                                              uint64_t count, struct nt_error *error);
/* Ends: the runs of `physical` rows, from malloc. The last one may be empty. */
enum nt_status nt_deletion_vector_builder_finish(struct nt_deletion_vector_builder *builder,
                                                 uint64_t physical, struct nt_deletion_vector **deletions_ret,
                                                 struct nt_error *error);
void nt_deletion_vector_builder_deinit(struct nt_deletion_vector_builder *builder);
/* Room for so many runs, from malloc. NULL without memory. */
struct nt_deletion_vector *nt_deletion_vector_new(uint64_t count);

/* How many of the first `physical` rows are kept. */
uint64_t nt_deletion_vector_kept_before(const struct nt_deletion_vector *deletions, uint64_t physical);
/* A run of kept rows. */
struct nt_kept_run {
    uint32_t number;   /* how many deleted runs precede it */
    uint64_t physical; /* the physical index of the row */
    uint64_t count;    /* kept rows from it on, without a gap */
};
/* Finds where the `row`th kept row is stored. It must exist. */
struct nt_kept_run nt_deletion_vector_find_kept(const struct nt_deletion_vector *deletions, uint64_t row);
/* Advances to the next run of kept rows; false at the end. */
bool nt_deletion_vector_next_kept(const struct nt_deletion_vector *deletions, struct nt_kept_run *kept);
/* How many rows the first `number` runs delete. */
uint64_t nt_deletion_vector_count(const struct nt_deletion_vector *deletions, uint32_t number);
/* How many of the first `entries` entries are selected: all without a selection. */
uint64_t nt_dataset_selected_before(const struct nt_dataset *dataset, uint64_t entries);
