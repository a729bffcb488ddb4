/* SPDX-License-Identifier: MIT
 *
 * What is kept of an open Lance file: what its tail, tables, schema and column metadata say, checked against one
 * another and the file's size. Pages are read and decoded from it; their bytes are not looked at here.
 */
#ifndef NT_FORMAT_LANCE_OPENED_H
#define NT_FORMAT_LANCE_OPENED_H

#include "formats/lance/file/messages.h"
#include "core/model/model.h"

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
    bool tells_nulls;                /* of 2.1 or later: a page of it has levels of values that are null */
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

struct nt_lance_place;
struct nt_lance_part;
struct nt_lance_value;
struct nt_lance_legacy;

struct nt_lance_schema {
    const struct nt_lance_field *fields; /* depth first: parents in front of their children */
    uint32_t field_count;
    /* Of a file, or of a data set of such files: */
    bool is_legacy;        /* only strings can be null, and no structure is packed */
    bool has_item_columns; /* those, and version 2.0: each field has a column */
    bool
        has_byte_columns; /* strings have two: where each ends, and behind it their bytes (previews of 2.0) */
    /* What follows from them, see places.h: by field, */
    const struct nt_lance_place *places;
    const struct nt_lance_value *values;
    const struct nt_lance_part *parts; /* and by field of the model */
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
    uint32_t number; /* of the source among the data set's */
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

#endif
