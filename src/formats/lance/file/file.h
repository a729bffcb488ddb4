/* SPDX-License-Identifier: MIT
 *
 * An open Lance file: metadata, schema, encodings, physical columns and documents. This header also
 * declares the entry points of legacy/, so that this directory need not include the header of legacy/.
 */
#pragma once

#include <ntuple/source.h>

#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/io/source.h"
#include "core/model/budget.h"
#include "core/model/builder.h"
#include "core/model/model.h"
#include "formats/lance/decode/decode.h"
#include "formats/lance/file/messages.h"

/* ---- Open files ---- */

enum { NT_LANCE_TAIL_BYTES = 40, NT_LANCE_LEGACY_TAIL_BYTES = 16 };

struct nt_lance_tail {
    uint64_t offset;        /* start of the tail, the last 40 bytes */
    uint64_t columns_start; /* column metadata are between here and the column table */
    uint64_t column_table;  /* an offset and a size for each column */
    uint64_t global_table;  /* an offset and a size for each global buffer */
    uint32_t globals, columns;
    uint16_t major, minor; /* as stored */
    const char *version;   /* as Lance documents it: "2.0" (also for (0, 3)), "2.1", ... */
    bool is_legacy;        /* 0.1, 0.2: of the above, only `offset` (size - 16) and `version` are set */
    uint64_t metadata;     /* legacy: offset of the Metadata message */
};

/* Is it a file of 2.0? There, lists and structs have columns of their own, and the column of a list's
 * items has one row for each item. */
static inline bool nt_lance_has_item_columns(const struct nt_lance_tail *tail)
{
    return tail->major < 2 || tail->minor == 0;
}

/* The type of the message that describes the encoding of a page. */
enum nt_lance_encoding_kind {
    NT_LANCE_ENCODING_IS_UNKNOWN, /* `type_url` has the type */
    NT_LANCE_ENCODING_IS_ARRAY,   /* 2.0: an ArrayEncoding */
    NT_LANCE_ENCODING_IS_LAYOUT,  /* 2.1, 2.2: a PageLayout */
    NT_LANCE_ENCODING_IS_COLUMN,  /* of columns: a ColumnEncoding */
};

struct nt_lance_page {
    const struct nt_lance_buffer *buffers; /* each within the file */
    uint32_t buffer_count;
    enum nt_lance_encoding_kind encoding_kind;
    uint64_t length;          /* rows; in item columns of 2.0: items */
    uint32_t lists;           /* layers that are lists; 0 in 2.0 */
    uint64_t priority;        /* the first top-level row; in 2.0 it may be relative to its batch */
    struct nt_proto encoding; /* the message in the Any; checked if its kind is known */
    struct nt_text type_url;  /* not NUL-terminated */
};

struct nt_lance_column {
    bool has_null_levels;            /* 2.1 or later: a page has definition levels for null values */
    struct nt_lance_buffer metadata; /* the range of its message */
    struct nt_proto message;         /* a ColumnMetadata */
    const struct nt_lance_page *pages;
    const struct nt_lance_buffer *buffers; /* of the column itself */
    uint32_t page_count, buffer_count;
    uint64_t rows;                  /* of all its pages */
    struct nt_proto encoding;       /* a ColumnEncoding; empty if there is none or it is unknown */
    struct nt_text type_url;        /* of the column's encoding; not NUL-terminated */
    bool is_blob;                   /* 2.0: its values are descriptors of blobs in the file */
    const struct nt_error *failure; /* NULL, or why it cannot be decoded: unknown page encodings */
};

enum { NT_LANCE_NO_ID = -1 };

struct nt_lance_field {
    int32_t id;      /* NT_LANCE_NO_ID: it is a member of its parent, a description of a blob */
    uint32_t parent; /* index of an earlier field; NT_NONE: top-level */
    struct nt_text name, logical_type;
    bool is_nullable;
    bool is_description;     /* a structure that locates a blob */
    struct nt_proto message; /* a Field, with all other attributes */
};

