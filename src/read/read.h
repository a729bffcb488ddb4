/* SPDX-License-Identifier: MIT
 *
 * Private header of the reading code: reader, page cache, page loading, clusters and rows, row masks,
 * streams, readahead and worker threads.
 */
#pragma once

#include <ntuple/read.h>

#include "core/base/hash_table.h"
#include "core/base/text.h"
#include "core/base/thread.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/model/field.h"
#include "core/model/model.h"

struct nt_cache;
struct nt_cache_entry;
struct nt_scratch_pool;
struct nt_dataset_indexes;
struct nt_workers;

/* ---- Counters ---- */

/* Counted since the start. The names are public. */
#define NT_COUNTERS(COUNTER)                                                                                 \
    COUNTER(reads)        /* of streams and columns */                                                       \
    COUNTER(served_bytes) /* of streams and columns */                                                       \
    COUNTER(pinned_bytes) /* the part served directly from cached pages */                                   \
    COUNTER(cache_hits)                                                                                      \
    COUNTER(cache_misses)                                                                                    \
    COUNTER(cache_waits) /* another thread was loading the page */                                           \
    COUNTER(cache_bytes) /* current */                                                                       \
    COUNTER(cache_pages) /* current */                                                                       \
    COUNTER(cache_evictions)                                                                                 \
    COUNTER(pages_decoded)                                                                                   \
    COUNTER(decoded_bytes) /* with those of blocks */                                                        \
    COUNTER(stored_bytes)                                                                                    \
    COUNTER(read_nanoseconds)                                                                                \
    COUNTER(checksum_nanoseconds)                                                                            \
    COUNTER(decompress_nanoseconds)                                                                          \
    COUNTER(decode_nanoseconds)                                                                              \
    COUNTER(pages_direct)   /* decoded straight into the output */                                           \
    COUNTER(pages_ahead)    /* decoded before a reader requested them */                                     \
    COUNTER(pages_sibling)  /* decoded into the cache with a page of another column */                       \
    COUNTER(blocks_decoded) /* parts of pages; they and their stored bytes are cache entries, as pages */    \
    COUNTER(failures)                                                                                        \
    COUNTER(failures_remembered)

#define NT_DEFINE_COUNTER(name) uint64_t name;
struct nt_counters {
    NT_COUNTERS(NT_DEFINE_COUNTER)
};

/* Decompression by one algorithm, as named in the stored bytes. */
struct nt_algorithm_counters {
    uint64_t pages, stored_bytes, packed_bytes, nanoseconds;
};

/* Thread-safe. Values of several counters need not belong to one moment. */
static inline void nt_counter_add(uint64_t *counter, uint64_t amount)
{
    __atomic_fetch_add(counter, amount, __ATOMIC_RELAXED);
}

/* Counts of one thread while it loads pages. The thread adds them to the reader once: updating shared
 * counters for each small page would make threads contend. Starts zeroed. */
struct nt_stats_delta {
    struct nt_counters counters;
    struct nt_algorithm_counters algorithms[NT_ALGORITHM_COUNT];
    uint64_t mark; /* when the current stage began */
};

static inline void nt_stats_begin(struct nt_stats_delta *stats)
{
    stats->mark = nt_nanoseconds();
}

/* Adds the time of the current stage to `counter` and begins the next stage. */
static inline uint64_t nt_stats_lap(struct nt_stats_delta *stats, uint64_t *counter)
{
    uint64_t now = nt_nanoseconds(), passed = now - stats->mark;
    stats->mark = now;
    *counter += passed;
    return passed;
}

/* ---- Cache keys ---- */

/* Everything that determines the decoded bytes. The location of the bytes is not enough: columns of
 * different type and element count may share it (merged pages). Hashed as bytes: no padding. */
struct nt_cache_key {
    const void *source;
    const void *decoder; /* of the dataset, which stores equal decoders once */
    uint64_t offset;
    uint64_t stored_bytes;
    uint64_t parameter;
    uint32_t elements;
    uint8_t compression, checksum, checksum_covers, reserved;
    uint64_t block; /* 0, or the part of the page: see page.c */
};

/* ---- Page cache ---- */

/* `limit` bounds the bytes of all entries, including loads in progress and buffers kept for reuse; not
 * an entry larger than it, nor NT_CACHE_LOADER. Maintains the cache_* counters. NULL without memory. */
struct nt_cache *nt_cache_new(uint64_t limit, unsigned failure_seconds, struct nt_counters *counters);
void nt_cache_free(struct nt_cache *cache); /* accepts NULL; no entry may be pinned */

/* Fills `output` with the entry's bytes. The caller holds no lock. */
typedef enum nt_status nt_cache_load(void *context, uint8_t *output, struct nt_error *error);

/* What the caller of nt_cache_get may wait for. */
enum nt_cache_client {
    NT_CACHE_READER, /* pins and loads nothing: may wait for room */
    NT_CACHE_LOADER, /* loads a page and may hold pins: is admitted at once */
    NT_CACHE_HOLDER, /* has pinned entries: never waits for room, gets NT_NO_MEMORY instead */
};

/* Pins the entry of a key. Loads it, or waits if another thread is loading it. Failures are remembered:
 * until one expires, the call returns the same error without loading. */
enum nt_status nt_cache_get(struct nt_cache *cache, const struct nt_cache_key *key, size_t bytes,
                            enum nt_cache_client client, nt_cache_load *load, void *context,
                            struct nt_cache_entry **entry_ret, struct nt_error *error);

/* Adds an entry that is made while another one is loaded: the caller fills its output. Never waits. NULL if
 * the entry exists, or if there is no room: such unrequested entries take at most a quarter
 * of the limit, and give way to others after a while. */
struct nt_cache_entry *nt_cache_begin(struct nt_cache *cache, const struct nt_cache_key *key, size_t bytes);
uint8_t *nt_cache_entry_output(struct nt_cache_entry *entry);
/* Ends nt_cache_begin, with an error or NT_OK. */
void nt_cache_finish(struct nt_cache *cache, struct nt_cache_entry *entry, enum nt_status status,
                     const struct nt_error *failure);

enum nt_cache_state {
    NT_CACHE_ABSENT,
    NT_CACHE_LOADING,
    NT_CACHE_READY,
    NT_CACHE_FAILED, /* remembered failure */
};
/* Never loads; the result may be stale at once. */
enum nt_cache_state nt_cache_peek(struct nt_cache *cache, const struct nt_cache_key *key);
/* The number of absent entries before the first that is present. */
size_t nt_cache_count_absent(struct nt_cache *cache, const struct nt_cache_key *keys, size_t count);

