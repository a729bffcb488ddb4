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

/* Returns the size of a page of `elements` elements, as counted in a cell; fixed-size lists count with
 * all their items. False on overflow. */
bool nt_lance_page_bytes(const struct nt_lance_page_format *paging, const struct nt_lance_value *value,
                         uint64_t elements, uint64_t *bytes_ret);

/* ---- Ranges of offsets ---- */

/* Reads 64-bit offsets and returns the range of the file that the strings occupy. */
enum nt_status nt_lance_read_strings(const struct nt_lance *lance, uint64_t offset, uint64_t count,
                                     uint64_t *begin_ret, uint64_t *bytes_ret, struct nt_error *error);

/* ---- Page list builder ---- */

/* The contents of a batch's page. */
struct nt_lance_batch {
    uint64_t offset, stored_bytes; /* of the page */
    uint64_t rows;                 /* of the field */
    uint64_t begin,
        bytes; /* strings: range in the file; dictionaries: 0 and decoded size; lists: 0 and items */
};

struct nt_lance_items {
    struct nt_lance_dependencies dependencies;
    struct nt_page valid; /* strings: item validity */
    uint64_t *ends;       /* strings; from malloc */
};

struct nt_lance_legacy_pages {
    struct nt_dataset *dataset;
    const struct nt_field *field; /* in the model */
    uint32_t number;              /* of `field` */
    const struct nt_lance *lance;
    const struct nt_lance_column_map *column_map;
    const struct nt_lance_page_format *paging;
    uint32_t counted;                  /* the field of the file whose pages give the row counts */
    const struct nt_lance_cell *cells; /* of `counted` */
    struct nt_lance_batch *batches;    /* from malloc, one for each batch of the file */
    struct nt_lance_items items;       /* dictionaries */
    const struct nt_tree *known;       /* the last tree that was built */
    struct nt_error *error;
};

/* Builds a flat tree of `bits`-wide values over a page of `bytes`: dictionary indices or offsets. */
enum nt_status nt_lance_flat_tree(struct nt_lance_legacy_pages *listing, bool are_offsets, uint32_t bits,
                                  uint64_t bytes, const struct nt_tree **tree_ret);

/* ---- Dictionary items ---- */

/* Reads the items of the field's dictionary into listing->items. */
enum nt_status nt_lance_open_items(struct nt_lance_legacy_pages *listing);
/* Decodes the batch's indices to compute the size of all its strings. */
enum nt_status nt_lance_count_items(struct nt_lance_legacy_pages *listing, struct nt_lance_batch *batch);
/* Returns the decoder for an output of a batch's page. */
enum nt_status nt_lance_add_items_decoder(struct nt_lance_legacy_pages *listing,
                                          const struct nt_lance_batch *batch, enum nt_tree_output output,
                                          const struct nt_dtype *dtype, uint32_t *number_ret);

/* ---- Page statistics ---- */

/* Members of nt_document: a JSON line for each field with statistics and each batch. */
enum nt_status nt_lance_statistics_open(const struct nt_file *file, const struct nt_dataset *dataset,
                                        uint64_t number, struct nt_text_generator **text_ret,
                                        struct nt_error *error);
enum nt_status nt_lance_statistics_is_short(const struct nt_file *file, const struct nt_dataset *dataset,
                                            uint64_t number, bool *is_short_ret, struct nt_error *error);

/* Reports the ranges of the statistics: table, values, strings. */
enum nt_status nt_lance_statistics_lay_out(const struct nt_lance *lance,
                                           const struct nt_layout_output *output, struct nt_error *error);

/* ---- Table of documents ---- */

extern const struct nt_document nt_lance_legacy_documents[];
extern const uint32_t nt_lance_legacy_document_count;

#endif
