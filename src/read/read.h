/* SPDX-License-Identifier: MIT
 *
 * Private header of the reading code: reader, page cache, page loading, clusters and rows, row masks,
 * streams, readahead and worker threads.
 */
#ifndef NT_READ_READ_H
#define NT_READ_READ_H

#include <ntuple/read.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/base/hash_table.h"
#include "core/base/thread.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/model/field.h"
#include "core/model/model.h"

struct nt_cache;
struct nt_cache_entry;
struct nt_scratch_pool;
struct nt_counters;
struct nt_dataset;
struct nt_dataset_indexes;
struct nt_prefetch;
struct nt_page;
struct nt_reader;
struct nt_slab;
struct nt_stream;
struct nt_workers;

/* ---- Counters ---- */

/* Integers only; all since the start. Their names are in reader.c. */
struct nt_counters {
    uint64_t reads, served_bytes;                       /* of streams and columns */
    uint64_t pinned_bytes;                              /* of these, from the pages of the cache themselves */
    uint64_t cache_hits, cache_misses, cache_waits;     /* waits: another thread was loading the same page */
    uint64_t cache_bytes, cache_pages, cache_evictions; /* now, now, total */
    uint64_t pages_decoded, decoded_bytes, stored_bytes;
    uint64_t read_nanoseconds, checksum_nanoseconds, decompress_nanoseconds, decode_nanoseconds;
    uint64_t pages_direct; /* decoded straight into the reply */
    uint64_t pages_ahead;  /* decoded before they were asked for */
    /* Blocks of pages, decoded alone; their bytes are among decoded_bytes. Each is an entry of the cache, and
     * so are the stored bytes that they come from: cache_* counts these as it does pages. */
    uint64_t blocks_decoded;
    uint64_t failures, failures_remembered;
};

/* Decompression by one algorithm, as the stored bytes name it. */
struct nt_algorithm_counters {
    uint64_t pages, stored_bytes, packed_bytes, nanoseconds;
};

/* From any thread; what is read of several counters need not be of one moment. */
static inline void nt_counter_add(uint64_t *counter, uint64_t amount)
{
    __atomic_fetch_add(counter, amount, __ATOMIC_RELAXED);
}

/* What one thread counts while it loads pages, given to the reader once for all of them: threads that add to the same
 * counters for each small page wait for one another. All zero at first. */
struct nt_stats_delta {
    struct nt_counters counters;
    struct nt_algorithm_counters algorithms[NT_ALGORITHM_COUNT];
    uint64_t mark; /* when the stage that is at work began */
};

static inline void nt_stats_begin(struct nt_stats_delta *stats)
{
    stats->mark = nt_nanoseconds();
}

/* The time since the stage began is counted; the next one begins. */
static inline uint64_t nt_stats_lap(struct nt_stats_delta *stats, uint64_t *counter)
{
    uint64_t now = nt_nanoseconds(), passed = now - stats->mark;
    stats->mark = now;
    *counter += passed;
    return passed;
}

/* ---- Cache keys ---- */

/* All that decides about the decoded bytes. One byte range may belong to columns of different type and
 * element count (merged pages), so the place alone is not enough. Without padding: compared and hashed as
 * bytes. */
struct nt_cache_key {
    const void *source;
    const void *decoder; /* the dataset's, which has equal ones once */
    uint64_t offset;
    uint64_t stored_bytes;
    uint64_t parameter;
    uint32_t elements;
    uint8_t compression, checksum, checksum_covers, reserved;
    uint64_t block; /* what of the page: */
};

/* ---- Page cache ---- */

/* `limit` bounds the bytes of all entries, those being loaded and buffers kept for reuse included, but for an
 * entry that is larger and for those that loading needs (NT_CACHE_LOADER). The counters' cache_* members are kept up to date. NULL without memory. */
struct nt_cache *nt_cache_new(uint64_t limit, unsigned failure_seconds, struct nt_counters *counters);
void nt_cache_free(struct nt_cache *cache); /* accepts NULL; nothing is pinned */

/* Fills `output` with the entry's bytes. Called without any lock. */
typedef enum nt_status nt_cache_load(void *context, uint8_t *output, struct nt_error *error);

/* Who asks for an entry: what it may wait for. */
enum nt_cache_client {
    NT_CACHE_READER, /* has nothing pinned and loads nothing: may wait for room */
    NT_CACHE_LOADER, /* does; what it asks for is let in at once */
    NT_CACHE_HOLDER, /* has entries pinned: waits for none to leave, NT_NO_MEMORY where there is no room */
};

/* The entry of a key, pinned; loaded by this call, or waited for where another thread loads it. A failure is
 * remembered: until it expires the same error is returned without loading. */
enum nt_status nt_cache_get(struct nt_cache *cache, const struct nt_cache_key *key, size_t bytes,
                            enum nt_cache_client asker, nt_cache_load *load, void *context,
                            struct nt_cache_entry **entry_ret, struct nt_error *error);

enum nt_cache_presence {
    NT_CACHE_ABSENT,
    NT_CACHE_LOADING,
    NT_CACHE_READY,
    NT_CACHE_FAILED, /* remembered */
};
/* Looks only; the answer may be out of date at once. */
enum nt_cache_presence nt_cache_peek(struct nt_cache *cache, const struct nt_cache_key *key);
/* How many entries are absent before the first one that is not. */
size_t nt_cache_count_absent(struct nt_cache *cache, const struct nt_cache_key *keys, size_t count);

