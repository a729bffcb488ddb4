/* SPDX-License-Identifier: MIT
 *
 * XRootD backend: loads the client module, opens files with their head and tail, reads vectors, reopens
 * files with a version check, and lists directories.
 */
#include "remote/helper/helper.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <unistd.h>

#include "core/base/thread.h"

static const struct nt_result xrootd_changed = {NT_OUTCOME_FAILED, NT_FETCH_CHANGED,
                                                .message = NT_ANOTHER_VERSION};

/* ---- Waiting jobs ---- */

/* A job waits until its file is open, and until a read or a list is for it, which is its `share`. The first
 * one of a file, or the next one after `job`. NULL: none. */
static struct nt_transfer *waiting(const struct nt_transfers *jobs, const struct nt_remote_handle *handle,
                                   const struct nt_transfer *job)
{
    struct nt_transfer *next = job ? TAILQ_NEXT(job, all) : TAILQ_FIRST(&jobs->all);
    while (next && (next->remote != handle || !next->is_active || next->share))
        next = TAILQ_NEXT(next, all);
    return next;
}

static struct nt_transfer *first_waiting(const struct nt_xrootd_file *file)
{
    return waiting(file->handle.backend->jobs, &file->handle, NULL);
}

static void set_ready(struct nt_xrootd_file *file)
{
    if (file->is_ready)
        return;
    LIST_INSERT_HEAD(&((struct nt_xrootd *)file->handle.backend)->ready, file, ready);
    file->is_ready = true;
}

/* Removes the file from the backend's `ready` list. */
static void file_dequeue(struct nt_xrootd_file *file)
{
    if (file->is_ready)
        LIST_REMOVE(file, ready);
    file->is_ready = false;
}

static void end_try(struct nt_transfer *job, const struct nt_result *result)
{
    job->result = *result;
    nt_transfer_end_try(job);
}

/* One job's end may end others, and close the file. */
static void xrootd_file_fail(struct nt_xrootd_file *file, const struct nt_result *result)
{
    const struct nt_transfers *jobs = file->handle.backend->jobs;
    struct nt_transfer *job;
    while ((job = waiting(jobs, &file->handle, NULL)))
        end_try(job, result);
}

/* ---- Opening ---- */

/* The validator of a file. It omits the server's file id: another process may reach another server,
 * where the same file has another id. */
static void validator_of(char validator[NT_FETCH_VALIDATOR_BYTES], int64_t modified)
{
    snprintf(validator, NT_FETCH_VALIDATOR_BYTES, "%" PRId64, modified);
}

/* Forces the file to be opened again before its next request. */
static void file_invalidate(struct nt_xrootd_file *file)
{
    struct nt_xrd_session *session = file->session;
    file->session = NULL;
    file->is_open = false;
    if (session)
        nt_xrd_session_leave(session);
}

/* Is this the version that was first opened? On another server it may be a replica with another id. */
static bool xrootd_file_is_same(const struct nt_xrootd_file *file, const struct nt_xrd_attributes *found)
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
    else if (!problem && file && file->is_known && !xrootd_file_is_same(file, &answer->attributes))
        problem = &xrootd_changed;
    if (file && problem) {
        file_invalidate(file);
        xrootd_file_fail(file, problem);
    } else if (file) {
        file->is_open = file->is_known = true;
        file->attributes = answer->attributes;
        file->checked = nt_milliseconds();
        set_ready(file);
    }
    free(operation);
}

/* The latest deadline of the waiting jobs. */
static uint64_t deadline_of(const struct nt_xrootd_file *file)
{
    uint64_t deadline = 0;
    for (const struct nt_transfer *job = first_waiting(file); job;
         job = waiting(file->handle.backend->jobs, &file->handle, job))
        if (job->deadline > deadline)
            deadline = job->deadline;
    return deadline;
}

