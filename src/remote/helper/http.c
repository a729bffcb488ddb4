/* SPDX-License-Identifier: MIT
 *
 * HTTP backend: tries of requests for byte ranges of files, of objects in a store, and of listings.
 */
#include "remote/helper/helper.h"

#include <inttypes.h>

/* Maximum of kept connections. */
enum { AT_ONCE_IF_MANY = 48 };

/* ---- Attempts ---- */

struct attempt {
    struct nt_http_request request;
    struct nt_http_target *target; /* the file's, or: */
    struct nt_http_target object;
    char address[]; /* of the object */
};

static struct nt_http_target *target_of(const struct nt_transfer *job)
{
    return ((struct attempt *)job->attempt)->target;
}

static bool is_of_object(const struct nt_transfer *job)
{
    return ((struct nt_http_file *)job->remote)->is_object_store;
}

static struct attempt *new_attempt(const struct nt_transfer *job)
{
    enum { NUMBER_BYTES = 24 };
    struct nt_http_target *target = &((struct nt_http_file *)job->remote)->target;
    const char *address = target->address, *number = strstr(address, NT_OBJECT_NUMBER);
    size_t bytes = is_of_object(job) ? strlen(address) + NUMBER_BYTES : 0;
    struct attempt *attempt = calloc(1, sizeof(*attempt) + bytes);
    if (!attempt || !bytes) {
        if (attempt)
            attempt->target = target;
        return attempt;
    }
    snprintf(attempt->address, bytes, "%.*s%" PRIu64 "%s", (int)(number - address), address,
             job->first / NT_OBJECT_SPACE, number + strlen(NT_OBJECT_NUMBER));
    attempt->target = &attempt->object;
    attempt->object.service = target->service;
    attempt->object.address = attempt->address;
    return attempt;
}

static bool start(struct nt_transfer *job, uint64_t milliseconds)
{
    struct nt_http_backend *web = (struct nt_http_backend *)job->remote->backend;
    struct attempt *attempt = job->attempt ? job->attempt : new_attempt(job);
    job->attempt = attempt;
    if (!attempt)
        return false;
    const struct nt_http_target *target = attempt->target;
    attempt->request = (struct nt_http_request){
        .target = target,
        .job = job,
        .first = is_of_object(job) ? job->first % NT_OBJECT_SPACE : job->first,
        .expected = target->is_known ? &target->version : NULL,
        .is_unconditional = target->is_known && target->is_unconditional,
    };
    attempt->request.ranges = nt_http_ranges_new(job);
    web->backend.jobs->totals.requests++;
    bool has_started = nt_http_request_start(&attempt->request, web->multi, milliseconds);
    if (attempt->request.is_checked)
        job->result = attempt->request.result;
    return has_started;
}

static void stop(struct nt_transfer *job)
{
    const struct nt_http_backend *web = (struct nt_http_backend *)job->remote->backend;
    struct attempt *attempt = job->attempt;
    nt_http_ranges_leave(job);
    if (!attempt)
        return;
    nt_http_request_stop(&attempt->request, web->multi);
    nt_http_ranges_free(attempt->request.ranges);
    attempt->request.ranges = NULL;
}

static void resume(struct nt_transfer *job)
{
    const struct nt_http_request *request = job->attempt;
    curl_easy_pause(request->easy, CURLPAUSE_CONT);
}

/* ---- Ends of attempts ---- */

/* Remembers a redirect, so that the next request goes there directly. */
static void note_elsewhere(struct nt_http_target *target, const struct nt_http_request *request)
{
    const char *address = nt_http_request_url(request);
    const char *asked = target->redirect_url ? target->redirect_url : target->address;
    if (request->result.outcome == NT_OUTCOME_OTHER_SERVER) {
        free(target->redirect_url);
        target->redirect_url = NULL;
    } else if (request->result.outcome == NT_OUTCOME_OK && strcmp(address, asked) != 0) {
        char *redirect_url = strcmp(address, target->address) == 0 ? NULL : strdup(address);
        free(target->redirect_url);
        target->redirect_url = redirect_url;
    }
}

/* Even a broken answer identifies the version, so that the rest can be requested; also one that claims
 * bytes after the end (XRootD's http sends none then). A preconnect does not: the kept head may be of
 * another version. A short object is no part of its dataset: all of it is requested again. */
