/* SPDX-License-Identifier: MIT
 *
 * Reading Lance files of versions 0.1 and 0.2. What file/ calls is declared in file.h.
 */
#ifndef NT_FORMATS_LANCE_LEGACY_LEGACY_H
#define NT_FORMATS_LANCE_LEGACY_LEGACY_H

#include "core/model/model.h"
#include "formats/lance/decode/decode.h"
#include "formats/lance/file/file.h"
#include "formats/lance/file/page_list.h"

/* ---- Page types ---- */

/* Bytes of a page of so many elements, as a cell has them, of fixed-size lists with all items; false where they
 * overflow. */
bool nt_lance_page_bytes(const struct nt_lance_page_format *paging, const struct nt_lance_value *value,
                         uint64_t elements, uint64_t *bytes_ret);

/* ---- Ranges of offsets ---- */

/* Where strings lie in the file, from offsets of 64 bits. */
enum nt_status nt_lance_read_strings(const struct nt_lance *lance, uint64_t offset, uint64_t count,
                                     uint64_t *begin_ret, uint64_t *bytes_ret, struct nt_error *error);

/* ---- Page list builder ---- */

/* What is in a batch's page. */
struct nt_lance_batch {
    uint64_t offset, stored_bytes; /* the page */
    uint64_t rows;                 /* of the field */
    uint64_t begin,
        bytes; /* strings: theirs in the file, of a dictionary 0 and what they are; lists: 0 and items */
};

struct nt_lance_items {
    struct nt_lance_inputs inputs;
    struct nt_page valid; /* of strings: which are not null */
    uint64_t *ends;       /* from malloc; strings */
};

struct nt_lance_legacy_pages {
    struct nt_dataset *dataset;
    const struct nt_field *field; /* of the model */
    uint32_t number;              /* its number */
    const struct nt_lance *lance;
    const struct nt_lance_column_map *use;
    const struct nt_lance_page_format *paging;
    uint32_t counted;                  /* the field of the file whose pages tell the rows: mostly its own */
    const struct nt_lance_cell *cells; /* of that one */
    struct nt_lance_batch *batches;    /* from malloc, as many as the file has */
    struct nt_lance_items items;       /* of a dictionary */
    const struct nt_tree *known;       /* what was made last */
    struct nt_error *error;
};

/* A tree of values of `bits`, in `bytes` that are the whole page: what numbers a dictionary's items, or offsets. */
enum nt_status nt_lance_flat_tree(struct nt_lance_legacy_pages *listing, bool are_offsets, uint32_t bits,
                                  uint64_t bytes, const struct nt_tree **tree_ret);

/* ---- Dictionary items ---- */

/* Find the items of the field's dictionary: listing->items. */
enum nt_status nt_lance_open_items(struct nt_lance_legacy_pages *listing);
/* Set the bytes of all strings that a batch numbers, from one look at its page. */
enum nt_status nt_lance_count_items(struct nt_lance_legacy_pages *listing, struct nt_lance_batch *batch);
/* The decoder of what is wanted of a batch's page. */
enum nt_status nt_lance_add_items_decoder(struct nt_lance_legacy_pages *listing,
                                          const struct nt_lance_batch *batch, enum nt_tree_output output,
                                          const struct nt_dtype *dtype, uint32_t *number_ret);

/* ---- Page statistics ---- */

/* As members of nt_document: lines, one for each field that has statistics and batch. */
enum nt_status nt_lance_statistics_open(const struct nt_file *file, const struct nt_dataset *dataset,
                                        uint64_t number, struct nt_text_generator **text_ret,
                                        struct nt_error *error);
enum nt_status nt_lance_statistics_is_short(const struct nt_file *file, const struct nt_dataset *dataset,
                                            uint64_t number, bool *is_short_ret, struct nt_error *error);

/* The ranges that they take: table, values, strings. */
enum nt_status nt_lance_statistics_lay_out(const struct nt_lance *lance,
                                           const struct nt_layout_output *output, struct nt_error *error);

/* ---- Table of documents ---- */

extern const struct nt_document nt_lance_legacy_documents[];
extern const uint32_t nt_lance_legacy_document_count;

#endif
