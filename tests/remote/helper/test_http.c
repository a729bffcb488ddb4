/* SPDX-License-Identifier: MIT
 *
 * Files on a fake web server: how each answer is handled (RFC 9110), and the next request.
 */
#include "core/base/thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "core/base/scheme.h"
#include "fake_web.h"
#include "faults.h"

NEEDS_PROCESSES("keys of roles and their errors are kept");

/* All answers, while one is being sent. */
static struct canned {
    const char *headers;
    uint64_t first, bytes;
} canned;

static bool answer_canned(struct connection *connection)
{
    send_answer(connection, canned.headers, canned.first, canned.bytes);
    return true;
}

/* ---- opening ---- */

static const struct {
    struct canned answer;
    const char *message; /* NULL: a file without bytes */
    enum nt_fetch_failure failure;
} openings[] = {
    {{"200 OK\r\nContent-Length: 0", 0, 0}, NULL, 0},
    {{"416 None\r\nContent-Range: bytes */0\r\nContent-Length: 0", 0, 0}, NULL, 0},
    {{"416 None\r\nContent-Length: 0", 0, 0}, NULL, 0},
    {{"416 None\r\nContent-Range: bytes */17\r\nContent-Length: 0", 0, 0},
     "the server answers 416: it has no such range",
     NT_FETCH_UNREACHABLE},
    {{"206 Part\r\nContent-Range: bytes 0-9/100000\r\nContent-Length: 10", 0, 10},
     "requested 7168 bytes at 0, but the server sends bytes 0 to 9",
     NT_FETCH_UNREACHABLE},
    {{"200 OK\r\nContent-Length: 10", 0, 10},
     "the server sends only whole files, but ntuplefs needs ranges (Range)",
     NT_FETCH_UNSUPPORTED},
    {{"200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 10", 0, 10},
     "the server sends a web page (text/html) instead of the file, perhaps to log in",
     NT_FETCH_UNSUPPORTED},
    {{"206 Part\r\nContent-Range: bytes 0-9/*\r\nContent-Length: 10", 0, 10},
     "the server sends a range without the size of the file (Content-Range)",
     NT_FETCH_UNREACHABLE},
    {{"206 Part\r\nContent-Length: 10", 0, 10},
     "the server sends a range without saying which (Content-Range)",
     NT_FETCH_UNREACHABLE},
    {{"418 Teapot\r\nContent-Length: 0", 0, 0}, "the server answers 418", NT_FETCH_UNREACHABLE},
    {{"400 Bad\r\nx-amz-bucket-region: eu-west-9\r\nContent-Length: 0", 0, 0},
     "the server answers 400: the bucket is in region eu-west-9",
     NT_FETCH_UNREACHABLE},
    {{"410 Gone\r\nContent-Length: 0", 0, 0}, "the server has no such file (410)", NT_FETCH_NOT_FOUND},
    {{"302 There\r\nLocation: ftp://127.0.0.1/file\r\nContent-Length: 0", 0, 0},
     "it redirects to an address that is not allowed",
     NT_FETCH_UNREACHABLE},
    {{"302 There\r\nLocation: http://a:b@127.0.0.1/file\r\nContent-Length: 0", 0, 0},
     "denied",
     NT_FETCH_UNREACHABLE},
    {{"302 There\r\nContent-Length: 0", 0, 0}, "the server answers 302", NT_FETCH_UNREACHABLE},
    {{"302 There\r\nLocation: /file\r\nContent-Length: 0", 0, 0}, "too many redirects", NT_FETCH_UNREACHABLE},
    {{"302 There\r\nLocation: /other\r\nContent-Length: 99000", 0, 99000},
     "the server's redirect does not end",
     NT_FETCH_UNREACHABLE},
    {{"307 There\r\nLocation: http://169.254.169.254/latest\r\nContent-Length: 0", 0, 0},
     "instance metadata",
     NT_FETCH_FORBIDDEN},
    {{"302 There\r\nLocation: http://0xa9fea9fe/latest\r\nContent-Length: 0", 0, 0},
     "instance metadata",
     NT_FETCH_FORBIDDEN},
    {{"302 There\r\nLocation: http://[::ffff:169.254.169.254]/latest\r\nContent-Length: 0", 0, 0},
     "instance metadata",
     NT_FETCH_FORBIDDEN},
};

