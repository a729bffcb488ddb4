/* SPDX-License-Identifier: MIT
 *
 * In: an address. Out: an open file, with its ends, which are read by one request as soon as it is open.
 */
#include "remote/helper/xrootd_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Both ends of a file, one behind the other. */
struct nt_xrd_edges {
    struct nt_transfer job;
    struct nt_fetched *fetched;
    size_t got[2];
    char bytes[2][NT_FETCH_EDGE_BYTES];
};

bool nt_xrootd_is_opening(const struct nt_transfer *job)
{
    const struct nt_xrootd_file *file = (struct nt_xrootd_file *)job->remote;
    return file->edges && job == &file->edges->job;
}

/* The head is the one at 0; it is asked for, and comes, first. */
static bool take_edge(struct nt_transfer *job, uint64_t offset, const char *bytes, size_t count)
{
    struct nt_xrd_edges *edges = (struct nt_xrd_edges *)job;
    unsigned which = offset > 0;
    memcpy(edges->bytes[which], bytes, count);
    edges->got[which] = count;
    return true;
}

static void end_opening(struct nt_transfer *job)
{
    struct nt_xrd_edges *edges = (struct nt_xrd_edges *)job;
    struct nt_xrootd_file *file = (struct nt_xrootd_file *)job->remote;
    char stamp[NT_FETCH_STAMP_BYTES];
    file->edges = NULL;
    nt_xrootd_stamp(stamp, file->attributes.modified);
    struct nt_open_result opened = {.size = file->attributes.size,
                                    .modified = file->attributes.modified,
                                    .stamp = stamp,
                                    .head = edges->bytes[0],
                                    .head_bytes = edges->got[0],
                                    .tail = edges->bytes[1],
                                    .tail_bytes = edges->got[1],
                                    .round_trips =
                                        edges->got[0] ? 2 : 1}; /* that it is there, and its edges */
    snprintf(opened.server, sizeof(opened.server), "%.*s://%s", (int)strcspn(file->url, ":"), file->url,
             file->attributes.server);
    if (job->result.outcome == NT_OUTCOME_GOOD)
        nt_file_opened(edges->fetched, &opened);
    else
        nt_file_not_opened(edges->fetched, job->result.failure, job->result.message);
    free(edges);
}

static struct nt_xrootd_file *add_file(struct nt_engine *engine, struct nt_xrootd_wanting *wanting,
                                       struct nt_fetched *fetched, const char *address)
{
    struct nt_xrootd_file *file = calloc(1, sizeof(*file));
    char *url = strdup(address);
    if (!file || !url) {
        free(file);
        free(url);
        return NULL;
    }
    *file = (struct nt_xrootd_file){.remote = {engine}, .url = url, .wanting = wanting};
    fetched->remote = &file->remote;
    return file;
}

bool nt_xrootd_open(struct nt_engine *engine, struct nt_xrootd_wanting *wanting, struct nt_fetched *fetched,
                    const char *address)
{
    struct nt_xrd_edges *edges = calloc(1, sizeof(*edges));
    struct nt_xrootd_file *file = edges ? add_file(engine, wanting, fetched, address) : NULL;
    if (!file) {
        free(edges);
        return false;
    }
    file->edges = edges;
    edges->fetched = fetched;
    edges->job = (struct nt_transfer){.remote = &file->remote,
                                      .bytes = sizeof(edges->bytes),
                                      .milliseconds = fetched->milliseconds,
                                      .most_tries = NT_TRIES_OF_UNKNOWN,
                                      .take = take_edge,
                                      .end = end_opening};
    nt_transfers_add(engine->jobs, &edges->job);
    return true;
}

/* It is opened by the first read, and then has to be what the list has told. */
bool nt_xrootd_open_listed(struct nt_engine *engine, struct nt_xrootd_wanting *wanting,
                           struct nt_fetched *fetched, const char *address, const char *stamp)
{
    struct nt_xrootd_file *file = add_file(engine, wanting, fetched, address);
    if (!file)
        return false;
    file->is_known = true;
    file->attributes =
        (struct nt_xrd_attributes){.size = fetched->size, .modified = strtoll(stamp, NULL, 10)};
    return true;
}

void nt_xrootd_close(struct nt_fetched *fetched)
{
    struct nt_xrootd_file *file = (struct nt_xrootd_file *)fetched->remote;
    if (file->edges)
        nt_transfers_remove(file->remote.engine->jobs, &file->edges->job);
    free(file->edges);
    nt_xrootd_file_lose(file);
    nt_xrootd_file_rest(file);
    free(file->url);
    free(file);
}
