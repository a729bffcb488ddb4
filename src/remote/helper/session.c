/* SPDX-License-Identifier: MIT
 *
 * Client session: validates requests, tracks open files and listings, and queues replies on the socket
 * without blocking.
 */
#include "remote/helper/helper.h"

#include <sys/uio.h>
#include <unistd.h>

#include "core/base/thread.h"

/* ---- Reply queue ---- */

struct nt_reply_packet {
    STAILQ_ENTRY(nt_reply_packet) waiting;
    size_t bytes;
    char content[];
};

enum { FULL_BYTES = 4 << 20 };

void nt_reply_queue_init(struct nt_reply_queue *output, int channel, uint64_t epoch,
                         const struct nt_fetch_totals *totals)
{
    *output = (struct nt_reply_queue){.channel = channel, .epoch = epoch, .totals = totals};
    STAILQ_INIT(&output->waiting);
}

bool nt_reply_queue_is_full(const struct nt_reply_queue *output)
{
    return output->bytes >= FULL_BYTES;
}

/* Exits if the client is gone. */
static bool send_now(int channel, struct iovec *parts, size_t count)
{
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    ssize_t sent = TEMP_FAILURE_RETRY(sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT));
    if (sent < 0 && errno != EAGAIN && errno != ENOBUFS)
        _exit(0);
    return sent >= 0;
}

static void keep(struct nt_reply_queue *output, const struct nt_fetch_answer *answer, const void *bytes,
                 size_t count)
{
    struct nt_reply_packet *packet = malloc(sizeof(*packet) + sizeof(*answer) + count);
    if (!packet)
        _exit(1); /* the watchdog starts a new worker and the client learns of it */
    packet->bytes = sizeof(*answer) + count;
    memcpy(packet->content, answer, sizeof(*answer));
    if (count)
        memcpy(packet->content + sizeof(*answer), bytes, count);
    STAILQ_INSERT_TAIL(&output->waiting, packet, waiting);
    output->bytes += packet->bytes;
}

static void put(struct nt_reply_queue *output, struct nt_fetch_answer *answer, const void *bytes,
                size_t count)
{
    struct iovec parts[] = {{answer, sizeof(*answer)}, {(void *)bytes, count}};
    if (!STAILQ_EMPTY(&output->waiting) || !send_now(output->channel, parts, count ? 2 : 1))
        keep(output, answer, bytes, count);
}

void nt_reply_queue_add(struct nt_reply_queue *output, struct nt_fetch_answer answer, const void *bytes,
                        size_t count)
{
    const char *rest = bytes;
    answer.epoch = output->epoch;
    answer.totals = *output->totals;
    for (; count > NT_FETCH_DATA_BYTES; count -= NT_FETCH_DATA_BYTES) {
        put(output, &answer, rest, NT_FETCH_DATA_BYTES);
        rest += NT_FETCH_DATA_BYTES;
        answer.offset += NT_FETCH_DATA_BYTES;
    }
    put(output, &answer, rest, count);
}

static void output_data(const struct nt_remote_handle *file, uint64_t id, uint64_t offset, const char *bytes,
                        size_t count)
{
    nt_reply_queue_add(
        &file->files->output,
        (struct nt_fetch_answer){.kind = NT_FETCH_DATA, .file = file->number, .id = id, .offset = offset},
        bytes, count);
}

/* Send the end of an answer. */
static void output_done(const struct nt_remote_handle *handle, uint64_t id)
{
    nt_reply_queue_add(&handle->files->output,
                       (struct nt_fetch_answer){.kind = NT_FETCH_DONE, .file = handle->number, .id = id},
                       NULL, 0);
}

static void output_fail(struct nt_reply_queue *output, uint32_t file, uint64_t id,
                        enum nt_fetch_failure failure, const char *message)
{
    nt_reply_queue_add(
        output, (struct nt_fetch_answer){.kind = NT_FETCH_FAILED, .file = file, .id = id, .failure = failure},
        message, strlen(message));
}

