/* SPDX-License-Identifier: MIT
 *
 * The contents of a file: datasets with their trees of fields, and the columns that store them.
 * Everything is immutable after opening and belongs to the nt_file.
 */
#ifndef NTUPLE_DATASET_H
#define NTUPLE_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntuple/api.h>
#include <ntuple/element.h>
#include <ntuple/error.h>
#include <ntuple/text.h>

NT_API_BEGIN

struct nt_file;
struct nt_dataset;
struct nt_page;
struct nt_column_extra;
struct nt_field_extra;

#define NT_NONE UINT32_MAX

/* Structures that functions return by pointer may grow at the end. nt_text and nt_dtype are members of
 * other structures and never grow. */

/* ---- columns ---- */

struct nt_column {
    uint32_t id;                         /* the format's number; for most formats the index */
    uint32_t field;                      /* index of the field that owns the column */
    uint32_t representation;             /* index of the representation, 0 first */
    uint32_t position;                   /* position within the representation: 0 principal, 1 ... */
    const char *type_name;               /* "SplitInt32"; for unknown types "unknown (0x2a)" */
    struct nt_dtype dtype;               /* of the decoded elements */
    uint32_t decoder;                    /* index into the dataset's decoders */
    uint32_t physical;                   /* number of the file's column with the data, if it is another one */
    const struct nt_column_extra *extra; /* private: see nt_column_is_deferred and below */
};

/* ---- fields ---- */

/* The structural role of a field (RNTuple's specification, "Header Envelope"). */
enum nt_role {
    NT_ROLE_PLAIN,
    NT_ROLE_COLLECTION,
    NT_ROLE_RECORD,
    NT_ROLE_VARIANT,
    NT_ROLE_STREAMED,
    NT_ROLE_COUNT
};

/* The logical files that a field may have, and their element types. */
enum nt_stream_kind {
    NT_STREAM_DATA,    /* the field's own type */
    NT_STREAM_OFFSETS, /* int64 */
    NT_STREAM_TAGS,    /* uint32 */
    NT_STREAM_INDEX,   /* int64 */
    NT_STREAM_VALID,   /* bool */
    NT_STREAM_COUNT
};
/* The name of the stream's file without ".bin": "data". Static. `kind` is below NT_STREAM_COUNT. */
const char *nt_stream_name(enum nt_stream_kind kind);

/* The kind of a field, which defines how columns store its rows. */
enum nt_field_kind {
    NT_FIELD_RECORD,         /* sub-fields side by side; a row has one row of each */
    NT_FIELD_TUPLE,          /* the same, with sub-fields known by position: pair, tuple */
    NT_FIELD_ARRAY,          /* a row has `repetition` rows of the only sub-field */
    NT_FIELD_WRAPPER,        /* the only sub-field under another name: enum, atomic */
    NT_FIELD_VALUE,          /* column 0: one element per row, or one per item of its dimensions */
    NT_FIELD_STRING,         /* column 0: end offsets, column 1: bytes of text */
    NT_FIELD_STREAMED,       /* the same, bytes of an object */
    NT_FIELD_COLLECTION,     /* column 0: end offsets into the only sub-field */
    NT_FIELD_OPTIONAL,       /* the same, zero or one item: optional, unique_ptr */
    NT_FIELD_DENSE_OPTIONAL, /* column 0: Bit, 1 for valid; the only sub-field has as many rows */
    NT_FIELD_VARIANT,        /* column 0: Switch; one sub-field per alternative */
    NT_FIELD_CARDINALITY,    /* column 0: end offsets, shown as sizes */
    NT_FIELD_PAGE_BYTES,     /* column 0: bytes; each page is a row's value (BLZ object arrays) */
    NT_FIELD_MEMBER,         /* part of each element of a structure: nt_field_member_offset */
    NT_FIELD_UNREADABLE,     /* see `unreadable` */
    NT_FIELD_NULL,           /* no columns: every row is null */
    NT_FIELD_JSON,           /* column 0: end offsets, column 1: JSONB, shown as JSON text */
    NT_FIELD_EMPTY,          /* no columns: every row is an empty byte string */
    /* Column 0: the number of items of each row, whose members are lists side by side: the sub-fields.
     * They have offsets of their own (a split collection of a TTree). */
    NT_FIELD_SPLIT_COLLECTION,
    NT_FIELD_KIND_COUNT
};
/* The name of a kind: "record". Static. `kind` is below NT_FIELD_KIND_COUNT. */
const char *nt_field_kind_name(enum nt_field_kind kind);

