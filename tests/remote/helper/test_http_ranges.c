/* SPDX-License-Identifier: MIT
 *
 * Short ranges of a file in one request: what servers answer (RFC 9110, 14.6), and the requests after that.
 */
#include "fake_web.h"

enum { READS = 5, BYTES = 10 };

static const char together[] = "GET /file bytes=20000-20009,30000-30009,40000-40009,50000-50009,60000-60009";

static bool is_together(const struct connection *connection)
{
    return strchr(connection->what, ',') != NULL;
}

/* Parts of the requested ranges from `first` on, as far as they are not cut. */
static void send_parts(const struct connection *connection, const char *headers, const char *boundary,
                       uint64_t total, unsigned first, unsigned end, const char *last)
{
    char text[4096];
    size_t length = (size_t)sprintf(text, "HTTP/1.1 206 Part\r\nETag: \"1\"\r\n%s\r\n\r\n", headers);
    for (unsigned i = first; i < end; i++) {
        uint64_t at = 20000 + UINT64_C(10000) * i;
        length += (size_t)sprintf(text + length,
                                  "\r\n%s\r\nContent-Type: a/b\r\nContent-Range: bytes %" PRIu64 "-%" PRIu64
                                  "/%" PRIu64 "\r\n\r\n",
                                  boundary, at, at + BYTES - 1, total);
        for (uint64_t k = 0; k < BYTES; k++)
            text[length++] = byte_at(at + k);
    }
    length += (size_t)sprintf(text + length, "%s", last);
    ck_assert_int_eq(send(connection->socket, text, length, MSG_NOSIGNAL), length);
}

#define NAMED "Content-Type: multipart/byteranges; boundary=abc"

static bool answer_parts(struct connection *connection)
{
    if (is_together(connection))
        send_parts(connection, NAMED, "--abc", SIZE, 0, READS, "\r\n--abc--\r\n");
    else
        return answer_well(connection);
    return true;
}

static uint64_t request_all(void)
{
    uint64_t first = ask_for(20000, BYTES);
    for (unsigned i = 1; i < READS; i++)
        ask_for(20000 + UINT64_C(10000) * i, BYTES);
    return first;
}

static void check_all(uint64_t first)
{
    for (unsigned i = 0; i < READS; i++) {
        work_until(first + i, NT_FETCH_DONE);
        ck_assert_uint_eq(answers[first + i].bytes, BYTES);
    }
}

TEST(short_ranges_of_a_file_are_one_request, .setup = set_up, .teardown = tear_down)
{
    server.answer = answer_parts;
    open_well();
    unsigned before = server.count;
    check_all(request_all());
    check_all(request_all());
    ck_assert_uint_eq(times_asked(together), 2);
    ck_assert_uint_eq(server.count - before, 2);
}

TEST(few_ranges_have_their_own_requests, .setup = set_up, .teardown = tear_down)
{
    open_well();
    uint64_t first = ask_for(20000, BYTES), other = ask_for(30000, BYTES);
    work_until(first, NT_FETCH_DONE);
    work_until(other, NT_FETCH_DONE);
    ck_assert_uint_eq(times_asked("GET /file bytes=20000-20009"), 1);
}

TEST(ranges_wait_for_those_that_follow, .setup = set_up, .teardown = tear_down)
{
    server.answer = answer_parts;
    open_well();
    uint64_t first = last_id + 1;
    for (unsigned i = 0; i < READS; i++) {
        ask((struct nt_fetch_request){.kind = NT_FETCH_READ,
                                      .offset = 20000 + UINT64_C(10000) * i,
                                      .bytes = BYTES,
                                      .more_follow = i + 1 < READS},
            "");
        if (files.jobs.held_until) /* however slow this machine is */
            files.jobs.held_until += 10000;
        work_untaken();
    }
    check_all(first);
    ck_assert_uint_eq(times_asked(together), 1);
}

TEST(ranges_do_not_wait_long_for_those_that_follow, .setup = set_up, .teardown = tear_down)
{
    open_well();
    uint64_t id = ask(
        (struct nt_fetch_request){
            .kind = NT_FETCH_READ, .offset = 20000, .bytes = BYTES, .more_follow = true},
        "");
    work_until(id, NT_FETCH_DONE);
}

/* ---- Other answers ---- */

/* After each of them, every range that is missing is requested by itself. */
static const struct {
    const char *headers; /* NULL: parts */
    const char *named, *boundary;
    uint64_t total;
    unsigned first, end; /* parts that it has */
    const char *last;
} others[] = {
    {"200 OK\r\nETag: \"1\"\r\nContent-Length: 100000", NULL, NULL, 0, 0, 0, NULL},
    {"416 None\r\nContent-Length: 0", NULL, NULL, 0, 0, 0, NULL},
    {"400 Bad\r\nContent-Length: 0", NULL, NULL, 0, 0, 0, NULL},
    {"404 None\r\nContent-Length: 0", NULL, NULL, 0, 0, 0, NULL},
    {"501 None\r\nContent-Length: 0", NULL, NULL, 0, 0, 0, NULL},
    {"206 Part\r\nETag: \"2\"\r\n" NAMED "\r\nContent-Length: 0", NULL, NULL, 0, 0, 0, NULL},
    {"206 Part\r\nETag: \"1\"\r\n" NAMED "\r\nContent-Encoding: gzip\r\nContent-Length: 0", NULL, NULL, 0, 0,
     0, NULL},
    {"206 Part\r\nETag: \"1\"\r\nContent-Length: 0", NULL, NULL, 0, 0, 0, NULL},
    {NULL, NAMED, "--abc", SIZE, 1, READS, "\r\n--abc--\r\n"},
    {NULL, NAMED, "--abc", SIZE, 0, 4, "\r\n--abc--\r\n"},
    {NULL, NAMED, "--abc", SIZE, 0, 4, "\r\n--abc\r\nContent-Range: bytes 60000-60009/100000\r\n\r\nshort"},
    {NULL, NAMED, "--abc", SIZE, 0, 4, "\r\n--abc\r\nContent-Range: bytes 60000-60009"},
    {NULL, NAMED, "--abc", SIZE, 0, 4, "\r\n--abc\r\nContent-Type: a/b\r\n\r\n"},
    {NULL, NAMED, "--abc", SIZE + 1, 0, READS, "\r\n--abc--\r\n"},
    {NULL, NAMED, "--other", SIZE, 0, READS, "\r\n--other--\r\n"},
    {NULL, "Content-Type: multipart/byteranges", "--abc", SIZE, 0, READS, ""},
    {NULL, NAMED "\r\nContent-Length: 2000", "--abc", SIZE, 0, READS, "\r\n--abc--\r\n"},
};
static unsigned row;

