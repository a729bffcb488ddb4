/* SPDX-License-Identifier: MIT
 *
 * An open Lance file: metadata, schema, encodings, physical columns and documents. The entry points of
 * legacy/ are declared here, so that this folder need not include its header.
 */
#ifndef NT_FORMATS_LANCE_FILE_FILE_H
#define NT_FORMATS_LANCE_FILE_FILE_H

#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/budget.h"
#include "core/model/model.h"
#include "formats/lance/decode/decode.h"
#include "formats/lance/file/messages.h"

struct nt_arena;
struct nt_lance_legacy;
struct nt_lance_model_field;
struct nt_lance_field_layout;
struct nt_lance_value;

/* ---- Open files ---- */

enum { NT_LANCE_TAIL_BYTES = 40, NT_LANCE_LEGACY_TAIL_BYTES = 16 };

/* A range of the file. */
struct nt_lance_buffer {
    uint64_t offset, bytes;
};

struct nt_lance_tail {
    uint64_t offset;        /* where it lies: in front of the last 40 bytes */
    uint64_t columns_start; /* column metadata lie from here to the column table */
    uint64_t column_table;  /* an offset and a size for each column */
    uint64_t global_table;  /* the same for each global buffer */
    uint32_t globals, columns;
    uint16_t major, minor; /* as they stand there */
    const char *version;   /* as Lance's documentation has it: "2.0" for (0, 3), too, "2.1", ... */
    bool
        is_legacy; /* 0.1 and 0.2: it has nothing of the above but its offset, 16 bytes from the end, and version */
    uint64_t metadata; /* legacy: where a Metadata message lies */
};

/* Whether it is a file of 2.0: lists and structs have columns of their own, and what is in a list has as many
 * rows as there are items. */
static inline bool nt_lance_has_item_columns(const struct nt_lance_tail *tail)
{
    return tail->major < 2 || tail->minor == 0;
}

/* What message tells how a page is encoded. */
enum nt_lance_encoding_kind {
    NT_LANCE_ENCODING_IS_UNKNOWN, /* `type_url` tells */
    NT_LANCE_ENCODING_IS_ARRAY,   /* 2.0: an ArrayEncoding */
    NT_LANCE_ENCODING_IS_LAYOUT,  /* 2.1, 2.2: a PageLayout */
    NT_LANCE_ENCODING_IS_COLUMN,  /* of columns: a ColumnEncoding */
};

struct nt_lance_page {
    const struct nt_lance_buffer *buffers; /* each within the file */
    uint32_t buffer_count;
    uint32_t encoding_kind;   /* enum nt_lance_encoding_kind */
    uint64_t length;          /* rows; of an item column of 2.0, items */
    uint64_t priority;        /* the first top-level row; in 2.0 maybe counted from where a batch began */
    struct nt_proto encoding; /* the message in the Any; checked where its kind is known */
    struct nt_text type_url;  /* not NUL-terminated */
};

struct nt_lance_column {
    bool has_null_levels;            /* of 2.1 or later: a page of it has levels of values that are null */
    struct nt_lance_buffer metadata; /* where its message lies */
    struct nt_proto message;         /* a ColumnMetadata */
    const struct nt_lance_page *pages;
    const struct nt_lance_buffer *buffers; /* of the column itself */
    uint32_t page_count, buffer_count;
    uint64_t rows;            /* of all its pages */
    struct nt_proto encoding; /* a ColumnEncoding; without bytes where there is none, or an unknown one */
    struct nt_text type_url;  /* of the column's encoding; not NUL-terminated */
    bool is_blob;             /* 2.0: its values are places in the file */
    const struct nt_error
        *failure; /* NULL, or why it cannot be decoded: pages of an encoding that is unknown */
};

enum { NT_LANCE_NO_ID = -1 };

struct nt_lance_field {
    int32_t id;      /* NT_LANCE_NO_ID: it is part of a description of a blob, its parent */
    uint32_t parent; /* index of a field in front of it, NT_NONE: top-level */
    struct nt_text name, logical_type;
    bool is_nullable;
    bool is_description;     /* a structure that tells where a blob is */
    struct nt_proto message; /* a Field: the rest of it */
};

