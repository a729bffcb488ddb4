/* SPDX-License-Identifier: MIT
 *
 * Several short ranges of a file in one HTTP request, and the multipart/byteranges answer (RFC 9110, 14.6).
 * Their number costs a server and a line more than their bytes. Of a server that refuses it, one range is
 * requested that covers those near each other.
 */
#include "remote/helper/helper.h"

#include <inttypes.h>

/* Servers limit the bytes of a header, mostly to 8 KiB, and the number of ranges, to 200 or more. */
enum { MIN_RANGES = 4, MAX_RANGES = 128, SHORT_BYTES = 4096 };
/* The most bytes of a part's headers. */
enum { PART_HEADER_BYTES = 1024 };

/* Of one range for several jobs: as the client joins and divides its ranges. */
enum { MAX_GAP = 32 * 1024, MAX_BYTES = 256 * 1024 };

struct nt_http_ranges {
    struct nt_buffer text; /* the ranges, as in the header */
    unsigned count;
    /* By offset, with the job that makes the request. NULL: cancelled. */
    struct nt_transfer *jobs[MAX_RANGES];
    bool is_done[MAX_RANGES]; /* its bytes were delivered */
    size_t max_bytes;
    struct nt_buffer body;
};

/* ---- The request ---- */

/* Did the server refuse such a request, for this file or another one? */
static bool refuses_ranges(struct nt_http_file *file)
{
    const struct nt_remote_handle *other;
    LIST_FOREACH(other, &file->handle.files->all, all)
    if (!file->refuses_ranges && other->backend == file->handle.backend)
        file->refuses_ranges = ((const struct nt_http_file *)other)->refuses_ranges &&
                               nt_address_is_same_server(((const struct nt_http_file *)other)->target.address,
                                                         file->target.address);
    return file->refuses_ranges;
}

static bool is_short(const struct nt_transfer *job)
{
    return job->bytes <= SHORT_BYTES && !job->is_suffix && !job->is_background;
}

static bool can_join(const struct nt_transfer *job, const struct nt_transfer *other)
{
    return other->remote == job->remote && !other->is_active && !other->share && !other->all_tries &&
           is_short(other);
}

static int compare_jobs(const void *one, const void *other)
{
    const struct nt_transfer *a = *(struct nt_transfer *const *)one, *b = *(struct nt_transfer *const *)other;
    return nt_compare_u64(&a->first, &b->first);
}

static uint64_t end_of(const struct nt_transfer *job)
{
    return job->first + job->bytes;
}

/* Keeps those around a job that one range covers, with short gaps. Returns how many. */
static unsigned keep_near(struct nt_transfer *jobs[MAX_RANGES], unsigned count, const struct nt_transfer *job)
{
    unsigned first = 0;
    while (jobs[first] != job)
        first++;
    unsigned end = first + 1;
    while (first && jobs[first]->first - end_of(jobs[first - 1]) <= MAX_GAP &&
           end_of(job) - jobs[first - 1]->first <= MAX_BYTES)
        first--;
    while (end < count && jobs[end]->first - end_of(jobs[end - 1]) <= MAX_GAP &&
           end_of(jobs[end]) - jobs[first]->first <= MAX_BYTES)
        end++;
    memmove(jobs, jobs + first, (end - first) * sizeof(struct nt_transfer *));
    return end - first;
}

struct nt_http_ranges *nt_http_ranges_new(struct nt_transfer *job)
{
    struct nt_http_file *file = (struct nt_http_file *)job->remote;
    struct nt_transfer *jobs[MAX_RANGES] = {job}, *other;
    unsigned count = 1;
    if (!is_short(job) || job->all_tries != 1 || !file->target.is_known || file->is_object_store)
        return NULL;
    TAILQ_FOREACH (other, &file->handle.backend->jobs->all, all)
        if (count < MAX_RANGES && can_join(job, other))
            jobs[count++] = other;
    if (count < MIN_RANGES)
        return NULL;
    qsort(jobs, count, sizeof(struct nt_transfer *), compare_jobs);
    bool is_one = file->target.service != NT_SERVICE_HTTP || refuses_ranges(file);
    count = is_one ? keep_near(jobs, count, job) : count;
    struct nt_http_ranges *ranges = count > 1 ? calloc(1, sizeof(*ranges)) : NULL;
    if (!ranges)
        return NULL;
    if (is_one)
        nt_buffer_append_format(&ranges->text, "%" PRIu64 "-%" PRIu64, jobs[0]->first,
                                end_of(jobs[count - 1]) - 1);
    ranges->max_bytes = is_one ? MAX_BYTES : 0;
    for (unsigned i = 0; i < count; i++) {
        ranges->max_bytes += jobs[i]->bytes + PART_HEADER_BYTES;
        jobs[i]->share = ranges;
        ranges->jobs[ranges->count++] = jobs[i];
        if (!is_one)
            nt_buffer_append_format(&ranges->text, "%s%" PRIu64 "-%" PRIu64, i ? "," : "", jobs[i]->first,
                                    end_of(jobs[i]) - 1);
    }
    return ranges;
}

