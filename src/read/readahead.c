/* SPDX-License-Identifier: MIT
 *
 * Detects sequential access, decodes pages ahead of the reader and sends prefetch hints to slow
 * sources.
 */
#include "read/read.h"

#include "read/page.h"

/* ---- Access pattern ---- */

enum {
    SEQUENTIAL_READS = 2,
    WHOLE_BYTES = 256 * 1024, /* so large a read at the start is the first of a sequence */
    NEAR_BYTES = 1024 * 1024, /* kernel readahead sends its requests slightly out of order */
    NEAR_READS = 8,
};

static bool is_near(uint64_t a, uint64_t b, uint64_t distance)
{
    return a < b ? b - a <= distance : a - b <= distance;
}

static bool is_on(const struct nt_access_pattern *access)
{
    return atomic_load_explicit(&access->reads, memory_order_relaxed) >= SEQUENTIAL_READS;
}

bool nt_access_is_sequential(const struct nt_access_pattern *access, uint64_t offset, uint64_t bytes)
{
    uint64_t expected = atomic_load_explicit(&access->expected_offset, memory_order_relaxed);
    return is_near(offset, expected, bytes > NEAR_BYTES / NEAR_READS ? NEAR_BYTES : bytes * NEAR_READS);
}

/* Some programs first read the end of a file, to find its size. */
static bool is_beginning(uint64_t offset, uint64_t bytes)
{
    return offset == 0 && bytes >= WHOLE_BYTES;
}

/* Would nt_access_note of this read return true? */
static bool continues(const struct nt_access_pattern *access, uint64_t offset, uint64_t bytes)
{
    uint32_t reads = atomic_load_explicit(&access->reads, memory_order_relaxed) + 1;
    return is_beginning(offset, bytes) ||
           (reads >= SEQUENTIAL_READS && nt_access_is_sequential(access, offset, bytes));
}

bool nt_access_note(struct nt_access_pattern *access, uint64_t offset, size_t bytes)
{
    uint64_t expected =
        atomic_exchange_explicit(&access->expected_offset, offset + bytes, memory_order_relaxed);
    if (is_near(offset, expected, NEAR_BYTES)) {
        atomic_fetch_add_explicit(&access->reads, 1, memory_order_relaxed);
    } else {
        uint32_t reads = is_beginning(offset, bytes) ? SEQUENTIAL_READS : 0;
        atomic_store_explicit(&access->reads, reads, memory_order_relaxed);
        atomic_store_explicit(&access->queued, 0, memory_order_relaxed);
    }
    return is_on(access);
}

enum nt_cache_hint nt_access_cache_hint(struct nt_access_pattern *access, bool to_the_end)
{
    if (!is_on(access))
        return NT_CACHE_KEEP;
    return to_the_end ? NT_CACHE_DROP_BEHIND : NT_CACHE_SEQUENTIAL;
}

/* ---- Decode ahead ---- */

enum {
    PAGES = 4,               /* at least, up to MAX_BYTES ... */
    MIN_BYTES = 1024 * 1024, /* ... and more of them if they are small */
    MAX_BYTES = 8 * 1024 * 1024,
    MAX_PAGES = 16,
    FEW_PAGES = 2, /* if decoding is neither slow nor fast */
    /* Of loading at the given rate, half of it at half the rate: first touches of memory look slow, too. */
    EVIDENCE_MICROSECONDS = 10 * 1000,
};

/* Has the loading of pages been slower than this rate? Slower loading needs less evidence. */
static bool are_slower_than(const struct nt_reader *reader, uint64_t megabytes_per_second)
{
    struct nt_counters counters;
    nt_counters_read(reader, &counters);
    uint64_t nanoseconds = counters.read_nanoseconds + counters.checksum_nanoseconds +
                           counters.decompress_nanoseconds + counters.decode_nanoseconds;
    uint64_t passed = nanoseconds / 1000, expected = counters.decoded_bytes / megabytes_per_second;
    return passed > expected && (double)passed * (double)passed > (double)expected * EVIDENCE_MICROSECONDS;
}

/* A page decoded ahead is in cold memory when the reader comes. If decoding is about as fast as
 * copying, this costs more than it hides. */
static bool are_slow(const struct nt_reader *reader)
{
    return reader->options.always_readahead || are_slower_than(reader, 500);
}

bool nt_readahead_pays(const struct nt_reader *reader)
{
    return are_slow(reader) || are_slower_than(reader, 1500);
}

/* How many pages ahead. Only idle threads decode if it is just a few. */
static unsigned count_pages(const struct nt_walk *walk, bool is_copied)
{
    const struct nt_reader *reader = walk->reader;
    if (atomic_load_explicit(&walk->access->is_bounded, memory_order_relaxed))
        return 0;
    if (are_slow(reader))
        return MAX_PAGES;
    if (is_copied || !nt_readahead_pays(reader))
        return 0;
    return nt_min(nt_workers_idle(reader->workers), FEW_PAGES);
}