struct nt_field {
    uint32_t id;          /* the format's number */
    uint32_t parent;      /* index, NT_NONE for top-level fields */
    uint32_t child_count; /* see nt_dataset_children */
    uint32_t column_count;
    uint32_t columns_per_representation;
    enum nt_role role; /* the structural role; `kind` is more precise */
    enum nt_field_kind kind;
    uint64_t repetition;      /* of arrays, and of values with dimensions: their product; else 0 */
    bool owns_columns;        /* false: projected, the columns belong to another field */
    uint32_t dimension_count; /* of a row of a value: bitset, BLZ arrays; with a 0, rows are empty */
    const uint64_t *dimensions;
    struct nt_dtype dtype; /* of the data file: the field's own type */
    struct nt_text name;   /* of two fields "x" beside one another, the second is "x~2" */
    struct nt_text type, description;
    const char *unreadable; /* why the data cannot be read, else NULL */
    /* Rows may be null. One more column, after those of the kind, stores the validity: Bit, one per
     * row. Wrappers, optionals and variants never have it. A null row still has elements: zeros, no
     * items, no bytes, rows of its sub-fields. `valid` of a sub-field is false in null records. */
    bool is_nullable;
    bool is_map;                        /* a collection of records of a key and a value */
    const struct nt_field_extra *extra; /* private: see nt_field_source and below */
};

/* ---- files ---- */

/* Thread-safe, also in forked processes. Returned pointers and texts belong to the file and live until
 * it is closed. No function of this header reads from the source. */

/* The file's name in messages: the path that opened it, or the name of its source. */
const char *nt_file_path(const struct nt_file *file);

/* The file's datasets in storage order, including older cycles, attribute sets and those that failed to
 * open. NULL past the last. */
uint32_t nt_file_dataset_count(const struct nt_file *file);
struct nt_dataset *nt_file_dataset(const struct nt_file *file, uint32_t index);

/* Finds a dataset by its path, in its newest cycle: "Events", "directory/Events". Paths are those of
 * the mounted tree: '/' separates names, and % with two hexadecimal digits may replace a byte of a
 * name. It must replace a '/' in a name (%2F) and a '%' before two such digits (%25); an empty name is
 * '%'. "Events;2" names a cycle, "Events/attribute.NAME" an attribute set. "Events~2" is a dataset Events
 * beside a directory of this name, which is no dataset. NULL is the path of the only dataset (ignoring
 * attribute sets, older cycles, and TTrees in a file with RNTuples). NT_NOT_FOUND; NT_INVALID if NULL is
 * ambiguous; the failure of a dataset that did not open. Compares the path with that of each dataset.
 */
NT_CHECKED enum nt_status nt_file_find(const struct nt_file *file, const char *path,
                                       struct nt_dataset **dataset_ret, struct nt_error *error);

/* The file to read from, which belongs to `file`: another one if `file` is a chain that was opened with an
 * index (nt_file_open_chain), else `file` itself. Datasets and fields have equal numbers in both. Opens files
 * at the first call, in several threads; later calls cost nothing. Any thread. */
NT_CHECKED enum nt_status nt_file_resolve(struct nt_file *file, struct nt_file **resolved_ret,
                                          struct nt_error *error);

/* First close everything that was opened from the file, and call nt_reader_forget for each reader of
 * it. No other thread may use the file. Accepts NULL. */
void nt_file_close(struct nt_file *file);

/* ---- datasets ---- */

/* Why the dataset failed to open; NULL if it opened. A failed dataset has only its name, path and
 * cycle; all numbers are 0 and all other texts empty. */
const struct nt_error *nt_dataset_failure(const struct nt_dataset *dataset);

