/* SPDX-License-Identifier: MIT
 *
 * In: the address of a folder. Out: what is in it, with what tells files from others: the time of modification, as when they are opened.
 */
#include "remote/helper/xrootd_list.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"

/* A folder is asked for as a file is: by a job that is tried until there is an answer. */
struct nt_xrd_walk {
    struct nt_transfer job;
    struct nt_xrootd_file folder;
    struct nt_listing *listing;
    struct question *question; /* NULL: none is under way */
    bool has_ended;            /* the job has */
};

/* What the client was asked; it outlives who asked. */
struct question {
    struct nt_xrd_operation operation;
    struct nt_xrd_walk *walk; /* NULL: nobody waits */
    struct nt_xrd_list *list;
};

/* ---- the answer ---- */

/* False where there is more than is listed. */
static bool tell_all(struct nt_listing *listing, const struct nt_xrd_client *client,
                     const struct nt_xrd_list *list)
{
    struct nt_xrd_entry entry;
    for (unsigned i = 0; client->entry(list, i, &entry); i++) {
        char stamp[NT_FETCH_STAMP_BYTES] = "";
        struct nt_listed listed = {entry.name, entry.is_folder, entry.size, NT_FETCH_NO_TIME, stamp};
        if (entry.has_attributes)
            listed.modified = entry.modified;
        if (entry.has_attributes && !entry.is_folder)
            nt_xrootd_stamp(stamp, entry.modified);
        if (!nt_listing_tell(listing, &listed))
            return false;
    }
    return true;
}

static void end_question(struct nt_xrd_operation *operation)
{
    static const struct nt_result too_many = {NT_OUTCOME_BAD, NT_FETCH_UNSUPPORTED,
                                              .message = NT_LISTING_TOO_LONG};
    struct question *question = (struct question *)operation;
    const struct nt_xrd_client *client = operation->queue->client;
    struct nt_xrd_walk *walk = question->walk;
    if (walk) {
        walk->question = NULL;
        walk->job.result = operation->answer.result;
        if (walk->job.result.outcome == NT_OUTCOME_GOOD && !tell_all(walk->listing, client, question->list))
            walk->job.result = too_many;
        nt_transfers_end_try(walk->folder.remote.engine->jobs, &walk->job);
    }
    client->free_list(question->list);
    free(question);
}

static void end_job(struct nt_transfer *job)
{
    struct nt_xrd_walk *walk = (struct nt_xrd_walk *)job;
    struct nt_listing *listing = walk->listing;
    const struct nt_result result = job->result;
    walk->has_ended = true;
    if (result.outcome == NT_OUTCOME_GOOD)
        nt_listing_done(listing);
    else
        nt_listing_fail(listing, result.failure, result.message);
}

/* ---- asking ---- */

void nt_xrootd_list_ask(struct nt_xrootd_file *folder, struct nt_xrd_queue *queue)
{
    struct nt_xrd_attempt *attempt = folder->waiting;
    struct nt_xrd_walk *walk = folder->walk;
    uint64_t now = nt_milliseconds(), milliseconds = attempt->deadline > now ? attempt->deadline - now : 1;
    struct question *question = calloc(1, sizeof(*question));
    if (question) {
        *question = (struct question){.operation = {.end = end_question}, .walk = walk};
        question->list = nt_xrd_queue_list(queue, &question->operation, folder->url, milliseconds);
    }
    if (!question || !question->list) {
        free(question);
        nt_xrootd_file_fail(folder, &nt_result_no_memory);
        return;
    }
    folder->remote.engine->jobs->totals.requests++;
    nt_xrd_attempt_leave(attempt);
    walk->question = question;
}

void nt_xrootd_list_leave(struct nt_xrootd_file *folder)
{
    struct nt_xrd_walk *walk = folder->walk;
    if (walk->question)
        walk->question->walk = NULL;
    walk->question = NULL;
}

bool nt_xrootd_list(struct nt_listing *listing, struct nt_xrootd_wanting *wanting, const char *address)
{
    struct nt_xrd_walk *walk = calloc(1, sizeof(*walk));
    char *url = strdup(address);
    if (!walk || !url) {
        free(walk);
        free(url);
        return false;
    }
    walk->listing = listing;
    walk->folder =
        (struct nt_xrootd_file){.remote = {listing->engine}, .url = url, .wanting = wanting, .walk = walk};
    walk->job = (struct nt_transfer){.remote = &walk->folder.remote,
                                     .milliseconds = listing->milliseconds,
                                     .most_tries = NT_TRIES_OF_UNKNOWN,
                                     .end = end_job};
    listing->walk = walk;
    nt_transfers_add(listing->engine->jobs, &walk->job);
    return true;
}

void nt_xrootd_end_list(struct nt_listing *listing)
{
    struct nt_xrd_walk *walk = listing->walk;
    if (!walk->has_ended)
        nt_transfers_remove(listing->engine->jobs, &walk->job);
    nt_xrootd_file_rest(&walk->folder);
    free(walk->folder.url);
    free(walk);
}