const uint8_t *nt_cache_entry_bytes(const struct nt_cache_entry *entry);

/* What an entry was pinned for. Readers that pass over a column once would fill the cache with what nobody
 * asks for again, and pay for memory that was never touched before: entries that were passed leave early, and
 * their warm buffers go to the next. */
enum nt_cache_hint {
    NT_CACHE_KEEP,        /* may be wanted again */
    NT_CACHE_SEQUENTIAL,  /* by a sequential reader that has not come to the end of it */
    NT_CACHE_DROP_BEHIND, /* which has */
};
void nt_cache_release(struct nt_cache *cache, struct nt_cache_entry *entry, enum nt_cache_hint use);

/* So many bytes more (negative: fewer) of the limit are somebody else's. Never waits. */
void nt_cache_reserve(struct nt_cache *cache, int64_t bytes);

/* Drop all entries of a source. */
void nt_cache_forget(struct nt_cache *cache, const void *source);

/* ---- Slab allocator ---- */

enum {
    NT_SLAB_UNIT = 32 * 1024,
    NT_SLAB_UNITS = 64,
    NT_SLAB_BYTES = NT_SLAB_UNIT * NT_SLAB_UNITS, /* a huge page */
};

struct nt_slab {
    LIST_ENTRY(nt_slab) listed;
    uint8_t *block, *memory; /* as it is allocated; where buffers begin */
    size_t bytes;
    uint64_t free; /* units that nobody has, a bit each; of a region that is one buffer's all or none */
    unsigned busy; /* buffers in use */
    struct nt_cache_entry *owners[NT_SLAB_UNITS]; /* of the buffers, at their first units */
};

LIST_HEAD(nt_region_list, nt_slab);

/* All zero at first. */
struct nt_slab_pool {
    struct nt_region_list shared, empty; /* with buffers and without; what changed last comes first */
    uint64_t bytes, empty_bytes;         /* of all, and of those without buffers */
    uint64_t busy_bytes;                 /* of those with a buffer in use, and of those that are to come */
};

/* A buffer's bytes when it lies in a region, and those of the region that it would need. */
size_t nt_slab_capacity(size_t bytes);
size_t nt_slab_bytes(size_t capacity);

/* A buffer of this capacity for an owner, in use, from a region that there is. False: there is no room in any. */
bool nt_slab_alloc(struct nt_slab_pool *slabs, size_t capacity, struct nt_cache_entry *owner,
                   struct nt_slab **region_ret, uint8_t **data_ret);
/* A new region for a buffer: it counts from nt_slab_reserve on; then nt_slab_new without the lock, NULL without
 * memory, and with that, also if it is NULL, nt_slab_add, which gives the buffer to its owner. */
void nt_slab_reserve(struct nt_slab_pool *slabs, size_t capacity);
struct nt_slab *nt_slab_new(size_t capacity);
uint8_t *nt_slab_add(struct nt_slab_pool *slabs, struct nt_slab *slab, size_t capacity,
                     struct nt_cache_entry *owner);

/* A buffer is not in use now, is again; has no owner any more (and was not in use). */
void nt_slab_set_idle(struct nt_slab_pool *slabs, struct nt_slab *slab);
void nt_slab_set_busy(struct nt_slab_pool *slabs, struct nt_slab *slab);
void nt_slab_return(struct nt_slab_pool *slabs, struct nt_slab *slab, const uint8_t *data, size_t capacity);

/* Take the empty region out that was not used for longest, to be freed; NULL: there is none. Its bytes do not count
 * any more. */
struct nt_slab *nt_slab_evict(struct nt_slab_pool *slabs);
void nt_slab_free(struct nt_slab *slab); /* accepts NULL */

/* ---- Pool of codec contexts ---- */

/* `limit` bounds the bytes of all contexts, but for one that needs more alone. NULL without memory. */
struct nt_scratch_pool *nt_scratch_pool_new(uint64_t limit);
void nt_scratch_pool_free(struct nt_scratch_pool *scratch_pool); /* accepts NULL; all have been returned */

struct nt_borrowed_context {
    struct nt_codec_context *context;
    uint64_t bytes;
};

/* A context that is asked for so much scratch memory. Until it is returned the borrower waits for nothing:
 * neither for an entry of the cache nor for another context. NT_NO_MEMORY. */
enum nt_status nt_scratch_pool_borrow(struct nt_scratch_pool *scratch_pool, uint64_t bytes,
                                      struct nt_borrowed_context *loan_ret, struct nt_error *error);
void nt_scratch_pool_return(struct nt_scratch_pool *scratch_pool, const struct nt_borrowed_context *borrowed);

/* ---- Reader ---- */

struct nt_reader {
    struct nt_reader_options options; /* with the defaults filled in */
    struct nt_counters counters;      /* only touched through nt_counter_add and the two below */
    struct nt_algorithm_counters algorithms[NT_ALGORITHM_COUNT]; /* likewise */
    struct nt_lock lock;                                         /* of what follows, while it is made again */
    atomic_bool is_forked;                                       /* it is the parent's still */
    struct nt_scratch_pool *scratch_pool;
    struct nt_cache *cache;
    struct nt_workers *workers;
    struct nt_dataset_indexes *indexes;
};

/* Before anything of it is used: in a forked process its workers are not there, and other threads of the parent may have had its locks, pages that
 * they loaded and memory. So there it gets others, with the first call; those of the parent are left alone. */