const char *nt_http_ranges_text(const struct nt_http_ranges *ranges)
{
    return ranges->text.failed ? NULL : ranges->text.bytes;
}

void nt_http_ranges_leave(struct nt_transfer *job)
{
    struct nt_http_ranges *ranges = job->share;
    for (unsigned i = 0; ranges && i < ranges->count; i++)
        if (ranges->jobs[i] == job)
            ranges->jobs[i] = NULL;
    job->share = NULL;
}

void nt_http_ranges_free(struct nt_http_ranges *ranges)
{
    if (!ranges)
        return;
    for (unsigned i = 0; i < ranges->count; i++)
        if (ranges->jobs[i])
            ranges->jobs[i]->share = NULL;
    nt_buffer_deinit(&ranges->body);
    nt_buffer_deinit(&ranges->text);
    free(ranges);
}

/* ---- The answer ---- */

bool nt_http_ranges_take(struct nt_http_ranges *ranges, const char *bytes, size_t count)
{
    if (count > ranges->max_bytes - ranges->body.length)
        return false;
    nt_buffer_append(&ranges->body, bytes, count);
    return !ranges->body.failed;
}

static void advance(struct nt_text *text, size_t count)
{
    *text = (struct nt_text){text->bytes + count, text->length - count};
}

bool nt_http_part_next(struct nt_text *left, const char *boundary, struct nt_http_response *headers_ret,
                       struct nt_text *bytes_ret)
{
    *headers_ret = (struct nt_http_response){.has_range = false};
    if (!*boundary || !left->length)
        return false;
    const char *found = memmem(left->bytes, left->length, boundary, strlen(boundary)), *end;
    if (!found)
        return false;
    advance(left, (size_t)(found - left->bytes) + strlen(boundary));
    for (bool is_delimiter = true; !headers_ret->is_whole; is_delimiter = false) {
        if (!(end = memchr(left->bytes, '\n', left->length)))
            return false;
        size_t line = (size_t)(end - left->bytes) + 1;
        if (!is_delimiter && !nt_http_response_parse_line(headers_ret, left->bytes, line))
            return false;
        advance(left, line);
    }
    if (!headers_ret->has_range || headers_ret->last - headers_ret->first >= left->length)
        return false;
    *bytes_ret = (struct nt_text){left->bytes, (size_t)(headers_ret->last - headers_ret->first) + 1};
    advance(left, bytes_ret->length);
    return true;
}

/* A server may join ranges, and may omit some. */
static void deliver(struct nt_http_ranges *ranges, uint64_t first, struct nt_text bytes)
{
    for (unsigned i = 0; i < ranges->count; i++) {
        struct nt_transfer *job = ranges->jobs[i];
        if (!job || ranges->is_done[i] || job->first < first || job->first - first > bytes.length ||
            job->bytes > bytes.length - (job->first - first))
            continue;
        ranges->is_done[i] = job->take(job, job->first, bytes.bytes + (job->first - first), job->bytes);
        job->is_paused = false; /* it is requested again */
    }
}

static void deliver_all(struct nt_http_ranges *ranges, const struct nt_http_request *request)
{
    struct nt_http_response part = request->reply;
    struct nt_text left = {ranges->body.bytes, ranges->body.length}, bytes = left;
    if (part.has_range && part.last - part.first + 1 == left.length)
        deliver(ranges, part.first, left); /* all in one */
    while (!request->reply.has_range && nt_http_part_next(&left, request->reply.boundary, &part, &bytes))
        if (part.total == request->expected->size)
            deliver(ranges, part.first, bytes);
}

/* Ends the tries of the others that were delivered, and leaves the rest. */
static bool end_others(struct nt_http_ranges *ranges, const struct nt_transfer *own)
{
    bool is_done = false;
    for (unsigned i = 0; i < ranges->count; i++) {
        struct nt_transfer *job = ranges->jobs[i];
        is_done |= job == own && ranges->is_done[i];
        if (!job || job == own || !ranges->is_done[i])
            continue;
        job->result = (struct nt_result){.outcome = NT_OUTCOME_OK, .got = job->bytes};
        nt_transfer_end_try(job);
    }
    return is_done;
}

static bool are_all_done(const struct nt_http_ranges *ranges)
{
    bool are_all = true;
    for (unsigned i = 0; i < ranges->count; i++)
        are_all &= !ranges->jobs[i] || ranges->is_done[i];
    return are_all;
}

struct nt_result nt_http_ranges_end(struct nt_http_ranges *ranges, const struct nt_http_request *request)
{
    struct nt_transfer *job = request->job;
    struct nt_result result = request->result;
    bool is_good = result.outcome == NT_OUTCOME_OK;
    if (is_good)
        deliver_all(ranges, request);
    if (!is_good || !are_all_done(ranges))
        ((struct nt_http_file *)job->remote)->refuses_ranges = true;
    result.got = end_others(ranges, job) ? job->bytes : 0;
    if (!result.got && (is_good || result.outcome == NT_OUTCOME_FAILED))
        result.outcome = NT_OUTCOME_OTHER_SERVER; /* a request of its own shows what is wrong */
    nt_http_ranges_free(ranges);
    return result;
}