void nt_reply_queue_flush(struct nt_reply_queue *output)
{
    struct nt_reply_packet *packet;
    while ((packet = STAILQ_FIRST(&output->waiting))) {
        if (!send_now(output->channel, &(struct iovec){packet->content, packet->bytes}, 1))
            return;
        STAILQ_REMOVE_HEAD(&output->waiting, waiting);
        output->bytes -= packet->bytes;
        free(packet);
    }
}

/* ---- Handles ---- */

struct nt_file_part {
    struct nt_transfer job;
    uint64_t id;
    LIST_ENTRY(nt_file_part) all;
};

static struct nt_remote_handle *file_of(const struct nt_helper_session *files, uint32_t number)
{
    struct nt_remote_handle *file;
    LIST_FOREACH(file, &files->all, all)
    if (file->number == number)
        break;
    return file;
}

static void drop_part(struct nt_file_part *part)
{
    LIST_REMOVE(part, all);
    free(part);
}

static void cancel_part(struct nt_file_part *part)
{
    nt_transfer_remove(&part->job);
    drop_part(part);
}

static void drop_handle(struct nt_remote_handle *handle)
{
    LIST_REMOVE(handle, all);
    handle->files->count--;
    free(handle);
}

static void close_handle(struct nt_remote_handle *handle)
{
    while (!LIST_EMPTY(&handle->parts))
        cancel_part(LIST_FIRST(&handle->parts));
    handle->backend->ops->close(handle);
    drop_handle(handle);
}

void nt_handle_fail(struct nt_remote_handle *handle, enum nt_fetch_failure failure, const char *message)
{
    output_fail(&handle->files->output, handle->number, handle->id, failure, message);
    close_handle(handle);
}

/* ---- Opening ---- */

void nt_file_opened(struct nt_remote_handle *file, const struct nt_open_result *opened)
{
    char text[NT_FETCH_VALIDATOR_BYTES + NT_FETCH_SERVER_BYTES];
    const struct nt_fetch_answer answer = {.kind = NT_FETCH_OPENED,
                                           .file = file->number,
                                           .id = file->id,
                                           .size = opened->size,
                                           .modified = opened->modified,
                                           .offset = opened->round_trips};
    file->size = opened->size;
    file->is_open = true;
    int length = snprintf(text, sizeof(text), "%s%c%s", opened->validator, '\0', opened->server);
    nt_reply_queue_add(&file->files->output, answer, text, (size_t)length);
    output_data(file, file->id, 0, opened->head, opened->head_bytes);
    if (opened->tail_bytes)
        output_data(file, file->id, opened->head_bytes, opened->tail, opened->tail_bytes);
    output_done(file, file->id);
}

/* NULL if there are too many, or out of memory. Directories have no number. */
static struct nt_remote_handle *add_handle(struct nt_helper_session *files,
                                           const struct nt_fetch_request *request, struct nt_backend *backend)
{
    bool is_folder = request->kind == NT_FETCH_LIST;
    bool has_room = is_folder ? files->jobs.count < NT_FETCH_MAX_REQUESTS
                              : files->count < NT_FETCH_MAX_FILES && !file_of(files, request->file);
    struct nt_remote_handle *handle = has_room ? calloc(1, backend->ops->handle_bytes) : NULL;
    if (!handle)
        return NULL;
    *handle = (struct nt_remote_handle){.files = files,
                                        .backend = backend,
                                        .number = is_folder ? 0 : request->file,
                                        .id = request->id,
                                        .milliseconds = request->milliseconds,
                                        .is_read_later = request->is_prefetch,
                                        .size = request->bytes};
    LIST_INSERT_HEAD(&files->all, handle, all);
    files->count++;
    return handle;
}

/* A listed file opens without asking the server. */
static void begin(struct nt_remote_handle *handle, uint32_t kind, const char *address, const char *validator)
{
    const struct nt_backend_ops *ops = handle->backend->ops;
    const char *problem = NULL;
    bool has_begun = kind == NT_FETCH_LIST   ? ops->list(handle, address, &problem)
                     : kind == NT_FETCH_OPEN ? ops->open(handle, address, &problem)
                                             : ops->open_listed(handle, address, validator, &problem);
    if (!has_begun) {
        nt_handle_fail(handle, problem ? NT_FETCH_INVALID : NT_FETCH_UNREACHABLE,
                       problem ? problem : "out of memory");
    } else if (kind == NT_FETCH_OPEN_LISTED) {
        handle->is_open = true;
        output_done(handle, handle->id);
    }
}