enum nt_status nt_reader_after_fork(struct nt_reader *reader, struct nt_error *error);
/* All counters but those of algorithms: nt_reader_counter gives these, too. */
void nt_counters_read(const struct nt_reader *reader, struct nt_counters *counters);
/* Add what was counted. */
void nt_reader_add_stats(struct nt_reader *reader, const struct nt_stats_delta *stats);
/* Count a failure of a page and tell the options' function of it, unless it says nothing about the page. */
void nt_reader_report_failure(struct nt_reader *reader, const struct nt_dataset *dataset, uint32_t column,
                              const struct nt_page *page, const struct nt_error *failure);

/* ---- Worker threads ---- */

/* Something to do ahead: a function, and what it is called with. */
struct nt_worker_job {
    void (*run)(const struct nt_worker_job *job);
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t column;
    const struct nt_page *page;
};

/* NULL without memory. Where the machine gives fewer threads than `count`, those do the work. Without any, or
 * where `count` is 0, nothing is done ahead, and callers work alone. */
struct nt_workers *nt_workers_new(unsigned count);
void nt_workers_free(struct nt_workers *workers); /* accepts NULL */
unsigned nt_workers_count(const struct nt_workers *workers);

/* Workers that have nothing to do, jobs that are queued counted as theirs; may be out of date at once. */
unsigned nt_workers_idle(struct nt_workers *workers);

/* Queue a job, which is copied; dropped when there is enough to do already. */
void nt_workers_queue(struct nt_workers *workers, const struct nt_worker_job *job);
/* The caller is about to do a page's jobs itself: no worker needs to. */
void nt_workers_cancel_page(struct nt_workers *workers, const struct nt_page *page);
/* Drop what is queued for a dataset and wait for what is under way. */
void nt_workers_forget(struct nt_workers *workers, const struct nt_dataset *dataset);

/* Run `work` on this thread and on all idle workers at once; returns when all have returned. `work` hands out
 * the shares itself and returns when none is left. */
void nt_workers_run_all(struct nt_workers *workers, void (*work)(void *context), void *context);

/* ---- Loading a page ---- */

/* Bytes of a page's decoded elements; NT_LIMIT where they overflow or are more than the file may ask for. */
enum nt_status nt_page_decoded_bytes(const struct nt_dataset *dataset, const struct nt_page *page,
                                     size_t *bytes_ret, struct nt_error *error);

/* Bytes of memory that loading the page takes beside its output, roughly; 0 where it will be refused. */
uint64_t nt_page_scratch_bytes(const struct nt_dataset *dataset, const struct nt_page *page);

/* All that decides about a page's decoded elements. */
struct nt_cache_key nt_page_key(const struct nt_dataset *dataset, const struct nt_page *page);

struct nt_page_request {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t column; /* that it is loaded for */
    const struct nt_page *page;
    struct nt_codec_context *context; /* borrowed */
    struct nt_stats_delta *stats;     /* begun; with the context */
    /* The page's stored bytes, the digest behind them, where they are in memory already; NULL: they are read.
     * They may be in the context's scratch memory, but for NT_SCRATCH_PAGE. */
    const uint8_t *stored;
    const struct nt_value *inputs; /* of its decoder, decoded */
    /* Pages of other columns that are the same stored bytes, and are made with it: the decoders of all are shared
     * (nt_decoders_are_shared). */
    const struct nt_shared_page {
        const struct nt_page *page;
        const struct nt_value *inputs;
        uint8_t *output;
    } * beside;
    uint32_t shared_page_count; /* less than NT_DECODE_TOGETHER */
};

/* Read, verify, decompress, decode into `output`. The error does not tell where the page stands. */
enum nt_status nt_page_load_with(const struct nt_page_request *request, void *output, struct nt_error *error);
/* Like nt_page_load_with, but a damaged page is not fetched a second time. */
enum nt_status nt_page_load_once(const struct nt_page_request *request, void *output, struct nt_error *error);

/* The algorithm that the stored bytes name. */
enum nt_status nt_page_find_algorithm(struct nt_dataset *dataset, const struct nt_page *page,
                                      enum nt_algorithm *algorithm_ret, struct nt_error *error);

/* The other pages that a page's decoder needs (a dictionary), pinned in the cache. */
struct nt_page_dependencies {
    struct nt_value values[NT_DECODER_INPUTS];
    struct nt_cache_entry *pinned[NT_DECODER_INPUTS];
    uint32_t count;
};
/* They are waited for: by whoever has not borrowed a context yet, and is about to load the page. To be unpinned where that
 * fails, too. */
enum nt_status nt_page_pin_dependencies(const struct nt_page_request *request,
                                        struct nt_page_dependencies *inputs, struct nt_error *error);
void nt_page_unpin_dependencies(struct nt_reader *reader, const struct nt_page_dependencies *inputs);

/* nt_page_load_with for a page of any decoder. `context` NULL: its inputs are pinned, and one is borrowed, and
 * what is counted is given to the reader; else `inputs` are those of its decoder. */
enum nt_status nt_page_load_with_dependencies(const struct nt_page_request *request, void *output,
                                              struct nt_error *error);

/* ---- Pages in the cache ---- */

/* A page's decoded elements in the cache, loaded where they are not there, of a file that is still what it was: valid until
 * nt_page_unpin. */
