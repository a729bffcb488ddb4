/* SPDX-License-Identifier: MIT
 *
 * Locks that are free in a forked process.
 *
 * A forked process has one thread, the one that forked. A lock that another thread had stays locked there for ever, and what that
 * thread was changing stays half changed. So no thread forks while another one is in a guarded section: it waits until they have
 * left it. Who has one of these locks is in one, except while it waits: for another such lock, for a condition, for a source to be
 * read. Whatever a lock guards is therefore whole at these places, as it is when it is given back. In the forked process all locks
 * are free.
 *
 * No thread waits for anything in a guarded section that another thread brings about, or takes long there.
 */
#ifndef NT_BASE_LOCK_H
#define NT_BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

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
void nt_lock_take(struct nt_lock *lock);
void nt_lock_give(struct nt_lock *lock);
/* As pthread_cond_timedwait; false at the time. */
bool nt_lock_wait(struct nt_lock *lock, pthread_cond_t *condition, const struct timespec *until);

/* A guarded section without a lock. */
void nt_fork_hold(void);
void nt_fork_release(void);

/* While a thread waits for something in guarded sections: it leaves all that it is in, and enters them again with what it got. */
unsigned nt_fork_allow(void);
void nt_fork_forbid(unsigned sections);

#endif
