/* SPDX-License-Identifier: MIT
 *
 * In: a file's URL, and attempts that want something of it. Out: the file, open, and known to be the same as before.
 */
#include "remote/helper/xrootd_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"

const struct nt_result nt_xrootd_changed = {NT_OUTCOME_BAD, NT_FETCH_CHANGED,
                                            .message = "the server has another version now"};

/* ---- who waits ---- */

static void want(struct nt_xrootd_file *file)
{
    if (file->link)
        return;
    file->next = file->wanting->first;
    file->link = &file->wanting->first;
    if (file->next)
        file->next->link = &file->next;
    file->wanting->first = file;
}

void nt_xrootd_file_rest(struct nt_xrootd_file *file)
{
    if (!file->link)
        return;
    *file->link = file->next;
    if (file->next)
        file->next->link = file->link;
    file->link = NULL;
}

void nt_xrootd_file_await(struct nt_xrootd_file *file, struct nt_xrd_attempt *attempt)
{
    struct nt_xrd_attempt **link = &file->waiting;
    while (*link)
        link = &(*link)->next;
    *link = attempt;
    attempt->link = link;
    attempt->next = NULL;
    want(file);
}

void nt_xrd_attempt_leave(struct nt_xrd_attempt *attempt)
{
    if (!attempt->link)
        return;
    *attempt->link = attempt->next;
    if (attempt->next)
        attempt->next->link = attempt->link;
    attempt->link = NULL;
}

/* The end of one may be the end of others, and of the file. */
void nt_xrootd_file_fail(struct nt_xrootd_file *file, const struct nt_result *result)
{
    const struct nt_result end = *result;
    struct nt_xrd_attempt *attempts = file->waiting;
    struct nt_transfers *jobs = file->remote.engine->jobs;
    file->waiting = NULL;
    if (attempts)
        attempts->link = &attempts;
    while (attempts) {
        struct nt_transfer *job = attempts->job;
        job->result = end;
        nt_xrd_attempt_leave(attempts);
        nt_transfers_end_try(jobs, job);
    }
}

/* ---- opening ---- */

void nt_xrootd_stamp(char stamp[NT_FETCH_STAMP_BYTES], int64_t modified)
{
    snprintf(stamp, NT_FETCH_STAMP_BYTES, "%" PRId64, modified);
}

void nt_xrootd_file_lose(struct nt_xrootd_file *file)
{
    struct nt_xrd_session *session = file->session;
    file->session = NULL;
    file->is_open = false;
    if (session)
        nt_xrd_session_leave(session);
}

/* Where it is of another server it may be another copy, which has a number of its own. */
bool nt_xrootd_file_is_same(const struct nt_xrootd_file *file, const struct nt_xrd_attributes *found)
{
    const struct nt_xrd_attributes *known = &file->attributes;
    bool is_same_server = strcmp(known->server, found->server) == 0;
    return known->size == found->size && known->modified == found->modified &&
           (!is_same_server || strcmp(known->id, found->id) == 0);
}

static void end_open(struct nt_xrd_operation *operation)
{
    static const struct nt_result silent = {NT_OUTCOME_AGAIN, NT_FETCH_UNREACHABLE,
                                            .message = "the server does not tell how long the file is"};
    struct nt_xrootd_file *file = operation->session->owner;
    const struct nt_xrd_answer *answer = &operation->answer;
    const struct nt_result *problem = answer->has_attributes ? NULL : &silent;
    if (answer->result.outcome != NT_OUTCOME_GOOD)
        problem = &answer->result;
    else if (!problem && file && file->is_known && !nt_xrootd_file_is_same(file, &answer->attributes))
        problem = &nt_xrootd_changed;
    if (file && problem) {
        nt_xrootd_file_lose(file);
        nt_xrootd_file_fail(file, problem);
    } else if (file) {
        file->is_open = file->is_known = true;
        file->attributes = answer->attributes;
        file->checked = nt_milliseconds();
        want(file);
    }
    free(operation);
}

/* Until the last of those who wait gives up. */
static uint64_t deadline_of(const struct nt_xrootd_file *file)
{
    uint64_t deadline = 0;
    for (const struct nt_xrd_attempt *attempt = file->waiting; attempt; attempt = attempt->next)
        if (attempt->deadline > deadline)
            deadline = attempt->deadline;
    return deadline;
}

bool nt_xrootd_file_open(struct nt_xrootd_file *file, struct nt_xrd_queue *queue)
{
    struct nt_xrd_operation *operation = malloc(sizeof(*operation));
    struct nt_xrd_session *session = operation ? nt_xrd_session_new(queue, file) : NULL;
    uint64_t now = nt_milliseconds(), deadline = deadline_of(file);
    if (!session) {
        free(operation);
        return false;
    }
    *operation = (struct nt_xrd_operation){.end = end_open};
    file->session = session;
    file->remote.engine->jobs->totals.requests++;
    nt_xrd_session_open(session, operation, file->url, deadline > now ? deadline - now : 1);
    return true;
}