const uint8_t *nt_cache_entry_bytes(const struct nt_cache_entry *entry);

/* How a reader used a pinned entry. One pass over a column would fill the cache with entries that are
 * not used again, and each would touch new memory. So entries leave early after a sequential pass, and
 * their warm buffers are reused. */
enum nt_cache_hint {
    NT_CACHE_KEEP,        /* may be used again */
    NT_CACHE_SEQUENTIAL,  /* used by a sequential reader, not yet to its end */
    NT_CACHE_DROP_BEHIND, /* used by a sequential reader to its end */
};
void nt_cache_release(struct nt_cache *cache, struct nt_cache_entry *entry, enum nt_cache_hint use);

/* Reserves bytes of the limit for other memory; negative values release them. Never blocks. */
void nt_cache_reserve(struct nt_cache *cache, int64_t bytes);

/* Drops all entries of some sources, in one pass over the cache. */
void nt_cache_invalidate(struct nt_cache *cache, const void *const *sources, size_t count);

/* ---- Slab allocator ---- */

enum {
    NT_SLAB_UNIT = 32 * 1024,
    NT_SLAB_UNITS = 64,
    NT_SLAB_BYTES = NT_SLAB_UNIT * NT_SLAB_UNITS, /* a huge page */
};

struct nt_slab {
    LIST_ENTRY(nt_slab) listed;
    uint8_t *block, *memory; /* the allocation; the first buffer */
    size_t bytes;
    uint64_t free; /* bitmap of free units; all or none if one buffer has the whole slab */
    unsigned busy; /* buffers in use */
    struct nt_cache_entry *owners[NT_SLAB_UNITS]; /* of the buffers, at their first units */
};

LIST_HEAD(nt_slab_list, nt_slab);

/* Starts zeroed. */
struct nt_slab_pool {
    struct nt_slab_list shared, empty; /* with and without buffers, most recently changed first */
    uint64_t bytes, empty_bytes;       /* of all slabs, and of those without buffers */
    uint64_t busy_bytes;               /* of slabs with a busy buffer */
};

/* The bytes of a buffer in a slab, and of the slab that such a buffer needs. */
size_t nt_slab_capacity(size_t bytes);
size_t nt_slab_bytes(size_t capacity);

/* Allocates a busy buffer for an owner from an existing slab; NULL if none has room. */
struct nt_slab *nt_slab_alloc(struct nt_slab_pool *slabs, size_t capacity, struct nt_cache_entry *owner,
                              uint8_t **data_ret);
/* The same from a new slab; NULL without memory. */
struct nt_slab *nt_slab_add(struct nt_slab_pool *slabs, size_t capacity, struct nt_cache_entry *owner,
                            uint8_t **data_ret);

/* Marks a buffer as idle or as busy, or frees an idle buffer. */
void nt_slab_set_idle(struct nt_slab_pool *slabs, struct nt_slab *slab);
void nt_slab_set_busy(struct nt_slab_pool *slabs, struct nt_slab *slab);
void nt_slab_return(struct nt_slab_pool *slabs, struct nt_slab *slab, const uint8_t *data, size_t capacity);

/* Removes the least recently used empty slab and its bytes, for the caller to free; NULL if none. */
struct nt_slab *nt_slab_evict(struct nt_slab_pool *slabs);
void nt_slab_free(struct nt_slab *slab); /* accepts NULL */

/* ---- Pool of codec contexts ---- */

/* `limit` bounds the bytes of all contexts, except a single larger one. NULL without memory. */
struct nt_scratch_pool *nt_scratch_pool_new(uint64_t limit);
void nt_scratch_pool_free(struct nt_scratch_pool *scratch_pool); /* accepts NULL; nothing is borrowed */

struct nt_borrowed_context {
    struct nt_codec_context *context;
    uint64_t bytes;
};

/* Borrows a context for `bytes` of scratch memory. Until the borrower returns it, it must not wait for
 * a cache entry or another context. NT_NO_MEMORY. */
enum nt_status nt_scratch_pool_borrow(struct nt_scratch_pool *scratch_pool, uint64_t bytes,
                                      struct nt_borrowed_context *borrowed_ret, struct nt_error *error);
void nt_scratch_pool_return(struct nt_scratch_pool *scratch_pool, const struct nt_borrowed_context *borrowed);

/* ---- Reader ---- */

struct nt_reader {
    struct nt_reader_options options; /* with defaults filled in */
    struct nt_counters counters;      /* accessed only through nt_counter_add and the functions below */
    struct nt_algorithm_counters algorithms[NT_ALGORITHM_COUNT]; /* accessed as the counters above */
    struct nt_lock lock;   /* of the members below while nt_reader_after_fork replaces them */
    atomic_bool is_forked; /* the members are still the parent's */
    struct nt_scratch_pool *scratch_pool;
    struct nt_cache *cache;
    struct nt_workers *workers;
    struct nt_dataset_indexes *indexes;
};

/* Call before using any member. A forked process has no workers, and other threads of the parent may
 * hold locks, pages and memory. So the first call in the child replaces the members. */
enum nt_status nt_reader_after_fork(struct nt_reader *reader, struct nt_error *error);
/* All counters except those of algorithms, which nt_reader_counter also returns. */
void nt_counters_read(const struct nt_reader *reader, struct nt_counters *counters);
void nt_reader_add_stats(struct nt_reader *reader, const struct nt_stats_delta *stats);
/* Counts a page failure and passes it to the options' callback, unless the page is not at fault. */
void nt_reader_report_failure(struct nt_reader *reader, const struct nt_dataset *dataset, uint32_t column,
                              const struct nt_page *page, const struct nt_error *failure);

/* ---- Worker threads ---- */

/* A unit of work to do ahead: a function and its arguments. */
struct nt_worker_job {
    void (*run)(const struct nt_worker_job *job);
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t column;
    const struct nt_page *page;
    struct nt_group *group; /* of the page: pinned until the job is done or dropped */
};

/* NULL without memory. If the system provides fewer threads than `count`, those do the work. With none,
 * or with `count` 0, nothing is done ahead and callers work alone. */
struct nt_workers *nt_workers_new(unsigned count);
void nt_workers_free(struct nt_workers *workers); /* accepts NULL */
unsigned nt_workers_count(const struct nt_workers *workers);