static bool answer_otherwise(struct connection *connection)
{
    if (!is_together(connection))
        return answer_well(connection);
    if (others[row].headers)
        send_answer(connection, others[row].headers, 0, 0);
    else
        send_parts(connection, others[row].named, others[row].boundary, others[row].total, others[row].first,
                   others[row].end, others[row].last);
    return true;
}

/* Later ones that are near each other are one range. */
TEST(ranges_that_do_not_come_together_are_not_requested_so_again, .setup = set_up, .teardown = tear_down,
     .end = COUNT_OF(others))
{
    row = (unsigned)_i;
    server.answer = answer_otherwise;
    open_well();
    check_all(request_all());
    unsigned before = server.count;
    check_all(request_all());
    ck_assert_uint_eq(times_asked(together), 1);
    ck_assert_uint_eq(server.count - before, 1);
    ck_assert_str_eq(server.connections[before].what, "GET /file bytes=20000-60009");
}

TEST(ranges_far_from_each_other_are_not_one, .setup = set_up, .teardown = tear_down)
{
    row = 0;
    server.answer = answer_otherwise;
    open_well();
    check_all(request_all());
    uint64_t ids[] = {ask_for(10000, 10), ask_for(15000, 10), ask_for(20000, 10), ask_for(25000, 10),
                      ask_for(60000, 10)};
    for (unsigned i = 0; i < COUNT_OF(ids); i++)
        work_until(ids[i], NT_FETCH_DONE);
    ck_assert_uint_eq(times_asked("GET /file bytes=10000-25009"), 1);
    ck_assert_uint_eq(times_asked("GET /file bytes=60000-60009"), 1);
}

static bool has_sent;

/* Without an end. */
static bool answer_much(struct connection *connection)
{
    if (!is_together(connection))
        return answer_well(connection);
    if (!has_sent)
        send_answer(connection, "206 Part\r\nETag: \"1\"\r\n" NAMED "\r\nContent-Length: 900000", 0, 90000);
    has_sent = true;
    return false;
}

TEST(an_answer_for_ranges_has_a_bound, .setup = set_up, .teardown = tear_down)
{
    server.answer = answer_much;
    has_sent = false;
    open_well();
    check_all(request_all());
    ck_assert_uint_eq(times_asked("GET /file bytes=20000-20009"), 1);
}

/* As a server does that joins what is near. */
static bool answer_joined(struct connection *connection)
{
    if (is_together(connection))
        send_answer(
            connection,
            "206 Part\r\nETag: \"1\"\r\nContent-Range: bytes 20000-20044/100000\r\nContent-Length: 45", 20000,
            45);
    else
        return answer_well(connection);
    return true;
}

TEST(ranges_that_a_server_joins_are_delivered, .setup = set_up, .teardown = tear_down)
{
    server.answer = answer_joined;
    open_well();
    uint64_t first = last_id + 1;
    unsigned before = server.count;
    for (unsigned i = 0; i < 4; i++)
        ask_for(20000 + UINT64_C(10) * i, BYTES);
    for (unsigned i = 0; i < 4; i++)
        work_until(first + i, NT_FETCH_DONE);
    ck_assert_uint_eq(server.count - before, 1);
}

/* ---- Cancelled jobs ---- */

static bool may_answer;

static bool answer_later(struct connection *connection)
{
    return (may_answer || !is_together(connection)) && answer_parts(connection);
}

/* That of the request itself, and others. */
TEST(the_others_go_on_without_a_cancelled_range, .setup = set_up, .teardown = tear_down, .end = READS)
{
    server.answer = answer_later;
    may_answer = false;
    open_well();
    uint64_t first = request_all();
    work();
    cancel(first + (unsigned)_i);
    may_answer = true;
    for (unsigned i = 0; i < READS; i++) {
        if (i != (unsigned)_i)
            work_until(first + i, NT_FETCH_DONE);
        ck_assert_uint_eq(answers[first + i].bytes, i == (unsigned)_i ? 0 : BYTES);
    }
}

TEST(a_file_with_ranges_under_way_can_be_closed, .setup = set_up, .teardown = tear_down)
{
    server.answer = answer_later;
    may_answer = false;
    open_well();
    request_all();
    work();
    ask((struct nt_fetch_request){.kind = NT_FETCH_CLOSE}, "");
    work();
    ck_assert_uint_eq(files.jobs.count, 0);
}

/* They are requested again then, alone. */
TEST(ranges_that_no_client_takes_are_not_lost, .setup = set_up, .teardown = tear_down)
{
    server.answer = answer_later;
    may_answer = false;
    open_well();
    uint64_t first = request_all();
    work();
    fill_channel();
    may_answer = true;
    for (int i = 0; i < 200; i++) {
        work_untaken();
        usleep(100);
    }
    check_all(first);
}
