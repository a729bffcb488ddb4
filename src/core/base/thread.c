/* SPDX-License-Identifier: MIT
 *
 * Thread creation, fork-safe mutexes and FIFO waiting. fork() is delayed until no thread is inside a critical
 * section, so that every lock is free and all guarded data is consistent in the child.
 */
#include "core/base/thread.h"

#include <signal.h>
#include <stddef.h>

/* ---- Threads and conditions ---- */

int nt_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int problem = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return problem;
}

int nt_thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int problem = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return problem;
}

/* ---- A gate for forks ---- */

/* The forking thread has priority; otherwise other threads could keep it out forever. */
#define GATE PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP

static pthread_rwlock_t gate = GATE;
static _Thread_local unsigned sections; /* of this thread; it holds the gate shared if this is not 0 */

static pthread_mutex_t listing =
    PTHREAD_MUTEX_INITIALIZER; /* of the list below; locked inside the gate, only briefly */
static LIST_HEAD(, nt_lock) locks;

/* ---- Forking ---- */

static void before_fork(void)
{
    pthread_rwlock_wrlock(&gate);
    pthread_mutex_lock(&listing);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&listing);
    pthread_rwlock_unlock(&gate);
}

/* The threads that hold locks or wait for them do not exist here. This thread holds the two of
 * before_fork; it unlocks them for tools that watch the order of locks. */
static void in_forked_process(void)
{
    after_fork();
    gate = (pthread_rwlock_t)GATE;
    listing = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    struct nt_lock *lock;
    LIST_FOREACH(lock, &locks, listed)
    {
        lock->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
        if (lock->forked)
            lock->forked(lock);
    }
}

static int problem;

static void watch_forks(void)
{
    problem = pthread_atfork(before_fork, after_fork, in_forked_process);
}

/* ---- Sections ---- */

unsigned nt_critical_section_suspend(void)
{
    unsigned left = sections;
    sections = 0;
    if (left)
        pthread_rwlock_unlock(&gate);
    return left;
}

void nt_critical_section_resume(unsigned entered)
{
    if (entered)
        pthread_rwlock_rdlock(&gate);
    sections = entered;
}

void nt_critical_section_enter(void)
{
    if (sections == 0)
        pthread_rwlock_rdlock(&gate);
    sections++;
}

void nt_critical_section_exit(void)
{
    if (--sections == 0)
        pthread_rwlock_unlock(&gate);
}

/* ---- Locks ---- */

int nt_lock_init(struct nt_lock *lock, void (*forked)(struct nt_lock *lock))
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    if (problem)
        return problem;
    lock->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    lock->forked = forked;
    nt_critical_section_enter();
    pthread_mutex_lock(&listing);
    LIST_INSERT_HEAD(&locks, lock, listed);
    pthread_mutex_unlock(&listing);
    nt_critical_section_exit();
    return 0;
}

void nt_lock_deinit(struct nt_lock *lock)
{
    nt_critical_section_enter();
    pthread_mutex_lock(&listing);
    LIST_REMOVE(lock, listed);
    pthread_mutex_unlock(&listing);
    nt_critical_section_exit();
    pthread_mutex_destroy(&lock->mutex);
}

void nt_lock_acquire(struct nt_lock *lock)
{
    unsigned outer = nt_critical_section_suspend();
    pthread_mutex_lock(&lock->mutex);
    nt_critical_section_resume(outer + 1);
}

void nt_lock_release(struct nt_lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
    nt_critical_section_exit();
}

bool nt_lock_wait(struct nt_lock *lock, pthread_cond_t *condition, const struct timespec *until)
{
    unsigned entered = nt_critical_section_suspend();
    bool is_signalled = pthread_cond_timedwait(condition, &lock->mutex, until) == 0;
    nt_critical_section_resume(entered);
    return is_signalled;
}

/* ---- FIFO wait ---- */

int nt_fifo_init(struct nt_fifo *fifo)
{
    fifo->next = fifo->last = 0;
    return pthread_cond_init(&fifo->turned, NULL);
}

void nt_fifo_deinit(struct nt_fifo *fifo)
{
    pthread_cond_destroy(&fifo->turned);
}

void nt_fifo_wake(struct nt_fifo *fifo)
{
    if (fifo->next != fifo->last)
        pthread_cond_broadcast(&fifo->turned);
}

bool nt_fifo_wait(struct nt_fifo *fifo, pthread_mutex_t *lock, nt_has_room *has_room, const void *context,
                  uint64_t bytes)
{
    if (fifo->next == fifo->last && has_room(context, bytes))
        return false;
    uint64_t turn = fifo->last++;
    while (turn != fifo->next || !has_room(context, bytes))
        pthread_cond_wait(&fifo->turned, lock);
    fifo->next++;
    nt_fifo_wake(fifo); /* there may be room for the next one, too */
    return true;
}
