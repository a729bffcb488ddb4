/* SPDX-License-Identifier: MIT
 *
 * Worker threads that decode ahead and help with large reads, and reads of many stream ranges that are
 * divided among them. Shares of work end at page boundaries, so that no page is decoded twice.
 */
#include "read/read.h"

/* ---- Worker threads ---- */

enum { QUEUE_LENGTH = 64 };

/* On the stack of the thread that shares it. */
struct shared_work {
    void (*work)(void *context);
    void *context;
    unsigned helpers; /* workers inside `work` */
    struct shared_work *next;
};

struct decode_worker {
    struct nt_workers *workers;
    pthread_t thread;
    const struct nt_dataset *dataset; /* of the current job; NULL: none */
};

struct nt_workers {
    pthread_mutex_t lock;
    pthread_cond_t requested; /* there is work, or `stopping` */
    pthread_cond_t finished;  /* a worker has finished a job or share */
    bool stopping;
    struct shared_work *shared;
    struct nt_worker_job queue[QUEUE_LENGTH]; /* a ring; a job without a function is cancelled */
    unsigned first;
    _Atomic unsigned queued; /* changed under the lock */
    unsigned count, idle;
    struct decode_worker threads[];
};

static void shared_remove(struct nt_workers *workers, const struct shared_work *work)
{
    for (struct shared_work **link = &workers->shared; *link; link = &(*link)->next)
        if (*link == work) {
            *link = work->next;
            return;
        }
}

/* When a helper returns, no share is left: no other worker needs to look. */
static void help(struct nt_workers *workers, struct shared_work *work)
{
    work->helpers++;
    pthread_mutex_unlock(&workers->lock);
    work->work(work->context);
    pthread_mutex_lock(&workers->lock);
    shared_remove(workers, work);
    work->helpers--;
    pthread_cond_broadcast(&workers->finished);
}

static void do_next(struct nt_workers *workers, struct decode_worker *worker)
{
    struct nt_worker_job job = workers->queue[workers->first];
    workers->first = (workers->first + 1) % QUEUE_LENGTH;
    workers->queued--;
    if (!job.run)
        return;
    worker->dataset = job.dataset;
    pthread_mutex_unlock(&workers->lock);
    job.run(&job);
    nt_group_unpin(job.group);
    pthread_mutex_lock(&workers->lock);
    worker->dataset = NULL;
    pthread_cond_broadcast(&workers->finished);
}

static void rest(struct nt_workers *workers)
{
    workers->idle++;
    pthread_cond_wait(&workers->requested, &workers->lock);
    workers->idle--;
}