static void load_ahead(const struct nt_worker_job *job)
{
    nt_page_readahead(job->reader, job->dataset, job->column, job->page);
}

static uint64_t decoded_bytes(const struct nt_dataset *dataset, const struct nt_page *page)
{
    return (uint64_t)nt_page_decoded_elements(page) * nt_page_decoder(dataset, page)->element_bytes;
}

/* Does a reader decode this page and the one before or after it in one call? For small ones that costs less
 * than a job for each. */
static bool is_coalesced(const struct nt_dataset *dataset, const struct nt_readahead_page *found)
{
    enum { SMALL = 4096 };
    const struct nt_page *page = found->page, *end = found->group->pages + found->group->page_count;
    bool is_first = page->first_element == 0;
    bool is_last = page + 1 == end || page[1].first_element != page->first_element + page->elements;
    return decoded_bytes(dataset, page) < SMALL &&
           ((!is_first && nt_adjacent_pages_count(dataset, page - 1, 2) == 2) ||
            (!is_last && nt_adjacent_pages_count(dataset, page, 2) == 2));
}

/* Queues the pages from a byte on, as far as it pays. */
static void queue_from(const struct nt_walk *walk, uint64_t offset, bool is_copied)
{
    struct nt_reader *reader = walk->reader;
    struct nt_access_pattern *access = walk->access;
    uint64_t element = offset / walk->element_bytes, bytes = 0;
    uint64_t queued = atomic_load_explicit(&access->queued, memory_order_relaxed);
    unsigned most = nt_workers_count(reader->workers) ? count_pages(walk, is_copied) : 0;
    for (unsigned pages = 0; element < walk->elements - walk->lead && pages < most && bytes < MAX_BYTES;
         pages++) {
        struct nt_readahead_page next;
        if (pages >= PAGES && bytes >= MIN_BYTES)
            break;
        walk->find(walk->walked, element, &next);
        if (next.page)
            bytes += decoded_bytes(walk->dataset, next.page);
        if (next.page && element >= queued && !is_coalesced(walk->dataset, &next))
            nt_workers_queue(reader->workers, &(struct nt_worker_job){load_ahead, reader, walk->dataset,
                                                                      next.column, next.page, next.group});
        else
            nt_group_unpin(next.group);
        element = next.end;
    }
    if (element > queued)
        atomic_store_explicit(&access->queued, element, memory_order_relaxed);
}

void nt_readahead_queue_next(const struct nt_walk *walk, uint64_t offset, bool is_copied)
{
    uint64_t element = offset / walk->element_bytes;
    struct nt_readahead_page page;
    if (element >= walk->elements - walk->lead || !nt_workers_count(walk->reader->workers) ||
        !count_pages(walk, is_copied))
        return;
    walk->find(walk->walked, element, &page);
    nt_group_unpin(page.group);
    queue_from(walk, page.end * walk->element_bytes, is_copied);
}

/* ---- Prefetch hints ---- */

#define FIRST_BYTES (UINT64_C(1) << 20)

bool nt_prefetch_helps(const struct nt_dataset *dataset)
{
    return dataset->source_count && nt_source_can_prefetch(dataset->sources[0]);
}

static bool has_bytes(const struct nt_page *page)
{
    return page->compression != NT_COMPRESSION_ELSEWHERE && !page->is_missing;
}

static void add_extent(struct nt_prefetch *prefetch, const struct nt_dataset *dataset,
                       const struct nt_page *page, uint64_t offset, uint64_t bytes)
{
    nt_prefetch_add_range(prefetch, dataset->sources[page->source], page->source,
                          (struct nt_extent){offset, bytes});
}

static void add(struct nt_prefetch *prefetch, const struct nt_reader *reader,
                const struct nt_dataset *dataset, const struct nt_page *page)
{
    if (has_bytes(page) && nt_page_is_absent(reader, dataset, page))
        add_extent(prefetch, dataset, page, page->offset,
                   page->stored_bytes + nt_checksum_info(page->checksum)->bytes);
}

void nt_prefetch_add_ends(struct nt_prefetch *prefetch, const struct nt_dataset *dataset,
                          const struct nt_page *page)
{
    uint64_t digest = nt_checksum_info(page->checksum)->bytes;
    if (!has_bytes(page))
        return;
    if (nt_compression_info(page->compression)->algorithm)
        add_extent(prefetch, dataset, page, page->offset, nt_min(page->stored_bytes, NT_COMPRESSION_START));
    if (digest)
        add_extent(prefetch, dataset, page, page->offset + page->stored_bytes, digest);
}

