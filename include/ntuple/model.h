/* SPDX-License-Identifier: MIT
 *
 * The model: what every format is turned into. A file holds directories and data sets; a data set has a tree
 * of fields, the columns that store them, and, cluster by cluster, the pages of each column. Formats only
 * describe; loading, decoding, caching and serving are written once, for this model.
 *
 * Everything is immutable after opening, but for the cluster groups' page lists, which are read at first
 * touch behind nt_dataset_load_group (thread-safe). All memory belongs to the nt_file.
 */
#ifndef NTUPLE_MODEL_H
#define NTUPLE_MODEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <ntuple/codec.h>
#include <ntuple/error.h>
#include <ntuple/source.h>

#pragma GCC visibility push(default)

#define NT_NONE UINT32_MAX

/* Text from a file: any bytes, of any length, NUL-terminated for convenience. */
struct nt_text {
    const char *bytes;
    size_t length;
};

/* ---- pages, clusters ---- */

enum nt_checksum_covers {
    NT_COVERS_STORED,           /* the bytes as stored */
    NT_COVERS_STORED_OR_PACKED, /* drafts: either the stored or the uncompressed bytes; both are accepted */
};

struct nt_page {
    uint64_t offset;       /* in its source; see nt_dataset_page_extents where it may lie in several places */
    uint64_t stored_bytes; /* checksum not counted */
    uint64_t first_element; /* within its column range */
    uint64_t parameter;     /* handed to the decoder (Roaring: what is added to each value) */
    uint32_t elements;
    uint16_t decoder; /* index into the data set's decoders */
    uint16_t reserved;
    uint32_t source;  /* index into the data set's sources */
    uint8_t checksum; /* enum nt_checksum_kind; the digest follows the stored bytes */
    uint8_t checksum_covers;
    uint8_t compression; /* enum nt_compression_kind */
    uint8_t reserved2;
};

struct nt_cluster {
    uint64_t first_entry;
    uint64_t entries;
    uint32_t group; /* cluster group */
    uint32_t
        column_group; /* NT_NONE: holds all columns; else index into the data set's column groups (sharded) */
};

enum nt_range_state {
    NT_RANGE_PRESENT,
    NT_RANGE_ABSENT,     /* the cluster does not have the column (added later, or another shard) */
    NT_RANGE_SUPPRESSED, /* another representation is the active one in this cluster */
};

/* A column's share of a cluster. */
struct nt_range {
    uint64_t first_element; /* the listed element offset; of its absolute value where suppressed */
    uint32_t first_page;    /* index into the group's pages */
    uint32_t pages;
    uint32_t compression_settings; /* algorithm * 100 + level as the writer noted it; a hint */
    uint32_t state;                /* enum nt_range_state */
};

enum nt_group_state { NT_GROUP_NOT_LOADED, NT_GROUP_LOADED, NT_GROUP_FAILED };

struct nt_group {
    uint64_t first_entry, entries; /* as the footer tells; 0,0 where it does not */
    uint32_t first_cluster;
    uint32_t clusters;
    /* Set by loading: */
    struct nt_range *ranges; /* [cluster - first_cluster][column], row after row */
    struct nt_page *pages;
    uint64_t page_count;
    void *format_data;
    atomic_int state; /* enum nt_group_state */
    struct nt_error *failure;
};

/* ---- columns ---- */

struct nt_column {
    uint32_t id;             /* as the format numbers it; for most formats its index */
    uint32_t field;          /* index of the field that it belongs to */
    uint32_t representation; /* index of the representation, 0 first */
    uint32_t position;       /* its place within the representation: 0 principal, 1 ... */
    uint32_t type_number;    /* the format's number of the column type */
    const char *type_name;   /* "SplitInt32"; for unknown types "unknown (0x2a)" */
    uint16_t decoder;        /* index into the data set's decoders */
    bool is_deferred;
    bool is_deferred_suppressed; /* first element negative */
    bool has_range;
    uint64_t first_element; /* index of the first element that is stored, else 0 */
    uint32_t flags;         /* as stored */
};

/* ---- fields ---- */

