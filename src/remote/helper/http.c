/* SPDX-License-Identifier: MIT
 *
 * HTTP backend: opens files by requests for their head and tail, preconnects, and reads byte ranges of
 * files and of objects in a store.
 */
#include "remote/helper/helper.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/io/objects.h"
#include "remote/helper/result.h"
#include "remote/protocol.h"

/* ---- Preconnect ---- */

static inline struct nt_origin *origin_of(const struct nt_remote_handle *file)
{
    return (struct nt_origin *)file->remote;
}

enum { MAX_MILLISECONDS = 10000 };

/* Maximum of requests, and so of kept connections. */
enum { AT_ONCE = 16, AT_ONCE_IF_MANY = 48 };

/* Opening takes two, and two more for what is in front of the tail if a program reads right after opening:
 * lists of keys lead there. Each of these requests a suffix, as the size is not known yet. Its beginning is
 * what the others do not request: as much as a new connection sends in one round trip. */
enum { OPENING = 2, BEFORE_TAIL = NT_BEFORE_TAIL, BEFORE_TAIL_BYTES = 13 * 1024 };

/* A request for less is not divided (FEWEST_BYTES of the client). */
enum { BYTES_EACH = 256 * 1024 };

struct nt_preconnect {
    struct nt_transfer job;
    LIST_ENTRY(nt_preconnect) all;
};

/* Compares only text, since it runs for every open file. */
static bool has_same_server(const char *one, const char *other)
{
    const char *host = strstr(one, "://");
    size_t length = host ? (size_t)(host - one) + 3 + strcspn(host + 3, "/?#") : strlen(one);
    return strncasecmp(one, other, length) == 0 && strchr("/?#", other[length]);
}

static bool is_first_of_server(const struct nt_remote_handle *file)
{
    const struct nt_remote_handle *other;
    LIST_FOREACH(other, &file->files->all, all)
    if (other != file && other->remote->backend == file->remote->backend &&
        has_same_server(origin_of(file)->address, origin_of(other)->address))
        return false;
    return true;
}

static bool take_nothing(struct nt_transfer *job, uint64_t offset, const char *bytes, size_t count)
{
    return true;
}

static void end_preconnect(struct nt_transfer *job)
{
    struct nt_preconnect *preconnect = (struct nt_preconnect *)job;
    LIST_REMOVE(preconnect, all);
    free(preconnect);
}

static void add_preconnect(struct nt_remote_handle *file)
{
    struct nt_origin *origin = origin_of(file);
    struct nt_preconnect *preconnect = calloc(1, sizeof(*preconnect));
    if (!preconnect)
        return;
    preconnect->job = (struct nt_transfer){
        .remote = file->remote,
        .bytes = NT_FETCH_END_BYTES,
        .milliseconds = file->milliseconds < MAX_MILLISECONDS ? file->milliseconds : MAX_MILLISECONDS,
        .max_tries = NT_TRIES_ONCE,
        .is_beside = true,
        .take = take_nothing,
        .end = end_preconnect};
    LIST_INSERT_HEAD(&origin->preconnects, preconnect, all);
    nt_transfers_add(&file->files->jobs, &preconnect->job);
}

/* Those that a reader of all of the file would use at once, beside the `made` ones. */
static void preconnect_for(struct nt_remote_handle *file, uint64_t size, unsigned made)
{
    const uint64_t ends = UINT64_C(2) * NT_FETCH_END_BYTES;
    uint64_t pieces = size > ends ? (size - ends) / BYTES_EACH : 0;
    for (uint64_t i = made; i < AT_ONCE && i < pieces; i++)
        add_preconnect(file);
}

/* ---- Open files ---- */

struct nt_end_probe {
    struct nt_transfer job;
    struct nt_remote_handle *file;
    bool has_ended;
    struct nt_reply reply;
    uint64_t first, got;
    size_t capacity;
    char bytes[];
};

static void drop_probe(struct nt_remote_handle *file, struct nt_end_probe **probe)
{
    if (*probe && !(*probe)->has_ended)
        nt_transfers_remove(&file->files->jobs, &(*probe)->job);
    free(*probe);
    *probe = NULL;
}

