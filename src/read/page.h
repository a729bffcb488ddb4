/* SPDX-License-Identifier: MIT
 *
 * The reading interface for other directories, beyond <ntuple/read.h>: stored and decoded pages, pinned
 * stream ranges, memory accounting and blob bytes.
 */
#pragma once

#include "read/read.h"

struct nt_blob_rows;
struct nt_blobs;
NT_DEFINE_CLEANUP(struct nt_reader, nt_reader_free)
NT_DEFINE_CLEANUP(struct nt_stream, nt_stream_close)

/* ---- One page ---- */

/* The page's decoder, and its sizes after decompression and decoding. NT_LIMIT if one overflows. */
const struct nt_decoder *nt_page_decoder(const struct nt_dataset *dataset, const struct nt_page *page);
enum nt_status nt_page_sizes(const struct nt_dataset *dataset, const struct nt_page *page,
                             uint64_t *packed_ret, uint64_t *decoded_ret, struct nt_error *error);
/* Reads stored bytes [offset, offset + bytes) of a page, without the digest. Never verifies them. */
enum nt_status nt_page_load_stored(struct nt_dataset *dataset, const struct nt_page *page, uint64_t offset,
                                   void *output, size_t bytes, struct nt_error *error);
/* Reads decoded bytes [offset, offset + bytes) of a page of the column, or of a page that its pages depend
 * on. */
enum nt_status nt_page_read(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                            const struct nt_page *page, uint64_t offset, void *output, size_t bytes,
                            struct nt_error *error);
/* The digest after the page, as hex text of at most 129 characters; "" if the page has none. */
enum nt_status nt_page_load_digest(struct nt_dataset *dataset, const struct nt_page *page, char *hex,
                                   struct nt_error *error);
/* The compression algorithm that the stored bytes name. */
enum nt_status nt_page_algorithm(struct nt_dataset *dataset, const struct nt_page *page,
                                 const char **name_ret, struct nt_error *error);
/* Prefixes the message with "column 3 (SplitInt32) of field jets.pt, page 5 of cluster 2: ". Sets the
 * page's offset if the error has none and the page is not missing. Returns the error's status. */
enum nt_status nt_page_error(const struct nt_dataset *dataset, uint32_t column, const struct nt_page *page,
                             enum nt_status status, struct nt_error *error);

/* A page of a column, and where it is. */
struct nt_page_position {
    const struct nt_page *page;
    struct nt_group *group; /* pinned */
    uint32_t cluster;
    uint64_t first_element; /* in the column */
};
/* nt_column_page for a short use: the caller unpins the group. */
enum nt_status nt_column_page_pin(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                                  uint64_t number, struct nt_page_position *place, struct nt_error *error);

/* Fails with NT_UNSUPPORTED: the page is not in the file but where its locator points. */
enum nt_status nt_page_fail_elsewhere(const struct nt_dataset *dataset, const struct nt_page *page,
                                      struct nt_error *error);

/* ---- Zero-copy stream ranges ---- */

enum {
    NT_MAX_PINS = 36,
    NT_MIN_PINNED = 32 * 1024, /* per request and per page: below it, copying is faster */
};

/* Byte ranges in cached pages, consecutive in the stream. */
struct nt_pins {
    struct nt_reader *reader;
    unsigned count;
    struct nt_pin {
        const uint8_t *bytes;
        size_t count;
        struct nt_cache_entry *page; /* NULL: the cache does not own the bytes */
        int use;                     /* enum nt_cache_hint */
    } items[NT_MAX_PINS];
};

/* Appends pins for a byte range of a stream, if the reader is sequential and the bytes are those of a
 * few large pages unchanged. Pins are valid until nt_pins_release, even after the stream is closed.
 * Returns false otherwise, and if a page fails or there is no room: release `pins` and read the bytes.
 * Thread-safe like nt_stream_read. */
bool nt_stream_pin(struct nt_stream *stream, uint64_t offset, size_t bytes, struct nt_pins *pins);
void nt_pins_release(struct nt_pins *pins);

/* Announces that the calling thread will work or block for long: see the reader's options. */
void nt_reader_before_blocking(const struct nt_reader *reader);

/* ---- Memory ---- */

