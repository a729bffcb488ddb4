/* SPDX-License-Identifier: MIT
 *
 * The page lists of one field while they are made.
 */
#ifndef NT_FORMAT_LANCE_FILLING_H
#define NT_FORMAT_LANCE_FILLING_H

#include "formats/lance/decode/description.h"
#include "formats/lance/file/places.h"
#include "core/model/builder.h"

enum { NT_FILLED_DECODERS = 3 };

/* A part of a page of the file, as pages of the field's columns. */
struct nt_filled {
    uint64_t offset, stored_bytes;
    uint64_t rows;     /* of the layer, of fixed-size lists of structures those that begin here */
    uint64_t skipped;  /* of the layer's: of a list that has begun before */
    uint64_t items;    /* lists: rows of the layer below */
    uint64_t bytes;    /* strings; a blob's */
    bool is_blob;      /* a blob, for position 0; else what tells of blobs, for their validity */
    bool is_uniform;   /* the same value, or null, in all rows */
    bool is_all_valid; /* nothing has to be read for its validity */
    bool is_told; /* rows and items are not counted: what decodes the part compares them with its levels */
    uint32_t decoders[NT_FILLED_DECODERS]; /* by position */
};

/* What is filled of a field. Strings may have their bytes in a column of their own: then each of the two is filled alone. */
enum nt_filling_part {
    NT_FILLING_ALL,
    NT_FILLING_WITHOUT_BYTES,
    NT_FILLING_BYTES,
};

struct nt_filling {
    struct nt_dataset *dataset;
    uint32_t number; /* of the field */
    const struct nt_field *field;
    const struct nt_lance *lance; /* the file that the pages lie in */
    const struct nt_lance_use *use;
    enum nt_filling_part part;
    struct nt_error *error;
    struct nt_codec_context *context;
    struct nt_filled *filled; /* from malloc */
    size_t count, capacity;
    size_t first_of_page;                  /* the first of the current page */
    uint64_t rows;                         /* so far, of the layer */
    bool is_all_valid;                     /* the current page */
    uint64_t taken;                        /* parts that the file's budget was told of, until deinit */
    uint64_t spent;                        /* bytes that were made to count what pages hold */
    uint32_t decoders[NT_FILLED_DECODERS]; /* of the current page */
    struct {
        uint64_t *ends; /* from malloc; strings: where the items end */
        uint64_t bytes;
    } dictionary; /* of the current page */
    struct {
        uint8_t *bytes; /* from malloc */
        uint64_t offset, count, capacity;
    } window; /* what was read last */
};

/* Whether a kind of field has strings. */
bool nt_lance_has_strings(enum nt_field_kind kind);
/* Whether the field's column at a position is filled. */
bool nt_filling_has(const struct nt_filling *filling, uint32_t position);
/* As which kind of field the column's pages are taken. */
enum nt_field_kind nt_filling_kind(const struct nt_filling *filling);
/* What the field's column at a position is made of. */
enum nt_tree_output nt_filling_output(const struct nt_filling *filling, uint32_t position);
/* Whether the field's values are strings, which have to be counted. */
bool nt_filling_is_strings(const struct nt_filling *filling);
/* What a field's column at a position is made of. */
enum nt_tree_output nt_lance_output(enum nt_field_kind kind, uint32_t position);

/* A decoder of one step, by its number. `inputs`: a dictionary's items, or where they end and their bytes, or none. */
enum nt_status nt_lance_add_decoder(struct nt_dataset *dataset, const struct nt_tree *tree,
                                    const struct nt_tree_want *want, const struct nt_dtype *dtype,
                                    const struct nt_page *inputs, uint32_t input_count, uint32_t *number_ret,
                                    struct nt_error *error);
/* The same for the group that is filled. */
enum nt_status nt_filling_add_decoder(struct nt_filling *filling, const struct nt_tree *tree,
                                      const struct nt_tree_want *want, const struct nt_dtype *dtype,
                                      const struct nt_page *inputs, uint32_t input_count,
                                      uint32_t *number_ret);
/* The decoder of a validity that nothing is read for: all rows are valid. */
enum nt_status nt_lance_add_all_valid(struct nt_dataset *dataset, uint32_t *number_ret,
                                      struct nt_error *error);

enum nt_status nt_filling_add(struct nt_filling *filling, const struct nt_filled *filled);
/* So many bytes were read or made to count what is in a part. NT_LIMIT where they are too many in all: a part may be of a
 * few bytes and take the time of a whole page, and there may be many that lie at the same place. */
enum nt_status nt_filling_spend(struct nt_filling *filling, uint64_t bytes);
/* A failure that does not tell where it is, is where the part begins that is looked at. Returns `status`. */
enum nt_status nt_filling_place_failure(const struct nt_filling *filling, enum nt_status status,
                                        uint64_t offset);
/* The same of a page of the file: where the message lies that tells how it is encoded, or, once that is known to fit,
 * where its first buffer begins. */
enum nt_status nt_filling_place_page_failure(const struct nt_filling *filling, enum nt_status status,
                                             const struct nt_lance_page *page, bool is_opened);
/* Hand all to the group's builder, column after column. */
enum nt_status nt_filling_finish(struct nt_filling *filling, struct nt_group_builder *builder);
void nt_filling_deinit(struct nt_filling *filling);

#endif