enum nt_status nt_page_pin(enum nt_cache_client asker, struct nt_reader *reader, struct nt_dataset *dataset,
                           uint32_t column, const struct nt_page *page, struct nt_cache_entry **pinned_ret,
                           const uint8_t **data_ret, struct nt_error *error);
void nt_page_unpin(struct nt_reader *reader, struct nt_cache_entry *pinned, enum nt_cache_hint use);

/* Whether a page is not in the cache, nor being loaded, nor known to fail; may be out of date at once. */
bool nt_page_is_absent(const struct nt_reader *reader, const struct nt_dataset *dataset,
                       const struct nt_page *page);

/* The decoded elements of whole pages of a column, one after the other, into `output`: each from the cache
 * where it is there (or about to be), else decoded straight into the output, without a trace in the cache but
 * for a failure. The first that fails fails the call. */
enum nt_status nt_pages_read_whole(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                                   const struct nt_page *pages, uint32_t count, void *output,
                                   struct nt_error *error);
/* How many of the pages are whole within the next `elements` elements and hold values that are equal to those
 * of `dtype` (NULL: any), and how many elements these are. */
uint32_t nt_count_whole_pages(const struct nt_dataset *dataset, const struct nt_page *pages, uint32_t count,
                              uint64_t elements, const struct nt_dtype *dtype, uint64_t *elements_ret);

/* Load a page into the cache if it is not there and not being loaded. */
void nt_page_readahead(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                       const struct nt_page *page);

/* Small ranges of large pages, without the rest: bytes [offset, offset + bytes) of a page's decoded elements,
 * few beside its size, from the blocks that hold them. False where this is not possible, does not pay or
 * fails, or the page is in the cache: then the page is to be used. */
bool nt_page_read_blocks(struct nt_reader *reader, struct nt_dataset *dataset, const struct nt_page *page,
                         size_t offset, void *output, size_t bytes);

/* ---- Adjacent pages ---- */

/* How many of the pages, from the first on, can be read together: 0 where the first is large. Where one of them is decoded
 * with other pages as inputs, all have the same decoder and need the same inputs. */
uint32_t nt_adjacent_pages_count(const struct nt_dataset *dataset, const struct nt_page *pages,
                                 uint32_t count);

/* What was read with a page that was loaded before; all zero at first. For one thread. */
struct nt_adjacent_pages {
    uint8_t *bytes;
    const struct nt_page *first;
    uint32_t count;
};

/* nt_page_load of the first of `count` pages of a column in a cluster, to be called for one after the other.
 * Pages of other calls may be omitted. */
enum nt_status nt_adjacent_pages_load(struct nt_adjacent_pages *adjacent, struct nt_reader *reader,
                                      struct nt_dataset *dataset, uint32_t column,
                                      const struct nt_page *pages, uint32_t count, void *output,
                                      struct nt_error *error);
void nt_adjacent_pages_deinit(struct nt_adjacent_pages *adjacent);

/* ---- Pages straight into the output ---- */

/* Pages of a column that follow one another, and where their elements go; both are moved on. */
struct nt_pages_run {
    const struct nt_page *pages;
    uint8_t *output;
    const struct nt_dtype *dtype; /* of several runs: what the elements must be equal to */
};

/* Load `count` pages of one column, or of several (at most NT_DECODE_TOGETHER) whose pages are the same stored bytes, each of
 * which is decoded once. Small pages that lie side by side are read in one call. Leaves no trace in the cache. Ends at a page
 * that is in the cache, that cannot be shared, or that fails: it is to be loaded by itself. How many are made is told. */
uint32_t nt_pages_load_direct(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                              struct nt_pages_run *runs, uint32_t run_count, uint32_t count);

/* ---- Access pattern ---- */

/* What the reads of one stream or column have looked like; shared by its readers, zero at first. */
struct nt_access_pattern {
    _Atomic uint64_t expected_offset;                  /* where the last read ended */
    _Atomic uint32_t reads;                            /* that followed one another */
    _Atomic uint64_t queued;                           /* pages before this element have been queued */
    _Atomic uint64_t prefetched_first, prefetched_end; /* elements that sources were told of (wanted.h) */
    atomic_bool has_prefetcher;                        /* by somebody who tells of what follows in its turn */
};

/* Whether a read of bytes [offset, offset + bytes) begins where the last one ended, or near: within a few
 * times its own length, as read-ahead sends its requests a little out of order. */
bool nt_access_is_sequential(const struct nt_access_pattern *access, uint64_t offset, uint64_t bytes);
/* Note a read of bytes [offset, offset + bytes). True where it follows others. */
bool nt_access_note(struct nt_access_pattern *access, uint64_t offset, size_t bytes);
/* What becomes of a page that a read has used up to its end, or not. */
enum nt_cache_hint nt_access_cache_hint(struct nt_access_pattern *access, bool to_the_end);

/* ---- decoding ahead ---- */

/* A page and where it lies among the elements that are walked. */
struct nt_readahead_page {
    const struct nt_page *page; /* NULL: nothing to decode up to `end` */
    uint32_t column;
    uint64_t end; /* the element behind it */
};

/* The page that holds an element; there is one. */
typedef void nt_readahead_find(const void *walked, uint64_t element, struct nt_readahead_page *page_ret);

/* Who reads a column or a stream, mostly from front to back. */
struct nt_walk {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    struct nt_access_pattern *access;
    uint64_t elements, element_bytes; /* how many in all, and of each */
    uint64_t lead;                    /* elements in front of those that are stored */
    nt_readahead_find *find;
    const void *walked;
};

