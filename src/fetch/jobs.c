/* SPDX-License-Identifier: MIT
 *
 * In: parts of files that are wanted. Out: requests, so many at once, and after a failure that may pass others, later and later,
 * until the part has come or its time is over. What came before a connection broke is not asked for again.
 */
#include "fetch/jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>

enum {
    AT_ONCE = 16,
    AHEAD_AT_ONCE = 12,
    MOST_TRIES = 5,          /* of a file that may not be there; */
    MOST_TRIES_OF_KNOWN = 7, /* of one that is: its server may just be starting anew */
    FIRST_PAUSE = 200,
    LONGEST_PAUSE = 5000,
    LONGEST_WAIT = 1000
};

uint64_t nt_jobs_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

bool nt_jobs_init(struct nt_jobs *jobs)
{
    *jobs = (struct nt_jobs){.multi = curl_multi_init()};
    jobs->last = &jobs->first;
    return jobs->multi && curl_multi_setopt(jobs->multi, CURLMOPT_MAXCONNECTS, (long)AT_ONCE) == CURLM_OK;
}

void nt_jobs_add(struct nt_jobs *jobs, struct nt_job *job)
{
    job->start = nt_jobs_now();
    job->deadline = job->start + job->milliseconds;
    job->next = NULL;
    job->link = jobs->last;
    *jobs->last = job;
    jobs->last = &job->next;
    jobs->count++;
}

static void stop(struct nt_jobs *jobs, struct nt_job *job)
{
    if (job->is_active)
        jobs->active--;
    job->is_active = job->is_paused = false;
    nt_request_stop(&job->request, jobs->multi);
}

void nt_jobs_remove(struct nt_jobs *jobs, struct nt_job *job)
{
    stop(jobs, job);
    *job->link = job->next;
    if (job->next)
        job->next->link = job->link;
    else
        jobs->last = job->link;
    jobs->count--;
}

static void end(struct nt_jobs *jobs, struct nt_job *job)
{
    nt_jobs_remove(jobs, job);
    job->end(job);
}

/* ---- one try ---- */

static void fail(struct nt_job *job, const char *message)
{
    job->request.outcome = NT_OUTCOME_BAD;
    job->request.failure = NT_FETCH_UNREACHABLE;
    snprintf(job->request.message, sizeof(job->request.message), "%s", message);
}

/* Scheme, host and port are the same: no address that curl gives has a user in it. */
static bool is_same_server(const char *one, const char *other)
{
    const char *host = strstr(one, "://");
    size_t length = host ? (size_t)(host - one) + 3 + strcspn(host + 3, "/?#") : strlen(one);
    return strncasecmp(one, other, length) == 0 && strchr("/?#", other[length]);
}

static void start(struct nt_jobs *jobs, struct nt_job *job, uint64_t now)
{
    const struct nt_origin *origin = job->origin;
    struct nt_request *request = &job->request;
    *request = (struct nt_request){.address = origin->elsewhere ? origin->elsewhere : origin->address,
                                   .is_own = !origin->elsewhere,
                                   .is_trusted = !origin->elsewhere ||
                                                 is_same_server(origin->address, origin->elsewhere),
                                   .service = origin->service,
                                   .is_suffix = request->is_suffix,
                                   .first = job->first,
                                   .bytes = job->bytes,
                                   .expected = origin->is_known ? &origin->version : NULL,
                                   .milliseconds = job->deadline - now,
                                   .take = request->take,
                                   .context = request->context};
    job->all_tries++;
    jobs->totals.requests++;
    jobs->totals.retries += job->all_tries > 1;
    job->is_active = true;
    jobs->active++;
    if (nt_request_start(request, jobs->multi, job))
        return;
    fail(job, "out of memory");
    end(jobs, job);
}

/* Half as long, or half as long again: many that failed at once do not come back at once. */
static uint64_t pause_after(unsigned tries)
{
    uint8_t random = 128;
    uint64_t pause = FIRST_PAUSE;
    for (unsigned i = 1; i < tries && pause < LONGEST_PAUSE; i++)
        pause *= 2;
    (void)!getrandom(&random, 1, GRND_NONBLOCK);
    pause = pause / 2 + pause * random / 255;
    return pause < LONGEST_PAUSE ? pause : LONGEST_PAUSE;
}

/* The failure of the last try is that of all. */
static void give_up(struct nt_jobs *jobs, struct nt_job *job, const char *why)
{
    char cause[sizeof(job->request.message)];
    struct nt_request *request = &job->request;
    memcpy(cause, request->message, sizeof(cause));
    request->outcome = NT_OUTCOME_BAD;
    snprintf(request->message, sizeof(request->message), "%s%.100s (tries: %u)", why, cause, job->all_tries);
    end(jobs, job);
}

static void give_up_late(struct nt_jobs *jobs, struct nt_job *job)
{
    char why[64];
    if (!job->request.message[0])
        snprintf(job->request.message, sizeof(job->request.message), "other requests were before it");
    snprintf(why, sizeof(why), "timed out after %.3g s: ", (double)job->milliseconds / 1000);
    give_up(jobs, job, why);
}