static void close_file(struct nt_remote_handle *file)
{
    struct nt_origin *origin = origin_of(file);
    struct nt_preconnect *preconnect;
    while ((preconnect = LIST_FIRST(&origin->preconnects))) {
        nt_transfers_remove(&file->files->jobs, &preconnect->job);
        end_preconnect(&preconnect->job);
    }
    drop_probe(file, &origin->head);
    drop_probe(file, &origin->tail);
    for (unsigned i = 0; i < BEFORE_TAIL; i++)
        drop_probe(file, &origin->before_tail[i]);
    free(origin->address);
    free(origin->redirect_url);
    free(origin);
}

static void fail_opening(struct nt_remote_handle *file, const struct nt_result *result)
{
    nt_file_not_opened(file, result->failure, result->message);
}

/* Omits the rest of the URL, which may be secret. Requested URLs have no user part. */
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

static void reply_opened(struct nt_remote_handle *file)
{
    struct nt_origin *origin = origin_of(file);
    const struct nt_validators *known = &origin->version.validators;
    char validator[NT_FETCH_VALIDATOR_BYTES];
    time_t modified = known->modified[0] ? curl_getdate(known->modified, NULL) : -1;
    validator[nt_validators_write(known, validator, sizeof(validator))] = '\0';
    struct nt_open_result opened = {.size = origin->version.size,
                                    .modified = modified >= 0 ? (int64_t)modified : NT_FETCH_NO_TIME,
                                    .validator = validator,
                                    .head = origin->head->bytes,
                                    .head_bytes = origin->head->got,
                                    .tail = origin->tail ? origin->tail->bytes : NULL,
                                    .tail_bytes = origin->tail ? origin->tail->got : 0,
                                    .round_trips = origin->tail && !origin->tail->job.is_suffix ? 2 : 1};
    put_server(origin->redirect_url ? origin->redirect_url : origin->address, opened.server);
    nt_file_opened(file, &opened);
    drop_probe(file, &origin->head);
    drop_probe(file, &origin->tail);
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

static struct nt_end_probe *add_probe(struct nt_remote_handle *file, void (*end)(struct nt_transfer *),
                                      uint64_t first, uint64_t bytes, size_t capacity)
{
    struct nt_end_probe *probe = calloc(1, sizeof(*probe) + capacity);
    if (!probe)
        return NULL;
    probe->file = file;
    probe->first = first;
    probe->capacity = capacity;
    probe->job = (struct nt_transfer){.remote = file->remote,
                                      .first = first,
                                      .bytes = bytes,
                                      .milliseconds = file->milliseconds,
                                      .max_tries = NT_TRIES_OF_KNOWN,
                                      .take = take_probe,
                                      .end = end};
    nt_transfers_add(&file->files->jobs, &probe->job);
    return probe;
}

/* Stores the outcome of a probe. */
static const struct nt_result *note_end(struct nt_end_probe *probe)
{
    const struct nt_request *request = probe->job.attempt;
    probe->has_ended = true;
    if (request)
        probe->reply = request->reply;
    return &probe->job.result;
}

static void end_rest(struct nt_transfer *job)
{
    struct nt_end_probe *probe = (struct nt_end_probe *)job;
    const struct nt_result *result = note_end(probe);
    if (result->outcome == NT_OUTCOME_OK)
        reply_opened(probe->file);
    else
        fail_opening(probe->file, result);
}

/* Is the tail of the same version, and does it have at least `requested` bytes? */
static bool is_of_version(const struct nt_end_probe *tail, const struct nt_file_version *version,
                          uint64_t requested)
{
    return tail->job.result.outcome == NT_OUTCOME_OK && tail->reply.total == version->size &&
           tail->got >= requested && nt_validators_agree(&tail->reply.validators, &version->validators);
}

/* Both probes have ended, or the head was the whole file. */
static void join_probes(struct nt_remote_handle *file)
{
    struct nt_origin *origin = origin_of(file);
    struct nt_end_probe *tail = origin->tail;
    uint64_t size = origin->version.size, after = size - origin->head->got;
    uint64_t requested = after < NT_FETCH_END_BYTES ? after : NT_FETCH_END_BYTES;
    if (requested == 0) {
        drop_probe(file, &origin->tail);
        reply_opened(file);
    } else if (is_of_version(tail, &origin->version, requested)) {
        memmove(tail->bytes, tail->bytes + (tail->got - requested), requested);
        tail->got = requested;
        reply_opened(file);
    } else {
        drop_probe(file, &origin->tail);
        origin->tail = add_probe(file, end_rest, size - requested, requested, NT_FETCH_END_BYTES);
        if (!origin->tail)
            fail_opening(file, &nt_result_no_memory);
    }
}

static void end_head(struct nt_transfer *job)
{
    struct nt_end_probe *head = (struct nt_end_probe *)job;
    struct nt_remote_handle *file = head->file;
    struct nt_origin *origin = origin_of(file);
    const struct nt_result *result = note_end(head);
    const struct nt_reply *reply = &head->reply;
    if (result->outcome != NT_OUTCOME_OK) {
        fail_opening(file, result);
        return;
    }
    if (!origin->is_known)
        origin->version = (struct nt_file_version){reply->validators, reply->has_total ? reply->total : 0};
    origin->is_known = true;
    if (origin->is_first && file->is_read_later)
        preconnect_for(file, origin->version.size, OPENING);
    if (origin->tail->has_ended || origin->version.size <= NT_FETCH_END_BYTES)
        join_probes(file);
}

static void end_tail(struct nt_transfer *job)
{
    struct nt_end_probe *tail = (struct nt_end_probe *)job;
    struct nt_remote_handle *file = tail->file;
    note_end(tail);
    if (origin_of(file)->head->has_ended)
        join_probes(file);
}

/* ---- In front of the tail ---- */

static uint64_t suffix_bytes(unsigned number)
{
    return NT_FETCH_END_BYTES + (number + UINT64_C(1)) * BEFORE_TAIL_BYTES;
}

static bool take_before_tail(struct nt_transfer *job, uint64_t offset, const char *bytes, size_t count)
{
    struct nt_end_probe *probe = (struct nt_end_probe *)job;
    take_probe(job, offset, bytes, count);
    if (offset < probe->capacity)
        nt_file_received(probe->file);
    return true;
}

static void end_before_tail(struct nt_transfer *job)
{
    note_end((struct nt_end_probe *)job);
}

static void add_before_tail(struct nt_remote_handle *file)
{
    for (unsigned i = 0; i < BEFORE_TAIL; i++) {
        struct nt_end_probe *probe = add_probe(file, end_before_tail, 0, suffix_bytes(i), BEFORE_TAIL_BYTES);
        origin_of(file)->before_tail[i] = probe;
        if (!probe)
            return;
        probe->job.is_suffix = probe->job.is_beside = true;
        probe->job.max_tries = NT_TRIES_ONCE;
        probe->job.take = take_before_tail;
    }
}

static bool is_of_suffix(const struct nt_end_probe *probe, const struct nt_file_version *version,
                         uint64_t first)
{
    const struct nt_request *request = probe->job.attempt;
    const struct nt_reply *reply = probe->has_ended ? &probe->reply : &request->reply;
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
        return NT_RECEIVED_NOT;
    uint64_t left = (is_here ? probe->got : probe->capacity) - skip;
    *count_ret = (size_t)(left < bytes ? left : bytes);
    if (is_here)
        memcpy(output, probe->bytes + skip, *count_ret);
    return is_here ? NT_RECEIVED : NT_RECEIVED_SOON;
}

/* Bytes that are requested again may be damaged: a server sends them. What is between copied bytes counts as
 * copied, too. */
static void note_copied(struct nt_copied_bytes *copied, uint64_t first, uint64_t end)
{
    copied->first = copied->end && copied->first < first ? copied->first : first;
    copied->end = copied->end > end ? copied->end : end;
}

static enum nt_received copy_received(struct nt_remote_handle *file, uint64_t offset, size_t bytes,
                                      char *output)
{
    struct nt_origin *origin = origin_of(file);
    const struct nt_file_version *version = &origin->version;
    enum nt_received all = NT_RECEIVED, some = NT_RECEIVED;
    if (offset < origin->copied.end && origin->copied.first < offset + bytes)
        return NT_RECEIVED_NOT;
    for (size_t done = 0, count = 0; done < bytes && some != NT_RECEIVED_NOT; done += count) {
        some = NT_RECEIVED_NOT;
        for (unsigned i = 0; i < BEFORE_TAIL && some == NT_RECEIVED_NOT; i++)
            if (origin->before_tail[i] && version->size >= suffix_bytes(i))
                some = copy_some(origin->before_tail[i], version, version->size - suffix_bytes(i),
                                 offset + done, bytes - done, output + done, &count);
        all = some < all ? some : all;
    }
    if (all == NT_RECEIVED)
        note_copied(&origin->copied, offset, offset + bytes);
    return all;
}

/* ---- Opening ---- */

static struct nt_origin *add_origin(struct nt_backend *backend, struct nt_remote_handle *file,
                                    const char *address, const char **problem_ret)
{
    enum nt_service service = NT_SERVICE_WEB;
    char *url = nt_address_url(address, &service, problem_ret);
    struct nt_origin *origin = url ? calloc(1, sizeof(*origin)) : NULL;
    if (!origin) {
        free(url);
        return NULL;
    }
    *origin = (struct nt_origin){.remote = {backend}, .address = url, .service = service};
    file->remote = &origin->remote;
    return origin;
}

/* Operations of nt_backend. The first file of a server preconnects for later reads. */
static bool open_file(struct nt_backend *backend, struct nt_remote_handle *file, const char *address,
                      const char **problem_ret)
{
    struct nt_origin *origin = add_origin(backend, file, address, problem_ret);
    if (!origin)
        return false;
    origin->head = add_probe(file, end_head, 0, NT_FETCH_END_BYTES, NT_FETCH_END_BYTES);
    origin->tail = origin->head ? add_probe(file, end_tail, 0, NT_FETCH_END_BYTES, NT_FETCH_END_BYTES) : NULL;
    if (!origin->tail) {
        close_file(file);
        return false;
    }
    origin->head->job.max_tries = NT_TRIES_OF_UNKNOWN;
    origin->tail->job.is_suffix = true;
    origin->tail->job.max_tries = NT_TRIES_ONCE;
    origin->is_first = is_first_of_server(file);
    if (origin->is_first && !file->is_read_later) { /* its size is not known yet */
        add_before_tail(file);
        preconnect_for(file, UINT64_MAX, OPENING + BEFORE_TAIL);
    }
    return true;
}

/* Trusts the listing: each answer of the server validates it. */
static bool open_listed(struct nt_backend *backend, struct nt_remote_handle *file, const char *address,
                        const char *validator, const char **problem_ret)
{
    struct nt_origin *origin = add_origin(backend, file, address, problem_ret);
    if (!origin)
        return false;
    nt_validators_read(&origin->version.validators, validator, strlen(validator));
    origin->version.size = file->size;
    origin->is_of_objects = nt_address_is_of_objects(address);
    origin->is_known = !origin->is_of_objects;
    return true;
}

/* ---- Objects of a store ---- */

static bool take_bytes(void *context, const char *bytes, size_t count)
{
    struct nt_transfer *job = context;
    const struct nt_request *request = job->attempt;
    return job->take(job, job->first + request->result.got, bytes, count);
}

struct attempt {
    struct nt_request request;
    struct nt_file_version version;
    bool is_known; /* `version` is valid */
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
                 job->first / NT_OBJECT_SPACE, number + strlen(NT_OBJECT_NUMBER));
    return attempt;
}