TEST(what_is_answered_to_an_opening_is_judged, .setup = set_up, .teardown = tear_down,
     .end = COUNT_OF(openings))
{
    canned = openings[_i].answer;
    server.answer = answer_canned;
    uint64_t id = request_open();
    if (openings[_i].message) {
        check_failure(id, openings[_i].failure, openings[_i].message);
    } else {
        work_until(id, NT_FETCH_DONE);
        ck_assert_uint_eq(answers[id].size, 0);
    }
}

/* Messages of libcurl, or of the helper itself. */
static const struct {
    const char *address, *message;
} no_urls[] = {
    {"http://", "URL"},
    {"http://[1/file", "URL"},
    {"ftp://server/file", "the scheme of its address is unknown"},
    {"http://169.254.169.254/latest/meta-data", "instance metadata"},
    {"dav://metadata.google.internal./file", "instance metadata"},
    {"s3://bucket", "it must be s3://BUCKET/KEY"},
    {"s3:///key", "it must be s3://BUCKET/KEY"},
};

TEST(what_is_no_address_is_reported, .setup = set_up, .teardown = tear_down, .end = COUNT_OF(no_urls))
{
    check_failure(ask((struct nt_fetch_request){.kind = NT_FETCH_OPEN}, no_urls[_i].address),
                  NT_FETCH_INVALID, no_urls[_i].message);
}

/* A file that is shorter than requested; the first answers about it are broken. */
enum { SHORT = 100, CUT = 40 };

static bool answer_broken(struct connection *connection)
{
    bool is_rest = strstr(connection->what, "bytes=60-99") != NULL;
    send_part(connection, SHORT, "\"1\"", is_rest ? 0 : CUT);
    return true;
}

TEST(of_a_broken_beginning_only_the_rest_is_requested, .setup = set_up, .teardown = tear_down)
{
    server.answer = answer_broken;
    uint64_t id = request_open();
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(answers[id].size, SHORT);
    ck_assert_uint_eq(answers[id].bytes, SHORT);
    ck_assert_uint_eq(times_asked("GET /file bytes=60-99"), 1);
}

/* XRootD's http answers a range that passes the end without bytes, and the end of a file with all of it. */
static bool answer_beyond(struct connection *connection)
{
    char headers[256];
    if (strstr(connection->what, "bytes=0-99"))
        send_part(connection, SHORT, "\"1\"", 0);
    else if (strstr(connection->what, "bytes=-"))
        send_answer(connection, "200 OK\r\nETag: \"1\"\r\nContent-Length: 100", 0, SHORT);
    else {
        snprintf(headers, sizeof(headers),
                 "206 Part\r\nETag: \"1\"\r\nContent-Range: bytes 0-%d/%d\r\nContent-Length: 0",
                 NT_FETCH_END_BYTES - 1, SHORT);
        send_answer(connection, headers, 0, 0);
    }
    return true;
}

TEST(a_file_shorter_than_was_asked_for_is_asked_for_by_its_length, .setup = set_up, .teardown = tear_down)
{
    server.answer = answer_beyond;
    uint64_t id = request_open();
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(answers[id].size, SHORT);
    ck_assert_uint_eq(answers[id].bytes, SHORT);
    ck_assert_uint_eq(times_asked("GET /file bytes=0-99"), 1);
}

static unsigned broken, turns;

/* The first request is answered some turns after those that only prepare connections, whose answers are
 * broken ones of another version. */