struct nt_lance_schema {
    const struct nt_lance_field *fields; /* depth first: parents before their children */
    uint32_t field_count;
    /* Properties of a file, or of all files of a dataset: */
    bool is_legacy;        /* only strings can be null, and structures are never packed */
    bool has_item_columns; /* legacy or version 2.0: each field has a column */
    bool has_byte_columns; /* previews of 2.0: strings have two columns: their ends, then their bytes */
    /* Set by nt_lance_lay_out_schema, by field */
    const struct nt_lance_field_layout *layouts;
    const struct nt_lance_value *values;
    const struct nt_lance_model_field *parts; /* by field of the model */
    const char **refusals; /* datasets, by field: NULL, or why unsupported; NULL: none is */
};

/* The column that stores a field of the schema. */
struct nt_lance_leaf {
    uint32_t field;  /* the field with the column: itself or its first such descendant; NT_NONE */
    uint32_t column; /* of the file */
    uint32_t file;   /* datasets: index of the data file in the fragment */
};

/* The memory of the description of a Lance file: the nt_file's arena, or one that is freed earlier. */
struct nt_lance_memory {
    struct nt_file *file;
    struct nt_arena *arena;
    uint64_t taken; /* bytes reserved in the nt_file's budget */
};

/* Calls nt_budget_take and adds the bytes to memory->taken. */
enum nt_status nt_lance_take(struct nt_lance_memory *memory, enum nt_cost cost, uint64_t count,
                             uint64_t offset, struct nt_error *error);

/* A Lance file. If a file is mounted alone, this is the nt_dataset's format_data. */
struct nt_lance {
    struct nt_lance_memory *memory;
    struct nt_source *source;
    uint64_t size;   /* of the source */
    uint32_t number; /* index of the source in the dataset */
    struct nt_lance_tail tail;
    const struct nt_lance_buffer *globals; /* tail.globals of them, at least one */
    const struct nt_lance_column *columns; /* tail.columns of them */
    struct nt_lance_schema schema;         /* the schema of this file */
    const struct nt_lance_leaf *leaves;    /* by field of that schema */
    struct nt_proto descriptor; /* a FileDescriptor: global buffer 0; legacy: the file's Manifest */
    uint64_t rows;
    const struct nt_lance_legacy *legacy; /* NULL: not a legacy file */
};

static inline const struct nt_lance *nt_lance_of(const struct nt_dataset *dataset)
{
    return dataset->format_data;
}

/* Finds the value of a key in a map of a message (NT_LANCE_FIELD_METADATA of a Field). Returns false if
 * the key is absent. The value is not NUL-terminated. */
bool nt_lance_find_entry(struct nt_proto message, uint32_t map, const char *key, struct nt_text *value_ret);
/* Reads all entries of a map into the file's arena. */
enum nt_status nt_lance_read_entries(struct nt_file *file, struct nt_proto message, uint32_t map,
                                     const struct nt_property **properties_ret, uint32_t *count_ret,
                                     struct nt_error *error);

/* ---- Open legacy files ---- */

/* The page of a field in a batch. Structures have no page: both members are 0. */
struct nt_lance_cell {
    uint64_t offset;
    uint64_t length; /* elements; lists: rows + 1; strings: rows, with rows + 1 offsets */
};

struct nt_lance_page_table {
    uint64_t offset; /* of the table in the file */
    int32_t first;   /* the id of its first field */
    uint32_t fields; /* number of fields; their ids are consecutive */
    uint32_t batches;
    const struct nt_lance_cell *cells; /* batches of the first field, then of the next */
};

/* Returns the cells of a field, one for each batch, or NULL if the table does not contain the id. */
const struct nt_lance_cell *nt_lance_cells(const struct nt_lance_page_table *table, int32_t id);

enum nt_lance_page_kind {
    NT_LANCE_PAGE_NONE,       /* structures, nulls */
    NT_LANCE_PAGE_PLAIN,      /* consecutive values */
    NT_LANCE_PAGE_STRINGS,    /* 64-bit offsets in the file: each start, then the last end */
    NT_LANCE_PAGE_LISTS,      /* likewise offsets in the batch's items, of 32 or 64 bits */
    NT_LANCE_PAGE_DICTIONARY, /* indices of items, which all batches share */
};