struct nt_lance_schema {
    const struct nt_lance_field *fields; /* depth first: parents in front of their children */
    uint32_t field_count;
    /* Of a file, or of a dataset of such files: */
    bool is_legacy;        /* only strings can be null, and no structure is packed */
    bool has_item_columns; /* those, and version 2.0: each field has a column */
    bool
        has_byte_columns; /* strings have two: where each ends, and behind it their bytes (previews of 2.0) */
    /* What follows from them, see places.h: by field, */
    const struct nt_lance_field_layout *places;
    const struct nt_lance_value *values;
    const struct nt_lance_model_field *parts; /* and by field of the model */
    const char **refusals; /* datasets: by field, why what stores it is not read, or NULL; NULL: all is */
};

/* Where a field of the schema is stored. */
struct nt_lance_leaf {
    uint32_t
        field; /* whose column it is: its own, else that of the first field below it that has one; NT_NONE */
    uint32_t column; /* of the file */
};

/* Where the description of a Lance file lies: in the nt_file's arena, or in one that goes before that. */
struct nt_lance_memory {
    struct nt_file *file;
    struct nt_arena *arena;
    uint64_t taken; /* bytes, from the nt_file's budget */
};

/* The same as nt_budget_take, noted. */
enum nt_status nt_lance_take(struct nt_lance_memory *memory, enum nt_cost cost, uint64_t count,
                             uint64_t offset, struct nt_error *error);

/* A Lance file. Of one that is mounted alone it is the nt_dataset's format_data. */
struct nt_lance {
    struct nt_lance_memory *memory;
    struct nt_source *source;
    uint64_t size;   /* of the source */
    uint32_t number; /* of the source among the dataset's */
    struct nt_lance_tail tail;
    const struct nt_lance_buffer *globals; /* tail.globals, one at least */
    const struct nt_lance_column *columns; /* tail.columns */
    struct nt_lance_schema schema;         /* the file's own */
    const struct nt_lance_leaf *leaves;    /* by its fields */
    struct nt_proto descriptor; /* a FileDescriptor: global buffer 0; legacy: the Manifest in the file */
    uint64_t rows;
    const struct nt_lance_legacy *legacy; /* NULL: the file is none */
};

static inline const struct nt_lance *nt_lance_of(const struct nt_dataset *dataset)
{
    return dataset->format_data;
}

/* The value of a key in a map of a message (NT_LANCE_FIELD_METADATA of a Field); false where there is none. Not
 * NUL-terminated. */
bool nt_lance_find_entry(struct nt_proto message, uint32_t map, const char *key, struct nt_text *value_ret);
/* All of them, in the file's arena. */
enum nt_status nt_lance_read_entries(struct nt_file *file, struct nt_proto message, uint32_t map,
                                     const struct nt_property **properties_ret, uint32_t *count_ret,
                                     struct nt_error *error);

/* ---- Open legacy files ---- */

/* Of a field in a batch. Both are 0 where it has no page: of structures. */
struct nt_lance_cell {
    uint64_t offset;
    uint64_t length; /* elements: of lists one more than rows; of strings rows, whose offsets are one more */
};

struct nt_lance_page_table {
    uint64_t offset; /* where it lies */
    int32_t first;   /* the id of its first field */
    uint32_t fields; /* ids that follow one another */
    uint32_t batches;
    const struct nt_lance_cell *cells; /* of each field those of all batches */
};

/* The cells of a field, one for each batch; NULL: the table has none of this id. */
const struct nt_lance_cell *nt_lance_cells(const struct nt_lance_page_table *table, int32_t id);

enum nt_lance_page_kind {
    NT_LANCE_PAGE_NONE,       /* structures, nulls */
    NT_LANCE_PAGE_PLAIN,      /* values one after the other */
    NT_LANCE_PAGE_STRINGS,    /* where each begins in the file, and where the last one ends, in 64 bits */
    NT_LANCE_PAGE_LISTS,      /* the same among the batch's items, in 32 or 64 bits */
    NT_LANCE_PAGE_DICTIONARY, /* numbers of items, which all batches share */
};