/* Workers without a running or queued job; may be stale at once. */
unsigned nt_workers_idle(struct nt_workers *workers);

/* Queues a copy of a job, or drops it, and returns false, if the queue is full or nobody works. Takes over
 * the pin. */
bool nt_workers_queue(struct nt_workers *workers, const struct nt_worker_job *job);
/* Cancels the jobs of a page: the caller is about to do them itself. */
void nt_workers_cancel_page(struct nt_workers *workers, const struct nt_page *page);
/* Drops a dataset's queued jobs and waits for the running ones. */
void nt_workers_forget(struct nt_workers *workers, const struct nt_dataset *dataset);

/* Runs `work` on this thread and all idle workers in parallel; returns when all have returned. `work`
 * distributes the shares itself and returns when none is left. */
void nt_workers_run_all(struct nt_workers *workers, void (*work)(void *context), void *context);

/* ---- Loading a page ---- */

/* The bytes of a page's decoded elements; NT_LIMIT if they overflow or exceed the file's limit. */
enum nt_status nt_page_decoded_bytes(const struct nt_dataset *dataset, const struct nt_page *page,
                                     size_t *bytes_ret, struct nt_error *error);

/* The approximate memory for loading the page, in addition to its output; 0 if loading will be refused. */
uint64_t nt_page_scratch_bytes(const struct nt_dataset *dataset, const struct nt_page *page);

/* Everything that determines a page's decoded elements. */
struct nt_cache_key nt_page_key(const struct nt_dataset *dataset, const struct nt_page *page);

struct nt_page_request {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t column; /* that needs the page */
    const struct nt_page *page;
    struct nt_codec_context *context; /* borrowed */
    struct nt_stats_delta *stats;     /* begun; set if `context` is */
    /* The page's stored bytes with their digest, if already in memory; NULL: read them. May be in the
     * context's scratch memory, except NT_SCRATCH_PAGE. */
    const uint8_t *stored;
    const struct nt_error *failure;      /* loading it failed with this just now; NULL: not tried yet */
    const struct nt_value *dependencies; /* of its decoder, decoded */
    uint64_t base;                       /* added to end offsets by decoders that sum items */
    /* Pages of other columns with the same stored bytes, decoded in the same call. Their decoders are
     * shared (nt_decoders_are_shared). */
    const struct nt_shared_page {
        const struct nt_page *page;
        const struct nt_value *dependencies;
        uint8_t *output;
        uint64_t base;
    } * shared_pages;
    uint32_t shared_page_count; /* less than NT_MAX_SHARED_OUTPUTS */
};

/* Reads, verifies, decompresses and decodes into `output`, with a context. The error does not name the page,
 * and a damaged page is not fetched a second time. */
enum nt_status nt_page_load_once(const struct nt_page_request *request, void *output, struct nt_error *error);
/* Bytes may be damaged in transit, so a damaged page from a network is fetched once more. Forgets what was
 * fetched of it. False: loading it again gives the same failure. */
bool nt_page_prepare_retry(const struct nt_page_request *request, enum nt_status status);

/* The compression algorithm that the stored bytes name. */
enum nt_status nt_page_find_algorithm(struct nt_dataset *dataset, const struct nt_page *page,
                                      enum nt_algorithm *algorithm_ret, struct nt_error *error);

/* The other pages that a page's decoder needs (a dictionary), pinned in the cache. */
struct nt_page_dependencies {
    struct nt_value values[NT_DECODER_DEPENDENCIES];
    struct nt_cache_entry *pinned[NT_DECODER_DEPENDENCIES];
    uint32_t count;
};
/* May block: the caller is about to load the page and must not have borrowed a context yet. The caller
 * unpins the dependencies even on failure. */
enum nt_status nt_page_pin_dependencies(const struct nt_page_request *request,
                                        struct nt_page_dependencies *dependencies, struct nt_error *error);
void nt_page_unpin_dependencies(struct nt_reader *reader, const struct nt_page_dependencies *dependencies);

/* nt_page_load_once for a page with any decoder, from any source. With `context` NULL, pins the dependencies,
 * borrows a context and adds the counts to the reader. Otherwise `dependencies` are those of the decoder. */
enum nt_status nt_page_load_with_dependencies(const struct nt_page_request *request, void *output,
                                              struct nt_error *error);

/* Lets the error name the page, and reports it. Returns the status. */
enum nt_status nt_page_report(const struct nt_page_request *request, enum nt_status status,
                              struct nt_error *error);

/* ---- Pages decoded with another one ---- */

/* Do the pages have the same stored bytes, and decoders that share work? */
bool nt_pages_are_shared(const struct nt_dataset *dataset, const struct nt_page *a, const struct nt_page *b);

/* Pages of other columns, which are decoded into cache entries while a page is loaded. */
struct nt_sibling_pages {
    struct nt_shared_page pages[NT_MAX_SHARED_OUTPUTS - 1];
    struct nt_group *groups[NT_MAX_SHARED_OUTPUTS - 1]; /* of the pages, pinned */
    uint32_t columns[NT_MAX_SHARED_OUTPUTS - 1];
    struct nt_cache_entry *entries[NT_MAX_SHARED_OUTPUTS - 1];
    uint32_t count;
};
/* Does loading pages of a column also give those of other columns? Call it only to load some: a format notes
 * which columns are decoded. */
bool nt_column_has_siblings(const struct nt_reader *reader, const struct nt_dataset *dataset,
                            uint32_t column);
/* Do two columns have the same pages? Compares the first ones, and loads their lists. False if the reader
 * does not cache siblings. */
bool nt_columns_are_siblings(const struct nt_reader *reader, struct nt_dataset *dataset, uint32_t one,
                             uint32_t other);
/* Adds the pages that are mostly needed with that of the request, and not cached, to the request. Never waits
 * for the cache or a context. The caller loads the request's page, then ends this. */
void nt_sibling_pages_begin(struct nt_page_request *request, struct nt_sibling_pages *siblings);
/* Removes them from the request. If the page was not `is_decoded`, loads them alone. */
void nt_sibling_pages_end(struct nt_page_request *request, struct nt_sibling_pages *siblings,
                          bool is_decoded);

/* ---- Pages in the cache ---- */

/* Pins a page's decoded elements in the cache, and loads them if absent. Fails if the file has changed.
 * The data is valid until nt_page_unpin. */
