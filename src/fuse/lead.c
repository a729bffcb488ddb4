/* SPDX-License-Identifier: MIT
 *
 * In: threads that are about to wait for a request, what they have received, and that they begin what is slow.
 * Out: one of them at a time goes on, or all of them.
 *
 * Invariant: while `until_quiet` is not positive and somebody leads, others wait behind it, and one of these
 * watches. Who leads is told by `leader` alone, so a thread that ends while it leads costs no more than the
 * watcher's patience.
 */
#include "fuse/lead.h"

#include <sched.h>

#include "fuse/processor.h"

int nt_lead_init(struct nt_lead *lead, uint64_t patience, uint64_t soon)
{
    pthread_condattr_t attributes;
    *lead = (struct nt_lead){.patience = patience, .soon = soon};
    int problem = pthread_mutex_init(&lead->lock, NULL);
    if (problem)
        return problem;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    problem = pthread_cond_init(&lead->has_begun, &attributes);
    pthread_condattr_destroy(&attributes);
    if (problem) {
        pthread_mutex_destroy(&lead->lock);
        return problem;
    }
    pthread_cond_init(&lead->freed, NULL);
    return 0;
}

void nt_lead_deinit(struct nt_lead *lead)
{
    pthread_cond_destroy(&lead->freed);
    pthread_cond_destroy(&lead->has_begun);
    pthread_mutex_destroy(&lead->lock);
}

static bool leads(struct nt_lead *lead)
{
    return atomic_load_explicit(&lead->leader, memory_order_relaxed) == (uintptr_t)pthread_self();
}

static bool is_quiet(struct nt_lead *lead)
{
    return atomic_load_explicit(&lead->until_quiet, memory_order_relaxed) <= 0;
}

/* Under the lock. */
static void free_all(struct nt_lead *lead, int until_quiet)
{
    atomic_store(&lead->until_quiet, until_quiet);
    atomic_store(&lead->leader, 0);
    pthread_cond_broadcast(&lead->freed);
    pthread_cond_signal(&lead->has_begun);
}

/* ---- behind the leader, under the lock ---- */

/* The one who watches is cancelled: another is to. */
static void hand_on_watch(void *context)
{
    struct nt_lead *lead = context;
    lead->is_watched = false;
    atomic_store(&lead->watcher_sleeps, false);
    pthread_cond_signal(&lead->freed);
}

/* The leader, which has just begun to wait, tells when it receives something. */
static void sleep_until_it_begins(struct nt_lead *lead, uint64_t seen)
{
    atomic_store(&lead->watcher_sleeps, true);
    if (atomic_load(&lead->progress) == seen)
        pthread_cond_wait(&lead->has_begun, &lead->lock);
    atomic_store(&lead->watcher_sleeps, false);
}

static void wait_for_its_end(struct nt_lead *lead, uint64_t seen)
{
    const struct timespec until = nt_timespec(nt_nanoseconds() + lead->patience);
    while (pthread_cond_timedwait(&lead->has_begun, &lead->lock, &until) == 0 && is_quiet(lead))
        ;
    if (is_quiet(lead) && atomic_load(&lead->progress) == seen)
        free_all(lead, NT_LEAD_QUIET);
}

static void watch(struct nt_lead *lead)
{
    lead->is_watched = true;
    pthread_cleanup_push(hand_on_watch, lead);
    uint64_t seen = atomic_load(&lead->progress);
    if (seen % 2)
        wait_for_its_end(lead, seen);
    else
        sleep_until_it_begins(lead, seen);
    pthread_cleanup_pop(0);
    lead->is_watched = false;
}

static void unlock(void *lock)
{
    pthread_mutex_unlock(lock);
}

static void wait_behind_or_lead(struct nt_lead *lead)
{
    pthread_mutex_lock(&lead->lock);
    pthread_cleanup_push(unlock, &lead->lock);
    while (is_quiet(lead) && atomic_load(&lead->leader) != 0) {
        if (lead->is_watched)
            pthread_cond_wait(&lead->freed, &lead->lock);
        else
            watch(lead);
    }
    if (is_quiet(lead)) {
        atomic_store(&lead->leader, (uintptr_t)pthread_self());
        lead->queued = 0;
    }
    pthread_cleanup_pop(1);
}

/* ---- requests ---- */

bool nt_lead_wait(struct nt_lead *lead)
{
    if (!leads(lead) && is_quiet(lead))
        wait_behind_or_lead(lead);
    if (!leads(lead))
        return false;
    uint64_t progress = atomic_load_explicit(&lead->progress, memory_order_relaxed);
    atomic_store(&lead->progress, progress + progress % 2); /* it serves nothing now */
    atomic_store_explicit(&lead->waits_since, nt_nanoseconds(), memory_order_relaxed);
    return true;
}

/* The leader has not waited for long. */
static bool is_soon(const struct nt_lead *lead)
{
    return nt_nanoseconds() - atomic_load_explicit(&lead->waits_since, memory_order_relaxed) < lead->soon;
}

bool nt_lead_looks_out(const struct nt_lead *lead)
{
    if (!atomic_load_explicit(&lead->is_busy, memory_order_relaxed) || !is_soon(lead))
        return false;
    sched_yield();
    return true;
}

/* Tell the one who watches that a request has begun. */
static void begin(struct nt_lead *lead)
{
    uint64_t progress = atomic_load_explicit(&lead->progress, memory_order_relaxed);
    atomic_store(&lead->progress, (progress + 1) | 1);
    if (!atomic_load(&lead->watcher_sleeps))
        return;
    pthread_mutex_lock(&lead->lock);
    pthread_cond_signal(&lead->has_begun);
    pthread_mutex_unlock(&lead->lock);
}

/* To who asks. */
static void come_closer(struct nt_lead *lead, enum nt_arrival arrival)
{
    if (arrival != NT_AWAITED) {
        lead->apart -= lead->apart > 0;
        lead->moves = lead->apart ? lead->moves : 0;
        return;
    }
    lead->apart++;
    if (lead->apart < (unsigned)NT_LEAD_APART << lead->moves)
        return;
    lead->apart = 0;
    lead->moves += lead->moves < NT_LEAD_MOVES;
    nt_processor_next();
}

void nt_lead_received(struct nt_lead *lead, bool is_quick, enum nt_arrival arrival)
{
    if (!is_quick) {
        nt_lead_let_go(lead);
        return;
    }
    if (!is_quiet(lead))
        atomic_fetch_sub_explicit(&lead->until_quiet, 1, memory_order_relaxed);
    if (!leads(lead))
        return;
    bool is_busy = is_soon(lead);
    lead->queued = arrival == NT_QUEUED ? lead->queued + 1 : 0;
    atomic_store_explicit(&lead->is_busy, is_busy, memory_order_relaxed);
    if (is_busy)
        come_closer(lead, arrival);
    if (lead->queued < NT_LEAD_QUEUED) {
        begin(lead);
        return;
    }
    pthread_mutex_lock(&lead->lock);
    free_all(lead, NT_LEAD_CROWDED);
    pthread_mutex_unlock(&lead->lock);
}

void nt_lead_let_go(struct nt_lead *lead)
{
    bool must_free = leads(lead);
    if (must_free) {
        pthread_mutex_lock(&lead->lock);
        free_all(lead, NT_LEAD_QUIET);
        pthread_mutex_unlock(&lead->lock);
    } else if (!is_quiet(lead) && atomic_load(&lead->until_quiet) < NT_LEAD_QUIET) {
        atomic_store(&lead->until_quiet, NT_LEAD_QUIET);
    }
}
