/* SPDX-License-Identifier: MIT
 *
 * Reads decoded elements: pages through the cache, ranges of stored columns, and the logical streams of
 * fields.
 */
#ifndef NTUPLE_READ_H
#define NTUPLE_READ_H

#include <ntuple/api.h>
#include <ntuple/dataset.h>

NT_API_BEGIN

/* Thread-safe, except the functions that free or close. A forked process may call them, too: a reader
 * has its own workers and cache there (docs/library.md). */

/* ---- reader: cache, workers, counters; one per program, shared by all threads and files ---- */

struct nt_reader;

struct nt_reader_options { /* grows as nt_open_options does */
    size_t struct_bytes;
    uint64_t cache_bytes;     /* limit of cached decoded pages; 0: 256 MiB */
    unsigned threads;         /* workers that decode in parallel, and slow pages ahead; 0: none */
    bool always_readahead;    /* also decode fast pages ahead; useful if nothing else reads ahead */
    unsigned failure_seconds; /* how long the reader remembers a failed page; 0: 10 */
    /* Called once per new failure (not per remembered one), from any thread. The page is valid during the
     * call. May be NULL. */
    void (*on_failure)(void *context, const struct nt_dataset *dataset, uint32_t column,
                       const struct nt_page *page, const struct nt_error *error);
    void *context;
    /* Called before loading a page that takes long (32 KiB or more), by the loading thread, which holds
     * no lock: a server can let other threads work meanwhile. Receives `context`. May be NULL. */
    void (*before_blocking)(void *context);
    /* Decoding a page may also give elements of sibling columns, such as the items and the offsets of a list
     * of a TTree, or the members of an object that is not split. Cache them, too: for programs that read one
     * column after the other. They take at most a quarter of `cache_bytes`. */
    bool caches_siblings;
};
#define NT_READER_OPTIONS_INIT                                                                               \
    {                                                                                                        \
        sizeof(struct nt_reader_options), 0, 0, false, 0, NULL, NULL, NULL, false                            \
    }

/* Starts the workers, which sleep when idle. `options` NULL: the defaults. NT_INVALID, NT_NO_MEMORY. */
NT_CHECKED enum nt_status nt_reader_new(const struct nt_reader_options *options,
                                        struct nt_reader **reader_ret, struct nt_error *error);

/* First close all streams and Arrow tables. Close files afterwards, or call nt_reader_forget before closing
 * them. Waits for the workers to finish their work. Accepts NULL. */
void nt_reader_free(struct nt_reader *reader);

/* Call this before closing a file while the reader stays in use: it drops the dataset's pages from the
 * cache and waits for workers that read it. First close the dataset's streams and Arrow tables. */
void nt_reader_forget(struct nt_reader *reader, const struct nt_dataset *dataset);

/* The name (static) and value of counter `index`, counted since the reader was created; false past the
 * last. docs/tree.md (.ntuplefs/stats.json) documents the counters; their numbers may change between
 * versions. Several calls do not return a consistent snapshot. Any thread; takes no lock. */
bool nt_reader_counter(const struct nt_reader *reader, uint32_t index, const char **name_ret,
                       uint64_t *value_ret);

/* ---- physical columns: elements as stored, ordered by cluster id ---- */

/* For inspecting storage; streams (below) have the meaning. Loads all page lists of the dataset, once,
 * and fails if one cannot be read. NT_INVALID for a column that does not exist. */

/* The number of stored elements and pages of a column (RNTuple's specification, "Page Locations"). */
NT_CHECKED enum nt_status nt_column_size(struct nt_reader *reader, struct nt_dataset *dataset,
                                         uint32_t column, uint64_t *elements_ret, uint64_t *pages_ret,
                                         struct nt_error *error);

/* Page `number` of a column, its cluster, and the index of its first element within the column.
 * NT_NOT_FOUND past the last. Reads no page. */
NT_CHECKED enum nt_status nt_column_page(struct nt_reader *reader, struct nt_dataset *dataset,
                                         uint32_t column, uint64_t number, const struct nt_page **page_ret,
                                         uint32_t *cluster_ret, uint64_t *first_element_ret,
                                         struct nt_error *error);

