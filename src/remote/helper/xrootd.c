/* SPDX-License-Identifier: MIT
 *
 * XRootD backend: loads the client module, opens files with their head and tail, and lists directories.
 */
#include "remote/helper/helper.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/thread.h"
#include "core/base/scheme.h"
#include "remote/helper/result.h"
#include "remote/helper/xrd_client.h"
#include "remote/protocol.h"

/* ---- Open files ---- */

/* Both ends of a file, one after the other. */
struct nt_xrd_ends {
    struct nt_transfer job;
    struct nt_remote_handle *fetched;
    size_t got[2];
    char bytes[2][NT_FETCH_END_BYTES];
};

/* Is the job an opening, which needs both ends? */
static bool nt_xrootd_is_opening(const struct nt_transfer *job)
{
    const struct nt_xrootd_file *file = (struct nt_xrootd_file *)job->remote;
    return file->ends && job == &file->ends->job;
}

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

static void fail_opening(struct nt_remote_handle *fetched, const struct nt_xrootd_file *file,
                         const struct nt_result *result)
{
    char message[sizeof(result->message) + 64];
    bool is_of_path = result->failure == NT_FETCH_FORBIDDEN || result->failure == NT_FETCH_NOT_FOUND;
    snprintf(message, sizeof(message), "%s%s", result->message,
             is_of_path && has_one_slash(file->url) ? "; a path begins with two slashes: root://HOST//PATH"
                                                    : "");
    nt_file_not_opened(fetched, result->failure, message);
}

static void end_opening(struct nt_transfer *job)
{
    struct nt_xrd_ends *ends = (struct nt_xrd_ends *)job;
    struct nt_xrootd_file *file = (struct nt_xrootd_file *)job->remote;
    char validator[NT_FETCH_VALIDATOR_BYTES];
    file->ends = NULL;
    nt_xrootd_validator(validator, file->attributes.modified);
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
        nt_file_opened(ends->fetched, &opened);
    else
        fail_opening(ends->fetched, file, &job->result);
    free(ends);
}

/* The module is loaded on demand: its libraries take longer to load than all others. */
static void load_client(struct nt_backend *backend)
{
    struct nt_xrootd *xrootd = (struct nt_xrootd *)backend;
    void *module = xrootd->queue.client ? NULL : dlopen(xrootd->module, RTLD_NOW | RTLD_LOCAL);
    if (module)
        xrootd->queue.client = dlsym(module, NT_XRD_CLIENT_SYMBOL);
}

static struct nt_xrootd_file *add_file(struct nt_backend *backend, struct nt_remote_handle *fetched,
                                       const char *address)
{
    load_client(backend);
    struct nt_xrootd_file *file = calloc(1, sizeof(*file));
    char *url = strdup(address);
    if (!file || !url) {
        free(file);
        free(url);
        return NULL;
    }
    *file = (struct nt_xrootd_file){.remote = {backend}, .url = url};
    fetched->remote = &file->remote;
    return file;
}

/* Operations of nt_backend. The client judges an address, so that none of them reports a problem. */
static bool open_file(struct nt_backend *backend, struct nt_remote_handle *fetched, const char *address,
                      const char **problem_ret)
{
    struct nt_xrd_ends *ends = calloc(1, sizeof(*ends));
    struct nt_xrootd_file *file = ends ? add_file(backend, fetched, address) : NULL;
    if (!file) {
        free(ends);
        return false;
    }
    file->ends = ends;
    ends->fetched = fetched;
    ends->job = (struct nt_transfer){.remote = &file->remote,
                                     .bytes = sizeof(ends->bytes),
                                     .milliseconds = fetched->milliseconds,
                                     .max_tries = NT_TRIES_OF_UNKNOWN,
                                     .take = take_end,
                                     .end = end_opening};
    nt_transfers_add(backend->jobs, &ends->job);
    return true;
}

/* The first read opens the file and compares it with the listing. */
static bool open_listed(struct nt_backend *backend, struct nt_remote_handle *fetched, const char *address,
                        const char *validator, const char **problem_ret)
{
    struct nt_xrootd_file *file = add_file(backend, fetched, address);
    if (!file)
        return false;
    file->is_known = true;
    file->attributes =
        (struct nt_xrd_attributes){.size = fetched->size, .modified = strtoll(validator, NULL, 10)};
    return true;
}