enum nt_role {
    NT_ROLE_PLAIN,
    NT_ROLE_COLLECTION,
    NT_ROLE_RECORD,
    NT_ROLE_VARIANT,
    NT_ROLE_STREAMED,
    NT_ROLE_COUNT
};
const char *nt_role_name(enum nt_role role); /* "plain", "collection", ... */

/* The logical files that a field may have. */
enum nt_stream_kind {
    NT_STREAM_DATA,
    NT_STREAM_OFFSETS,
    NT_STREAM_TAGS,
    NT_STREAM_INDEX,
    NT_STREAM_VALID,
    NT_STREAM_COUNT
};
const char *nt_stream_name(enum nt_stream_kind kind); /* "data", ... */

/* How a field's rows come from its columns: the row of nt_field_kind_info. */
enum nt_field_kind {
    NT_FIELD_CONTAINER,  /* no columns of its own: record, array, enum, atomic, wrapper: only sub-fields */
    NT_FIELD_VALUE,      /* column 0: one element per row (times `repetition` for a bitset) */
    NT_FIELD_BYTES,      /* column 0: end offsets, column 1: bytes: string, streamed object */
    NT_FIELD_COLLECTION, /* column 0: end offsets into the only child */
    NT_FIELD_DENSE_OPTIONAL, /* column 0: Bit, valid or not; the child has as many rows */
    NT_FIELD_VARIANT,        /* column 0: Switch */
    NT_FIELD_CARDINALITY,    /* column 0: end offsets, shown as sizes */
    NT_FIELD_PAGE_BYTES,     /* column 0: bytes; each page is one row's value (BLZ object arrays) */
    NT_FIELD_MEMBER,         /* part of each element of an opaque column: `member_offset`, dtype's bytes */
    NT_FIELD_UNREADABLE,     /* see `unreadable` */
    NT_FIELD_KIND_COUNT
};

struct nt_field_kind_info {
    const char *name;
    unsigned streams; /* bit set of 1 << enum nt_stream_kind */
};
const struct nt_field_kind_info *nt_field_kind_info(enum nt_field_kind kind);

struct nt_dtype {
    enum nt_element element;
    uint32_t bytes;
    const char
        *text; /* NumPy's descr as it stands in a .npy header, quotes included: "'<f8'", "[('a', '<i4')]" */
};

struct nt_field {
    uint32_t id;          /* as the format numbers it */
    uint32_t parent;      /* index, NT_NONE for top-level fields */
    uint32_t first_child; /* into nt_dataset.children, in id order */
    uint32_t child_count;
    uint32_t first_column; /* into nt_dataset.field_columns: [representation][position] */
    uint32_t column_count;
    uint32_t columns_per_representation;
    uint32_t source_field; /* index of the field that a projected field shows, else NT_NONE */
    enum nt_role role;
    enum nt_field_kind kind;
    uint64_t repetition; /* std::array, bitset: elements per row; 0: not repetitive */
    uint32_t field_version, type_version;
    uint32_t flags; /* as stored */
    uint32_t type_checksum;
    bool has_type_checksum;
    bool owns_columns; /* false: the columns are another field's (projected): no column.<k> here */
    bool is_fortran_order;
    uint32_t
        dimension_count; /* BLZ: fixed dimensions of a row beyond the first; one of 0: rows have nothing */
    const uint64_t *dimensions;
    uint64_t member_offset; /* NT_FIELD_MEMBER */
    struct nt_dtype dtype;  /* of the data file: the field's own type */
    struct nt_text name, type, alias, description;
    const char *unreadable; /* why the data is not served, else NULL */
};

/* ---- data sets ---- */

struct nt_dataset;
struct nt_file;
struct nt_buffer;

/* Text that is made piece by piece: lines of a .jsonl, parts of a large document. */
struct nt_text_stream {
    /* Append the next piece to `out`; *more_ret false when nothing is left (the piece is still valid). */
    enum nt_status (*next)(struct nt_text_stream *stream, struct nt_buffer *out, bool *more_ret,
                           struct nt_error *error);
    void (*free)(struct nt_text_stream *stream);
};

