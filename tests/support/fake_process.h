/* SPDX-License-Identifier: MIT
 *
 * A fake network helper, which the test controls, and a fetcher that uses it.
 */
#pragma once

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "remote/client/client.h"
#include "core/io/source.h"
#include "support.h"
#include "remote/protocol.h"
#include <ntuple/source.h>

enum { SIZE = 20000, ENDS = 2 * NT_FETCH_END_BYTES, FILES = 4096 };

static struct nt_error error;
static struct nt_fetcher *fetcher;

/* ---- the process ---- */

static struct {
    int channel; /* -1: there is none */
    unsigned starts;
    pthread_t thread;
    uint64_t epoch;
    uint32_t files[FILES];              /* by request number */
    char text[NT_FETCH_TEXT_BYTES + 1]; /* that followed the request */
    /* Answers a request; false: it ends. */
    bool (*answer)(const struct nt_fetch_request *request);
} process;

static inline void say(struct nt_fetch_answer answer, const void *bytes, size_t count)
{
    char packet[sizeof(answer) + NT_FETCH_DATA_BYTES];
    ck_assert_uint_le(count, NT_FETCH_DATA_BYTES);
    if (!answer.epoch)
        answer.epoch = process.epoch;
    if (!answer.file)
        answer.file = process.files[answer.id % FILES];
    memcpy(packet, &answer, sizeof(answer));
    if (count)
        memcpy(packet + sizeof(answer), bytes, count);
    (void)!send(process.channel, packet, sizeof(answer) + count, MSG_NOSIGNAL);
}

static inline void greet(uint64_t epoch)
{
    process.epoch = epoch;
    say((struct nt_fetch_answer){.kind = NT_FETCH_HELLO}, &(struct nt_helper_sandbox){"all", ""},
        sizeof(struct nt_helper_sandbox));
}

static inline void *take_requests(void *unused)
{
    char packet[sizeof(struct nt_fetch_request) + NT_FETCH_TEXT_BYTES];
    struct nt_fetch_request request;
    ssize_t count;
    while ((count = recv(process.channel, packet, sizeof(packet), 0)) >= (ssize_t)sizeof(request)) {
        memcpy(&request, packet, sizeof(request));
        memcpy(process.text, packet + sizeof(request), (size_t)count - sizeof(request));
        process.text[(size_t)count - sizeof(request)] = '\0';
        process.files[request.id % FILES] = request.file;
        if (!process.answer(&request))
            break;
    }
    shutdown(process.channel, SHUT_RDWR);
    return NULL;
}

/* Replaces the start of a process. */
static inline enum nt_status start_thread(const char *program, const struct nt_helper_rules *rules,
                                          int *channel_ret, struct nt_error *error_ret)
{
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    *channel_ret = ends[0];
    process.channel = ends[1];
    process.starts++;
    greet(1);
    ck_assert_int_eq(pthread_create(&process.thread, NULL, take_requests, NULL), 0);
    return NT_OK;
}

/* It has received all requests. */
static inline void end_process(void)
{
    if (process.channel < 0)
        return;
    shutdown(fetcher->channel, SHUT_WR);
    pthread_join(process.thread, NULL);
    close(process.channel);
    process.channel = -1;
}

/* ---- good answers ---- */

static inline uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset * 7 + (offset >> 8));
}

static inline void say_data(uint64_t id, uint64_t offset, uint64_t bytes)
{
    uint8_t content[NT_FETCH_DATA_BYTES];
    for (uint64_t end = offset + bytes, count; offset < end; offset += count) {
        count = end - offset < sizeof(content) ? end - offset : sizeof(content);
        for (uint64_t i = 0; i < count; i++)
            content[i] = byte_at(offset + i);
        say((struct nt_fetch_answer){.kind = NT_FETCH_DATA, .id = id, .offset = offset}, content, count);
    }
}

static inline void say_done(uint64_t id)
{
    say((struct nt_fetch_answer){.kind = NT_FETCH_DONE, .id = id}, NULL, 0);
}

static inline void say_opened(uint64_t id, uint64_t size, const char *names, size_t bytes)
{
    say((struct nt_fetch_answer){.kind = NT_FETCH_OPENED, .id = id, .size = size, .modified = 1000}, names,
        bytes);
}

static inline bool answer_well(const struct nt_fetch_request *request)
{
    if (request->kind == NT_FETCH_OPEN) {
        say_opened(request->id, SIZE, "\"1\"\0server", 10);
        say_data(request->id, 0, NT_FETCH_END_BYTES);
        say_data(request->id, SIZE - NT_FETCH_END_BYTES, NT_FETCH_END_BYTES);
        say_done(request->id);
    } else if (request->kind == NT_FETCH_READ) {
        say_data(request->id, request->offset, request->bytes);
        say_done(request->id);
    }
    return true;
}

/* ---- Reading ---- */

static struct nt_source *source;

static inline void set_up(void)
{
    process.answer = answer_well;
    assert_ok(nt_fetcher_new_by(start_thread, NULL, &fetcher, &error));
    source = NULL;
}

static inline void tear_down(void)
{
    nt_source_close(source);
    end_process();
    nt_fetcher_free(fetcher);
}

static inline enum nt_status read_middle(void)
{
    uint8_t bytes[10];
    enum nt_status status = nt_source_read(source, SIZE / 2, bytes, sizeof(bytes), &error);
    for (size_t i = 0; status == NT_OK && i < sizeof(bytes); i++)
        ck_assert_uint_eq(bytes[i], byte_at(SIZE / 2 + i));
    return status;
}

static inline void check_message(const char *message)
{
    ck_assert_msg(strstr(error.message, message) != NULL, "%s: %s", message, error.message);
    ck_assert_msg(strstr(error.message, "secret") == NULL, "%s", error.message);
}
