/* SPDX-License-Identifier: MIT
 *
 * In: an address of the internet, or a URL. Out: whether it is a service of instance metadata, by the addresses and names that clouds have
 * published for theirs.
 */
#include "remote/helper/metadata_servers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <curl/curl.h>

/* The first bits of an address. */
static const struct range {
    const char *address;
    unsigned bits;
} ranges[] = {
    {"::ffff:169.254.0.0",
     96 + 16}, /* link-local: AWS with ECS and EKS, Azure, GCP, Oracle, OpenStack, ... */
    {"64:ff9b::169.254.0.0", 96 + 16}, /* the same by way of NAT64 */
    {"::ffff:100.100.100.200", 128},   /* Alibaba */
    {"::ffff:168.63.129.16", 128},     /* Azure */
    {"fd00:ec2::", 32},                /* AWS */
    {"fd20:ce::254", 128},             /* GCP */
    {"fe80::a9fe:a9fe", 128},          /* OpenStack */
};

static const char *const names[] = {"metadata", "metadata.google.internal", "metadata.goog", "instance-data",
                                    "instance-data.ec2.internal"};

static bool is_in(const struct range *range, const uint8_t address[16])
{
    uint8_t first[16];
    unsigned bytes = range->bits / 8;
    return inet_pton(AF_INET6, range->address, first) == 1 && memcmp(address, first, bytes) == 0;
}

/* One of IPv4 is there as one of IPv6 (RFC 4291, 2.5.5.2). */
static bool is_metadata(const uint8_t address[16])
{
    for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
        if (is_in(&ranges[i], address))
            return true;
    return false;
}

static const uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff};

bool nt_is_metadata_address(const struct sockaddr *address)
{
    uint8_t bytes[16];
    memcpy(bytes, mapped, sizeof(bytes));
    if (address->sa_family == AF_INET)
        memcpy(bytes + 12, &((const struct sockaddr_in *)address)->sin_addr, 4);
    else if (address->sa_family == AF_INET6)
        memcpy(bytes, &((const struct sockaddr_in6 *)address)->sin6_addr, sizeof(bytes));
    return is_metadata(bytes);
}

static bool is_metadata_host(const char *host)
{
    uint8_t bytes[16];
    char plain[256];
    size_t length = strlen(host) - (host[0] && host[strlen(host) - 1] == '.');
    snprintf(plain, sizeof(plain), "%.*s", (int)length, host);
    plain[strcspn(plain, "]")] = '\0';
    memcpy(bytes, mapped, sizeof(bytes));
    if (inet_pton(AF_INET, plain, bytes + 12) == 1 ||
        (plain[0] == '[' && inet_pton(AF_INET6, plain + 1, bytes) == 1))
        return is_metadata(bytes);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcasecmp(plain, names[i]) == 0)
            return true;
    return false;
}

bool nt_is_metadata_url(const char *url)
{
    CURLU *parsed = curl_url();
    char *host = NULL;
    bool is_read = parsed && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK &&
                   curl_url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK;
    bool is_metadata = is_read && is_metadata_host(host);
    curl_free(host);
    curl_url_cleanup(parsed);
    return is_metadata;
}