/* A pseudo-file that a format gives: header.json, pagelist.<n>.bin, keys.jsonl, ... */
struct nt_document {
    const char *prefix, *suffix; /* the name, or "pagelist." and ".json" with the number between */
    /* How many; NULL: one, without a number. */
    uint64_t (*count)(const struct nt_file *file, const struct nt_dataset *dataset);
    /* Exactly one of the two. `write`: produced whole, size known. `open`: streamed. `dataset` is NULL for
     * the file's own documents. */
    enum nt_status (*write)(const struct nt_file *file, const struct nt_dataset *dataset, uint64_t number,
                            struct nt_buffer *out, struct nt_error *error);
    enum nt_status (*open)(const struct nt_file *file, const struct nt_dataset *dataset, uint64_t number,
                           struct nt_text_stream **stream_ret, struct nt_error *error);
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

struct nt_dataset_ops {
    /* Fill group->ranges, pages and page_count (and the clusters' entries where not known before); called
     * once, under the data set's lock. Memory from malloc, freed by the model. */
    enum nt_status (*load_group)(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);
    /* Where a page's stored bytes and digest lie, when it is not one place (`extents_ret` from malloc).
     * NULL: always one. */
    enum nt_status (*page_extents)(const struct nt_dataset *dataset, const struct nt_page *page,
                                   struct nt_extent **extents_ret, size_t *count_ret, struct nt_error *error);
    /* More members for the JSON of this data set, a field, a column, a page (`json` is a struct nt_json
     * inside an object). Each may be NULL. */
    enum nt_status (*describe_dataset)(const struct nt_dataset *dataset, void *json);
    enum nt_status (*describe_page)(const struct nt_dataset *dataset, uint32_t column,
                                    const struct nt_page *page, void *json);
    void (*close)(struct nt_dataset *dataset); /* frees format_data */
};

struct nt_column_group {
    const uint32_t *columns; /* indices, ascending */
    uint32_t count;
};

struct nt_dataset {
    struct nt_file *file;
    uint32_t index;     /* in file->datasets */
    uint32_t directory; /* index into the file's directories */
    uint32_t
        attribute_of; /* index of the data set that this one is a linked attribute set of, else NT_NONE */
    uint32_t cycle;   /* TKey cycle, else 0 */
    bool is_newest_cycle;
    struct nt_text name;      /* the key's name, the file's stem, ... */
    struct nt_error *failure; /* set when it could not be opened: nothing below is valid then */

    const char *format;     /* "rntuple" */
    const char *version;    /* "1.0.2.0" */
    const char *generation; /* the row of the generations' table that was used */
    const char *generation_reason;
    struct nt_text title; /* the name as the header tells it */
    struct nt_text description, writer;
    uint64_t entries;
    bool has_sharded_clusters;

    struct nt_field *fields;
    uint32_t field_count;
    uint32_t *children; /* slices of it are the fields' children; the first `top_count` are top-level */
    uint32_t top_count;
    struct nt_column *columns; /* all stored columns, by id */
    uint32_t column_count;
    uint32_t *field_columns;
    struct nt_decoder *decoders;
    uint32_t decoder_count;
    struct nt_source **sources;
    uint32_t source_count;

    struct nt_group *groups;
    uint32_t group_count;
    struct nt_cluster *clusters; /* all groups'; a group's slice may be filled only once it is loaded */
    uint32_t cluster_count;
    bool clusters_known; /* entries of all clusters are known without loading groups */
    struct nt_column_group *column_groups;
    uint32_t column_group_count;

