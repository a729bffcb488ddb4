/* SPDX-License-Identifier: MIT
 *
 * In: what is asked for, which may be anything. Out: jobs, and answers. How a file is opened is the matter of the engine that takes
 * its address.
 */
#include "remote/helper/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nt_file_part {
    struct nt_transfer job;
    struct nt_fetched *file;
    uint64_t id;
    struct nt_file_part *next;
};

/* ---- files ---- */

static struct nt_fetched **file_of(struct nt_files *files, uint32_t number)
{
    struct nt_fetched **link = &files->first;
    while (*link && (*link)->number != number)
        link = &(*link)->next;
    return link;
}

static void close_file(struct nt_files *files, struct nt_fetched **link)
{
    struct nt_fetched *file = *link;
    struct nt_file_part *part;
    while ((part = file->parts)) {
        file->parts = part->next;
        nt_transfers_remove(&files->jobs, &part->job);
        free(part);
    }
    file->remote->engine->ops->close(file);
    *link = file->next;
    files->count--;
    free(file);
}

/* ---- opening ---- */

void nt_file_not_opened(struct nt_fetched *file, enum nt_fetch_failure failure, const char *message)
{
    struct nt_files *files = file->files;
    nt_output_fail(&files->output, file->number, file->open_id, failure, message);
    close_file(files, file_of(files, file->number));
}

void nt_file_opened(struct nt_fetched *file, const struct nt_open_result *opened)
{
    char text[NT_FETCH_STAMP_BYTES + NT_FETCH_SERVER_BYTES];
    struct nt_output *output = &file->files->output;
    struct nt_fetch_answer answer = {.kind = NT_FETCH_OPENED,
                                     .file = file->number,
                                     .id = file->open_id,
                                     .size = opened->size,
                                     .modified = opened->modified,
                                     .offset = opened->round_trips};
    file->size = opened->size;
    file->is_open = true;
    int length = snprintf(text, sizeof(text), "%s%c%s", opened->stamp, '\0', opened->server);
    nt_output_put(output, answer, text, (size_t)length);
    answer = (struct nt_fetch_answer){.kind = NT_FETCH_DATA, .file = file->number, .id = file->open_id};
    nt_output_put(output, answer, opened->head, opened->head_bytes);
    answer.offset = opened->head_bytes;
    if (opened->tail_bytes)
        nt_output_put(output, answer, opened->tail, opened->tail_bytes);
    nt_output_done(output, file->number, file->open_id);
}

static struct nt_fetched *add_file(struct nt_files *files, const struct nt_fetch_request *request)
{
    struct nt_fetched *file = files->count < NT_FETCH_MOST_FILES && !*file_of(files, request->file)
                                  ? calloc(1, sizeof(*file))
                                  : NULL;
    if (!file)
        return NULL;
    *file = (struct nt_fetched){.files = files,
                                .number = request->file,
                                .open_id = request->id,
                                .milliseconds = request->milliseconds,
                                .size = request->bytes,
                                .next = files->first};
    files->first = file;
    files->count++;
    return file;
}

/* Behind the address of what a list has told of stands its stamp: then it is open at once. */
static bool open_with(struct nt_engine *engine, struct nt_fetched *file, const char *address,
                      const char *stamp, const char **problem_ret)
{
    if (!stamp)
        return engine->ops->open(engine, file, address, problem_ret);
    if (!engine->ops->open_listed(engine, file, address, stamp, problem_ret))
        return false;
    file->is_open = true;
    nt_output_done(&file->files->output, file->number, file->open_id);
    return true;
}

/* Of the one that was added last. */
static void drop_file(struct nt_files *files, struct nt_fetched *file)
{
    files->first = file->next;
    files->count--;
    free(file);
}

static void refuse(struct nt_files *files, const struct nt_fetch_request *request)
{
    nt_output_fail(&files->output, request->file, request->id, NT_FETCH_FORBIDDEN,
                   "it is none of the sources, and lies in none");
}

static void open_file(struct nt_files *files, const struct nt_fetch_request *request, const char *text,
                      size_t bytes)
{
    const char *problem = NULL;
    char *address = strndup(text, bytes), *stamp = NULL;
    size_t length = address ? strlen(address) : 0;
    if (length < bytes && request->kind == NT_FETCH_OPEN_LISTED)
        stamp = strndup(text + length + 1, bytes - length - 1);
    bool is_whole = address && (length == bytes) == (request->kind == NT_FETCH_OPEN) &&
                    (length == bytes) == !stamp && request->bytes <= INT64_MAX;
    struct nt_fetched *file = is_whole ? add_file(files, request) : NULL;
    if (!file) {
        nt_output_fail(&files->output, request->file, request->id, NT_FETCH_UNREACHABLE,
                       "the process that fetches cannot open more files");
    } else if (!nt_rules_allow(&files->rules, address)) {
        refuse(files, request);
        drop_file(files, file);
    } else if (!open_with(nt_transfers_engine(&files->jobs, address), file, address, stamp, &problem)) {
        nt_output_fail(&files->output, request->file, request->id,
                       problem ? NT_FETCH_INVALID : NT_FETCH_UNREACHABLE,
                       problem ? problem : "out of memory");
        drop_file(files, file);
    }
    free(address);
    free(stamp);
}