static bool answer_another_later(struct connection *connection)
{
    bool is_first = connection == server.connections;
    if (is_first && (!broken || ++turns < 20))
        return false;
    if (is_first || !strstr(connection->what, "bytes=0-"))
        return answer_well(connection);
    broken++;
    send_part(connection, SIZE + 1, "\"2\"", CUT);
    return true;
}

TEST(what_makes_connections_ready_says_no_version, .setup = set_up, .teardown = tear_down)
{
    server.answer = answer_another_later;
    open_well();
    server.answer = answer_well;
    uint64_t id = ask_for(50000, 10);
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(answers[id].bytes, 10);
}

/* ---- in front of the tail ---- */

/* The answers to requests for more than the tail. */
static const struct {
    const char *tag; /* NULL: none */
    uint64_t total, cut;
    unsigned requests; /* for what is in front of the tail */
} suffixes[] = {
    {"\"1\"", SIZE, 0, 0}, {"\"1\"", SIZE, 100, 0},   {"\"2\"", SIZE, 0, 1},
    {NULL, 0, 0, 1},       {"\"1\"", SIZE + 1, 0, 1}, {"\"1\"", SIZE, 20000, 1},
};
static unsigned row;

static bool answer_suffix(struct connection *connection)
{
    bool is_suffix = strstr(connection->what, "bytes=-") != NULL;
    bool is_tail = strstr(connection->what, "bytes=-7168") != NULL;
    if (!is_suffix || is_tail)
        return answer_well(connection);
    if (suffixes[row].tag)
        send_part(connection, suffixes[row].total, suffixes[row].tag, suffixes[row].cut);
    return suffixes[row].tag;
}

TEST(what_is_in_front_of_the_tail_comes_with_the_opening, .setup = set_up, .teardown = tear_down,
     .end = COUNT_OF(suffixes))
{
    row = (unsigned)_i;
    server.answer = answer_suffix;
    open_well();
    uint64_t id = ask_for(70000, 20000);
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(answers[id].bytes, 20000);
    ck_assert_uint_eq(times_asked("GET /file bytes=70000-89999"), suffixes[row].requests);
}

/* The first copy may be damaged. */
TEST(what_is_in_front_of_the_tail_is_requested_if_it_is_needed_again, .setup = set_up, .teardown = tear_down)
{
    open_well();
    for (unsigned time = 0; time < 3; time++) {
        uint64_t id = ask_for(70000, 20000);
        work_until(id, NT_FETCH_DONE);
        ck_assert_uint_eq(times_asked("GET /file bytes=70000-89999"), time);
    }
}

/* ---- reading ---- */

static const struct {
    struct canned answer;
    enum nt_fetch_failure failure;
    const char *message;
} readings[] = {
    {{"206 Part\r\nETag: \"1\"\r\nContent-Range: bytes 50000-50009/100000", 50000, 11},
     NT_FETCH_UNREACHABLE,
     "the server sends more bytes than it announces"},
    {{"206 Part\r\nETag: \"1\"\r\nContent-Range: bytes 50000-50010/100000\r\nContent-Length: 11", 50000, 11},
     NT_FETCH_UNREACHABLE,
     "requested 10 bytes at 50000, but the server sends bytes 50000 to 50010"},
    {{"206 Part\r\nETag: \"1\"\r\nContent-Range: bytes 50000-50009/100000\r\nContent-Encoding: gzip\r\n"
      "Content-Length: 10",
      50000, 10},
     NT_FETCH_UNSUPPORTED,
     "the server sends the file compressed (Content-Encoding)"},
    {{"206 Part\r\nETag: \"2\"\r\nContent-Range: bytes 50000-50009/100000\r\nContent-Length: 10", 50000, 10},
     NT_FETCH_CHANGED,
     "the server has another version now"},
    {{"206 Part\r\nETag: \"1\"\r\nContent-Range: bytes 50000-50009/100001\r\nContent-Length: 10", 50000, 10},
     NT_FETCH_CHANGED,
     "the server has another version now"},
    {{"200 OK\r\nETag: \"1\"\r\nContent-Length: 0", 0, 0}, NT_FETCH_UNSUPPORTED, "only whole files"},
    {{"200 OK\r\nETag: \"2\"\r\nContent-Length: 10", 0, 10},
     NT_FETCH_CHANGED,
     "the server has another version now"},
    {{"412 Failed\r\nContent-Length: 0", 0, 0}, NT_FETCH_CHANGED, "the server has another version now"},
    {{"416 None\r\nETag: \"1\"\r\nContent-Range: bytes */100000\r\nContent-Length: 0", 0, 0},
     NT_FETCH_UNREACHABLE,
     "the server answers 416: it has no such range"},
    {{"416 None\r\nETag: \"1\"\r\nContent-Range: bytes */0\r\nContent-Length: 0", 0, 0},
     NT_FETCH_CHANGED,
     "the server has another version now"},
    {{"206 Part\r\nETag: \"1\"\r\nContent-Range: bytes 50000-50004/100000\r\nContent-Length: 5", 50000, 5},
     NT_FETCH_UNREACHABLE, /* which has arrived; but a later request */
     "requested 5 bytes at 50005, but the server sends bytes 50000 to 50004"},
};