/* Queue the pages from a byte on, as far as it pays: less where they are copied from the cache. */
void nt_readahead_queue(const struct nt_walk *walk, uint64_t offset, bool is_copied);
/* Whether it pays at all where they are not. */
bool nt_readahead_pays(const struct nt_reader *reader);

/* ---- Prefetch hints ---- */

/* Whether the pages of a dataset come from where hints make a difference. */
bool nt_prefetch_helps(const struct nt_dataset *dataset);

/* What will be read of several pages, columns or streams is told at once: so ranges that lie side by side become one. Zero at
 * first; what is told is forgotten. */
struct nt_prefetch {
    struct nt_source *source;
    struct nt_extent *extents;
    size_t count, capacity;
    uint64_t bytes; /* of all that was told since it was zero */
    bool is_now;    /* somebody waits for all of them */
};
void nt_prefetch_submit(struct nt_prefetch *prefetch);

/* These pages will be read; the second tells at once. */
void nt_prefetch_add(struct nt_prefetch *prefetch, const struct nt_reader *reader,
                     const struct nt_dataset *dataset, const struct nt_page *pages, uint32_t count);
void nt_prefetch_pages(const struct nt_reader *reader, const struct nt_dataset *dataset,
                       const struct nt_page *pages, uint32_t count);

/* The elements from `element` to `end` will be read, in this order: the first pages of them, up to `bytes` of decoded elements. Costs
 * nothing where enough was asked for before. Told is it by whoever has the hints. */
void nt_prefetch_elements(struct nt_prefetch *prefetch, const struct nt_walk *walk, uint64_t element,
                          uint64_t end, uint64_t bytes);
/* Bytes [offset, offset + bytes) are read now: tell of them, and of what will be read behind them. The dataset wants hints. */
void nt_read_want(const struct nt_walk *walk, uint64_t offset, uint64_t bytes);

/* Whether an element is behind where somebody was told to read, and no further than that was told; not where somebody leads. */
bool nt_prefetch_continues(const struct nt_access_pattern *access, uint64_t element);

/* How many bytes behind a read of [offset, offset + bytes) are wanted soon: the more, the more reads have followed one
 * another; none where it follows none, or is one of several that somebody leads. */
uint64_t nt_prefetch_bytes_after(const struct nt_access_pattern *access, uint64_t offset, uint64_t bytes);

/* ---- Index of a dataset ---- */

/* Where every NT_INDEX_STRIDE-th cluster begins within a column. */
struct nt_column_checkpoint {
    uint64_t elements; /* before it */
    uint64_t pages;
};

struct nt_column_index {
    struct nt_access_pattern access; /* of reads */
    uint64_t elements, pages;        /* in all */
    struct nt_column_checkpoint marks[];
};

struct nt_dataset_index {
    struct nt_link link; /* in the table of all */
    const struct nt_dataset *dataset;
    uint32_t column_count;
    pthread_mutex_t lock;                       /* of building */
    _Atomic(uint32_t *) order;                  /* clusters by first entry, then number; NT_NONE */
    _Atomic(struct nt_column_index *) *columns; /* by column; NULL: not built */
    /* What a choice of entries omits, NULL: not looked at: of the items of a list or the bytes of strings [field], and
     * of the rows of a variant's alternative [as many as there are fields + field]. NULL: nobody chose. */
    _Atomic(struct nt_deletion_vector *) *filtered_rows;
};

struct nt_dataset_indexes *nt_dataset_indexes_new(void);          /* NULL without memory */
void nt_dataset_indexes_free(struct nt_dataset_indexes *indexes); /* accepts NULL */
/* The index of a dataset; NULL without memory. Valid until it is forgotten. */
struct nt_dataset_index *nt_dataset_index_get(struct nt_dataset_indexes *indexes,
                                              const struct nt_dataset *dataset);
void nt_dataset_indexes_forget(struct nt_dataset_indexes *indexes, const struct nt_dataset *dataset);

/* ---- Clusters in entry order ---- */

/* Why the rows of a cluster cannot be read. */
enum nt_row_fault {
    NT_FAULT_NONE,
    NT_FAULT_GROUP,       /* its page list cannot be read */
    NT_FAULT_NOT_COVERED, /* no cluster holds these entries */
    NT_FAULT_MISSING,     /* no representation is stored, and deferral does not explain it */
    NT_FAULT_SEVERAL,     /* more than one representation is stored */
    NT_FAULT_COUNT,       /* not as many elements are stored as there are rows */
    NT_FAULT_POSITION,    /* which rows these are depends on a part that cannot be read */
};

/* A range of entries: a cluster's, or a hole between clusters. */
struct nt_span {
    uint64_t first_entry, entries;
    uint32_t cluster; /* NT_NONE: a hole */
    enum nt_row_fault fault;
};

/* All spans of a field, holes filled, so that they are the dataset's entries in order; `spans_ret` from
 * malloc. Loads all page lists that may tell which spans there are; one that is bad is a fault of its spans. See
 * nt_span_load for the rest. NT_CORRUPT where clusters overlap. */
enum nt_status nt_spans_build(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                              struct nt_span **spans_ret, uint32_t *count_ret, struct nt_error *error);

/* Load the page list of a span that has no fault yet; where it is bad, that becomes the fault. Fails where the machine
 * does. */
enum nt_status nt_span_load(struct nt_dataset *dataset, struct nt_span *span, struct nt_error *error);