static void list(struct nt_files *files, const struct nt_fetch_request *request, const char *text,
                 size_t bytes)
{
    char *address = strndup(text, bytes);
    if (address && !nt_rules_allow(&files->rules, address))
        refuse(files, request);
    else
        nt_listings_start(&files->listings, request, text, bytes);
    free(address);
}

/* ---- reading ---- */

static void remove_part(struct nt_file_part *part)
{
    struct nt_file_part **link = &part->file->parts;
    while (*link != part)
        link = &(*link)->next;
    *link = part->next;
    free(part);
}

static bool take_part(struct nt_transfer *job, uint64_t offset, const char *bytes, size_t count)
{
    const struct nt_file_part *part = (struct nt_file_part *)job;
    const struct nt_fetched *file = part->file;
    struct nt_output *output = &part->file->files->output;
    if (nt_output_is_full(output)) {
        job->is_paused = true;
        return false;
    }
    nt_output_put(output,
                  (struct nt_fetch_answer){
                      .kind = NT_FETCH_DATA, .file = file->number, .id = part->id, .offset = offset},
                  bytes, count);
    return true;
}

static void end_part(struct nt_transfer *job)
{
    struct nt_file_part *part = (struct nt_file_part *)job;
    struct nt_output *output = &part->file->files->output;
    if (job->result.outcome == NT_OUTCOME_GOOD)
        nt_output_done(output, part->file->number, part->id);
    else
        nt_output_fail(output, part->file->number, part->id, job->result.failure, job->result.message);
    remove_part(part);
}

static void read_part(struct nt_files *files, const struct nt_fetch_request *request)
{
    struct nt_fetched *file = *file_of(files, request->file);
    uint64_t size = file ? file->size : 0;
    bool is_within = file && file->is_open && request->bytes > 0 && request->bytes <= NT_FETCH_MOST_BYTES &&
                     request->offset < size && request->bytes <= size - request->offset;
    struct nt_file_part *part =
        is_within && files->jobs.count < NT_FETCH_MOST_REQUESTS ? calloc(1, sizeof(*part)) : NULL;
    if (!part) {
        nt_output_fail(&files->output, request->file, request->id, NT_FETCH_UNREACHABLE,
                       "the process that fetches was asked for what it cannot do");
        return;
    }
    *part = (struct nt_file_part){.job = {.remote = file->remote,
                                          .first = request->offset,
                                          .bytes = request->bytes,
                                          .milliseconds = request->milliseconds,
                                          .is_ahead = request->is_ahead,
                                          .most_tries = NT_TRIES_OF_KNOWN,
                                          .take = take_part,
                                          .end = end_part},
                                  .file = file,
                                  .id = request->id,
                                  .next = file->parts};
    file->parts = part;
    nt_transfers_add(&files->jobs, &part->job);
}

static struct nt_file_part *part_of(const struct nt_files *files, uint64_t id)
{
    for (struct nt_fetched *file = files->first; file; file = file->next)
        for (struct nt_file_part *part = file->parts; part; part = part->next)
            if (part->id == id)
                return part;
    return NULL;
}

static void cancel(struct nt_files *files, uint64_t id)
{
    struct nt_file_part *part = part_of(files, id);
    if (part) {
        nt_transfers_remove(&files->jobs, &part->job);
        remove_part(part);
        return;
    }
    if (nt_listings_cancel(&files->listings, id))
        return;
    for (struct nt_fetched **link = &files->first; *link; link = &(*link)->next)
        if ((*link)->open_id == id && !(*link)->is_open) {
            close_file(files, link);
            return;
        }
}

void nt_files_take(struct nt_files *files, const struct nt_fetch_request *request, const char *text,
                   size_t bytes)
{
    struct nt_fetched **link;
    struct nt_file_part *part;
    switch (request->kind) {
    case NT_FETCH_OPEN:
    case NT_FETCH_OPEN_LISTED:
        open_file(files, request, text, bytes);
        break;
    case NT_FETCH_LIST:
        list(files, request, text, bytes);
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