TEST(what_is_answered_to_a_reading_is_judged, .setup = set_up, .teardown = tear_down,
     .end = COUNT_OF(readings))
{
    open_well();
    canned = readings[_i].answer;
    server.answer = answer_canned;
    check_failure(ask_for(50000, 10), readings[_i].failure, readings[_i].message);
}

static struct canned odd;
static unsigned odd_answers; /* so many answers are odd */

static bool answer_odd_first(struct connection *connection)
{
    if (strstr(connection->what, "bytes=50000-50009") && odd_answers) {
        odd_answers--;
        send_answer(connection, odd.headers, odd.first, odd.bytes);
        return true;
    }
    return answer_well(connection);
}

static const struct canned odds[] = {
    {"412 Failed\r\nContent-Length: 0", 0, 0},
    {"404 None\r\nContent-Length: 0", 0, 0},
    {"206 Part\r\nETag: \"2\"\r\nContent-Range: bytes 50000-50009/100000\r\nContent-Length: 10", 50000, 10},
    {"206 Part\r\nETag: \"1\"\r\nContent-Range: bytes 50000-50009/100001\r\nContent-Length: 10", 50000, 10},
};

TEST(one_odd_answer_is_no_change_of_the_file, .setup = set_up, .teardown = tear_down, .end = COUNT_OF(odds))
{
    open_well();
    odd = odds[_i];
    odd_answers = 1;
    server.answer = answer_odd_first;
    uint64_t id = ask_for(50000, 10);
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(answers[id].bytes, 10);
    ck_assert_uint_eq(times_asked("GET /file bytes=50000-50009"), 2);
}

/* Some servers compare parts of seconds with their own Last-Modified. */
static bool answer_without_conditions(struct connection *connection)
{
    bool is_conditional = header_of(connection, "\r\nIf-Match:")[0];
    if (!is_conditional)
        return answer_well(connection);
    send_answer(connection, "412 Failed\r\nContent-Length: 0", 0, 0);
    return true;
}

TEST(a_server_that_rejects_its_own_validators_is_asked_without_them, .setup = set_up, .teardown = tear_down)
{
    open_well();
    server.answer = answer_without_conditions;
    for (uint64_t first = 50000; first < 50030; first += 10) {
        uint64_t id = ask_for(first, 10);
        work_until(id, NT_FETCH_DONE);
        ck_assert_uint_eq(answers[id].bytes, 10);
    }
    ck_assert_uint_eq(times_asked("GET /file bytes=50000-50009"), 2);
    ck_assert_uint_eq(times_asked("GET /file bytes=50020-50029"), 1);
}