/* Starts to open the file for its waiting jobs. False if out of memory. */
static bool xrootd_file_open(struct nt_xrootd_file *file, struct nt_xrd_queue *queue)
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
    file->handle.backend->jobs->totals.requests++;
    nt_xrd_session_open(session, operation, file->url, deadline > now ? deadline - now : 1);
    return true;
}

/* ---- Vector reads ---- */

enum { MAX_TOGETHER = 256 * 1024, MAX_OF_ALL = 2 << 20, CHECK_MILLISECONDS = 1000 };

/* Both ends of a file, one after the other. */
struct nt_xrd_ends {
    struct nt_transfer job;
    size_t got[2];
    char bytes[2][NT_FETCH_END_BYTES];
};

struct nt_xrd_read {
    struct nt_xrd_operation operation;
    unsigned count;
    struct nt_xrd_range ranges[NT_XRD_MAX_RANGES];
    struct nt_transfer *jobs[NT_XRD_MAX_RANGES]; /* of each range; NULL: cancelled */
    char *bytes;
    uint64_t asked;   /* time of the request, in milliseconds */
    unsigned holders; /* jobs, and functions that use it */
};

static void let_go(struct nt_xrd_read *read)
{
    if (--read->holders > 0)
        return;
    free(read->bytes);
    free(read);
}

/* Cancels the job's share of its read. */
static void xrootd_read_leave(struct nt_transfer *job)
{
    struct nt_xrd_read *read = job->share;
    if (!read)
        return;
    job->share = NULL;
    for (unsigned i = 0; i < read->count; i++)
        if (read->jobs[i] == job)
            read->jobs[i] = NULL;
    let_go(read);
}

/* ---- Completion ---- */

/* Delivers all ranges, as far as `take` accepts them now. */
static void xrootd_read_deliver(struct nt_transfer *job)
{
    struct nt_xrd_read *read = job->share;
    for (unsigned i = 0; i < read->count; i++) {
        const struct nt_xrd_range *range = &read->ranges[i];
        if (read->jobs[i] != job)
            continue;
        if (!job->take(job, range->offset, range->buffer, range->bytes))
            return;
        read->jobs[i] = NULL;
    }
    end_try(job, &(struct nt_result){.outcome = NT_OUTCOME_OK, .got = job->bytes});
}

static struct nt_transfer *any_job(const struct nt_xrd_read *read)
{
    for (unsigned i = 0; i < read->count; i++)
        if (read->jobs[i])
            return read->jobs[i];
    return NULL;
}

/* The result for the file, and for its waiting jobs. */
static struct nt_result judge(const struct nt_xrd_read *read, struct nt_xrootd_file *file)
{
    const struct nt_xrd_answer *answer = &read->operation.answer;
    if (answer->has_attributes && !xrootd_file_is_same(file, &answer->attributes))
        return xrootd_changed;
    if (answer->has_attributes)
        file->checked = read->asked;
    if (answer->result.outcome != NT_OUTCOME_OK)
        file->checked = 0; /* the file may have changed */
    return answer->result;
}

/* One job's end may end others. */
static void deliver_all(struct nt_xrd_read *read)
{
    for (unsigned i = 0; i < read->count; i++)
        if (read->jobs[i] && !read->jobs[i]->is_paused)
            xrootd_read_deliver(read->jobs[i]);
}

static void end_read(struct nt_xrd_operation *operation)
{
    struct nt_xrd_read *read = (struct nt_xrd_read *)operation;
    struct nt_transfer *any = any_job(read);
    struct nt_xrootd_file *owner = operation->session->owner;
    if (owner && operation->answer.is_lost)
        file_invalidate(owner);
    if (any) {
        struct nt_result result = judge(read, (struct nt_xrootd_file *)any->remote);
        if (result.outcome == NT_OUTCOME_OK)
            deliver_all(read);
        else
            for (; any; any = any_job(read))
                end_try(any, &result);
    }
    let_go(read);
}

