/* SPDX-License-Identifier: MIT
 *
 * Folders on fake web servers and in fake buckets: how each listing is handled, and the next request.
 */
#include "fake_web.h"

#define OPENING "<multistatus xmlns='DAV:'>"
#define CLOSING "</multistatus>"
#define FOLDER_ITSELF                                                                                        \
    "<response><href>/folder/</href><propstat><prop><resourcetype><collection/></resourcetype></prop>"       \
    "<status>HTTP/1.1 200 OK</status></propstat></response>"
#define FILE_RESPONSE                                                                                        \
    "<response><href>/folder/a%20file</href><propstat><prop><getcontentlength>17</getcontentlength>"         \
    "<getetag>\"x\"</getetag><resourcetype/></prop><status>HTTP/1.1 200 OK</status></propstat></response>"
/* Its tag is a weak one, which conditional requests cannot use. */
#define WEAK_RESPONSE                                                                                        \
    "<response><href>/folder/weak</href><propstat><prop><getcontentlength>1</getcontentlength>"              \
    "<getetag>W/\"x\"</getetag><resourcetype/></prop><status>HTTP/1.1 200 OK</status></propstat></response>"

static const char good_list[] = OPENING FOLDER_ITSELF FILE_RESPONSE WEAK_RESPONSE CLOSING;
static const char good_names[] = "a file 17 -1 \"x\",weak 1 -1 ,";

static const char *headers, *body;
static unsigned answered;

static bool answer_text(struct connection *connection)
{
    answered++;
    send_text(connection, headers, body);
    return true;
}

static uint64_t request_list(const char *answer, const char *text)
{
    headers = answer;
    body = text;
    answered = 0;
    server.answer = answer_text;
    return ask((struct nt_fetch_request){.kind = NT_FETCH_LIST}, server.folder);
}

TEST(what_is_in_a_folder_is_reported, .setup = set_up, .teardown = tear_down)
{
    uint64_t id = request_list("207 List", good_list);
    work_until(id, NT_FETCH_DONE);
    ck_assert_str_eq(answers[id].names, good_names);
    ck_assert_uint_eq(times_asked("PROPFIND /folder/ "), 1);
}

static const struct {
    const char *headers, *body;
    enum nt_fetch_failure failure;
    const char *message;
} failures[] = {
    {"207 List\r\nContent-Encoding: gzip", good_list, NT_FETCH_UNSUPPORTED, "compressed (Content-Encoding)"},
    {"207 List", "", NT_FETCH_UNREACHABLE, "the server sends an empty list"},
    {"207 List", "plain text", NT_FETCH_UNREACHABLE, "the server sends a list that is not XML"},
    {"207 List", OPENING FOLDER_ITSELF, NT_FETCH_UNREACHABLE, "the server sends a list that is not XML"},
    {"207 List", OPENING CLOSING, NT_FETCH_NOT_FOUND, "the server has no such directory"},
    {"200 OK", "<html/>", NT_FETCH_UNSUPPORTED, "it answers 200 to WebDAV's PROPFIND"},
    {"405 No", "", NT_FETCH_UNSUPPORTED, "it answers 405 to WebDAV's PROPFIND"},
    {"501 No", "", NT_FETCH_UNSUPPORTED, "it answers 501 to WebDAV's PROPFIND"},
    {"404 None", "", NT_FETCH_NOT_FOUND, "the server has no such directory (404)"},
    {"403 No", "", NT_FETCH_FORBIDDEN, "the server does not allow it (403)"},
    {"418 Teapot", "", NT_FETCH_UNREACHABLE, "the server answers 418"},
};

TEST(what_is_no_list_is_reported, .setup = set_up, .teardown = tear_down, .end = COUNT_OF(failures))
{
    check_failure(request_list(failures[_i].headers, failures[_i].body), failures[_i].failure,
                  failures[_i].message);
    ck_assert_uint_eq(answered, 1);
}

TEST(more_entries_than_are_listed_are_no_list, .setup = set_up, .teardown = tear_down)
{
    uint64_t id = request_list("207 List", good_list);
    LIST_FIRST(&files.listings.all)->entries = NT_FETCH_MAX_ENTRIES - 1;
    check_failure(id, NT_FETCH_UNSUPPORTED, "the directory has more entries than the list");
    ck_assert_str_eq(answers[id].names, "a file 17 -1 \"x\",");
}

static const char *const no_folders[][2] = {
    {"ftp://server/folder/", "the scheme of its address is unknown"},
    {"s3:///folder/", "it must be s3://BUCKET or s3://BUCKET/FOLDER"},
    {"s3://two words/folder/", "it must be s3://BUCKET or s3://BUCKET/FOLDER"},
};

TEST(what_is_no_address_of_a_folder_is_reported, .setup = set_up, .teardown = tear_down,
     .end = COUNT_OF(no_folders))
{
    check_failure(ask((struct nt_fetch_request){.kind = NT_FETCH_LIST}, no_folders[_i][0]), NT_FETCH_INVALID,
                  no_folders[_i][1]);
}