/* How the pages of a field are made. */
struct nt_lance_page_format {
    enum nt_lance_page_kind kind;
    uint32_t bits; /* of an element of a page */
    struct {
        uint64_t offset, length; /* as in a cell: of items, which are plain or strings */
    } dictionary;
    const struct nt_error *failure; /* NULL, or why its pages cannot be read */
};

/* Statistics of pages: columns of another schema, with a row for each batch of the file; a structure for each field that
 * has them, whose name is the field's id. They are one batch themselves, and have a page table of their own. */
struct nt_lance_statistics {
    struct nt_lance_schema schema; /* no fields: there are no statistics */
    struct nt_lance_page_table table;
    const struct nt_lance_page_format *pagings; /* by its fields */
    const struct nt_error *failure; /* NULL, or why they cannot be read; then there are none of the above */
};

struct nt_lance_legacy {
    struct nt_lance_buffer metadata_range; /* of the message, its length in front of it omitted */
    struct nt_proto metadata;              /* a Metadata */
    const uint64_t *batches;               /* table.batches + 1: the first rows, and all */
    struct nt_lance_page_table table;
    const struct nt_lance_page_format *pagings; /* by field of the file's schema */
    struct nt_lance_statistics statistics;
};

/* In front of a message stands its length. */
enum { NT_LANCE_LENGTH_BYTES = 4 };

/* ---- Read metadata bytes ---- */

/* Bytes of a Lance file, in its memory; NULL with the failure in *status_ret. The range lies
 * in the source. */
uint8_t *nt_lance_read_bytes(const struct nt_lance *lance, const struct nt_lance_buffer *range,
                             enum nt_status *status_ret, struct nt_error *error);

/* ---- Column metadata ---- */

/* What message is in an Any of this type. */
enum nt_lance_encoding_kind nt_lance_encoding_kind(struct nt_text type_url);
/* Its table; NULL where it is unknown. */
const struct nt_proto_table *nt_lance_encoding_table(enum nt_lance_encoding_kind kind);

/* Which layout a page of 2.1 or later has (of blobs, their places), with its message; 0 for others. */
uint32_t nt_lance_page_choice(const struct nt_lance_page *page, struct nt_proto *member_ret);
/* Whether a page of 2.0 is of lists: of strings, whose bytes then lie in the column behind theirs. */
bool nt_lance_has_lists(const struct nt_lance_page *page);
/* Whether a page of 2.1 or later has places of values that lie elsewhere in the file: blobs. */
bool nt_lance_has_places(const struct nt_lance_page *page);

/* ---- Offset tables and global buffers ---- */

/* Read tail, tables, descriptor and column metadata of a source, the dataset's one of this number; not the fields of
 * the schema (nt_lance_read_schema). Of a legacy file, those and all else that the file's metadata tell (lance->legacy). NT_NOT_THIS_FORMAT, NT_UNSUPPORTED, NT_CORRUPT, NT_LIMIT. What a
 * legacy file tells lies in the nt_file's arena, whatever `memory` is. */
enum nt_status nt_lance_read(struct nt_lance_memory *memory, struct nt_source *source, uint32_t number,
                             struct nt_lance *lance, struct nt_error *error);

/* ---- Metadata of legacy files ---- */

/* Of a file whose source, size and tail are known: read its Metadata, the Manifest that it has in it, with its fields and
 * their places, and the page table. Each field is a column of the file. NT_UNSUPPORTED where there is no manifest. Memory
 * is the nt_file's arena's, counted in its budget. */
enum nt_status nt_lance_legacy_read(struct nt_file *file, struct nt_lance *lance, struct nt_error *error);

/* The number of a file's field with this id, which is that of its column; NT_NONE: it has none. */
uint32_t nt_lance_find_id(const struct nt_lance_schema *schema, int32_t id);

/* ---- Fields of a schema ---- */

/* A message, and where it lies in its file. */
struct nt_lance_message {
    struct nt_proto message;
    uint64_t offset;
};