/* The attempt of such a job begins with a struct nt_request. */
static bool start_object(struct nt_transfer *job, uint64_t milliseconds, CURLM *multi)
{
    const struct nt_origin *origin = (struct nt_origin *)job->remote;
    struct attempt *attempt = attempt_of(job);
    if (!attempt)
        return false;
    attempt->request = (struct nt_request){.asked = NT_HTTP_REQUEST_PART,
                                           .address = attempt->address,
                                           .named = attempt->address,
                                           .is_own = true,
                                           .service = origin->service,
                                           .first = job->first % NT_OBJECT_SPACE,
                                           .bytes = job->bytes,
                                           .expected = attempt->is_known ? &attempt->version : NULL,
                                           .milliseconds = milliseconds,
                                           .take = take_bytes,
                                           .context = job};
    return nt_request_start(&attempt->request, multi, job);
}

/* The server has sent all its bytes, and they are too few. */
static void refuse_short(struct nt_request *request)
{
    char message[160];
    snprintf(message, sizeof(message),
             "the object ends at byte %" PRIu64 ", but the request is for %" PRIu64
             " bytes from byte %" PRIu64,
             request->first + request->result.got, request->bytes, request->first);
    nt_request_refuse(request, NT_FETCH_NOT_FOUND, message);
}

