/* SPDX-License-Identifier: MIT
 *
 * Connection to the network helper: many concurrent requests over one socket, and a receiver thread that
 * dispatches replies.
 */
#include "remote/client/client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- Error messages ---- */

static const struct {
    enum nt_status status;
    int system_error;
} failures[NT_FETCH_FAILURES] = {
    [NT_FETCH_UNREACHABLE] = {NT_UNREACHABLE, 0}, [NT_FETCH_NOT_FOUND] = {NT_NOT_FOUND, 0},
    [NT_FETCH_FORBIDDEN] = {NT_IO, EACCES},       [NT_FETCH_CHANGED] = {NT_CHANGED, 0},
    [NT_FETCH_UNSUPPORTED] = {NT_UNSUPPORTED, 0}, [NT_FETCH_INVALID] = {NT_INVALID, 0},
};

enum nt_status nt_helper_request_fail(const struct nt_helper_request *fetch, const char *shown,
                                      struct nt_error *error)
{
    enum nt_status status = failures[fetch->failure].status;
    nt_fail(error, status, NT_NO_OFFSET, "%s: %s", shown, fetch->message);
    if (error)
        error->system_error = failures[fetch->failure].system_error;
    return status;
}

enum nt_status nt_fetcher_fail_timeout(const struct nt_fetcher *fetcher, const char *shown,
                                       struct nt_error *error)
{
    return nt_fail(error, NT_UNREACHABLE, NT_NO_OFFSET,
                   "%s: timed out after %.3g s: the network helper does not answer", shown,
                   (double)fetcher->milliseconds / 1000);
}

/* ---- Requests ---- */

bool nt_helper_send(int channel, const struct nt_fetch_request *request, const char *text, size_t length,
                    int flags)
{
    char packet[sizeof(*request) + NT_FETCH_TEXT_BYTES]; /* the sandbox of a mount has no sendmsg(2) */
    if (length > NT_FETCH_TEXT_BYTES) {
        errno = EMSGSIZE;
        return false;
    }
    memcpy(packet, request, sizeof(*request));
    memcpy(packet + sizeof(*request), text, length);
    return TEMP_FAILURE_RETRY(send(channel, packet, sizeof(*request) + length, MSG_NOSIGNAL | flags)) >= 0;
}

static void finish(struct nt_helper_request *fetch, enum nt_helper_request_state state)
{
    LIST_REMOVE(fetch, all);
    fetch->state = state;
    if (fetch->end)
        fetch->end(fetch);
}

void nt_helper_request_fail_short(struct nt_helper_request *fetch)
{
    fetch->state = NT_HELPER_REQUEST_FAILED;
    fetch->failure = NT_FETCH_UNREACHABLE;
    snprintf(fetch->message, sizeof(fetch->message),
             "the network helper returned fewer bytes than requested");
}

static void fail(struct nt_helper_request *fetch, enum nt_fetch_failure failure, const char *message)
{
    fetch->failure = failure;
    snprintf(fetch->message, sizeof(fetch->message), "%s", message);
    finish(fetch, NT_HELPER_REQUEST_FAILED);
}

static void fail_all(struct nt_fetcher *fetcher, const char *message)
{
    while (!LIST_EMPTY(&fetcher->underway))
        fail(LIST_FIRST(&fetcher->underway), NT_FETCH_UNREACHABLE, message);
}

static bool send_request(struct nt_fetcher *fetcher, const struct nt_fetch_request *request, const char *text,
                         size_t length)
{
    return !fetcher->is_over && nt_helper_send(fetcher->channel, request, text, length, MSG_DONTWAIT);
}