/* ---- Sending ---- */

/* The ranges of a job: both ends for an opening, else one part. */
static unsigned ranges_of(const struct nt_xrootd_file *file, const struct nt_transfer *job,
                          struct nt_xrd_range ranges[2])
{
    uint64_t size = file->attributes.size;
    if (!file->ends || job != &file->ends->job) {
        ranges[0] = (struct nt_xrd_range){job->first, (uint32_t)job->bytes, NULL};
        return 1;
    }
    uint32_t head = (uint32_t)(size < NT_FETCH_END_BYTES ? size : NT_FETCH_END_BYTES);
    uint32_t tail = (uint32_t)(size - head < NT_FETCH_END_BYTES ? size - head : NT_FETCH_END_BYTES);
    ranges[0] = (struct nt_xrd_range){0, head, NULL};
    ranges[1] = (struct nt_xrd_range){size - tail, tail, NULL};
    return (head > 0) + (tail > 0);
}

static void add(struct nt_xrd_read *read, struct nt_transfer *job, const struct nt_xrd_range *ranges,
                unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        read->ranges[read->count] = ranges[i];
        read->jobs[read->count++] = job;
    }
    job->share = read;
    read->holders++;
}

/* Takes the first waiting job, prefetches last, and later ones that fit in the same read. NULL: out of
 * memory. */
static struct nt_xrd_read *collect(struct nt_xrootd_file *file, uint64_t *deadline_ret)
{
    struct nt_xrd_read *read = calloc(1, sizeof(*read));
    const struct nt_transfers *jobs = file->handle.backend->jobs;
    bool is_prefetch = true;
    uint64_t sum = 0;
    if (!read)
        return NULL;
    read->holders = 1;
    *deadline_ret = 0;
    for (const struct nt_transfer *job = first_waiting(file); job; job = waiting(jobs, &file->handle, job))
        is_prefetch &= job->is_prefetch;
    for (struct nt_transfer *job = first_waiting(file); job; job = waiting(jobs, &file->handle, job)) {
        struct nt_xrd_range ranges[2];
        unsigned count = ranges_of(file, job, ranges);
        uint64_t bytes = 0;
        for (unsigned i = 0; i < count; i++)
            bytes += ranges[i].bytes;
        bool is_concatenated =
            bytes <= MAX_TOGETHER && sum + bytes <= MAX_OF_ALL && read->count + count <= NT_XRD_MAX_RANGES;
        if (job->is_prefetch != is_prefetch || (sum > 0 && !is_concatenated))
            continue;
        add(read, job, ranges, count);
        sum += bytes;
        if (job->deadline > *deadline_ret)
            *deadline_ret = job->deadline;
        if (bytes > MAX_TOGETHER)
            break;
    }
    char *at = read->bytes = malloc(sum);
    for (unsigned i = 0; at && i < read->count; i++) {
        read->ranges[i].buffer = at;
        at += read->ranges[i].bytes;
    }
    if (at)
        return read;
    for (struct nt_transfer *job; (job = any_job(read));)
        xrootd_read_leave(job);
    let_go(read);
    return NULL;
}

/* False if out of memory; then its jobs wait as before. */
static bool read_some(struct nt_xrootd_file *file)
{
    uint64_t deadline, now = nt_milliseconds();
    struct nt_xrd_read *read = collect(file, &deadline);
    if (!read)
        return false;
    read->operation.end = end_read;
    read->asked = now;
    file->handle.backend->jobs->totals.requests++;
    nt_xrd_session_read(file->session, &read->operation, read->ranges, read->count,
                        now >= file->checked + CHECK_MILLISECONDS, deadline > now ? deadline - now : 1);
    return true;
}

