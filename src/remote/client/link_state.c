/* SPDX-License-Identifier: MIT
 *
 * State of the link to a server: estimates of round-trip time and bandwidth, and backoff after a failed
 * connection.
 */
#include "remote/client/client.h"

#include <stdio.h>

/* ---- Link estimates ---- */

enum {
    MAX_SERVERS = 64,
    FEW = 4,                    /* fewer concurrent requests do not queue */
    SAMPLE_BYTES = 1024 * 1024, /* fewer bytes are no good sample of the rate */
    LATENCIES = 4,              /* minimum length of a sample on a busy link, in latencies */
    FADING = 8,                 /* estimates worsen by at most 1/FADING per sample */
    FIRST_GAP = 128 * 1024,
};

struct nt_link_estimate *nt_link_estimates_of(struct nt_link_estimates *link_estimates, const char *server)
{
    struct nt_link_estimate *known;
    LIST_FOREACH(known, &link_estimates->servers, all)
    if (strcmp(known->server, server) == 0)
        return known;
    struct nt_link_estimate *added = link_estimates->count < MAX_SERVERS ? calloc(1, sizeof(*added)) : NULL;
    if (!added)
        return &link_estimates->others;
    snprintf(added->server, sizeof(added->server), "%s", server);
    LIST_INSERT_HEAD(&link_estimates->servers, added, all);
    link_estimates->count++;
    return added;
}

void nt_link_estimates_deinit(struct nt_link_estimates *link_estimates)
{
    struct nt_link_estimate *known;
    while ((known = LIST_FIRST(&link_estimates->servers))) {
        LIST_REMOVE(known, all);
        free(known);
    }
}

void nt_link_estimates_restart(struct nt_link_estimates *link_estimates)
{
    struct nt_link_estimate *known;
    link_estimates->others.underway = 0;
    LIST_FOREACH(known, &link_estimates->servers, all)
    known->underway = 0;
}

/* ---- Requests ---- */

static void begin(struct nt_link_estimate *link_estimate, uint64_t now, bool is_first)
{
    link_estimate->since = now;
    link_estimate->bytes = 0;
    link_estimate->is_first = is_first;
}

void nt_link_request_sent(struct nt_link_estimate *link_estimate, struct nt_link_request *request,
                          uint64_t now)
{
    if (!link_estimate->underway)
        begin(link_estimate, now, true);
    *request = (struct nt_link_request){link_estimate, now, link_estimate->underway < FEW};
    link_estimate->underway++;
}

void nt_link_request_answered(struct nt_link_request *request, uint64_t now)
{
    struct nt_link_estimate *link_estimate = request->link_estimate;
    uint64_t found = now - request->asked, most = link_estimate->latency + link_estimate->latency / FADING;
    if (request->is_alone)
        link_estimate->latency = link_estimate->latency && found > most ? most : found;
}

void nt_link_request_done(struct nt_link_request *request, uint64_t bytes, uint64_t now)
{
    struct nt_link_estimate *link_estimate = request->link_estimate;
    uint64_t time = now - link_estimate->since, least = time / 2;
    uint64_t waited = link_estimate->is_first ? link_estimate->latency : 0;
    link_estimate->bytes += bytes;
    link_estimate->underway--;
    if (link_estimate->bytes < SAMPLE_BYTES ||
        (link_estimate->underway && time < LATENCIES * link_estimate->latency))
        return;
    uint64_t flowing = time > waited + least ? time - waited : least;
    uint64_t rate = link_estimate->bytes / (flowing / NT_MILLISECOND + 1);
    link_estimate->rate =
        rate > link_estimate->rate ? rate : link_estimate->rate - (link_estimate->rate - rate) / FADING;
    begin(link_estimate, now, false);
}

uint64_t nt_link_coalesce_gap(const struct nt_link_estimate *link_estimate)
{
    if (!link_estimate->latency || !link_estimate->rate)
        return FIRST_GAP;
    uint64_t gap = link_estimate->rate * (link_estimate->latency / 1000) / 1000 / NT_LINK_CONNECTIONS;
    return gap < NT_LINK_MIN_GAP ? NT_LINK_MIN_GAP : gap > NT_LINK_MAX_GAP ? NT_LINK_MAX_GAP : gap;
}

/* ---- Backoff ---- */

void nt_backoff_note(struct nt_backoff *backoff, const struct nt_error *failure, uint64_t now)
{
    if (nt_is_transient(failure->status))
        return;
    if (!backoff->failure)
        backoff->failure = malloc(sizeof(*backoff->failure));
    if (!backoff->failure)
        return;
    *backoff->failure = *failure;
    backoff->until = now + NT_BACKOFF_MILLISECONDS;
}

enum nt_status nt_backoff_check(const struct nt_backoff *backoff, uint64_t now, struct nt_error *error)
{
    return now < backoff->until ? nt_fail_copy(error, backoff->failure) : NT_OK;
}

void nt_backoff_deinit(struct nt_backoff *backoff)
{
    free(backoff->failure);
}