/* Opens a file, or lists a directory. The validator of a listed file follows its address. */
static void open_handle(struct nt_helper_session *files, const struct nt_fetch_request *request,
                        const char *text, size_t bytes)
{
    bool is_listed = request->kind == NT_FETCH_OPEN_LISTED, is_folder = request->kind == NT_FETCH_LIST;
    char *address = strndup(text, bytes), *validator = NULL;
    size_t length = address ? strlen(address) : 0;
    if (is_listed && length < bytes)
        validator = strndup(text + length + 1, bytes - length - 1);
    bool is_whole =
        address && (is_listed ? validator != NULL : length == bytes) && request->bytes <= INT64_MAX;
    struct nt_remote_handle *handle =
        is_whole ? add_handle(files, request, nt_transfers_backend(&files->jobs, address)) : NULL;
    if (!handle) {
        output_fail(&files->output, is_folder ? 0 : request->file, request->id, NT_FETCH_UNREACHABLE,
                    is_folder ? "the network helper cannot list more directories"
                              : "the network helper cannot open more files");
    } else if (!nt_allow_list_has(&files->rules, address)) {
        output_fail(&files->output, handle->number, request->id, NT_FETCH_FORBIDDEN,
                    "it is neither a source nor inside one");
        drop_handle(handle);
    } else {
        begin(handle, request->kind, address, validator);
    }
    free(address);
    free(validator);
}

/* ---- Listing ---- */