/* The format of the pages of a field. */
struct nt_lance_page_format {
    enum nt_lance_page_kind kind;
    uint32_t bits; /* of each element */
    struct {
        uint64_t offset, length; /* as in a cell; the items are plain or strings */
    } dictionary;
    const struct nt_error *failure; /* NULL, or why its pages cannot be read */
};

/* Statistics of pages: columns of a separate schema, with a row for each batch of the file. Each field
 * with statistics has a structure, whose name is the field's id. The statistics are one batch with a
 * page table of their own. */
struct nt_lance_statistics {
    struct nt_lance_schema schema; /* without fields if there are no statistics */
    struct nt_lance_page_table table;
    const struct nt_lance_page_format *pagings; /* by field of that schema */
    const struct nt_error *failure; /* NULL, or why they cannot be read; then the above is empty */
};

struct nt_lance_legacy {
    struct nt_lance_buffer metadata_range; /* of the message, without its length prefix */
    struct nt_proto metadata;              /* a Metadata */
    const uint64_t *batches; /* table.batches + 1: the first row of each batch, and the row count */
    struct nt_lance_page_table table;
    const struct nt_lance_page_format *pagings; /* by field of the file's schema */
    struct nt_lance_statistics statistics;
};

/* The length prefix of a message. */
enum { NT_LANCE_LENGTH_BYTES = 4 };

/* ---- Read metadata bytes ---- */

/* Reads bytes of a Lance file into its memory. The range must be within the source. */
enum nt_status nt_lance_read_bytes(const struct nt_lance *lance, const struct nt_lance_buffer *range,
                                   uint8_t **bytes_ret, struct nt_error *error);

/* ---- Column metadata ---- */

/* Returns the type of the message in an Any with this URL. */
enum nt_lance_encoding_kind nt_lance_encoding_kind(struct nt_text type_url);
/* Returns the table of a message; NULL if the kind is unknown. */
const struct nt_proto_table *nt_lance_encoding_table(enum nt_lance_encoding_kind kind);

/* Returns the number of the layout that a page of 2.1 or later has, and its message; 0 for other pages.
 * For blobs this is the layout of their descriptors. */
uint32_t nt_lance_page_layout_kind(const struct nt_lance_page *page, struct nt_proto *member_ret);
/* Is a page of 2.0 a page of lists? If its values are strings, the next column has their bytes. */
bool nt_lance_has_lists(const struct nt_lance_page *page);
/* Does a page of 2.1 or later contain descriptors of blobs, which are elsewhere in the file? */
bool nt_lance_has_descriptors(const struct nt_lance_page *page);

/* ---- Offset tables and global buffers ---- */

/* nt_format.recognize. */
enum nt_status nt_lance_recognize(struct nt_source *source, struct nt_error *error);

/* Reads tail, tables, descriptor and column metadata of a source; `number` is its index in the dataset.
 * It does not read the fields of the schema (see nt_lance_read_schema), except for legacy files, whose
 * metadata it reads completely into lance->legacy, always in the nt_file's arena. Returns
 * NT_NOT_THIS_FORMAT, NT_UNSUPPORTED, NT_CORRUPT or NT_LIMIT. */
enum nt_status nt_lance_read(struct nt_lance_memory *memory, struct nt_source *source, uint32_t number,
                             struct nt_lance *lance, struct nt_error *error);

/* ---- Metadata of legacy files ---- */

/* Reads the Metadata of a file whose source, size and tail are known, its Manifest with fields and
 * layouts, and its page table. Each field is a column of the file. Returns NT_UNSUPPORTED if there is no
 * manifest. Memory comes from the nt_file's arena and counts against its budget. */
enum nt_status nt_lance_legacy_read(struct nt_file *file, struct nt_lance *lance, struct nt_error *error);

/* Returns the index of the field with this id, which is also the index of its column, or NT_NONE. */
uint32_t nt_lance_find_id(const struct nt_lance_schema *schema, int32_t id);

/* ---- Fields of a schema ---- */

/* A message and its offset in the file. */
struct nt_lance_message {
    struct nt_proto message;
    uint64_t offset;
};