/* Ends the request of a try and sets its result. */
static void web_end_object(struct nt_transfer *job, CURLcode code)
{
    struct attempt *attempt = job->attempt;
    struct nt_request *request = &attempt->request;
    const struct nt_reply *reply = &request->reply;
    nt_request_end(request, code);
    if (request->result.outcome == NT_OUTCOME_OK && request->result.got < request->bytes)
        refuse_short(request);
    if (request->result.got > 0 && reply->has_range && !attempt->is_known) {
        attempt->version = (struct nt_file_version){reply->validators, reply->total};
        attempt->is_known = true;
    }
    job->result = request->result;
}

/* ---- Backend ---- */

/* ---- One try ---- */

static bool start(struct nt_transfer *job, uint64_t milliseconds)
{
    const struct nt_origin *origin = (struct nt_origin *)job->remote;
    struct nt_web *web = (struct nt_web *)job->remote->backend;
    if (origin->is_of_objects) {
        web->backend.jobs->totals.requests++;
        return start_object(job, milliseconds, web->multi);
    }
    struct nt_request *request = job->attempt ? job->attempt : malloc(sizeof(*request));
    job->attempt = request;
    if (!request)
        return false;
    *request = (struct nt_request){.asked = origin->asked,
                                   .address = origin->redirect_url ? origin->redirect_url : origin->address,
                                   .named = origin->address,
                                   .is_own = !origin->redirect_url,
                                   .service = origin->service,
                                   .is_suffix = job->is_suffix,
                                   .needs_connection = job->is_beside,
                                   .first = job->first,
                                   .bytes = job->bytes,
                                   .expected = origin->is_known ? &origin->version : NULL,
                                   .is_unconditional = origin->is_known && origin->is_unconditional,
                                   .milliseconds = milliseconds,
                                   .take = take_bytes,
                                   .context = job};
    web->backend.jobs->totals.requests++;
    return nt_request_start(request, web->multi, job);
}

