/* SPDX-License-Identifier: MIT
 *
 * In: a job for a range of a file that stands for the objects of a store (io/objects.h). Out: requests for the range of the one object that
 * it lies in. Which version of an object there is is not known before: the first answer of a job tells, and the other ones have to be of the
 * same.
 */
#include "remote/helper/web_objects.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct attempt {
    struct nt_request request;
    struct nt_file_version version;
    bool is_known; /* the version is */
    char address[];
};

static struct attempt *attempt_of(struct nt_transfer *job)
{
    enum { NUMBER_BYTES = 24 };
    const char *address = ((struct nt_origin *)job->remote)->address;
    const char *number = strstr(address, NT_OBJECT_NUMBER);
    size_t bytes = strlen(address) + NUMBER_BYTES;
    struct attempt *attempt = job->attempt;
    if (attempt)
        return attempt;
    job->attempt = attempt = calloc(1, sizeof(*attempt) + bytes);
    if (attempt)
        snprintf(attempt->address, bytes, "%.*s%" PRIu64 "%s", (int)(number - address), address,
                 job->first / NT_OBJECT_ROOM, number + strlen(NT_OBJECT_NUMBER));
    return attempt;
}

static bool take_bytes(void *context, const char *bytes, size_t count)
{
    struct nt_transfer *job = context;
    const struct nt_request *request = job->attempt;
    return job->take(job, job->first + request->result.got, bytes, count);
}

bool nt_web_start_object(struct nt_transfer *job, uint64_t milliseconds, CURLM *multi)
{
    const struct nt_origin *origin = (struct nt_origin *)job->remote;
    struct attempt *attempt = attempt_of(job);
    if (!attempt)
        return false;
    attempt->request = (struct nt_request){.asked = NT_ASKED_PART,
                                           .address = attempt->address,
                                           .named = attempt->address,
                                           .is_own = true,
                                           .service = origin->service,
                                           .first = job->first % NT_OBJECT_ROOM,
                                           .bytes = job->bytes,
                                           .expected = attempt->is_known ? &attempt->version : NULL,
                                           .milliseconds = milliseconds,
                                           .take = take_bytes,
                                           .context = job};
    return nt_request_start(&attempt->request, multi, job);
}

/* All that the server has of it has come. */
static void refuse_short(struct nt_request *request)
{
    char message[160];
    snprintf(message, sizeof(message),
             "the object ends at byte %" PRIu64 ", and %" PRIu64 " bytes are wanted from byte %" PRIu64,
             request->first + request->result.got, request->bytes, request->first);
    nt_request_refuse(request, NT_FETCH_NOT_FOUND, message);
}

void nt_web_end_object(struct nt_transfer *job, CURLcode code)
{
    struct attempt *attempt = job->attempt;
    struct nt_request *request = &attempt->request;
    const struct nt_reply *reply = &request->reply;
    nt_request_end(request, code);
    if (request->result.outcome == NT_OUTCOME_GOOD && request->result.got < request->bytes)
        refuse_short(request);
    if (request->result.got > 0 && reply->has_range && !attempt->is_known) {
        attempt->version = (struct nt_file_version){reply->validators, reply->total};
        attempt->is_known = true;
    }
    job->result = request->result;
}
