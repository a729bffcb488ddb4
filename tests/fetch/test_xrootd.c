/* SPDX-License-Identifier: MIT
 *
 * Files on XRootD's servers, with a client whose answers the tests give: what is asked of it, and what becomes of what it says.
 */
#include "fetch/xrootd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fetch/files.h"
#include "support.h"

enum { SIZE = 100 * 1000, MOST_CALLS = 32, MOST_ANSWERS = 1024, LARGE = 300 * 1000 };

/* ---- a client ---- */

struct nt_xrd_file {
    bool is_open;
};

struct call {
    struct nt_xrd_file *file; /* of an opening */
    nt_xrd_done *done;
    void *context;
    unsigned count; /* of ranges; 0: an opening */
    struct nt_xrd_range ranges[NT_XRD_MOST_RANGES];
    bool has_attributes;
};

static struct {
    struct nt_xrd_attributes attributes; /* of the file that is there now */
    unsigned files;
    struct call calls[MOST_CALLS];
    unsigned count, answered;
    bool is_held; /* tests answer */
} client;

static char byte_at(uint64_t offset)
{
    return (char)(offset * 7 + (offset >> 8));
}

static void answer_call(struct call *call, const struct nt_xrd_answer *answer)
{
    for (unsigned i = 0; i < call->count && answer->result.outcome == NT_OUTCOME_GOOD; i++)
        for (uint32_t k = 0; k < call->ranges[i].bytes; k++)
            call->ranges[i].buffer[k] = byte_at(call->ranges[i].offset + k);
    call->done(call->context, answer);
}

static void answer_well(struct call *call)
{
    answer_call(call, &(struct nt_xrd_answer){.has_attributes = !call->count || call->has_attributes,
                                              .attributes = client.attributes});
}

/* The next that is not answered. */
static struct call *next_call(void)
{
    ck_assert_uint_lt(client.answered, client.count);
    return &client.calls[client.answered++];
}

static void answer_badly(enum nt_outcome outcome, bool is_lost)
{
    answer_call(next_call(),
                &(struct nt_xrd_answer){.result = {outcome, NT_FETCH_UNREACHABLE, .message = "broken"},
                                        .is_lost = is_lost});
}

static struct nt_xrd_file *make_file(void)
{
    client.files++;
    return calloc(1, sizeof(struct nt_xrd_file));
}

static void take_call(const struct call *call)
{
    ck_assert_uint_lt(client.count, MOST_CALLS);
    client.calls[client.count] = *call;
    client.count++;
    if (!client.is_held)
        answer_well(next_call());
}

static void open_file(struct nt_xrd_file *file, const char *url, uint16_t seconds, nt_xrd_done *done,
                      void *context)
{
    ck_assert_str_eq(url, "root://server//file?key");
    ck_assert_uint_ge(seconds, 1);
    take_call(&(struct call){.file = file, .done = done, .context = context});
}

static void read_file(struct nt_xrd_file *file, const struct nt_xrd_range *ranges, unsigned count,
                      bool has_attributes, uint16_t seconds, nt_xrd_done *done, void *context)
{
    struct call call = {
        .file = file, .done = done, .context = context, .count = count, .has_attributes = has_attributes};
    ck_assert_uint_ge(seconds, 1);
    ck_assert_uint_ge(count, 1);
    ck_assert_uint_le(count, NT_XRD_MOST_RANGES);
    memcpy(call.ranges, ranges, count * sizeof(*ranges));
    take_call(&call);
}

static void close_file(struct nt_xrd_file *file, uint16_t seconds, nt_xrd_done *done, void *context)
{
    (void)file;
    ck_assert_uint_ge(seconds, 1);
    done(context, &(struct nt_xrd_answer){.has_attributes = false});
}

static void free_file(struct nt_xrd_file *file)
{
    client.files--;
    free(file);
}

static const struct nt_xrd_client table = {make_file, open_file, read_file, close_file, free_file};

/* ---- who asks ---- */

static struct nt_files files;
static struct nt_xrootd xrootd;
static int channel;
static uint64_t last_id;

static struct {
    uint32_t kind, failure;
    uint64_t size;
    char text[256];
    uint64_t bytes;      /* right ones that have come */
} answers[MOST_ANSWERS]; /* by number of what was asked */