enum nt_status nt_page_pin(enum nt_cache_client client, struct nt_reader *reader, struct nt_dataset *dataset,
                           uint32_t column, const struct nt_page *page, struct nt_cache_entry **pinned_ret,
                           const uint8_t **data_ret, struct nt_error *error);
void nt_page_unpin(struct nt_reader *reader, struct nt_cache_entry *pinned, enum nt_cache_hint use);

/* Is the page neither in the cache, nor being loaded, nor known to fail? May be stale at once. */
bool nt_page_is_absent(const struct nt_reader *reader, const struct nt_dataset *dataset,
                       const struct nt_page *page);

/* Writes the decoded elements of whole consecutive pages to `output`. Copies cached or loading pages;
 * decodes others straight into the output and caches only failures. Stops at the first failure. */
enum nt_status nt_pages_read_whole(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                                   const struct nt_page *pages, uint32_t count, void *output,
                                   struct nt_error *error);
/* How many of the pages lie entirely within the next `elements` elements and have values equal to those
 * of `dtype` (NULL: any); also returns how many elements they hold. */
uint32_t nt_count_whole_pages(const struct nt_dataset *dataset, const struct nt_page *pages, uint32_t count,
                              uint64_t elements, const struct nt_dtype *dtype, uint64_t *elements_ret);

/* Loads a page into the cache unless it is present or being loaded. */
void nt_page_readahead(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                       const struct nt_page *page);

/* Reads bytes [offset, offset + bytes) of a page's decoded elements from only the blocks that hold
 * them. For small ranges of large pages. False if that is impossible, does not pay or fails, or if the
 * page is in the cache: then the caller uses the page. */
bool nt_page_read_blocks(struct nt_reader *reader, struct nt_dataset *dataset, const struct nt_page *page,
                         size_t offset, void *output, size_t bytes);

/* ---- Adjacent pages ---- */

/* How many of the pages, starting with the first, one read can cover; 0 if the first is large. If a
 * page is decoded with other pages as dependencies, all have the same decoder and dependencies. */
uint32_t nt_adjacent_pages_count(const struct nt_dataset *dataset, const struct nt_page *pages,
                                 uint32_t count);

/* Bytes that an earlier page's read also fetched. Starts zeroed; single-threaded. Forget the pages before
 * their group is unpinned. */
struct nt_adjacent_pages {
    uint8_t *bytes;
    const struct nt_page *first;
    uint32_t count;
};

/* nt_page_load of the first of `count` pages of a column in a cluster; call it for each in turn. Pages
 * loaded by other calls may be omitted. */
enum nt_status nt_adjacent_pages_load(struct nt_adjacent_pages *adjacent, struct nt_reader *reader,
                                      struct nt_dataset *dataset, uint32_t column,
                                      const struct nt_page *pages, uint32_t count, void *output,
                                      struct nt_error *error);
static inline void nt_adjacent_pages_forget(struct nt_adjacent_pages *adjacent)
{
    adjacent->count = 0;
}
void nt_adjacent_pages_deinit(struct nt_adjacent_pages *adjacent);

/* ---- Pages straight into the output ---- */

/* Consecutive pages of a column and the destination of their elements; loading advances both. */
struct nt_pages_run {
    const struct nt_page *pages;
    uint8_t *output;
    const struct nt_dtype *dtype; /* with several runs: the type that the elements must equal */
    uint64_t base;                /* as in nt_page_request */
};

/* Loads `count` pages of one column, or of several (at most NT_MAX_SHARED_OUTPUTS) with the same stored
 * bytes, each decoded once. Reads small adjacent pages in one call. Caches nothing. Stops at a page
 * that is cached, not shared or bad: the caller loads it alone. Returns the number of pages loaded.
 * `failure` (may be NULL) becomes that of a page whose own bytes are bad; else its status is NT_OK. */
uint32_t nt_pages_load_direct(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                              struct nt_pages_run *runs, uint32_t run_count, uint32_t count,
                              struct nt_error *failure);

/* ---- Access pattern ---- */

/* Recent reads of one stream or column; shared by its readers. Starts zeroed. */
struct nt_access_pattern {
    _Atomic uint64_t expected_offset;                  /* where the last read ended */
    _Atomic uint32_t reads;                            /* consecutive ones */
    _Atomic uint64_t queued;                           /* pages before this element have been queued */
    _Atomic uint64_t prefetched_first, prefetched_end; /* elements hinted to sources */
    atomic_bool has_prefetcher;                        /* a reader of several streams sends all hints */
    atomic_bool is_bounded;                            /* its reads do not continue: nothing is read ahead */
};

/* Does a read of bytes [offset, offset + bytes) begin at or near the end of the last one? Near is
 * within a few times its own length: kernel readahead sends requests slightly out of order. */
bool nt_access_is_sequential(const struct nt_access_pattern *access, uint64_t offset, uint64_t bytes);
/* Records a read of bytes [offset, offset + bytes). True if it is sequential. */
bool nt_access_note(struct nt_access_pattern *access, uint64_t offset, size_t bytes);
/* The cache hint for a page that a read has used, to its end or not. */
enum nt_cache_hint nt_access_cache_hint(struct nt_access_pattern *access, bool to_the_end);

/* ---- Decoding ahead ---- */

/* A page and its place among the elements of a walk. */
struct nt_readahead_page {
    const struct nt_page *page; /* NULL: nothing to decode before `end` */
    struct nt_group *group;     /* of the page: pinned, the caller unpins it */
    uint32_t column;
    uint64_t end; /* the element after it */
};

/* Finds the page that holds an element, which must exist, and pins its group. */
typedef void nt_readahead_find(const void *walked, uint64_t element, struct nt_readahead_page *page_ret);
/* Adds the pages of elements [element, end) whose page lists are not loaded, or loads these lists.
 * Returns where that ends. */
typedef uint64_t nt_walk_plan(const void *walked, struct nt_prefetch *prefetch, uint64_t element,
                              uint64_t end);

/* A reader of a column or stream, mostly from front to back. */
struct nt_walk {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    struct nt_access_pattern *access;
    uint64_t elements, element_bytes; /* total count, and size of each */
    uint64_t lead;                    /* leading elements that are not stored */
    nt_readahead_find *find;          /* NULL: nothing is decoded ahead */
    nt_walk_plan *plan;               /* NULL: all page lists are loaded */
    nt_readahead_find *find_planned;  /* after `plan`: loads no page list */
    const void *walked;
};

/* Queues pages after that of a byte, which the caller is about to read, as far as it pays: fewer if the
 * reader copies cached pages. */
