/* SPDX-License-Identifier: MIT
 *
 * In: what is asked for, which may be anything. Out: jobs, and answers. A file is opened by two requests at once, for its beginning and for
 * its end: the answers to both tell which file it is, and readers begin with these parts. The end is asked for again by its
 * place where a server does not know ends, or has sent that of another version.
 */
#include "fetch/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct edge {
    struct nt_job job;
    struct nt_fetched *file;
    bool has_ended;
    uint64_t first, got;
    char bytes[NT_FETCH_EDGE_BYTES];
};

struct nt_fetched {
    struct nt_origin origin;
    struct nt_files *files;
    uint32_t number;
    uint64_t open_id;
    uint64_t milliseconds;
    struct edge *head, *tail; /* while it is opened */
    struct part *parts;
    struct nt_fetched *next;
};

/* That somebody reads. */
struct part {
    struct nt_job job;
    struct nt_fetched *file;
    uint64_t id, at;
    struct part *next;
};

/* ---- answers ---- */

static void fail_request(struct nt_files *files, uint64_t id, enum nt_fetch_failure failure,
                         const char *message)
{
    nt_output_put(&files->output,
                  (struct nt_fetch_answer){.kind = NT_FETCH_FAILED, .id = id, .failure = failure}, message,
                  strlen(message));
}

static void done(struct nt_files *files, uint64_t id)
{
    nt_output_put(&files->output, (struct nt_fetch_answer){.kind = NT_FETCH_DONE, .id = id}, NULL, 0);
}

/* ---- files ---- */

static struct nt_fetched **file_of(struct nt_files *files, uint32_t number)
{
    struct nt_fetched **link = &files->first;
    while (*link && (*link)->number != number)
        link = &(*link)->next;
    return link;
}

static void drop_edge(struct nt_fetched *file, struct edge **edge)
{
    if (*edge && !(*edge)->has_ended)
        nt_jobs_remove(&file->files->jobs, &(*edge)->job);
    free(*edge);
    *edge = NULL;
}

static void close_file(struct nt_files *files, struct nt_fetched **link)
{
    struct nt_fetched *file = *link;
    struct part *part;
    while ((part = file->parts)) {
        file->parts = part->next;
        nt_jobs_remove(&files->jobs, &part->job);
        free(part);
    }
    drop_edge(file, &file->head);
    drop_edge(file, &file->tail);
    *link = file->next;
    files->count--;
    free(file->origin.address);
    free(file->origin.elsewhere);
    free(file);
}

/* ---- opening ---- */

static void fail_opening(struct nt_fetched *file, const struct nt_request *request)
{
    struct nt_files *files = file->files;
    fail_request(files, file->open_id, request->failure, request->message);
    close_file(files, file_of(files, file->number));
}

/* The stamp says the same of the same version whatever process asks. */
static void tell_opened(struct nt_fetched *file)
{
    const struct nt_version *version = &file->origin.version;
    const struct nt_validators *known = &version->validators;
    struct nt_output *output = &file->files->output;
    char stamp[NT_FETCH_STAMP_BYTES];
    time_t modified = known->modified[0] ? curl_getdate(known->modified, NULL) : -1;
    uint64_t head = file->head->got, tail = file->tail ? file->tail->got : 0;
    int length = snprintf(stamp, sizeof(stamp), "%s %s", known->tag, known->modified);
    nt_output_put(output,
                  (struct nt_fetch_answer){.kind = NT_FETCH_OPENED,
                                           .id = file->open_id,
                                           .size = version->size,
                                           .modified = modified >= 0 ? (int64_t)modified : NT_FETCH_NO_TIME},
                  stamp, (size_t)length);
    nt_output_put(output, (struct nt_fetch_answer){.kind = NT_FETCH_DATA, .id = file->open_id},
                  file->head->bytes, head);
    if (tail)
        nt_output_put(output,
                      (struct nt_fetch_answer){.kind = NT_FETCH_DATA, .id = file->open_id, .offset = head},
                      file->tail->bytes, tail);
    done(file->files, file->open_id);
    drop_edge(file, &file->head);
    drop_edge(file, &file->tail);
}

static bool take_edge(void *context, const char *bytes, size_t count)
{
    struct edge *edge = context;
    uint64_t at = edge->job.first - edge->first + edge->job.request.got;
    memcpy(edge->bytes + at, bytes, count); /* a request passes on no more than was asked for */
    edge->got = at + count;
    return true;
}

