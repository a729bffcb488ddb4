/* SPDX-License-Identifier: MIT
 *
 * The nodes of a tree (codec/tree/description.h) while they are made from messages.
 */
#ifndef NT_FORMAT_LANCE_TREE_BUILDER_H
#define NT_FORMAT_LANCE_TREE_BUILDER_H

#include "codec/tree/description.h"
#include "format/lance/opened.h"

struct nt_tree_builder {
    struct nt_file *file;
    struct nt_tree_node nodes[NT_TREE_NODES];
    uint32_t count;
    uint32_t value_bits; /* of the column's values, as their type tells; 0: strings */
    uint32_t buffers;    /* of a mini-block's values: how many are taken so far */
};

/* The number of a new node, whose children are added next. NT_LIMIT where there are too many. */
enum nt_status nt_tree_add_node(struct nt_tree_builder *builder, const struct nt_tree_node *node,
                                uint32_t *number_ret, struct nt_error *error);
/* NT_UNSUPPORTED where values do not have 1 bit, or whole bytes, of a width that memory can have. `what` they are. */
enum nt_status nt_lance_check_bits(uint64_t bits, const char *what, struct nt_error *error);
/* The symbol table in a field of a message; it lives as long as the file. */
enum nt_status nt_lance_make_symbols(struct nt_file *file, struct nt_proto message, uint32_t field,
                                     const struct nt_fsst **fsst_ret, struct nt_error *error);

#endif