/* Check lance->descriptor, which lies in the first of lance->globals, and fill rows; */
enum nt_status nt_lance_read_descriptor(struct nt_lance *lance, struct nt_error *error);
/* then fill the fields. */
enum nt_status nt_lance_read_schema(struct nt_file *file, struct nt_lance *lance, struct nt_error *error);

/* Whether a field's metadata have "true" under a key. */
bool nt_lance_is_marked(const struct nt_lance_field *field, const char *key);

/* The fields that `list`, a checked message within `message`, has as its members of the number NT_LANCE_SCHEMA_FIELDS.
 * Memory is the file's arena's, counted in its budget. */
enum nt_status nt_lance_read_fields(struct nt_file *file, const struct nt_lance_message *message,
                                    struct nt_proto list, struct nt_lance_schema *schema,
                                    struct nt_error *error);

/* ---- Tree builder ---- */

/* A column's values, as their type tells. */
struct nt_lance_value {
    uint32_t bits;    /* of one, 1 of booleans; 0: strings, or what `is_empty` */
    bool is_empty;    /* values of no bytes: of null, binaries of 0 bytes */
    bool is_nullable; /* the schema says that it may be null */
    bool is_packed;   /* rows of structures; 0 bits: they have strings */
    uint32_t list_count;
    uint64_t lists[NT_TREE_DEPTH]; /* items of the fixed-size lists around it, outermost first */
};

static inline bool nt_lance_is_string(const struct nt_lance_value *value)
{
    return !value->bits && !value->is_empty;
}

struct nt_tree_builder {
    struct nt_file *file;
    struct nt_arena *scratch; /* of what nodes point to, until the tree is kept */
    struct nt_tree_node nodes[NT_TREE_NODES];
    uint32_t count;
    const struct nt_lance_value *value; /* NULL: they are no values of the column, but levels, or numbers */
    uint32_t depth;                     /* fixed-size lists around the node that is added */
    bool are_rows_null;                 /* where they have no value */
    uint32_t buffers;                   /* of a mini-block's values: how many are taken so far */
};

/* The number of a new node, whose children are added next. NT_LIMIT where there are too many. */
enum nt_status nt_tree_add_node(struct nt_tree_builder *builder, const struct nt_tree_node *node,
                                uint32_t *number_ret, struct nt_error *error);
/* What stands for the column's values where none is stored: `kind`, in the fixed-size lists that are not added yet. Of these
 * and of the values, those in so many fixed-size lists are null. */
enum nt_status nt_lance_add_nulls(struct nt_tree_builder *builder, enum nt_tree_node_kind kind,
                                  uint32_t null_depth, uint32_t *number_ret, struct nt_error *error);
/* NT_UNSUPPORTED where values do not have 1 bit, or whole bytes, of a width that memory can have. `what` they are. */
enum nt_status nt_lance_check_bits(const struct nt_tree_builder *builder, uint64_t bits, const char *what,
                                   struct nt_error *error);
/* The symbol table in a field of a message. */
enum nt_status nt_lance_make_symbols(const struct nt_tree_builder *builder, struct nt_proto message,
                                     uint32_t field, const struct nt_fsst **fsst_ret, struct nt_error *error);

/* ---- Array encodings ---- */

/* An ArrayEncoding as a node with all that it consists of. NT_UNSUPPORTED where it is not known. */
enum nt_status nt_lance_add_array(struct nt_tree_builder *builder, struct nt_proto message,
                                  bool is_dictionary_one_based, uint32_t *number_ret, struct nt_error *error);

/* ---- Compressive encodings ---- */

/* A CompressiveEncoding as a node with all that it consists of. NT_UNSUPPORTED where it is not known. */
enum nt_status nt_lance_add_compressive(struct nt_tree_builder *builder, struct nt_proto message,
                                        uint32_t *number_ret, struct nt_error *error);

/* ---- Page layouts ---- */