static struct edge *add_edge(struct nt_fetched *file, void (*end)(struct nt_job *), uint64_t first,
                             uint64_t bytes)
{
    struct edge *edge = calloc(1, sizeof(*edge));
    if (!edge)
        return NULL;
    edge->file = file;
    edge->first = first;
    edge->job = (struct nt_job){.origin = &file->origin,
                                .request = {.take = take_edge, .context = edge},
                                .first = first,
                                .bytes = bytes,
                                .milliseconds = file->milliseconds,
                                .end = end};
    nt_jobs_add(&file->files->jobs, &edge->job);
    return edge;
}

static void end_rest(struct nt_job *job)
{
    struct edge *edge = (struct edge *)job;
    edge->has_ended = true;
    if (job->request.outcome == NT_OUTCOME_GOOD)
        tell_opened(edge->file);
    else
        fail_opening(edge->file, &job->request);
}

/* Whether the end that has come is of the same version as the beginning, and of what is behind that as much as is wanted. */
static bool is_of_version(const struct nt_fetched *file, const struct edge *tail, uint64_t wanted)
{
    const struct nt_reply *reply = &tail->job.request.reply;
    const struct nt_version *version = &file->origin.version;
    return tail->job.request.outcome == NT_OUTCOME_GOOD && reply->total == version->size &&
           tail->got >= wanted && nt_validators_agree(&reply->validators, &version->validators);
}

/* Both have ended, or the first was all. */
static void join_edges(struct nt_fetched *file)
{
    uint64_t size = file->origin.version.size, behind = size - file->head->got;
    uint64_t wanted = behind < NT_FETCH_EDGE_BYTES ? behind : NT_FETCH_EDGE_BYTES;
    if (wanted == 0) {
        drop_edge(file, &file->tail);
        tell_opened(file);
    } else if (is_of_version(file, file->tail, wanted)) {
        struct edge *tail = file->tail;
        memmove(tail->bytes, tail->bytes + (tail->got - wanted), wanted);
        tail->got = wanted;
        tell_opened(file);
    } else {
        drop_edge(file, &file->tail);
        file->tail = add_edge(file, end_rest, size - wanted, wanted);
        if (!file->tail)
            fail_opening(file,
                         &(struct nt_request){.failure = NT_FETCH_UNREACHABLE, .message = "out of memory"});
    }
}

static void end_head(struct nt_job *job)
{
    struct edge *head = (struct edge *)job;
    struct nt_fetched *file = head->file;
    const struct nt_reply *reply = &job->request.reply;
    head->has_ended = true;
    if (job->request.outcome != NT_OUTCOME_GOOD) {
        fail_opening(file, &job->request);
        return;
    }
    if (!file->origin.is_known)
        file->origin.version = (struct nt_version){reply->validators, reply->has_total ? reply->total : 0};
    file->origin.is_known = true;
    if (file->tail->has_ended || file->origin.version.size <= NT_FETCH_EDGE_BYTES)
        join_edges(file);
}

static void end_tail(struct nt_job *job)
{
    struct edge *tail = (struct edge *)job;
    tail->has_ended = true;
    if (tail->file->head->has_ended)
        join_edges(tail->file);
}

/* NULL, without a problem, for what is no text or without memory. */
static char *url_of(const char *text, size_t bytes, enum nt_service *service_ret, const char **problem_ret)
{
    char *address = memchr(text, '\0', bytes) ? NULL : strndup(text, bytes);
    char *url = address ? nt_address_url(address, service_ret, problem_ret) : NULL;
    free(address);
    return url;
}

