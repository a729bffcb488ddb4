/* SPDX-License-Identifier: MIT
 *
 * The allow-list of the network helper.
 */
#include "remote/helper/helper.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "remote/protocol.h"
#include "support.h"

static struct nt_allow_list rules;
static int channel;

static void send_rule(uint32_t kind, uint64_t flags, const char *text)
{
    struct nt_fetch_request request = {.kind = kind, .bytes = flags};
    char packet[sizeof(request) + 256];
    memcpy(packet, &request, sizeof(request));
    memcpy(packet + sizeof(request), text, strlen(text));
    ck_assert_int_eq(send(channel, packet, sizeof(request) + strlen(text), 0),
                     sizeof(request) + strlen(text));
}

static bool take(uint64_t flags)
{
    static const char *const paths[] = {"https://h/a/set.lance", "s3://bucket/dir", "root://h", "http://h:8/",
                                        "https://h/a/../b"};
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    channel = ends[0];
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        send_rule(NT_FETCH_ALLOW, 0, paths[i]);
    if (flags != UINT64_MAX)
        send_rule(NT_FETCH_BEGIN, flags, "");
    else
        close(ends[0]);
    return nt_allow_list_receive(&rules, ends[1]);
}

static void tear_down(void)
{
    for (size_t i = 0; i < rules.count; i++)
        free(rules.addresses[i]);
    free(rules.addresses);
}

static const struct {
    const char *address;
    bool is_allowed;
} cases[] = {
    {"https://h/a/set.lance", true},
    {"https://h/a/set.lance?query", true},
    {"https://h/a/set.lance/", true},
    {"https://h/a/set.lance/data/1.lance", true},
    {"https://h/a/set.lance/a..b/.c/...", true},
    {"https://h/a/set.lance2", false},
    {"https://h/a/", false},
    {"https://h/a", false},
    {"https://h/", false},
    {"https://h", false},
    {"https://", false},
    {"http://h/a/set.lance", false},
    {"https://h:443/a/set.lance", false}, /* sources have the names by which they are requested */
    {"https://other/a/set.lance", false},
    {"https://h@other/a/set.lance", false},
    {"https://h/a/set.lance/../../secret", false},
    {"https://h/a/set.lance/..", false},
    {"https://h/a/set.lance/x/%2e%2E/%2e./%2e%2e/secret", false},
    {"https://h/a/set.lance/x%2f..%2f..%2fsecret", false},
    {"https://h/a/set.lance/x%5c..%5c..%5csecret", false},
    {"https://h/a/set.lance/./x", false},
    {"https://h/a/set.lance?/../x", true}, /* a query leads nowhere */
    {"https://h/a/../b", true},            /* the user's own spelling */
    {"https://h/a/../b/c", true},
    {"https://h/b", false},
    {"s3://bucket/dir/a?b#c", true},
    {"s3://bucket/director", false},
    {"s3://bucket/dir?x", false}, /* another key */
    {"s3://bucket/dir#x", false},
    {"s3://bucket/dir/a?/../../b", false},
    {"s3://bucket", false},
    {"root://h//any/file", true},
    {"root://h//any/file?/../x", true},
    {"root://h//any#/../../secret", false}, /* in names of XRootD */
    {"root://h2//any/file", false},
    {"root://h:1094//any/file", false},
    {"http://h:8/", true},
    {"http://h:80/", false},
    {"", false},
    {"/etc/passwd", false},
};

TEST(what_is_beneath_a_place_may_be_requested_and_nothing_else, .teardown = tear_down,
     .end = sizeof(cases) / sizeof(*cases))
{
    ck_assert(take(NT_FETCH_ALLOWED_ALONE));
    ck_assert_msg(nt_allow_list_has(&rules, cases[_i].address) == cases[_i].is_allowed, "%s",
                  cases[_i].address);
}

TEST(where_nothing_is_fixed_all_may_be_requested, .teardown = tear_down)
{
    ck_assert(take(NT_FETCH_CERTIFICATE_TO_ORIGIN));
    ck_assert(rules.keeps_certificate);
    ck_assert(nt_allow_list_has(&rules, "https://other/"));
}

TEST(rules_that_do_not_end_are_none, .teardown = tear_down)
{
    ck_assert(!take(UINT64_MAX));
}
