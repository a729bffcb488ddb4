/* SPDX-License-Identifier: MIT
 *
 * Which of many threads wait for requests.
 *
 * The kernel wakes the thread that has waited for longest, on another processor mostly, which takes longer than
 * answering a small request. While all requests are quick only one thread waits for them, the leader, and answers
 * them itself; the others wait behind it. Before work that may be slow it lets them go: then all receive, as
 * several requests are to be served at once, until NT_LEAD_QUIET quick ones have come one after the other. It
 * does so, too, where one request waits behind another again and again: several ask at once, and there is work for
 * several processors.
 *
 * Nobody has to know beforehand what is slow: of those behind the leader one watches it, and lets all go where
 * one request takes longer than its patience. It sleeps while the leader waits.
 *
 * A processor without work sleeps, and takes longer to wake than a small request takes to be answered. So where
 * a request came soon, the leader looks out for the next one as long before it sleeps.
 *
 * Who asks sleeps meanwhile, too, and is woken by the answer. It need not be where both take turns on one processor. So where
 * the leader has to look out for requests again and again, it moves to another processor until it finds them there when it
 * has answered; each time in vain it is twice as slow to try again.
 */
#ifndef NT_FUSE_LEAD_H
#define NT_FUSE_LEAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/clock.h"

enum {
    NT_LEAD_QUIET = 64,     /* quick requests after a slow one */
    NT_LEAD_QUEUED = 16,    /* requests one after the other behind which there was another */
    NT_LEAD_CROWDED = 1024, /* quick requests after these */
    NT_LEAD_APART = 32,     /* requests looked out for, less others, before it moves, ... */
    NT_LEAD_MOVES = 10,     /* ... twice as many each time, so often */
};

/* How a request has come to who leads. */
enum nt_arrival {
    NT_AWAITED,
    NT_THERE,  /* when it came, or had let others of its processor go first */
    NT_QUEUED, /* so, and another one is there behind it */
};

/* For a mount: longer than what is quick, shorter than anybody notices. */
#define NT_LEAD_PATIENCE (2 * NT_MILLISECOND)
/* For a mount: longer than who reads one small piece after the other takes between two. */
#define NT_LEAD_SOON (NT_MILLISECOND / 10)

struct nt_lead {
    pthread_mutex_t lock;
    pthread_cond_t freed;     /* who waits behind the leader may go */
    pthread_cond_t has_begun; /* for the one who watches */
    atomic_uintptr_t leader;  /* a pthread_t; 0: none. Changed under the lock */
    atomic_int until_quiet;   /* quick requests; positive: all receive */
    atomic_uint_least64_t
        progress; /* of leaders: twice the requests received, plus one while one is served */
    atomic_bool watcher_sleeps;
    bool is_watched;
    unsigned queued;                   /* the leader's: requests behind which there was another, ... */
    unsigned apart;                    /* ... those that it looked out for, less others, ... */
    unsigned moves;                    /* ... and how often it has moved in vain */
    atomic_uint_least64_t waits_since; /* the leader: nanoseconds of the monotonic clock */
    atomic_bool is_busy;               /* the last request came soon */
    uint64_t patience, soon;
};

/* `patience`: nanoseconds until a request is taken for slow; it may last twice as long. `soon`: nanoseconds between
 * requests that are looked out for. 0 or an errno value. */
int nt_lead_init(struct nt_lead *lead, uint64_t patience, uint64_t soon);
void nt_lead_deinit(struct nt_lead *lead); /* nobody is in it */

/* Before a thread waits for a request: returns when it may, and whether it leads. A cancellation point, which
 * leaves nothing behind. */
bool nt_lead_wait(struct nt_lead *lead);
/* By who leads and finds no request: whether to look once more rather than to sleep. Lets other threads of its
 * processor go first. */
bool nt_lead_looks_out(const struct nt_lead *lead);
/* It has received one. `arrival` matters where it leads. */
void nt_lead_received(struct nt_lead *lead, bool is_quick, enum nt_arrival arrival);
/* Before work that may be slow, by any thread: others receive meanwhile. */
void nt_lead_let_go(struct nt_lead *lead);

#endif
