/* SPDX-License-Identifier: MIT
 *
 * Directory listings over HTTP: requests for all parts of a list, or for an index page where the server
 * has no other list.
 */
#include "remote/helper/helper.h"

/* Limit of consecutive parts without entries; a store that skips deleted objects sends some. */
enum { MAX_EMPTY_PARTS = 100 };

struct nt_http_walk {
    struct nt_transfer job;
    struct nt_http_file *origin;
    char *address;                          /* as given */
    struct nt_list_parser *list;            /* of the current answer; NULL: nothing has arrived */
    struct nt_index_parser *index;          /* likewise, of an index page */
    char refusal[160];                      /* why the server has no other list than an index page */
    bool is_index_first;                    /* it is requested because of an earlier refusal */
    char token[NT_FOLDER_LIST_TOKEN_BYTES]; /* used to request this part */
    bool is_too_long;
    bool is_there;        /* reported by an earlier part */
    unsigned entries;     /* before this part */
    unsigned empty_parts; /* consecutive empty parts before this one */
};

/* ---- Answers ---- */

static void take_entry(void *context, const struct nt_listed *entry)
{
    struct nt_http_walk *walk = context;
    walk->is_too_long |= !nt_listing_add(&walk->origin->handle, entry);
}

/* A new try parses the answer from the start. */
static bool begin(struct nt_http_walk *walk)
{
    NT_AUTO_FREE char *folder = nt_address_folder(walk->address, nt_http_request_url(walk->job.attempt));
    nt_list_parser_free(walk->list);
    nt_index_parser_free(walk->index);
    walk->list = NULL;
    walk->index = NULL;
    if (folder && walk->origin->target.asked == NT_HTTP_REQUEST_INDEX)
        walk->index = nt_index_parser_new(folder, take_entry, walk);
    else if (folder)
        walk->list = nt_list_parser_new(walk->origin->target.service, folder, take_entry, walk);
    return walk->list || walk->index;
}

static bool feed(const struct nt_http_walk *walk, const char *bytes, size_t count)
{
    return walk->index ? nt_index_parser_feed(walk->index, bytes, count)
                       : nt_list_parser_feed(walk->list, bytes, count, false);
}

static bool take(struct nt_transfer *job, uint64_t offset, const char *bytes, size_t count)
{
    struct nt_http_walk *walk = (struct nt_http_walk *)job;
    if (nt_reply_queue_is_full(&job->remote->files->output)) {
        job->is_paused = true;
        return false;
    }
    if (offset == 0 && !begin(walk))
        nt_http_request_refuse(job->attempt, NT_FETCH_UNREACHABLE, "out of memory");
    else if (!feed(walk, bytes, count) && walk->index)
        nt_http_request_refuse(job->attempt, NT_FETCH_UNSUPPORTED, walk->refusal);
    else if (walk->list && *nt_list_parser_problem(walk->list))
        nt_http_request_refuse(job->attempt, NT_FETCH_UNREACHABLE, nt_list_parser_problem(walk->list));
    else if (walk->is_too_long)
        nt_http_request_refuse(job->attempt, NT_FETCH_UNSUPPORTED, NT_LISTING_TOO_LONG);
    return true;
}

/* ---- Successive parts ---- */

static void end(struct nt_transfer *job);

static bool ask(struct nt_http_walk *walk, enum nt_http_request_kind kind, const char **problem_ret)
{
    struct nt_http_target *target = &walk->origin->target;
    free(target->address);
    free(target->redirect_url);
    *target = (struct nt_http_target){.asked = kind};
    target->address = nt_address_url(walk->address, walk->token, &target->service, problem_ret);
    if (!target->address)
        return false;
    walk->job = (struct nt_transfer){.remote = &walk->origin->handle,
                                     .milliseconds = walk->origin->handle.milliseconds,
                                     .max_tries = NT_TRIES_OF_UNKNOWN,
                                     .take = take,
                                     .end = end};
    nt_transfer_add(&walk->job);
    return true;
}

static void fail(struct nt_http_walk *walk, enum nt_fetch_failure failure, const char *message)
{
    nt_handle_fail(&walk->origin->handle, failure, message);
}

static void resume_at(struct nt_http_walk *walk, const char *token)
{
    const char *problem;
    unsigned entries = walk->origin->handle.entries;
    if (!*token || strcmp(token, walk->token) == 0) {
        fail(walk, NT_FETCH_UNREACHABLE, "the server does not say how to continue its list");
        return;
    }
    walk->empty_parts = entries > walk->entries ? 0 : walk->empty_parts + 1;
    walk->entries = entries;
    if (walk->empty_parts >= MAX_EMPTY_PARTS) {
        fail(walk, NT_FETCH_UNREACHABLE, "the server sends part after part of its list without any entry");
        return;
    }
    strcpy(walk->token, token);
    nt_list_parser_free(walk->list);
    walk->list = NULL;
    if (!ask(walk, NT_HTTP_REQUEST_FOLDER, &problem))
        fail(walk, NT_FETCH_UNREACHABLE, problem ? problem : "out of memory");
}

