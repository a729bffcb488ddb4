/* SPDX-License-Identifier: MIT
 *
 * Files on XRootD servers: asynchronous sessions of the client library, reopening with a version check,
 * and vector reads.
 */
#include "remote/helper/helper.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/thread.h"
#include "remote/helper/result.h"
#include "remote/helper/xrd_client.h"
#include "remote/protocol.h"

/* ---- Sessions ---- */

enum { CLOSING_SECONDS = 5 };

/* ---- Answers ---- */

bool nt_xrd_queue_init(struct nt_xrd_queue *queue)
{
    *queue = (struct nt_xrd_queue){.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    STAILQ_INIT(&queue->answered);
    return queue->event >= 0 && pthread_mutex_init(&queue->lock, NULL) == 0;
}

/* Runs on a thread of the client. */
static void take_answer(void *context, const struct nt_xrd_answer *answer)
{
    struct nt_xrd_operation *operation = context;
    struct nt_xrd_queue *queue = operation->queue;
    operation->answer = *answer;
    pthread_mutex_lock(&queue->lock);
    STAILQ_INSERT_TAIL(&queue->answered, operation, answered);
    pthread_mutex_unlock(&queue->lock);
    (void)!write(queue->event, &(uint64_t){1}, sizeof(uint64_t));
}

static void end_if_unused(struct nt_xrd_session *session);

void nt_xrd_queue_work(struct nt_xrd_queue *queue)
{
    uint64_t count;
    (void)!read(queue->event, &count, sizeof(count));
    pthread_mutex_lock(&queue->lock);
    struct nt_xrd_operation *operation = STAILQ_FIRST(&queue->answered), *next;
    STAILQ_INIT(&queue->answered);
    pthread_mutex_unlock(&queue->lock);
    for (; operation; operation = next) {
        struct nt_xrd_session *session = operation->session;
        next = STAILQ_NEXT(operation, answered);
        operation->end(operation);
        if (!session)
            continue;
        session->operations--;
        end_if_unused(session);
    }
}

/* ---- Session lifetime ---- */

/* NULL if out of memory. */
static struct nt_xrd_session *nt_xrd_session_new(struct nt_xrd_queue *queue, void *owner)
{
    struct nt_xrd_session *session = malloc(sizeof(*session));
    struct nt_xrd_file *file = session ? queue->client->make() : NULL;
    if (!file) {
        free(session);
        return NULL;
    }
    *session = (struct nt_xrd_session){.queue = queue, .file = file, .owner = owner};
    return session;
}

static void end_closing(struct nt_xrd_operation *operation)
{
    operation->session->queue->client->free(operation->session->file);
    operation->session->file = NULL;
    free(operation);
}

static void end_if_unused(struct nt_xrd_session *session)
{
    const struct nt_xrd_client *client = session->queue->client;
    if (session->owner || session->operations > 0)
        return;
    struct nt_xrd_operation *closing = session->file ? malloc(sizeof(*closing)) : NULL;
    if (!closing) { /* the session is closed; it stays open if out of memory */
        free(session);
        return;
    }
    *closing = (struct nt_xrd_operation){.queue = session->queue, .session = session, .end = end_closing};
    session->operations++;
    client->close(session->file, CLOSING_SECONDS, take_answer, closing);
}

/* Its owner no longer uses it. */
static void nt_xrd_session_leave(struct nt_xrd_session *session)
{
    session->owner = NULL;
    end_if_unused(session);
}

/* ---- Requests ---- */

static uint16_t seconds_of(uint64_t milliseconds)
{
    uint64_t seconds = (milliseconds + 999) / 1000;
    return (uint16_t)(seconds < UINT16_MAX ? seconds : UINT16_MAX);
}

static void begin(struct nt_xrd_session *session, struct nt_xrd_operation *operation)
{
    operation->queue = session->queue;
    operation->session = session;
    session->operations++;
}

static void nt_xrd_session_open(struct nt_xrd_session *session, struct nt_xrd_operation *operation,
                                const char *url, uint64_t milliseconds)
{
    begin(session, operation);
    session->queue->client->open(session->file, url, seconds_of(milliseconds), take_answer, operation);
}

static void nt_xrd_session_read(struct nt_xrd_session *session, struct nt_xrd_operation *operation,
                                const struct nt_xrd_range *ranges, unsigned count, bool has_attributes,
                                uint64_t milliseconds)
{
    begin(session, operation);
    session->queue->client->read(session->file, ranges, count, has_attributes, seconds_of(milliseconds),
                                 take_answer, operation);
}

struct nt_xrd_list *nt_xrd_queue_list(struct nt_xrd_queue *queue, struct nt_xrd_operation *operation,
                                      const char *url, uint64_t milliseconds)
{
    operation->queue = queue;
    return queue->client->list(url, seconds_of(milliseconds), take_answer, operation);
}

/* ---- Open and reopen ---- */

static const struct nt_result nt_xrootd_changed = {NT_OUTCOME_FAILED, NT_FETCH_CHANGED,
                                                   .message = "the server has another version now"};

/* ---- Waiting attempts ---- */

static void set_ready(struct nt_xrootd_file *file)
{
    if (file->is_ready)
        return;
    LIST_INSERT_HEAD(&((struct nt_xrootd *)file->remote.backend)->ready, file, ready);
    file->is_ready = true;
}

void nt_xrootd_file_dequeue(struct nt_xrootd_file *file)
{
    if (file->is_ready)
        LIST_REMOVE(file, ready);
    file->is_ready = false;
}

void nt_xrootd_file_await(struct nt_xrootd_file *file, struct nt_xrd_attempt *attempt)
{
    struct nt_xrd_attempt **link = &file->waiting;
    while (*link)
        link = &(*link)->next;
    *link = attempt;
    attempt->link = link;
    attempt->next = NULL;
    set_ready(file);
}

void nt_xrd_attempt_leave(struct nt_xrd_attempt *attempt)
{
    if (!attempt->link)
        return;
    *attempt->link = attempt->next;
    if (attempt->next)
        attempt->next->link = attempt->link;
    attempt->link = NULL;
}

/* One attempt's end may end others, and close the file. */
void nt_xrootd_file_fail(struct nt_xrootd_file *file, const struct nt_result *result)
{
    const struct nt_result end = *result;
    struct nt_xrd_attempt *attempts = file->waiting;
    struct nt_transfers *jobs = file->remote.backend->jobs;
    file->waiting = NULL;
    if (attempts)
        attempts->link = &attempts;
    while (attempts) {
        struct nt_transfer *job = attempts->job;
        job->result = end;
        nt_xrd_attempt_leave(attempts);
        nt_transfers_end_try(jobs, job);
    }
}

/* ---- Opening ---- */

void nt_xrootd_validator(char validator[NT_FETCH_VALIDATOR_BYTES], int64_t modified)
{
    snprintf(validator, NT_FETCH_VALIDATOR_BYTES, "%" PRId64, modified);
}

void nt_xrootd_file_invalidate(struct nt_xrootd_file *file)
{
    struct nt_xrd_session *session = file->session;
    file->session = NULL;
    file->is_open = false;
    if (session)
        nt_xrd_session_leave(session);
}

/* Is this the version that was first opened? On another server it may be a replica with another id. */
static bool nt_xrootd_file_is_same(const struct nt_xrootd_file *file, const struct nt_xrd_attributes *found)
{
    const struct nt_xrd_attributes *known = &file->attributes;
    bool is_same_server = strcmp(known->server, found->server) == 0;
    return known->size == found->size && known->modified == found->modified &&
           (!is_same_server || strcmp(known->id, found->id) == 0);
}

static void end_open(struct nt_xrd_operation *operation)
{
    static const struct nt_result silent = {NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE,
                                            .message = "the server does not say how long the file is"};
    struct nt_xrootd_file *file = operation->session->owner;
    const struct nt_xrd_answer *answer = &operation->answer;
    const struct nt_result *problem = answer->has_attributes ? NULL : &silent;
    if (answer->result.outcome != NT_OUTCOME_OK)
        problem = &answer->result;
    else if (!problem && file && file->is_known && !nt_xrootd_file_is_same(file, &answer->attributes))
        problem = &nt_xrootd_changed;
    if (file && problem) {
        nt_xrootd_file_invalidate(file);
        nt_xrootd_file_fail(file, problem);
    } else if (file) {
        file->is_open = file->is_known = true;
        file->attributes = answer->attributes;
        file->checked = nt_milliseconds();
        set_ready(file);
    }
    free(operation);
}

/* The latest deadline of the waiting attempts. */
static uint64_t deadline_of(const struct nt_xrootd_file *file)
{
    uint64_t deadline = 0;
    for (const struct nt_xrd_attempt *attempt = file->waiting; attempt; attempt = attempt->next)
        if (attempt->deadline > deadline)
            deadline = attempt->deadline;
    return deadline;
}

bool nt_xrootd_file_open(struct nt_xrootd_file *file, struct nt_xrd_queue *queue)
{
    struct nt_xrd_operation *operation = malloc(sizeof(*operation));
    struct nt_xrd_session *session = operation ? nt_xrd_session_new(queue, file) : NULL;
    uint64_t now = nt_milliseconds(), deadline = deadline_of(file);
    if (!session) {
        free(operation);
        return false;
    }
    *operation = (struct nt_xrd_operation){.end = end_open};
    file->session = session;
    file->remote.backend->jobs->totals.requests++;
    nt_xrd_session_open(session, operation, file->url, deadline > now ? deadline - now : 1);
    return true;
}

/* ---- Vector reads ---- */

enum { MAX_TOGETHER = 256 * 1024, MAX_OF_ALL = 2 << 20, CHECK_MILLISECONDS = 1000 };

struct nt_xrd_read {
    struct nt_xrd_operation operation;
    unsigned count, capacity;
    struct nt_xrd_range *ranges;
    struct nt_xrd_attempt **attempts; /* of each range; NULL: cancelled */
    char *bytes;
    uint64_t asked;   /* time of the request, in milliseconds */
    unsigned holders; /* attempts, and functions that use it */
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

/* ---- Completion ---- */

/* Delivers all ranges, as far as `take` accepts them now. */
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
    job->result = (struct nt_result){NT_OUTCOME_OK, NT_FETCH_UNREACHABLE, .got = job->bytes};
    nt_xrootd_read_leave(attempt);
    nt_transfers_end_try(job->remote->backend->jobs, job);
}

static struct nt_xrd_attempt *any_attempt(const struct nt_xrd_read *read)
{
    for (unsigned i = 0; i < read->count; i++)
        if (read->attempts[i])
            return read->attempts[i];
    return NULL;
}

/* The result for the file, and for its waiting attempts. */
static struct nt_result judge(const struct nt_xrd_read *read, struct nt_xrootd_file *file)
{
    const struct nt_xrd_answer *answer = &read->operation.answer;
    if (answer->has_attributes && !nt_xrootd_file_is_same(file, &answer->attributes))
        return nt_xrootd_changed;
    if (answer->has_attributes)
        file->checked = read->asked;
    if (answer->result.outcome != NT_OUTCOME_OK)
        file->checked = 0; /* the file may have changed */
    return answer->result;
}

static void fail_all(struct nt_xrd_read *read, const struct nt_result *result)
{
    struct nt_xrd_attempt *attempt;
    while ((attempt = any_attempt(read))) {
        struct nt_transfer *job = attempt->job;
        job->result = *result;
        nt_xrootd_read_leave(attempt);
        nt_transfers_end_try(job->remote->backend->jobs, job);
    }
}

/* One attempt's end may end others. */
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
        nt_xrootd_file_invalidate(owner);
    if (any) {
        struct nt_result result = judge(read, (struct nt_xrootd_file *)any->job->remote);
        if (result.outcome == NT_OUTCOME_OK)
            deliver_all(read);
        else
            fail_all(read, &result);
    }
    let_go(read);
}

