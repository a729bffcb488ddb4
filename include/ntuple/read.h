/* SPDX-License-Identifier: MIT
 *
 * Reading decoded elements: pages through the cache, ranges of stored columns, and the logical streams of
 * fields.
 */
#ifndef NTUPLE_READ_H
#define NTUPLE_READ_H

#include <ntuple/api.h>
#include <ntuple/dataset.h>

NT_API_BEGIN

/* All functions of this header may be called from several threads at once, but for those that end something. In
 * a forked process they work as in its parent: a reader has workers and a cache of its own there (docs/library.md). */

/* ---- reader: cache, workers, counters; one for a program, shared by all threads and files ---- */

struct nt_reader;

struct nt_reader_options { /* grows as nt_open_options does */
    size_t struct_bytes;
    uint64_t cache_bytes;     /* bound of the decoded pages that are kept; 0: 256 MiB */
    unsigned threads;         /* workers that decode in parallel and, slow pages, ahead; 0: none */
    bool always_readahead;    /* decode ahead also pages that load fast; pays where nobody else reads ahead */
    unsigned failure_seconds; /* how long a failed page is remembered; 0: 10 */
    /* Called once per failure that was not remembered, from any thread. May be NULL. */
    void (*on_failure)(void *context, const struct nt_dataset *dataset, uint32_t column,
                       const struct nt_page *page, const struct nt_error *error);
    void *context;
    /* Called before a page is loaded that takes long (32 KiB or more), by the thread that loads it and without
     * a lock: a server lets other threads do its other work meanwhile. Gets `context`. May be NULL. */
    void (*before_blocking)(void *context);
};
#define NT_READER_OPTIONS_INIT                                                                               \
    {                                                                                                        \
        sizeof(struct nt_reader_options), 0, 0, false, 0, NULL, NULL, NULL                                   \
    }

/* Starts the workers, which sleep while there is nothing to do. `options` NULL: the defaults. NT_INVALID,
 * NT_NO_MEMORY. */
NT_CHECKED enum nt_status nt_reader_new(const struct nt_reader_options *options,
                                        struct nt_reader **reader_ret, struct nt_error *error);

/* Streams and Arrow tables have to be closed before; files may be closed before or after, but see
 * nt_reader_forget. Waits for what the workers are doing. Accepts NULL. */
void nt_reader_free(struct nt_reader *reader);

/* Forget a dataset whose file is about to be closed while the reader lives on: drops its pages from the
 * cache and waits for workers that are reading it. Its streams and Arrow tables have to be closed before. */
void nt_reader_forget(struct nt_reader *reader, const struct nt_dataset *dataset);

/* What the reader has counted since it was made: the name, which lives for ever, and the value of counter
 * number `index`; false past the last. The names and what they count stand in docs/tree.md, as
 * .ntuplefs/stats.json; the numbers may be others in the next version. Values read one after the other need
 * not be of one moment. Any thread; takes no lock. */
bool nt_reader_counter(const struct nt_reader *reader, uint32_t index, const char **name_ret,
                       uint64_t *value_ret);

/* ---- physical columns: elements as stored, in order of cluster id ---- */

/* For those who look at storage; what a field means is in its streams, below. Loads all page lists of the
 * dataset, once; where one cannot be read, these fail. NT_INVALID for a column that there is not. */

/* How many elements and pages of a column are stored. */
NT_CHECKED enum nt_status nt_column_size(struct nt_reader *reader, struct nt_dataset *dataset,
                                         uint32_t column, uint64_t *elements_ret, uint64_t *pages_ret,
                                         struct nt_error *error);

/* Page `number` of a column, the cluster that it lies in, and which element of the column it begins with.
 * NT_NOT_FOUND past the last. Reads no page. */
NT_CHECKED enum nt_status nt_column_page(struct nt_reader *reader, struct nt_dataset *dataset,
                                         uint32_t column, uint64_t number, const struct nt_page **page_ret,
                                         uint32_t *cluster_ret, uint64_t *first_element_ret,
                                         struct nt_error *error);