static void set_up(void)
{
    int ends[2];
    memset(&client, 0, sizeof(client));
    memset(answers, 0, sizeof(answers));
    client.attributes = (struct nt_xrd_attributes){SIZE, 1000, "id", "server"};
    files = (struct nt_files){.count = 0};
    last_id = 0;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    channel = ends[1];
    nt_jobs_init(&files.jobs);
    ck_assert(nt_xrootd_init(&xrootd, &files.jobs, "/nonexistent"));
    xrootd.queue.client = &table;
    nt_output_init(&files.output, ends[0], 1, &files.jobs.totals);
}

static uint64_t ask(struct nt_fetch_request request, const char *text)
{
    request.id = ++last_id;
    request.file = 1;
    if (!request.milliseconds)
        request.milliseconds = 10000;
    nt_files_take(&files, &request, text, strlen(text));
    return last_id;
}

/* Of bytes that come: of the opening, the two ends lie one behind the other. */
static uint64_t place_of(const struct nt_fetch_answer *answer, uint64_t offset)
{
    bool is_tail = answers[answer->id].size > 2 * NT_FETCH_EDGE_BYTES && offset >= NT_FETCH_EDGE_BYTES;
    return is_tail ? answers[answer->id].size - 2 * NT_FETCH_EDGE_BYTES + offset : offset;
}

static void take_answers(void)
{
    static char packet[sizeof(struct nt_fetch_answer) + NT_FETCH_DATA_BYTES];
    struct nt_fetch_answer answer;
    ssize_t count;
    while ((count = recv(channel, packet, sizeof(packet), 0)) > 0) {
        memcpy(&answer, packet, sizeof(answer));
        const char *behind = packet + sizeof(answer);
        size_t length = (size_t)count - sizeof(answer);
        ck_assert_uint_lt(answer.id, MOST_ANSWERS);
        answers[answer.id].kind = answer.kind;
        answers[answer.id].failure = answer.failure;
        if (answer.kind == NT_FETCH_OPENED)
            answers[answer.id].size = answer.size;
        if (answer.kind == NT_FETCH_FAILED)
            snprintf(answers[answer.id].text, sizeof(answers[answer.id].text), "%.*s", (int)length, behind);
        if (answer.kind != NT_FETCH_DATA)
            continue;
        for (size_t i = 0; i < length; i++)
            ck_assert_int_eq(behind[i], byte_at(place_of(&answer, answer.offset + i)));
        answers[answer.id].bytes += length;
    }
}

static void work(void)
{
    for (int i = 0; i < 10; i++) {
        nt_jobs_work(&files.jobs);
        nt_output_flush(&files.output);
        nt_jobs_continue(&files.jobs);
        take_answers();
    }
}

static void work_until(uint64_t id, uint32_t kind)
{
    for (int i = 0; i < 3000 && answers[id].kind != kind; i++) {
        work();
        usleep(1000);
    }
    ck_assert_msg(answers[id].kind == kind, "%u: %s", answers[id].kind, answers[id].text);
}

static void open_well(void)
{
    bool was_held = client.is_held;
    client.is_held = false;
    uint64_t id = ask((struct nt_fetch_request){.kind = NT_FETCH_OPEN}, "root://server//file?key");
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(answers[id].size, client.attributes.size);
    client.is_held = was_held;
}

/* When the file was found to be the same the last time. */
static void set_checked(uint64_t when)
{
    ((struct nt_xrootd_file *)files.first->remote)->checked = when;
}

static uint64_t ask_for(uint64_t offset, uint64_t bytes)
{
    return ask((struct nt_fetch_request){.kind = NT_FETCH_READ, .offset = offset, .bytes = bytes}, "");
}

/* Nothing is left of anything. */
static void tear_down(void)
{
    ask((struct nt_fetch_request){.kind = NT_FETCH_CLOSE}, "");
    while (client.answered < client.count)
        answer_well(next_call());
    work();
    ck_assert_uint_eq(client.files, 0);
    ck_assert_uint_eq(files.jobs.count, 0);
    ck_assert_uint_eq(files.count, 0);
    close(channel);
    close(files.output.channel);
    close(xrootd.queue.event);
}

/* ---- opening ---- */

