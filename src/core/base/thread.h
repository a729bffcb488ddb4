/* SPDX-License-Identifier: MIT
 *
 * Threads: fork-safe mutexes, FIFO admission to a shared resource, thread creation with signals blocked,
 * and the monotonic clock.
 */
#ifndef NT_CORE_BASE_THREAD_H
#define NT_CORE_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
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

/* Nanoseconds for who waits until then. */
static inline struct timespec nt_timespec(uint64_t nanoseconds)
{
    return (struct timespec){.tv_sec = (time_t)(nanoseconds / NT_SECOND),
                             .tv_nsec = (long)(nanoseconds % NT_SECOND)};
}

/* A condition for who waits until a time of this clock. 0 or an errno value. */
static inline int nt_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int problem = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return problem;
}

/* ---- Thread creation ---- */

/* As pthread_create; no signal is delivered to the thread. */
static inline int nt_thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int problem = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return problem;
}

/* ---- Fork-safe mutexes ---- */

/* Locks that are free in a forked process.
 * 
 * A forked process has one thread, the one that forked. A lock that another thread had stays locked there for ever, and what that
 * thread was changing stays half changed. So no thread forks while another one is in a guarded section: it waits until they have
 * left it. Who has one of these locks is in one, except while it waits: for another such lock, for a condition, for a source to be
 * read. Whatever a lock guards is therefore whole at these places, as it is when it is given back. In the forked process all locks
 * are free.
 * 
 * No thread waits for anything in a guarded section that another thread brings about, or takes long there. */

struct nt_lock {
    pthread_mutex_t mutex;
    /* In a forked process, before fork() returns: for what else of its owner is another one there. It takes no lock and no memory.
     * NULL: nothing is. */
    void (*forked)(struct nt_lock *lock);
    struct nt_lock *next, **link;
};

/* 0 or an errno value. */
int nt_lock_init(struct nt_lock *lock, void (*forked)(struct nt_lock *lock));
void nt_lock_deinit(struct nt_lock *lock);
void nt_lock_acquire(struct nt_lock *lock);
void nt_lock_release(struct nt_lock *lock);
/* As pthread_cond_timedwait; false at the time. */
bool nt_lock_wait(struct nt_lock *lock, pthread_cond_t *condition, const struct timespec *until);

/* A guarded section without a lock. */
void nt_fork_guard(void);
void nt_fork_unguard(void);

/* While a thread waits for something in guarded sections: it leaves all that it is in, and enters them again with what it got. */
unsigned nt_fork_allow(void);
void nt_fork_forbid(unsigned sections);

/* ---- FIFO wait ---- */

/* Under a lock of its owner's. */
struct nt_fifo {
    pthread_cond_t turned;
    uint64_t next, last; /* turns of those who wait; equal: nobody does */
};

/* Whether there is room for so many bytes. It must be true where nobody has any: who waits would wait for
 * ever. */
typedef bool nt_has_room(const void *context, uint64_t bytes);

/* 0 or an errno value. */
int nt_fifo_init(struct nt_fifo *fifo);
void nt_fifo_deinit(struct nt_fifo *fifo); /* nobody waits */

/* With the lock held on entry and exit: returns when there is room and all who came before have had theirs.
 * False: at once, the lock was held all the time. */
bool nt_fifo_wait(struct nt_fifo *fifo, pthread_mutex_t *lock, nt_has_room *has_room, const void *context,
                  uint64_t bytes);
/* Under the lock: there may be more room now. */
void nt_fifo_wake(struct nt_fifo *fifo);

#endif
