/* SPDX-License-Identifier: MIT
 *
 * Reading decoded elements: pages through the cache, ranges of stored columns, and the logical streams of
 * fields.
 */
#ifndef NTUPLE_READ_H
#define NTUPLE_READ_H

#include <ntuple/model.h>

#pragma GCC visibility push(default)

/* ---- reader: cache, workers, counters; one per mount, shared by all threads and files ---- */

struct nt_reader;

struct nt_reader_options {
    uint64_t cache_bytes;     /* bound of the decoded pages that are kept; 0: 256 MiB */
    unsigned threads;         /* workers that decode in parallel and, slow pages, ahead; 0: none */
    bool always_ahead;        /* decode ahead also pages that load fast; pays where nobody else reads ahead */
    unsigned failure_seconds; /* how long a failed page is remembered; 0: 10 */
    uint64_t maximum_page_bytes; /* 0: 256 MiB */
    /* Called once per failure that was not remembered, from any thread. May be NULL. */
    void (*on_failure)(void *context, const struct nt_dataset *dataset, uint32_t column,
                       const struct nt_page *page, const struct nt_error *error);
    void *context;
};

/* Decompression, by the algorithm that the stored bytes name. */
struct nt_algorithm_counters {
    uint64_t pages, stored_bytes, packed_bytes, nanoseconds;
};
#define NT_READER_ALGORITHMS 10
const char *nt_reader_algorithm_name(unsigned algorithm); /* "none", "zstd", ...; the last is "other" */

struct nt_reader_counters {                             /* integers only; all since the start */
    uint64_t reads, bytes;                              /* of streams and columns */
    uint64_t cache_hits, cache_misses, cache_waits;     /* waits: another thread was loading the same page */
    uint64_t cache_bytes, cache_pages, cache_evictions; /* now, now, total */
    uint64_t pages_decoded, decoded_bytes, stored_bytes;
    uint64_t read_nanoseconds, checksum_nanoseconds, decompress_nanoseconds, decode_nanoseconds;
    uint64_t pages_direct; /* decoded straight into the reply */
    uint64_t pages_ahead;  /* decoded before they were asked for */
    /* Blocks of pages, decoded alone; their bytes are among decoded_bytes. Each is an entry of the cache, and
     * so are the stored bytes that they come from: cache_* counts these as it does pages. */
    uint64_t parts_decoded;
    uint64_t failures, failures_remembered;
    struct nt_algorithm_counters algorithms[NT_READER_ALGORITHMS];
};

enum nt_status nt_reader_new(const struct nt_reader_options *options, struct nt_reader **reader_ret,
                             struct nt_error *error);
void nt_reader_free(struct nt_reader *reader);
void nt_reader_counters(const struct nt_reader *reader, struct nt_reader_counters *counters);
/* Forget the pages of a data set that is about to be closed. */
void nt_reader_forget(struct nt_reader *reader, const struct nt_dataset *dataset);

/* ---- one page ---- */

/* Load a page past the cache: read, verify, decompress, decode into `output` (elements * element bytes). */
enum nt_status nt_page_load(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                            const struct nt_page *page, void *output, struct nt_error *error);
/* Its stored bytes, never verified (digest not included). */
enum nt_status nt_page_load_stored(struct nt_dataset *dataset, const struct nt_page *page, uint64_t offset,
                                   void *output, size_t bytes, struct nt_error *error);
/* The digest behind the page, as hex text of at most 129 characters; "" where it has none. */
enum nt_status nt_page_load_digest(struct nt_dataset *dataset, const struct nt_page *page, char *hex,
                                   struct nt_error *error);
/* The algorithm that the stored bytes name. */
enum nt_status nt_page_algorithm(struct nt_dataset *dataset, const struct nt_page *page,
                                 const char **name_ret, struct nt_error *error);
/* The page's decoder and sizes. NT_LIMIT where a size overflows. */
const struct nt_decoder *nt_page_decoder(const struct nt_dataset *dataset, const struct nt_page *page);
enum nt_status nt_page_sizes(const struct nt_dataset *dataset, const struct nt_page *page,
                             uint64_t *packed_ret, uint64_t *decoded_ret, struct nt_error *error);

/* ---- physical columns: elements as stored, in order of cluster id ---- */

/* Number of stored elements and pages of a column (loads all page lists). */
enum nt_status nt_column_size(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                              uint64_t *elements_ret, uint64_t *pages_ret, struct nt_error *error);
/* Page `number` of a column, with its cluster and its first element within the column. NT_NOT_FOUND. */
enum nt_status nt_column_page(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                              uint64_t number, const struct nt_page **page_ret, uint32_t *cluster_ret,
                              uint64_t *first_element_ret, struct nt_error *error);
/* Decoded bytes [offset, offset + bytes) of the column; exact. A page that fails fails the call. */
enum nt_status nt_column_read(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                              uint64_t offset, void *output, size_t bytes, struct nt_error *error);

/* ---- logical streams: a field's data, offsets, tags, index or valid ---- */

struct nt_stream;

/* The number of rows of a field and of elements of one of its streams, from metadata (loads as few page lists
 * as can answer). `data` of a bitset has rows * N elements, `offsets` rows + 1. */
enum nt_status nt_field_rows(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                             uint64_t *rows_ret, struct nt_error *error);
enum nt_status nt_field_stream_elements(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                        enum nt_stream_kind kind, uint64_t *elements_ret,
                                        struct nt_error *error);
/* Rows of a field before each cluster, in entry order: `count_ret` clusters that hold it and as many borders
 * plus one (from malloc), the first 0. Loads all page lists. */
enum nt_status nt_field_row_borders(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                    uint64_t **borders_ret, uint32_t *count_ret, struct nt_error *error);
/* dtype of a stream's elements. */
void nt_field_stream_dtype(const struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind,
                           struct nt_dtype *dtype_ret);

/* Open a stream: works out, cluster by cluster, where its elements come from. Immutable, shared by threads.
 */
enum nt_status nt_stream_open(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                              enum nt_stream_kind kind, struct nt_stream **stream_ret,
                              struct nt_error *error);
void nt_stream_close(struct nt_stream *stream);
uint64_t nt_stream_elements(const struct nt_stream *stream);
uint32_t nt_stream_element_bytes(const struct nt_stream *stream);

/* Bytes [offset, offset + bytes) of the stream into `output`; exact, any split gives the same bytes. */
enum nt_status nt_stream_read(struct nt_stream *stream, uint64_t offset, void *output, size_t bytes,
                              struct nt_error *error);
/* Elements [first, first + count) of a stream, and where they go: `count` times the stream's element bytes.
 */
struct nt_stream_range {
    struct nt_stream *stream;
    uint64_t first, count;
    void *output;
};
/* Ranges of one or many streams of one reader, decoded by the calling thread and all workers of the reader:
 * of many columns also those that are small keep all processors busy. Of those that fail the first in their
 * order is told; what is in the outputs is then not determined. NT_INVALID past the end of a stream. */
enum nt_status nt_streams_read_elements(const struct nt_stream_range *ranges, size_t count,
                                        struct nt_error *error);
/* One range. */
enum nt_status nt_stream_read_elements(struct nt_stream *stream, uint64_t first, uint64_t count, void *output,
                                       struct nt_error *error);

/* Where the clusters' borders lie in a stream, for batches: elements before cluster number `n` in entry order
 * (n from 0 to clusters). */
uint32_t nt_stream_segments(const struct nt_stream *stream);
uint64_t nt_stream_segment_first(const struct nt_stream *stream, uint32_t segment);

#pragma GCC visibility pop

#endif