static void close_file(struct nt_remote_handle *fetched)
{
    struct nt_xrootd_file *file = (struct nt_xrootd_file *)fetched->remote;
    if (file->ends)
        nt_transfers_remove(file->remote.backend->jobs, &file->ends->job);
    free(file->ends);
    nt_xrootd_file_invalidate(file);
    nt_xrootd_file_dequeue(file);
    free(file->url);
    free(file);
}

/* ---- Listings ---- */

/* A folder uses a job like a file, which is tried until there is an answer. */
struct nt_xrd_walk {
    struct nt_transfer job;
    struct nt_xrootd_file folder;
    struct nt_listing *listing;
    struct question *question; /* NULL: none active */
    bool has_ended;            /* the job has ended */
};

/* A request to the client; may outlive its walk. */
struct question {
    struct nt_xrd_operation operation;
    struct nt_xrd_walk *walk; /* NULL: the walk is gone */
    struct nt_xrd_list *list;
};

/* ---- Answers ---- */

/* False if there are too many entries. */
static bool add_all(struct nt_listing *listing, const struct nt_xrd_client *client,
                    const struct nt_xrd_list *list)
{
    struct nt_xrd_entry entry;
    for (unsigned i = 0; client->entry(list, i, &entry); i++) {
        char validator[NT_FETCH_VALIDATOR_BYTES] = "";
        struct nt_listed listed = {entry.name, entry.is_folder, entry.size, NT_FETCH_NO_TIME, validator};
        if (entry.has_attributes)
            listed.modified = entry.modified;
        if (entry.has_attributes && !entry.is_folder)
            nt_xrootd_validator(validator, entry.modified);
        if (!nt_listing_add(listing, &listed))
            return false;
    }
    return true;
}

static void end_question(struct nt_xrd_operation *operation)
{
    static const struct nt_result too_many = {NT_OUTCOME_FAILED, NT_FETCH_UNSUPPORTED,
                                              .message = NT_LISTING_TOO_LONG};
    struct question *question = (struct question *)operation;
    const struct nt_xrd_client *client = operation->queue->client;
    struct nt_xrd_walk *walk = question->walk;
    if (walk) {
        walk->question = NULL;
        walk->job.result = operation->answer.result;
        if (walk->job.result.outcome == NT_OUTCOME_OK && !add_all(walk->listing, client, question->list))
            walk->job.result = too_many;
        nt_transfers_end_try(walk->folder.remote.backend->jobs, &walk->job);
    }
    client->free_list(question->list);
    free(question);
}

static void end_job(struct nt_transfer *job)
{
    struct nt_xrd_walk *walk = (struct nt_xrd_walk *)job;
    struct nt_listing *listing = walk->listing;
    const struct nt_result result = job->result;
    walk->has_ended = true;
    if (result.outcome == NT_OUTCOME_OK)
        nt_listing_done(listing);
    else
        nt_listing_fail(listing, result.failure, result.message);
}

/* ---- Requests ---- */

/* Requests the list for the folder's waiting job. */
static void nt_xrootd_list_ask(struct nt_xrootd_file *folder, struct nt_xrd_queue *queue)
{
    struct nt_xrd_attempt *attempt = folder->waiting;
    struct nt_xrd_walk *walk = folder->walk;
    uint64_t now = nt_milliseconds(), milliseconds = attempt->deadline > now ? attempt->deadline - now : 1;
    struct question *question = calloc(1, sizeof(*question));
    if (question) {
        *question = (struct question){.operation = {.end = end_question}, .walk = walk};
        question->list = nt_xrd_queue_list(queue, &question->operation, folder->url, milliseconds);
    }
    if (!question || !question->list) {
        free(question);
        nt_xrootd_file_fail(folder, &nt_result_no_memory);
        return;
    }
    folder->remote.backend->jobs->totals.requests++;
    nt_xrd_attempt_leave(attempt);
    walk->question = question;
}

/* The job no longer waits. */
static void nt_xrootd_list_leave(struct nt_xrootd_file *folder)
{
    struct nt_xrd_walk *walk = folder->walk;
    if (walk->question)
        walk->question->walk = NULL;
    walk->question = NULL;
}

