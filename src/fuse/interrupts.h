/* SPDX-License-Identifier: MIT
 *
 * Callers that were interrupted while they wait for an answer. The kernel lets nobody go before a request is answered, not even
 * who is killed. So where there is no answer a moment after the interrupt, one is given: EINTR. What was asked for is worked on
 * nevertheless, and the kernel does not take its late answer (ENOENT).
 */
#ifndef NT_FUSE_INTERRUPTS_H
#define NT_FUSE_INTERRUPTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* For a mount: nobody waits longer who has pressed a key, and what does not wait for others has its answer by then. */
#define NT_INTERRUPTS_PATIENCE INT64_C(250000000)

enum { NT_MOST_INTERRUPTS = 256 }; /* at once; who comes then waits for the answer */

struct nt_interrupts {
    int device;
    uint64_t patience; /* nanoseconds */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool is_started, must_end;
    unsigned first, count;
    struct nt_interrupt {
        uint64_t request;
        uint64_t due;
    } list[NT_MOST_INTERRUPTS]; /* a ring */
};

/* 0 or an errno value. */
int nt_interrupts_init(struct nt_interrupts *interrupts, int device, uint64_t patience);
/* After this no answer is given any more. */
void nt_interrupts_deinit(struct nt_interrupts *interrupts);

/* Who waits for this request was interrupted. Any thread. */
void nt_interrupts_note(struct nt_interrupts *interrupts, uint64_t request);

#endif
