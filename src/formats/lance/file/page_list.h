/* SPDX-License-Identifier: MIT
 *
 * Builds page lists: chunks, repetition indexes, and the page list builder that file/ and legacy/
 * share.
 */
#pragma once

#include "formats/lance/file/file.h"

/* ---- Mini-block repetition index ---- */

struct nt_lance_row_index {
    uint8_t *entries; /* from malloc; NULL: the page has none */
    uint64_t count;   /* number of chunks */
    uint32_t entry_bytes;
    uint64_t offset;                /* in the file */
    struct nt_lance_counts counted; /* from the levels of the last checked chunk */
};

/* Reads the index of a page with `count` chunks, if it has one. The caller frees its `entries`. Returns
 * NT_CORRUPT if the index contradicts itself or the page. */
enum nt_status nt_lance_row_index_open(struct nt_source *source, const struct nt_lance_page *page,
                                       const struct nt_lance_layout *layout, uint64_t count,
                                       struct nt_lance_row_index *index, struct nt_error *error);
/* Returns the number of rows that begin in a chunk. */
uint64_t nt_lance_row_index_rows(const struct nt_lance_row_index *index, uint64_t chunk);
/* Compares the index with the levels of a chunk. Call it for each chunk in order: only the next chunk
 * shows whether the last row continues. */
enum nt_status nt_lance_row_index_check(struct nt_lance_row_index *index, const struct nt_encoding_tree *tree,
                                        uint64_t chunk, const struct nt_lance_counts *counts,
                                        struct nt_error *error);

/* ---- Full-zip repetition index ---- */

struct nt_lance_row_offsets {
    uint8_t *entries; /* from malloc, rows + 1; NULL: the page has none */
    uint32_t entry_bytes;
    uint64_t rows;
    uint64_t end;                     /* of the last row */
    uint32_t item_bytes, empty_bytes; /* of an item, of an empty list; 0: only offsets are known */
};

/* Consecutive rows. */
struct nt_lance_row_span {
    uint64_t rows, bytes;
    uint64_t items; /* if the rows reveal them */
};

/* Reads the offsets of a page, if it has any. The caller frees `entries`. Returns NT_CORRUPT if they
 * contradict themselves or the page. */
enum nt_status nt_lance_row_offsets_open(struct nt_source *source, const struct nt_lance_page *page,
                                         const struct nt_lance_layout *layout,
                                         struct nt_lance_row_offsets *offsets, struct nt_error *error);
/* Returns as many rows, from `row` on, as fit in `max_bytes`, but at least one. */
struct nt_lance_row_span nt_lance_row_offsets_take(const struct nt_lance_row_offsets *offsets, uint64_t row,
                                                   uint64_t max_bytes);

/* ---- Chunks of a page ---- */

/* A part of a page that is decoded alone: a chunk of mini-blocks, some rows, or the whole page. */
struct nt_lance_chunk {
    uint64_t offset, bytes;
    uint64_t values; /* number, if known without decoding */
    uint64_t rows;   /* of the page, if their offsets are known; equal to values except for lists */
};

/* Splits a page of the file into chunks. */
struct nt_lance_page_reader {
    struct nt_lance_layout layout;
    const struct nt_lance_page *page;
    uint8_t *chunks;                        /* mini-blocks: a word for each chunk, from malloc */
    struct nt_lance_row_index index;        /* of mini-blocks, if opened */
    struct nt_lance_row_offsets offsets;    /* of full zip, if present */
    uint64_t page_chunks, mean_chunk_bytes; /* number of chunks; average size if split by rows */
    uint64_t rows_per_chunk, row_bytes;     /* if split by rows; bytes of a row with bytes */
    bool is_plain;                          /* chunks store plain values: no tree, and no nulls */
    uint64_t next_offset, next_value;       /* of the next chunk */
    uint64_t next_chunk_number, next_row;
};

enum nt_status nt_lance_open_page(struct nt_dataset *dataset, const struct nt_lance *lance,
                                  const struct nt_lance_page *page,
                                  const struct nt_lance_column_map *column_map,
                                  const struct nt_encoding_tree *known, struct nt_lance_page_reader *opened,
                                  struct nt_error *error);
/* Returns the whole page, from the first byte of its buffers to the last. */
struct nt_lance_chunk nt_lance_page_span(const struct nt_lance_page *page);
/* Returns the first buffers of a page, relative to the start of the whole page. */
void nt_lance_page_parts(const struct nt_lance_page *page, uint32_t count, struct nt_lance_buffer *parts);
/* Do all rows of a page without levels have the same value, or null, whatever their number? */
bool nt_lance_is_uniform(const struct nt_encoding_tree *tree);
void nt_lance_close_page(struct nt_lance_page_reader *opened);
/* Returns the next chunk. Call it page_chunks times. */
enum nt_status nt_lance_next_chunk(struct nt_lance_page_reader *opened, struct nt_lance_chunk *chunk,
                                   struct nt_error *error);

/* ---- Page list builder ---- */

enum { NT_PAGE_LIST_DECODERS = 3 };

/* A chunk of a page of the file, which becomes one page in each of the field's columns. */
struct nt_page_list_entry {
    uint64_t offset, stored_bytes;
    uint64_t rows;     /* in the layer; fixed-size lists of structures: those that begin here */
    uint64_t skipped;  /* rows of the layer, of a list that began earlier */
    uint64_t items;    /* lists: rows of the layer below */
    uint64_t bytes;    /* strings, blobs */
    bool is_blob;      /* a blob for position 0; false: descriptors, for the validity */
    bool is_uniform;   /* all rows have the same value, or null */
    bool is_all_valid; /* the validity needs no bytes */
    bool is_uncounted; /* rows and items are not counted; the decoder compares them with the levels */
    uint32_t decoders[NT_PAGE_LIST_DECODERS]; /* by position */
};