/* Charges stream buffers outside the page cache to the cache's limit; negative values release them. */
void nt_reader_reserve(struct nt_reader *reader, int64_t bytes);
/* How much to buffer for one of many streams read in parallel, and for all while they are idle. */
uint64_t nt_reader_buffer_bytes(const struct nt_reader *reader);
uint64_t nt_reader_idle_bytes(const struct nt_reader *reader);
/* The memory that a stream occupies. */
size_t nt_stream_memory(const struct nt_stream *stream);

/* Blobs are stored where the rows of a field say (struct nt_blob_description in core/model/model.h). Each row
 * has one blob; together they form the data of a binary field. Their sizes come from the descriptions,
 * whatever the files contain. A file is examined only if its description omits the size. */

/* Do the rows of a field describe readable blobs? */
bool nt_field_has_blobs(const struct nt_dataset *dataset, uint32_t field);
enum nt_status nt_blobs_open(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                             struct nt_blobs **blobs_ret, struct nt_error *error);
void nt_blobs_close(struct nt_blobs *blobs); /* accepts NULL */

/* A row's blob, as in nt_dataset_ops.find_blob. NT_NOT_FOUND if the row is null or absent. */
enum nt_status nt_blobs_find(struct nt_blobs *blobs, uint64_t row, bool opens_file, struct nt_blob *blob,
                             struct nt_error *error);
/* Reads bytes [offset, offset + bytes) of a row's blob that was found with its file. */
enum nt_status nt_blobs_read_row(struct nt_blobs *blobs, uint64_t row, const struct nt_blob *blob,
                                 uint64_t offset, void *buffer, size_t bytes, struct nt_error *error);

/* The bytes of all blobs. The first call scans all described sizes. With `may_block` false,
 * NT_NOT_FOUND if that scan has not run. */
enum nt_status nt_blobs_bytes(struct nt_blobs *blobs, bool may_block, uint64_t *bytes_ret,
                              struct nt_error *error);
/* Caches the last lookup of a reader of all blobs. Starts zeroed; one thread at a time. */
struct nt_blobs_cursor {
    struct nt_blob blob;
    struct nt_blob_rows *rows;
};
void nt_blobs_cursor_deinit(struct nt_blobs_cursor *cursor);
/* Reads from the concatenated blobs. NT_CHANGED if a file's size is not the described one. */
enum nt_status nt_blobs_read(struct nt_blobs *blobs, struct nt_blobs_cursor *cursor, uint64_t offset,
                             void *buffer, size_t bytes, struct nt_error *error);
/* Reads from their end offsets: int64, starting with 0, one more than there are rows. */
enum nt_status nt_blobs_read_offsets(struct nt_blobs *blobs, uint64_t offset, void *buffer, size_t bytes,
                                     struct nt_error *error);

/* ---- Streams of a field ---- */

/* Call this before opening streams of these fields, and of those below them. In a dataset of many local
 * files, counts the rows of all these fields, part by part, so that each file is read once for all of them.
 * On a server, streams request many files at once instead, field by field. Never fails: opening a stream
 * reports failures. */
void nt_rows_count_together(struct nt_reader *reader, struct nt_dataset *dataset, const uint32_t *fields,
                            size_t count);
/* The end of the part that has an element. A reader of several streams reads no further before it has read
 * the others to this end, so that each file of a dataset of many files is read once. UINT64_MAX: no end. */
uint64_t nt_stream_part_end(const struct nt_stream *stream, uint64_t element);

/* nt_stream_open for a reader that knows from other streams which elements exist. If a bad page list makes
 * the number of elements unknown, the stream opens nevertheless: the elements of clusters before it can be
 * read, and the others fail with the reason. nt_stream_elements has only those that are known. With a
 * selection, as nt_stream_open: the places of the selected rows depend on all rows before them. */
enum nt_status nt_stream_open_unbounded(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                        enum nt_stream_kind kind, struct nt_stream **stream_ret,
                                        struct nt_error *error);
/* A stream's type: for data the field's, for offsets and index int64, for tags uint32, for valid
 * bool. */
void nt_field_stream_dtype(const struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind,
                           struct nt_dtype *dtype_ret);
