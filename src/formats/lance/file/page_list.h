/* SPDX-License-Identifier: MIT
 *
 * Building page lists: chunks, repetition indexes, and the page list builder that file/ and legacy/ share.
 */
#ifndef NT_FORMATS_LANCE_FILE_PAGE_LIST_H
#define NT_FORMATS_LANCE_FILE_PAGE_LIST_H

#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/model/builder.h"
#include "core/model/model.h"
#include "formats/lance/decode/decode.h"
#include "formats/lance/file/file.h"

/* ---- Mini-block repetition index ---- */

struct nt_lance_row_index {
    const uint8_t *entries; /* from malloc; NULL: the page has none */
    uint64_t count;         /* of chunks */
    uint32_t entry_bytes;
    uint64_t offset;               /* where it lies */
    struct nt_tree_counts counted; /* what the levels of the chunk that was checked last tell */
};

/* Read that of a page of `count` chunks from its file, if it has one. NT_CORRUPT where it contradicts itself or the page. */
enum nt_status nt_lance_row_index_open(struct nt_source *source, const struct nt_lance_page *page,
                                       const struct nt_lance_layout *layout, uint64_t count,
                                       struct nt_lance_row_index *index, struct nt_error *error);
void nt_lance_row_index_close(struct nt_lance_row_index *index);
/* Rows that begin in a chunk. */
uint64_t nt_lance_row_index_rows(const struct nt_lance_row_index *index, uint64_t chunk);
/* Compare it with what the levels of a chunk tell; chunk after chunk. Whether its last row goes on is known from the
 * next one. */
enum nt_status nt_lance_row_index_check(struct nt_lance_row_index *index, const struct nt_tree *tree,
                                        uint64_t chunk, const struct nt_tree_counts *counts,
                                        struct nt_error *error);

/* ---- Full-zip repetition index ---- */

struct nt_lance_row_offsets {
    const uint8_t *entries; /* from malloc, one more than there are rows; NULL: the page has none */
    uint32_t entry_bytes;
    uint64_t rows;
    uint64_t end;                     /* of the last row */
    uint32_t item_bytes, empty_bytes; /* of an item, of a list without one; 0: rows do not tell their items */
};

/* Some rows, one after the other. */
struct nt_lance_row_span {
    uint64_t rows, bytes;
    uint64_t items; /* where rows tell of them */
};

/* Read that of a page from its file, if it has one. NT_CORRUPT where it contradicts itself or the page. */
enum nt_status nt_lance_row_offsets_open(struct nt_source *source, const struct nt_lance_page *page,
                                         const struct nt_lance_layout *layout,
                                         struct nt_lance_row_offsets *offsets, struct nt_error *error);
void nt_lance_row_offsets_close(struct nt_lance_row_offsets *offsets);
/* The rows from one on that lie in so many bytes, one of them in any case. */
struct nt_lance_row_span nt_lance_row_offsets_take(const struct nt_lance_row_offsets *offsets, uint64_t row,
                                                   uint64_t max_bytes);

/* ---- Chunks of a page ---- */

/* A part of a page of the file that is decoded alone: a chunk of mini-blocks, some rows, or the whole page. */
struct nt_lance_chunk {
    uint64_t offset, bytes;
    uint64_t values; /* that it holds, where they are counted without looking at it */
    uint64_t rows;   /* of the page's, where its rows' places tell; the values, but of lists */
};

/* A page of the file that is taken apart. */
struct nt_lance_page_reader {
    struct nt_lance_layout layout;
    const struct nt_lance_page *page;
    const uint8_t *chunks;                  /* mini-blocks: a word for each, from malloc */
    struct nt_lance_row_index index;        /* of mini-blocks, where it was opened */
    struct nt_lance_row_offsets offsets;    /* of full zip, where it has any */
    uint64_t page_chunks, mean_chunk_bytes; /* of them; about how many bytes one has, where rows are cut */
    uint64_t rows_per_chunk, row_bytes; /* how rows are cut, where they are; bytes of those that take any */
    bool is_plain; /* values lie in the units as they are: no tree is needed for them, and none are null */
    uint64_t next_offset, next_value; /* of the unit that comes next */
    uint64_t next_chunk_number, next_row;
};

enum nt_status nt_lance_open_page(struct nt_dataset *dataset, const struct nt_lance *lance,
                                  const struct nt_lance_page *page, const struct nt_lance_column_map *use,
                                  const struct nt_tree *known, struct nt_lance_page_reader *opened,
                                  struct nt_error *error);
/* All of a page, from the first byte of a buffer to the last. */
struct nt_lance_chunk nt_lance_page_span(const struct nt_lance_page *page);
/* Whether a page without levels has the same value, or null, in all rows, however many. */
bool nt_lance_is_uniform(const struct nt_tree *tree);
void nt_lance_close_page(struct nt_lance_page_reader *opened);
/* The next unit; call it page_chunks times. */
enum nt_status nt_lance_next_chunk(struct nt_lance_page_reader *opened, struct nt_lance_chunk *unit,
                                   struct nt_error *error);

/* ---- Page list builder ---- */

enum { NT_PAGE_LIST_DECODERS = 3 };

/* A part of a page of the file, as pages of the field's columns. */
struct nt_page_list_entry {
    uint64_t offset, stored_bytes;
    uint64_t rows;     /* of the layer, of fixed-size lists of structures those that begin here */
    uint64_t skipped;  /* of the layer's: of a list that has begun before */
    uint64_t items;    /* lists: rows of the layer below */
    uint64_t bytes;    /* strings; a blob's */
    bool is_blob;      /* a blob, for position 0; else what tells of blobs, for their validity */
    bool is_uniform;   /* the same value, or null, in all rows */
    bool is_all_valid; /* nothing has to be read for its validity */
    bool is_told; /* rows and items are not counted: what decodes the part compares them with its levels */
    uint32_t decoders[NT_PAGE_LIST_DECODERS]; /* by position */
};

