/* SPDX-License-Identifier: MIT
 *
 * Servers that are never contacted. The addresses are those of the clouds' manuals.
 */
#include "remote/helper/helper.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

static const struct {
    const char *address;
    bool is_metadata;
} addresses[] = {
    {"169.254.169.254", true},    {"169.254.170.2", true},
    {"169.254.170.23", true},     {"169.255.169.254", false},
    {"100.100.100.200", true},    {"100.100.100.201", false},
    {"168.63.129.16", true},      {"127.0.0.1", false},
    {"10.0.0.1", false},          {"fd00:ec2::254", true},
    {"fd00:ec2::23", true},       {"fd00:ec3::254", false},
    {"fd20:ce::254", true},       {"::ffff:169.254.169.254", true},
    {"fe80::a9fe:a9fe", true},    {"fe80::1", false},
    {"64:ff9b::a9fe:a9fe", true}, {"::1", false},
};

union socket_address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

static union socket_address socket_address_of(const char *text)
{
    union socket_address to = {.four = {.sin_family = AF_INET, .sin_port = htons(9)}};
    if (inet_pton(AF_INET, text, &to.four.sin_addr) == 1)
        return to;
    to.six = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(9)};
    ck_assert_int_eq(inet_pton(AF_INET6, text, &to.six.sin6_addr), 1);
    return to;
}

TEST(addresses_of_instance_metadata_are_known, .end = sizeof(addresses) / sizeof(*addresses))
{
    union socket_address to = socket_address_of(addresses[_i].address);
    ck_assert_msg(nt_is_metadata_address(&to.any) == addresses[_i].is_metadata, "%s", addresses[_i].address);
}

/* Of a datagram socket, which sends nothing. */
static bool is_refused(const char *address)
{
    union socket_address to = socket_address_of(address);
    int descriptor = socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool is_refused =
        descriptor >= 0 && connect(descriptor, &to.any, sizeof(to)) < 0 && errno == NT_ERRNO_NEVER_CONTACTED;
    close(descriptor);
    return is_refused;
}

/* Whoever calls connect: a library finds the program's own first. */
TEST(nobody_connects_to_servers_of_instance_metadata)
{
    ck_assert(is_refused("169.254.169.254"));
    ck_assert(!is_refused("127.0.0.1"));
    nt_allow_metadata(true);
    ck_assert(!is_refused("169.254.169.254"));
    nt_allow_metadata(false);
    ck_assert(is_refused("169.254.169.254"));
}

static const struct {
    const char *url;
    bool is_metadata;
} urls[] = {
    {"http://169.254.169.254/latest", true},
    {"http://169.254.169.254:8080", true},
    {"http://2852039166/", true}, /* the same as a number */
    {"http://0xa9.0xfe.0xa9.0xfe/", true},
    {"http://169.254.169.254./", true},
    {"http://[fd00:ec2::254]/", true},
    {"http://[::ffff:a9fe:a9fe]:80/", true},
    {"http://Metadata.Google.Internal/computeMetadata", true},
    {"http://metadata/", true},
    {"root://169.254.169.254//file", true},
    {"xroots://me@metadata.google.internal:1094//file", true},
    {"root://host//169.254.169.254", false},
    {"http://metadata.example.org/", false},
    {"http://127.0.0.1/169.254.169.254", false},
    {"http://host/", false},
    {"", false},
};

TEST(urls_of_instance_metadata_are_known, .end = sizeof(urls) / sizeof(*urls))
{
    ck_assert_msg(nt_is_metadata_url(urls[_i].url) == urls[_i].is_metadata, "%s", urls[_i].url);
}
