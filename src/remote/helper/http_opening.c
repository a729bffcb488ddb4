/* SPDX-License-Identifier: MIT
 *
 * Opening of files over HTTP: requests for both ends at once, and further connections for what will be
 * read next.
 */
#include "remote/helper/helper.h"

static inline struct nt_http_file *origin_of(struct nt_remote_handle *handle)
{
    return (struct nt_http_file *)handle;
}

enum { CONNECT_MILLISECONDS = 10000 }; /* without a need for bytes */

/* Opening takes two requests, and two more for what is in front of the tail if a program reads right after
 * opening: lists of keys lead there. Each of these requests a suffix, as the size is not known yet. Its
 * beginning is what the others do not request: as much as a new connection sends in one round trip. */
enum { OPENING = 2, BEFORE_TAIL = NT_BEFORE_TAIL, BEFORE_TAIL_BYTES = 13 * 1024 };

/* A request for less is not divided (FEWEST_BYTES of the client). */
enum { BYTES_EACH = 256 * 1024 };

/* ---- Probes ---- */

/* A request beside those of readers: for an end of the file, or to make a connection. */
struct nt_end_probe {
    struct nt_transfer job;
    LIST_ENTRY(nt_end_probe) all; /* of the file */
    bool has_ended;
    struct nt_http_response reply;
    uint64_t first, got;
    size_t capacity;
    char bytes[];
};

static struct nt_http_file *origin_of_probe(const struct nt_end_probe *probe)
{
    return origin_of(probe->job.remote);
}

/* Accepts NULL. */
static void drop_probe(struct nt_end_probe *probe)
{
    if (!probe)
        return;
    nt_transfer_remove(&probe->job);
    LIST_REMOVE(probe, all);
    free(probe);
}

/* Ignores what is beyond the capacity. */
static bool take_probe(struct nt_transfer *job, uint64_t offset, const char *bytes, size_t count)
{
    struct nt_end_probe *probe = (struct nt_end_probe *)job;
    uint64_t at = offset - probe->first, room = at < probe->capacity ? probe->capacity - at : 0;
    if (room) {
        memcpy(probe->bytes + at, bytes, count < room ? count : room);
        probe->got = at + (count < room ? count : room);
    }
    return true;
}

static struct nt_end_probe *add_probe(struct nt_http_file *origin, void (*end)(struct nt_transfer *),
                                      uint64_t first, uint64_t bytes, size_t capacity)
{
    struct nt_end_probe *probe = calloc(1, sizeof(*probe) + capacity);
    uint64_t milliseconds = origin->handle.milliseconds;
    if (!probe)
        return NULL;
    if (!capacity && milliseconds > CONNECT_MILLISECONDS)
        milliseconds = CONNECT_MILLISECONDS;
    probe->first = first;
    probe->capacity = capacity;
    probe->job = (struct nt_transfer){.remote = &origin->handle,
                                      .first = first,
                                      .bytes = bytes,
                                      .milliseconds = milliseconds,
                                      .max_tries = NT_TRIES_OF_KNOWN,
                                      .take = take_probe,
                                      .end = end};
    LIST_INSERT_HEAD(&origin->probes, probe, all);
    nt_transfer_add(&probe->job);
    return probe;
}

/* Stores the outcome of a probe. */
static const struct nt_result *note_end(struct nt_end_probe *probe)
{
    const struct nt_http_request *request = probe->job.attempt;
    probe->has_ended = true;
    if (request)
        probe->reply = request->reply;
    return &probe->job.result;
}

/* ---- Preconnect ---- */

/* Compares only text, since it runs for every open file. */
static bool has_same_server(const char *one, const char *other)
{
    const char *host = strstr(one, "://");
    size_t length = host ? (size_t)(host - one) + 3 + strcspn(host + 3, "/?#") : strlen(one);
    return strncasecmp(one, other, length) == 0 && strchr("/?#", other[length]);
}

static bool is_first_of_server(const struct nt_http_file *origin)
{
    struct nt_remote_handle *other;
    LIST_FOREACH(other, &origin->handle.files->all, all)
    if (other != &origin->handle && other->backend == origin->handle.backend && !origin_of(other)->walk &&
        has_same_server(origin->target.address, origin_of(other)->target.address))
        return false;
    return true;
}

static void end_preconnect(struct nt_transfer *job)
{
    drop_probe((struct nt_end_probe *)job);
}

/* Those that a reader of all of the file would use at once, beside the `made` ones. */
static void preconnect_for(struct nt_http_file *origin, uint64_t size, unsigned made)
{
    const uint64_t ends = UINT64_C(2) * NT_FETCH_END_BYTES;
    uint64_t pieces = size > ends ? (size - ends) / BYTES_EACH : 0;
    for (uint64_t i = made; i < NT_HTTP_MAX_REQUESTS && i < pieces; i++) {
        struct nt_end_probe *probe = add_probe(origin, end_preconnect, 0, NT_FETCH_END_BYTES, 0);
        if (!probe)
            return;
        probe->job.max_tries = NT_TRIES_ONCE;
        probe->job.is_background = true;
    }
}

/* ---- Both ends ---- */

