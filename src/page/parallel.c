/* SPDX-License-Identifier: MIT
 *
 * In: ranges of elements, of one or of many streams. Out: the same elements, made by this thread and all idle
 * workers. Shares end with pages, so that no page is decoded twice, and are taken one after the other by
 * whoever is free.
 */
#include <pthread.h>

#include "base/overflow.h"
#include "page/counters.h"
#include "page/stream.h"
#include "page/workers.h"

enum { SHARE_BYTES = 512 * 1024 };

struct parallel_read {
    const struct nt_stream_range *ranges;
    size_t count;
    pthread_mutex_t lock;
    size_t at;             /* the range that shares are taken of ... */
    uint64_t taken;        /* ... and how many of its elements somebody has taken */
    enum nt_status status; /* of the first elements that failed: */
    size_t failed_range;
    uint64_t failed_first;
    struct nt_error error;
};

struct share {
    size_t range;
    uint64_t first, end; /* elements of the stream */
};

/* Where the page (or segment without pages, or where nobody can tell) ends that holds an element of the stream. */
static uint64_t page_end(struct nt_stream *stream, uint64_t element)
{
    uint64_t lead = stream->row->has_leading_zero;
    if (element < lead)
        return lead;
    const struct nt_segment *segment = nt_stream_segment_of(stream, element - lead);
    uint64_t within = element - lead - segment->first;
    uint64_t end = segment->elements;
    bool is_located = nt_stream_locate(stream, segment, NULL) == NT_OK;
    if (is_located && segment->drops)
        end = within + 1; /* wherever a share ends, it is as good */
    else if (is_located && segment->span.fault == NT_FAULT_NONE && stream->transform && segment->page_count) {
        uint64_t stored = within < segment->zeros ? 0 : within - segment->zeros;
        const struct nt_page *page = nt_find_page(segment->pages, segment->page_count, stored);
        end = segment->zeros + page->first_element + page->elements;
    }
    return lead + segment->first + end;
}

static bool take_share(struct parallel_read *read, struct share *share_ret)
{
    pthread_mutex_lock(&read->lock);
    while (read->at < read->count && read->taken == read->ranges[read->at].count) {
        read->at++;
        read->taken = 0;
    }
    bool is_more = read->status == NT_OK && read->at < read->count;
    if (is_more) {
        const struct nt_stream_range *range = &read->ranges[read->at];
        uint64_t least = SHARE_BYTES / range->stream->element_bytes, left = range->count - read->taken;
        uint64_t first = range->first + read->taken, end = range->first + range->count;
        uint64_t page = page_end(range->stream, left <= least ? end - 1 : first + least);
        *share_ret = (struct share){read->at, first, page < end ? page : end};
        read->taken += share_ret->end - first;
    }
    pthread_mutex_unlock(&read->lock);
    return is_more;
}

static void note_failure(struct parallel_read *read, const struct share *share, enum nt_status status,
                         const struct nt_error *error)
{
    pthread_mutex_lock(&read->lock);
    bool is_earlier = share->range < read->failed_range ||
                      (share->range == read->failed_range && share->first < read->failed_first);
    if (read->status == NT_OK || is_earlier) {
        read->status = status;
        read->failed_range = share->range;
        read->failed_first = share->first;
        read->error = *error;
    }
    pthread_mutex_unlock(&read->lock);
}

static void work(void *context)
{
    struct parallel_read *read = context;
    struct nt_error error = {0};
    struct share share;
    while (take_share(read, &share)) {
        const struct nt_stream_range *range = &read->ranges[share.range];
        uint8_t *output = range->output;
        output += (share.first - range->first) * range->stream->element_bytes;
        enum nt_status status =
            nt_stream_produce(range->stream, share.first, share.end - share.first, output, &error);
        if (status != NT_OK)
            note_failure(read, &share, status, &error);
    }
}

/* All are of one reader and lie within their streams; how many bytes they are. */
static enum nt_status check_ranges(const struct nt_stream_range *ranges, size_t count, uint64_t *bytes_ret,
                                   struct nt_error *error)
{
    *bytes_ret = 0;
    for (size_t i = 0; i < count; i++) {
        const struct nt_stream_range *range = &ranges[i];
        if (range->stream->reader != ranges->stream->reader)
            return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "range %zu is of another reader", i);
        if (!nt_fits(range->first, range->count, range->stream->elements))
            return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "past the end of the stream");
        *bytes_ret += range->count * range->stream->element_bytes; /* of memory that is there */
    }
    return NT_OK;
}

enum nt_status nt_streams_read_elements(const struct nt_stream_range *ranges, size_t count,
                                        struct nt_error *error)
{
    uint64_t bytes;
    enum nt_status status = check_ranges(ranges, count, &bytes, error);
    if (status != NT_OK || !bytes)
        return status;
    struct nt_reader *reader = ranges->stream->reader;
    nt_count(&reader->counters.reads, count);
    nt_count(&reader->counters.served_bytes, bytes);
    struct parallel_read read = {.ranges = ranges, .count = count};
    if (pthread_mutex_init(&read.lock, NULL))
        return nt_fail_memory(error);
    if (bytes <= 2 * SHARE_BYTES)
        work(&read);
    else
        nt_workers_together(reader->workers, work, &read);
    pthread_mutex_destroy(&read.lock);
    if (read.status != NT_OK && error)
        *error = read.error;
    return read.status;
}

enum nt_status nt_stream_read_elements(struct nt_stream *stream, uint64_t first, uint64_t count, void *output,
                                       struct nt_error *error)
{
    return nt_streams_read_elements(&(struct nt_stream_range){stream, first, count, output}, 1, error);
}