void nt_readahead_queue_next(const struct nt_walk *walk, uint64_t offset, bool is_copied);
/* Does decoding ahead pay if the pages are not copied from the cache? */
bool nt_readahead_pays(const struct nt_reader *reader);

/* ---- Prefetch hints ---- */

/* Do hints help the source of the dataset's pages? */
bool nt_prefetch_helps(const struct nt_dataset *dataset);

/* Announces reads of these pages; the second function submits at once. */
void nt_prefetch_add(struct nt_prefetch *prefetch, const struct nt_reader *reader,
                     const struct nt_dataset *dataset, const struct nt_page *pages, uint32_t count);
void nt_prefetch_pages(const struct nt_reader *reader, const struct nt_dataset *dataset,
                       const struct nt_page *pages, uint32_t count);
/* Announces that the algorithm and the digest of a page will be read, but not the bytes between. */
void nt_prefetch_add_ends(struct nt_prefetch *prefetch, const struct nt_dataset *dataset,
                          const struct nt_page *page);

/* Announces sequential reads of elements [element, end): hints their first pages, up to `bytes` of
 * decoded elements. Costs nothing if earlier hints suffice. The owner of `prefetch` submits it. */
void nt_prefetch_elements(struct nt_prefetch *prefetch, const struct nt_walk *walk, uint64_t element,
                          uint64_t end, uint64_t bytes);
/* Call before and after bytes [offset, offset + bytes) are read: hint them and those likely to follow, decode
 * ahead in parallel, and note the access. */
void nt_walk_begin_read(const struct nt_walk *walk, uint64_t offset, size_t bytes);
void nt_walk_end_read(const struct nt_walk *walk, uint64_t offset, size_t bytes);

/* Is an element within the range of earlier hints? False if another reader leads the prefetching. */
bool nt_prefetch_continues(const struct nt_access_pattern *access, uint64_t element);

/* How many bytes after a read of [offset, offset + bytes) to hint: more, the longer the sequence of
 * reads. 0 if the read is not sequential or another reader leads the prefetching. */
uint64_t nt_prefetch_bytes_after(const struct nt_access_pattern *access, uint64_t offset, uint64_t bytes);

/* ---- Readahead across fields ---- */

struct nt_field_sequence;
void nt_field_sequence_free(struct nt_field_sequence *sequence); /* accepts NULL */
/* Call after a stream of a field, of so many bytes, was read to its end. If fields of the dataset are read
 * one after the other, requests what the next ones need from slow sources. Without workers it may wait. */
void nt_field_was_read(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field, uint64_t bytes);
/* Call before the page lists of a field are loaded because a size depends on them. If they are those of
 * several fields, requests the lists of others from slow sources, of twice as many each time. */
void nt_field_is_sized(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field);

/* ---- Index of a dataset ---- */

/* Where every NT_INDEX_STRIDE-th cluster begins within a column. */
struct nt_column_checkpoint {
    uint64_t elements; /* before it */
    uint64_t pages;
};

struct nt_column_index {
    struct nt_access_pattern access; /* of reads */
    uint64_t elements, pages;        /* total */
    struct nt_column_checkpoint marks[];
};

struct nt_dataset_index {
    struct nt_hash_link link; /* in the table of all indexes */
    const struct nt_dataset *dataset;
    uint32_t column_count;
    pthread_mutex_t lock;                       /* of building */
    _Atomic(uint32_t *) order;                  /* clusters by first entry, then number, then NT_NONE */
    _Atomic(struct nt_column_index *) *columns; /* by column; NULL: not built */
    /* What a selection omits, by field: items of a list or bytes of strings; by field_count + field:
     * rows of a variant's alternative. NULL elements: not computed; NULL: no selection. */
    _Atomic(struct nt_deletion_vector *) *filtered_rows;
    /* Rows by part, if nt_dataset_reloads_parts: of a field, and by field_count + field of its second column.
     * NULL elements: not counted; NULL: none are kept. */
    _Atomic(struct nt_part_counts *) *part_counts;
    atomic_size_t part_count_bytes;               /* of all these */
    _Atomic(struct nt_field_sequence *) sequence; /* of fields that are read to their ends; NULL: none yet */
};

#define NT_UNCOUNTED UINT32_MAX
/* The rows or bytes of a field in each part. */
struct nt_part_counts {
    uint32_t parts;
    atomic_uint rows[]; /* NT_UNCOUNTED: not known */
};

struct nt_dataset_indexes *nt_dataset_indexes_new(void);          /* NULL without memory */
void nt_dataset_indexes_free(struct nt_dataset_indexes *indexes); /* accepts NULL */
/* The index of a dataset; NULL without memory. Valid until nt_dataset_indexes_forget. */
struct nt_dataset_index *nt_dataset_index_get(struct nt_dataset_indexes *indexes,
                                              const struct nt_dataset *dataset);
void nt_dataset_indexes_forget(struct nt_dataset_indexes *indexes, const struct nt_dataset *dataset);
/* Are the page lists of parts released, and loaded again from the files of the part? Then the index keeps
 * nt_part_counts, and readers finish a part before the next one. */
bool nt_dataset_reloads_parts(const struct nt_dataset *dataset);
/* The counts of a field; NULL if none are kept, or they would take much memory. */
struct nt_part_counts *nt_part_counts_get(struct nt_dataset_indexes *indexes,
                                          const struct nt_dataset *dataset, uint32_t field,
                                          enum nt_counted of);

/* ---- Clusters in entry order ---- */

/* Why the rows of a cluster cannot be read. */
enum nt_row_fault {
    NT_FAULT_NONE,
    NT_FAULT_GROUP,       /* its page list cannot be read */
    NT_FAULT_NOT_COVERED, /* no cluster holds these entries */
    NT_FAULT_MISSING,     /* no representation is stored, and it is not deferred */
    NT_FAULT_SEVERAL,     /* more than one representation is stored */
    NT_FAULT_COUNT,       /* the number of stored elements is not that of the rows */
    NT_FAULT_POSITION,    /* the row numbers depend on a part that cannot be read */
};

/* A range of entries: a cluster's, or a hole between clusters. */
struct nt_span {
    uint64_t first_entry, entries;
    uint32_t cluster; /* NT_NONE: a hole */
    enum nt_row_fault fault;
};