/* Checks lance->descriptor, which is in the first of lance->globals, and sets rows. */
enum nt_status nt_lance_read_descriptor(struct nt_lance *lance, struct nt_error *error);
/* Fills the fields; call it after nt_lance_read_descriptor. */
enum nt_status nt_lance_read_schema(struct nt_file *file, struct nt_lance *lance, struct nt_error *error);

/* Do a field's metadata map this key to "true"? */
bool nt_lance_is_marked(const struct nt_lance_field *field, const char *key);

/* Reads the fields in `list`, a checked message within `message`: its members with the number
 * NT_LANCE_SCHEMA_FIELDS. Memory comes from the file's arena and counts against its budget. */
enum nt_status nt_lance_read_fields(struct nt_file *file, const struct nt_lance_message *message,
                                    struct nt_proto list, struct nt_lance_schema *schema,
                                    struct nt_error *error);

/* ---- Tree builder ---- */

/* The shape of a column's values, which follows from their type. */
struct nt_lance_value {
    uint32_t bits;    /* of a value, 1 for booleans; 0: strings, or see `is_empty` */
    bool is_empty;    /* values without bytes: nulls, binaries of 0 bytes */
    bool is_nullable; /* according to the schema */
    bool is_packed;   /* rows of structures; with 0 bits they contain strings */
    uint32_t list_count;
    uint64_t lists[NT_LANCE_DEPTH]; /* sizes of the fixed-size lists around it, outermost first */
};

static inline bool nt_lance_is_string(const struct nt_lance_value *value)
{
    return !value->bits && !value->is_empty;
}

struct nt_encoding_tree_builder {
    struct nt_arena *scratch;     /* for what nodes point to, until the tree is kept */
    struct nt_encoding_tree tree; /* its layout selects the kind of messages; it gets the nodes at the end */
    struct nt_encoding_tree_node nodes[NT_LANCE_NODES];
    uint32_t count;
    const struct nt_lance_value *value; /* NULL: not values of the column, but levels or indices */
    uint32_t depth;                     /* fixed-size lists around the node to be added */
    bool are_rows_null;                 /* rows without a value are null */
    bool is_one_based;                  /* indices of dictionaries in array encodings */
    uint32_t buffers;                   /* of a mini-block's values: number used so far */
    struct nt_error *error;
};

/* Adds a node; the caller adds its children next. NT_LIMIT: too many nodes. */
enum nt_status nt_lance_add_node(struct nt_encoding_tree_builder *builder,
                                 const struct nt_encoding_tree_node *node);

/* Adds an ArrayEncoding, or else a CompressiveEncoding, as a node with its children. NT_UNSUPPORTED: the
 * encoding is unknown. */
enum nt_status nt_lance_add_encoding(struct nt_encoding_tree_builder *builder, struct nt_proto message);

/* ---- Page layouts ---- */

/* How to decode a page of the file. */
struct nt_lance_layout {
    const struct nt_encoding_tree *tree;
    /* Mini-blocks with a dictionary: the tree, the buffer of the page, and the number of items. */
    const struct nt_encoding_tree *dictionary;
    uint32_t dictionary_buffer;
    uint64_t dictionary_items;
    uint64_t index_depth; /* mini-blocks: list layers in the repetition index; 0: no index */
    uint64_t items;       /* mini-blocks and full zip: number of stored values */
    uint64_t list_items;  /* 2.0: number of items in the page's lists */
    bool is_blob;         /* the values are descriptors of blobs in the file */
    struct nt_encoding_tree
        blobs; /* blobs: the layers around them, read from the descriptors; all else is unset */
};

/* Returns NT_UNSUPPORTED for an unknown encoding, and NT_CORRUPT for encodings that do not fit each
 * other. `column` contains the page. If the tree is equal to the one in `known` (may be NULL), that one
 * is used. Memory comes from the file's arena. */
enum nt_status nt_lance_make_layout(struct nt_file *file, const struct nt_lance_column *column,
                                    const struct nt_lance_page *page, const struct nt_lance_value *value,
                                    bool is_dictionary_one_based, const struct nt_encoding_tree *known,
                                    struct nt_lance_layout *layout, struct nt_error *error);

/* ---- Logical types ---- */