/* A page of the file, as it is to be decoded. */
struct nt_lance_layout {
    const struct nt_tree *tree;
    /* Mini-blocks with a dictionary: how that is decoded, from which of the page's buffers, and its items. */
    const struct nt_tree *dictionary;
    uint32_t dictionary_buffer;
    uint64_t dictionary_items;
    uint64_t index_depth; /* mini-blocks: layers of lists that the repetition index is of; 0: there is none */
    uint64_t items;       /* mini-blocks and full zip: values that are stored */
    uint64_t list_items;  /* lists of 2.0: items that the page's lists have */
    bool is_blob;         /* the values are places in the file, which stand for bytes there */
    struct nt_tree blobs; /* blobs: the layers around them, of which places tell; nothing else is set */
};

/* NT_UNSUPPORTED where the page has an encoding that is not known, NT_CORRUPT where encodings do not fit each
 * other. Memory is the file's arena's. `column` is the page's. A tree that is equal to the one in `known` (NULL: none) is that one. */
enum nt_status nt_lance_make_layout(struct nt_file *file, const struct nt_lance_column *column,
                                    const struct nt_lance_page *page, const struct nt_lance_value *value,
                                    bool is_dictionary_one_based, const struct nt_tree *known,
                                    struct nt_lance_layout *layout, struct nt_error *error);

/* ---- Logical types ---- */

enum nt_lance_shape {
    NT_LANCE_IS_VALUE,
    NT_LANCE_IS_TEXT,
    NT_LANCE_IS_BYTES,
    NT_LANCE_IS_LIST,
    NT_LANCE_IS_STRUCT,
    NT_LANCE_IS_STRUCT_LIST, /* fixed-size lists of structures, which are the field below it */
    NT_LANCE_IS_NULL,
    NT_LANCE_IS_EMPTY, /* binaries of 0 bytes */
    NT_LANCE_IS_BLOB,
    NT_LANCE_IS_UNKNOWN,
};

struct nt_lance_type {
    enum nt_lance_shape shape; /* within the fixed-size lists, where there are any */
    struct nt_lance_value value;
    struct nt_dtype dtype; /* VALUE: of an element */
    const char *
        extension; /* of Arrow's types, which items of fixed-size lists have no metadata to tell; NULL: none */
    bool is_dictionary;
    bool has_short_offsets; /* TEXT, BYTES, LIST: what is in it is counted with 32 bits */
    bool is_json;           /* BYTES: of JSONB */
    bool is_map;            /* LIST: of structures of a key and a value */
    uint64_t items;         /* STRUCT_LIST: of each */
    uint32_t index_bits;    /* of a dictionary's numbers; 0: not known */
};

/* The type that a text names: UNKNOWN where it names none that is known. NT_LIMIT where fixed-size lists lie too
 * deep in one another. Memory is the arena's. */
enum nt_status nt_lance_parse_type(struct nt_arena *arena, struct nt_text text, struct nt_lance_type *type,
                                   struct nt_error *error);

/* ---- Schema layout ---- */

/* Of a field of Lance's. */
struct nt_lance_field_layout {
    struct nt_lance_type type;
    uint32_t depth; /* fields above it */
    uint32_t children;
    uint32_t packed;        /* the packed structure that it is a member of, NT_NONE */
    uint32_t member;        /* its number there, of a packed structure: how many have been counted */
    uint64_t member_offset; /* its first byte there, of a packed structure: behind all */
    bool is_packed;
    bool has_strings;       /* it is a packed structure with members that are */
    bool is_in_list;        /* it is a list within a packed structure, or lies in one */
    bool is_in_struct_list; /* it is a fixed-size list of structures, or lies in one */
    bool has_struct_lists;  /* it is a list around fixed-size lists of structures, or lies in one */
    bool is_blob_in_list;   /* it has its bytes elsewhere in the file, and lies in a list of any sort */
    bool is_memberless;     /* it is a structure without members, which has a column all the same */
    uint64_t multiple;      /* how many of it there are for a row around all fixed-size lists of structures */
};

/* How little the column of a field tells of what surrounds it, below NT_LANCE_LEAF_RANKS: of several, the first with the least. */
enum { NT_LANCE_LEAF_RANKS = 3 };
static inline unsigned nt_lance_leaf_rank(const struct nt_lance_field_layout *place)
{
    return place->is_blob_in_list ? 2 : place->is_memberless;
}