/* ---- Sending ---- */

/* The ranges of an attempt: both ends for an opening, else one part. */
static unsigned ranges_of(const struct nt_xrootd_file *file, const struct nt_xrd_attempt *attempt,
                          struct nt_xrd_range ranges[2])
{
    const struct nt_transfer *job = attempt->job;
    uint64_t size = file->attributes.size;
    if (!attempt->is_opening) {
        ranges[0] = (struct nt_xrd_range){job->first, (uint32_t)job->bytes, NULL};
        return 1;
    }
    uint32_t head = (uint32_t)(size < NT_FETCH_END_BYTES ? size : NT_FETCH_END_BYTES);
    uint32_t tail = (uint32_t)(size - head < NT_FETCH_END_BYTES ? size - head : NT_FETCH_END_BYTES);
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

/* Takes the first waiting attempt, and later ones that fit in the same read. NULL: out of memory. */
static struct nt_xrd_read *collect(struct nt_xrootd_file *file, uint64_t *deadline_ret)
{
    struct nt_xrd_read *read = calloc(1, sizeof(*read));
    bool is_prefetch = file->waiting->job->is_prefetch;
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
        bool is_concatenated = bytes <= MAX_TOGETHER && sum + bytes <= MAX_OF_ALL &&
                               attempt->job->is_prefetch == is_prefetch &&
                               read->count + count <= NT_XRD_MAX_RANGES;
        if (sum > 0 && !is_concatenated)
            continue;
        if (!add(read, attempt, ranges, count))
            break;
        sum += bytes;
        if (attempt->deadline > *deadline_ret)
            *deadline_ret = attempt->deadline;
        if (bytes > MAX_TOGETHER)
            break;
    }
    read->bytes = malloc(sum ? sum : 1);
    return read;
}

/* Assigns consecutive buffers. */
static void assign_buffers(struct nt_xrd_read *read)
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
    assign_buffers(read);
    read->operation.end = end_read;
    read->asked = now;
    file->remote.backend->jobs->totals.requests++;
    nt_xrd_session_read(file->session, &read->operation, read->ranges, read->count,
                        now >= file->checked + CHECK_MILLISECONDS, deadline > now ? deadline - now : 1);
    return true;
}

void nt_xrootd_read_all(struct nt_xrootd_file *file)
{
    static const struct nt_result empty = {.outcome = NT_OUTCOME_OK};
    bool has_bytes = file->attributes.size > 0;
    while (has_bytes && file->waiting && read_some(file))
        ;
    if (file->waiting)
        nt_xrootd_file_fail(file, has_bytes ? &nt_result_no_memory : &empty);
}
