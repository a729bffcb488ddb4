/* SPDX-License-Identifier: MIT
 *
 * In: the address of a folder. Out: an answer for each file and folder in it, as the engine that takes the address tells of them.
 */
#include "remote/helper/listings.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is told ---- */

bool nt_listing_is_full(const struct nt_listing *listing)
{
    return nt_output_is_full(listing->listings->output);
}

bool nt_listing_is_name(const char *name)
{
    return *name && strlen(name) <= NT_FETCH_NAME_BYTES && !strchr(name, '/') && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

bool nt_listing_tell(struct nt_listing *listing, const struct nt_listed *listed)
{
    char text[NT_FETCH_NAME_BYTES + 1 + NT_FETCH_STAMP_BYTES];
    size_t name = strlen(listed->name), stamp = strlen(listed->stamp);
    if (!nt_listing_is_name(listed->name) ||
        stamp >= NT_FETCH_STAMP_BYTES) /* it is called so nowhere else either */
        return true;
    if (++listing->entries > NT_FETCH_MOST_ENTRIES)
        return false;
    memcpy(text, listed->name, name + 1);
    memcpy(text + name + 1, listed->stamp, stamp);
    nt_output_put(listing->listings->output,
                  (struct nt_fetch_answer){.kind = NT_FETCH_ENTRY,
                                           .id = listing->id,
                                           .is_folder = listed->is_folder,
                                           .size = listed->size,
                                           .modified = listed->modified},
                  text, name + 1 + stamp);
    return true;
}

static void drop(struct nt_listing *listing)
{
    struct nt_listing **link = &listing->listings->first;
    while (*link != listing)
        link = &(*link)->next;
    *link = listing->next;
    if (listing->walk)
        listing->engine->ops->end_list(listing);
    free(listing);
}

void nt_listing_done(struct nt_listing *listing)
{
    nt_output_done(listing->listings->output, 0, listing->id);
    drop(listing);
}

void nt_listing_fail(struct nt_listing *listing, enum nt_fetch_failure failure, const char *message)
{
    nt_output_fail(listing->listings->output, 0, listing->id, failure, message);
    drop(listing);
}

/* ---- all of them ---- */

static struct nt_listing *add(struct nt_listings *listings, const struct nt_fetch_request *request,
                              struct nt_engine *engine)
{
    struct nt_listing *listing =
        listings->jobs->count < NT_FETCH_MOST_REQUESTS ? calloc(1, sizeof(*listing)) : NULL;
    if (!listing)
        return NULL;
    *listing = (struct nt_listing){.listings = listings,
                                   .engine = engine,
                                   .id = request->id,
                                   .milliseconds = request->milliseconds,
                                   .next = listings->first};
    listings->first = listing;
    return listing;
}

void nt_listings_start(struct nt_listings *listings, const struct nt_fetch_request *request, const char *text,
                       size_t bytes)
{
    const char *problem = NULL;
    char *address = memchr(text, '\0', bytes) ? NULL : strndup(text, bytes);
    struct nt_engine *engine = address ? nt_transfers_engine(listings->jobs, address) : NULL;
    struct nt_listing *listing = engine ? add(listings, request, engine) : NULL;
    if (!listing)
        nt_output_fail(listings->output, 0, request->id, NT_FETCH_UNREACHABLE,
                       "the process that fetches cannot list more folders");
    else if (!engine->ops->list(listing, address, &problem))
        nt_listing_fail(listing, problem ? NT_FETCH_INVALID : NT_FETCH_UNREACHABLE,
                        problem ? problem : "out of memory");
    free(address);
}

bool nt_listings_cancel(struct nt_listings *listings, uint64_t id)
{
    struct nt_listing *listing = listings->first;
    while (listing && listing->id != id)
        listing = listing->next;
    if (listing)
        drop(listing);
    return listing != NULL;
}
