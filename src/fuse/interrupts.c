/* SPDX-License-Identifier: MIT
 *
 * In: requests that were interrupted. Out: answers to the device, some time later, by a thread that the first of them starts.
 */
#include "fuse/interrupts.h"

#include <errno.h>
#include <linux/fuse.h>
#include <sys/uio.h>

#include "core/base/clock.h"
#include "core/base/thread.h"

/* ENOENT, most of the time: the request has been answered. */
static void answer(int device, uint64_t request)
{
    struct fuse_out_header header = {.len = sizeof(header), .error = -EINTR, .unique = request};
    (void)!writev(device, &(struct iovec){&header, sizeof(header)}, 1);
}

/* Until it is due, or something has changed. */
static void wait_for(struct nt_interrupts *interrupts, uint64_t due)
{
    const struct timespec until = nt_timespec(due);
    pthread_cond_timedwait(&interrupts->changed, &interrupts->lock, &until);
}

static void *answer_all(void *context)
{
    struct nt_interrupts *interrupts = context;
    pthread_mutex_lock(&interrupts->lock);
    while (!interrupts->must_end) {
        const struct nt_interrupt *first = &interrupts->list[interrupts->first];
        if (interrupts->count == 0) {
            pthread_cond_wait(&interrupts->changed, &interrupts->lock);
        } else if (first->due > nt_nanoseconds()) {
            wait_for(interrupts, first->due);
        } else {
            answer(interrupts->device, first->request);
            interrupts->first = (interrupts->first + 1) % NT_MOST_INTERRUPTS;
            interrupts->count--;
        }
    }
    pthread_mutex_unlock(&interrupts->lock);
    return NULL;
}

void nt_interrupts_note(struct nt_interrupts *interrupts, uint64_t request)
{
    pthread_mutex_lock(&interrupts->lock);
    if (!interrupts->is_started)
        interrupts->is_started = nt_thread_start(&interrupts->thread, answer_all, interrupts) == 0;
    if (interrupts->is_started && interrupts->count < NT_MOST_INTERRUPTS) {
        unsigned place = (interrupts->first + interrupts->count) % NT_MOST_INTERRUPTS;
        interrupts->list[place] = (struct nt_interrupt){request, nt_nanoseconds() + interrupts->patience};
        interrupts->count++;
        pthread_cond_signal(&interrupts->changed);
    }
    pthread_mutex_unlock(&interrupts->lock);
}

int nt_interrupts_init(struct nt_interrupts *interrupts, int device, uint64_t patience)
{
    pthread_condattr_t attributes;
    *interrupts = (struct nt_interrupts){.device = device, .patience = patience};
    int problem = pthread_mutex_init(&interrupts->lock, NULL);
    if (problem)
        return problem;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    problem = pthread_cond_init(&interrupts->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (problem)
        pthread_mutex_destroy(&interrupts->lock);
    return problem;
}

void nt_interrupts_deinit(struct nt_interrupts *interrupts)
{
    pthread_mutex_lock(&interrupts->lock);
    interrupts->must_end = true;
    pthread_cond_signal(&interrupts->changed);
    pthread_mutex_unlock(&interrupts->lock);
    if (interrupts->is_started)
        pthread_join(interrupts->thread, NULL);
    pthread_cond_destroy(&interrupts->changed);
    pthread_mutex_destroy(&interrupts->lock);
}
