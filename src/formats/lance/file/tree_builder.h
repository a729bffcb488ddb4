/* SPDX-License-Identifier: MIT
 *
 * The nodes of a tree (codec/tree/description.h) while they are made from messages.
 */
#ifndef NT_FORMAT_LANCE_TREE_BUILDER_H
#define NT_FORMAT_LANCE_TREE_BUILDER_H

#include "formats/lance/decode/description.h"
#include "formats/lance/file/opened.h"

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

#endif