enum nt_lance_shape {
    NT_LANCE_IS_VALUE,
    NT_LANCE_IS_TEXT,
    NT_LANCE_IS_BYTES,
    NT_LANCE_IS_LIST,
    NT_LANCE_IS_STRUCT,
    NT_LANCE_IS_STRUCT_LIST, /* fixed-size lists of structures; the structure is the child field */
    NT_LANCE_IS_NULL,
    NT_LANCE_IS_EMPTY, /* binaries of 0 bytes */
    NT_LANCE_IS_BLOB,
    NT_LANCE_IS_UNKNOWN,
};

struct nt_lance_type {
    enum nt_lance_shape shape; /* within the fixed-size lists, if any */
    struct nt_lance_value value;
    struct nt_dtype dtype; /* VALUE: of an element */
    const char *extension; /* Arrow extension type of fixed-size lists' items; else NULL */
    bool is_dictionary;
    bool has_short_offsets; /* TEXT, BYTES, LIST: 32-bit offsets */
    bool is_json;           /* BYTES: contains JSONB */
    bool is_map;            /* LIST: of key-value structures */
    uint64_t items;         /* STRUCT_LIST: items of each */
    uint32_t index_bits;    /* of a dictionary's indices; 0: unknown */
};

/* Parses a logical type; it is UNKNOWN if the text names no known type. Returns NT_LIMIT if fixed-size
 * lists are nested too deeply. Memory comes from the arena. */
enum nt_status nt_lance_parse_type(struct nt_arena *arena, struct nt_text text, struct nt_lance_type *type,
                                   struct nt_error *error);

/* ---- Schema layout ---- */

/* The layout of a field of Lance's schema. */
struct nt_lance_field_layout {
    struct nt_lance_type type;
    uint32_t depth; /* number of ancestors */
    uint32_t children;
    uint32_t packed;        /* the packed structure that contains it, NT_NONE */
    uint32_t member;        /* its index there, or NT_LANCE_INNER_MEMBER; packed structures: their number */
    uint64_t member_offset; /* its first byte there; packed structures: the end of all members */
    bool is_packed;
    bool has_strings;       /* it is a packed structure with string members */
    bool is_inner;          /* it is in a structure within a packed structure */
    bool is_in_list;        /* it is in a list within a packed structure, or is that list */
    bool is_in_struct_list; /* it is in a fixed-size list of structures, or is that list */
    bool has_struct_lists;  /* it is, or is in, a list around fixed-size lists of structures */
    bool is_blob_in_list;   /* it is a blob outside the column, within a list of any kind */
    bool is_memberless;     /* it is a structure without members, which has a column nevertheless */
    uint64_t multiple;      /* copies of it in a row around all fixed-size lists of structures */
};

/* What a field of the model shows: a field of Lance, or the items of fixed-size lists in it. */
struct nt_lance_model_field {
    uint32_t field;
    uint32_t depth; /* fixed-size lists around the field's rows, inside the layer */
    uint64_t items; /* rows in one row of the layer: the product of those lists' sizes */
};

/* What a field of the model reads from a column of a file. */
struct nt_lance_column_map {
    uint32_t column;                    /* of the file; NT_NONE: none */
    uint32_t layer;                     /* of that column's pages; 0 is the innermost */
    uint32_t depth;                     /* from nt_lance_model_field */
    uint64_t items;                     /* from nt_lance_model_field */
    uint64_t repeats;                   /* rows for one of the field: struct lists have items */
    uint32_t member;                    /* index in a packed structure */
    uint64_t member_offset;             /* bytes */
    bool is_one_based;                  /* 2.0: dictionary indices start at 1 */
    bool is_memberless;                 /* the column has structures without members */
    const struct nt_lance_value *value; /* of the column */
};

/* Computes the schema's layouts and values. Memory comes from the arena. */
enum nt_status nt_lance_lay_out_schema(struct nt_arena *arena, struct nt_lance_schema *schema,
                                       struct nt_error *error);

/* Gives the fields without a column one: that of a descendant or of the packed structure around them.
 * `leaves`, by field, are complete for the fields with a column. */
void nt_lance_inherit_leaves(const struct nt_lance_schema *schema, struct nt_lance_leaf *leaves);