/* Without a condition the answer must prove its version. */
static bool answer_unproven(struct connection *connection)
{
    bool is_conditional = header_of(connection, "\r\nIf-Match:")[0];
    send_answer(connection,
                is_conditional ? "412 Failed\r\nContent-Length: 0"
                               : "206 Part\r\nContent-Range: bytes 50000-50009/100000\r\nContent-Length: 10",
                is_conditional ? 0 : 50000, is_conditional ? 0 : 10);
    return true;
}

TEST(a_rejected_condition_is_believed_if_nothing_says_otherwise, .setup = set_up, .teardown = tear_down)
{
    open_well();
    server.answer = answer_unproven;
    check_failure(ask_for(50000, 10), NT_FETCH_CHANGED, "the server has another version now");
}

TEST(a_server_is_not_waited_for_longer_than_was_said, .setup = set_up, .teardown = tear_down)
{
    open_well();
    server.answer = answer_nothing;
    uint64_t id = ask((struct nt_fetch_request){.kind = NT_FETCH_READ, .bytes = 10, .milliseconds = 200}, "");
    check_failure(id, NT_FETCH_UNREACHABLE,
                  "timed out after 0.2 s: the server does not answer, or is too slow (tries: 1)");
}

TEST(received_bytes_wait_for_their_reader, .setup = set_up, .teardown = tear_down)
{
    open_well();
    fill_channel();
    uint64_t id = ask_for(20000, 50000);
    for (int i = 0; i < 50; i++) {
        work_untaken();
        usleep(1000);
    }
    ck_assert_uint_eq(files.jobs.count, 1);
    ck_assert(TAILQ_FIRST(&files.jobs.all)->is_paused);
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(answers[id].bytes, 50000);
    ck_assert_uint_eq(files.jobs.totals.retries, 0);
}

/* ---- where servers send requests ---- */

static const char *there = "/there/file";

static bool answer_elsewhere(struct connection *connection)
{
    char headers[256];
    if (strncmp(connection->what, "GET /file ", strlen("GET /file ")) != 0) {
        bool is_there = strncmp(connection->what + strlen("GET "), there, strlen(there)) == 0;
        if (is_there)
            answer_well(connection);
        else if (canned.headers)
            answer_canned(connection);
        return true; /* or it breaks without an answer */
    }
    snprintf(headers, sizeof(headers), "302 There\r\nLocation: %s\r\nContent-Length: 0", there);
    send_answer(connection, headers, 0, 0);
    return true;
}

static const char *const refusals[] = {"403 No\r\nContent-Length: 0", "404 None\r\nContent-Length: 0",
                                       "503 Busy\r\nRetry-After: 3600\r\nContent-Length: 0", NULL};

TEST(a_refused_redirect_target_leads_back_to_the_origin, .setup = set_up, .teardown = tear_down,
     .end = COUNT_OF(refusals))
{
    there = "/there/file";
    server.answer = answer_elsewhere;
    open_well();
    unsigned before = times_asked("GET /file bytes=50000-50009");
    work_until(ask_for(20000, 10), NT_FETCH_DONE);
    ck_assert_uint_eq(times_asked("GET /file bytes=20000-20009"), 0);
    there = "/another/file";
    canned = (struct canned){.headers = refusals[_i]};
    uint64_t id = ask_for(50000, 10);
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(answers[id].bytes, 10);
    ck_assert_uint_ge(times_asked("GET /there/file bytes=50000-50009"), 1);
    ck_assert_uint_eq(times_asked("GET /file bytes=50000-50009"), before + 1);
}

/* A read that its server refuses, while another one of the same server has no answer yet. */
static bool answer_second_first(struct connection *connection)
{
    static bool is_refused;
    if (strcmp(connection->what, "GET /there/file bytes=50000-50009") == 0) {
        is_refused = true;
        send_answer(connection, refusals[0], 0, 0);
        return true;
    }
    bool waits = strcmp(connection->what, "GET /there/file bytes=40000-40009") == 0 && !is_refused;
    return !waits && answer_elsewhere(connection);
}