/* A server without WebDAV may still send a page that lists the directory. */
static bool ask_for_index(struct nt_http_walk *walk, const struct nt_result *result)
{
    const char *problem;
    bool is_whole = walk->is_too_long || walk->origin->handle.entries;
    snprintf(walk->refusal, sizeof(walk->refusal), "%s", result->message);
    return walk->origin->target.service == NT_SERVICE_HTTP && !is_whole &&
           ask(walk, NT_HTTP_REQUEST_INDEX, &problem);
}

static struct nt_http_backend *backend_of(const struct nt_http_walk *walk)
{
    return (struct nt_http_backend *)walk->origin->handle.backend;
}

static void note_index(const struct nt_http_walk *walk)
{
    struct nt_http_backend *web = backend_of(walk);
    const char *address = walk->origin->target.address;
    if (walk->is_index_first || strlen(address) >= sizeof(web->index_address))
        return;
    strcpy(web->index_address, address);
    memcpy(web->index_refusal, walk->refusal, sizeof(web->index_refusal));
}

/* Other directories of a server may allow PROPFIND. */
static bool ask_for_list_after(struct nt_http_walk *walk)
{
    const char *problem;
    bool is_first = walk->is_index_first;
    walk->is_index_first = false;
    return is_first && !walk->is_too_long && !walk->origin->handle.entries &&
           ask(walk, NT_HTTP_REQUEST_FOLDER, &problem);
}

/* Whatever the server sends instead of a list, it does not list directories. */
static void end_index(struct nt_http_walk *walk, const struct nt_result *result)
{
    bool is_lasting = result->outcome == NT_OUTCOME_OK || result->failure != NT_FETCH_UNREACHABLE;
    bool is_list = result->outcome == NT_OUTCOME_OK && walk->index && !nt_index_parser_end(walk->index);
    if (walk->is_too_long)
        fail(walk, NT_FETCH_UNSUPPORTED, NT_LISTING_TOO_LONG);
    else if (is_list) {
        note_index(walk);
        nt_listing_done(&walk->origin->handle);
    } else if (!is_lasting || !ask_for_list_after(walk))
        fail(walk, is_lasting ? NT_FETCH_UNSUPPORTED : result->failure,
             is_lasting ? walk->refusal : result->message);
}

static void end(struct nt_transfer *job)
{
    struct nt_http_walk *walk = (struct nt_http_walk *)job;
    if (walk->origin->target.asked == NT_HTTP_REQUEST_INDEX) {
        end_index(walk, &job->result);
        return;
    }
    if (job->result.outcome != NT_OUTCOME_OK) {
        if (job->result.failure != NT_FETCH_UNSUPPORTED || !ask_for_index(walk, &job->result))
            fail(walk, job->result.failure, job->result.message);
        return;
    }
    if (!walk->list || !nt_list_parser_feed(walk->list, "", 0, true)) {
        fail(walk, NT_FETCH_UNREACHABLE,
             walk->list ? nt_list_parser_problem(walk->list) : "the server sends an empty list");
        return;
    }
    const char *token = nt_list_parser_token(walk->list);
    walk->is_there |= nt_list_parser_is_there(walk->list);
    if (token)
        resume_at(walk, token);
    else if (walk->is_there)
        nt_listing_done(&walk->origin->handle);
    else
        fail(walk, NT_FETCH_NOT_FOUND, "the server has no such directory");
}

bool nt_http_list(struct nt_remote_handle *listing, const char *address, const char **problem_ret)
{
    struct nt_http_file *origin = (struct nt_http_file *)listing;
    struct nt_http_walk *walk = origin->walk = calloc(1, sizeof(*walk));
    if (!walk || !(walk->address = strdup(address)))
        return false;
    walk->origin = origin;
    if (!ask(walk, NT_HTTP_REQUEST_FOLDER, problem_ret))
        return false;
    const struct nt_http_backend *web = backend_of(walk);
    walk->is_index_first = nt_address_is_same_server(web->index_address, origin->target.address);
    memcpy(walk->refusal, web->index_refusal, sizeof(walk->refusal));
    if (walk->is_index_first)
        origin->target.asked = NT_HTTP_REQUEST_INDEX;
    return true;
}

void nt_http_end_list(struct nt_http_file *origin)
{
    NT_AUTO_FREE struct nt_http_walk *walk = origin->walk;
    nt_transfer_remove(&walk->job);
    nt_list_parser_free(walk->list);
    nt_index_parser_free(walk->index);
    free(walk->address);
}