bool nt_listing_is_name(const char *name)
{
    return *name && strlen(name) <= NT_FETCH_NAME_BYTES && !strchr(name, '/') && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

bool nt_listing_add(struct nt_remote_handle *listing, const struct nt_listed *listed)
{
    char text[NT_FETCH_NAME_BYTES + 1 + NT_FETCH_VALIDATOR_BYTES];
    size_t name = strlen(listed->name), validator = listed->is_folder ? 0 : strlen(listed->validator);
    if (!nt_listing_is_name(listed->name) || listed->size > INT64_MAX ||
        validator >= NT_FETCH_VALIDATOR_BYTES) /* too long for OPENED, too */
        return true;
    if (++listing->entries > NT_FETCH_MAX_ENTRIES)
        return false;
    memcpy(text, listed->name, name + 1);
    memcpy(text + name + 1, listed->validator, validator);
    nt_reply_queue_add(&listing->files->output,
                       (struct nt_fetch_answer){.kind = NT_FETCH_ENTRY,
                                                .id = listing->id,
                                                .is_folder = listed->is_folder,
                                                .size = listed->size,
                                                .modified = listed->modified},
                       text, name + 1 + validator);
    return true;
}

void nt_listing_done(struct nt_remote_handle *listing)
{
    output_done(listing, listing->id);
    close_handle(listing);
}

/* ---- Reading ---- */

/* A read waits as long for bytes that were requested with the opening, before it requests them again. */
enum { SOON_MILLISECONDS = 20 };

/* For the next one, if a client says that more reads follow: backends request them together. */
enum { HOLD_MILLISECONDS = 3 };

static bool take_part(struct nt_transfer *job, uint64_t offset, const char *bytes, size_t count)
{
    if (nt_reply_queue_is_full(&job->remote->files->output)) {
        job->is_paused = true;
        return false;
    }
    output_data(job->remote, ((struct nt_file_part *)job)->id, offset, bytes, count);
    return true;
}

static void end_part(struct nt_transfer *job)
{
    struct nt_file_part *part = (struct nt_file_part *)job;
    if (job->result.outcome == NT_OUTCOME_OK)
        output_done(job->remote, part->id);
    else
        output_fail(&job->remote->files->output, job->remote->number, part->id, job->result.failure,
                    job->result.message);
    drop_part(part);
}

/* Answers a read if its bytes are here already. */
static enum nt_received answer_received(struct nt_remote_handle *file, uint64_t id, uint64_t offset,
                                        uint64_t bytes)
{
    char received[NT_FETCH_DATA_BYTES];
    const struct nt_backend_ops *ops = file->backend->ops;
    if (!ops->copy_received || bytes > sizeof(received))
        return NT_RECEIVED_NONE;
    enum nt_received state = ops->copy_received(file, offset, (size_t)bytes, received);
    if (state != NT_RECEIVED)
        return state;
    output_data(file, id, offset, received, (size_t)bytes);
    output_done(file, id);
    return NT_RECEIVED;
}

void nt_file_received(struct nt_remote_handle *file)
{
    for (struct nt_file_part *part = LIST_FIRST(&file->parts), *next; part; part = next) {
        next = LIST_NEXT(part, all);
        if (!part->job.all_tries &&
            answer_received(file, part->id, part->job.first, part->job.bytes) == NT_RECEIVED)
            cancel_part(part);
    }
}

static void read_part(struct nt_helper_session *files, const struct nt_fetch_request *request)
{
    struct nt_remote_handle *file = file_of(files, request->file);
    uint64_t size = file ? file->size : 0;
    files->jobs.held_until = request->more_follow ? nt_milliseconds() + HOLD_MILLISECONDS : 0;
    bool is_within = file && file->is_open && request->bytes > 0 && request->bytes <= NT_FETCH_MAX_BYTES &&
                     request->offset < size && request->bytes <= size - request->offset;
    enum nt_received received =
        is_within ? answer_received(file, request->id, request->offset, request->bytes) : NT_RECEIVED_NONE;
    if (received == NT_RECEIVED)
        return;
    struct nt_file_part *part =
        is_within && files->jobs.count < NT_FETCH_MAX_REQUESTS ? calloc(1, sizeof(*part)) : NULL;
    if (!part) {
        output_fail(&files->output, request->file, request->id, NT_FETCH_UNREACHABLE,
                    "the network helper received an unknown request");
        return;
    }
    *part = (struct nt_file_part){.job = {.remote = file,
                                          .first = request->offset,
                                          .bytes = request->bytes,
                                          .milliseconds = request->milliseconds,
                                          .is_prefetch = request->is_prefetch,
                                          .max_tries = NT_TRIES_OF_KNOWN,
                                          .take = take_part,
                                          .end = end_part},
                                  .id = request->id};
    LIST_INSERT_HEAD(&file->parts, part, all);
    nt_transfer_add(&part->job);
    if (received == NT_RECEIVED_PENDING)
        part->job.start += SOON_MILLISECONDS;
}

static struct nt_file_part *part_of(const struct nt_helper_session *files, uint64_t id)
{
    const struct nt_remote_handle *file;
    struct nt_file_part *part;
    LIST_FOREACH(file, &files->all, all)
    LIST_FOREACH(part, &file->parts, all)
    if (part->id == id)
        return part;
    return NULL;
}

static void cancel(struct nt_helper_session *files, uint64_t id)
{
    struct nt_file_part *part = part_of(files, id);
    struct nt_remote_handle *file;
    if (part) {
        cancel_part(part);
        return;
    }
    LIST_FOREACH(file, &files->all, all)
    if (file->id == id && !file->is_open) {
        close_handle(file);
        return;
    }
}

void nt_helper_session_handle(struct nt_helper_session *files, const struct nt_fetch_request *request,
                              const char *text, size_t bytes)
{
    struct nt_remote_handle *file;
    struct nt_file_part *part;
    switch (request->kind) {
    case NT_FETCH_OPEN:
    case NT_FETCH_OPEN_LISTED:
    case NT_FETCH_LIST:
        open_handle(files, request, text, bytes);
        break;
    case NT_FETCH_READ:
        read_part(files, request);
        break;
    case NT_FETCH_PROMOTE:
        part = part_of(files, request->id);
        if (part)
            part->job.is_prefetch = false;
        break;
    case NT_FETCH_CANCEL:
        cancel(files, request->id);
        break;
    case NT_FETCH_CLOSE:
        file = file_of(files, request->file);
        if (file)
            close_handle(file);
        break;
    default:
        break;
    }
}