static const struct {
    uint64_t size;
    unsigned ranges;
    uint64_t bytes, last_offset;
} sizes[] = {
    {0, 0, 0, 0},
    {1, 1, 1, 0},
    {NT_FETCH_EDGE_BYTES, 1, NT_FETCH_EDGE_BYTES, 0},
    {NT_FETCH_EDGE_BYTES + 1, 2, NT_FETCH_EDGE_BYTES + 1, NT_FETCH_EDGE_BYTES},
    {SIZE, 2, 2 * NT_FETCH_EDGE_BYTES, SIZE - NT_FETCH_EDGE_BYTES},
};

START_TEST(a_file_is_opened_and_both_ends_are_read_at_once)
{
    client.attributes.size = sizes[_i].size;
    open_well();
    ck_assert_uint_eq(client.calls[0].count, 0);
    ck_assert_uint_eq(client.count, sizes[_i].ranges ? 2 : 1);
    if (sizes[_i].ranges) {
        const struct call *call = &client.calls[1];
        ck_assert_uint_eq(call->count, sizes[_i].ranges);
        ck_assert_uint_eq(call->ranges[call->count - 1].offset, sizes[_i].last_offset);
    }
    ck_assert_uint_eq(answers[1].bytes, sizes[_i].bytes);
    ck_assert_uint_eq(files.jobs.totals.requests, client.count);
}
END_TEST

START_TEST(without_a_client_files_are_not_read)
{
    xrootd.queue.client = NULL;
    uint64_t id = ask((struct nt_fetch_request){.kind = NT_FETCH_OPEN}, "XROOTS://server//file");
    work_until(id, NT_FETCH_FAILED);
    ck_assert_uint_eq(answers[id].failure, NT_FETCH_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(answers[id].text, "-Dxrootd"));
}
END_TEST

START_TEST(a_server_that_does_not_tell_the_size_is_asked_again)
{
    client.is_held = true;
    uint64_t id = ask((struct nt_fetch_request){.kind = NT_FETCH_OPEN}, "root://server//file?key");
    work();
    answer_call(next_call(), &(struct nt_xrd_answer){.has_attributes = false});
    client.is_held = false;
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(files.jobs.totals.retries, 1);
}
END_TEST

/* ---- reading ---- */

START_TEST(short_parts_are_read_together_and_long_ones_alone)
{
    client.attributes.size = 10 * LARGE;
    open_well();
    unsigned count = client.count;
    uint64_t ids[7];
    for (unsigned i = 0; i < 7; i++)
        ids[i] = i == 3 ? ask_for(LARGE, LARGE) : ask_for(20000 * i + 10000, 1000 + i);
    for (unsigned i = 0; i < 7; i++) {
        work_until(ids[i], NT_FETCH_DONE);
        ck_assert_uint_eq(answers[ids[i]].bytes, i == 3 ? LARGE : 1000 + i);
    }
    ck_assert_uint_eq(client.count, count + 2);
    ck_assert_uint_eq(client.calls[count].count, 6);
    ck_assert_uint_eq(client.calls[count + 1].count, 1);
    ck_assert_uint_eq(client.calls[count + 1].ranges[0].bytes, LARGE);
}
END_TEST

START_TEST(what_nobody_waits_for_yet_is_read_apart)
{
    open_well();
    unsigned count = client.count;
    uint64_t ahead = ask(
        (struct nt_fetch_request){.kind = NT_FETCH_READ, .offset = 10000, .bytes = 10, .is_ahead = 1}, "");
    uint64_t waited = ask_for(30000, 20);
    work_until(ahead, NT_FETCH_DONE);
    work_until(waited, NT_FETCH_DONE);
    ck_assert_uint_eq(client.count, count + 2);
    ck_assert_uint_eq(client.calls[count].ranges[0].bytes, 20);
}
END_TEST

START_TEST(a_part_that_is_wanted_no_more_keeps_its_memory_until_it_is_answered)
{
    open_well();
    client.is_held = true;
    uint64_t other = ask_for(30000, 20), id = ask_for(10000, 10);
    work();
    nt_files_take(&files, &(struct nt_fetch_request){.kind = NT_FETCH_CANCEL, .id = id}, "", 0);
    answer_well(next_call());
    work_until(other, NT_FETCH_DONE);
    ck_assert_uint_eq(answers[id].kind, 0);
    ask_for(10000, 10);
    work();
    ask((struct nt_fetch_request){.kind = NT_FETCH_CLOSE}, "");
    ck_assert_uint_eq(client.files, 1);
}
END_TEST