/* Decode a page into `output`, nt_page_elements of the column's type: read, verified, decompressed and
 * decoded by the calling thread, past the cache. NT_CHECKSUM, NT_CORRUPT, NT_UNSUPPORTED, NT_LIMIT and those
 * of reading. */
NT_CHECKED enum nt_status nt_page_load(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                                       const struct nt_page *page, void *output, struct nt_error *error);

/* Bytes [offset, offset + bytes) of the column's decoded elements, one page behind the other, through the
 * cache: decodes the pages that they lie in. A page that fails fails the call. NT_INVALID past the end. */
NT_CHECKED enum nt_status nt_column_read(struct nt_reader *reader, struct nt_dataset *dataset,
                                         uint32_t column, uint64_t offset, void *output, size_t bytes,
                                         struct nt_error *error);

/* ---- logical streams: a field's data, offsets, tags, index or valid ---- */

struct nt_stream;

/* The number of rows of a field, and of elements of one of its streams: `data` of a bitset has rows * N
 * elements, `offsets` rows + 1. For top-level fields that is known; below collections it is in the page
 * lists, of which as few are loaded as can answer, mostly the last one. NT_NOT_FOUND where the field has no
 * such stream, NT_UNSUPPORTED where it cannot be read, NT_INVALID where there is no such field. */
NT_CHECKED enum nt_status nt_field_rows(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                        uint64_t *rows_ret, struct nt_error *error);
NT_CHECKED enum nt_status nt_field_stream_elements(struct nt_reader *reader, struct nt_dataset *dataset,
                                                   uint32_t field, enum nt_stream_kind kind,
                                                   uint64_t *elements_ret, struct nt_error *error);

/* Open a stream: works out, cluster by cluster, where its elements come from. Loads all page lists of the
 * dataset, once, and decodes nothing; of one that cannot be read the elements fail, and the others do not.
 * Fails as nt_field_stream_elements. Immutable, shared by threads; the caller closes it, before reader and
 * file. */
NT_CHECKED enum nt_status nt_stream_open(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                         enum nt_stream_kind kind, struct nt_stream **stream_ret,
                                         struct nt_error *error);
void nt_stream_close(struct nt_stream *stream); /* accepts NULL */

/* How many elements it has, what they are, and how large one is. The type lives as long as the stream. Known
 * since it was opened. */
uint64_t nt_stream_elements(const struct nt_stream *stream);
const struct nt_dtype *nt_stream_dtype(const struct nt_stream *stream);
uint32_t nt_stream_element_bytes(const struct nt_stream *stream);

/* Bytes [offset, offset + bytes) of the stream into `output`, by the calling thread: any split gives the same
 * bytes. Pages that are read whole are decoded straight into the output, those that are read in part come
 * from the cache and go there; of a page that is compressed in blocks a small read decodes only these. Reads
 * that follow one another have the workers decode ahead. NT_INVALID past the end. A page that fails fails the
 * call; its failure is remembered for some seconds. What is in the output then does not matter. */
NT_CHECKED enum nt_status nt_stream_read(struct nt_stream *stream, uint64_t offset, void *output,
                                         size_t bytes, struct nt_error *error);

/* Elements [first, first + count) of a stream, and where they go: `count` times the stream's element bytes.
 * This structure does not grow. */
struct nt_stream_range {
    struct nt_stream *stream;
    uint64_t first, count;
    void *output;
};

/* Ranges of one or many streams of one reader, decoded by the calling thread and all workers of the reader:
 * of many columns also those that are small keep all processors busy. Each page is decoded once, straight
 * into the output where it is wanted whole. Of those that fail the first in their order is told; what is in
 * the outputs then does not matter. NT_INVALID past the end of a stream. */
NT_CHECKED enum nt_status nt_streams_read_elements(const struct nt_stream_range *ranges, size_t count,
                                                   struct nt_error *error);
/* One range. */
NT_CHECKED enum nt_status nt_stream_read_elements(struct nt_stream *stream, uint64_t first, uint64_t count,
                                                  void *output, struct nt_error *error);

NT_API_END

#endif
