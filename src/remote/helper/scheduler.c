/* SPDX-License-Identifier: MIT
 *
 * Schedules requests to the backends: limits on concurrency, retries with backoff, and deadlines. Bytes
 * already received are not requested again.
 */
#include "remote/helper/helper.h"

#include <inttypes.h>
#include <sys/random.h>

#include "core/base/thread.h"

enum { FIRST_PAUSE = 200, LONGEST_PAUSE = 5000, LONGEST_WAIT = 1000 };

const struct nt_result nt_result_no_memory = {NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE,
                                              .message = "out of memory"};

void nt_transfers_init(struct nt_transfers *jobs)
{
    *jobs = (struct nt_transfers){.backend_count = 0};
    TAILQ_INIT(&jobs->all);
}

void nt_transfers_add_backend(struct nt_transfers *jobs, struct nt_backend *backend,
                              const struct nt_backend_ops *ops)
{
    backend->ops = ops;
    backend->jobs = jobs;
    jobs->backends[jobs->backend_count++] = backend;
}

static struct nt_transfers *jobs_of(const struct nt_transfer *job)
{
    return job->remote->backend->jobs;
}

struct nt_backend *nt_transfers_backend(const struct nt_transfers *jobs, const char *address)
{
    unsigned i = 0;
    while (jobs->backends[i]->ops->takes && !jobs->backends[i]->ops->takes(address))
        i++;
    return jobs->backends[i];
}

void nt_transfer_add(struct nt_transfer *job)
{
    struct nt_transfers *jobs = jobs_of(job);
    job->start = nt_milliseconds();
    job->deadline = job->start + job->milliseconds;
    TAILQ_INSERT_TAIL(&jobs->all, job, all);
    job->is_queued = true;
    jobs->count++;
}

/* ---- One try ---- */

static void stop(struct nt_transfer *job)
{
    struct nt_backend *backend = job->remote->backend;
    if (job->is_active && !job->is_background) {
        if (--backend->active == 0)
            backend->most_active = 0;
        backend->active_bytes -= job->active_bytes;
    }
    job->is_active = job->is_paused = false;
    backend->ops->stop(job);
}

static void take_out(struct nt_transfer *job)
{
    struct nt_transfers *jobs = jobs_of(job);
    stop(job);
    TAILQ_REMOVE(&jobs->all, job, all);
    job->is_queued = false;
    jobs->count--;
}

void nt_transfer_remove(struct nt_transfer *job)
{
    if (!job->is_queued)
        return;
    take_out(job);
    free(job->attempt);
}

static void end(struct nt_transfer *job)
{
    void *attempt = job->attempt;
    take_out(job);
    job->end(job);
    free(attempt);
}

static void start(struct nt_transfer *job, uint64_t now)
{
    struct nt_backend *backend = job->remote->backend;
    job->result = nt_result_no_memory;
    job->all_tries++;
    backend->jobs->totals.retries += job->all_tries > 1;
    job->is_active = true;
    job->active_bytes = job->bytes;
    if (!job->is_background) {
        if (++backend->active > backend->most_active)
            backend->most_active = backend->active;
        backend->active_bytes += job->active_bytes;
    }
    if (backend->ops->start(job, job->deadline - now))
        job->result = (struct nt_result){.failure = NT_FETCH_UNREACHABLE};
    else
        nt_transfer_end_try(job);
}

/* Randomised by half, so that many failed jobs do not retry together. */
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

/* Fails the job with the failure of its last try. */
static void give_up(struct nt_transfer *job, const char *why)
{
    struct nt_result *result = &job->result;
    char cause[sizeof(result->message)];
    memcpy(cause, result->message, sizeof(cause));
    result->outcome = NT_OUTCOME_FAILED;
    snprintf(result->message, sizeof(result->message), "%s%.100s (tries: %u)", why, cause, job->all_tries);
    end(job);
}

/* `left`: the milliseconds until the deadline. The last tenth counts as passed: a try that lasts until the
 * deadline may end a little before it. */
static void give_up_late(struct nt_transfer *job, uint64_t left)
{
    const bool is_early = left > job->milliseconds / 10;
    char why[64];
    const double timeout = (double)job->milliseconds / 1000;
    if (!job->result.message[0])
        snprintf(job->result.message, sizeof(job->result.message), "%s",
                 job->is_active ? "the server does not answer, or is too slow" : "other requests came first");
    if (is_early)
        snprintf(why, sizeof(why),
                 "gave up after %.2g s (timeout %.3g s): ", (double)(job->milliseconds - left) / 1000,
                 timeout);
    else
        snprintf(why, sizeof(why), "timed out after %.3g s: ", timeout);
    give_up(job, why);
}

