/* SPDX-License-Identifier: MIT
 *
 * What follows from a schema alone, and which columns of a file store what of it. In version 2.0 each field has a
 * column of the file; later only leaves have, whose levels tell of all that surrounds them: a list or structure is
 * then read from the first leaf below it. A leaf's layers are counted from inside, so that a field so many steps
 * above it is the layer of that number. Packed structures and fixed-size lists are leaves.
 */
#ifndef NT_FORMAT_LANCE_PLACES_H
#define NT_FORMAT_LANCE_PLACES_H

#include "formats/lance/file/logical.h"

/* Of a field of Lance's. */
struct nt_lance_place {
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
    bool is_listed_blob;    /* it has its bytes elsewhere in the file, and lies in a list of any sort */
    bool is_memberless;     /* it is a structure without members, which has a column all the same */
    uint64_t multiple;      /* how many of it there are for a row around all fixed-size lists of structures */
};

/* How little the column of a field tells of what surrounds it, below NT_LANCE_TELLERS: of several, the first with the least. */
enum { NT_LANCE_TELLERS = 3 };
static inline unsigned nt_lance_teller(const struct nt_lance_place *place)
{
    return place->is_listed_blob ? 2 : place->is_memberless;
}

/* Of a field of the model: the field of Lance's that it shows, or the items of fixed-size lists in it. */
struct nt_lance_part {
    uint32_t field;
    uint32_t depth; /* fixed-size lists around the field's rows, inside the layer */
    uint64_t items; /* rows in one row of the layer: the product of those lists */
};

/* What a field of the model takes of a column of a file. */
struct nt_lance_use {
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
enum nt_status nt_lance_find_places(struct nt_arena *arena, struct nt_lance_schema *schema,
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
struct nt_lance_use nt_lance_use_of(const struct nt_lance_schema *schema, const struct nt_lance_leaf *leaf,
                                    bool has_item_columns, const struct nt_lance_part *part);
/* The same of a file that is mounted alone. */
struct nt_lance_use nt_lance_use_in(const struct nt_lance *lance, uint32_t field);

#endif
