/* SPDX-License-Identifier: MIT
 *
 * A field of a legacy file while its pages are listed.
 */
#ifndef NT_FORMAT_LANCE_LEGACY_FILLING_H
#define NT_FORMAT_LANCE_LEGACY_FILLING_H

#include "formats/lance/decode/description.h"
#include "formats/lance/legacy/opened.h"
#include "formats/lance/file/places.h"

/* What is in a batch's page. */
struct nt_lance_batch {
    uint64_t offset, stored_bytes; /* the page */
    uint64_t rows;                 /* of the field */
    uint64_t begin,
        bytes; /* strings: theirs in the file, of a dictionary 0 and what they are; lists: 0 and items */
};

struct nt_lance_items {
    struct nt_page pages[2]; /* of a dictionary: its items; of strings where they end, and their bytes */
    uint32_t page_count;
    struct nt_page valid; /* of strings: which are not null */
    uint64_t *ends;       /* from malloc; strings */
};

struct nt_lance_listing {
    struct nt_dataset *dataset;
    const struct nt_field *field; /* of the model */
    uint32_t number;              /* its number */
    const struct nt_lance *lance;
    const struct nt_lance_use *use;
    const struct nt_lance_paging *paging;
    uint32_t counted;                  /* the field of the file whose pages tell the rows: mostly its own */
    const struct nt_lance_cell *cells; /* of that one */
    struct nt_lance_batch *batches;    /* from malloc, as many as the file has */
    struct nt_lance_items items;       /* of a dictionary */
    const struct nt_tree *known;       /* what was made last */
    struct nt_error *error;
};

/* A tree of values of `bits`, in `bytes` that are the whole page: what numbers a dictionary's items, or offsets. */
enum nt_status nt_lance_flat_tree(struct nt_lance_listing *listing, bool are_offsets, uint32_t bits,
                                  uint64_t bytes, const struct nt_tree **tree_ret);
#endif