void nt_fetcher_send(struct nt_fetcher *fetcher, struct nt_helper_request *fetch,
                     struct nt_fetch_request request, const char *text, size_t text_bytes)
{
    request.epoch = fetcher->epoch;
    request.id = fetch->id = ++fetcher->last_id;
    fetch->file = request.file;
    fetcher->counters.reads += request.kind == NT_FETCH_READ;
    fetcher->counters.ahead += request.kind == NT_FETCH_READ && request.is_prefetch;
    request.milliseconds = (uint32_t)fetcher->milliseconds;
    fetch->state = NT_HELPER_REQUEST_PENDING;
    LIST_INSERT_HEAD(&fetcher->underway, fetch, all);
    if (!send_request(fetcher, &request, text, text_bytes))
        fail(fetch, NT_FETCH_UNREACHABLE, "the network helper does not accept requests");
}

void nt_fetcher_notify(struct nt_fetcher *fetcher, enum nt_helper_message kind, uint64_t id, uint32_t file)
{
    const struct nt_fetch_request request = {.kind = kind, .epoch = fetcher->epoch, .id = id, .file = file};
    (void)send_request(fetcher, &request, "", 0);
}

void nt_fetcher_cancel(struct nt_fetcher *fetcher, struct nt_helper_request *fetch)
{
    nt_fetcher_notify(fetcher, NT_FETCH_CANCEL, fetch->id, fetch->file);
    fail(fetch, NT_FETCH_UNREACHABLE, "no caller waited for the answer");
}

bool nt_fetcher_wait(struct nt_fetcher *fetcher, uint64_t deadline)
{
    const struct timespec until = nt_timespec(deadline * NT_MILLISECOND);
    return nt_lock_wait(&fetcher->lock, &fetcher->changed, &until);
}

bool nt_helper_request_wait(struct nt_fetcher *fetcher, struct nt_helper_request *fetch, uint64_t deadline)
{
    while (fetch->state == NT_HELPER_REQUEST_PENDING)
        if (!nt_fetcher_wait(fetcher, deadline) && fetch->state == NT_HELPER_REQUEST_PENDING) {
            nt_fetcher_cancel(fetcher, fetch);
            return false;
        }
    return true;
}

/* ---- Answers ---- */

static struct nt_helper_request *underway(struct nt_fetcher *fetcher, uint64_t id)
{
    struct nt_helper_request *fetch;
    LIST_FOREACH(fetch, &fetcher->underway, all)
    if (fetch->id == id)
        break;
    return fetch;
}

static void take_failure(struct nt_helper_request *fetch, const struct nt_fetch_answer *answer,
                         const uint8_t *text, size_t bytes)
{
    char message[sizeof(fetch->message)];
    snprintf(message, sizeof(message), "%.*s", (int)bytes, (const char *)text);
    fail(fetch,
         answer->failure < NT_FETCH_FAILURES ? (enum nt_fetch_failure)answer->failure : NT_FETCH_UNREACHABLE,
         message);
}

/* Adds the totals of a helper that is gone. */
static void count_process(struct nt_fetcher *fetcher)
{
    fetcher->counters.requests += fetcher->totals.requests;
    fetcher->counters.retries += fetcher->totals.retries;
    fetcher->totals = (struct nt_fetch_totals){0};
}

static void take_sandbox(struct nt_helper_sandbox *sandbox, const uint8_t *bytes, size_t count)
{
    *sandbox = (struct nt_helper_sandbox){0};
    if (count == sizeof(*sandbox))
        memcpy(sandbox, bytes, count);
    sandbox->parts[sizeof(sandbox->parts) - 1] = '\0';
    sandbox->missing[sizeof(sandbox->missing) - 1] = '\0';
}

/* A new helper replaces one that is gone. */
static void take_hello(struct nt_fetcher *fetcher, const struct nt_fetch_answer *answer, const uint8_t *bytes,
                       size_t count)
{
    fetcher->epoch = answer->epoch ? answer->epoch : 1;
    take_sandbox(&fetcher->sandbox, bytes, count);
    count_process(fetcher);
    fail_all(fetcher, "the network helper was stopped");
}

