/* SPDX-License-Identifier: MIT
 *
 * Servers that are never contacted. The addresses are those of the clouds' manuals.
 */
#include "remote/helper/helper.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

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

TEST(addresses_of_instance_metadata_are_known, .end = sizeof(addresses) / sizeof(*addresses))
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    const char *text = addresses[_i].address;
    bool is_four = inet_pton(AF_INET, text, &four.sin_addr) == 1;
    ck_assert(is_four || inet_pton(AF_INET6, text, &six.sin6_addr) == 1);
    ck_assert_msg(
        nt_is_metadata_address(is_four ? (const struct sockaddr *)&four : (const struct sockaddr *)&six) ==
            addresses[_i].is_metadata,
        "%s", text);
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