static void *worker_main(void *argument)
{
    struct decode_worker *worker = argument;
    struct nt_workers *workers = worker->workers;
    pthread_mutex_lock(&workers->lock);
    while (!workers->stopping) {
        if (workers->shared)
            help(workers, workers->shared);
        else if (workers->queued)
            do_next(workers, worker);
        else
            rest(workers);
    }
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

unsigned nt_workers_idle(struct nt_workers *workers)
{
    NT_MUTEX_GUARD(&workers->lock);
    return workers->idle > workers->queued ? workers->idle - workers->queued : 0;
}

bool nt_workers_queue(struct nt_workers *workers, const struct nt_worker_job *job)
{
    pthread_mutex_lock(&workers->lock);
    bool has_room = workers->count && workers->queued < QUEUE_LENGTH;
    if (has_room) {
        workers->queue[(workers->first + workers->queued++) % QUEUE_LENGTH] = *job;
        pthread_cond_signal(&workers->requested);
    }
    pthread_mutex_unlock(&workers->lock);
    if (!has_room)
        nt_group_unpin(job->group);
    return has_room;
}

static void cancel(struct nt_worker_job *job)
{
    nt_group_unpin(job->group);
    *job = (struct nt_worker_job){.run = NULL};
}

void nt_workers_cancel_page(struct nt_workers *workers, const struct nt_page *page)
{
    if (!atomic_load_explicit(&workers->queued, memory_order_relaxed)) /* later jobs find it loading */
        return;
    NT_MUTEX_GUARD(&workers->lock);
    for (unsigned i = 0; i < workers->queued; i++) {
        struct nt_worker_job *job = &workers->queue[(workers->first + i) % QUEUE_LENGTH];
        if (job->page == page)
            cancel(job);
    }
}

static bool is_busy_with(const struct nt_workers *workers, const struct nt_dataset *dataset)
{
    for (unsigned i = 0; i < workers->count; i++)
        if (workers->threads[i].dataset == dataset)
            return true;
    return false;
}

void nt_workers_forget(struct nt_workers *workers, const struct nt_dataset *dataset)
{
    NT_MUTEX_GUARD(&workers->lock);
    for (unsigned i = 0; i < workers->queued; i++) {
        struct nt_worker_job *job = &workers->queue[(workers->first + i) % QUEUE_LENGTH];
        if (job->dataset == dataset)
            cancel(job);
    }
    while (is_busy_with(workers, dataset))
        pthread_cond_wait(&workers->finished, &workers->lock);
}

void nt_workers_run_all(struct nt_workers *workers, void (*work)(void *context), void *context)
{
    struct shared_work shared = {.work = work, .context = context};
    if (!workers->count) {
        work(context);
        return;
    }
    pthread_mutex_lock(&workers->lock);
    shared.next = workers->shared;
    workers->shared = &shared;
    pthread_cond_broadcast(&workers->requested);
    pthread_mutex_unlock(&workers->lock);
    work(context);
    pthread_mutex_lock(&workers->lock);
    shared_remove(workers, &shared);
    while (shared.helpers)
        pthread_cond_wait(&workers->finished, &workers->lock);
    pthread_mutex_unlock(&workers->lock);
}

unsigned nt_workers_count(const struct nt_workers *workers)
{
    return workers->count;
}

struct nt_workers *nt_workers_new(unsigned count)
{
    struct nt_workers *workers = calloc(1, sizeof(*workers) + count * sizeof(struct decode_worker));
    if (!workers)
        return NULL;
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->requested, NULL);
    pthread_cond_init(&workers->finished, NULL);
    for (unsigned i = 0; i < count; i++) {
        struct decode_worker *worker = &workers->threads[i];
        worker->workers = workers;
        if (nt_thread_start(&worker->thread, worker_main, worker))
            break;
        workers->count++;
    }
    return workers;
}

void nt_workers_free(struct nt_workers *workers)
{
    if (!workers)
        return;
    pthread_mutex_lock(&workers->lock);
    workers->stopping = true;
    pthread_cond_broadcast(&workers->requested);
    pthread_mutex_unlock(&workers->lock);
    for (unsigned i = 0; i < workers->count; i++)
        pthread_join(workers->threads[i].thread, NULL);
    pthread_cond_destroy(&workers->finished);
    pthread_cond_destroy(&workers->requested);
    pthread_mutex_destroy(&workers->lock);
    free(workers);
}

/* ---- Parallel reads ---- */

/* Decoded bytes to prefetch for one read call. */
#define NT_PREFETCH_AT_ONCE (UINT64_C(32) << 20)

enum { SHARE_BYTES = 512 * 1024 };

/* Consecutive ranges with the same pages form a group, whose shares are taken together. */
struct parallel_read {
    const struct nt_stream_range *ranges;
    size_t count;
    pthread_mutex_t lock;
    size_t at;                             /* the current group: its first range, ... */
    uint32_t group, lead;                  /* ... its length and the range with the most bytes, ... */
    uint64_t taken[NT_MAX_SHARED_OUTPUTS]; /* ... and how many elements of each have been taken */
    enum nt_status status;                 /* of the first failed elements: */
    size_t failed_range;
    uint64_t failed_first;
    struct nt_error error;
};

struct range_share {
    size_t range;
    uint64_t first, end; /* elements of the stream */
};