/* Assigns columns to fields in the order of the fields, and returns the number of columns. */
enum nt_status nt_lance_number_columns(struct nt_arena *arena, const struct nt_lance_schema *schema,
                                       const struct nt_lance_leaf **leaves_ret, uint32_t *count_ret,
                                       struct nt_error *error);

/* Finds the column of each field in a file that is mounted alone, where columns are in the order of the
 * fields. Returns NT_CORRUPT if the file has more columns, or fewer. */
enum nt_status nt_lance_find_leaves(struct nt_arena *arena, struct nt_lance *lance, struct nt_error *error);

/* Checks that a column has as many rows as its file. From 2.1 on, every column has, whatever is nested
 * in it; columns in fixed-size lists of structures have as many rows as these have items. */
enum nt_status nt_lance_check_rows(const struct nt_lance_schema *schema, const struct nt_lance_leaf *leaf,
                                   const struct nt_lance *lance, struct nt_error *error);

/* Are the bytes of strings, whose ends a column has, in the column after it (previews of 2.0)? */
bool nt_lance_has_byte_column(const struct nt_lance *lance, uint32_t column);
/* Returns the column with the bytes of strings, for files where these are separate (previews of 2.0).
 * It is the column after the leaf's, which has the ends of the strings. NT_NONE: the field has another
 * type, or the file stores whole strings. */
uint32_t nt_lance_byte_column(const struct nt_lance *lance, const struct nt_lance_schema *schema,
                              const struct nt_lance_leaf *leaf);

/* Returns what a field of the model, which shows `part` of the schema, reads from a file. */
struct nt_lance_column_map nt_lance_map_column(const struct nt_lance_schema *schema,
                                               const struct nt_lance_leaf *leaf, bool has_item_columns,
                                               const struct nt_lance_model_field *part);
/* Returns the same for a file that is mounted alone. */
struct nt_lance_column_map nt_lance_map_own_column(const struct nt_lance *lance, uint32_t field);

/* ---- Prefetch ---- */

/* Adds the bytes that building a field's page list from a column reads and, `with_pages`, those of its
 * pages. */
void nt_lance_plan_column(const struct nt_lance *lance, const struct nt_field *field, uint32_t column,
                          bool with_pages, struct nt_prefetch *prefetch);

/* ---- Fields of the model ---- */

/* The encoding of elements that need no tree. */
enum nt_encoding_kind nt_lance_encoding_of(enum nt_element element);

/* Fills the dataset's fields and columns from a schema whose layouts are known; sets schema->parts.
 * `leaves`, by field of the schema, come from nt_lance_number_columns. `lance` is the file that is
 * mounted alone, or NULL for a dataset, where each file has its own columns. */
enum nt_status nt_lance_build_fields(struct nt_dataset *dataset, struct nt_lance_schema *schema,
                                     const struct nt_lance_leaf *leaves, const struct nt_lance *lance,
                                     struct nt_error *error);

/* ---- Page lists ---- */

/* Fills a field's group with the pages that `column_map` selects from a file. To count lists or strings, it
 * reads the column once, chunk by chunk. */
enum nt_status nt_lance_fill_group(struct nt_dataset *dataset, uint32_t group, const struct nt_lance *lance,
                                   const struct nt_lance_column_map *column_map, struct nt_error *error);

/* nt_dataset_ops.load_group for a file that is mounted alone. */
enum nt_status nt_lance_load_group(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);

/* nt_dataset_ops.unverified_elements, of the file of a part. */
bool nt_lance_known_elements(const struct nt_dataset *dataset, const struct nt_lance *lance, uint32_t field,
                             const struct nt_lance_column_map *column_map, uint32_t position,
                             uint64_t *elements_ret);

/* ---- Page lists of legacy files ---- */

/* Fills a field's group with the pages that `column_map` selects from a file; `column_map->column` is the
 * index of the file's field. Returns NT_UNSUPPORTED if that field's type differs from the dataset's. */
enum nt_status nt_lance_legacy_fill_group(struct nt_dataset *dataset, uint32_t group,
                                          const struct nt_lance *lance,
                                          const struct nt_lance_column_map *column_map,
                                          struct nt_error *error);

