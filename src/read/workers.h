/* SPDX-License-Identifier: MIT
 *
 * Threads that decode ahead of sequential readers, and that help with large reads.
 */
#ifndef NT_PAGE_WORKERS_H
#define NT_PAGE_WORKERS_H

#include <stdint.h>

struct nt_workers;
struct nt_reader;
struct nt_dataset;
struct nt_page;

/* Something to do ahead: a function, and what it is called with. */
struct nt_job {
    void (*run)(const struct nt_job *job);
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t column;
    const struct nt_page *page;
};

/* NULL without memory. Where the machine gives fewer threads than `count`, those do the work. Without any, or
 * where `count` is 0, nothing is done ahead, and callers work alone. */
struct nt_workers *nt_workers_new(unsigned count);
void nt_workers_free(struct nt_workers *workers); /* accepts NULL */
unsigned nt_workers_count(const struct nt_workers *workers);

/* Workers that have nothing to do, jobs that are queued counted as theirs; may be out of date at once. */
unsigned nt_workers_idle(struct nt_workers *workers);

/* Queue a job, which is copied; dropped when there is enough to do already. */
void nt_workers_ahead(struct nt_workers *workers, const struct nt_job *job);
/* The caller is about to do a page's jobs itself: no worker needs to. */
void nt_workers_claim(struct nt_workers *workers, const struct nt_page *page);
/* Drop what is queued for a data set and wait for what is under way. */
void nt_workers_forget(struct nt_workers *workers, const struct nt_dataset *dataset);

/* Run `work` on this thread and on all idle workers at once; returns when all have returned. `work` hands out
 * the shares itself and returns when none is left. */
void nt_workers_together(struct nt_workers *workers, void (*work)(void *context), void *context);

#endif