/* ---- on the way ---- */

static bool answer_broken_once(struct connection *connection)
{
    bool is_broken = answered++ == 0;
    send_text(connection, "207 List\r\nContent-Length: 1000000", OPENING FOLDER_ITSELF FILE_RESPONSE);
    if (!is_broken)
        server.answer = answer_text;
    return true;
}

TEST(a_list_that_breaks_is_requested_once_more, .setup = set_up, .teardown = tear_down)
{
    uint64_t id = request_list("207 List", good_list);
    server.answer = answer_broken_once;
    while (answered < 2) /* the second one breaks, too */
        work();
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(times_asked("PROPFIND /folder/ "), 3);
    ck_assert_str_eq(answers[id].names,
                     "a file 17 -1 \"x\",a file 17 -1 \"x\",a file 17 -1 \"x\",weak 1 -1 ,");
}

TEST(a_list_that_is_not_requested_any_more_is_left, .setup = set_up, .teardown = tear_down)
{
    uint64_t id = request_list("207 List", good_list);
    server.answer = answer_nothing;
    work();
    ck_assert_uint_eq(files.jobs.count, 1);
    cancel(id);
    ck_assert_uint_eq(files.jobs.count, 0);
    ck_assert(LIST_EMPTY(&files.listings.all));
    work();
    ck_assert_uint_eq(answers[id].kind, 0);
}

TEST(a_list_waits_for_its_receiver, .setup = set_up, .teardown = tear_down)
{
    uint64_t id = request_list("207 List", good_list);
    fill_channel();
    for (int i = 0; i < 50; i++) {
        work_untaken();
        usleep(1000);
    }
    ck_assert_uint_eq(answered, 1);
    ck_assert(TAILQ_FIRST(&files.jobs.all)->is_paused);
    work_until(id, NT_FETCH_DONE);
    ck_assert_str_eq(answers[id].names, good_names);
    ck_assert_uint_eq(answered, 1);
}

/* ---- buckets, whose lists come in parts ---- */

#define PART(rest)                                                                                           \
    "<ListBucketResult><Contents><Key>folder/k</Key><Size>1</Size></Contents>" rest "</ListBucketResult>"
#define CUT "<IsTruncated>true</IsTruncated>"

static const struct {
    const char *body, *message; /* NULL: it is read to its end */
    unsigned parts;
} buckets[] = {
    {PART(""), NULL, 1},
    {PART(CUT "<NextContinuationToken>a+b</NextContinuationToken>"),
     "the server does not say how to continue its list", 2}, /* it reports the same again */
    {PART(CUT), "the server does not say how to continue its list", 1},
    {"<ListBucketResult></ListBucketResult>", "the server has no such directory", 1},
};

TEST(lists_of_buckets_are_read_while_they_continue, .setup = set_up, .teardown = tear_down,
     .end = COUNT_OF(buckets))
{
    setenv("AWS_ENDPOINT_URL", server.address, 1);
    headers = "200 OK";
    body = buckets[_i].body;
    answered = 0;
    server.answer = answer_text;
    uint64_t id = ask((struct nt_fetch_request){.kind = NT_FETCH_LIST}, "s3://bucket/folder");
    work_until(id, buckets[_i].message ? NT_FETCH_FAILED : NT_FETCH_DONE);
    if (buckets[_i].message)
        ck_assert_str_eq(answers[id].text, buckets[_i].message);
    ck_assert_uint_eq(answered, buckets[_i].parts);
    ck_assert_uint_eq(times_asked("GET /bucket/?delimiter=%2F&list-type=2&prefix=folder%2F "), 1);
    ck_assert_uint_eq(times_asked("GET /bucket/?continuation-token=a%2Bb&delimiter=%2F&list-type=2&"
                                  "prefix=folder%2F "),
                      buckets[_i].parts - 1);
}

static unsigned full_part; /* the number of another request */

static bool answer_empty_part(struct connection *connection)
{
    char part[256];
    snprintf(part, sizeof(part),
             "<ListBucketResult>%s" CUT
             "<NextContinuationToken>%u</NextContinuationToken></ListBucketResult>",
             answered == full_part ? "<Contents><Key>folder/k</Key><Size>1</Size></Contents>" : "", answered);
    answered++;
    send_text(connection, "200 OK", part);
    return true;
}

TEST(a_list_that_continues_and_names_nothing_has_an_end, .setup = set_up, .teardown = tear_down)
{
    setenv("AWS_ENDPOINT_URL", server.address, 1);
    answered = 0;
    full_part = 50;
    server.answer = answer_empty_part;
    check_failure(ask((struct nt_fetch_request){.kind = NT_FETCH_LIST}, "s3://bucket/folder"),
                  NT_FETCH_UNREACHABLE,
                  "the server continues its list again and again without naming anything");
    ck_assert_uint_eq(answered, full_part + 1 + 100);
}