/* ---- Column contents ---- */

/* What a column of the physical datasets shows of a column of the file. */
enum nt_lance_content {
    NT_LANCE_HAS_VALUES,      /* of fixed width */
    NT_LANCE_HAS_BYTES,       /* of strings */
    NT_LANCE_HAS_ROWS,        /* packed structures */
    NT_LANCE_HAS_DESCRIPTORS, /* descriptors of blobs */
    NT_LANCE_HAS_LIST_ENDS,   /* 2.0: ends of lists, relative to their page */
    NT_LANCE_HAS_NOTHING,     /* nothing decodable */
    NT_LANCE_HAS_ENDS,        /* structure: ends of strings, relative to their page */
    NT_LANCE_HAS_LEVELS,      /* structure: repetition and definition levels */
    NT_LANCE_CONTENT_COUNT
};
enum nt_lance_content nt_lance_content_of(const struct nt_column *column);

/* ---- Find the file page ---- */

/* The column of a file that stores a part of a field. */
struct nt_lance_physical_column {
    const struct nt_lance *lance; /* NULL: none */
    struct nt_lance_column_map column_map;
    /* Only in datasets: */
    const char *name; /* of the file, relative to the dataset's directory; NULL: mounted alone */
    uint64_t fragment;
};

/* What both physical datasets share; their format_data. */
struct nt_lance_physical {
    const struct nt_lance_schema *schema;
    const struct nt_lance_leaf *leaves; /* by field of that schema: the columns of `physical` */
    bool has_levels;                    /* some files have columns with levels */
    /* Finds the column of a part of a field. In a dataset the result is valid until the next call. The
     * caller holds the dataset's lock. */
    enum nt_status (*find_physical_column)(struct nt_dataset *dataset, uint32_t field, uint32_t part,
                                           struct nt_lance_physical_column *physical_column_ret,
                                           struct nt_error *error);
};

static inline const struct nt_lance_physical *nt_lance_physical_of(const struct nt_dataset *dataset)
{
    return dataset->format_data;
}

/* Returns the file's page for a page of `physical` in a loaded group, or NULL. The caller holds the
 * dataset's lock. */
const struct nt_lance_page *nt_lance_file_page(const struct nt_dataset *physical, uint32_t column,
                                               const struct nt_page *page,
                                               struct nt_lance_physical_column *physical_column_ret);

/* ---- Physical datasets ---- */

/* Adds the physical datasets to a dataset. The id of each of their columns is the index of the column
 * of `physical`. */
enum nt_status nt_lance_add_physical_of(struct nt_dataset *dataset,
                                        const struct nt_lance_physical *physical_view,
                                        struct nt_error *error);

/* A member of nt_dataset_ops for a file that is mounted alone. */
enum nt_status nt_lance_add_physical(struct nt_dataset *dataset, struct nt_error *error);

/* ---- File metadata ---- */

/* nt_file.describe, for the first dataset. */
enum nt_status nt_lance_describe_file(const struct nt_file *file, struct nt_json *json,
                                      struct nt_error *error);

/* Puts members of an object: the range of a message (NULL: reported elsewhere) and its contents. */
void nt_lance_put_message(struct nt_json *json, struct nt_proto message, const struct nt_proto_table *table,
                          const struct nt_lance_buffer *range);

/* Puts tail, tables, schema, global buffers, metadata of columns and the columns' own buffers. */
enum nt_status nt_lance_layout_put_metadata(const struct nt_lance *lance,
                                            const struct nt_layout_output *output);

/* ---- Columns and pages ---- */

/* Members of nt_dataset_ops for the physical dataset. */
void nt_lance_describe_column(const struct nt_dataset *physical, uint32_t column, struct nt_json *json);
enum nt_status nt_lance_describe_page(const struct nt_dataset *physical, uint32_t column,
                                      const struct nt_page *page, struct nt_json *json);

/* Describes a page that is built from a column of a file. */
enum nt_status nt_lance_describe_page_of(const struct nt_dataset *dataset, const struct nt_lance *lance,
                                         uint32_t file_column, const struct nt_page *page,
                                         struct nt_json *json);

/* ---- Columns of legacy files ---- */