/* Which part of the entries a span is, in a dataset with field_groups. */
uint32_t nt_span_part(const struct nt_dataset *dataset, const struct nt_span *span);

/* The failed group whose entries meet a range (or that holds a cluster), for the message; NULL. */
const struct nt_error *nt_span_failure(const struct nt_dataset *dataset, uint32_t cluster,
                                       uint64_t first_entry, uint64_t entries);

/* A field's columns at one position, in one cluster. */
struct nt_active_column {
    unsigned present; /* how many representations are stored; the members below are valid for 1 */
    uint32_t column;
    uint64_t first_element; /* as the page list tells */
    uint64_t elements;      /* stored */
    const struct nt_page *pages;
    uint32_t page_count;
    bool is_deferred;        /* the column; where none is present: any of them */
    bool is_valid;           /* elements that are not stored are true, not zeros */
    uint64_t deferred_first; /* the first element that a deferred column stores */
};

/* The cluster's group must have been loaded. */
void nt_active_column_find(const struct nt_dataset *dataset, uint32_t field, uint32_t position,
                           uint32_t cluster, struct nt_active_column *active);

/* The page of a range that holds an element, counted from the range's first. */
const struct nt_page *nt_find_page(const struct nt_page *pages, uint32_t count, uint64_t element);

/* Rows of a field per row (or item) of nt_field_row_parent: the product of the repetitions between them. */
bool nt_rows_per_item(const struct nt_dataset *dataset, uint32_t field, uint64_t *product_ret);

/* ---- Element conversion ---- */

/* A Switch in memory. */
enum { NT_SWITCH_BYTES = 12, NT_SWITCH_TAG = 8 };

/* The rows of a variant's alternative in a cluster. */
struct nt_alternative {
    uint64_t base, rows; /* the first of them in the dataset, and how many */
};

/* Elements [first, first + count) of a page, and what is to be made of them. */
struct nt_element_run {
    const struct nt_field *field;
    const struct nt_dtype *dtype; /* of what is made */
    const struct nt_page *page;
    const struct nt_decoder *decoder;
    const uint8_t *data; /* of the whole page */
    size_t first, count;
    uint64_t base;       /* offsets: added to each value */
    uint64_t limit;      /* offsets: the items of the cluster; its last value */
    bool is_cluster_end; /* the run ends with the cluster's last element */
    bool has_previous;   /* `previous` is the index value before the page's first element */
    uint64_t previous;
    const struct nt_alternative *alternatives; /* index of variants: of the cluster, by tag - 1 */
};

/* `output` has count * dtype->bytes, and need not be aligned. */
typedef enum nt_status nt_transform(const struct nt_element_run *run, uint8_t *output,
                                    struct nt_error *error);

/* The function that does it; NULL for what is made from the page list alone. */
nt_transform *nt_transform_of(enum nt_conversion make);

/* Element `i` of an index column's decoded elements; false where they are of another type. */
bool nt_load_index(enum nt_element element, const uint8_t *data, size_t i, uint64_t *value_ret);

/* True where values need no change at all: a page may be decoded straight into the stream. */
bool nt_values_are_equal(const struct nt_decoder *decoder, const struct nt_dtype *dtype);

/* ---- Row masks ---- */

/* A run of rows that are kept. */
struct nt_kept_run {
    uint32_t number; /* how many runs are dropped in front of it */
    uint64_t stored; /* where the row is stored */
    uint64_t count;  /* rows from it on that follow one another and are kept */
};
/* Where the `row`th of those that are kept is stored. There is one. */
struct nt_kept_run nt_deletion_vector_find_kept(const struct nt_deletion_vector *deletions, uint64_t row);
/* The next run of rows that are kept; false where there is none. */
bool nt_deletion_vector_next_kept(const struct nt_deletion_vector *deletions, struct nt_kept_run *kept);
/* How many are dropped in the first `number` runs. */
uint64_t nt_deletion_vector_count(const struct nt_deletion_vector *deletions, uint32_t number);

/* Elements that are stored, and not the stream's: of rows that are dropped because they were deleted or their entries are
 * not selected, and so many elements for each. */
struct nt_row_mask {
    const struct nt_deletion_vector *deletions; /* NULL: all are the stream's */
    uint64_t per_row;
    struct nt_deletion_vector *made; /* from malloc, where they are nobody else's; NULL */
};

/* Of a field's rows, or of its items or bytes (NT_ROWS_OF_FIELD, or one of the others, which are one for the field): those
 * that were deleted of a part, or, with NT_NONE, those of entries that are not selected. Follows the end offsets of all lists
 * around it: of those the page lists are loaded, and the pages decoded that tell where a row that is kept begins or ends. To be
 * deinitialized where it is of a part. */
enum nt_status nt_row_mask_find(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                enum nt_rows_of of, uint32_t part, struct nt_row_mask *mask,
                                struct nt_error *error);
void nt_row_mask_deinit(struct nt_row_mask *mask);

/* So many elements for each that there was. NT_LIMIT: they cannot be counted. */
enum nt_status nt_row_mask_multiply(struct nt_row_mask *mask, uint64_t factor, struct nt_error *error);
/* Where items of the first `row` rows end. */
typedef enum nt_status nt_get_end(void *context, uint64_t row, uint64_t *end_ret, struct nt_error *error);
/* What of the items goes with rows, run by run: from malloc. Ends are asked for in ascending order. */
enum nt_status nt_row_mask_map(const struct nt_row_mask *rows, nt_get_end *tell, void *context,
                               struct nt_deletion_vector **items_ret, struct nt_error *error);

