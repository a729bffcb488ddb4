/* SPDX-License-Identifier: MIT
 *
 * From the message that tells how a page is encoded to the tree that decodes it (codec/tree/tree.h).
 */
#ifndef NT_FORMAT_LANCE_TREES_H
#define NT_FORMAT_LANCE_TREES_H

#include "codec/tree/tree.h"
#include "format/lance/opened.h"

/* A column's values, as their type tells. */
struct nt_lance_value {
    uint32_t bits; /* of one, 1 of booleans; 0: strings */
    uint32_t list_count;
    uint64_t lists[NT_TREE_DEPTH]; /* items of the fixed-size lists around it, outermost first */
};

/* A page of the file, as it is to be decoded. */
struct nt_lance_layout {
    const struct nt_tree *tree;
    /* Mini-blocks with a dictionary: how that is decoded, from which of the page's buffers, and its items. */
    const struct nt_tree *dictionary;
    uint32_t dictionary_buffer;
    uint64_t dictionary_items;
    uint64_t items;      /* mini-blocks and full zip: values that are stored */
    uint64_t list_items; /* lists of 2.0: items that the page's lists have */
    bool is_blob;        /* the values are places in the file, which stand for bytes there */
};

/* NT_UNSUPPORTED where the page has an encoding that is not known, NT_CORRUPT where encodings do not fit each
 * other. Memory is the file's arena's. A tree that is equal to the one in `known` (NULL: none) is that one. */
enum nt_status nt_lance_make_layout(struct nt_file *file, const struct nt_lance_page *page,
                                    const struct nt_lance_value *value, bool is_dictionary_one_based,
                                    const struct nt_tree *known, struct nt_lance_layout *layout,
                                    struct nt_error *error);

/* ---- parts of it, each in a file of its own ---- */

struct nt_tree_builder {
    struct nt_file *file;
    struct nt_tree_node nodes[NT_TREE_NODES];
    uint32_t count;
    uint32_t buffers; /* of a mini-block's values: how many are taken so far */
};

/* The number of a new node, whose children are added next. NT_LIMIT where there are too many. */
enum nt_status nt_tree_add_node(struct nt_tree_builder *builder, const struct nt_tree_node *node,
                                uint32_t *number_ret, struct nt_error *error);
/* A CompressiveEncoding of 2.1 and 2.2. */
enum nt_status nt_lance_add_compressive(struct nt_tree_builder *builder, struct nt_proto message,
                                        uint32_t *number_ret, struct nt_error *error);
/* An ArrayEncoding of 2.0. */
enum nt_status nt_lance_add_array(struct nt_tree_builder *builder, struct nt_proto message,
                                  bool is_dictionary_one_based, uint32_t *number_ret, struct nt_error *error);

/* Bits of values: 1, or whole bytes, of a width that memory can have. */
enum nt_status nt_lance_check_bits(uint64_t bits, const char *what, struct nt_error *error);
/* A symbol table that lives as long as the file. */
enum nt_status nt_lance_make_symbols(struct nt_file *file, struct nt_proto message, uint32_t field,
                                     const struct nt_fsst **fsst_ret, struct nt_error *error);

#endif