/* Puts the owners of all bytes that are not in pages. */
enum nt_status nt_lance_legacy_lay_out(const struct nt_lance *lance, const struct nt_layout_output *output,
                                       struct nt_error *error);

/* Members of nt_dataset_ops. */
void nt_lance_legacy_describe_column(const struct nt_dataset *dataset, uint32_t column, struct nt_json *json);
enum nt_status nt_lance_legacy_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                             const struct nt_page *page, struct nt_json *json);

/* Describes a page that is built from the field of a file with this id. */
enum nt_status nt_lance_legacy_describe_page_of(const struct nt_dataset *dataset,
                                                const struct nt_lance *lance, int32_t id,
                                                const struct nt_page *page, struct nt_json *json);

/* ---- Owners of byte ranges ---- */

enum nt_status nt_lance_lay_out_file(const struct nt_lance *lance, const struct nt_layout_output *output,
                                     struct nt_error *error);

/* Puts all buffers of a column's pages, with an owner of their own. */
enum nt_status nt_lance_layout_put_column(const struct nt_lance_column *column,
                                          const struct nt_layout_output *output, const char *owner);
/* Puts the columns with only the bytes of strings, for a file that is mounted alone. */
enum nt_status nt_lance_layout_put_bytes(const struct nt_lance *lance, const struct nt_layout_output *output);

/* ---- Verify repetition indexes ---- */

/* See `check` of nt_file. */
enum nt_status nt_lance_check(const struct nt_file *file, nt_failure_emit *emit, void *context,
                              struct nt_error *error);

/* ---- Texts that are written item by item ---- */

struct nt_lance_text;

/* Writes the next item or a part of it. Increments `next` after the last part. */
typedef enum nt_status nt_lance_write_item(struct nt_lance_text *text, struct nt_buffer *out,
                                           struct nt_error *error);

struct nt_lance_text {
    struct nt_text_generator base;
    const struct nt_dataset *dataset;
    nt_lance_write_item *write;
    uint64_t next, count; /* items */
    uint32_t part;        /* of the next item */
    size_t end;           /* of the current piece of text; what follows can wait */
    struct nt_json json;  /* of a document that is one object */
};

/* Creates a text of `count` items. `share` as in nt_text_generator; NULL: unknown. */
enum nt_status nt_lance_open_text(const struct nt_dataset *dataset, uint64_t count,
                                  nt_lance_write_item *write,
                                  double (*share)(const struct nt_text_generator *text),
                                  struct nt_text_generator **text_ret, struct nt_error *error);

/* ---- Documents of a file ---- */

extern const struct nt_document nt_lance_documents[];
extern const uint32_t nt_lance_document_count;

/* Footer and schema, also of legacy files; members of nt_document. */
enum nt_status nt_lance_write_footer(const struct nt_document_request *request, struct nt_buffer *out,
                                     struct nt_error *error);
enum nt_status nt_lance_write_schema(const struct nt_document_request *request, struct nt_buffer *out,
                                     struct nt_error *error);
enum nt_status nt_lance_write_schema_bytes(const struct nt_document_request *request, struct nt_buffer *out,
                                           struct nt_error *error);
uint64_t nt_lance_schema_bytes(const struct nt_document_request *request);

/* ---- Files of a page ---- */

/* nt_dataset_ops.page_files for the physical dataset. */
uint32_t nt_lance_page_files(const struct nt_dataset *physical, uint32_t column, const struct nt_page *page,
                             struct nt_page_file files[NT_PAGE_FILES]);

/* ---- Shared decode trees ---- */

/* Returns an equal tree that lives as long as the file, so that trees can be compared by address.
 * `known` (may be NULL) is a likely match. The caller holds the dataset's lock. */
enum nt_status nt_lance_keep_tree(struct nt_file *file, const struct nt_encoding_tree *known,
                                  const struct nt_encoding_tree *tree,
                                  const struct nt_encoding_tree **tree_ret, struct nt_error *error);
/* nt_dataset_ops.keep_state. */
enum nt_status nt_lance_keep_state(struct nt_file *file, const struct nt_decoder *decoder, void *state,
                                   struct nt_error *error);
