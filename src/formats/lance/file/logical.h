/* SPDX-License-Identifier: MIT
 *
 * Lance's logical types: texts that name Arrow's types.
 */
#ifndef NT_FORMAT_LANCE_LOGICAL_H
#define NT_FORMAT_LANCE_LOGICAL_H

#include "formats/lance/file/trees.h"

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

#endif