/* Of a field of the model: the field of Lance's that it shows, or the items of fixed-size lists in it. */
struct nt_lance_model_field {
    uint32_t field;
    uint32_t depth; /* fixed-size lists around the field's rows, inside the layer */
    uint64_t items; /* rows in one row of the layer: the product of those lists */
};

/* What a field of the model takes of a column of a file. */
struct nt_lance_column_map {
    uint32_t column; /* of the file; NT_NONE: none */
    uint32_t layer;  /* of that column's pages, innermost 0 */
    uint32_t depth;  /* as its part tells */
    uint64_t items;  /* likewise */
    uint64_t
        repeats; /* rows that the column has for one of the field: items of fixed-size lists of structures */
    uint32_t member;                    /* of packed structures */
    uint64_t member_offset;             /* bytes */
    bool is_one_based;                  /* numbers of a dictionary of version 2.0 */
    bool is_memberless;                 /* the column is one of structures without members */
    const struct nt_lance_value *value; /* of the column */
};

/* Find the schema's places and values. Memory is the arena's. */
enum nt_status nt_lance_lay_out_schema(struct nt_arena *arena, struct nt_lance_schema *schema,
                                       struct nt_error *error);

/* Which columns store each field where they stand in the order of the fields, and how many there are. */
enum nt_status nt_lance_number_columns(struct nt_arena *arena, const struct nt_lance_schema *schema,
                                       const struct nt_lance_leaf **leaves_ret, uint32_t *count_ret,
                                       struct nt_error *error);

/* Which of its columns a file that is mounted alone stores each field in: they stand in the order of the fields.
 * NT_CORRUPT where it has more, or fewer. */
enum nt_status nt_lance_find_leaves(struct nt_arena *arena, struct nt_lance *lance, struct nt_error *error);

/* Whether a column has as many rows as its file, in which it stores a field of the schema: from 2.1 on each has, whatever else
 * is nested in them; where it lies in fixed-size lists of structures, as many as these have items. */
enum nt_status nt_lance_check_rows(const struct nt_lance_schema *schema, const struct nt_lance_leaf *leaf,
                                   const struct nt_lance *lance, struct nt_error *error);

/* The column with the bytes of strings, where these lie apart, as previews of 2.0 wrote them: behind the one where they end, the leaf's.
 * NT_NONE: the field is of another type, or the file's strings are whole. */
uint32_t nt_lance_byte_column(const struct nt_lance *lance, const struct nt_lance_schema *schema,
                              const struct nt_lance_leaf *leaf);

/* What a field of the model, which shows `part` of the schema, takes of a file. */
struct nt_lance_column_map nt_lance_map_column(const struct nt_lance_schema *schema,
                                               const struct nt_lance_leaf *leaf, bool has_item_columns,
                                               const struct nt_lance_model_field *part);
/* The same of a file that is mounted alone. */
struct nt_lance_column_map nt_lance_map_own_column(const struct nt_lance *lance, uint32_t field);

/* ---- Fields of the model ---- */

/* How elements lie that no tree has to make. */
enum nt_encoding_kind nt_lance_encoding_of(enum nt_element element);

/* Fill the dataset's fields and columns from a schema whose places are known; schema->parts tells, by field of the
 * model, what it shows. `leaves`: by the schema's fields, as nt_lance_number_columns finds them. `lance`: the file that
 * is mounted alone, or NULL: its files each tell for themselves. */
enum nt_status nt_lance_build_fields(struct nt_dataset *dataset, struct nt_lance_schema *schema,
                                     const struct nt_lance_leaf *leaves, const struct nt_lance *lance,
                                     struct nt_error *error);

/* ---- Page lists ---- */

/* Fill a group, which is a field's, with the pages of what `use` takes of a file. Where lists or strings have to be
 * counted, the column is read once, chunk by chunk. */
enum nt_status nt_lance_fill_group(struct nt_dataset *dataset, uint32_t group, const struct nt_lance *lance,
                                   const struct nt_lance_column_map *use, struct nt_error *error);

/* nt_dataset_ops.load_group of a file that is mounted alone. */
enum nt_status nt_lance_load_group(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);