/* All spans of a field, including holes: the dataset's entries in order. `spans_ret` is from malloc.
 * Loads all page lists that may determine the spans, and with `needs_lists` all that have pages of the
 * field, unless fields have groups of their own; a bad one is a fault of its spans. nt_span_pin loads
 * the others. NT_CORRUPT if clusters overlap. */
enum nt_status nt_spans_build(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                              bool needs_lists, struct nt_span **spans_ret, uint32_t *count_ret,
                              struct nt_error *error);

/* Loads the page list of a span, unless it is loaded, and pins its group; a bad list becomes the span's
 * fault. `*group_ret` is NULL for a span with a fault. Fails only for environmental errors. */
enum nt_status nt_span_pin(struct nt_dataset *dataset, struct nt_span *span, struct nt_group **group_ret,
                           struct nt_error *error);

/* The span of a part of the entries, for a dataset with field_groups: `groups` are those of the field. */
struct nt_span nt_part_span(const struct nt_dataset *dataset, const struct nt_parts *parts,
                            struct nt_groups groups, uint32_t part);

/* The part of the entries that a span of a field is in, for a dataset with field_groups. */
uint32_t nt_span_part(const struct nt_dataset *dataset, uint32_t field, const struct nt_span *span);

/* The error of the failed group that holds a cluster, or whose entries meet a range; or NULL. */
const struct nt_error *nt_span_failure(const struct nt_dataset *dataset, uint32_t cluster,
                                       uint64_t first_entry, uint64_t entries);

/* A field's columns at one position, in one cluster. */
struct nt_active_column {
    unsigned present; /* number of stored representations; the members below are valid if it is 1 */
    uint32_t column;
    uint64_t first_element; /* as in the page list */
    uint64_t elements;      /* stored */
    const struct nt_page *pages;
    uint32_t page_count;
    bool is_deferred;        /* of the column; without one: is any of them deferred? */
    bool is_valid;           /* elements that are not stored are true instead of zero */
    uint64_t deferred_first; /* the first element that a deferred column stores */
};

/* Requires the cluster's group to be pinned, as long as the pages are used. */
void nt_active_column_find(const struct nt_dataset *dataset, uint32_t field, uint32_t position,
                           uint32_t cluster, struct nt_active_column *active);

/* The page that holds an element, counted from the first element of the pages. */
const struct nt_page *nt_find_page(const struct nt_page *pages, uint32_t count, uint64_t element);

/* Rows of a field per row (or item) of nt_field_row_parent: the product of repetitions between. */
bool nt_rows_per_item(const struct nt_dataset *dataset, uint32_t field, uint64_t *product_ret);

/* ---- Element conversion ---- */

/* A Switch in memory. */
enum { NT_SWITCH_BYTES = 12, NT_SWITCH_TAG = 8 };

/* The rows of a variant's alternative in a cluster. */
struct nt_alternative {
    uint64_t base, rows; /* the first row in the dataset, and the count */
};

/* Elements [first, first + count) of a page, and how to convert them. */
struct nt_element_run {
    const struct nt_field *field;
    const struct nt_dtype *dtype; /* of the output */
    const struct nt_page *page;
    const struct nt_decoder *decoder;
    const uint8_t *data; /* of the whole page */
    size_t first, count;
    uint64_t base;       /* offsets: added to each value */
    uint64_t limit;      /* offsets: the number of items in the cluster; its last value */
    bool is_cluster_end; /* the run ends with the cluster's last element */
    bool has_previous;   /* `previous` is the index value before the page's first element */
    uint64_t previous;
    const struct nt_alternative *alternatives; /* index of variants: of the cluster, by tag - 1 */
};

/* `output` has count * dtype->bytes bytes and need not be aligned. */
typedef enum nt_status nt_transform(const struct nt_element_run *run, uint8_t *output,
                                    struct nt_error *error);

/* The transform of a conversion; NULL if it needs only the page list. */
nt_transform *nt_transform_of(enum nt_conversion conversion);
/* Checks the ends of lists in `run->data`, a whole page, that a decoder has summed from `run->base` on. */
enum nt_status nt_check_summed_offsets(const struct nt_element_run *run, struct nt_error *error);

/* Reads element `i` of decoded index elements. False if they are of another type. */
bool nt_load_index(enum nt_element element, const uint8_t *data, size_t i, uint64_t *value_ret);

/* Do values need no change? Then a page may be decoded straight into the stream. */
bool nt_values_are_equal(const struct nt_decoder *decoder, const struct nt_dtype *dtype);

/* ---- Row masks ---- */

/* The stored elements that a stream omits: `per_row` for each row that is deleted or not selected. */
struct nt_row_mask {
    const struct nt_deletion_vector *deletions; /* NULL: the stream has all elements */
    uint64_t per_row;
    struct nt_deletion_vector *owned; /* if the mask owns them, from malloc; else NULL */
};

/* The mask of a field's rows, items or bytes (NT_COUNTED_ROWS or another value, one for each field):
 * what was deleted in a part or, with NT_NONE, what the selection omits. Follows the end offsets of all
 * enclosing lists: loads their page lists and decodes the pages where a run of kept rows begins or
 * ends. The caller deinitializes the mask of a part. */
enum nt_status nt_row_mask_find(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                enum nt_counted of, uint32_t part, struct nt_row_mask *mask,
                                struct nt_error *error);
void nt_row_mask_deinit(struct nt_row_mask *mask);

/* Multiplies the elements of each row by `factor`. NT_LIMIT if that overflows. */
enum nt_status nt_row_mask_multiply(struct nt_row_mask *mask, uint64_t factor, struct nt_error *error);
/* Where the items of the first `row` rows end. */
typedef enum nt_status nt_get_end(void *context, uint64_t row, uint64_t *end_ret, struct nt_error *error);
/* The items of the deleted rows, run by run, from malloc. Requests ends in ascending order. */
enum nt_status nt_row_mask_map(const struct nt_row_mask *rows, nt_get_end *get_end, void *context,
                               struct nt_deletion_vector **items_ret, struct nt_error *error);

/* The following functions require a mask that omits elements. */

/* Where a kept element is stored and how many follow it; `number` is that of its row's run. */
struct nt_kept_run nt_row_mask_kept_from(const struct nt_row_mask *mask, uint64_t element);
/* How many of the first `physical` elements are kept. */
uint64_t nt_row_mask_before(const struct nt_row_mask *mask, uint64_t physical);
/* Checks that the mask covers exactly the stored `elements`; NT_CORRUPT. */
enum nt_status nt_row_mask_check(const struct nt_row_mask *mask, uint64_t elements, struct nt_error *error);

