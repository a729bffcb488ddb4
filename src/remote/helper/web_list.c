/* SPDX-License-Identifier: MIT
 *
 * In: the address of a folder. Out: what is in it, as the server's list comes. WebDAV sends one list, S3 one for each thousand keys, which
 * follow one another.
 */
#include "remote/helper/web_list.h"

#include <stdlib.h>
#include <string.h>

#include "remote/helper/folder_list.h"
#include "remote/helper/web_open.h"

/* Of parts that name nothing so many may follow one another: a store that looks through what was deleted sends some. */
enum { MOST_EMPTY_PARTS = 100 };

struct walk {
    struct nt_transfer job;
    struct nt_origin origin;
    struct nt_listing *listing;
    char *address;                          /* as it was given */
    struct nt_list_parser *list;            /* of the answer that comes; NULL: nothing has come */
    char token[NT_FOLDER_LIST_TOKEN_BYTES]; /* that this part was asked for with */
    bool is_asking;                         /* the job is one of the engine's */
    bool is_too_long;
    bool is_there;        /* a part before has told so */
    unsigned entries;     /* before this part; */
    unsigned empty_parts; /* and how many before it have brought none */
};

/* ---- what comes ---- */

/* What names no version cannot be asked for. */
static void take_entry(void *context, const struct nt_list_entry *entry)
{
    struct walk *walk = context;
    char stamp[NT_FETCH_STAMP_BYTES] = "";
    const struct nt_validators *known = &entry->validators;
    if (!entry->is_folder && (known->tag[0] || known->modified[0]))
        stamp[nt_validators_write(known, stamp, sizeof(stamp))] = '\0';
    walk->is_too_long |= !nt_listing_tell(walk->listing, &(struct nt_listed){.name = entry->name,
                                                                             .is_folder = entry->is_folder,
                                                                             .size = entry->size,
                                                                             .modified = entry->modified,
                                                                             .stamp = stamp});
}

/* Another try begins the answer anew. */
static bool begin(struct walk *walk)
{
    char *folder = nt_address_folder(walk->address, nt_request_address(walk->job.attempt));
    nt_list_parser_free(walk->list);
    walk->list = folder ? nt_list_parser_new(walk->origin.service, folder, take_entry, walk) : NULL;
    free(folder);
    return walk->list != NULL;
}

static bool take(struct nt_transfer *job, uint64_t offset, const char *bytes, size_t count)
{
    struct walk *walk = (struct walk *)job;
    if (nt_listing_is_full(walk->listing)) {
        job->is_paused = true;
        return false;
    }
    if (offset == 0 && !begin(walk))
        nt_request_refuse(job->attempt, NT_FETCH_UNREACHABLE, "out of memory");
    else if (!nt_list_parser_feed(walk->list, bytes, count, false))
        nt_request_refuse(job->attempt, NT_FETCH_UNREACHABLE, nt_list_parser_problem(walk->list));
    else if (walk->is_too_long)
        nt_request_refuse(job->attempt, NT_FETCH_UNSUPPORTED, NT_LISTING_TOO_LONG);
    return true;
}

/* ---- one part after the other ---- */

static void end(struct nt_transfer *job);

static bool ask(struct walk *walk, const char **problem_ret)
{
    struct nt_origin *origin = &walk->origin;
    free(origin->address);
    free(origin->elsewhere);
    *origin = (struct nt_origin){.remote = {walk->listing->engine}, .asked = NT_ASKED_FOLDER};
    origin->address = nt_address_list_url(walk->address, walk->token, &origin->service, problem_ret);
    if (!origin->address)
        return false;
    walk->job = (struct nt_transfer){.remote = &origin->remote,
                                     .milliseconds = walk->listing->milliseconds,
                                     .most_tries = NT_TRIES_OF_UNKNOWN,
                                     .take = take,
                                     .end = end};
    walk->is_asking = true;
    nt_transfers_add(walk->listing->listings->jobs, &walk->job);
    return true;
}

static void go_on(struct walk *walk, const char *token)
{
    const char *problem = "out of memory";
    if (!*token || strcmp(token, walk->token) == 0) {
        nt_listing_fail(walk->listing, NT_FETCH_UNREACHABLE, "the server does not tell how its list goes on");
        return;
    }
    walk->empty_parts = walk->listing->entries > walk->entries ? 0 : walk->empty_parts + 1;
    walk->entries = walk->listing->entries;
    if (walk->empty_parts >= MOST_EMPTY_PARTS) {
        nt_listing_fail(walk->listing, NT_FETCH_UNREACHABLE,
                        "the server's list goes on and on, and names nothing");
        return;
    }
    strcpy(walk->token, token);
    nt_list_parser_free(walk->list);
    walk->list = NULL;
    if (!ask(walk, &problem))
        nt_listing_fail(walk->listing, NT_FETCH_UNREACHABLE, problem);
}

static void end(struct nt_transfer *job)
{
    struct walk *walk = (struct walk *)job;
    struct nt_listing *listing = walk->listing;
    walk->is_asking = false;
    if (job->result.outcome != NT_OUTCOME_GOOD) {
        nt_listing_fail(listing, job->result.failure, job->result.message);
        return;
    }
    if (!walk->list || !nt_list_parser_feed(walk->list, "", 0, true)) {
        nt_listing_fail(listing, NT_FETCH_UNREACHABLE,
                        walk->list ? nt_list_parser_problem(walk->list) : "the server sends no list");
        return;
    }
    const char *token = nt_list_parser_token(walk->list);
    walk->is_there |= nt_list_parser_is_there(walk->list);
    if (token)
        go_on(walk, token);
    else if (walk->is_there)
        nt_listing_done(listing);
    else
        nt_listing_fail(listing, NT_FETCH_NOT_FOUND, "the server has no such folder");
}

bool nt_web_list(struct nt_listing *listing, const char *address, const char **problem_ret)
{
    struct walk *walk = calloc(1, sizeof(*walk));
    listing->walk = walk;
    if (!walk || !(walk->address = strdup(address)))
        return false;
    walk->listing = listing;
    return ask(walk, problem_ret);
}

void nt_web_end_list(struct nt_listing *listing)
{
    struct walk *walk = listing->walk;
    if (walk->is_asking)
        nt_transfers_remove(listing->listings->jobs, &walk->job);
    nt_list_parser_free(walk->list);
    free(walk->origin.address);
    free(walk->origin.elsewhere);
    free(walk->address);
    free(walk);
}
