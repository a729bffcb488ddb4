/* SPDX-License-Identifier: MIT
 *
 * In: jobs to do ahead, and work to share. Out: both done, sooner.
 *
 * Shared work comes first: somebody waits for it. The queue of jobs is short and drops what does not fit, so
 * that guesses never hold up readers; dropping changes no result, only when a page is decoded.
 */
#include "read/workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { QUEUE_LENGTH = 64 };

/* Lives on the stack of the thread that shares it. */
struct shared_work {
    void (*work)(void *context);
    void *context;
    unsigned helpers; /* workers that are in it */
    struct shared_work *next;
};

struct worker {
    struct nt_workers *workers;
    pthread_t thread;
    const struct nt_dataset *dataset; /* of the job that it does; NULL: none */
};

struct nt_workers {
    pthread_mutex_t lock;
    pthread_cond_t wanted;   /* there is something to do, or `stopping` */
    pthread_cond_t finished; /* a worker has finished something */
    bool stopping;
    struct shared_work *shared;
    struct nt_job queue[QUEUE_LENGTH]; /* a ring; a job without a function is not wanted any more */
    unsigned first;
    _Atomic unsigned queued; /* changed under the lock */
    unsigned count, idle;
    struct worker threads[];
};

static void shared_remove(struct nt_workers *workers, const struct shared_work *work)
{
    for (struct shared_work **link = &workers->shared; *link; link = &(*link)->next)
        if (*link == work) {
            *link = work->next;
            return;
        }
}

/* When a helper comes back nothing is left to hand out: no other needs to look. */
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

static void do_next(struct nt_workers *workers, struct worker *worker)
{
    struct nt_job job = workers->queue[workers->first];
    workers->first = (workers->first + 1) % QUEUE_LENGTH;
    workers->queued--;
    if (!job.run)
        return;
    worker->dataset = job.dataset;
    pthread_mutex_unlock(&workers->lock);
    job.run(&job);
    pthread_mutex_lock(&workers->lock);
    worker->dataset = NULL;
    pthread_cond_broadcast(&workers->finished);
}

static void rest(struct nt_workers *workers)
{
    workers->idle++;
    pthread_cond_wait(&workers->wanted, &workers->lock);
    workers->idle--;
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
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
    pthread_mutex_lock(&workers->lock);
    unsigned idle = workers->idle > workers->queued ? workers->idle - workers->queued : 0;
    pthread_mutex_unlock(&workers->lock);
    return idle;
}

void nt_workers_ahead(struct nt_workers *workers, const struct nt_job *job)
{
    if (!workers->count)
        return;
    pthread_mutex_lock(&workers->lock);
    if (workers->queued < QUEUE_LENGTH) {
        workers->queue[(workers->first + workers->queued++) % QUEUE_LENGTH] = *job;
        pthread_cond_signal(&workers->wanted);
    }
    pthread_mutex_unlock(&workers->lock);
}

void nt_workers_claim(struct nt_workers *workers, const struct nt_page *page)
{
    if (!atomic_load_explicit(&workers->queued,
                              memory_order_relaxed)) /* a job that comes now finds the page being loaded */
        return;
    pthread_mutex_lock(&workers->lock);
    for (unsigned i = 0; i < workers->queued; i++) {
        struct nt_job *job = &workers->queue[(workers->first + i) % QUEUE_LENGTH];
        if (job->page == page)
            job->run = NULL;
    }
    pthread_mutex_unlock(&workers->lock);
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
    pthread_mutex_lock(&workers->lock);
    for (unsigned i = 0; i < workers->queued; i++) {
        struct nt_job *job = &workers->queue[(workers->first + i) % QUEUE_LENGTH];
        if (job->dataset == dataset)
            job->run = NULL;
    }
    while (is_busy_with(workers, dataset))
        pthread_cond_wait(&workers->finished, &workers->lock);
    pthread_mutex_unlock(&workers->lock);
}

void nt_workers_together(struct nt_workers *workers, void (*work)(void *context), void *context)
{
    struct shared_work shared = {.work = work, .context = context};
    if (!workers->count) {
        work(context);
        return;
    }
    pthread_mutex_lock(&workers->lock);
    shared.next = workers->shared;
    workers->shared = &shared;
    pthread_cond_broadcast(&workers->wanted);
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
    struct nt_workers *workers = calloc(1, sizeof(*workers) + count * sizeof(struct worker));
    if (!workers)
        return NULL;
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->wanted, NULL);
    pthread_cond_init(&workers->finished, NULL);
    for (unsigned i = 0; i < count; i++) {
        struct worker *worker = &workers->threads[i];
        worker->workers = workers;
        if (pthread_create(&worker->thread, NULL, worker_main, worker))
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
    pthread_cond_broadcast(&workers->wanted);
    pthread_mutex_unlock(&workers->lock);
    for (unsigned i = 0; i < workers->count; i++)
        pthread_join(workers->threads[i].thread, NULL);
    pthread_cond_destroy(&workers->finished);
    pthread_cond_destroy(&workers->wanted);
    pthread_mutex_destroy(&workers->lock);
    free(workers);
}