void nt_prefetch_add(struct nt_prefetch *prefetch, const struct nt_reader *reader,
                     const struct nt_dataset *dataset, const struct nt_page *pages, uint32_t count)
{
    for (uint32_t i = 0; i < count && nt_prefetch_helps(dataset); i++)
        add(prefetch, reader, dataset, &pages[i]);
}

void nt_prefetch_pages(const struct nt_reader *reader, const struct nt_dataset *dataset,
                       const struct nt_page *pages, uint32_t count)
{
    struct nt_prefetch prefetch = {.count = 0};
    nt_prefetch_add(&prefetch, reader, dataset, pages, count);
    nt_prefetch_submit(&prefetch);
}

/* New hints are needed only after half of the earlier ones have been used. */
static bool is_requested_already(const struct nt_access_pattern *access, uint64_t element, uint64_t end)
{
    uint64_t first = atomic_load_explicit(&access->prefetched_first, memory_order_relaxed);
    uint64_t until = atomic_load_explicit(&access->prefetched_end, memory_order_relaxed);
    return element >= first && element < until && (end <= until || element - first < (until - first) / 2);
}

/* The end of so many bytes from an element on, if it is before `end`. */
static uint64_t end_of_bytes(const struct nt_walk *walk, uint64_t element, uint64_t end, uint64_t bytes)
{
    uint64_t most = bytes / walk->element_bytes + 1;
    return element < end && end - element > most ? element + most : end;
}

void nt_prefetch_elements(struct nt_prefetch *prefetch, const struct nt_walk *walk, uint64_t element,
                          uint64_t end, uint64_t bytes)
{
    struct nt_access_pattern *access = walk->access;
    uint64_t at, found = 0;
    end = nt_min(end, walk->elements);
    end = end < walk->lead ? 0 : end - walk->lead;
    at = element = element < walk->lead ? 0 : element - walk->lead;
    if (!nt_prefetch_helps(walk->dataset) || is_requested_already(access, element, end))
        return;
    if (walk->plan)
        end = walk->plan(walk->walked, prefetch, element, end_of_bytes(walk, element, end, bytes));
    while (at < end && found < bytes) {
        struct nt_readahead_page next;
        (walk->plan ? walk->find_planned : walk->find)(walk->walked, at, &next);
        if (next.page) {
            add(prefetch, walk->reader, walk->dataset, next.page);
            found += (uint64_t)next.page->elements * nt_page_decoder(walk->dataset, next.page)->element_bytes;
        }
        nt_group_unpin(next.group);
        at = next.end;
    }
    /* A range that continues the last one extends it. */
    if (element != atomic_load_explicit(&access->prefetched_end, memory_order_relaxed))
        atomic_store_explicit(&access->prefetched_first, element, memory_order_relaxed);
    atomic_store_explicit(&access->prefetched_end, at, memory_order_relaxed);
}

static bool has_prefetcher(const struct nt_access_pattern *access)
{
    return atomic_load_explicit(&access->has_prefetcher, memory_order_relaxed);
}

bool nt_prefetch_continues(const struct nt_access_pattern *access, uint64_t element)
{
    return !has_prefetcher(access) &&
           element > atomic_load_explicit(&access->prefetched_first, memory_order_relaxed) &&
           element <= atomic_load_explicit(&access->prefetched_end, memory_order_relaxed);
}

uint64_t nt_prefetch_bytes_after(const struct nt_access_pattern *access, uint64_t offset, uint64_t bytes)
{
    enum { MAX_DOUBLINGS = 5 };
    uint32_t reads = atomic_load_explicit(&access->reads, memory_order_relaxed);
    if (has_prefetcher(access) || !nt_access_is_sequential(access, offset, bytes))
        return 0;
    return FIRST_BYTES << nt_min(reads, MAX_DOUBLINGS);
}

/* Hints bytes [offset, offset + bytes), read now, and those likely to follow. */
static void prefetch(const struct nt_walk *walk, uint64_t offset, uint64_t bytes)
{
    uint64_t after = nt_prefetch_bytes_after(walk->access, offset, bytes);
    uint64_t end = (offset + bytes + after + walk->element_bytes - 1) / walk->element_bytes;
    struct nt_prefetch hints = {.need = after ? NT_PREFETCH_SOON : NT_PREFETCH_NOW};
    nt_prefetch_elements(&hints, walk, offset / walk->element_bytes, end, UINT64_MAX);
    nt_prefetch_submit(&hints);
}

void nt_walk_begin_read(const struct nt_walk *walk, uint64_t offset, size_t bytes)
{
    if (nt_prefetch_helps(walk->dataset))
        prefetch(walk, offset, bytes);
    if (walk->find && continues(walk->access, offset, bytes))
        nt_readahead_queue_next(walk, offset, true);
}

void nt_walk_end_read(const struct nt_walk *walk, uint64_t offset, size_t bytes)
{
    if (nt_access_note(walk->access, offset, bytes) && walk->find)
        queue_from(walk, offset + bytes, true);
}