    const struct nt_document *documents;
    uint32_t document_count;
    const struct nt_dataset_ops *ops;
    void *format_data;
    pthread_mutex_t lock;   /* loading of groups */
    struct nt_arena *arena; /* everything above that the format allocates */
};

struct nt_directory {
    uint32_t parent; /* index; the root (0) is its own parent */
    struct nt_text name;
};

struct nt_format;

struct nt_file {
    const struct nt_format *format;
    const char *path;         /* absolute */
    struct nt_source *source; /* of the whole file; for directories one that answers stat and check only */
    struct nt_source **layout_sources; /* files that the layout covers; NULL: only `source` */
    uint32_t layout_source_count;
    struct nt_directory *directories; /* [0] is the root; may be a single one */
    uint32_t directory_count;
    struct nt_dataset **datasets;
    uint32_t dataset_count;
    const struct nt_document *documents; /* of the file: file.json's format part, keys.jsonl */
    uint32_t document_count;
    /* Members of file.json beside the common ones (`json` is a struct nt_json inside an object). May be NULL.
     */
    enum nt_status (*describe)(const struct nt_file *file, void *json);
    /* Byte ranges that are not pages or their checksums, in any order. May be NULL. */
    enum nt_status (*layout)(const struct nt_file *file, nt_layout_emit *emit, void *context,
                             struct nt_error *error);
    void (*close)(struct nt_file *file); /* frees format_data */
    void *format_data;
    struct nt_arena *arena;
};

/* ---- for formats: building ---- */

/* A new empty file with its arena and root directory; takes the source (closed with it, also on failure). */
enum nt_status nt_file_new(const char *path, struct nt_source *source, struct nt_file **file_ret,
                           struct nt_error *error);
/* Append an empty data set / directory (pointers stay valid). NULL without memory. */
struct nt_dataset *nt_file_add_dataset(struct nt_file *file);
uint32_t nt_file_add_directory(struct nt_file *file, uint32_t parent,
                               struct nt_text name); /* NT_NONE: no memory */
/* Note that a data set cannot be opened (copies the error). */
void nt_dataset_set_failure(struct nt_dataset *dataset, const struct nt_error *error);
/* After fields (with parent, ids in any order), columns and decoders are filled: checks parents (no cycles,
 * depth at most NT_MAX_DEPTH), fills children, field_columns of owning fields, positions; NT_CORRUPT. */
enum nt_status nt_dataset_link(struct nt_dataset *dataset, struct nt_error *error);

#define NT_MAX_DEPTH 256

/* ---- for readers ---- */

/* Load the page lists of a cluster group; at once where it was done before. A failure is remembered. */
enum nt_status nt_dataset_load_group(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);
enum nt_status nt_dataset_load_all(struct nt_dataset *dataset, struct nt_error *error);

/* The group that would hold a cluster: groups are ordered by their first one. Loads nothing. */
struct nt_group *nt_cluster_group(const struct nt_dataset *dataset, uint32_t cluster);
/* The range of a column in a cluster (loads its group). */
enum nt_status nt_dataset_range(struct nt_dataset *dataset, uint32_t cluster, uint32_t column,
                                const struct nt_range **range_ret, struct nt_error *error);
/* Elements in a range; its pages are group->pages + range->first_page. */
uint64_t nt_range_elements(const struct nt_group *group, const struct nt_range *range);

static inline const struct nt_range *nt_group_range(const struct nt_dataset *dataset,
                                                    const struct nt_group *group, uint32_t cluster,
                                                    uint32_t column)
{
    return group->ranges + (size_t)(cluster - group->first_cluster) * dataset->column_count + column;
}

/* A collection of at most one item that stands for a value or none: std::optional, std::unique_ptr. */
bool nt_is_optional(const struct nt_field *field);

/* Indices of the children of a field (NT_NONE: the top-level fields). */
const uint32_t *nt_dataset_children(const struct nt_dataset *dataset, uint32_t field, uint32_t *count_ret);

/* The column at (representation, position) of a field, as index into columns; NT_NONE where it has none. */
uint32_t nt_field_column(const struct nt_dataset *dataset, uint32_t field, uint32_t representation,
                         uint32_t position);
uint32_t nt_field_representations(const struct nt_dataset *dataset, uint32_t field);

/* Elements per row that surround a field within its nearest collection, variant or the data set: the product
 * of the repetitions of the arrays above it, outermost first in `dimensions` (up to `capacity`), own bitset
 * last. Returns the number of dimensions (0 for most fields). */
uint32_t nt_field_dimensions(const struct nt_dataset *dataset, uint32_t field, uint64_t *dimensions,
                             uint32_t capacity);

/* The nearest ancestor whose rows are not in step with the field's: a collection or a variant; else NT_NONE.
 */
uint32_t nt_field_row_parent(const struct nt_dataset *dataset, uint32_t field);

void nt_file_close(struct nt_file *file); /* accepts NULL */

#pragma GCC visibility pop

#endif
