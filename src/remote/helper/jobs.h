/* SPDX-License-Identifier: MIT
 *
 * Parts of files that are wanted, each tried until it has come, or its time is over. How a part is asked for is the matter of an
 * engine: one for each library that speaks with servers.
 */
#ifndef NT_FETCH_JOBS_H
#define NT_FETCH_JOBS_H

#include <stdbool.h>
#include <stddef.h>

#include "remote/helper/result.h"

struct nt_engine;
struct nt_fetched;
struct nt_transfer;
struct nt_listing;
struct nt_transfers;

struct nt_engine_ops {
    unsigned at_once;    /* tries; */
    uint64_t most_bytes; /* of all tries at once, but for one that is longer alone */
    /* Whether it is for such an address. NULL: for all that no other engine takes. */
    bool (*takes)(const char *address);
    /* Begin to open a file: it will tell (nt_file_opened, nt_file_not_opened). False where it has not begun: with what is
     * wrong with the address, or without memory. */
    bool (*open)(struct nt_engine *engine, struct nt_fetched *file, const char *address,
                 const char **problem_ret);
    /* The same of a file that a list has told of: its size stands in it already, no server is asked, and it is open when this returns. */
    bool (*open_listed)(struct nt_engine *engine, struct nt_fetched *file, const char *address,
                        const char *stamp, const char **problem_ret);
    /* Free what is of the engine's own; no job of the file is left but the engine's own. */
    void (*close)(struct nt_fetched *file);
    /* Begin to list a folder: it will tell (listings.h), not before this has returned. False where it has not begun, likewise. */
    bool (*list)(struct nt_listing *listing, const char *address, const char **problem_ret);
    /* Free what is of the engine's own, its jobs as well. */
    void (*end_list)(struct nt_listing *listing);
    /* Begin to try, and count the requests that are made. What comes is given to job->take, and then the end told (nt_transfers_end_try), neither before this has returned.
     * False without memory. */
    bool (*start)(struct nt_transfer *job, uint64_t milliseconds);
    /* What is under way is not wanted any more; nothing may be. */
    void (*stop)(struct nt_transfer *job);
    /* Of a job that was paused: its bytes will be taken now. */
    void (*resume)(struct nt_transfer *job);
    /* Send and take whatever can be, without waiting. */
    void (*work)(struct nt_engine *engine);
};

/* Embedded in what an engine has. */
struct nt_engine {
    const struct nt_engine_ops *ops;
    struct nt_transfers *jobs;
    unsigned active;
    uint64_t active_bytes;
};

/* A file as its engine knows it; embedded likewise. */
struct nt_remote {
    struct nt_engine *engine;
};

struct nt_transfer {
    struct nt_remote *remote;
    void *attempt;            /* the engine's own, until `end` has been called; from malloc, or NULL */
    struct nt_result result;  /* of the last try */
    uint64_t first, bytes;    /* all that is wanted still; */
    bool is_suffix;           /* the last bytes, wherever they begin */
    uint64_t deadline, start; /* milliseconds: of the end, and when it is tried next */
    uint64_t milliseconds;    /* to its end, from the beginning */
    unsigned tries;           /* that brought nothing, one after the other, */
    unsigned most_tries;      /* and how many these may be */
    unsigned all_tries;
    bool is_ahead;  /* nobody waits for it yet */
    bool is_beside; /* nobody will: it takes nobody's place */
    bool is_paused, is_active;
    uint64_t active_bytes; /* that it counts as in its engine */
    /* Bytes at `offset` of the file; of a suffix, of that. False: not now, see `resume`. */
    bool (*take)(struct nt_transfer *job, uint64_t offset, const char *bytes, size_t count);
    /* It has come, or failed: `result` tells. It may be freed. */
    void (*end)(struct nt_transfer *job);
    struct nt_transfer *next, **link;
};

enum {
    NT_TRIES_ONCE = 1,
    NT_TRIES_OF_UNKNOWN = 5, /* a file that may not be there; */
    NT_TRIES_OF_KNOWN = 7,   /* one that is: its server may just be starting anew */
};

enum { NT_MOST_ENGINES = 2 };

struct nt_transfers {
    struct nt_engine *engines[NT_MOST_ENGINES];
    unsigned engine_count;
    struct nt_transfer *first, **last;
    unsigned count;
    struct nt_fetch_totals totals;
};

void nt_transfers_init(struct nt_transfers *jobs);
/* What asks first whether it is for an address comes first. */
void nt_transfers_add_engine(struct nt_transfers *jobs, struct nt_engine *engine,
                             const struct nt_engine_ops *ops);
/* The one for an address. */
struct nt_engine *nt_transfers_engine(const struct nt_transfers *jobs, const char *address);
void nt_transfers_add(struct nt_transfers *jobs, struct nt_transfer *job);
/* It is not wanted any more; `end` is not called. */
void nt_transfers_remove(struct nt_transfers *jobs, struct nt_transfer *job);
/* For engines: job->result tells what came of a try. */
void nt_transfers_end_try(struct nt_transfers *jobs, struct nt_transfer *job);
/* Start what may be, and end what has come to its end; milliseconds until there is more to do. */
uint64_t nt_transfers_work(struct nt_transfers *jobs);
/* What was paused goes on. */
void nt_transfers_continue(struct nt_transfers *jobs);

#endif
