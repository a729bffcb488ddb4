/* SPDX-License-Identifier: MIT
 *
 * In: where reads of a stream begin and end. Out: pages behind them in the workers' queue, once two reads
 * have followed one another. Whatever is guessed here changes no result.
 */
#include "page/stream.h"
#include "page/workers.h"

enum {
    SEQUENTIAL_READS = 2,
    PAGES = 4,                 /* at least, if that is less than MOST_BYTES ... */
    LEAST_BYTES = 1024 * 1024, /* ... and more of them where they are small */
    MOST_BYTES = 8 * 1024 * 1024,
    MOST_PAGES = 16,
    NEAR_BYTES = 1024 * 1024, /* the kernel's own read-ahead sends its requests a little out of order */
};

static bool is_near(uint64_t a, uint64_t b)
{
    return a < b ? b - a <= NEAR_BYTES : a - b <= NEAR_BYTES;
}

/* Whether this read goes on where others have left off; notes it. */
static bool is_sequential(struct nt_stream *stream, uint64_t offset, size_t bytes)
{
    uint64_t expected =
        atomic_exchange_explicit(&stream->expected_offset, offset + bytes, memory_order_relaxed);
    if (!is_near(offset, expected)) {
        atomic_store_explicit(&stream->sequential_reads, 0, memory_order_relaxed);
        atomic_store_explicit(&stream->ahead_element, 0, memory_order_relaxed);
        return false;
    }
    return atomic_fetch_add_explicit(&stream->sequential_reads, 1, memory_order_relaxed) + 1 >=
           SEQUENTIAL_READS;
}

/* The page that holds an element of the segments' counting, NULL where none does, and the element behind it.
 */
static const struct nt_page *page_at(const struct nt_stream *stream, uint64_t element, uint32_t *column_ret,
                                     uint64_t *end_ret)
{
    const struct nt_segment *segment = nt_stream_segment_of(stream, element);
    uint64_t within = element - segment->first;
    *column_ret = segment->column;
    *end_ret = segment->first + segment->elements;
    if (segment->span.fault != NT_FAULT_NONE || !segment->page_count)
        return NULL;
    *end_ret = segment->first + segment->zeros;
    if (within < segment->zeros)
        return NULL;
    const struct nt_page *page = nt_find_page(segment->pages, segment->page_count, within - segment->zeros);
    *end_ret += page->first_element + page->elements;
    return page;
}

void nt_stream_note_read(struct nt_stream *stream, uint64_t offset, size_t bytes)
{
    struct nt_workers *workers = stream->reader->workers;
    if (!nt_workers_count(workers) || !stream->rule->transform || !is_sequential(stream, offset, bytes))
        return;
    uint64_t last = stream->elements - stream->rule->has_leading_zero;
    uint64_t element = (offset + bytes) / stream->element_bytes;
    uint64_t queued = atomic_load_explicit(&stream->ahead_element, memory_order_relaxed), ahead_bytes = 0;
    for (unsigned pages = 0; element < last && pages < MOST_PAGES && ahead_bytes < MOST_BYTES; pages++) {
        uint64_t end;
        uint32_t column;
        const struct nt_page *page = page_at(stream, element, &column, &end);
        if (pages >= PAGES && ahead_bytes >= LEAST_BYTES)
            break;
        if (page && element >= queued)
            nt_workers_ahead(workers, stream->dataset, column, page);
        if (page)
            ahead_bytes += (uint64_t)page->elements * nt_page_decoder(stream->dataset, page)->element_bytes;
        element = end;
    }
    if (element > queued)
        atomic_store_explicit(&stream->ahead_element, element, memory_order_relaxed);
}