static void reply_opened(struct nt_http_file *origin)
{
    const struct nt_http_target *target = &origin->target;
    const struct nt_validators *known = &target->version.validators;
    const struct nt_end_probe *head = origin->head, *tail = origin->tail;
    const char *url = target->redirect_url ? target->redirect_url : target->address;
    char validator[NT_FETCH_VALIDATOR_BYTES];
    time_t modified = known->modified[0] ? curl_getdate(known->modified, NULL) : -1;
    nt_validators_write(known, validator);
    struct nt_open_result opened = {.size = target->version.size,
                                    .modified = modified >= 0 ? (int64_t)modified : NT_FETCH_NO_TIME,
                                    .validator = validator,
                                    .head = head->bytes,
                                    .head_bytes = head->got,
                                    .tail = tail ? tail->bytes : NULL,
                                    .tail_bytes = tail ? tail->got : 0,
                                    .round_trips = tail && !tail->job.is_suffix ? 2 : 1};
    /* The rest of the URL may be secret. Requested URLs have no user part. */
    const char *host = strstr(url, "://");
    host = host ? host + strlen("://") : url;
    snprintf(opened.server, sizeof(opened.server), "%.*s", (int)(host - url) + (int)strcspn(host, "/?#"),
             url);
    nt_file_opened(&origin->handle, &opened);
    drop_probe(origin->head);
    drop_probe(origin->tail);
    origin->head = origin->tail = NULL;
}

static void fail_opening(struct nt_http_file *origin, const struct nt_result *result)
{
    nt_handle_fail(&origin->handle, result->failure, result->message);
}

static void end_rest(struct nt_transfer *job)
{
    struct nt_end_probe *probe = (struct nt_end_probe *)job;
    const struct nt_result *result = note_end(probe);
    if (result->outcome == NT_OUTCOME_OK)
        reply_opened(origin_of_probe(probe));
    else
        fail_opening(origin_of_probe(probe), result);
}

/* Is the tail of the same version, and does it have at least `requested` bytes? */
static bool is_of_version(const struct nt_end_probe *tail, const struct nt_file_version *version,
                          uint64_t requested)
{
    return tail->job.result.outcome == NT_OUTCOME_OK && tail->reply.total == version->size &&
           tail->got >= requested && nt_validators_agree(&tail->reply.validators, &version->validators);
}

/* Both probes have ended, or the head was the whole file. */
static void join_probes(struct nt_http_file *origin)
{
    struct nt_end_probe *tail = origin->tail;
    uint64_t size = origin->target.version.size, after = size - origin->head->got;
    uint64_t requested = after < NT_FETCH_END_BYTES ? after : NT_FETCH_END_BYTES;
    if (requested > 0 && is_of_version(tail, &origin->target.version, requested)) {
        memmove(tail->bytes, tail->bytes + (tail->got - requested), requested);
        tail->got = requested;
        reply_opened(origin);
        return;
    }
    drop_probe(tail);
    origin->tail =
        requested ? add_probe(origin, end_rest, size - requested, requested, NT_FETCH_END_BYTES) : NULL;
    if (!requested)
        reply_opened(origin);
    else if (!origin->tail)
        fail_opening(origin, &nt_result_no_memory);
}

static void end_head(struct nt_transfer *job)
{
    struct nt_end_probe *head = (struct nt_end_probe *)job;
    struct nt_http_file *origin = origin_of_probe(head);
    struct nt_http_target *target = &origin->target;
    const struct nt_result *result = note_end(head);
    const struct nt_http_response *reply = &head->reply;
    if (result->outcome != NT_OUTCOME_OK) {
        fail_opening(origin, result);
        return;
    }
    if (!target->is_known)
        target->version = (struct nt_file_version){reply->validators, reply->has_total ? reply->total : 0};
    target->is_known = true;
    if (origin->is_first && origin->handle.is_read_later)
        preconnect_for(origin, target->version.size, OPENING);
    if (origin->tail->has_ended || target->version.size <= NT_FETCH_END_BYTES)
        join_probes(origin);
}

static void end_tail(struct nt_transfer *job)
{
    struct nt_end_probe *tail = (struct nt_end_probe *)job;
    note_end(tail);
    if (origin_of_probe(tail)->head->has_ended)
        join_probes(origin_of_probe(tail));
}

/* ---- In front of the tail ---- */

static uint64_t suffix_bytes(unsigned number)
{
    return NT_FETCH_END_BYTES + (number + UINT64_C(1)) * BEFORE_TAIL_BYTES;
}

static bool take_before_tail(struct nt_transfer *job, uint64_t offset, const char *bytes, size_t count)
{
    take_probe(job, offset, bytes, count);
    if (offset < ((struct nt_end_probe *)job)->capacity)
        nt_file_received(job->remote);
    return true;
}

static void end_before_tail(struct nt_transfer *job)
{
    note_end((struct nt_end_probe *)job);
}