/* What is filled of a field. Strings may have their bytes in a column of their own: then each of the two is filled alone. */
enum nt_page_list_part {
    NT_PAGE_LIST_ALL,
    NT_PAGE_LIST_WITHOUT_BYTES,
    NT_PAGE_LIST_BYTES,
};

struct nt_page_list_builder {
    struct nt_dataset *dataset;
    uint32_t number; /* of the field */
    const struct nt_field *field;
    const struct nt_lance *lance; /* the file that the pages lie in */
    const struct nt_lance_column_map *use;
    enum nt_page_list_part part;
    struct nt_error *error;
    struct nt_codec_context *context;
    struct nt_page_list_entry *entry; /* from malloc */
    size_t count, capacity;
    size_t first_of_page;                     /* the first of the current page */
    uint64_t rows;                            /* so far, of the layer */
    bool is_all_valid;                        /* the current page */
    uint64_t taken;                           /* parts that the file's budget was told of, until deinit */
    uint64_t spent;                           /* bytes that were made to count what pages hold */
    uint32_t decoders[NT_PAGE_LIST_DECODERS]; /* of the current page */
    struct {
        uint64_t *ends; /* from malloc; strings: where the items end */
        uint64_t bytes;
    } dictionary; /* of the current page */
    struct {
        uint8_t *bytes; /* from malloc */
        uint64_t offset, count, capacity;
    } window; /* what was read last */
};

/* Whether the field's column at a position is filled. */
bool nt_page_list_builder_has(const struct nt_page_list_builder *list_builder, uint32_t position);
/* As which kind of field the column's pages are taken. */
enum nt_field_kind nt_page_list_builder_kind(const struct nt_page_list_builder *list_builder);
/* What the field's column at a position is made of. */
enum nt_tree_output nt_page_list_builder_output(const struct nt_page_list_builder *list_builder,
                                                uint32_t position);
/* Whether the field's values are strings, which have to be counted. */
bool nt_page_list_builder_is_strings(const struct nt_page_list_builder *list_builder);
/* What a field's column at a position is made of. */
enum nt_tree_output nt_lance_output(enum nt_field_kind kind, uint32_t position);

/* A dictionary's items, or of strings where they end, and their bytes; none. */
struct nt_lance_inputs {
    struct nt_page pages[NT_DECODER_INPUTS];
    uint32_t count;
};

/* A decoder by its number. `inputs` NULL: it has none. */
enum nt_status nt_lance_add_decoder(struct nt_dataset *dataset, const struct nt_tree_state *state,
                                    const struct nt_dtype *dtype, const struct nt_lance_inputs *inputs,
                                    uint32_t *number_ret, struct nt_error *error);
/* The decoder of a validity that nothing is read for: all rows are valid. */
enum nt_status nt_lance_add_all_valid(struct nt_dataset *dataset, uint32_t *number_ret,
                                      struct nt_error *error);

enum nt_status nt_page_list_builder_add(struct nt_page_list_builder *list_builder,
                                        const struct nt_page_list_entry *entry);
/* So many bytes were read or made to count what is in a part. NT_LIMIT where they are too many in all: a part may be of a
 * few bytes and take the time of a whole page, and there may be many that lie at the same place. */
enum nt_status nt_page_list_builder_charge(struct nt_page_list_builder *list_builder, uint64_t bytes);
/* A failure that does not tell where it is, is where the part begins that is looked at. Returns `status`. */
enum nt_status nt_page_list_builder_place_failure(const struct nt_page_list_builder *list_builder,
                                                  enum nt_status status, uint64_t offset);
/* The same of a page of the file: where the message lies that tells how it is encoded, or, once that is known to fit,
 * where its first buffer begins. */
enum nt_status nt_page_list_builder_place_page_failure(const struct nt_page_list_builder *list_builder,
                                                       enum nt_status status,
                                                       const struct nt_lance_page *page, bool is_opened);
/* Hand all to the group's builder, column after column. */
enum nt_status nt_page_list_builder_finish(struct nt_page_list_builder *list_builder,
                                           struct nt_group_builder *builder);
void nt_page_list_builder_deinit(struct nt_page_list_builder *list_builder);

/* ---- Read and count chunks ---- */

/* A unit's bytes, valid until the next call: read with those behind them. NT_LIMIT where they are more than a page may have. */
enum nt_status nt_lance_read_chunk(struct nt_page_list_builder *list_builder,
                                   const struct nt_lance_page_reader *opened,
                                   const struct nt_lance_chunk *unit, const uint8_t **bytes_ret);

/* Count what is in a unit. `wants_bytes`: of its strings, too. */
enum nt_status nt_lance_count_chunk(struct nt_page_list_builder *list_builder,
                                    const struct nt_lance_page_reader *opened,
                                    const struct nt_lance_chunk *unit, bool wants_bytes,
                                    struct nt_tree_counts *counts);

/* Find where the strings of a page's dictionary end, and how many bytes they have; nothing to do for others. */
enum nt_status nt_lance_read_dictionary(struct nt_page_list_builder *list_builder,
                                        const struct nt_lance_page_reader *opened);

/* ---- Dictionary pages ---- */

/* Of a page's dictionary; of strings nt_lance_read_dictionary has counted it. */
enum nt_status nt_lance_add_inputs(struct nt_page_list_builder *list_builder,
                                   const struct nt_lance_page_reader *opened,
                                   struct nt_lance_inputs *inputs_ret);

#endif