static void try_again(struct nt_transfer *job, uint64_t now)
{
    const struct nt_result *result = &job->result;
    const uint64_t left = job->deadline - now;
    uint64_t pause = result->wait_seconds > left / 1000 ? left : result->wait_seconds * 1000;
    char why[64];
    if (result->got > 0)
        job->tries = 0;
    job->tries++;
    if (!pause && !result->got && result->outcome != NT_OUTCOME_OTHER_SERVER)
        pause = pause_after(job->tries);
    if (job->tries >= job->max_tries) {
        give_up(job, "");
    } else if (pause >= left && result->wait_seconds) {
        snprintf(why, sizeof(why), "it asks to retry after %" PRIu64 " s: ", result->wait_seconds);
        give_up(job, why);
    } else if (pause >= left) {
        give_up_late(job, left);
    } else {
        job->start = now + pause;
    }
}

void nt_transfer_end_try(struct nt_transfer *job)
{
    uint64_t now = nt_milliseconds();
    stop(job);
    job->first += job->result.got;
    job->bytes -= job->result.got;
    if (job->result.outcome == NT_OUTCOME_OK || job->result.outcome == NT_OUTCOME_FAILED)
        end(job);
    else if (now >= job->deadline)
        give_up_late(job, 0);
    else
        try_again(job, now);
}

/* ---- The queue ---- */

/* Short jobs mostly wait for the round trip, so many of them justify more connections. */
static unsigned most_at_once(const struct nt_transfer *job)
{
    const struct nt_backend *backend = job->remote->backend;
    const struct nt_backend_ops *ops = backend->ops;
    unsigned most = backend->most_active > ops->at_once ? backend->most_active : ops->at_once;
    if (job->bytes > NT_SHORT_BYTES)
        return ops->at_once;
    return backend->jobs->count >= ops->at_once_if_many && ops->at_once_if_many > most ? ops->at_once_if_many
                                                                                       : most;
}

/* Reserves a part of the tries for jobs with waiting readers. */
static bool has_room(const struct nt_transfer *job)
{
    const struct nt_backend *backend = job->remote->backend;
    unsigned most = most_at_once(job);
    if (job->is_prefetch)
        most -= most / 4;
    return job->is_background ||
           (backend->active < most &&
            (!backend->active || backend->active_bytes + job->bytes <= backend->ops->max_bytes));
}

/* A job past its deadline, or one that may start; prefetches last. NULL: none. */
static struct nt_transfer *due(const struct nt_transfers *jobs, uint64_t now)
{
    struct nt_transfer *found = NULL, *job;
    TAILQ_FOREACH (job, &jobs->all, all) {
        if (found && !found->is_prefetch)
            break;
        bool waits = job->is_active || job->share || job->start > now;
        if ((now >= job->deadline || (!waits && has_room(job))) && (!found || !job->is_prefetch))
            found = job;
    }
    return found;
}

/* Ends and starts due jobs. The end of one may free others. True if any has started. */
static bool start_all(struct nt_transfers *jobs)
{
    struct nt_transfer *job;
    bool has_started = false;
    uint64_t now = nt_milliseconds();
    nt_credentials_share_checks(true);
    while ((job = due(jobs, now)))
        if (now >= job->deadline) {
            give_up_late(job, 0);
        } else {
            start(job, now);
            has_started = true;
        }
    nt_credentials_share_checks(false);
    return has_started;
}

/* The latest time of the job's next check. */
static uint64_t until(const struct nt_transfer *job)
{
    bool is_waiting = job->is_active || job->share || !has_room(job) || job->start >= job->deadline;
    return is_waiting ? job->deadline : job->start;
}

uint64_t nt_transfers_work(struct nt_transfers *jobs)
{
    bool is_held = nt_milliseconds() < jobs->held_until;
    if (!is_held)
        start_all(jobs);
    for (unsigned i = 0; i < jobs->backend_count; i++)
        jobs->backends[i]->ops->work(jobs->backends[i]);
    if (is_held || start_all(jobs))
        return is_held;
    uint64_t now = nt_milliseconds(), wait = LONGEST_WAIT;
    const struct nt_transfer *job;
    TAILQ_FOREACH (job, &jobs->all, all)
        if (until(job) < now + wait)
            wait = until(job) > now ? until(job) - now : 0;
    return wait;
}

void nt_transfers_continue(struct nt_transfers *jobs)
{
    for (struct nt_transfer *job = TAILQ_FIRST(&jobs->all), *next; job; job = next) {
        next = TAILQ_NEXT(job, all);
        if (job->is_paused) {
            job->is_paused = false;
            job->remote->backend->ops->resume(job);
        }
    }
}
