/* SPDX-License-Identifier: MIT
 *
 * In: jobs for files at URLs. Out: requests, one for a try, and what they tell of the file and of where it is.
 */
#include "remote/helper/web.h"

#include <stdlib.h>
#include <string.h>

#include "remote/helper/web_list.h"
#include "remote/helper/web_objects.h"
#include "remote/helper/web_open.h"
#include "remote/helper/web_warm.h"

/* Requests, and so connections that are kept; opening has two. */
enum { AT_ONCE = 16, OPENING = 2 };

/* ---- files ---- */

static bool open_file(struct nt_engine *engine, struct nt_fetched *file, const char *address,
                      const char **problem_ret)
{
    if (!nt_web_open(engine, file, address, problem_ret))
        return false;
    nt_web_warm(file, AT_ONCE - OPENING);
    return true;
}

static void close_file(struct nt_fetched *file)
{
    nt_web_cool(file);
    nt_web_close(file);
}

/* ---- one try ---- */

static bool take_bytes(void *context, const char *bytes, size_t count)
{
    struct nt_transfer *job = context;
    const struct nt_request *request = job->attempt;
    return job->take(job, request->first + request->result.got, bytes, count);
}

static bool start(struct nt_transfer *job, uint64_t milliseconds)
{
    const struct nt_origin *origin = (struct nt_origin *)job->remote;
    struct nt_web *web = (struct nt_web *)job->remote->engine;
    if (origin->is_of_objects) {
        web->engine.jobs->totals.requests++;
        return nt_web_start_object(job, milliseconds, web->multi);
    }
    struct nt_request *request = job->attempt ? job->attempt : malloc(sizeof(*request));
    job->attempt = request;
    if (!request)
        return false;
    *request = (struct nt_request){.asked = origin->asked,
                                   .address = origin->elsewhere ? origin->elsewhere : origin->address,
                                   .named = origin->address,
                                   .is_own = !origin->elsewhere,
                                   .service = origin->service,
                                   .is_suffix = job->is_suffix,
                                   .first = job->first,
                                   .bytes = job->bytes,
                                   .expected = origin->is_known ? &origin->version : NULL,
                                   .milliseconds = milliseconds,
                                   .take = take_bytes,
                                   .context = job};
    web->engine.jobs->totals.requests++;
    return nt_request_start(request, web->multi, job);
}

static void stop(struct nt_transfer *job)
{
    const struct nt_web *web = (struct nt_web *)job->remote->engine;
    if (job->attempt)
        nt_request_stop(job->attempt, web->multi);
}

static void resume(struct nt_transfer *job)
{
    const struct nt_request *request = job->attempt;
    curl_easy_pause(request->easy, CURLPAUSE_CONT);
}

/* Where a server has sent a request to is asked at once the next time. */
static void note_elsewhere(struct nt_origin *origin, const struct nt_request *request)
{
    const char *address = nt_request_address(request);
    const char *asked = origin->elsewhere ? origin->elsewhere : origin->address;
    if (request->result.outcome == NT_OUTCOME_ELSEWHERE) {
        free(origin->elsewhere);
        origin->elsewhere = NULL;
    } else if (request->result.outcome == NT_OUTCOME_GOOD && strcmp(address, asked) != 0) {
        char *elsewhere = strcmp(address, origin->address) == 0 ? NULL : strdup(address);
        free(origin->elsewhere);
        origin->elsewhere = elsewhere;
    }
}

/* What a broken answer began with tells the version, too: so the rest can be asked for. Not of what only makes a connection ready:
 * the beginning that is kept may be of another one. */
static void note_version(struct nt_origin *origin, struct nt_transfer *job, const struct nt_request *request)
{
    const struct nt_reply *reply = &request->reply;
    bool is_broken =
        request->result.outcome == NT_OUTCOME_AGAIN && request->result.got > 0 && reply->has_range;
    if (origin->is_known || !is_broken || request->is_suffix || job->is_beside ||
        origin->asked != NT_ASKED_PART)
        return;
    origin->version = (struct nt_file_version){reply->validators, reply->total};
    origin->is_known = true;
    job->most_tries = NT_TRIES_OF_KNOWN;
    if (job->bytes > reply->total - job->first)
        job->bytes = reply->total - job->first;
}

static void end_try(struct nt_transfer *job, CURLcode code)
{
    struct nt_origin *origin = (struct nt_origin *)job->remote;
    struct nt_request *request = job->attempt;
    const struct nt_web *web = (struct nt_web *)origin->remote.engine;
    if (origin->is_of_objects) {
        nt_web_end_object(job, code);
        nt_transfers_end_try(origin->remote.engine->jobs, job);
        return;
    }
    if (nt_request_follow(request, web->multi, code))
        return;
    nt_request_end(request, code);
    note_elsewhere(origin, request);
    note_version(origin, job, request);
    job->result = request->result;
    if (!origin->is_known || request->is_suffix)
        job->result.got = 0; /* of a version that is not known nothing can be kept */
    nt_transfers_end_try(origin->remote.engine->jobs, job);
}

/* ---- all of them ---- */

static void work(struct nt_engine *engine)
{
    const struct nt_web *web = (struct nt_web *)engine;
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

static const struct nt_engine_ops ops = {.at_once = AT_ONCE,
                                         .most_bytes = UINT64_MAX, /* they pass through */
                                         .open = open_file,
                                         .open_listed = nt_web_open_listed,
                                         .close = close_file,
                                         .list = nt_web_list,
                                         .end_list = nt_web_end_list,
                                         .start = start,
                                         .stop = stop,
                                         .resume = resume,
                                         .work = work};

bool nt_web_init(struct nt_web *web, struct nt_transfers *jobs)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return false;
    *web = (struct nt_web){.multi = curl_multi_init()};
    nt_transfers_add_engine(jobs, &web->engine, &ops);
    return web->multi && curl_multi_setopt(web->multi, CURLMOPT_MAXCONNECTS, (long)AT_ONCE) == CURLM_OK;
}

void nt_web_wait(struct nt_web *web, struct curl_waitfd *others, unsigned count, uint64_t milliseconds)
{
    curl_multi_poll(web->multi, others, count, (int)milliseconds, NULL);
}
