/* SPDX-License-Identifier: MIT
 *
 * Folders of which it is told what is in them.
 */
#ifndef NT_FETCH_LISTINGS_H
#define NT_FETCH_LISTINGS_H

#include "remote/helper/jobs.h"
#include "remote/helper/output.h"

struct nt_listings {
    struct nt_transfers *jobs;
    struct nt_output *output;
    struct nt_listing *first;
};

struct nt_listing {
    struct nt_listings *listings;
    struct nt_engine *engine;
    void *walk; /* the engine's own, from `list` on */
    uint64_t id;
    uint64_t milliseconds; /* of each part of it */
    unsigned entries;
    struct nt_listing *next;
};

struct nt_listed {
    const char *name; /* one part of a path */
    bool is_folder;
    uint64_t size;
    int64_t modified;  /* NT_FETCH_NO_TIME */
    const char *stamp; /* as OPENED has it; "": it has to be opened to be known */
};

/* For engines: whether who asked is slow to take what was told; something in the folder; and the end. It is gone then. */
bool nt_listing_is_full(const struct nt_listing *listing);
#define NT_LISTING_TOO_LONG "there is more in the folder than is listed"
/* False where that is so. What cannot be a name is left out. */
bool nt_listing_tell(struct nt_listing *listing, const struct nt_listed *listed);
void nt_listing_done(struct nt_listing *listing);
void nt_listing_fail(struct nt_listing *listing, enum nt_fetch_failure failure, const char *message);

/* Whether it can be one part of a path. */
bool nt_listing_is_name(const char *name);

void nt_listings_start(struct nt_listings *listings, const struct nt_fetch_request *request, const char *text,
                       size_t bytes);
/* False where there is none of this number. */
bool nt_listings_cancel(struct nt_listings *listings, uint64_t id);

#endif