static void stop(struct nt_transfer *job)
{
    const struct nt_web *web = (struct nt_web *)job->remote->backend;
    if (job->attempt)
        nt_request_stop(job->attempt, web->multi);
}

static void resume(struct nt_transfer *job)
{
    const struct nt_request *request = job->attempt;
    curl_easy_pause(request->easy, CURLPAUSE_CONT);
}

/* Remembers a redirect, so that the next request goes there directly. */
static void note_elsewhere(struct nt_origin *origin, const struct nt_request *request)
{
    const char *address = nt_request_address(request);
    const char *asked = origin->redirect_url ? origin->redirect_url : origin->address;
    if (request->result.outcome == NT_OUTCOME_OTHER_SERVER) {
        free(origin->redirect_url);
        origin->redirect_url = NULL;
    } else if (request->result.outcome == NT_OUTCOME_OK && strcmp(address, asked) != 0) {
        char *redirect_url = strcmp(address, origin->address) == 0 ? NULL : strdup(address);
        free(origin->redirect_url);
        origin->redirect_url = redirect_url;
    }
}

/* Even a broken answer identifies the version, so that the rest can be requested; also one that claims
 * bytes after the end (XRootD's http sends none then). A preconnect does not: the kept head may be of
 * another version. */
static void note_version(struct nt_origin *origin, struct nt_transfer *job, const struct nt_request *request)
{
    const struct nt_reply *reply = &request->reply;
    bool is_broken = request->result.outcome == NT_OUTCOME_RETRY &&
                     (reply->is_beyond || (request->result.got > 0 && reply->has_range));
    if (origin->is_known || !is_broken || request->is_suffix || job->is_beside ||
        origin->asked != NT_HTTP_REQUEST_PART)
        return;
    origin->version = (struct nt_file_version){reply->validators, reply->total};
    origin->is_known = true;
    job->max_tries = NT_TRIES_OF_KNOWN;
    if (job->bytes > reply->total - job->first)
        job->bytes = reply->total - job->first;
}

