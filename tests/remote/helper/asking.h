/* SPDX-License-Identifier: MIT
 *
 * A client of the network helper, and a fake backend.
 */
#pragma once

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "remote/helper/helper.h"
#include "support.h"
#include "remote/protocol.h"

enum { SIZE = 100 * 1000, MAX_ANSWERS = 1024 };

/* Of each existing file. */
static inline char byte_at(uint64_t offset)
{
    return (char)(offset * 7 + (offset >> 8));
}

static struct nt_helper_session files;
static int channel;
static uint64_t last_id;
static void (*serve)(void); /* a server of the test, during its turn */

static struct {
    uint32_t kind, failure;
    uint64_t size;
    char text[256];
    uint64_t bytes;     /* correct ones that have arrived */
    char names[2048];   /* of entries, each with its attributes */
} answers[MAX_ANSWERS]; /* by request number */

/* Backends are added then. */
static inline void begin_asking(void)
{
    int ends[2];
    memset(answers, 0, sizeof(answers));
    files = (struct nt_helper_session){.count = 0};
    last_id = 0;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    channel = ends[1];
    nt_transfers_init(&files.jobs);
    nt_reply_queue_init(&files.output, ends[0], 1, &files.jobs.totals);
}

/* Everything was released. */
static inline void end_asking(void)
{
    ck_assert(LIST_EMPTY(&files.all));
    ck_assert_uint_eq(files.jobs.count, 0);
    ck_assert_uint_eq(files.count, 0);
    close(channel);
    close(files.output.channel);
}

/* Of file 1, if none is named. */
static inline uint64_t ask_with(struct nt_fetch_request request, const char *text, size_t bytes)
{
    request.id = ++last_id;
    if (!request.file)
        request.file = 1;
    if (!request.milliseconds)
        request.milliseconds = 10000;
    nt_helper_session_handle(&files, &request, text, bytes);
    return last_id;
}

static inline uint64_t ask(struct nt_fetch_request request, const char *text)
{
    return ask_with(request, text, strlen(text));
}

static inline uint64_t ask_for(uint64_t offset, uint64_t bytes)
{
    return ask((struct nt_fetch_request){.kind = NT_FETCH_READ, .offset = offset, .bytes = bytes}, "");
}

/* Earlier requests. */
static inline void cancel(uint64_t id)
{
    nt_helper_session_handle(&files, &(struct nt_fetch_request){.kind = NT_FETCH_CANCEL, .id = id}, "", 0);
}

/* Received bytes: on opening, the two ends follow one another. */
static inline uint64_t first_byte_of(const struct nt_fetch_answer *answer, uint64_t offset)
{
    bool is_tail = answers[answer->id].size > 2 * NT_FETCH_END_BYTES && offset >= NT_FETCH_END_BYTES;
    return is_tail ? answers[answer->id].size - 2 * NT_FETCH_END_BYTES + offset : offset;
}

static inline void take_entry(const struct nt_fetch_answer *answer, const char *text, size_t length)
{
    char *names = answers[answer->id].names;
    size_t name = strlen(text), used = strlen(names);
    ck_assert_uint_lt(name, length);
    snprintf(names + used, sizeof(answers->names) - used, "%s%s %d %d %.*s,", text,
             answer->is_folder ? "/" : "", (int)answer->size,
             answer->modified == NT_FETCH_NO_TIME ? -1 : (int)answer->modified, (int)(length - name - 1),
             text + name + 1);
}

static inline void take_answers(void)
{
    static char packet[sizeof(struct nt_fetch_answer) + NT_FETCH_DATA_BYTES];
    struct nt_fetch_answer answer;
    ssize_t count;
    while ((count = recv(channel, packet, sizeof(packet), 0)) > 0) {
        memcpy(&answer, packet, sizeof(answer));
        const char *after = packet + sizeof(answer);
        size_t length = (size_t)count - sizeof(answer);
        ck_assert_uint_lt(answer.id, MAX_ANSWERS);
        answers[answer.id].kind = answer.kind;
        answers[answer.id].failure = answer.failure;
        if (answer.kind == NT_FETCH_OPENED)
            answers[answer.id].size = answer.size;
        if (answer.kind == NT_FETCH_FAILED)
            snprintf(answers[answer.id].text, sizeof(answers[answer.id].text), "%.*s", (int)length, after);
        if (answer.kind == NT_FETCH_ENTRY)
            take_entry(&answer, after, length);
        if (answer.kind != NT_FETCH_DATA)
            continue;
        for (size_t i = 0; i < length; i++)
            ck_assert_int_eq(after[i], byte_at(first_byte_of(&answer, answer.offset + i)));
        answers[answer.id].bytes += length;
    }
}

/* Like the process in its loop (src/remote/helper/worker.c), while no client takes its answers. */
static inline void work_untaken(void)
{
    nt_transfers_work(&files.jobs);
    nt_reply_queue_flush(&files.output);
    if (!nt_reply_queue_is_full(&files.output))
        nt_transfers_continue(&files.jobs);
    if (serve)
        serve();
}

static inline void work(void)
{
    for (int i = 0; i < 10; i++) {
        work_untaken();
        take_answers();
    }
}

/* So many untaken answers that it sends no more. */
static inline void fill_channel(void)
{
    static const char bytes[NT_FETCH_DATA_BYTES];
    while (!nt_reply_queue_is_full(&files.output))
        nt_reply_queue_add(&files.output, (struct nt_fetch_answer){.kind = NT_FETCH_HELLO}, bytes,
                           sizeof(bytes));
}

static inline void work_until(uint64_t id, uint32_t kind)
{
    for (int i = 0; i < 3000 && answers[id].kind != kind; i++) {
        work();
        usleep(1000);
    }
    ck_assert_msg(answers[id].kind == kind, "%u: %s", answers[id].kind, answers[id].text);
}

static inline void check_failure(uint64_t id, enum nt_fetch_failure failure, const char *message)
{
    work_until(id, NT_FETCH_FAILED);
    ck_assert_msg(strstr(answers[id].text, message) != NULL, "%s: %s", message, answers[id].text);
    ck_assert_msg(answers[id].failure == failure, "%u: %s", answers[id].failure, answers[id].text);
}