/* Only peeks at the first packet; the receiver thread consumes it. */
enum nt_status nt_helper_await_sandbox(struct nt_fetcher *fetcher, struct nt_helper_sandbox *sandbox_ret,
                                       struct nt_error *error)
{
    struct pollfd event = {.fd = fetcher->channel, .events = POLLIN};
    uint64_t now = nt_milliseconds(), deadline = now + fetcher->milliseconds;
    for (; now < deadline && poll(&event, 1, (int)(deadline - now)) < 0; now = nt_milliseconds())
        ;
    ssize_t count = recv(fetcher->channel, fetcher->packet, NT_FETCH_PACKET_BYTES, MSG_PEEK | MSG_DONTWAIT);
    if (count < (ssize_t)sizeof(struct nt_fetch_answer))
        return nt_fail(error, NT_UNREACHABLE, NT_NO_OFFSET, "the network helper does not answer");
    count -= (ssize_t)sizeof(struct nt_fetch_answer);
    take_sandbox(sandbox_ret, fetcher->packet + sizeof(struct nt_fetch_answer), (size_t)count);
    return NT_OK;
}

/* True if the answer ends a request or starts a helper, so that waiting threads must wake up. */
static bool take(struct nt_fetcher *fetcher, const struct nt_fetch_answer *answer, const uint8_t *bytes,
                 size_t count)
{
    if (answer->kind == NT_FETCH_HELLO) {
        take_hello(fetcher, answer, bytes, count);
        return true;
    }
    struct nt_helper_request *fetch = underway(fetcher, answer->id);
    if (answer->epoch == fetcher->epoch)
        fetcher->totals = answer->totals;
    if (!fetch || answer->epoch != fetcher->epoch || answer->file != fetch->file)
        return false;
    fetcher->counters.bytes += answer->kind == NT_FETCH_DATA ? count : 0;
    fetcher->counters.failures += answer->kind == NT_FETCH_FAILED;
    if (answer->kind == NT_FETCH_FAILED)
        take_failure(fetch, answer, bytes, count);
    else if (answer->kind == NT_FETCH_DONE)
        finish(fetch, NT_HELPER_REQUEST_DONE);
    else if (!fetch->take(fetch, answer, bytes, count))
        fail(fetch, NT_FETCH_UNREACHABLE, "the network helper sent an unexpected answer");
    else
        return false;
    return true;
}

/* Receives one packet; false if no more will come. */
static bool receive(struct nt_fetcher *fetcher)
{
    struct nt_fetch_answer answer;
    bool has_changed = true;
    ssize_t count = TEMP_FAILURE_RETRY(read(fetcher->channel, fetcher->packet, NT_FETCH_PACKET_BYTES));
    nt_fetcher_lock(fetcher);
    if (count >= (ssize_t)sizeof(answer)) {
        memcpy(&answer, fetcher->packet, sizeof(answer));
        has_changed =
            take(fetcher, &answer, fetcher->packet + sizeof(answer), (size_t)count - sizeof(answer));
    } else {
        fetcher->is_over = true;
        fail_all(fetcher, NT_FETCHER_EXITED);
    }
    bool is_over = fetcher->is_over;
    if (has_changed)
        pthread_cond_broadcast(&fetcher->changed);
    nt_fetcher_unlock(fetcher);
    return !is_over;
}

/* Main function of the receiver thread. */
static void *receive_all(void *argument)
{
    struct nt_fetcher *fetcher = argument;
    struct pollfd events[] = {{.fd = fetcher->channel, .events = POLLIN},
                              {.fd = fetcher->wake[0], .events = POLLIN}};
    for (;;) {
        if (poll(events, 2, -1) < 0)
            continue;
        if (events[1].revents || !receive(fetcher))
            return NULL;
    }
}

enum nt_status nt_fetcher_start_receiver(struct nt_fetcher *fetcher, struct nt_error *error)
{
    int problem = fetcher->has_receiver ? 0 : nt_thread_start(&fetcher->receiver, receive_all, fetcher);
    fetcher->has_receiver |= !problem;
    return problem ? nt_fail_system(error, problem, "cannot start a thread") : NT_OK;
}