/* Did the server reject the condition of the request? */
static bool is_rejected(const struct nt_request *request)
{
    long code = 0;
    curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &code);
    return code == 412;
}

/* One odd answer of a balancer or cache is no change of the file: a second look must agree. It omits
 * the condition, which some servers judge wrongly; then the answer itself must prove the version. */
static void look_again(struct nt_origin *origin, struct nt_transfer *job, const struct nt_request *request)
{
    struct nt_result *result = &job->result;
    bool says_changed = result->outcome == NT_OUTCOME_FAILED &&
                        (result->failure == NT_FETCH_CHANGED || result->failure == NT_FETCH_NOT_FOUND);
    if (says_changed && origin->is_known && !job->is_beside && !job->has_looked_again) {
        job->has_looked_again = true;
        job->max_tries = job->max_tries > job->tries + 2 ? job->max_tries : job->tries + 2;
        result->outcome = NT_OUTCOME_RETRY;
        origin->is_unconditional = is_rejected(request);
    } else if (says_changed) {
        origin->is_unconditional = false;
    }
}

static void end_try(struct nt_transfer *job, CURLcode code)
{
    struct nt_origin *origin = (struct nt_origin *)job->remote;
    struct nt_request *request = job->attempt;
    const struct nt_web *web = (struct nt_web *)origin->remote.backend;
    if (origin->is_of_objects) {
        web_end_object(job, code);
        nt_transfers_end_try(origin->remote.backend->jobs, job);
        return;
    }
    if (nt_request_follow(request, web->multi, code))
        return;
    nt_request_end(request, code);
    note_elsewhere(origin, request);
    note_version(origin, job, request);
    job->result = request->result;
    if (request->reply.is_beyond && job->result.outcome == NT_OUTCOME_RETRY)
        job->result.outcome = NT_OUTCOME_OTHER_SERVER; /* the size is known now: ask at once */
    look_again(origin, job, request);
    if (!origin->is_known || request->is_suffix)
        job->result.got = 0; /* keep no bytes of an unknown version */
    nt_transfers_end_try(origin->remote.backend->jobs, job);
}

/* ---- Operations ---- */

static void work(struct nt_backend *backend)
{
    const struct nt_web *web = (struct nt_web *)backend;
    CURLMsg *message;
    int running, left;
    curl_multi_perform(web->multi, &running);
    while ((message = curl_multi_info_read(web->multi, &left))) {
        struct nt_transfer *job = NULL;
        CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &job);
        end_try(job, code);
    }
}

static const struct nt_backend_ops ops = {.at_once = AT_ONCE,
                                          .at_once_if_many = AT_ONCE_IF_MANY,
                                          .max_bytes = UINT64_MAX, /* bytes are not buffered */
                                          .open = open_file,
                                          .open_listed = open_listed,
                                          .copy_received = copy_received,
                                          .close = close_file,
                                          .list = nt_web_list,
                                          .end_list = nt_web_end_list,
                                          .start = start,
                                          .stop = stop,
                                          .resume = resume,
                                          .work = work};

bool nt_web_init(struct nt_web *web, struct nt_transfers *jobs)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return false;
    *web = (struct nt_web){.multi = curl_multi_init()};
    nt_transfers_add_backend(jobs, &web->backend, &ops);
    return web->multi &&
           curl_multi_setopt(web->multi, CURLMOPT_MAXCONNECTS, (long)AT_ONCE_IF_MANY) == CURLM_OK;
}

void nt_web_wait(struct nt_web *web, struct curl_waitfd *others, unsigned count, uint64_t milliseconds)
{
    curl_multi_poll(web->multi, others, count, (int)milliseconds, NULL);
}