struct nt_text nt_dataset_name(const struct nt_dataset *dataset);  /* as in the directory of the file */
struct nt_text nt_dataset_title(const struct nt_dataset *dataset); /* the dataset's own name */
struct nt_text nt_dataset_description(const struct nt_dataset *dataset);
struct nt_text nt_dataset_writer(const struct nt_dataset *dataset);  /* "ROOT v6.36.00" */
const char *nt_dataset_format(const struct nt_dataset *dataset);     /* "rntuple" */
const char *nt_dataset_version(const struct nt_dataset *dataset);    /* of the format: "1.0.2.0" */
const char *nt_dataset_generation(const struct nt_dataset *dataset); /* rules that apply to it */
uint32_t nt_dataset_cycle(const struct nt_dataset *dataset);         /* 0 if the format has no cycles */
/* The number of entries; with a selection, of selected entries. */
uint64_t nt_dataset_entries(const struct nt_dataset *dataset);

/* A run of consecutive entries. */
struct nt_entry_range {
    uint64_t first, count;
};
/* Selects entries, in ascending order and without repetition. From then on rows, streams and everything
 * built from them have these entries only, with the items of their lists. Columns, clusters and pages
 * stay as stored; reads skip pages without selected entries. Call it once, before reading the dataset
 * and before threads share it. NT_INVALID if ranges do not ascend or leave the dataset, or for a second
 * selection. Uses 16 bytes per run of selected entries, and as many for each list read. */
NT_CHECKED enum nt_status nt_dataset_select(struct nt_dataset *dataset, const struct nt_entry_range *ranges,
                                            size_t count, struct nt_error *error);
bool nt_dataset_has_selection(const struct nt_dataset *dataset);
uint64_t nt_dataset_stored_entries(const struct nt_dataset *dataset); /* selected or not */
/* The stored number of selected entry `entry`, which is below nt_dataset_entries; without a selection the
 * same number. */
uint64_t nt_dataset_selected_entry(const struct nt_dataset *dataset, uint64_t entry);

/* The dataset that links this one as an attribute set (RNTuple's specification, "Footer Envelope"), else
 * NULL. */
struct nt_dataset *nt_dataset_attribute_of(const struct nt_dataset *dataset);

/* Writes the path by which nt_file_find finds the dataset (the first of equal ones) into `text`, cut to
 * `capacity` and NUL-terminated as by snprintf. Returns its length, 0 without memory. */
size_t nt_dataset_path(const struct nt_dataset *dataset, char *text, size_t capacity);

/* ---- the fields and columns of a dataset ---- */

/* Fields and columns are identified by index. NULL past the last. */
uint32_t nt_dataset_field_count(const struct nt_dataset *dataset);
const struct nt_field *nt_dataset_field(const struct nt_dataset *dataset, uint32_t index);
uint32_t nt_dataset_column_count(const struct nt_dataset *dataset);
const struct nt_column *nt_dataset_column(const struct nt_dataset *dataset, uint32_t index);

/* Finds a field by its path: "weight", "muons/_0/pt". Names are written as for nt_file_find. A path
 * without '/' may use dots instead: "muons._0.pt"; a dot within a name is then %2E, and NT_INVALID is
 * returned if the path could mean two fields.
 * NT_NOT_FOUND; the failure of a dataset that did not open. Compares with the names of all siblings
 * along the path. */
NT_CHECKED enum nt_status nt_dataset_find(const struct nt_dataset *dataset, const char *path,
                                          uint32_t *field_ret, struct nt_error *error);

/* Finds the fields that a path or pattern means, in the order of the schema: "Muon_*", "muons/_0/p?". The
 * names of a pattern may have '*', '?' and [a-z]; "**" stands for any number of names. A path that
 * nt_dataset_find finds means that field only. Items of collections may be omitted, as in schemas:
 * "muons/pt"; and if nothing else matches, so may the fields above. Stores the first `capacity` fields and
 * their total number. NT_NOT_FOUND if there are none, with a similar name if there is one. Compares with
 * the names of all fields. */
NT_CHECKED enum nt_status nt_dataset_match(const struct nt_dataset *dataset, const char *pattern,
                                           uint32_t *fields, uint32_t capacity, uint32_t *count_ret,
                                           struct nt_error *error);