/* ---- Page lists of legacy files ---- */

/* Fill a group, which is a field's, with the pages of what `use` takes of a file; `use->column` is the number of the
 * file's field. NT_UNSUPPORTED where that has another type than the dataset's. */
enum nt_status nt_lance_legacy_fill_group(struct nt_dataset *dataset, uint32_t group,
                                          const struct nt_lance *lance, const struct nt_lance_column_map *use,
                                          struct nt_error *error);

/* ---- Column contents ---- */

/* What a column of the two sides has of the pages of a column of the file. */
enum nt_lance_content {
    NT_LANCE_HAS_VALUES,    /* of fixed width */
    NT_LANCE_HAS_BYTES,     /* of strings */
    NT_LANCE_HAS_ROWS,      /* of packed structures */
    NT_LANCE_HAS_PLACES,    /* of blobs */
    NT_LANCE_HAS_LIST_ENDS, /* 2.0: where lists end in their page */
    NT_LANCE_HAS_NOTHING,   /* that could be decoded */
    NT_LANCE_HAS_ENDS,      /* structure: where strings end in their page */
    NT_LANCE_HAS_LEVELS,    /* structure: repetition and definition */
    NT_LANCE_CONTENT_COUNT
};
enum nt_lance_content nt_lance_content_of(const struct nt_column *column);

/* ---- Find the file page ---- */

/* The column of a file that a part of a field is stored in. */
struct nt_lance_physical_column {
    const struct nt_lance *lance; /* NULL: none */
    struct nt_lance_column_map use;
    /* Of datasets: */
    const char *name; /* of the file, beneath the dataset's directory; NULL: it is mounted alone */
    uint64_t fragment;
};

/* What both sides are made of; their format_data. */
struct nt_lance_physical {
    const struct nt_lance_schema *schema;
    const struct nt_lance_leaf *leaves; /* by its fields: the columns of `stored` */
    bool has_levels;                    /* there are files whose columns may have levels */
    /* Find the column of a field's part; of a dataset it is known until the next one is looked for. Under the dataset's lock. */
    enum nt_status (*find_physical_column)(struct nt_dataset *dataset, uint32_t field, uint32_t part,
                                           struct nt_lance_physical_column *home_ret, struct nt_error *error);
    /* The part that has the pages of a file, by the number of its source. NULL: there is one part. */
    uint32_t (*find_part)(const struct nt_dataset *dataset, uint32_t source);
};

static inline const struct nt_lance_physical *nt_lance_physical_of(const struct nt_dataset *dataset)
{
    return dataset->format_data;
}

/* The page of a file that a page of `stored` is, in a loaded group; NULL: there is none. Under the dataset's lock. */
const struct nt_lance_page *nt_lance_file_page(const struct nt_dataset *stored, uint32_t column,
                                               const struct nt_page *page,
                                               struct nt_lance_physical_column *home_ret);

/* ---- Physical datasets ---- */

/* Give a dataset its sides. The columns of both have the number of the column of `stored` as their id. */
enum nt_status nt_lance_add_physical_of(struct nt_dataset *dataset, const struct nt_lance_physical *side,
                                        struct nt_error *error);

/* A member of nt_dataset_ops, of a file that is mounted alone. */
enum nt_status nt_lance_add_physical(struct nt_dataset *dataset, struct nt_error *error);

/* ---- File metadata ---- */

/* As nt_file.describe: of the first dataset. */
enum nt_status nt_lance_describe_file(const struct nt_file *file, struct nt_json *json,
                                      struct nt_error *error);

/* Members of an object: where a message lies (NULL: that is told elsewhere), and what it says. */
void nt_lance_put_message(struct nt_json *json, struct nt_proto message, const struct nt_proto_table *table,
                          const struct nt_lance_buffer *range);

/* Members of an object: what the file tells of a page of a column; */
void nt_lance_page_json(struct nt_json *json, const struct nt_lance_page *page);
/* ranges of the file, as a list; */
void nt_lance_buffers_json(struct nt_json *json, const char *key, const struct nt_lance_buffer *buffers,
                           uint64_t count);
