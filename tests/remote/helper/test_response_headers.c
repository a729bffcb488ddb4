/* SPDX-License-Identifier: MIT
 *
 * Which response headers are parsed, and that all others are ignored.
 */
#include "remote/helper/helper.h"

#include <stdio.h>
#include <string.h>

#include "support.h"

static struct nt_http_response reply_of(const char *line)
{
    struct nt_http_response reply = {0};
    ck_assert(nt_http_response_parse_line(&reply, line, strlen(line)));
    return reply;
}

static const struct {
    const char *line;
    bool has_range, has_total;
    uint64_t first, last, total;
} ranges[] = {
    {"Content-Range: bytes 0-99/1234\r\n", true, true, 0, 99, 1234},
    {"content-range:bytes 5-5/6", true, true, 5, 5, 6},
    {"CONTENT-RANGE:  Bytes 0-0/9223372036854775807 ", true, true, 0, 0, INT64_MAX},
    {"Content-Range: bytes */1234\r\n", false, true, 0, 0, 1234},
    {"Content-Range: bytes */0", false, true, 0, 0, 0},
    {"Content-Range: bytes 0-99/*", false, false, 0, 0, 0},
    {"Content-Range: bytes 0-1234/1234", false, true, 0, 0, 1234}, /* the end of the file is known */
    {"Content-Range: bytes 1234-1235/1234", false, false, 0, 0, 0},
    {"Content-Range: bytes 9-8/1234", false, false, 0, 0, 0},
    {"Content-Range: bytes 0-99", false, false, 0, 0, 0},
    {"Content-Range: bytes 0-99/1234x", false, false, 0, 0, 0},
    {"Content-Range: bytes 0-/1234", false, false, 0, 0, 0},
    {"Content-Range: bytes -1-99/1234", false, false, 0, 0, 0},
    {"Content-Range: items 0-99/1234", false, false, 0, 0, 0},
    {"Content-Range: bytes 0-0/9223372036854775808", false, false, 0, 0, 0},
    {"Content-Range: bytes 0-99999999999999999999999/3", false, false, 0, 0, 0},
    {"Content-Range:", false, false, 0, 0, 0},
    {"X-Content-Range: bytes 0-99/1234", false, false, 0, 0, 0},
};

TEST(ranges_are_read_whole_or_not_at_all, .end = sizeof(ranges) / sizeof(*ranges))
{
    struct nt_http_response reply = reply_of(ranges[_i].line);
    ck_assert_int_eq(reply.has_range, ranges[_i].has_range);
    ck_assert_int_eq(reply.has_total, ranges[_i].has_total);
    ck_assert_uint_eq(reply.first, ranges[_i].first);
    ck_assert_uint_eq(reply.last, ranges[_i].last);
    ck_assert_uint_eq(reply.total, ranges[_i].total);
}

static const struct {
    const char *line, *tag;
    bool is_weak;
} tags[] = {
    {"ETag: \"abc\"\r\n", "\"abc\"", false},
    {"etag:W/\"abc\"", "\"abc\"", true},
    {"ETag: \"\"", "\"\"", false},
    {"ETag: abc", "", false},
    {"ETag: \"a\"b\"", "", false},
    {"ETag: \"a b\"", "", false},
    {"ETag: \"a\r\nX: b\"", "", false},
    {"ETag: \"", "", false},
    {"ETag:", "", false},
};

TEST(tags_go_into_requests_only_as_they_may_be, .end = sizeof(tags) / sizeof(*tags))
{
    struct nt_http_response reply = reply_of(tags[_i].line);
    ck_assert_str_eq(reply.validators.tag, tags[_i].tag);
    ck_assert_int_eq(reply.validators.is_weak, tags[_i].is_weak);
}

TEST(what_is_too_long_is_left_out)
{
    char line[1000];
    for (int length = 240; length < 260; length++) {
        snprintf(line, sizeof(line), "ETag: \"%0*d\"", length, 0);
        ck_assert_int_eq(strlen(reply_of(line).validators.tag),
                         length + 2 < NT_HTTP_ETAG_BYTES ? length + 2 : 0);
        snprintf(line, sizeof(line), "Last-Modified: %0*d", length, 0);
        ck_assert_str_eq(reply_of(line).validators.modified, "");
    }
}

TEST(only_identity_leaves_the_bytes_as_they_are)
{
    ck_assert(!reply_of("Content-Encoding: identity").is_encoded);
    ck_assert(!reply_of("Content-Encoding: Identity \r\n").is_encoded);
    ck_assert(reply_of("Content-Encoding: gzip").is_encoded);
    ck_assert(reply_of("Content-Encoding: identity, gzip").is_encoded);
    ck_assert(reply_of("Content-Encoding:").is_encoded);
}

TEST(the_region_of_a_bucket_is_one_word)
{
    ck_assert_str_eq(reply_of("x-amz-bucket-region: eu-west-1\r\n").region, "eu-west-1");
    ck_assert_str_eq(reply_of("X-Amz-Bucket-Region: a \x1b[2J").region, "");
    ck_assert_str_eq(reply_of("x-amz-bucket-region:"
                              "0123456789012345678901234567890123456789012345678901234567890123")
                         .region,
                     "");
}

TEST(another_answer_forgets_the_one_before)
{
    struct nt_http_response reply = reply_of("ETag: \"a\"");
    ck_assert(nt_http_response_parse_line(&reply, "Content-Range: bytes 0-1/2",
                                          strlen("Content-Range: bytes 0-1/2")));
    ck_assert(nt_http_response_parse_line(&reply, "HTTP/1.1 206 OK", strlen("HTTP/1.1 206 OK")));
    ck_assert_str_eq(reply.validators.tag, "");
    ck_assert(!reply.has_range);
}

TEST(after_the_last_header_nothing_is_taken)
{
    static const char *const lines[] = {"HTTP/1.1 103 Early Hints\r\n", "ETag: \"early\"\r\n", "\r\n",
                                        "HTTP/1.1 206 OK\r\n",          "ETag: \"a\"\r\n",     "\r\n",
                                        "ETag: \"late\"\r\n",           "HTTP/1.1 206 OK\r\n"};
    struct nt_http_response reply = {0};
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        ck_assert(nt_http_response_parse_line(&reply, lines[i], strlen(lines[i])));
    ck_assert_str_eq(reply.validators.tag, "\"a\"");
}

TEST(headers_have_an_end)
{
    struct nt_http_response reply = {0};
    char line[1024];
    int count = 0;
    memset(line, 'x', sizeof(line));
    while (count < 1000 && nt_http_response_parse_line(&reply, line, sizeof(line)))
        count += nt_http_response_parse_line(&reply, "HTTP/1.1 302 Found", strlen("HTTP/1.1 302 Found"));
    ck_assert_int_le(count, NT_HTTP_MAX_HEADER_BYTES / (int)sizeof(line));
}

TEST(versions_differ_where_both_say_so)
{
    const struct nt_validators one = {.tag = "\"1\"", .modified = "then"},
                               other = {.tag = "\"2\"", .modified = "then"},
                               later = {.tag = "\"1\"", .modified = "now"}, silent = {.tag = ""};
    ck_assert(nt_validators_agree(&one, &one));
    ck_assert(nt_validators_agree(&one, &silent));
    ck_assert(nt_validators_agree(&silent, &other));
    ck_assert(!nt_validators_agree(&one, &other));
    ck_assert(!nt_validators_agree(&one, &later));
}