/* The end of the page or, without pages, of the segment that holds an element; else element + 1. */
static uint64_t page_end(struct nt_stream *stream, uint64_t element)
{
    uint64_t lead = nt_stream_leading_zeros(stream);
    if (element < lead || stream->filter)
        return element + 1; /* a share may as well end anywhere */
    struct nt_segment segment;
    nt_stream_segment_of(stream, element - lead, &segment);
    bool is_located = stream->masks && nt_stream_locate(stream, &segment, NULL) == NT_OK;
    nt_segment_release(&segment);
    return is_located && segment.masks ? element + 1 : lead + nt_stream_page_end(stream, element - lead);
}

static uint64_t bytes_of(const struct nt_stream_range *range)
{
    return range->count * range->stream->element_bytes;
}

static void begin_group(struct parallel_read *read, size_t at)
{
    const struct nt_stream_range *first = &read->ranges[at];
    read->at = at;
    read->group = at < read->count;
    read->lead = 0;
    memset(read->taken, 0, sizeof(read->taken));
    while (read->group && read->group < NT_MAX_SHARED_OUTPUTS && at + read->group < read->count &&
           nt_streams_share_pages(first->stream, first[read->group].stream)) {
        if (bytes_of(&first[read->group]) > bytes_of(&first[read->lead]))
            read->lead = read->group;
        read->group++;
    }
}

/* Takes what is left of a range of the group up to an element of its stream; false if nothing is. */
static bool take(struct parallel_read *read, uint32_t of_group, uint64_t end, struct range_share *share_ret)
{
    const struct nt_stream_range *range = &read->ranges[read->at + of_group];
    uint64_t first = range->first + read->taken[of_group];
    end = nt_min(end, range->first + range->count);
    if (end <= first)
        return false;
    *share_ret = (struct range_share){read->at + of_group, first, end};
    read->taken[of_group] = end - range->first;
    return true;
}

/* Where a share should end: with a page; for several ranges, also within its first segment. */
static uint64_t find_end(const struct parallel_read *read, uint32_t of_group)
{
    const struct nt_stream_range *range = &read->ranges[read->at + of_group];
    struct nt_stream *stream = range->stream;
    uint64_t least = SHARE_BYTES / stream->element_bytes, left = range->count - read->taken[of_group];
    uint64_t first = range->first + read->taken[of_group], end = range->first + range->count;
    uint64_t found = page_end(stream, left <= least ? end - 1 : first + least);
    return read->group > 1 ? nt_min(nt_stream_segment_end(stream, first), found) : found;
}

/* The next range of the group with elements left; read->group if there is none. */
static uint32_t find_next(const struct parallel_read *read)
{
    for (uint32_t i = 0; i < read->group; i++) {
        uint32_t of_group = (read->lead + i) % read->group;
        if (read->taken[of_group] < read->ranges[read->at + of_group].count)
            return of_group;
    }
    return read->group;
}

/* Takes a share of one range and those of others with the same pages. Returns their number, or 0. */
static uint32_t take_shares(struct parallel_read *read, struct range_share shares[NT_MAX_SHARED_OUTPUTS])
{
    uint32_t next, count = 0;
    NT_MUTEX_GUARD(&read->lock);
    while ((next = find_next(read)) == read->group && read->at < read->count)
        begin_group(read, read->at + read->group);
    if (read->status == NT_OK && read->at < read->count)
        count += take(read, next, find_end(read, next), shares);
    for (uint32_t i = 0; count && next == read->lead && i < read->group; i++)
        if (i != next)
            count += take(read, i,
                          nt_stream_shared_page_end(read->ranges[shares->range].stream, shares->end,
                                                    read->ranges[read->at + i].stream),
                          &shares[count]);
    return count;
}

static void note_failure(struct parallel_read *read, const struct range_share *share, enum nt_status status,
                         const struct nt_error *error)
{
    NT_MUTEX_GUARD(&read->lock);
    bool is_earlier = share->range < read->failed_range ||
                      (share->range == read->failed_range && share->first < read->failed_first);
    if (read->status == NT_OK || is_earlier) {
        read->status = status;
        read->failed_range = share->range;
        read->failed_first = share->first;
        read->error = *error;
    }
}