/* Reads what all waiting jobs of the file need. */
static void xrootd_read_all(struct nt_xrootd_file *file)
{
    static const struct nt_result empty = {.outcome = NT_OUTCOME_OK};
    bool has_bytes = file->attributes.size > 0;
    while (has_bytes && first_waiting(file) && read_some(file))
        ;
    if (first_waiting(file))
        xrootd_file_fail(file, has_bytes ? &nt_result_no_memory : &empty);
}

/* ---- Open files ---- */

/* The head is at offset 0. Its request and its bytes come first. */
static bool take_end(struct nt_transfer *job, uint64_t offset, const char *bytes, size_t count)
{
    struct nt_xrd_ends *ends = (struct nt_xrd_ends *)job;
    unsigned which = offset > 0;
    memcpy(ends->bytes[which], bytes, count);
    ends->got[which] = count;
    return true;
}

/* With one slash the path is a relative one, which most servers do not export. */
static bool has_one_slash(const char *url)
{
    const char *path = strstr(url, "://");
    path = path ? strchr(path + strlen("://"), '/') : NULL;
    return path && path[1] != '/';
}

static void fail_opening(struct nt_xrootd_file *file, const struct nt_result *result)
{
    char message[sizeof(result->message) + 64];
    bool is_of_path = result->failure == NT_FETCH_FORBIDDEN || result->failure == NT_FETCH_NOT_FOUND;
    snprintf(message, sizeof(message), "%s%s", result->message,
             is_of_path && has_one_slash(file->url) ? "; a path begins with two slashes: root://HOST//PATH"
                                                    : "");
    nt_handle_fail(&file->handle, result->failure, message);
}

static void end_opening(struct nt_transfer *job)
{
    struct nt_xrd_ends *ends = (struct nt_xrd_ends *)job;
    struct nt_xrootd_file *file = (struct nt_xrootd_file *)job->remote;
    char validator[NT_FETCH_VALIDATOR_BYTES];
    file->ends = NULL;
    validator_of(validator, file->attributes.modified);
    struct nt_open_result opened = {.size = file->attributes.size,
                                    .modified = file->attributes.modified,
                                    .validator = validator,
                                    .head = ends->bytes[0],
                                    .head_bytes = ends->got[0],
                                    .tail = ends->bytes[1],
                                    .tail_bytes = ends->got[1],
                                    .round_trips =
                                        ends->got[0] ? 2 : 1}; /* one for the attributes, one for the ends */
    snprintf(opened.server, sizeof(opened.server), "%.*s://%s", (int)strcspn(file->url, ":"), file->url,
             file->attributes.server);
    if (job->result.outcome == NT_OUTCOME_OK)
        nt_file_opened(&file->handle, &opened);
    else
        fail_opening(file, &job->result);
    free(ends);
}

/* The module is loaded on demand: its libraries take longer to load than all others. */
static void load_client(struct nt_xrootd *xrootd)
{
    void *module = xrootd->queue.client ? NULL : dlopen(xrootd->module, RTLD_NOW | RTLD_LOCAL);
    if (module)
        xrootd->queue.client = dlsym(module, NT_XRD_CLIENT_SYMBOL);
}

/* Begins to use an address; the client judges all of it but the server. */
static bool begin_handle(struct nt_remote_handle *handle, const char *address, const char **problem_ret)
{
    struct nt_xrootd_file *file = (struct nt_xrootd_file *)handle;
    if (nt_is_metadata_url(address)) {
        *problem_ret = NT_NEVER_CONTACTED;
        return false;
    }
    load_client((struct nt_xrootd *)handle->backend);
    file->url = strdup(address);
    return file->url;
}

static bool open_file(struct nt_remote_handle *handle, const char *address, const char **problem_ret)
{
    struct nt_xrootd_file *file = (struct nt_xrootd_file *)handle;
    struct nt_xrd_ends *ends = begin_handle(handle, address, problem_ret) ? calloc(1, sizeof(*ends)) : NULL;
    if (!ends)
        return false;
    file->ends = ends;
    ends->job = (struct nt_transfer){.remote = handle,
                                     .bytes = sizeof(ends->bytes),
                                     .milliseconds = handle->milliseconds,
                                     .max_tries = NT_TRIES_OF_UNKNOWN,
                                     .take = take_end,
                                     .end = end_opening};
    nt_transfer_add(&ends->job);
    return true;
}

