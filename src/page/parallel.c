/* SPDX-License-Identifier: MIT
 *
 * In: a range of elements. Out: the same elements, made by this thread and all idle workers. Parts end with
 * pages, so that no page is decoded twice, and are taken one after the other by whoever is free.
 */
#include <pthread.h>

#include "base/overflow.h"
#include "page/stream.h"
#include "page/workers.h"

enum { PART_BYTES = 512 * 1024 };

struct parallel_read {
    struct nt_stream *stream;
    uint64_t first, end;
    uint8_t *output;
    pthread_mutex_t lock;
    uint64_t next;         /* the first element that nobody has taken */
    enum nt_status status; /* of the first element that failed */
    uint64_t failed;
    struct nt_error error;
};

/* Where the page (or segment without pages) ends that holds an element of the stream. */
static uint64_t page_end(const struct nt_stream *stream, uint64_t element)
{
    uint64_t lead = stream->rule->has_leading_zero;
    if (element < lead)
        return lead;
    const struct nt_segment *segment = nt_stream_segment_of(stream, element - lead);
    uint64_t within = element - lead - segment->first;
    uint64_t end = segment->elements;
    if (segment->span.fault == NT_FAULT_NONE && stream->rule->transform && segment->page_count) {
        uint64_t stored = within < segment->zeros ? 0 : within - segment->zeros;
        const struct nt_page *page = nt_find_page(segment->pages, segment->page_count, stored);
        end = segment->zeros + page->first_element + page->elements;
    }
    return lead + segment->first + end;
}

static bool take_part(struct parallel_read *read, uint64_t *first_ret, uint64_t *end_ret)
{
    uint64_t least = PART_BYTES / read->stream->element_bytes;
    pthread_mutex_lock(&read->lock);
    bool is_more = read->status == NT_OK && read->next < read->end;
    if (is_more) {
        *first_ret = read->next;
        uint64_t aim = read->end - read->next <= least ? read->end - 1 : read->next + least;
        uint64_t end = page_end(read->stream, aim);
        *end_ret = read->next = end < read->end ? end : read->end;
    }
    pthread_mutex_unlock(&read->lock);
    return is_more;
}

static void work(void *context)
{
    struct parallel_read *read = context;
    struct nt_error error = {0};
    uint64_t first, end;
    while (take_part(read, &first, &end)) {
        uint8_t *output = read->output + (first - read->first) * read->stream->element_bytes;
        enum nt_status status = nt_stream_produce(read->stream, first, end - first, output, &error);
        if (status == NT_OK)
            continue;
        pthread_mutex_lock(&read->lock);
        if (read->status == NT_OK || first < read->failed) {
            read->status = status;
            read->failed = first;
            read->error = error;
        }
        pthread_mutex_unlock(&read->lock);
    }
}

enum nt_status nt_stream_read_elements(struct nt_stream *stream, uint64_t first, uint64_t count, void *output,
                                       struct nt_error *error)
{
    if (!nt_fits(first, count, stream->elements))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "past the end of the stream");
    if (!count)
        return NT_OK;
    nt_count(&stream->reader->counters.reads, 1);
    nt_count(&stream->reader->counters.bytes, count * stream->element_bytes);
    if (count * stream->element_bytes <= 2 * PART_BYTES)
        return nt_stream_produce(stream, first, count, output, error);
    struct parallel_read read = {
        .stream = stream, .first = first, .end = first + count, .next = first, .output = output};
    if (pthread_mutex_init(&read.lock, NULL))
        return nt_fail_memory(error);
    nt_workers_together(stream->reader->workers, work, &read);
    pthread_mutex_destroy(&read.lock);
    if (read.status != NT_OK && error)
        *error = read.error;
    return read.status;
}