/* "type_url" and, where its type is known, "message". */
void nt_lance_message_json(struct nt_json *json, struct nt_text type_url, struct nt_proto message,
                           enum nt_lance_encoding_kind kind);

/* Tail, tables, schema, global buffers, metadata of columns and their own buffers. */
enum nt_status nt_lance_layout_put_metadata(const struct nt_lance *lance,
                                            const struct nt_layout_output *output);

/* ---- Columns and pages ---- */

/* As members of nt_dataset_ops, of the physical dataset. */
void nt_lance_describe_column(const struct nt_dataset *stored, uint32_t column, struct nt_json *json);
enum nt_status nt_lance_describe_page(const struct nt_dataset *stored, uint32_t column,
                                      const struct nt_page *page, struct nt_json *json);

/* The same of a page that is made from a column of a file. */
enum nt_status nt_lance_describe_page_of(const struct nt_dataset *dataset, const struct nt_lance *lance,
                                         uint32_t file_column, const struct nt_page *page,
                                         struct nt_json *json);

/* ---- Columns of legacy files ---- */

/* Who owns its bytes that are no pages. */
enum nt_status nt_lance_legacy_lay_out(const struct nt_lance *lance, const struct nt_layout_output *output,
                                       struct nt_error *error);

/* As members of nt_dataset_ops. */
void nt_lance_legacy_describe_column(const struct nt_dataset *dataset, uint32_t column, struct nt_json *json);
enum nt_status nt_lance_legacy_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                             const struct nt_page *page, struct nt_json *json);

/* The same of a page that is made from the field of a file with this id. */
enum nt_status nt_lance_legacy_describe_page_of(const struct nt_dataset *dataset,
                                                const struct nt_lance *lance, int32_t id,
                                                const struct nt_page *page, struct nt_json *json);

/* ---- Owners of byte ranges ---- */

enum nt_status nt_lance_lay_out_file(const struct nt_lance *lance, const struct nt_layout_output *output,
                                     struct nt_error *error);

/* All buffers of a column's pages, which have an owner of their own. */
enum nt_status nt_lance_layout_put_column(const struct nt_lance_column *column,
                                          const struct nt_layout_output *output, const char *owner);
/* The columns of a file that is mounted alone that have nothing but bytes of strings. */
enum nt_status nt_lance_layout_put_bytes(const struct nt_lance *lance, const struct nt_layout_output *output);

/* ---- Verify repetition indexes ---- */

/* See `check` of nt_file. */
enum nt_status nt_lance_check(const struct nt_file *file, nt_failure_emit *emit, void *context,
                              struct nt_error *error);

/* ---- Documents of a file ---- */

extern const struct nt_document nt_lance_documents[];
extern const uint32_t nt_lance_document_count;

/* The footer's and the schema's, of legacy files, too. As members of nt_document. */
enum nt_status nt_lance_write_footer(const struct nt_file *file, const struct nt_dataset *dataset,
                                     uint64_t number, struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_lance_write_schema(const struct nt_file *file, const struct nt_dataset *dataset,
                                     uint64_t number, struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_lance_write_schema_bytes(const struct nt_file *file, const struct nt_dataset *dataset,
                                           uint64_t number, struct nt_buffer *out, struct nt_error *error);
uint64_t nt_lance_schema_bytes(const struct nt_dataset *dataset, uint64_t number);

/* ---- Files of a page ---- */

/* nt_dataset_ops.page_files of the physical dataset. */
uint32_t nt_lance_page_files(const struct nt_dataset *stored, uint32_t column, const struct nt_page *page,
                             struct nt_page_file files[NT_PAGE_FILES]);

/* ---- Shared decode trees ---- */

/* A tree that is equal to this one and lives as long as the file: trees are compared by their addresses from here on. `known`
 * (may be NULL) is the one that it is likely to be. Under the lock of the dataset. */
enum nt_status nt_lance_keep_tree(struct nt_file *file, const struct nt_tree *known,
                                  const struct nt_tree *tree, const struct nt_tree **tree_ret,
                                  struct nt_error *error);

#endif