/* The first read opens the file and compares it with the listing. */
static bool open_listed(struct nt_remote_handle *handle, const char *address, const char *validator,
                        const char **problem_ret)
{
    struct nt_xrootd_file *file = (struct nt_xrootd_file *)handle;
    file->is_known = true;
    file->attributes =
        (struct nt_xrd_attributes){.size = handle->size, .modified = strtoll(validator, NULL, 10)};
    return begin_handle(handle, address, problem_ret);
}

/* ---- Listings ---- */

/* A request to the client, the share of its job; may outlive it. */
struct xrootd_request {
    struct nt_xrd_operation operation;
    struct nt_transfer *job; /* NULL: it is gone */
    struct nt_xrd_list *list;
};

/* ---- Answers ---- */

/* False if there are too many entries. */
static bool add_all(struct nt_remote_handle *listing, const struct nt_xrd_client *client,
                    const struct nt_xrd_list *list)
{
    struct nt_xrd_entry entry;
    for (unsigned i = 0; client->entry(list, i, &entry); i++) {
        char validator[NT_FETCH_VALIDATOR_BYTES] = "";
        struct nt_listed listed = {entry.name, entry.is_folder, entry.size, NT_FETCH_NO_TIME, validator};
        if (entry.has_attributes) {
            listed.modified = entry.modified;
            validator_of(validator, entry.modified);
        }
        if (!nt_listing_add(listing, &listed))
            return false;
    }
    return true;
}

static void end_question(struct nt_xrd_operation *operation)
{
    static const struct nt_result too_many = {NT_OUTCOME_FAILED, NT_FETCH_UNSUPPORTED,
                                              .message = NT_LISTING_TOO_LONG};
    struct xrootd_request *question = (struct xrootd_request *)operation;
    const struct nt_xrd_client *client = operation->queue->client;
    struct nt_transfer *job = question->job;
    if (job) {
        job->share = NULL;
        const struct nt_result *result = &operation->answer.result;
        if (result->outcome == NT_OUTCOME_OK && !add_all(job->remote, client, question->list))
            result = &too_many;
        end_try(job, result);
    }
    client->free_list(question->list);
    free(question);
}

static void end_job(struct nt_transfer *job)
{
    if (job->result.outcome == NT_OUTCOME_OK)
        nt_listing_done(job->remote);
    else
        nt_handle_fail(job->remote, job->result.failure, job->result.message);
}

/* ---- Requests ---- */

/* Requests the list for the directory's waiting job. */
static void xrootd_list_ask(struct nt_xrootd_file *folder, struct nt_xrd_queue *queue)
{
    struct nt_transfer *job = folder->listing;
    uint64_t now = nt_milliseconds(), milliseconds = job->deadline > now ? job->deadline - now : 1;
    struct xrootd_request *question = calloc(1, sizeof(*question));
    if (question) {
        *question = (struct xrootd_request){.operation = {.end = end_question}, .job = job};
        question->list = nt_xrd_queue_list(queue, &question->operation, folder->url, milliseconds);
    }
    if (!question || !question->list) {
        free(question);
        end_try(job, &nt_result_no_memory);
        return;
    }
    folder->handle.backend->jobs->totals.requests++;
    job->share = question;
}

static bool list(struct nt_remote_handle *listing, const char *address, const char **problem_ret)
{
    struct nt_xrootd_file *folder = (struct nt_xrootd_file *)listing;
    struct nt_transfer *job = begin_handle(listing, address, problem_ret) ? calloc(1, sizeof(*job)) : NULL;
    if (!job)
        return false;
    folder->listing = job;
    *job = (struct nt_transfer){.remote = listing,
                                .milliseconds = listing->milliseconds,
                                .max_tries = NT_TRIES_OF_UNKNOWN,
                                .end = end_job};
    nt_transfer_add(job);
    return true;
}

