/* SPDX-License-Identifier: MIT
 *
 * Threads: fork-safe mutexes, FIFO waiting for a shared resource, thread creation with signals blocked,
 * and the monotonic clock.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <time.h>

/* ---- Monotonic clock ---- */

#define NT_SECOND UINT64_C(1000000000)
#define NT_MILLISECOND UINT64_C(1000000)

/* Nanoseconds of the monotonic clock. Any thread. */
static inline uint64_t nt_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NT_SECOND + (uint64_t)now.tv_nsec;
}

/* The same in milliseconds. */
static inline uint64_t nt_milliseconds(void)
{
    return nt_nanoseconds() / NT_MILLISECOND;
}

/* For timed waits until this time. */
static inline struct timespec nt_timespec(uint64_t nanoseconds)
{
    return (struct timespec){.tv_sec = (time_t)(nanoseconds / NT_SECOND),
                             .tv_nsec = (long)(nanoseconds % NT_SECOND)};
}

/* A condition for timed waits with this clock. 0 or an errno value. */
int nt_condition_init(pthread_cond_t *condition);

/* ---- Thread creation ---- */

/* As pthread_create, with all signals blocked. */
int nt_thread_start(pthread_t *thread, void *(*run)(void *), void *context);

/* ---- Fork-safe mutexes ---- */

/* Locks that are free in a forked process.
 *
 * A forked process has one thread. A lock of another thread would stay locked there, and its data half
 * changed. So a fork waits until all other threads have left their guarded sections. A thread that holds one
 * of these locks is in a critical section, except while it waits: for another such lock, for a condition, or
 * for a read. So whatever a lock guards must be consistent at these places, as when it is released. In the
 * forked process all locks are free.
 *
 * Inside a guarded section, never wait for another thread, and never take long. */

struct nt_lock {
    pthread_mutex_t mutex;
    /* Called in a forked process, before fork() returns, to replace other parts of the owner. Must not
     * lock or allocate. NULL: nothing to do. */
    void (*forked)(struct nt_lock *lock);
    LIST_ENTRY(nt_lock) listed;
};

/* 0 or an errno value. */
int nt_lock_init(struct nt_lock *lock, void (*forked)(struct nt_lock *lock));
void nt_lock_deinit(struct nt_lock *lock);
void nt_lock_acquire(struct nt_lock *lock);
void nt_lock_release(struct nt_lock *lock);
/* As pthread_cond_timedwait; false after a timeout. */
bool nt_lock_wait(struct nt_lock *lock, pthread_cond_t *condition, const struct timespec *until);

/* A guarded section without a lock. */
void nt_critical_section_enter(void);
void nt_critical_section_exit(void);

/* Around a wait within guarded sections: leaves them all, and later re-enters as many. */
unsigned nt_critical_section_suspend(void);
void nt_critical_section_resume(unsigned sections);

/* ---- Locks held until the end of a scope ---- */

static inline struct nt_lock *nt_lock_hold(struct nt_lock *lock)
{
    nt_lock_acquire(lock);
    return lock;
}

static inline void nt_lock_release_at(struct nt_lock **held)
{
    nt_lock_release(*held);
}

static inline pthread_mutex_t *nt_mutex_hold(pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex);
    return mutex;
}

static inline void nt_mutex_unlock_at(pthread_mutex_t **held)
{
    pthread_mutex_unlock(*held);
}

/* A statement: holds the lock until the enclosing scope ends, the expression of a `return` included. Do not
 * read, request or decode there what the lock does not protect. */
#define NT_LOCK_GUARD(lock)                                                                                  \
    __attribute__((cleanup(nt_lock_release_at), unused)) struct nt_lock *held_lock = nt_lock_hold(lock)
#define NT_MUTEX_GUARD(mutex)                                                                                \
    __attribute__((cleanup(nt_mutex_unlock_at), unused)) pthread_mutex_t *held_mutex = nt_mutex_hold(mutex)

/* ---- FIFO wait ---- */

/* Protected by a lock of its owner. */
struct nt_fifo {
    pthread_cond_t turned;
    uint64_t next, last; /* turns of the waiting threads; equal: none */
};

/* Is there room for `bytes`? Must be true if none are in use; otherwise waiters never wake. */
typedef bool nt_has_room(const void *context, uint64_t bytes);

/* 0 or an errno value. */
int nt_fifo_init(struct nt_fifo *fifo);
void nt_fifo_deinit(struct nt_fifo *fifo); /* without waiters */

/* The lock is held on entry and exit. Returns when there is room and all earlier callers had their
 * turn. Returns false if it did not wait, and so never released the lock. */
bool nt_fifo_wait(struct nt_fifo *fifo, pthread_mutex_t *lock, nt_has_room *has_room, const void *context,
                  uint64_t bytes);
/* Under the lock: there may be more room. */
void nt_fifo_wake(struct nt_fifo *fifo);
