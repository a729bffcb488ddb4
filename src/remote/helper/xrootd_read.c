/* SPDX-License-Identifier: MIT
 *
 * In: attempts. Out: their bytes. Short ones that want something of the same file are one read of several ranges: a request less
 * for each, and less to look for on the server's disks. Once in a while the file's attributes are asked for with it, and none of the bytes are given
 * to anybody before these are what they were.
 */
#include "remote/helper/xrootd_read.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"

enum { MOST_TOGETHER = 256 * 1024, MOST_OF_ALL = 2 << 20, CHECK_MILLISECONDS = 1000 };

struct nt_xrd_read {
    struct nt_xrd_operation operation;
    unsigned count, capacity;
    struct nt_xrd_range *ranges;
    struct nt_xrd_attempt **attempts; /* of each range; NULL: nobody wants it any more */
    char *bytes;
    uint64_t asked;   /* when it was, milliseconds */
    unsigned holders; /* attempts, and who works on it */
    bool has_ended;
};

static void let_go(struct nt_xrd_read *read)
{
    if (--read->holders > 0)
        return;
    free(read->ranges);
    free(read->attempts);
    free(read->bytes);
    free(read);
}

void nt_xrootd_read_leave(struct nt_xrd_attempt *attempt)
{
    struct nt_xrd_read *read = attempt->read;
    if (!read)
        return;
    attempt->read = NULL;
    for (unsigned i = 0; i < read->count; i++)
        if (read->attempts[i] == attempt)
            read->attempts[i] = NULL;
    let_go(read);
}

/* ---- its end ---- */

/* All its ranges, or as many as are taken now. */
void nt_xrootd_read_deliver(struct nt_xrd_attempt *attempt)
{
    struct nt_xrd_read *read = attempt->read;
    struct nt_transfer *job = attempt->job;
    for (unsigned i = 0; i < read->count; i++) {
        const struct nt_xrd_range *range = &read->ranges[i];
        if (read->attempts[i] != attempt)
            continue;
        if (!job->take(job, range->offset, range->buffer, range->bytes))
            return;
        read->attempts[i] = NULL;
    }
    job->result = (struct nt_result){NT_OUTCOME_GOOD, NT_FETCH_UNREACHABLE, .got = job->bytes};
    nt_xrootd_read_leave(attempt);
    nt_transfers_end_try(job->remote->engine->jobs, job);
}

static struct nt_xrd_attempt *any_attempt(const struct nt_xrd_read *read)
{
    for (unsigned i = 0; i < read->count; i++)
        if (read->attempts[i])
            return read->attempts[i];
    return NULL;
}

/* What it means for the file, and so for those who wait. */
static struct nt_result judge(const struct nt_xrd_read *read, struct nt_xrootd_file *file)
{
    const struct nt_xrd_answer *answer = &read->operation.answer;
    if (answer->has_attributes && !nt_xrootd_file_is_same(file, &answer->attributes))
        return nt_xrootd_changed;
    if (answer->has_attributes)
        file->checked = read->asked;
    if (answer->result.outcome != NT_OUTCOME_GOOD)
        file->checked = 0; /* perhaps because it is another one now */
    return answer->result;
}

static void fail_all(struct nt_xrd_read *read, const struct nt_result *result)
{
    struct nt_xrd_attempt *attempt;
    while ((attempt = any_attempt(read))) {
        struct nt_transfer *job = attempt->job;
        job->result = *result;
        nt_xrootd_read_leave(attempt);
        nt_transfers_end_try(job->remote->engine->jobs, job);
    }
}

/* Their end may be that of others. */
static void deliver_all(struct nt_xrd_read *read)
{
    for (unsigned i = 0; i < read->count; i++)
        if (read->attempts[i] && !read->attempts[i]->job->is_paused)
            nt_xrootd_read_deliver(read->attempts[i]);
}

static void end_read(struct nt_xrd_operation *operation)
{
    struct nt_xrd_read *read = (struct nt_xrd_read *)operation;
    const struct nt_xrd_attempt *any = any_attempt(read);
    struct nt_xrootd_file *owner = operation->session->owner;
    read->has_ended = true;
    if (owner && operation->answer.is_lost)
        nt_xrootd_file_lose(owner);
    if (any) {
        struct nt_result result = judge(read, (struct nt_xrootd_file *)any->job->remote);
        if (result.outcome == NT_OUTCOME_GOOD)
            deliver_all(read);
        else
            fail_all(read, &result);
    }
    let_go(read);
}

/* ---- asking ---- */