START_TEST(a_silent_server_is_not_waited_for_longer_than_was_said)
{
    open_well();
    client.is_held = true;
    uint64_t id = ask(
        (struct nt_fetch_request){.kind = NT_FETCH_READ, .offset = 0, .bytes = 10, .milliseconds = 20}, "");
    work_until(id, NT_FETCH_FAILED);
    ck_assert_uint_eq(answers[id].failure, NT_FETCH_UNREACHABLE);
    ck_assert_ptr_nonnull(strstr(answers[id].text, "timed out"));
}
END_TEST

/* ---- files that are others now ---- */

static const struct {
    struct nt_xrd_attributes found;
    bool is_same;
} versions[] = {
    {{SIZE, 1000, "id", "server"}, true},       {{SIZE, 1000, "another", "another"}, true}, /* a copy */
    {{SIZE, 1000, "another", "server"}, false}, {{SIZE, 1001, "id", "server"}, false},
    {{SIZE + 1, 1000, "id", "server"}, false},  {{SIZE - 1, 1000, "id", "another"}, false},
};

static void check_outcome(uint64_t id, bool is_same)
{
    work_until(id, is_same ? NT_FETCH_DONE : NT_FETCH_FAILED);
    ck_assert_uint_eq(answers[id].bytes, is_same ? 10 : 0);
    if (!is_same)
        ck_assert_uint_eq(answers[id].failure, NT_FETCH_CHANGED);
}

START_TEST(a_file_that_was_forgotten_is_opened_again_and_compared)
{
    open_well();
    unsigned count = client.count;
    client.is_held = true;
    uint64_t id = ask_for(10000, 10);
    work();
    client.attributes = versions[_i].found;
    client.is_held = false;
    answer_badly(NT_OUTCOME_ELSEWHERE, true);
    check_outcome(id, versions[_i].is_same);
    ck_assert_uint_eq(client.calls[count + 1].count, 0);
    ck_assert_ptr_ne(client.calls[count + 1].file, client.calls[count].file);
}
END_TEST

START_TEST(a_file_that_changes_while_it_is_open_is_found_out)
{
    open_well();
    set_checked(0); /* long ago */
    client.attributes = versions[_i].found;
    check_outcome(ask_for(10000, 10), versions[_i].is_same);
    ck_assert(client.calls[client.count - 1].has_attributes);
}
END_TEST

START_TEST(after_a_failure_the_file_is_looked_at)
{
    open_well();
    set_checked(nt_jobs_now() + 100 * 1000);
    client.is_held = true;
    uint64_t id = ask_for(10000, 10);
    work();
    ck_assert(!client.calls[client.count - 1].has_attributes);
    answer_badly(NT_OUTCOME_AGAIN, false);
    client.is_held = false;
    client.attributes.modified++;
    check_outcome(id, false);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("xrootd");
    TCase *tests = tcase_create("xrootd");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, a_file_is_opened_and_both_ends_are_read_at_once, 0,
                        sizeof(sizes) / sizeof(*sizes));
    tcase_add_test(tests, without_a_client_files_are_not_read);
    tcase_add_test(tests, a_server_that_does_not_tell_the_size_is_asked_again);
    tcase_add_test(tests, short_parts_are_read_together_and_long_ones_alone);
    tcase_add_test(tests, what_nobody_waits_for_yet_is_read_apart);
    tcase_add_test(tests, a_part_that_is_wanted_no_more_keeps_its_memory_until_it_is_answered);
    tcase_add_test(tests, a_silent_server_is_not_waited_for_longer_than_was_said);
    tcase_add_loop_test(tests, a_file_that_was_forgotten_is_opened_again_and_compared, 0,
                        sizeof(versions) / sizeof(*versions));
    tcase_add_loop_test(tests, a_file_that_changes_while_it_is_open_is_found_out, 0,
                        sizeof(versions) / sizeof(*versions));
    tcase_add_test(tests, after_a_failure_the_file_is_looked_at);
    suite_add_tcase(suite, tests);
    return nt_test_main(suite);
}
