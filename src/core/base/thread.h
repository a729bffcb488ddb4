/* SPDX-License-Identifier: MIT
 *
 * Threads that work beside a program: signals are for the program's own.
 */
#ifndef NT_BASE_THREAD_H
#define NT_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

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

#endif
