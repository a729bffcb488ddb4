/* SPDX-License-Identifier: MIT
 *
 * From the message that tells how a page is encoded to the tree that decodes it (codec/tree/description.h).
 */
#ifndef NT_FORMAT_LANCE_TREES_H
#define NT_FORMAT_LANCE_TREES_H

#include "formats/lance/file/tree_builder.h"

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

#endif