/* Elements [first, end) of a range. */
static struct nt_stream_range sub_range(const struct nt_stream_range *range, uint64_t first, uint64_t end)
{
    uint8_t *output = range->output;
    return (struct nt_stream_range){range->stream, first, end - first,
                                    output + (first - range->first) * range->stream->element_bytes};
}

/* Prefetches from a share on; the limit is divided among the ranges. */
static void prefetch_rest(const struct parallel_read *read, const struct nt_stream_range *share, size_t range)
{
    struct nt_prefetch prefetch = {.count = 0};
    nt_stream_prefetch(share->stream, &prefetch, share->first,
                       read->ranges[range].first + read->ranges[range].count,
                       NT_PREFETCH_AT_ONCE / read->count);
    nt_prefetch_submit(&prefetch);
}

static void work_on_shares(void *context)
{
    struct parallel_read *read = context;
    struct range_share shares[NT_MAX_SHARED_OUTPUTS];
    struct nt_stream_range ranges[NT_MAX_SHARED_OUTPUTS];
    struct nt_error error;
    uint32_t count;
    while ((count = take_shares(read, shares))) {
        struct nt_decoded_pages decoded[NT_MAX_SHARED_OUTPUTS] = {{0}};
        for (uint32_t i = 0; i < count; i++)
            ranges[i] = sub_range(&read->ranges[shares[i].range], shares[i].first, shares[i].end);
        prefetch_rest(read, &ranges[0], shares[0].range);
        if (count > 1)
            nt_streams_decode_shared(ranges, count, decoded);
        for (uint32_t i = 0; i < count; i++) {
            enum nt_status status = nt_stream_produce(ranges[i].stream, ranges[i].first, ranges[i].count,
                                                      &decoded[i], ranges[i].output, &error);
            if (status != NT_OK)
                note_failure(read, &shares[i], status, &error);
        }
    }
}

/* Checks that all ranges have one reader and lie within their streams. Returns their bytes. */
static enum nt_status check_ranges(const struct nt_stream_range *ranges, size_t count, uint64_t *bytes_ret,
                                   struct nt_error *error)
{
    *bytes_ret = 0;
    for (size_t i = 0; i < count; i++) {
        const struct nt_stream_range *range = &ranges[i];
        if (range->stream->reader != ranges->stream->reader)
            return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "range %zu belongs to another reader", i);
        if (!nt_range_fits(range->first, range->count, range->stream->elements))
            return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                           "cannot read %" PRIu64 " elements from %" PRIu64 " on: the stream has %" PRIu64,
                           range->count, range->first, range->stream->elements);
        *bytes_ret += bytes_of(range); /* cannot overflow: the outputs are in memory */
    }
    return NT_OK;
}

static enum nt_status read_all(const struct nt_stream_range *ranges, size_t count, struct nt_error *error)
{
    struct nt_reader *reader = ranges->stream->reader;
    struct parallel_read read = {.ranges = ranges, .count = count, .lock = PTHREAD_MUTEX_INITIALIZER};
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += bytes_of(&ranges[i]);
    begin_group(&read, 0);
    if (bytes <= 2 * SHARE_BYTES)
        work_on_shares(&read);
    else
        nt_workers_run_all(reader->workers, work_on_shares, &read);
    pthread_mutex_destroy(&read.lock);
    if (read.status != NT_OK && error)
        *error = read.error;
    return read.status;
}

/* ---- Reading from slow sources ---- */

/* Does the format store the pages of a segment of a column together? */
static bool has_whole_segments(const struct nt_stream *stream)
{
    return stream->dataset->ops->plan_groups != NULL;
}

