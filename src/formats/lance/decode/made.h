/* SPDX-License-Identifier: MIT
 *
 * A page's values on their way to elements: opened, decoded, and which of them are null.
 */
#ifndef NT_CODEC_TREE_MADE_H
#define NT_CODEC_TREE_MADE_H

#include "formats/lance/decode/work.h"

/* What is known of a page's values while they become elements. */
struct nt_made {
    struct nt_work *work;
    const struct nt_tree_want *want;
    struct nt_opened opened;
    uint64_t rows;        /* of the innermost layer */
    const uint8_t *valid; /* a byte for each; NULL: all are */
    /* Of a page that several outputs are made of: it is opened, and its values are decoded, once for all of them. */
    bool is_shared, is_opened, is_decoded;
};

/* Elements of a structure's member in a row. */
static inline uint64_t nt_made_member_items(const struct nt_made *made)
{
    return made->want->member_items ? made->want->member_items : 1;
}

/* Take the page apart, as far as levels and values are wanted. `made->rows` is set where no levels tell it. */
enum nt_status nt_made_open(struct nt_made *made, bool wants_levels, bool wants_values,
                            struct nt_error *error);
/* Decode its values. `into`: see nt_tree_node_decode. */
enum nt_status nt_made_decode(struct nt_made *made, uint8_t *into, struct nt_error *error);
/* NT_CORRUPT where there are not `made->rows`. */
enum nt_status nt_made_check_rows(const struct nt_made *made, uint64_t found, struct nt_error *error);
/* A byte for each row of a layer, of which there have to be `rows`. */
enum nt_status nt_made_valid_rows(const struct nt_made *made, uint32_t layer, uint64_t rows, uint8_t *valid,
                                  struct nt_error *error);
/* Set `made->valid`, of decoded values. */
enum nt_status nt_made_find_nulls(struct nt_made *made, struct nt_error *error);
/* Whether levels can tell that a value is null, or all are. */
bool nt_made_has_nulls(const struct nt_tree *tree);

#endif
