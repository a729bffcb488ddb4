/* SPDX-License-Identifier: MIT
 *
 * In: an address. Out: an open file. It is opened by two requests at once, for its beginning and for its end: the answers to both
 * tell which file it is, and readers begin with these parts. The end is asked for again by its place where a server does not know ends, or
 * has sent that of another version.
 */
#include "remote/helper/web_open.h"

#include <stdlib.h>
#include <string.h>

struct nt_edge {
    struct nt_transfer job;
    struct nt_fetched *file;
    bool has_ended;
    struct nt_reply reply;
    uint64_t first, got;
    char bytes[NT_FETCH_EDGE_BYTES];
};

static void drop_edge(struct nt_fetched *file, struct nt_edge **edge)
{
    if (*edge && !(*edge)->has_ended)
        nt_transfers_remove(&file->files->jobs, &(*edge)->job);
    free(*edge);
    *edge = NULL;
}

void nt_web_close(struct nt_fetched *file)
{
    struct nt_origin *origin = nt_origin_of(file);
    drop_edge(file, &origin->head);
    drop_edge(file, &origin->tail);
    free(origin->address);
    free(origin->elsewhere);
    free(origin);
}

static void fail_opening(struct nt_fetched *file, const struct nt_result *result)
{
    nt_file_not_opened(file, result->failure, result->message);
}

/* Without what is behind it, which may be secret. A URL that is asked for has no user in it. */
static void put_server(const char *url, char server[NT_FETCH_SERVER_BYTES])
{
    const char *host = strstr(url, "://");
    size_t bytes = host ? (size_t)(host + 3 - url) : 0;
    bytes += strcspn(url + bytes, "/?#");
    if (bytes >= NT_FETCH_SERVER_BYTES)
        bytes = NT_FETCH_SERVER_BYTES - 1;
    memcpy(server, url, bytes);
    server[bytes] = '\0';
}

static void tell_opened(struct nt_fetched *file)
{
    struct nt_origin *origin = nt_origin_of(file);
    const struct nt_validators *known = &origin->version.validators;
    char stamp[NT_FETCH_STAMP_BYTES];
    time_t modified = known->modified[0] ? curl_getdate(known->modified, NULL) : -1;
    stamp[nt_validators_write(known, stamp, sizeof(stamp))] = '\0';
    struct nt_open_result opened = {.size = origin->version.size,
                                    .modified = modified >= 0 ? (int64_t)modified : NT_FETCH_NO_TIME,
                                    .stamp = stamp,
                                    .head = origin->head->bytes,
                                    .head_bytes = origin->head->got,
                                    .tail = origin->tail ? origin->tail->bytes : NULL,
                                    .tail_bytes = origin->tail ? origin->tail->got : 0,
                                    .round_trips = origin->tail && !origin->tail->job.is_suffix ? 2 : 1};
    put_server(origin->elsewhere ? origin->elsewhere : origin->address, opened.server);
    nt_file_opened(file, &opened);
    drop_edge(file, &origin->head);
    drop_edge(file, &origin->tail);
}

/* No more comes than was asked for. */
static bool take_edge(struct nt_transfer *job, uint64_t offset, const char *bytes, size_t count)
{
    struct nt_edge *edge = (struct nt_edge *)job;
    memcpy(edge->bytes + (offset - edge->first), bytes, count);
    edge->got = offset - edge->first + count;
    return true;
}

static struct nt_edge *add_edge(struct nt_fetched *file, void (*end)(struct nt_transfer *), uint64_t first,
                                uint64_t bytes)
{
    struct nt_edge *edge = calloc(1, sizeof(*edge));
    if (!edge)
        return NULL;
    edge->file = file;
    edge->first = first;
    edge->job = (struct nt_transfer){.remote = file->remote,
                                     .first = first,
                                     .bytes = bytes,
                                     .milliseconds = file->milliseconds,
                                     .most_tries = NT_TRIES_OF_KNOWN,
                                     .take = take_edge,
                                     .end = end};
    nt_transfers_add(&file->files->jobs, &edge->job);
    return edge;
}

/* What came of it. */
static const struct nt_result *note_end(struct nt_edge *edge)
{
    const struct nt_request *request = edge->job.attempt;
    edge->has_ended = true;
    if (request)
        edge->reply = request->reply;
    return &edge->job.result;
}