/* Does the segment of an element have so many elements that a range in `count` bands divides it? */
static bool is_large_segment(const struct nt_stream_range *range, uint64_t element, uint64_t count)
{
    uint64_t lead = nt_stream_leading_zeros(range->stream);
    struct nt_segment segment;
    if (range->stream->filter || element < lead || has_whole_segments(range->stream))
        return false;
    nt_stream_segment_of(range->stream, element - lead, &segment);
    return segment.elements > 2 * (range->count / count + 1);
}

/* Where band `number` of `count` of a range begins; bands end with segments, or with pages of large
 * ones. Data of many streams is adjacent within a cluster, so reading cluster by cluster needs few
 * requests. */
static uint64_t band_begin(const struct nt_stream_range *range, uint64_t number, uint64_t count)
{
    uint64_t end = range->first + range->count;
    if (number == 0 || number == count || !range->count)
        return number ? end : range->first;
    double middle = ((double)number - 0.5) / (double)count;
    uint64_t element = range->first + (uint64_t)((double)range->count * middle);
    uint64_t found = is_large_segment(range, element, count) ? page_end(range->stream, element)
                                                             : nt_stream_segment_end(range->stream, element);
    return nt_min(found, end);
}

/* Bands of ranges, and how many of them have been hinted. Each has some rows of some of the ranges: if a
 * format stores the pages of a segment together, no segment is divided, so that the requests stay large. */
struct bands {
    const struct nt_stream_range *ranges;
    size_t range_count;
    uint64_t row_bands, column_bands;
    uint64_t *column_band; /* of each range */
    uint64_t count, hinted;
    uint64_t *stored; /* bytes hinted for each band */
    uint64_t ahead;   /* the sum of these bytes, except of bands already read */
};

/* Limits the stored bytes in flight or not yet read. Enough to keep connections busy during decoding:
 * idle ones restart with small windows (RFC 5681, 4.1). */
#define MAX_AHEAD (UINT64_C(40) << 20)
/* Decoded bytes of a band. What is ahead, with one band more, is less than sources prefetch. */
#define BAND_BYTES (UINT64_C(16) << 20)

/* The part of a range in a band. False if it has none. */
static bool part_of(const struct bands *bands, size_t range, uint64_t number,
                    struct nt_stream_range *part_ret)
{
    const struct nt_stream_range *whole = &bands->ranges[range];
    uint64_t row_band = number / bands->column_bands;
    if (bands->column_band[range] != number % bands->column_bands)
        return false;
    uint64_t first = band_begin(whole, row_band, bands->row_bands);
    *part_ret = sub_range(whole, first, band_begin(whole, row_band + 1, bands->row_bands));
    return true;
}

static void prefetch_band(struct bands *bands)
{
    struct nt_prefetch prefetch = {.need = NT_PREFETCH_NOW}; /* the call returns when all are read */
    uint64_t number = bands->hinted++;
    struct nt_stream_range part;
    for (size_t i = 0; i < bands->range_count; i++)
        if (part_of(bands, i, number, &part))
            nt_stream_prefetch(part.stream, &prefetch, part.first, part.first + part.count,
                               NT_PREFETCH_AT_ONCE);
    bands->stored[number] = prefetch.bytes;
    bands->ahead += prefetch.bytes;
    nt_prefetch_submit(&prefetch);
}

/* A caller that reads batches in sequence will need the next one. */
static void prefetch_batch(const struct nt_stream_range *ranges, size_t count)
{
    struct nt_prefetch prefetch = {.need = NT_PREFETCH_NOW};
    for (size_t i = 0; i < count; i++) {
        const struct nt_stream_range *range = &ranges[i];
        uint64_t end = range->first + range->count;
        if (nt_prefetch_continues(&range->stream->access, range->first)) {
            end += range->count;
            prefetch.need = NT_PREFETCH_SOON;
        }
        nt_stream_prefetch(range->stream, &prefetch, range->first, end, NT_PREFETCH_AT_ONCE);
    }
    nt_prefetch_submit(&prefetch);
}