TEST(a_refused_redirect_target_serves_the_reads_that_it_does_not_refuse, .setup = set_up,
     .teardown = tear_down)
{
    there = "/there/file";
    server.answer = answer_elsewhere;
    open_well();
    server.answer = answer_second_first;
    uint64_t waits = ask_for(40000, 10), refused = ask_for(50000, 10);
    work_until(waits, NT_FETCH_DONE);
    ck_assert_uint_eq(answers[waits].bytes, 10);
    ck_assert_uint_eq(times_asked("GET /there/file bytes=40000-40009"), 1);
    cancel(refused);
}

static const char *const redirections[] = {"301 There", "302 There", "303 There", "307 There", "308 There"};
static const char *redirection;

/* By its other name the server is another one: it redirects all requests to the first name. */
static bool answer_by_other_name(struct connection *connection)
{
    char answer[256];
    if (strncmp(header_of(connection, "\r\nHost:"), "localhost", strlen("localhost")) == 0)
        return answer_well(connection);
    snprintf(answer, sizeof(answer), "%s\r\nLocation: http://localhost%s/file\r\nContent-Length: 10",
             redirection, strrchr(server.address, ':'));
    send_answer(connection, answer, 0, 10);
    return true;
}

static void write_passwords(char path[], const char *text)
{
    int descriptor = mkstemp(path);
    ck_assert_int_eq(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    close(descriptor);
    setenv("NETRC", path, 1);
}

/* The credentials that a request would send: netrc(5) has a password for the host, or a default. */
TEST(a_redirect_does_not_pass_the_password_on, .setup = set_up, .teardown = tear_down,
     .end = 2 * COUNT_OF(redirections))
{
    static const char *const texts[] = {
        "default login a password b\n",
        "machine 127.0.0.1 login a password b\nmachine localhost login c password d\n"};
    char path[] = "/tmp/nt_test_web_XXXXXX";
    unsigned first = 0, other = 0;
    write_passwords(path, texts[_i % 2]);
    redirection = redirections[_i / 2];
    server.answer = answer_by_other_name;
    open_well();
    work_until(ask_for(20000, 10), NT_FETCH_DONE);
    unlink(path);
    for (unsigned i = 0; i < server.count; i++) {
        const struct connection *connection = &server.connections[i];
        bool is_other = strncmp(header_of(connection, "\r\nHost:"), "localhost", strlen("localhost")) == 0;
        const char *authorization = header_of(connection, "\r\nAuthorization:");
        if (!connection->what[0])
            continue;
        ck_assert_str_eq(authorization, is_other ? "" : "Basic YTpi"); /* RFC 7617: a:b */
        other += is_other;
        first += !is_other;
    }
    ck_assert_uint_ge(first, 2);
    ck_assert_uint_ge(other, 2);
}

/* ---- Bytes after a body ---- */

static const char *const trailers[] = {"Content-Range: bytes 0-99/100",
                                       "Content-Range: bytes 0-7167/9000000000000000000",
                                       "Content-Range: bytes */0",
                                       "Content-Range: bytes x",
                                       "Content-Encoding: gzip",
                                       "ETag: \"other\"",
                                       "HTTP/1.1 206 foo",
                                       "HTTP/1.1: 206"};
static const char *trailer;

static bool answer_in_chunks(struct connection *connection)
{
    uint64_t first = 0, last = 0;
    char text[512 + NT_FETCH_END_BYTES];
    if (sscanf(strstr(connection->what, "bytes="), "bytes=%" SCNu64 "-%" SCNu64, &first, &last) != 2) {
        first = SIZE - NT_FETCH_END_BYTES;
        last = SIZE - 1;
    }
    int length = sprintf(text,
                         "HTTP/1.1 206 Part\r\nContent-Range: bytes %" PRIu64 "-%" PRIu64
                         "/%d\r\nTransfer-Encoding: chunked\r\nETag: \"1\"\r\n\r\n%" PRIx64 "\r\n",
                         first, last, SIZE, last - first + 1);
    for (uint64_t i = first; i <= last; i++)
        text[length++] = byte_at(i);
    length += sprintf(text + length, "\r\n0\r\n%s\r\n\r\n", trailer);
    ck_assert_int_eq(send(connection->socket, text, (size_t)length, MSG_NOSIGNAL), length);
    return true;
}

TEST(what_is_after_a_body_says_nothing, .setup = set_up, .teardown = tear_down, .end = COUNT_OF(trailers))
{
    trailer = trailers[_i];
    server.answer = answer_in_chunks;
    open_well();
    work_until(ask_for(20000, 10), NT_FETCH_DONE);
}

static bool answer_with_long_header(struct connection *connection)
{
    static char text[200 * 1000] = "HTTP/1.1 206 Part\r\nX: ";
    memset(text + strlen(text), 'a', sizeof(text) - 1 - strlen(text));
    (void)!send(connection->socket, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
    return true;
}

TEST(a_header_that_is_too_long_is_reported, .setup = set_up, .teardown = tear_down)
{
    server.answer = answer_with_long_header;
    check_failure(request_open(), NT_FETCH_UNREACHABLE, "a header of more than 100 kB");
}

/* ---- memory ---- */

#ifdef HAS_FAULTS
TEST(an_address_without_memory_at_any_point_is_not_invalid, .setup = set_up, .teardown = tear_down)
{
    uint64_t id, points, failures = 0;
    server.answer = answer_nothing;
    do {
        id = last_id + 1;
        fault_arm(&(struct fault){.site = FAULT_ALLOCATION, .number = id, .error = ENOMEM});
        ask((struct nt_fetch_request){.kind = NT_FETCH_OPEN, .file = (uint32_t)id}, server.file);
        points = fault_disarm();
        take_answers();
        failures += answers[id].kind == NT_FETCH_FAILED && answers[id].failure == NT_FETCH_UNREACHABLE;
        ck_assert(answers[id].failure != NT_FETCH_INVALID);
        nt_helper_session_handle(
            &files, &(struct nt_fetch_request){.kind = NT_FETCH_CLOSE, .file = (uint32_t)id}, "", 0);
    } while (points >= id);
    ck_assert_uint_ge(failures, 4); /* the file, its URL, and both ends; other connections may be missing */
}
#endif

/* ---- objects ---- */

TEST(an_object_that_ends_before_the_requested_bytes_is_short, .setup = set_up, .teardown = tear_down)
{
    char text[128];
    int length = snprintf(text, sizeof(text), "ntpl+s3+%s/bucket/data/${objid}%c\"1\"", server.address, '\0');
    struct nt_fetch_request request = {.kind = NT_FETCH_OPEN_LISTED, .bytes = INT64_MAX};
    work_until(ask_with(request, text, (size_t)length), NT_FETCH_DONE);
    canned = (struct canned){"416 None\r\nContent-Range: bytes */1000\r\nContent-Length: 0", 0, 0};
    server.answer = answer_canned;
    check_failure(ask_for(NT_OBJECT_SPACE + 1000, 10), NT_FETCH_NOT_FOUND,
                  "the object ends before the requested bytes (416)");
    ck_assert_uint_eq(times_asked("GET /bucket/data/1 bytes=1000-1009"), 1);
}

/* ---- credentials ---- */

/* A process that has no credential files, and ends with the number of looks. */
static pid_t count_looks(int *socket_ret)
{
    int ends[2], looks = 0;
    uint8_t byte;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    pid_t process = fork();
    if (process) {
        close(ends[1]);
        *socket_ret = ends[0];
        return process;
    }
    close(ends[0]);
    for (; recv(ends[1], &byte, 1, 0) == 1; looks++)
        ck_assert_int_eq(send(ends[1], "", 1, 0), 1);
    _exit(looks);
}

TEST(requests_that_start_together_share_a_look_at_credentials, .setup = set_up, .teardown = tear_down)
{
    int socket, status;
    open_well();
    pid_t process = count_looks(&socket);
    nt_credentials_begin(socket);
    for (unsigned i = 0; i < 8; i++)
        ask_for(20000 + UINT64_C(5000) * i, 5000);
    work();
    close(socket);
    ck_assert_int_eq(waitpid(process, &status, 0), process);
    nt_credentials_begin(-1);
    ck_assert_int_eq(WEXITSTATUS(status), NT_CREDENTIALS + 1);
    work_until(last_id, NT_FETCH_DONE);
}

/* ---- keys of a role ---- */

TEST(without_the_keys_of_a_role_nothing_is_requested, .setup = set_up, .teardown = tear_down, .end = 2)
{
    setenv("AWS_ENDPOINT_URL", server.address, 1);
    setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1", 1);
    struct nt_fetch_request request = {.kind = NT_FETCH_OPEN, .milliseconds = 500};
    if (_i) { /* a listed file is open without a request */
        ask_with((struct nt_fetch_request){.kind = NT_FETCH_OPEN_LISTED, .bytes = SIZE},
                 "s3://bucket/key\0\"1\"", 19);
        request = (struct nt_fetch_request){.kind = NT_FETCH_READ, .milliseconds = 500, .bytes = 10};
    }
    check_failure(ask(request, _i ? "" : "s3://bucket/key"), NT_FETCH_UNREACHABLE,
                  "cannot get keys of the virtual machine");
    ck_assert_uint_eq(server.count, 0);
}

/* The helper can do nothing else meanwhile. */
TEST(a_silent_service_of_keys_is_not_asked_again_at_once, .setup = set_up, .teardown = tear_down)
{
    struct nt_s3 s3 = {.region = "r"};
    server.answer = answer_nothing;
    setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.address, 1);
    for (unsigned repeats = 0; repeats < 2; repeats++) {
        ck_assert_ptr_nonnull(nt_s3_assume_role(&s3));
        serve_web();
        ck_assert_uint_eq(server.count, 1);
    }
}

static atomic_uint answered;

/* The first answer has keys that are to be renewed in one or two seconds, the others have none. */
static bool answer_keys_once(struct connection *connection)
{
    char text[256], expires[32];
    const time_t until = time(NULL) + 302;
    strftime(expires, sizeof(expires), "%Y-%m-%dT%H:%M:%SZ", gmtime(&until));
    snprintf(text, sizeof(text),
             "{\"AccessKeyId\": \"k\", \"SecretAccessKey\": \"s\", \"Token\": \"t\", \"Expiration\": \"%s\"}",
             expires);
    if (connection == server.connections)
        send_text(connection, "200 OK", text);
    else
        send_answer(connection, "503 Busy\r\nContent-Length: 0", 0, 0);
    atomic_fetch_add(&answered, 1);
    return true;
}

static atomic_bool is_over;

static void *serve_keys(void *unused)
{
    while (!atomic_load(&is_over)) {
        serve_web();
        usleep(1000);
    }
    return unused;
}

TEST(keys_are_renewed_before_they_expire_and_kept_if_that_fails, .setup = set_up, .teardown = tear_down)
{
    struct nt_s3 s3 = {.region = "r"};
    pthread_t thread;
    server.answer = answer_keys_once;
    setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.address, 1);
    ck_assert_int_eq(pthread_create(&thread, NULL, serve_keys, NULL), 0);
    const uint64_t end = nt_milliseconds() + 20000;
    do { /* each request of the service ends before the call does */
        s3.key[0] = '\0';
        ck_assert_ptr_null(nt_s3_assume_role(&s3));
        ck_assert_str_eq(s3.key, "k");
        usleep(10000);
    } while (atomic_load(&answered) < 2 && nt_milliseconds() < end);
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    ck_assert_uint_eq(server.count, 2);
}