/* The following are of masks with drops. */

/* Where an element is stored, of those that are kept, and how many follow it; the number is that of its row's run. */
struct nt_kept_run nt_row_mask_kept_from(const struct nt_row_mask *mask, uint64_t element);
/* How many of the first `stored` elements are kept: all without drops. */
uint64_t nt_row_mask_before(const struct nt_row_mask *mask, uint64_t stored);
/* Whether it is one of as many elements as are stored; NT_CORRUPT. */
enum nt_status nt_row_mask_check(const struct nt_row_mask *mask, uint64_t elements, struct nt_error *error);

static inline uint64_t nt_row_mask_kept(const struct nt_row_mask *mask)
{
    return mask->deletions->items[mask->deletions->count].kept * mask->per_row;
}
static inline uint64_t nt_row_mask_stored(const struct nt_row_mask *mask)
{
    return mask->deletions->items[mask->deletions->count].first * mask->per_row;
}

/* ---- Row counts ---- */

/* A span with its rows. */
struct nt_row_span {
    struct nt_span span;
    uint64_t first_row, rows;
    uint64_t
        origin; /* the row that positions in columns are counted from: 0, or where the span's file begins */
};

struct nt_row_counts {
    struct nt_row_span *pieces;
    uint32_t count;
    uint64_t total;
    bool is_total_known;    /* false: it depends on a page list or a page that cannot be read */
    enum nt_status refusal; /* then: the machine's failure that is the reason; NT_OK: the file is */
};

enum nt_status nt_row_counts_build(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                   enum nt_rows_of of, struct nt_row_counts *rows, struct nt_error *error);
void nt_row_counts_deinit(struct nt_row_counts *rows);

/* NT_OK where the total is known, else the error of the span that leaves it unknown. */
enum nt_status nt_row_counts_check_total(const struct nt_dataset *dataset, const struct nt_row_counts *rows,
                                         struct nt_error *error);

/* The total alone, from as few page lists as can answer. */
enum nt_status nt_row_counts_total(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                   enum nt_rows_of of, uint64_t *total_ret, struct nt_error *error);

/* The error of rows that cannot be read: which ones it tells, but not of which field. */
enum nt_status nt_fault_error(const struct nt_dataset *dataset, const struct nt_span *span, uint64_t expected,
                              uint64_t found, struct nt_error *error);

/* ---- Streams ---- */

/* A cluster's share of a stream. Of those whose page lists need not be loaded to open it, where the elements are stored
 * is found when they are read. */
struct nt_segment {
    struct nt_span span;
    uint64_t first, elements; /* in the stream; for offsets: rows, the leading 0 not counted */
    uint64_t origin;          /* the element that positions in columns are counted from */
    uint64_t base, limit;     /* as a run has them */
    atomic_bool is_located;   /* what follows, and the span's fault, are known: they do not change any more */
    uint64_t zeros;           /* leading elements that a deferred column does not store */
    bool are_true;            /* these are true, as no row is null, and not zeros */
    const struct nt_page *pages;
    uint32_t page_count;
    uint32_t column;
    uint64_t found;               /* NT_FAULT_COUNT: elements that are stored */
    struct nt_row_mask mask;      /* deletions */
    struct nt_row_mask item_mask; /* offsets: run by run, what of the items goes with them */
};

/* Of the elements that are stored, those of chosen entries are the stream's. */
struct nt_stream_filter {
    struct nt_stream *stored; /* all of them */
    struct nt_row_mask elements;
    struct nt_row_mask items;         /* offsets: what of the items goes with the rows, run by run */
    struct nt_stream *tags;           /* index of variants: as they are stored */
    struct nt_row_mask *alternatives; /* index of variants: by tag - 1 */
    uint64_t fifo; /* how often all rows come one after the other: in Fortran order several times */
};

struct nt_stream {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t field;
    enum nt_stream_kind kind;
    const struct nt_stream_row *row; /* of the field's kind */
    nt_transform *transform;         /* NULL: made from the page list alone */
    struct nt_dtype dtype;
    uint32_t element_bytes;
    uint64_t elements;
    struct nt_segment *segments;
    uint32_t segment_count;
    struct nt_alternative *alternatives; /* index of variants: [segment][alternative] */
    uint32_t alternative_count;
    struct nt_stream_filter *filter; /* NULL: all that the segments hold is the stream's; else it has none */
    _Atomic(const struct nt_page *) told; /* the last page whose elements made no sense: told once */
    struct nt_access_pattern access;
    struct nt_lock lock; /* of locating segments */
};

/* Without elements and segments; there is such a stream. NULL without memory. */
struct nt_stream *nt_stream_new(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                enum nt_stream_kind kind);
/* A stream as it is stored, whatever entries are chosen: its rows are the segments'. */
enum nt_status nt_stream_open_stored(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                     enum nt_stream_kind kind, struct nt_stream **stream_ret,
                                     struct nt_error *error);

/* Rows of a field before each cluster, in entry order: `count_ret` clusters that hold it and as many borders
 * plus one (from malloc), the first 0. Loads all page lists. */
