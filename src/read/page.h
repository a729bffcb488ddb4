/* SPDX-License-Identifier: MIT
 *
 * The reading interface for the other folders, beyond <ntuple/read.h>: stored and decoded pages, pinned
 * stream ranges, memory accounting, and the bytes of blobs.
 */
#ifndef NT_READ_PAGE_H
#define NT_READ_PAGE_H

#include "core/codec/codec.h"
#include "core/model/model.h"
#include "read/read.h"

struct nt_blob_rows;
struct nt_blobs;
struct nt_cache_entry;

/* ---- one page ---- */

/* The page's decoder, and its sizes after decompression and after decoding. NT_LIMIT where one overflows. */
const struct nt_decoder *nt_page_decoder(const struct nt_dataset *dataset, const struct nt_page *page);
enum nt_status nt_page_sizes(const struct nt_dataset *dataset, const struct nt_page *page,
                             uint64_t *packed_ret, uint64_t *decoded_ret, struct nt_error *error);
/* Stored bytes [offset, offset + bytes) of a page, never verified, digest not included. */
enum nt_status nt_page_load_stored(struct nt_dataset *dataset, const struct nt_page *page, uint64_t offset,
                                   void *output, size_t bytes, struct nt_error *error);
/* Decoded bytes [offset, offset + bytes) of a page that is a column's, or an input of one of its plans. */
enum nt_status nt_page_read(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                            const struct nt_page *page, uint64_t offset, void *output, size_t bytes,
                            struct nt_error *error);
/* The digest behind the page, as hex text of at most 129 characters; "" where it has none. */
enum nt_status nt_page_load_digest(struct nt_dataset *dataset, const struct nt_page *page, char *hex,
                                   struct nt_error *error);
/* The algorithm that the stored bytes name. */
enum nt_status nt_page_algorithm(struct nt_dataset *dataset, const struct nt_page *page,
                                 const char **name_ret, struct nt_error *error);
/* Put "column 3 (SplitInt32) of field jets.pt, page 5 of cluster 2: " in front of the error's message and set
 * its offset to the page's where it has none and the page is not missing. Returns the error's status. */
enum nt_status nt_page_error(const struct nt_dataset *dataset, uint32_t column, const struct nt_page *page,
                             enum nt_status status, struct nt_error *error);

/* NT_UNSUPPORTED: the page is not in the file, but where its locator leads to. */
enum nt_status nt_page_fail_elsewhere(const struct nt_dataset *dataset, const struct nt_page *page,
                                      struct nt_error *error);

/* ---- a stream's bytes where they lie ---- */

enum {
    NT_MAX_PINS = 36,
    NT_LEAST_PINNED =
        32 * 1024, /* bytes of a request and of each page: fewer are copied faster than looked up */
};

/* Runs of bytes in pages of the cache, one after the other in the stream. */
struct nt_pins {
    struct nt_reader *reader;
    unsigned count;
    struct nt_pin {
        const uint8_t *bytes;
        size_t count;
        struct nt_cache_entry *page; /* NULL: the bytes are somebody else's */
        int use;                     /* enum nt_cache_hint */
    } items[NT_MAX_PINS];
};

/* Append bytes [offset, offset + bytes) of a stream, where a reader that goes from front to back asks for them and they are
 * those of a few large pages as they are: valid until nt_pins_release, though the stream be closed before. False
 * where that is not so, a page fails or there is no room: then there are no pins at all, and the bytes are to be read. Thread-safe as nt_stream_read. */
bool nt_stream_pin(struct nt_stream *stream, uint64_t offset, size_t bytes, struct nt_pins *pins);
void nt_pins_release(struct nt_pins *pins);

/* The calling thread is about to work or to wait for long: see the reader's options. */
void nt_reader_before_blocking(const struct nt_reader *reader);

/* ---- memory ---- */

/* Memory beside decoded pages, of those who read streams piece by piece, is within the cache's bound: so many
 * bytes more (negative: fewer) are occupied by it. */
void nt_reader_reserve(struct nt_reader *reader, int64_t bytes);
/* How much one who reads many streams side by side should keep of them, and how much all together while they
 * wait. */
uint64_t nt_reader_buffer_bytes(const struct nt_reader *reader);
uint64_t nt_reader_idle_bytes(const struct nt_reader *reader);
/* Bytes of memory that a stream takes. */
size_t nt_stream_memory(const struct nt_stream *stream);

/* They lie where the rows of a field say (model/blob.h): of each row one blob, and all of them one after the other, as those of any
 * binary field. How many bytes they have the descriptions tell, whatever is in the files; where a description leaves that to the file, the file
 * is looked at. */

/* Whether the rows of a field describe blobs that can be read. */
bool nt_field_has_blobs(const struct nt_dataset *dataset, uint32_t field);
enum nt_status nt_blobs_open(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                             struct nt_blobs **blobs_ret, struct nt_error *error);
void nt_blobs_close(struct nt_blobs *blobs); /* accepts NULL */

uint64_t nt_blobs_rows(const struct nt_blobs *blobs);

/* Where a row's blob lies, as nt_dataset_ops.find_blob tells it. NT_NOT_FOUND where there is no such row, or it is null. */
enum nt_status nt_blobs_find(struct nt_blobs *blobs, uint64_t row, bool wants_file, struct nt_blob *blob,
                             struct nt_error *error);
/* Bytes [offset, offset + bytes) of a row's blob that was found with its file. */
enum nt_status nt_blobs_read_row(struct nt_blobs *blobs, uint64_t row, const struct nt_blob *blob,
                                 uint64_t offset, void *buffer, size_t bytes, struct nt_error *error);

/* How many bytes all blobs have. Takes a pass over the descriptions' sizes, once. `may_block` false: NT_NOT_FOUND where that
 * was not made. */
enum nt_status nt_blobs_bytes(struct nt_blobs *blobs, bool may_block, uint64_t *bytes_ret,
                              struct nt_error *error);
/* Who reads bytes of all of them by one thread at a time: what the last read found. Zero at first. */
struct nt_blobs_cursor {
    struct nt_blob blob;
    struct nt_blob_rows *rows;
};
void nt_blobs_cursor_deinit(struct nt_blobs_cursor *cursor);
/* Bytes of all of them, one after the other. NT_CHANGED where a file has another size than was told. */
enum nt_status nt_blobs_read(struct nt_blobs *blobs, struct nt_blobs_cursor *cursor, uint64_t offset,
                             void *buffer, size_t bytes, struct nt_error *error);
/* The same of the end offsets, int64, one more than rows, from 0 on. */
enum nt_status nt_blobs_read_offsets(struct nt_blobs *blobs, uint64_t offset, void *buffer, size_t bytes,
                                     struct nt_error *error);

/* ---- streams of a field ---- */

/* The type of a stream's elements: the field's for data; offsets and index are int64, tags uint32, valid
 * bool. */
void nt_field_stream_dtype(const struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind,
                           struct nt_dtype *dtype_ret);

#endif