static void open_file(struct nt_files *files, const struct nt_fetch_request *request, const char *text,
                      size_t bytes)
{
    struct nt_fetched *file = files->count < NT_FETCH_MOST_FILES ? calloc(1, sizeof(*file)) : NULL;
    enum nt_service service = NT_SERVICE_WEB;
    const char *problem = NULL;
    char *url = file && !*file_of(files, request->file) ? url_of(text, bytes, &service, &problem) : NULL;
    if (!url) {
        free(file);
        fail_request(files, request->id, problem ? NT_FETCH_INVALID : NT_FETCH_UNREACHABLE,
                     problem ? problem : "the process that fetches cannot open more files");
        return;
    }
    *file = (struct nt_fetched){.origin = {.address = url, .service = service},
                                .files = files,
                                .number = request->file,
                                .open_id = request->id,
                                .milliseconds = request->milliseconds,
                                .next = files->first};
    files->first = file;
    files->count++;
    file->head = add_edge(file, end_head, 0, NT_FETCH_EDGE_BYTES);
    file->tail = file->head ? add_edge(file, end_tail, 0, NT_FETCH_EDGE_BYTES) : NULL;
    if (!file->tail) {
        fail_opening(file, &(struct nt_request){.failure = NT_FETCH_UNREACHABLE, .message = "out of memory"});
        return;
    }
    file->tail->job.request.is_suffix = true;
    file->tail->job.is_optional = true;
}

/* ---- reading ---- */

static void remove_part(struct part *part)
{
    struct part **link = &part->file->parts;
    while (*link != part)
        link = &(*link)->next;
    *link = part->next;
    free(part);
}

static bool take_part(void *context, const char *bytes, size_t count)
{
    struct part *part = context;
    struct nt_output *output = &part->file->files->output;
    if (nt_output_is_full(output)) {
        part->job.is_paused = true;
        return false;
    }
    nt_output_put(output, (struct nt_fetch_answer){.kind = NT_FETCH_DATA, .id = part->id, .offset = part->at},
                  bytes, count);
    part->at += count;
    return true;
}

static void end_part(struct nt_job *job)
{
    struct part *part = (struct part *)job;
    if (job->request.outcome == NT_OUTCOME_GOOD)
        done(part->file->files, part->id);
    else
        fail_request(part->file->files, part->id, job->request.failure, job->request.message);
    remove_part(part);
}

static void read_part(struct nt_files *files, const struct nt_fetch_request *request)
{
    struct nt_fetched *file = *file_of(files, request->file);
    uint64_t size = file ? file->origin.version.size : 0;
    bool is_within = file && file->origin.is_known && request->bytes > 0 &&
                     request->bytes <= NT_FETCH_MOST_BYTES && request->offset < size &&
                     request->bytes <= size - request->offset;
    struct part *part =
        is_within && files->jobs.count < NT_FETCH_MOST_REQUESTS ? calloc(1, sizeof(*part)) : NULL;
    if (!part) {
        fail_request(files, request->id, NT_FETCH_UNREACHABLE,
                     "the process that fetches was asked for what it cannot do");
        return;
    }
    *part = (struct part){.job = {.origin = &file->origin,
                                  .request = {.take = take_part, .context = part},
                                  .first = request->offset,
                                  .bytes = request->bytes,
                                  .milliseconds = request->milliseconds,
                                  .is_ahead = request->is_ahead,
                                  .end = end_part},
                          .file = file,
                          .id = request->id,
                          .at = request->offset,
                          .next = file->parts};
    file->parts = part;
    nt_jobs_add(&files->jobs, &part->job);
}

static struct part *part_of(const struct nt_files *files, uint64_t id)
{
    for (struct nt_fetched *file = files->first; file; file = file->next)
        for (struct part *part = file->parts; part; part = part->next)
            if (part->id == id)
                return part;
    return NULL;
}

static void cancel(struct nt_files *files, uint64_t id)
{
    struct part *part = part_of(files, id);
    if (part) {
        nt_jobs_remove(&files->jobs, &part->job);
        remove_part(part);
        return;
    }
    for (struct nt_fetched **link = &files->first; *link; link = &(*link)->next)
        if ((*link)->open_id == id && (*link)->head) {
            close_file(files, link);
            return;
        }
}

void nt_files_take(struct nt_files *files, const struct nt_fetch_request *request, const char *text,
                   size_t bytes)
{
    struct nt_fetched **link;
    struct part *part;
    switch (request->kind) {
    case NT_FETCH_OPEN:
        open_file(files, request, text, bytes);
        break;
    case NT_FETCH_READ:
        read_part(files, request);
        break;
    case NT_FETCH_WANTED:
        part = part_of(files, request->id);
        if (part)
            part->job.is_ahead = false;
        break;
    case NT_FETCH_CANCEL:
        cancel(files, request->id);
        break;
    case NT_FETCH_CLOSE:
        link = file_of(files, request->file);
        if (*link)
            close_file(files, link);
        break;
    default:
        break;
    }
}