enum nt_status nt_field_row_borders(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                    uint64_t **borders_ret, uint32_t *count_ret, struct nt_error *error);
/* Bytes of a field's strings or objects before each cluster, as nt_field_row_borders tells rows. */
enum nt_status nt_field_byte_borders(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                     uint64_t **borders_ret, uint32_t *count_ret, struct nt_error *error);
/* The segment that holds an element (of segments' counting). There is one. */
const struct nt_segment *nt_stream_segment_of(const struct nt_stream *stream, uint64_t element);

/* Find where a segment's elements are stored, if nobody has: loads its page list, which may be bad: then that is the
 * segment's fault. Fails where the machine does. */
enum nt_status nt_stream_locate(struct nt_stream *stream, const struct nt_segment *segment,
                                struct nt_error *error);
/* How many elements a located segment has in all, those that are stored and not the stream's among them. */
static inline uint64_t nt_segment_end(const struct nt_segment *segment)
{
    return segment->mask.deletions ? nt_row_mask_stored(&segment->mask) : segment->elements;
}
/* Elements of a stream are counted with an offset's leading 0, those of its segments without. */
static inline uint64_t nt_stream_leading_zeros(const struct nt_stream *stream)
{
    return stream->row->has_leading_zero;
}

/* The page that holds an element, if its segment is located; an nt_readahead_find for streams. None where entries are chosen. */
void nt_stream_find_page(const void *stream, uint64_t element, struct nt_readahead_page *page_ret);
/* For who reads it from front to back. */
struct nt_walk nt_stream_walk(struct nt_stream *stream, bool loads_page_lists);
/* Elements [first, end) will be read: their sources are to be told of the first of them. */
void nt_stream_prefetch(struct nt_stream *stream, struct nt_prefetch *prefetch, uint64_t first, uint64_t end,
                        uint64_t bytes);
/* The same for somebody who reads several streams by turns and tells of all of them: nobody else asks ahead for this one from now on. */
void nt_stream_prefetch_exclusive(struct nt_stream *stream, struct nt_prefetch *prefetch, uint64_t first,
                                  uint64_t end);
/* Where the page ends that holds a stored element, as far as can be told: behind the element at least. */
uint64_t nt_stream_page_end(struct nt_stream *stream, uint64_t element);
/* How many elements from one on are equal, as the page tells that it lies in: 1 where no page does. Of streams whose
 * elements are the column's. */
uint64_t nt_stream_run_length(const struct nt_stream *stream, uint64_t element);

/* A run of no elements yet: all that stream, segment and page tell of it. For each page of each read. */
static inline struct nt_element_run
nt_stream_run(const struct nt_stream *stream, const struct nt_segment *segment, const struct nt_page *page)
{
    const struct nt_alternative *alternatives = stream->alternatives;
    if (alternatives)
        alternatives += (size_t)(segment - stream->segments) * stream->alternative_count;
    return (struct nt_element_run){
        .field = &stream->dataset->fields[stream->field],
        .dtype = &stream->dtype,
        .page = page,
        .decoder = nt_decoders_get(&stream->dataset->decoders, page->decoder),
        .base = segment->base,
        .limit = segment->limit,
        .alternatives = alternatives,
    };
}

/* The decoded elements of some pages that are in the output already, each where it belongs. */
struct nt_decoded_pages {
    const struct nt_page *first;
    uint32_t count;
};
/* Elements [first, first + count): nt_stream_read without its edges and counters. `made` NULL: no pages are. */
enum nt_status nt_stream_produce(struct nt_stream *stream, uint64_t first, uint64_t count,
                                 const struct nt_decoded_pages *made, uint8_t *output,
                                 struct nt_error *error);

/* ---- Shared decoding ---- */

/* Whether it is so of the first pages of both. */
bool nt_streams_share_pages(struct nt_stream *a, struct nt_stream *b);
/* The end of the page in `other` that is the same bytes as the one in which the element before `end` lies; 0: there is none. */
uint64_t nt_stream_shared_page_end(struct nt_stream *stream, uint64_t end, struct nt_stream *other);
/* Decode into each range's output what is whole in all of them (at most NT_DECODE_TOGETHER), from the first page on, in the segment
 * where the first range begins. What fails is omitted, for who reads it alone to find out. */
void nt_streams_decode_shared(const struct nt_stream_range *ranges, uint32_t count,
                              struct nt_decoded_pages *made);

/* ---- Streams under a row mask ---- */

/* In place of a stream as it is stored, one of the chosen entries, where some are omitted. */
enum nt_status nt_stream_set_filter(struct nt_stream **stream, struct nt_error *error);
/* Elements [first, first + count) of such a stream. */
enum nt_status nt_stream_produce_filtered(struct nt_stream *stream, uint64_t first, uint64_t count,
                                          uint8_t *output, struct nt_error *error);

/* The segment that holds an element of a stream, whatever entries are chosen. There is one. */
const struct nt_segment *nt_stream_filtered_segment(const struct nt_stream *stream, uint64_t element);

/* ---- Selections ---- */

struct nt_selection {
    char *path; /* NULL: a range */
    struct nt_entry_range *ranges;
    size_t count, capacity;
    uint64_t elements; /* of the file, so far */
    uint64_t line;     /* of a text, that which is read, from 1; else 0 */
    bool is_mask;      /* an element for each entry */
};

/* ---- Selection file types ---- */

/* All of the elements of a file of any kind. Takes the source, also on failure. */
enum nt_status nt_selection_read(struct nt_selection *selection, struct nt_source *source,
                                 struct nt_error *error);

#endif