static bool list(struct nt_listing *listing, const char *address, const char **problem_ret)
{
    load_client(listing->backend);
    struct nt_xrd_walk *walk = calloc(1, sizeof(*walk));
    char *url = strdup(address);
    if (!walk || !url) {
        free(walk);
        free(url);
        return false;
    }
    walk->listing = listing;
    walk->folder = (struct nt_xrootd_file){.remote = {listing->backend}, .url = url, .walk = walk};
    walk->job = (struct nt_transfer){.remote = &walk->folder.remote,
                                     .milliseconds = listing->milliseconds,
                                     .max_tries = NT_TRIES_OF_UNKNOWN,
                                     .end = end_job};
    listing->walk = walk;
    nt_transfers_add(listing->backend->jobs, &walk->job);
    return true;
}

static void end_list(struct nt_listing *listing)
{
    struct nt_xrd_walk *walk = listing->walk;
    if (!walk->has_ended)
        nt_transfers_remove(listing->backend->jobs, &walk->job);
    nt_xrootd_file_dequeue(&walk->folder);
    free(walk->folder.url);
    free(walk);
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
    struct nt_xrd_attempt *attempt = job->attempt ? job->attempt : malloc(sizeof(*attempt));
    job->attempt = attempt;
    if (!attempt)
        return false;
    *attempt = (struct nt_xrd_attempt){
        .job = job, .deadline = nt_milliseconds() + milliseconds, .is_opening = nt_xrootd_is_opening(job)};
    nt_xrootd_file_await((struct nt_xrootd_file *)job->remote, attempt);
    return true;
}

static void stop(struct nt_transfer *job)
{
    if (!job->attempt)
        return;
    struct nt_xrootd_file *file = (struct nt_xrootd_file *)job->remote;
    nt_xrd_attempt_leave(job->attempt);
    nt_xrootd_read_leave(job->attempt);
    if (file->walk)
        nt_xrootd_list_leave(file);
}

static void resume(struct nt_transfer *job)
{
    nt_xrootd_read_deliver(job->attempt);
}

/* ---- Operations ---- */

static void serve(struct nt_xrootd *xrootd, struct nt_xrootd_file *file)
{
    static const struct nt_result no_client = {
        NT_OUTCOME_FAILED, NT_FETCH_UNSUPPORTED,
        .message = "root:// needs XRootD's client: ntuplefs was built without it (-Dxrootd=enabled), or its "
                   "module is not installed"};
    if (!file->waiting)
        return;
    if (file->walk || (!file->is_open && !file->session))
        nt_credentials_refresh(); /* the client reads credentials when it connects */
    if (!xrootd->queue.client)
        nt_xrootd_file_fail(file, &no_client);
    else if (file->walk)
        nt_xrootd_list_ask(file, &xrootd->queue);
    else if (file->is_open)
        nt_xrootd_read_all(file);
    else if (!file->session && !nt_xrootd_file_open(file, &xrootd->queue))
        nt_xrootd_file_fail(file, &nt_result_no_memory);
}

static void work(struct nt_backend *backend)
{
    struct nt_xrootd *xrootd = (struct nt_xrootd *)backend;
    struct nt_xrootd_file *file;
    nt_xrd_queue_work(&xrootd->queue);
    while ((file = LIST_FIRST(&xrootd->ready))) {
        nt_xrootd_file_dequeue(file);
        serve(xrootd, file);
    }
}

static const struct nt_backend_ops ops = {.at_once = AT_ONCE,
                                          .max_bytes = MAX_BYTES,
                                          .takes = takes,
                                          .open = open_file,
                                          .open_listed = open_listed,
                                          .list = list,
                                          .end_list = end_list,
                                          .close = close_file,
                                          .start = start,
                                          .stop = stop,
                                          .resume = resume,
                                          .work = work};

bool nt_xrootd_init(struct nt_xrootd *xrootd, struct nt_transfers *jobs, const char *module)
{
    *xrootd = (struct nt_xrootd){.module = module};
    if (!nt_xrd_queue_init(&xrootd->queue))
        return false;
    nt_transfers_add_backend(jobs, &xrootd->backend, &ops);
    return true;
}
