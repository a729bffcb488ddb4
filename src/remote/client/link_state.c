/* SPDX-License-Identifier: MIT
 *
 * State of the link to a server: estimates of round-trip time and bandwidth, and backoff after a failed
 * connection.
 */
#include "remote/client/client.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/thread.h"

/* ---- Link estimates ---- */

enum {
    MOST_SERVERS = 64,
    FEW = 4,                    /* requests, none of which waits for another one */
    SAMPLE_BYTES = 1024 * 1024, /* less says little of a line */
    LATENCIES = 4,              /* that are looked at together while there is always something under way */
    FADING = 8,                 /* the part by which what was found goes towards what is found now */
    FIRST_GAP = 128 * 1024,
    LEAST_GAP = 32 * 1024,
};

struct nt_server_pace {
    struct nt_pace pace;
    struct nt_server_pace *next;
    char server[];
};

struct nt_pace *nt_paces_of(struct nt_paces *paces, const char *server)
{
    for (struct nt_server_pace *known = paces->first; known; known = known->next)
        if (strcmp(known->server, server) == 0)
            return &known->pace;
    size_t bytes = strlen(server) + 1;
    struct nt_server_pace *added = paces->count < MOST_SERVERS ? calloc(1, sizeof(*added) + bytes) : NULL;
    if (!added)
        return &paces->others;
    memcpy(added->server, server, bytes);
    added->next = paces->first;
    paces->first = added;
    paces->count++;
    return &added->pace;
}

void nt_paces_deinit(struct nt_paces *paces)
{
    for (struct nt_server_pace *next; paces->first; paces->first = next) {
        next = paces->first->next;
        free(paces->first);
    }
}

void nt_paces_begin_anew(struct nt_paces *paces)
{
    paces->others.underway = 0;
    for (struct nt_server_pace *known = paces->first; known; known = known->next)
        known->pace.underway = 0;
}

/* ---- requests ---- */

static void begin(struct nt_pace *pace, uint64_t now, bool is_first)
{
    pace->since = now;
    pace->bytes = 0;
    pace->is_first = is_first;
}

void nt_pace_ask(struct nt_pace *pace, struct nt_pace_request *request, uint64_t now)
{
    if (!pace->underway)
        begin(pace, now, true);
    *request = (struct nt_pace_request){pace, now, pace->underway < FEW};
    pace->underway++;
}

void nt_pace_answer(struct nt_pace_request *request, uint64_t now)
{
    struct nt_pace *pace = request->pace;
    uint64_t found = now - request->asked, most = pace->latency + pace->latency / FADING;
    if (request->is_alone)
        pace->latency = pace->latency && found > most ? most : found;
}

void nt_pace_end(struct nt_pace_request *request, uint64_t bytes, uint64_t now)
{
    struct nt_pace *pace = request->pace;
    uint64_t time = now - pace->since, least = time / 2;
    uint64_t waited = pace->is_first ? pace->latency : 0;
    pace->bytes += bytes;
    pace->underway--;
    if (pace->bytes < SAMPLE_BYTES || (pace->underway && time < LATENCIES * pace->latency))
        return;
    uint64_t flowing = time > waited + least ? time - waited : least;
    uint64_t rate = pace->bytes / (flowing / NT_MILLISECOND + 1);
    pace->rate = rate > pace->rate ? rate : pace->rate - (pace->rate - rate) / FADING;
    begin(pace, now, false);
}

uint64_t nt_pace_gap(const struct nt_pace *pace)
{
    if (!pace->latency || !pace->rate)
        return FIRST_GAP;
    uint64_t gap = pace->rate * (pace->latency / 1000) / 1000 / NT_PACE_AT_ONCE;
    return gap < LEAST_GAP ? LEAST_GAP : gap > NT_PACE_MOST_GAP ? NT_PACE_MOST_GAP : gap;
}

/* ---- Backoff ---- */

void nt_refusal_note(struct nt_refusal *refusal, const struct nt_error *failure, uint64_t now)
{
    if (nt_is_passing_failure(failure->status))
        return;
    if (!refusal->failure)
        refusal->failure = malloc(sizeof(*refusal->failure));
    if (!refusal->failure)
        return;
    *refusal->failure = *failure;
    refusal->until = now + NT_REFUSAL_MILLISECONDS;
}

enum nt_status nt_refusal_check(const struct nt_refusal *refusal, uint64_t now, struct nt_error *error)
{
    return now < refusal->until ? nt_fail_with(error, refusal->failure) : NT_OK;
}

void nt_refusal_deinit(struct nt_refusal *refusal)
{
    free(refusal->failure);
}