static enum nt_status read_band(const struct bands *bands, uint64_t number, struct nt_stream_range *parts,
                                struct nt_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < bands->range_count; i++)
        count += part_of(bands, i, number, &parts[count]);
    return read_all(parts, count, error);
}

/* Into how many bands the rows of a range can be divided. */
static uint64_t most_row_bands(const struct nt_stream_range *range)
{
    const struct nt_stream *stream = range->stream;
    uint64_t lead = nt_stream_leading_zeros(stream), end = range->first + range->count;
    if (stream->filter || !has_whole_segments(stream))
        return UINT64_MAX;
    if (end <= lead || !range->count)
        return 1;
    struct nt_segment first, last;
    nt_stream_segment_of(stream, range->first < lead ? 0 : range->first - lead, &first);
    nt_stream_segment_of(stream, end - 1 - lead, &last);
    return last.number - first.number + UINT64_C(1);
}

/* Divides the rows into so many bands, or else the ranges, too. */
static void divide(struct bands *bands, uint64_t bytes, uint64_t count)
{
    uint64_t rows = 1, before = 0;
    for (size_t i = 0; i < bands->range_count; i++) {
        uint64_t found = most_row_bands(&bands->ranges[i]);
        rows = found > rows ? found : rows;
    }
    bands->row_bands = nt_min(rows, count);
    bands->column_bands = nt_min(count / bands->row_bands, bands->range_count);
    bands->count = bands->row_bands * bands->column_bands;
    for (size_t i = 0; i < bands->range_count; before += bytes_of(&bands->ranges[i++])) {
        double share = (double)before / (double)bytes;
        bands->column_band[i] =
            nt_min((uint64_t)(share * (double)bands->column_bands), bands->column_bands - 1);
    }
}

static enum nt_status read_bands(const struct nt_stream_range *ranges, size_t count, uint64_t bytes,
                                 struct nt_error *error)
{
    uint64_t most = bytes / BAND_BYTES + 1;
    NT_AUTO_FREE struct nt_stream_range *parts = calloc(count, sizeof(*parts));
    NT_AUTO_FREE uint64_t *column_band = calloc(count, sizeof(*column_band)),
                          *stored = calloc(most, sizeof(*stored));
    NT_TRY(nt_check_memory(parts && column_band && stored, error));
    struct bands bands = {
        .ranges = ranges, .range_count = count, .column_band = column_band, .stored = stored};
    divide(&bands, bytes, most);
    nt_groups_announce_fields(ranges->stream->dataset, NULL, 0); /* their lists come with their pages */
    for (uint64_t number = 0; number < bands.count; number++) {
        /* this band, the one after it, and more if they are small */
        while (bands.hinted < bands.count && (bands.hinted < number + 2 || bands.ahead < MAX_AHEAD))
            prefetch_band(&bands);
        NT_TRY(read_band(&bands, number, parts, error));
        bands.ahead -= bands.stored[number];
    }
    return NT_OK;
}

enum nt_status nt_streams_read_elements(const struct nt_stream_range *ranges, size_t count,
                                        struct nt_error *error)
{
    uint64_t bytes;
    NT_TRY(check_ranges(ranges, count, &bytes, error));
    if (!bytes)
        return NT_OK;
    struct nt_reader *reader = ranges->stream->reader;
    NT_TRY(nt_reader_after_fork(reader, error));
    nt_counter_add(&reader->counters.reads, count);
    nt_counter_add(&reader->counters.served_bytes, bytes);
    if (!nt_prefetch_helps(ranges->stream->dataset))
        return read_all(ranges, count, error);
    if (count > 1 && bytes >= BAND_BYTES)
        return read_bands(ranges, count, bytes, error);
    prefetch_batch(ranges, count);
    return read_all(ranges, count, error);
}

enum nt_status nt_stream_read_elements(struct nt_stream *stream, uint64_t first, uint64_t count, void *output,
                                       struct nt_error *error)
{
    return nt_streams_read_elements(&(struct nt_stream_range){stream, first, count, output}, 1, error);
}
