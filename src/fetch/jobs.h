/* SPDX-License-Identifier: MIT
 *
 * Parts of files that are wanted, each tried until it has come, or its time is over.
 */
#ifndef NT_FETCH_JOBS_H
#define NT_FETCH_JOBS_H

#include "fetch/address.h"
#include "fetch/request.h"

/* What requests to one address share; embedded in what knows more of the file. */
struct nt_origin {
    char *address; /* a URL */
    enum nt_service service;
    char *elsewhere; /* where the server sent the last request to; NULL: nowhere else */
    struct nt_version version;
    bool is_known; /* the version is */
};

struct nt_job {
    struct nt_origin *origin;
    struct nt_request request; /* first, bytes, is_suffix and take are told by who makes the job */
    uint64_t first, bytes;     /* all that is wanted */
    uint64_t deadline, start;  /* milliseconds: of the end, and when it is tried next */
    uint64_t milliseconds;     /* to its end, from the beginning */
    unsigned tries;            /* that brought nothing, one after the other */
    unsigned all_tries;
    bool is_optional; /* tried once */
    bool is_ahead;    /* nobody waits for it yet */
    bool is_paused, is_active;
    /* It has come, or failed: request.outcome and the rest tell. It may be freed. */
    void (*end)(struct nt_job *job);
    struct nt_job *next, **link;
};

struct nt_jobs {
    CURLM *multi;
    struct nt_job *first, **last;
    unsigned active, count;
    struct nt_fetch_totals totals;
};

uint64_t nt_jobs_now(void); /* milliseconds */
bool nt_jobs_init(struct nt_jobs *jobs);
void nt_jobs_add(struct nt_jobs *jobs, struct nt_job *job);
/* It is not wanted any more; `end` is not called. */
void nt_jobs_remove(struct nt_jobs *jobs, struct nt_job *job);
/* Start what may be, and end what has come to its end; milliseconds until there is more to do. */
uint64_t nt_jobs_work(struct nt_jobs *jobs);
/* What was paused (nt_request.take) goes on. */
void nt_jobs_continue(struct nt_jobs *jobs);

#endif