static void add_before_tail(struct nt_http_file *origin)
{
    for (unsigned i = 0; i < BEFORE_TAIL; i++) {
        struct nt_end_probe *probe =
            add_probe(origin, end_before_tail, 0, suffix_bytes(i), BEFORE_TAIL_BYTES);
        origin->before_tail[i] = probe;
        if (!probe)
            return;
        probe->job.is_suffix = probe->job.is_background = true;
        probe->job.max_tries = NT_TRIES_ONCE;
        probe->job.take = take_before_tail;
    }
}

static bool is_of_suffix(const struct nt_end_probe *probe, const struct nt_file_version *version,
                         uint64_t first)
{
    const struct nt_http_request *request = probe->job.attempt;
    const struct nt_http_response *reply = probe->has_ended ? &probe->reply : &request->reply;
    return reply->first == first && reply->total == version->size &&
           nt_validators_agree(&reply->validators, &version->validators);
}

/* Copies the bytes from `offset` on that a probe has; `count_ret`: that it has, or will have. */
static enum nt_received copy_some(const struct nt_end_probe *probe, const struct nt_file_version *version,
                                  uint64_t first, uint64_t offset, size_t bytes, char *output,
                                  size_t *count_ret)
{
    uint64_t skip = offset - first;
    bool is_here = skip < probe->got, is_underway = !probe->has_ended && skip < probe->capacity;
    if ((!is_here && !is_underway) || (probe->got && !is_of_suffix(probe, version, first)))
        return NT_RECEIVED_NONE;
    uint64_t left = (is_here ? probe->got : probe->capacity) - skip;
    *count_ret = (size_t)(left < bytes ? left : bytes);
    if (is_here)
        memcpy(output, probe->bytes + skip, *count_ret);
    return is_here ? NT_RECEIVED : NT_RECEIVED_PENDING;
}

/* Bytes that are requested again may be damaged: a server sends them. What is between copied bytes counts as
 * copied, too. */
enum nt_received nt_http_copy_received(struct nt_remote_handle *file, uint64_t offset, size_t bytes,
                                       char *output)
{
    struct nt_http_file *origin = origin_of(file);
    const struct nt_file_version *version = &origin->target.version;
    enum nt_received all = NT_RECEIVED, some = NT_RECEIVED;
    if (offset < origin->copied_end && origin->copied_first < offset + bytes)
        return NT_RECEIVED_NONE;
    for (size_t done = 0, count = 0; done < bytes && some != NT_RECEIVED_NONE; done += count) {
        some = NT_RECEIVED_NONE;
        for (unsigned i = 0; i < BEFORE_TAIL && some == NT_RECEIVED_NONE; i++)
            if (origin->before_tail[i] && version->size >= suffix_bytes(i))
                some = copy_some(origin->before_tail[i], version, version->size - suffix_bytes(i),
                                 offset + done, bytes - done, output + done, &count);
        all = some < all ? some : all;
    }
    if (all == NT_RECEIVED) {
        bool is_first = !origin->copied_end || offset < origin->copied_first;
        origin->copied_first = is_first ? offset : origin->copied_first;
        origin->copied_end = origin->copied_end > offset + bytes ? origin->copied_end : offset + bytes;
    }
    return all;
}

/* ---- Files ---- */

/* The first file of a server preconnects for later reads. */
bool nt_http_open(struct nt_remote_handle *file, const char *address, const char **problem_ret)
{
    struct nt_http_file *origin = origin_of(file);
    origin->target.address = nt_address_url(address, NULL, &origin->target.service, problem_ret);
    if (!origin->target.address)
        return false;
    origin->head = add_probe(origin, end_head, 0, NT_FETCH_END_BYTES, NT_FETCH_END_BYTES);
    origin->tail = add_probe(origin, end_tail, 0, NT_FETCH_END_BYTES, NT_FETCH_END_BYTES);
    if (!origin->head || !origin->tail)
        return false;
    origin->head->job.max_tries = NT_TRIES_OF_UNKNOWN;
    origin->tail->job.is_suffix = true;
    origin->tail->job.max_tries = NT_TRIES_ONCE;
    origin->is_first = is_first_of_server(origin);
    if (origin->is_first && !file->is_read_later) { /* its size is not known yet */
        add_before_tail(origin);
        preconnect_for(origin, UINT64_MAX, OPENING + BEFORE_TAIL);
    }
    return true;
}

/* Trusts the listing: each answer of the server validates it. */
bool nt_http_open_listed(struct nt_remote_handle *file, const char *address, const char *validator,
                         const char **problem_ret)
{
    struct nt_http_file *origin = origin_of(file);
    origin->target.address = nt_address_url(address, NULL, &origin->target.service, problem_ret);
    nt_validators_read(&origin->target.version.validators, validator, strlen(validator));
    origin->target.version.size = file->size;
    origin->is_object_store = nt_address_names_objects(address);
    origin->target.is_known = !origin->is_object_store;
    return origin->target.address;
}

void nt_http_close(struct nt_remote_handle *file)
{
    struct nt_http_file *origin = origin_of(file);
    while (!LIST_EMPTY(&origin->probes))
        drop_probe(LIST_FIRST(&origin->probes));
    if (origin->walk)
        nt_http_end_list(origin);
    free(origin->target.address);
    free(origin->target.redirect_url);
}