static void end_rest(struct nt_transfer *job)
{
    struct nt_edge *edge = (struct nt_edge *)job;
    const struct nt_result *result = note_end(edge);
    if (result->outcome == NT_OUTCOME_GOOD)
        tell_opened(edge->file);
    else
        fail_opening(edge->file, result);
}

/* Whether the end that has come is of the version that was found, and of what is behind the beginning as much as is wanted. */
static bool is_of_version(const struct nt_edge *tail, const struct nt_file_version *version, uint64_t wanted)
{
    return tail->job.result.outcome == NT_OUTCOME_GOOD && tail->reply.total == version->size &&
           tail->got >= wanted && nt_validators_agree(&tail->reply.validators, &version->validators);
}

/* Both have ended, or the first was all. */
static void join_edges(struct nt_fetched *file)
{
    struct nt_origin *origin = nt_origin_of(file);
    struct nt_edge *tail = origin->tail;
    uint64_t size = origin->version.size, behind = size - origin->head->got;
    uint64_t wanted = behind < NT_FETCH_EDGE_BYTES ? behind : NT_FETCH_EDGE_BYTES;
    if (wanted == 0) {
        drop_edge(file, &origin->tail);
        tell_opened(file);
    } else if (is_of_version(tail, &origin->version, wanted)) {
        memmove(tail->bytes, tail->bytes + (tail->got - wanted), wanted);
        tail->got = wanted;
        tell_opened(file);
    } else {
        drop_edge(file, &origin->tail);
        origin->tail = add_edge(file, end_rest, size - wanted, wanted);
        if (!origin->tail)
            fail_opening(file, &nt_result_no_memory);
    }
}

static void end_head(struct nt_transfer *job)
{
    struct nt_edge *head = (struct nt_edge *)job;
    struct nt_fetched *file = head->file;
    struct nt_origin *origin = nt_origin_of(file);
    const struct nt_result *result = note_end(head);
    const struct nt_reply *reply = &head->reply;
    if (result->outcome != NT_OUTCOME_GOOD) {
        fail_opening(file, result);
        return;
    }
    if (!origin->is_known)
        origin->version = (struct nt_file_version){reply->validators, reply->has_total ? reply->total : 0};
    origin->is_known = true;
    if (origin->tail->has_ended || origin->version.size <= NT_FETCH_EDGE_BYTES)
        join_edges(file);
}

static void end_tail(struct nt_transfer *job)
{
    struct nt_edge *tail = (struct nt_edge *)job;
    struct nt_fetched *file = tail->file;
    note_end(tail);
    if (nt_origin_of(file)->head->has_ended)
        join_edges(file);
}

static struct nt_origin *add_origin(struct nt_engine *engine, struct nt_fetched *file, const char *address,
                                    const char **problem_ret)
{
    enum nt_service service = NT_SERVICE_WEB;
    char *url = nt_address_url(address, &service, problem_ret);
    struct nt_origin *origin = url ? calloc(1, sizeof(*origin)) : NULL;
    if (!origin) {
        free(url);
        return NULL;
    }
    *origin = (struct nt_origin){.remote = {engine}, .address = url, .service = service};
    file->remote = &origin->remote;
    return origin;
}

bool nt_web_open(struct nt_engine *engine, struct nt_fetched *file, const char *address,
                 const char **problem_ret)
{
    struct nt_origin *origin = add_origin(engine, file, address, problem_ret);
    if (!origin)
        return false;
    origin->head = add_edge(file, end_head, 0, NT_FETCH_EDGE_BYTES);
    origin->tail = origin->head ? add_edge(file, end_tail, 0, NT_FETCH_EDGE_BYTES) : NULL;
    if (!origin->tail) {
        nt_web_close(file);
        return false;
    }
    origin->head->job.most_tries = NT_TRIES_OF_UNKNOWN;
    origin->tail->job.is_suffix = true;
    origin->tail->job.most_tries = NT_TRIES_ONCE;
    return true;
}

/* What a list has told is taken to be so: each answer of the server shows whether it is. */
bool nt_web_open_listed(struct nt_engine *engine, struct nt_fetched *file, const char *address,
                        const char *stamp, const char **problem_ret)
{
    struct nt_origin *origin = add_origin(engine, file, address, problem_ret);
    if (!origin)
        return false;
    nt_validators_read(&origin->version.validators, stamp, strlen(stamp));
    origin->version.size = file->size;
    origin->is_of_objects = nt_address_is_of_objects(address);
    origin->is_known = !origin->is_of_objects;
    return true;
}
