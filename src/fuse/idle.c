/* SPDX-License-Identifier: MIT
 *
 * In: when requests come. Out: when to unmount, as fusermount3 -u does. The thread sleeps until the time is
 * over, counted from the last request.
 */
#include "fuse/idle.h"

#include <linux/fuse.h>

#include "core/base/clock.h"
#include "core/base/thread.h"

/* What the kernel says of its own accord is no use; nor is statfs, which is what monitors ask of every
 * mount. */
void nt_idle_note(struct nt_idle *idle, uint32_t opcode)
{
    if (idle->seconds && opcode != FUSE_FORGET && opcode != FUSE_BATCH_FORGET && opcode != FUSE_INTERRUPT &&
        opcode != FUSE_STATFS)
        atomic_store_explicit(&idle->last_use, nt_nanoseconds(), memory_order_relaxed);
}

static uint64_t end_of_wait(const struct nt_idle *idle)
{
    return atomic_load_explicit(&idle->last_use, memory_order_relaxed) + idle->seconds * NT_SECOND;
}

static void *watch(void *context)
{
    struct nt_idle *idle = context;
    pthread_mutex_lock(&idle->lock);
    while (!idle->must_end) {
        uint64_t end = end_of_wait(idle);
        if (end > nt_nanoseconds()) {
            struct timespec time = nt_timespec(end);
            pthread_cond_timedwait(&idle->wanted, &idle->lock, &time);
            continue;
        }
        pthread_mutex_unlock(&idle->lock);
        bool is_done = !idle->is_in_use(idle->context) && idle->unmount(idle->unmount_context);
        pthread_mutex_lock(&idle->lock);
        if (is_done)
            break;
        atomic_store(&idle->last_use, nt_nanoseconds());
    }
    pthread_mutex_unlock(&idle->lock);
    return NULL;
}

int nt_idle_start(struct nt_idle *idle)
{
    pthread_condattr_t attributes;
    if (!idle->seconds)
        return 0;
    atomic_store(&idle->last_use, nt_nanoseconds());
    pthread_mutex_init(&idle->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&idle->wanted, &attributes);
    pthread_condattr_destroy(&attributes);
    /* Signals end the loop of requests, whose thread they must interrupt. */
    int problem = nt_thread_start(&idle->thread, watch, idle);
    idle->is_started = problem == 0;
    if (problem) {
        pthread_cond_destroy(&idle->wanted);
        pthread_mutex_destroy(&idle->lock);
    }
    return problem;
}

void nt_idle_stop(struct nt_idle *idle)
{
    if (!idle->is_started)
        return;
    pthread_mutex_lock(&idle->lock);
    idle->must_end = true;
    pthread_cond_signal(&idle->wanted);
    pthread_mutex_unlock(&idle->lock);
    pthread_join(idle->thread, NULL);
    pthread_cond_destroy(&idle->wanted);
    pthread_mutex_destroy(&idle->lock);
    idle->is_started = false;
}