/* Of both ends of a file that is opened, or of a part. */
static unsigned ranges_of(const struct nt_xrootd_file *file, const struct nt_xrd_attempt *attempt,
                          struct nt_xrd_range ranges[2])
{
    const struct nt_transfer *job = attempt->job;
    uint64_t size = file->attributes.size;
    if (!attempt->is_opening) {
        ranges[0] = (struct nt_xrd_range){job->first, (uint32_t)job->bytes, NULL};
        return 1;
    }
    uint32_t head = (uint32_t)(size < NT_FETCH_EDGE_BYTES ? size : NT_FETCH_EDGE_BYTES);
    uint32_t tail = (uint32_t)(size - head < NT_FETCH_EDGE_BYTES ? size - head : NT_FETCH_EDGE_BYTES);
    ranges[0] = (struct nt_xrd_range){0, head, NULL};
    ranges[1] = (struct nt_xrd_range){size - tail, tail, NULL};
    return (head > 0) + (tail > 0);
}

static bool add(struct nt_xrd_read *read, struct nt_xrd_attempt *attempt, const struct nt_xrd_range *ranges,
                unsigned count)
{
    if (read->count + count > read->capacity) {
        unsigned capacity = 2 * read->capacity + 8;
        struct nt_xrd_range *longer = realloc(read->ranges, capacity * sizeof(*longer));
        if (longer)
            read->ranges = longer;
        struct nt_xrd_attempt **more = realloc(read->attempts, capacity * sizeof(*more));
        if (more)
            read->attempts = more;
        if (!longer || !more)
            return false;
        read->capacity = capacity;
    }
    for (unsigned i = 0; i < count; i++) {
        read->ranges[read->count] = ranges[i];
        read->attempts[read->count++] = attempt;
    }
    attempt->read = read;
    read->holders++;
    nt_xrd_attempt_leave(attempt);
    return true;
}

/* The first that waits, and of those behind it what can be read with it. NULL without memory for it all. */
static struct nt_xrd_read *collect(struct nt_xrootd_file *file, uint64_t *deadline_ret)
{
    struct nt_xrd_read *read = calloc(1, sizeof(*read));
    bool is_ahead = file->waiting->job->is_ahead;
    uint64_t sum = 0;
    if (!read)
        return NULL;
    read->holders = 1;
    *deadline_ret = 0;
    for (struct nt_xrd_attempt *attempt = file->waiting, *next; attempt; attempt = next) {
        struct nt_xrd_range ranges[2];
        unsigned count = ranges_of(file, attempt, ranges);
        uint64_t bytes = 0;
        next = attempt->next;
        for (unsigned i = 0; i < count; i++)
            bytes += ranges[i].bytes;
        bool is_joined = bytes <= MOST_TOGETHER && sum + bytes <= MOST_OF_ALL &&
                         attempt->job->is_ahead == is_ahead && read->count + count <= NT_XRD_MOST_RANGES;
        if (sum > 0 && !is_joined)
            continue;
        if (!add(read, attempt, ranges, count))
            break;
        sum += bytes;
        if (attempt->deadline > *deadline_ret)
            *deadline_ret = attempt->deadline;
        if (bytes > MOST_TOGETHER)
            break;
    }
    read->bytes = malloc(sum ? sum : 1);
    return read;
}

/* One behind the other. */
static void place(struct nt_xrd_read *read)
{
    char *at = read->bytes;
    for (unsigned i = 0; i < read->count; i++) {
        read->ranges[i].buffer = at;
        at += read->ranges[i].bytes;
    }
}

static bool read_some(struct nt_xrootd_file *file)
{
    uint64_t deadline, now = nt_milliseconds();
    struct nt_xrd_read *read = collect(file, &deadline);
    if (!read || !read->bytes || !read->count) {
        if (read) {
            fail_all(read, &nt_result_no_memory);
            let_go(read);
        }
        return false;
    }
    place(read);
    read->operation.end = end_read;
    read->asked = now;
    file->remote.engine->jobs->totals.requests++;
    nt_xrd_session_read(file->session, &read->operation, read->ranges, read->count,
                        now >= file->checked + CHECK_MILLISECONDS, deadline > now ? deadline - now : 1);
    return true;
}

void nt_xrootd_read_all(struct nt_xrootd_file *file)
{
    static const struct nt_result empty = {.outcome = NT_OUTCOME_GOOD};
    bool has_bytes = file->attributes.size > 0;
    while (has_bytes && file->waiting && read_some(file))
        ;
    if (file->waiting)
        nt_xrootd_file_fail(file, has_bytes ? &nt_result_no_memory : &empty);
}
