/* SPDX-License-Identifier: MIT
 *
 * Directories on fake web servers and in fake buckets: how each listing is handled, and the next request.
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

/* ---- servers without WebDAV ---- */

static bool answer_index(struct connection *connection)
{
    bool is_page = strncmp(connection->what, "GET ", 4) == 0;
    send_text(connection, is_page ? headers : "405 Not Allowed\r\nContent-Length: 0", is_page ? body : "");
    return true;
}

static uint64_t request_index(const char *text)
{
    uint64_t id = request_list("200 OK", text);
    server.answer = answer_index;
    return id;
}

#define TEN(text) text text text text text text text text text text
#define ENTRY(name, type, rest) "{ \"name\":\"" name "\", \"type\":\"" type "\"" rest " }"
#define TIME ", \"mtime\":\"Wed, 21 Oct 2015 07:28:00 GMT\""

static const struct {
    const char *body, *names;
} indexes[] = {
    /* nginx, autoindex_format json */
    {"[\n" ENTRY("of today", "directory", TIME) ",\n" ENTRY("a \\\"}file", "file",
                                                            TIME ", \"size\":17") "\n]\n",
     "of today/ 0 1445412480 ,a \"}file 17 1445412480 Wed, 21 Oct 2015 07:28:00 GMT,"},
    {"[" ENTRY("\xff\xc3\xa9.root", "file", ", \"size\":1") "," ENTRY("\xc3\xa9.root", "file",
                                                                      ", \"size\":2") "]",
     "\xff\xc3\xa9.root 1 -1 ,\xc3\xa9.root 2 -1 ,"},
    {"[" ENTRY(TEN(TEN(TEN("\xe9"))), "file", ", \"size\":1") "]", TEN(TEN(TEN("\xe9"))) " 1 -1 ,"},
    {"[]", ""},
    {"\xef\xbb\xbf [{\"name\":\"d/\",\"size\":4096,\"url\":\"./d/\","
     "\"mod_time\":\"2026-01-02T03:04:05.6Z\","
     "\"mode\":1,\"is_dir\":true},{\"name\":\"f\",\"size\":5,\"url\":\"./"
     "f\",\"is_dir\":false,\"more\":{}}]", /* caddy; */
     NULL},                                /* but no objects within its entries */
    {"[{\"name\":\"d/\",\"size\":4096,\"is_dir\":true},{\"name\":\"f\",\"size\":5,\"is_dir\":false}]",
     "d/ 0 -1 ,f 5 -1 ,"},
    /* names that lead out, sizes that are none, and types that are neither */
    {"[" ENTRY("../x", "file", ", \"size\":1") "," ENTRY("..", "directory", "") "," ENTRY(
         "y", "file", "") "," ENTRY("z", "file", ", \"size\":-1") "," ENTRY("good", "file",
                                                                            ", \"size\":1") "]",
     "good 1 -1 ,"},
    /* the pages of nginx, Apache and Python */
    {"<html><head><title>Index of /folder/</title></head><body><h1>Index of /folder/</h1><hr><pre>"
     "<a href=\"../\">../</a>\n<a href=\"of%20today/\">of today/</a>  -\n<a href=\"a%20b&amp;c.root\">a "
     "b..&gt;</a> 17",
     "of today/ 0 -1 ,a b&c.root 0 -1 ,"},
    {"<table><tr><th><A class=x HREF='?C=N;O=D'>Name</a></th></tr><a href=\"/\">Parent</a>"
     "<a href='/folder/it&#39;s.root'>x</a><a href=./plain.root>x</a><a href=\"/other/no.root\">x</a>"
     "<a href=\"http://other.example/no.root\">x</a><a href=\"mailto:x\">x</a><a href=\"a/b.root\">x</a>"
     "<a href=\"..%2f..%2fetc\">x</a><a href=\"a%00b\">x</a><abbr href=\"no\">x</abbr><a name=x>",
     "it's.root 0 -1 ,plain.root 0 -1 ,"},
};