static inline uint64_t nt_row_mask_kept(const struct nt_row_mask *mask)
{
    return mask->deletions->items[mask->deletions->count].kept * mask->per_row;
}
static inline uint64_t nt_row_mask_physical(const struct nt_row_mask *mask)
{
    return mask->deletions->items[mask->deletions->count].first * mask->per_row;
}

/* ---- Row counts ---- */

/* A span with its rows. */
struct nt_row_span {
    struct nt_span span;
    uint64_t first_row, rows;
    /* The number of rows is not verified: it is known without the page list. Or so is that of the spans
     * without rows just before this one or, for the last span with rows, after it. */
    bool is_unverified;
};

/* The spans of a field, and the rows of each. Parts of the entries are not stored, nor are rows that
 * follow from entries: a dataset of many parts has one for each field and part. */
struct nt_row_counts {
    const struct nt_dataset *dataset;
    uint32_t count;
    uint64_t total;
    bool is_total_known;     /* false: it depends on an unreadable page list or page */
    enum nt_status refusal;  /* if unknown: the environmental error at fault; NT_OK: the file is */
    struct nt_parts parts;   /* without `spans`: the spans are these */
    struct nt_groups groups; /* ... with these groups; none: the field has no columns */
    struct nt_span *spans;   /* by span, without their faults; NULL: the parts */
    uint64_t *first_rows;    /* by span, then the total; NULL: follow from the parts' boundaries */
    /* The rows of each span, none of which has a fault: then `first_rows` has only every 32nd. Or NULL. */
    const struct nt_part_counts *counts;
    uint64_t per_entry;      /* ... by this factor */
    uint64_t *origins;       /* by span, if files are joined: what nt_row_counts_origin returns; or NULL */
    uint8_t *faults;         /* by span: an nt_row_fault; NULL: those of the parts' page lists */
    atomic_bool *unverified; /* by span: nt_row_span.is_unverified, until it is proved; NULL: none is */
};

enum nt_status nt_row_counts_build(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                   enum nt_counted of, struct nt_row_counts *rows, struct nt_error *error);
void nt_row_counts_deinit(struct nt_row_counts *rows);
struct nt_row_span nt_row_counts_get(const struct nt_row_counts *rows, uint32_t number);
/* The span that holds a row, which must exist. */
uint32_t nt_row_counts_find(const struct nt_row_counts *rows, uint64_t row);
/* The row that column positions of a span count from: 0, or the first of the span's file. */
uint64_t nt_row_counts_origin(const struct nt_row_counts *rows, uint32_t number);
/* Sets the fault of a span that has none. NT_NO_MEMORY. */
enum nt_status nt_row_counts_set_fault(struct nt_row_counts *rows, uint32_t number, enum nt_row_fault fault,
                                       struct nt_error *error);
size_t nt_row_counts_memory(const struct nt_row_counts *rows);

/* NT_OK if the total is known, else the error of the span that makes it unknown. */
enum nt_status nt_row_counts_check_total(const struct nt_dataset *dataset, const struct nt_row_counts *rows,
                                         struct nt_error *error);

/* Only the total, from as few page lists as possible. */
enum nt_status nt_row_counts_total(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                   enum nt_counted of, uint64_t *total_ret, struct nt_error *error);

/* The error of unreadable rows. It names the rows but not the field. */
enum nt_status nt_fault_error(const struct nt_dataset *dataset, const struct nt_span *span, uint64_t expected,
                              uint64_t found, struct nt_error *error);

/* ---- Streams ---- */

/* What is deleted in a segment. */
struct nt_segment_masks {
    struct nt_row_mask elements;
    struct nt_row_mask items; /* offsets: the items of the deleted rows, run by run */
};

/* A cluster's share of a stream, made when it is needed. */
struct nt_segment {
    uint32_t number; /* in the stream */
    struct nt_span span;
    uint64_t first, elements;                  /* in the stream; for offsets: rows, without the leading 0 */
    bool is_unverified;                        /* see nt_row_span */
    uint64_t base, limit;                      /* as in nt_element_run */
    const struct nt_alternative *alternatives; /* as in nt_element_run */
    /* Set by nt_stream_locate, as is the span's fault: */
    uint64_t zeros;                       /* leading elements that a deferred column does not store */
    uint64_t found;                       /* NT_FAULT_COUNT: stored elements */
    const struct nt_segment_masks *masks; /* NULL: nothing is deleted */
    struct nt_group *group;               /* pinned if there are pages and no fault, else NULL */
    const struct nt_page *pages;
    uint32_t page_count, column;
    bool are_true; /* the zeros are true instead, as no row is null */
};

/* Restricts the stored elements to those of selected entries. */
struct nt_stream_filter {
    struct nt_stream *unfiltered; /* all elements */
    struct nt_row_mask elements;
    struct nt_row_mask items;         /* offsets: the items of the omitted rows, run by run */
    struct nt_stream *tags;           /* index of variants: the stored tags */
    struct nt_row_mask *alternatives; /* index of variants: by tag - 1 */
    uint64_t passes;                  /* number of passes over all rows: several in Fortran order */
};

struct nt_stream {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t field;
    enum nt_stream_kind kind;
    const struct nt_stream_row *row; /* of the field's kind */
    nt_transform *transform;         /* NULL: needs only the page list */
    struct nt_dtype dtype;
    uint32_t element_bytes;
    uint64_t elements;
    struct nt_row_counts rows;           /* a segment for each span */
    uint64_t per_row;                    /* elements */
    struct nt_row_counts *items;         /* offsets: below each segment; NULL: `alternatives` has them */
    struct nt_alternative *alternatives; /* [segment][alternative]; offsets have one, other streams none */
    uint32_t alternative_count;
    _Atomic(struct nt_segment_masks *) *masks; /* by segment, known once located; NULL: nothing is deleted */
    struct nt_stream_filter *filter;           /* set: there are no segments; NULL: all of their elements */
    _Atomic uint64_t reported; /* the last page reported for invalid elements: its place among all */
    struct nt_access_pattern access;
};

/* Creates a stream without elements and segments, if the field has it. NULL without memory. */
struct nt_stream *nt_stream_new(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                enum nt_stream_kind kind);
/* Opens a stream as stored, ignoring the selection: its rows are the segments' rows. */
enum nt_status nt_stream_open_unfiltered(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                         enum nt_stream_kind kind, struct nt_stream **stream_ret,
                                         struct nt_error *error);