static void close_handle(struct nt_remote_handle *handle)
{
    struct nt_xrootd_file *file = (struct nt_xrootd_file *)handle;
    if (file->ends)
        nt_transfer_remove(&file->ends->job);
    if (file->listing)
        nt_transfer_remove(file->listing);
    file_invalidate(file);
    file_dequeue(file);
    free(file->ends);
    free(file->listing);
    free(file->url);
}

/* ---- Backend ---- */

enum { AT_ONCE = 128 };
#define MAX_BYTES (UINT64_C(16) << 20) /* of all tries: the client buffers whole tries */

static bool takes(const char *address)
{
    size_t length;
    return nt_scheme_of(address, &length)->service == NT_SERVICE_XROOTD;
}

void nt_xrootd_find_module(char path[NT_MODULE_PATH_BYTES])
{
    char program[NT_MODULE_PATH_BYTES - 32];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[length > 0 ? length : 0] = '\0';
    snprintf(path, NT_MODULE_PATH_BYTES, "%s-xrootd.so", program);
}

static bool start(struct nt_transfer *job, uint64_t milliseconds)
{
    set_ready((struct nt_xrootd_file *)job->remote);
    return true;
}

static void stop(struct nt_transfer *job)
{
    struct xrootd_request *question = job->share;
    if (!((struct nt_xrootd_file *)job->remote)->listing) {
        xrootd_read_leave(job);
    } else if (question) {
        question->job = NULL;
        job->share = NULL;
    }
}

/* ---- Operations ---- */

static void serve(struct nt_xrootd *xrootd, struct nt_xrootd_file *file)
{
    static const struct nt_result no_client = {
        NT_OUTCOME_FAILED, NT_FETCH_UNSUPPORTED,
        .message = "root:// needs XRootD's client: ntuplefs was built without it (-Dxrootd=enabled), or its "
                   "module is not installed"};
    if (!first_waiting(file))
        return;
    if (file->listing || (!file->is_open && !file->session))
        nt_credentials_refresh(); /* the client reads credentials when it connects */
    if (!xrootd->queue.client)
        xrootd_file_fail(file, &no_client);
    else if (file->listing)
        xrootd_list_ask(file, &xrootd->queue);
    else if (file->is_open)
        xrootd_read_all(file);
    else if (!file->session && !xrootd_file_open(file, &xrootd->queue))
        xrootd_file_fail(file, &nt_result_no_memory);
}

static void work(struct nt_backend *backend)
{
    struct nt_xrootd *xrootd = (struct nt_xrootd *)backend;
    struct nt_xrootd_file *file;
    nt_xrd_queue_work(&xrootd->queue);
    while ((file = LIST_FIRST(&xrootd->ready))) {
        file_dequeue(file);
        serve(xrootd, file);
    }
}

static const struct nt_backend_ops ops = {.at_once = AT_ONCE,
                                          .max_bytes = MAX_BYTES,
                                          .handle_bytes = sizeof(struct nt_xrootd_file),
                                          .takes = takes,
                                          .open = open_file,
                                          .open_listed = open_listed,
                                          .list = list,
                                          .close = close_handle,
                                          .start = start,
                                          .stop = stop,
                                          .resume = xrootd_read_deliver,
                                          .work = work};

bool nt_xrootd_init(struct nt_xrootd *xrootd, struct nt_transfers *jobs, const char *module)
{
    *xrootd = (struct nt_xrootd){.module = module};
    if (!nt_xrd_queue_init(&xrootd->queue))
        return false;
    nt_transfers_add_backend(jobs, &xrootd->backend, &ops);
    return true;
}