TEST(an_index_page_is_a_list, .setup = set_up, .teardown = tear_down, .end = COUNT_OF(indexes))
{
    uint64_t id = request_index(indexes[_i].body);
    if (!indexes[_i].names) {
        check_failure(id, NT_FETCH_UNSUPPORTED, "it answers 405 to WebDAV's PROPFIND");
        return;
    }
    work_until(id, NT_FETCH_DONE);
    ck_assert_str_eq(answers[id].names, indexes[_i].names);
    ck_assert_uint_eq(times_asked("PROPFIND /folder/ "), 1);
    ck_assert_uint_eq(times_asked("GET /folder/ "), 1);
}

static bool answer_dav(struct connection *connection)
{
    bool is_page = strncmp(connection->what, "GET ", 4) == 0;
    send_text(connection, is_page ? "200 OK" : headers, is_page ? "Welcome" : body);
    return true;
}

/* Each directory would else take two requests. */
TEST(a_server_that_refused_propfind_is_asked_for_pages_first, .setup = set_up, .teardown = tear_down)
{
    char inner[96];
    work_until(request_index("[]"), NT_FETCH_DONE);
    snprintf(inner, sizeof(inner), "%sinner/", server.folder);
    for (unsigned time = 0; time < 2; time++) {
        uint64_t id = ask((struct nt_fetch_request){.kind = NT_FETCH_LIST}, inner);
        work_until(id, NT_FETCH_DONE);
    }
    ck_assert_uint_eq(times_asked("GET /folder/inner/ "), 2);
    ck_assert_uint_eq(times_asked("PROPFIND /folder/inner/ "), 0);
    /* but a directory may allow it, and send something else as its page */
    uint64_t id = request_list("207 List", good_list);
    server.answer = answer_dav;
    work_until(id, NT_FETCH_DONE);
    ck_assert_str_eq(answers[id].names, good_names);
    ck_assert_uint_eq(times_asked("GET /folder/ "), 2);
    ck_assert_uint_eq(times_asked("PROPFIND /folder/ "), 2);
}

static const char *const no_indexes[] = {
    "",
    "plain text",
    "{\"name\":\"x\"}",
    "[{\"name\":\"x\", \"type\":\"file\", \"size\":1",
    "[{x}]",
    /* cut between two entries */
    "[" ENTRY("x", "file", ", \"size\":1") ",",
    "[" ENTRY("x", "file", ", \"size\":1") "\n",
    "<html><body>Welcome</body></html>",
};

TEST(what_is_no_index_page_says_that_folders_are_not_listed, .setup = set_up, .teardown = tear_down,
     .end = COUNT_OF(no_indexes))
{
    check_failure(request_index(no_indexes[_i]), NT_FETCH_UNSUPPORTED,
                  "the server does not list directories (it answers 405 to WebDAV's PROPFIND)");
}

TEST(an_entry_of_an_index_page_has_a_longest_length, .setup = set_up, .teardown = tear_down)
{
    enum { LENGTH = 10000 };
    char *text = malloc(LENGTH + 1);
    ck_assert_ptr_nonnull(text);
    memset(text, 'x', LENGTH);
    memcpy(text, "[{\"name\":\"", 10);
    text[LENGTH] = '\0';
    check_failure(request_index(text), NT_FETCH_UNSUPPORTED, "it answers 405 to WebDAV's PROPFIND");
    free(text);
}

/* ---- lists that are none ---- */

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
    ck_assert_uint_eq(times_asked("PROPFIND /folder/ "), 1);
}

TEST(more_entries_than_are_listed_are_no_list, .setup = set_up, .teardown = tear_down)
{
    uint64_t id = request_list("207 List", good_list);
    LIST_FIRST(&files.all)->entries = NT_FETCH_MAX_ENTRIES - 1;
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
    ck_assert(LIST_EMPTY(&files.all));
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
    ck_assert_uint_eq(times_asked("PROPFIND /folder/ "), 1);
    ck_assert(TAILQ_FIRST(&files.jobs.all)->is_paused);
    work_until(id, NT_FETCH_DONE);
    ck_assert_str_eq(answers[id].names, good_names);
    ck_assert_uint_eq(times_asked("PROPFIND /folder/ "), 1);
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
                  NT_FETCH_UNREACHABLE, "the server sends part after part of its list without any entry");
    ck_assert_uint_eq(answered, full_part + 1 + 100);
}