/* Which columns of a field to fill. Strings may have their bytes in a column of their own: then the two
 * are filled separately. */
enum nt_page_list_part {
    NT_PAGE_LIST_ALL,
    NT_PAGE_LIST_WITHOUT_BYTES,
    NT_PAGE_LIST_BYTES,
};

struct nt_lance_page_list {
    struct nt_dataset *dataset;
    uint32_t number; /* of the field */
    const struct nt_field *field;
    const struct nt_lance *lance; /* the file with the pages */
    const struct nt_lance_column_map *column_map;
    enum nt_page_list_part part;
    struct nt_error *error;
    struct nt_codec_context *context;
    struct nt_page_list_entry *entry; /* from malloc */
    size_t count, capacity;
    size_t first_of_page;                     /* first entry of the current page */
    uint64_t rows;                            /* in the layer so far */
    bool is_all_valid;                        /* of the current page */
    uint64_t taken;                           /* entries reserved in the file's budget, until deinit */
    uint64_t spent;                           /* bytes decoded to count the contents of pages */
    uint32_t decoders[NT_PAGE_LIST_DECODERS]; /* of the current page */
    struct {
        uint64_t *ends; /* from malloc; strings: the end of each item */
        uint64_t bytes;
    } dictionary; /* of the current page */
    struct {
        uint8_t *bytes; /* from malloc */
        uint64_t offset, count, capacity;
    } window; /* the last bytes read */
};

/* Does the builder fill the field's column at a position? */
bool nt_lance_page_list_has(const struct nt_lance_page_list *list, uint32_t position);
/* Returns the kind of field whose columns are filled. */
enum nt_field_kind nt_lance_page_list_kind(const struct nt_lance_page_list *list);
/* Returns the output of a decoder for the field's column at a position. */
enum nt_lance_decoder_output nt_lance_page_list_output(const struct nt_lance_page_list *list,
                                                       uint32_t position);
/* Are the field's values strings, which must be counted? */
bool nt_lance_page_list_is_strings(const struct nt_lance_page_list *list);
/* Returns the output of a decoder for a column at a position in a field of this kind. */
enum nt_lance_decoder_output nt_lance_output(enum nt_field_kind kind, uint32_t position);

/* A dictionary: the items, or the ends of strings and their bytes. Empty: no dictionary. */
struct nt_lance_dependencies {
    struct nt_page pages[NT_DECODER_DEPENDENCIES];
    uint32_t count;
};

/* Adds a decoder and returns its number. `dependencies` may be NULL. */
enum nt_status nt_lance_add_decoder(struct nt_dataset *dataset, const struct nt_lance_decoder_state *state,
                                    const struct nt_dtype *dtype,
                                    const struct nt_lance_dependencies *dependencies, uint32_t *number_ret,
                                    struct nt_error *error);
/* Adds a decoder for the validity of rows that are all valid, which reads nothing. */
enum nt_status nt_lance_add_all_valid(struct nt_dataset *dataset, uint32_t *number_ret,
                                      struct nt_error *error);

enum nt_status nt_lance_page_list_add(struct nt_lance_page_list *list,
                                      const struct nt_page_list_entry *entry);
/* Counts bytes that were read or decoded to count the contents of a chunk. Returns NT_LIMIT if the sum
 * is too large: a chunk of few bytes may take the time of a whole page, and many chunks may share an
 * offset. */
enum nt_status nt_lance_page_list_charge(struct nt_lance_page_list *list, uint64_t bytes);
/* Adds the number of the current chunk to a failure, and its start if it has no offset. Returns
 * `status`. */
enum nt_status nt_lance_page_list_locate_chunk_failure(const struct nt_lance_page_list *list,
                                                       enum nt_status status,
                                                       const struct nt_lance_page_reader *opened,
                                                       const struct nt_lance_chunk *chunk);
/* Sets the offset to the offset of a page: that of the message with its encoding or, with `is_opened`, of its
 * first buffer. */
enum nt_status nt_lance_page_list_locate_page_failure(const struct nt_lance_page_list *list,
                                                      enum nt_status status, const struct nt_lance_page *page,
                                                      bool is_opened);
/* Passes all entries to the group's builder, column after column. */
enum nt_status nt_lance_page_list_finish(struct nt_lance_page_list *list, struct nt_group_builder *builder);
void nt_lance_page_list_deinit(struct nt_lance_page_list *list);

/* ---- Read and count chunks ---- */

/* Reads the bytes of a chunk, with readahead; they are valid until the next call. Returns NT_LIMIT if a
 * page cannot have that many bytes. */
enum nt_status nt_lance_read_chunk(struct nt_lance_page_list *list, const struct nt_lance_page_reader *opened,
                                   const struct nt_lance_chunk *chunk, const uint8_t **bytes_ret);

/* Counts the contents of a chunk; with `needs_bytes`, also the bytes of its strings. */
enum nt_status nt_lance_count_chunk(struct nt_lance_page_list *list,
                                    const struct nt_lance_page_reader *opened,
                                    const struct nt_lance_chunk *chunk, bool needs_bytes,
                                    struct nt_lance_counts *counts);

/* Finds the ends of the strings in a page's dictionary, and their total bytes. Does nothing for other
 * dictionaries. */
enum nt_status nt_lance_read_dictionary(struct nt_lance_page_list *list,
                                        const struct nt_lance_page_reader *opened);

/* ---- Dictionary pages ---- */

/* Adds the pages that decode a page's dictionary; call nt_lance_read_dictionary first. */
enum nt_status nt_lance_add_dependencies(struct nt_lance_page_list *list,
                                         const struct nt_lance_page_reader *opened,
                                         struct nt_lance_dependencies *dependencies_ret);