/* The path by which nt_dataset_find finds the field; `text` works as in nt_dataset_path. */
size_t nt_field_path(const struct nt_dataset *dataset, uint32_t field, char *text, size_t capacity);

/* Does the field have this stream? Reads nothing. */
bool nt_field_has_stream(const struct nt_field *field, enum nt_stream_kind kind);

/* What only one format can express. Fields and columns of other formats have the default: false, 0,
 * NT_NONE, no text. These functions never fail. Any thread may call them. Texts belong to the file. */

/* RNTuple (specification, "Projected fields"): the index of the field that a projected field shows; else
 * NT_NONE. */
uint32_t nt_field_source(const struct nt_field *field);
/* RNTuple ("Column Description", flag 0x01): a schema extension added the column. The elements before
 * nt_column_first_element are not stored. */
bool nt_column_is_deferred(const struct nt_column *column);
/* RNTuple: the column began suppressed, as its stored first element index is negative. */
bool nt_column_begins_suppressed(const struct nt_column *column);
/* RNTuple: the index of the first stored element of a deferred column. */
uint64_t nt_column_first_element(const struct nt_column *column);
/* RNTuple ("Column Description", flag 0x02): the file stores the range of the values. */
bool nt_column_has_range(const struct nt_column *column);

/* BLZ (bloscpack's metadata: `order`): the items of a row are in column-major order. */
bool nt_field_is_fortran_order(const struct nt_field *field);
/* BLZ (`shape` of bcolz and bloscpack is empty): the file stores an array without dimensions. It is the
 * only row. */
bool nt_field_is_scalar(const struct nt_field *field);
/* BLZ (structured dtypes of NumPy): the offset in bytes of an NT_FIELD_MEMBER within each element. Its
 * size is that of `dtype`. */
uint64_t nt_field_member_offset(const struct nt_field *field);
/* Lance (Field.nullable in file.proto): the schema allows nulls, whether the file stores some or not. */
bool nt_field_is_declared_nullable(const struct nt_field *field);
/* Lance (Field.logical_type in file.proto): a string or a list of Arrow with 32-bit offsets. The offsets
 * file has 64-bit ones. */
bool nt_field_has_short_offsets(const struct nt_field *field);
/* Lance (Field.name in file.proto): the stored name of a list's item; without bytes if there is none.
 * `name` is "item". */
struct nt_text nt_field_item_name(const struct nt_field *field);
/* Lance (blob columns): a record with the position of each row's bytes in other files: `kind`,
 * `position`, `size`, `blob_id`, `blob_uri`. */
bool nt_field_is_description(const struct nt_field *field);
/* Lance (Field.metadata in file.proto): a key and a value that the file stores for a field: any bytes. */
struct nt_property {
    struct nt_text key, value;
};
/* The properties of a field, in file order. They belong to the file. */
const struct nt_property *nt_field_properties(const struct nt_field *field, uint32_t *count_ret);

/* Indices of the children of a field (NT_NONE: the top-level fields), in the order of the schema. They
 * belong to the file. */
const uint32_t *nt_dataset_children(const struct nt_dataset *dataset, uint32_t field, uint32_t *count_ret);

/* The index of the column at (representation, position) of a field; NT_NONE if there is none. */
uint32_t nt_field_column(const struct nt_dataset *dataset, uint32_t field, uint32_t representation,
                         uint32_t position);

/* The dimensions of a field's row within its nearest collection, its nearest variant or the dataset:
 * those of the arrays around it, outermost first, then its own. The item of a value with dimensions has
 * its own only. Stores the first `capacity` of them and returns their total number (0 for most
 * fields). */
uint32_t nt_field_dimensions(const struct nt_dataset *dataset, uint32_t field, uint64_t *dimensions,
                             uint32_t capacity);

/* ---- pages ---- */

/* A page of a column, from nt_column_page or nt_reader_options.on_failure: its number of elements, and
 * the offset and size in bytes of what is stored of it in the file that contains it, without the
 * checksum (RNTuple's specification, "Page Locations"). */
uint32_t nt_page_elements(const struct nt_page *page);
uint64_t nt_page_offset(const struct nt_page *page);
uint64_t nt_page_stored_bytes(const struct nt_page *page);

NT_API_END

#endif