/* Rows of a field before each cluster, in entry order: one boundary more than the `count_ret` clusters
 * that hold it, starting with 0; from malloc. Loads all page lists. */
enum nt_status nt_field_row_boundaries(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                       uint64_t **boundaries_ret, uint32_t *count_ret,
                                       struct nt_error *error);
/* Bytes of a field's strings or objects before each cluster, like nt_field_row_boundaries. */
enum nt_status nt_field_byte_boundaries(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                        uint64_t **boundaries_ret, uint32_t *count_ret,
                                        struct nt_error *error);
/* A segment, and the one that holds an element, which must exist; elements count like the segments. */
void nt_stream_segment(const struct nt_stream *stream, uint32_t number, struct nt_segment *segment_ret);
void nt_stream_segment_of(const struct nt_stream *stream, uint64_t element, struct nt_segment *segment_ret);
/* The end of the segment that holds an element of the stream, which counts the leading 0 of offsets; of a
 * filtered stream its own end. */
uint64_t nt_stream_segment_end(const struct nt_stream *stream, uint64_t element);

/* Finds a segment's stored elements and pins the group of its pages. Loads its page list; a bad one
 * becomes the segment's fault. Fails only for environmental errors. */
enum nt_status nt_stream_locate(struct nt_stream *stream, struct nt_segment *segment, struct nt_error *error);
/* Unpins the group of a segment, located or not. */
void nt_segment_release(struct nt_segment *segment);
/* The elements of a located segment, including stored elements that the stream omits. */
static inline uint64_t nt_segment_end(const struct nt_segment *segment)
{
    return segment->masks ? nt_row_mask_physical(&segment->masks->elements) : segment->elements;
}
/* A stream counts the leading 0 of offsets as an element; its segments do not. */
static inline uint64_t nt_stream_leading_zeros(const struct nt_stream *stream)
{
    return stream->row->has_leading_zero;
}

/* An nt_readahead_find: the page of an element in a located segment whose page list is loaded. NULL with a
 * selection. */
void nt_stream_find_page(const void *stream, uint64_t element, struct nt_readahead_page *page_ret);
/* The walk of a sequential reader. */
struct nt_walk nt_stream_walk(struct nt_stream *stream);
/* Announces reads of elements [first, end): hints the first of them to their sources. */
void nt_stream_prefetch(struct nt_stream *stream, struct nt_prefetch *prefetch, uint64_t first, uint64_t end,
                        uint64_t bytes);
/* The same for a reader that alternates between several streams. Only it prefetches from now on. */
void nt_stream_prefetch_exclusive(struct nt_stream *stream, struct nt_prefetch *prefetch, uint64_t first,
                                  uint64_t end);
/* The same for a reader of no other elements, so that nothing behind them is decoded ahead. */
void nt_stream_prefetch_only(struct nt_stream *stream, struct nt_prefetch *prefetch, uint64_t first,
                             uint64_t end);
/* The end of the page that holds a stored element, as far as known: at least one past the element. */
uint64_t nt_stream_page_end(struct nt_stream *stream, uint64_t element);
/* The end of the elements from one on that no page has: those of a hole between clusters, of a cluster
 * whose page list is bad, or of a missing page. The element itself if a page has it, or with a selection. */
uint64_t nt_stream_gap_end(struct nt_stream *stream, uint64_t element);
/* How many elements from one on are equal, according to its page; 1 if no page says. Requires a stream
 * whose elements are the column's. */
uint64_t nt_stream_run_length(struct nt_stream *stream, uint64_t element);

/* An empty run with all that stream, segment and page determine. Needed for each page of each read. */
static inline struct nt_element_run
nt_stream_run(const struct nt_stream *stream, const struct nt_segment *segment, const struct nt_page *page)
{
    return (struct nt_element_run){
        .field = &stream->dataset->fields[stream->field],
        .dtype = &stream->dtype,
        .page = page,
        .decoder = nt_decoders_get(&stream->dataset->decoders, page->decoder),
        .base = segment->base,
        .limit = segment->limit,
        .alternatives = segment->alternatives,
    };
}

/* Pages of a segment whose decoded elements are already in their places in the output. */
struct nt_decoded_pages {
    uint32_t segment; /* its number */
    uint32_t first, count;
};
/* nt_stream_read of elements, without its edges and counters. `decoded` NULL: no pages are decoded. */
enum nt_status nt_stream_produce(struct nt_stream *stream, uint64_t first, uint64_t count,
                                 const struct nt_decoded_pages *decoded, uint8_t *output,
                                 struct nt_error *error);

/* ---- Shared decoding ---- */

/* Do the first pages of both streams share their stored bytes? */
bool nt_streams_share_pages(struct nt_stream *a, struct nt_stream *b);
/* The end of the page in `other` with the same bytes as the page before `end`; 0 if none. */
uint64_t nt_stream_shared_page_end(struct nt_stream *stream, uint64_t end, struct nt_stream *other);
/* Decodes the pages that lie entirely in all ranges (at most NT_MAX_SHARED_OUTPUTS) into their outputs, in
 * the segment where the first range begins. Skips failures: later reads report them. */
void nt_streams_decode_shared(const struct nt_stream_range *ranges, uint32_t count,
                              struct nt_decoded_pages *decoded);

/* Replaces a stored stream with that of the selected entries, if the selection omits any. */
enum nt_status nt_stream_set_filter(struct nt_stream **stream, struct nt_error *error);
/* Reads elements [first, first + count) of a filtered stream. */
enum nt_status nt_stream_produce_filtered(struct nt_stream *stream, uint64_t first, uint64_t count,
                                          uint8_t *output, struct nt_error *error);

/* The segment that holds an element of a stream, filtered or not. It must exist. */
void nt_stream_filtered_segment(const struct nt_stream *stream, uint64_t element,
                                struct nt_segment *segment_ret);

/* ---- Selections ---- */

struct nt_selection {
    char *path; /* NULL: a range */
    struct nt_entry_range *ranges;
    size_t count, capacity;
    uint64_t max_bytes; /* of the ranges; 0: no limit but the size of the file */
    uint64_t elements;  /* of the file, so far */
    uint64_t line;      /* current line of a text file, from 1; else 0 */
    bool is_mask;       /* an element for each entry */
};

/* Reads all elements of a selection file of any type. Owns the source, also on failure. */
enum nt_status nt_selection_read(struct nt_selection *selection, struct nt_source *source,
                                 struct nt_error *error);