static void try_again(struct nt_jobs *jobs, struct nt_job *job, uint64_t now)
{
    struct nt_request *request = &job->request;
    uint64_t pause = request->wait_seconds * 1000;
    char why[64];
    if (request->got > 0 && job->origin->is_known)
        job->tries = 0;
    job->tries++;
    if (!pause && !request->got && request->outcome != NT_OUTCOME_ELSEWHERE)
        pause = pause_after(job->tries);
    if (job->is_optional || job->tries >= (job->origin->is_known ? MOST_TRIES_OF_KNOWN : MOST_TRIES)) {
        give_up(jobs, job, "");
    } else if (pause >= job->deadline - now && request->wait_seconds) {
        snprintf(why, sizeof(why), "it wants to be asked again after %" PRIu64 " s: ", request->wait_seconds);
        give_up(jobs, job, why);
    } else if (pause >= job->deadline - now) {
        give_up_late(jobs, job);
    } else {
        job->start = now + pause;
    }
}

/* Where a server has sent a request to is asked at once the next time. */
static void note_elsewhere(struct nt_origin *origin, const struct nt_request *request)
{
    const char *address = nt_request_address(request);
    const char *asked = origin->elsewhere ? origin->elsewhere : origin->address;
    if (request->outcome == NT_OUTCOME_ELSEWHERE) {
        free(origin->elsewhere);
        origin->elsewhere = NULL;
    } else if (request->outcome == NT_OUTCOME_GOOD && strcmp(address, asked) != 0) {
        char *elsewhere = strcmp(address, origin->address) == 0 ? NULL : strdup(address);
        free(origin->elsewhere);
        origin->elsewhere = elsewhere;
    }
}

/* What a broken answer began with tells the version, too: so the rest can be asked for. */
static void note_version(struct nt_job *job)
{
    const struct nt_request *request = &job->request;
    const struct nt_reply *reply = &request->reply;
    bool is_broken = request->outcome == NT_OUTCOME_AGAIN && request->got > 0 && reply->has_range;
    if (job->origin->is_known || !is_broken || request->is_suffix)
        return;
    job->origin->version = (struct nt_version){reply->validators, reply->total};
    job->origin->is_known = true;
    if (job->bytes > reply->total - job->first)
        job->bytes = reply->total - job->first;
}

static void take_end(struct nt_jobs *jobs, struct nt_job *job, CURLcode code)
{
    struct nt_request *request = &job->request;
    uint64_t now = nt_jobs_now();
    nt_request_end(request, code);
    note_elsewhere(job->origin, request);
    note_version(job);
    stop(jobs, job);
    if (job->origin->is_known && !request->is_suffix) {
        job->first += request->got;
        job->bytes -= request->got;
    }
    if (request->outcome == NT_OUTCOME_GOOD || request->outcome == NT_OUTCOME_BAD)
        end(jobs, job);
    else if (now >= job->deadline)
        give_up_late(jobs, job);
    else
        try_again(jobs, job, now);
}

/* ---- all of them ---- */

/* Some connections are left to those who wait. */
static bool has_room(const struct nt_jobs *jobs, const struct nt_job *job)
{
    return jobs->active < (job->is_ahead ? AHEAD_AT_ONCE : AT_ONCE);
}

/* One that may be started, or whose time is over: what nobody waits for last. NULL. */
static struct nt_job *due(const struct nt_jobs *jobs, uint64_t now)
{
    struct nt_job *found = NULL;
    for (struct nt_job *job = jobs->first; job && !(found && !found->is_ahead); job = job->next)
        if (!job->is_active && (now >= job->deadline || (job->start <= now && has_room(jobs, job))) &&
            (!found || !job->is_ahead))
            found = job;
    return found;
}

/* What comes to its end may take others with it. */
static void start_all(struct nt_jobs *jobs)
{
    struct nt_job *job;
    uint64_t now = nt_jobs_now();
    while ((job = due(jobs, now)))
        if (now >= job->deadline)
            give_up_late(jobs, job);
        else
            start(jobs, job, now);
}

static void end_all(struct nt_jobs *jobs)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(jobs->multi, &left))) {
        struct nt_job *job = NULL;
        CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &job);
        take_end(jobs, job, code);
    }
}

uint64_t nt_jobs_work(struct nt_jobs *jobs)
{
    int running;
    start_all(jobs);
    curl_multi_perform(jobs->multi, &running);
    end_all(jobs);
    start_all(jobs);
    uint64_t now = nt_jobs_now(), wait = LONGEST_WAIT;
    for (const struct nt_job *job = jobs->first; job; job = job->next) {
        uint64_t until = has_room(jobs, job) && job->start < job->deadline ? job->start : job->deadline;
        if (!job->is_active && until < now + wait)
            wait = until > now ? until - now : 0;
    }
    return wait;
}

void nt_jobs_continue(struct nt_jobs *jobs)
{
    for (struct nt_job *job = jobs->first; job; job = job->next)
        if (job->is_paused) {
            job->is_paused = false;
            curl_easy_pause(job->request.easy, CURLPAUSE_CONT);
        }
}