/* Decodes a page into `output` (nt_page_elements of the column's type). The calling thread reads,
 * verifies, decompresses and decodes it, without the cache. NT_CHECKSUM, NT_CORRUPT, NT_UNSUPPORTED,
 * NT_LIMIT and the failures of reading. */
NT_CHECKED enum nt_status nt_page_load(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                                       const struct nt_page *page, void *output, struct nt_error *error);

/* Reads bytes [offset, offset + bytes) of the column's decoded elements, with all pages concatenated,
 * through the cache. A failing page fails the call. NT_INVALID past the end. */
NT_CHECKED enum nt_status nt_column_read(struct nt_reader *reader, struct nt_dataset *dataset,
                                         uint32_t column, uint64_t offset, void *output, size_t bytes,
                                         struct nt_error *error);

/* ---- logical streams: a field's data, offsets, tags, index or valid ---- */

struct nt_stream;

/* The number of rows of a field, and of elements of one of its streams: `data` of a bitset has rows * N
 * elements, `offsets` rows + 1. Below collections this loads as few page lists as possible, mostly the
 * last one; for top-level fields none. NT_NOT_FOUND if the field has no such stream, NT_UNSUPPORTED if
 * it cannot be read, NT_INVALID if there is no such field. */
NT_CHECKED enum nt_status nt_field_rows(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                        uint64_t *rows_ret, struct nt_error *error);
NT_CHECKED enum nt_status nt_field_stream_elements(struct nt_reader *reader, struct nt_dataset *dataset,
                                                   uint32_t field, enum nt_stream_kind kind,
                                                   uint64_t *elements_ret, struct nt_error *error);

/* Announces that streams of these fields, and of those below them, will be opened one after the other, in
 * this order. The first of them then requests from a server what the others need, too. A later announcement
 * replaces it. Reads nothing and never fails. */
void nt_fields_announce(struct nt_dataset *dataset, const uint32_t *fields, size_t count);

/* Opens a stream: finds, per cluster, the source of its elements. Loads all page lists of the dataset,
 * once, and decodes nothing. If a page list cannot be read, only its elements fail. Fails as
 * nt_field_stream_elements. A stream is immutable and threads may share it; the caller closes it before
 * the reader and the file. */
NT_CHECKED enum nt_status nt_stream_open(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                         enum nt_stream_kind kind, struct nt_stream **stream_ret,
                                         struct nt_error *error);
void nt_stream_close(struct nt_stream *stream); /* accepts NULL */

/* The number of elements, their type (which belongs to the stream), and the size of one in bytes. They
 * read nothing and never fail. */
uint64_t nt_stream_elements(const struct nt_stream *stream);
const struct nt_dtype *nt_stream_dtype(const struct nt_stream *stream);
uint32_t nt_stream_element_bytes(const struct nt_stream *stream);

/* Reads bytes [offset, offset + bytes) of the stream into `output`, in the calling thread; any split
 * gives the same bytes. Whole pages are decoded directly into the output; partial ones come from the
 * cache and stay there. Of a page with compressed blocks, a small read decodes only the blocks it
 * needs. Sequential reads start readahead by the workers. NT_INVALID past the end. If one page fails,
 * the call fails; the reader remembers the failure for some seconds. After a failure the output is
 * undefined. */
NT_CHECKED enum nt_status nt_stream_read(struct nt_stream *stream, uint64_t offset, void *output,
                                         size_t bytes, struct nt_error *error);

/* Elements [first, first + count) of a stream, and an output of `count` times the stream's element
 * bytes. This structure does not grow. */
struct nt_stream_range {
    struct nt_stream *stream;
    uint64_t first, count;
    void *output;
};

/* Reads ranges of one or more streams of one reader, decoded by the calling thread and all workers:
 * many small columns also use all processors. Each page is decoded once, directly into the output if
 * all of it is requested. Reports the first failure in the order of the ranges; the outputs are then
 * undefined. NT_INVALID past the end of a stream. */
NT_CHECKED enum nt_status nt_streams_read_elements(const struct nt_stream_range *ranges, size_t count,
                                                   struct nt_error *error);
/* Reads one range. */
NT_CHECKED enum nt_status nt_stream_read_elements(struct nt_stream *stream, uint64_t first, uint64_t count,
                                                  void *output, struct nt_error *error);

NT_API_END

#endif
