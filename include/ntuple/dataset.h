/* SPDX-License-Identifier: MIT
 *
 * What a file holds: datasets with their trees of fields, and the columns that store these. Everything is
 * immutable after opening, and belongs to the nt_file.
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

#define NT_NONE UINT32_MAX

/* Structures that are given out as pointers may get more members at their end; nt_text and nt_dtype, which
 * lie in others, do not. */

/* ---- columns ---- */

struct nt_column {
    uint32_t id;             /* as the format numbers it; for most formats its index */
    uint32_t field;          /* index of the field that it belongs to */
    uint32_t representation; /* index of the representation, 0 first */
    uint32_t position;       /* its place within the representation: 0 principal, 1 ... */
    const char *type_name;   /* "SplitInt32"; for unknown types "unknown (0x2a)" */
    struct nt_dtype dtype;   /* of its decoded elements */
    uint32_t decoder;        /* number of one of the dataset's decoders */
    bool is_deferred;
    bool is_deferred_suppressed; /* first element negative */
    bool has_range;
    uint64_t first_element; /* index of the first element that is stored, else 0 */
    uint32_t physical;      /* number of the file's column that it is made of, where that is not itself */
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

/* The logical files that a field may have, and their elements. */
enum nt_stream_kind {
    NT_STREAM_DATA,    /* the field's own type */
    NT_STREAM_OFFSETS, /* int64 */
    NT_STREAM_TAGS,    /* uint32 */
    NT_STREAM_INDEX,   /* int64 */
    NT_STREAM_VALID,   /* bool */
    NT_STREAM_COUNT
};
const char *nt_stream_name(enum nt_stream_kind kind); /* "data", ... */

/* What a field is, and with that how its rows come from its columns. */
enum nt_field_kind {
    NT_FIELD_RECORD,         /* sub-fields side by side, a row of each for each of its rows */
    NT_FIELD_TUPLE,          /* the same; the sub-fields are known by their places: pair, tuple */
    NT_FIELD_ARRAY,          /* `repetition` rows of the only sub-field for each of its rows */
    NT_FIELD_WRAPPER,        /* the only sub-field under another name: enum, atomic */
    NT_FIELD_VALUE,          /* column 0: an element for each row, or as many as its dimensions say: bitset */
    NT_FIELD_STRING,         /* column 0: end offsets, column 1: bytes of text */
    NT_FIELD_STREAMED,       /* the same, bytes of an object */
    NT_FIELD_COLLECTION,     /* column 0: end offsets into the only sub-field */
    NT_FIELD_OPTIONAL,       /* the same, no or one item: optional, unique_ptr */
    NT_FIELD_DENSE_OPTIONAL, /* column 0: Bit, valid or not; the only sub-field has as many rows */
    NT_FIELD_VARIANT,        /* column 0: Switch; a sub-field for each alternative */
    NT_FIELD_CARDINALITY,    /* column 0: end offsets, shown as sizes */
    NT_FIELD_PAGE_BYTES,     /* column 0: bytes; each page is one row's value (BLZ object arrays) */
    NT_FIELD_MEMBER,         /* part of each element of a structure: `member_offset`, dtype's bytes */
    NT_FIELD_UNREADABLE,     /* see `unreadable` */
    NT_FIELD_NULL,           /* no columns: every row is null */
    NT_FIELD_JSON, /* column 0: end offsets, column 1: bytes of JSONB, shown as text of JSON in rows and tables */
    NT_FIELD_EMPTY, /* no columns: every row is bytes, none of them */
    NT_FIELD_KIND_COUNT
};
const char *nt_field_kind_name(enum nt_field_kind kind); /* "record", ... */

/* What a file says of a field under a key of its own. */
struct nt_property {
    struct nt_text key, value;
};

struct nt_field {
    uint32_t id;          /* as the format numbers it */
    uint32_t parent;      /* index, NT_NONE for top-level fields */
    uint32_t child_count; /* see nt_dataset_children */
    uint32_t column_count;
    uint32_t columns_per_representation;
    uint32_t source_field; /* index of the field that a projected field shows, else NT_NONE */
    enum nt_role role;     /* as RNTuple calls it; `kind` tells more */
    enum nt_field_kind kind;
    uint64_t repetition; /* of an array and of a value with dimensions: their product; else 0 */
    bool owns_columns;   /* false: the columns are another field's (projected): no column.<k> here */
    bool is_fortran_order;
    uint32_t dimension_count; /* of a row of a value: bitset, arrays of BLZ; one of 0: rows have nothing */
    const uint64_t *dimensions;
    uint64_t member_offset; /* NT_FIELD_MEMBER */
    struct nt_dtype dtype;  /* of the data file: the field's own type */
    struct nt_text name, type, description;
    const char *unreadable; /* why the data is not served, else NULL */
    /* Rows may be null, as the column behind those of its kind tells: Bit, valid or not, one for each row; never of
     * wrappers, optionals, variants. A row that is null has elements all the same: zeros, no items, no bytes, rows
     * of its sub-fields. `valid` of a sub-field is false where a record around it is null. */
    bool is_nullable;
    /* What the type says beyond that, in formats that have words for it: that rows may be null, whether or not the file
     * can tell of nulls, and whatever may be null around them; of strings and collections, that their bytes and items
     * are counted with 32 bits (the file of offsets has 64 all the same); that a collection is a map, of records of a
     * key and a value; and what the format calls an item, NULL where that has no name of its own. */
    bool is_declared_nullable, has_short_offsets, is_map;
    struct nt_text item_name;
    const struct nt_property *properties; /* in the order of the file */
    uint32_t property_count;
    /* A record that tells where the bytes of each row lie, in other files (Lance's blobs): `kind`, `position`, `size`, `blob_id`,
     * `blob_uri`. */
    bool is_description;
    bool is_scalar; /* the file has an array without dimensions: its only row */
};

/* ---- files ---- */

/* All functions of this header may be called from several threads at once, and in forked processes. Those that give out pointers and
 * texts give what belongs to the file and lives until it is closed; none of them reads from the source. */

/* What the file is called in messages: the path that it was opened with, or its source's name. */
const char *nt_file_path(const struct nt_file *file);

/* The file's datasets in the order in which they are stored: also those that could not be opened, older
 * cycles, and attribute sets. NULL past the last. */
uint32_t nt_file_dataset_count(const struct nt_file *file);
struct nt_dataset *nt_file_dataset(const struct nt_file *file, uint32_t index);

/* The dataset that a path leads to, its newest cycle: "Events", "directory/Events". The path is the one in
 * the mounted tree: names are separated by '/', and a byte of a name may be written as % and two hexadecimal
 * digits. A '/' in a name has to be (%2F), and so has a '%' before two such digits (%25); an empty name is
 * '%'. A certain cycle is named as "Events;2", an attribute set as "Events/attribute.NAME". NULL is the path
 * of the only dataset (attribute sets and older cycles not counted). NT_NOT_FOUND; NT_INVALID where NULL
 * does not say which one; where the dataset could not be opened, its failure. Compares the path with each
 * dataset's. */
NT_CHECKED enum nt_status nt_file_find(const struct nt_file *file, const char *path,
                                       struct nt_dataset **dataset_ret, struct nt_error *error);

/* Everything that was opened from the file has to be closed before, and forgotten by readers
 * (nt_reader_forget). Accepts NULL. */
void nt_file_close(struct nt_file *file);

/* ---- datasets ---- */

/* Why the dataset could not be opened; NULL where it was. Of one that was not, name, path and cycle can be
 * told, all numbers are 0 and all other texts empty. */
const struct nt_error *nt_dataset_failure(const struct nt_dataset *dataset);

struct nt_text nt_dataset_name(const struct nt_dataset *dataset);  /* as in the directory of the file */
struct nt_text nt_dataset_title(const struct nt_dataset *dataset); /* as the dataset calls itself */
struct nt_text nt_dataset_description(const struct nt_dataset *dataset);
struct nt_text nt_dataset_writer(const struct nt_dataset *dataset);  /* "ROOT v6.36.00" */
const char *nt_dataset_format(const struct nt_dataset *dataset);     /* "rntuple" */
const char *nt_dataset_version(const struct nt_dataset *dataset);    /* of the format: "1.0.2.0" */
const char *nt_dataset_generation(const struct nt_dataset *dataset); /* which rules it is read by */
uint32_t nt_dataset_cycle(const struct nt_dataset *dataset);         /* 0: the format has none */
/* How many entries there are: those that were chosen, where somebody chose. */
uint64_t nt_dataset_entries(const struct nt_dataset *dataset);

/* Entries that follow one another. */
struct nt_entry_range {
    uint64_t first, count;
};
/* Choose entries, in ascending order, each of them once: from then on rows, streams and what is made of them are those of the
 * chosen entries alone, one after the other, and items of lists go with the entries that they belong to. Columns,
 * clusters and pages stay as they are stored, and pages without a chosen entry are not read for the others. Once, before anything is
 * read of the dataset and threads share it. NT_INVALID where ranges do not ascend or leave the dataset, or for a second
 * choice. Takes 16 bytes for each run of entries between those that are chosen, and as many for each list that is looked at. */
NT_CHECKED enum nt_status nt_dataset_select(struct nt_dataset *dataset, const struct nt_entry_range *ranges,
                                            size_t count, struct nt_error *error);
bool nt_dataset_has_selection(const struct nt_dataset *dataset);
uint64_t nt_dataset_stored_entries(const struct nt_dataset *dataset); /* whether they were chosen or not */

/* The dataset that this one is a linked attribute set of, else NULL. */
struct nt_dataset *nt_dataset_attribute_of(const struct nt_dataset *dataset);

/* The path by which nt_file_find finds the dataset (the first of equal ones), into `text` of `capacity`
 * bytes: cut and ended with NUL as by snprintf. Returns its length, 0 without memory. */
size_t nt_dataset_path(const struct nt_dataset *dataset, char *text, size_t capacity);

/* ---- the fields and columns of a dataset ---- */

/* Fields and columns are known by their index. NULL past the last. */
uint32_t nt_dataset_field_count(const struct nt_dataset *dataset);
const struct nt_field *nt_dataset_field(const struct nt_dataset *dataset, uint32_t index);
uint32_t nt_dataset_column_count(const struct nt_dataset *dataset);
const struct nt_column *nt_dataset_column(const struct nt_dataset *dataset, uint32_t index);

/* The field that a path leads to: "weight", "muons/_0/pt". Names are written as for nt_file_find. Where the
 * path has no '/', dots may stand between the names instead: "muons._0.pt"; a dot that belongs to a name is
 * then written as %2E, and NT_INVALID is returned where the path could mean two fields. Of fields with one
 * name the first is meant. NT_NOT_FOUND; of a dataset that could not be opened, its failure. Compares with
 * the names of all fields beside those on the way. */
NT_CHECKED enum nt_status nt_dataset_find(const struct nt_dataset *dataset, const char *path,
                                          uint32_t *field_ret, struct nt_error *error);

/* The path by which nt_dataset_find finds the field, handed out as by nt_dataset_path. */
size_t nt_field_path(const struct nt_dataset *dataset, uint32_t field, char *text, size_t capacity);

/* Whether a field has such a stream. */
bool nt_field_has_stream(const struct nt_field *field, enum nt_stream_kind kind);

/* Indices of the children of a field (NT_NONE: the top-level fields). */
const uint32_t *nt_dataset_children(const struct nt_dataset *dataset, uint32_t field, uint32_t *count_ret);

/* The column at (representation, position) of a field, as index into columns; NT_NONE where it has none. */
uint32_t nt_field_column(const struct nt_dataset *dataset, uint32_t field, uint32_t representation,
                         uint32_t position);

/* The dimensions of a field's row within its nearest collection, variant or the dataset: those of the arrays
 * around it, outermost first, then its own, the first `capacity` of them. Returns how many there are (0 for
 * most fields). */
uint32_t nt_field_dimensions(const struct nt_dataset *dataset, uint32_t field, uint64_t *dimensions,
                             uint32_t capacity);

/* ---- pages ---- */

/* A page of a column, given out by nt_column_page and to nt_reader_options.on_failure: how many elements it
 * has, where in the file that holds it its stored bytes begin, and how many these are, without their
 * checksum. */
uint32_t nt_page_elements(const struct nt_page *page);
uint64_t nt_page_offset(const struct nt_page *page);
uint64_t nt_page_stored_bytes(const struct nt_page *page);

NT_API_END

#endif