static void note_version(struct nt_transfer *job, const struct nt_http_request *request)
{
    struct nt_http_target *target = target_of(job);
    const struct nt_http_response *reply = &request->reply;
    bool is_broken = request->result.outcome == NT_OUTCOME_RETRY &&
                     (reply->is_beyond || (request->result.got > 0 && reply->has_range));
    if (target->is_known || !is_broken || job->is_suffix || job->is_background ||
        target->asked != NT_HTTP_REQUEST_PART)
        return;
    target->version = (struct nt_file_version){reply->validators, reply->total};
    target->is_known = true;
    if (is_of_object(job))
        return;
    job->max_tries = NT_TRIES_OF_KNOWN;
    if (job->bytes > reply->total - job->first)
        job->bytes = reply->total - job->first;
}

/* A single odd answer of a load balancer or cache does not prove that the file changed: a second request must
 * confirm it. That one omits the condition, which some servers evaluate wrongly; so its answer must prove the
 * version. */
static void look_again(struct nt_http_target *target, struct nt_transfer *job,
                       const struct nt_http_request *request)
{
    struct nt_result *result = &job->result;
    bool says_changed = result->outcome == NT_OUTCOME_FAILED &&
                        (result->failure == NT_FETCH_CHANGED || result->failure == NT_FETCH_NOT_FOUND);
    if (says_changed && target->is_known && !job->is_background && !job->has_looked_again) {
        job->has_looked_again = true;
        job->max_tries = job->max_tries > job->tries + 2 ? job->max_tries : job->tries + 2;
        result->outcome = NT_OUTCOME_RETRY;
        target->is_unconditional = nt_http_request_status(request) == 412; /* the condition was rejected */
    } else if (says_changed) {
        target->is_unconditional = false;
    }
}

/* The server has sent all bytes of the object, and they are too few. */
static void refuse_short(struct nt_http_request *request)
{
    char message[160];
    snprintf(message, sizeof(message),
             "the object ends at byte %" PRIu64 ", but the request is for %" PRIu64
             " bytes from byte %" PRIu64,
             request->first + request->result.got, request->job->bytes, request->first);
    nt_http_request_refuse(request, NT_FETCH_NOT_FOUND, message);
}

static void end_try(struct nt_transfer *job, CURLcode code)
{
    struct nt_http_request *request = job->attempt;
    struct nt_http_target *target = target_of(job);
    if (nt_http_request_follow(request, ((struct nt_http_backend *)job->remote->backend)->multi, code))
        return;
    nt_http_request_end(request, code);
    if (is_of_object(job) && nt_http_request_status(request) == 416)
        nt_http_request_refuse(request, NT_FETCH_NOT_FOUND,
                               "the object ends before the requested bytes (416)");
    else if (is_of_object(job) && request->result.outcome == NT_OUTCOME_OK &&
             request->result.got < job->bytes)
        refuse_short(request);
    note_elsewhere(target, request);
    if (request->ranges) {
        job->result = nt_http_ranges_end(request->ranges, request);
        request->ranges = NULL;
        nt_transfer_end_try(job);
        return;
    }
    note_version(job, request);
    job->result = request->result;
    if (request->reply.is_beyond && job->result.outcome == NT_OUTCOME_RETRY)
        job->result.outcome = NT_OUTCOME_OTHER_SERVER; /* the size is known now: ask at once */
    look_again(target, job, request);
    if (!target->is_known || job->is_suffix)
        job->result.got = 0; /* keep no bytes of an unknown version */
    nt_transfer_end_try(job);
}

/* ---- Backend ---- */

static void work(struct nt_backend *backend)
{
    const struct nt_http_backend *web = (struct nt_http_backend *)backend;
    CURLMsg *message;
    int running, left;
    curl_multi_perform(web->multi, &running);
    while ((message = curl_multi_info_read(web->multi, &left))) {
        struct nt_transfer *job = NULL;
        CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &job);
        end_try(job, code);
    }
}

static const struct nt_backend_ops ops = {.at_once = NT_HTTP_MAX_REQUESTS,
                                          .at_once_if_many = AT_ONCE_IF_MANY,
                                          .max_bytes = UINT64_MAX, /* bytes are not buffered */
                                          .handle_bytes = sizeof(struct nt_http_file),
                                          .open = nt_http_open,
                                          .open_listed = nt_http_open_listed,
                                          .list = nt_http_list,
                                          .copy_received = nt_http_copy_received,
                                          .close = nt_http_close,
                                          .start = start,
                                          .stop = stop,
                                          .resume = resume,
                                          .work = work};

bool nt_http_backend_init(struct nt_http_backend *web, struct nt_transfers *jobs)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return false;
    *web = (struct nt_http_backend){.multi = curl_multi_init()};
    nt_transfers_add_backend(jobs, &web->backend, &ops);
    return web->multi &&
           curl_multi_setopt(web->multi, CURLMOPT_MAXCONNECTS, (long)AT_ONCE_IF_MANY) == CURLM_OK;
}
