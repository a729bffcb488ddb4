/* SPDX-License-Identifier: MIT
 *
 * Access control for addresses: the allow-list sent by the client, and a block on the metadata services
 * of cloud providers.
 */
#include "remote/helper/helper.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/text.h"

/* ---- Allow-list ---- */

static bool add(struct nt_allow_list *rules, size_t *capacity, const char *text, size_t bytes)
{
    if (!NT_GROW(rules->addresses, rules->count, *capacity) ||
        !(rules->addresses[rules->count] = strndup(text, bytes)))
        return false;
    rules->count++;
    return true;
}

bool nt_allow_list_receive(struct nt_allow_list *rules, int channel)
{
    struct nt_fetch_request request;
    char packet[sizeof(request) + NT_FETCH_TEXT_BYTES];
    size_t capacity = 0;
    ssize_t count;
    *rules = (struct nt_allow_list){.is_fixed = false};
    for (;;) {
        count = recv(channel, packet, sizeof(packet), 0);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < (ssize_t)sizeof(request))
            return false;
        memcpy(&request, packet, sizeof(request));
        if (request.kind == NT_FETCH_BEGIN)
            break;
        if (request.kind != NT_FETCH_ALLOW ||
            !add(rules, &capacity, packet + sizeof(request), (size_t)count - sizeof(request)))
            return false;
    }
    rules->is_fixed = request.bytes & NT_FETCH_ALLOWED_ALONE;
    rules->keeps_certificate = request.bytes & NT_FETCH_CERTIFICATE_TO_ORIGIN;
    if (rules->count)
        qsort(rules->addresses, rules->count, sizeof(*rules->addresses), nt_compare_strings);
    return true;
}

static int compare_text(const void *text, const void *allowed)
{
    return nt_texts_compare(*(const struct nt_text *)text, nt_text_of(*(char *const *)allowed));
}

static bool is_allowed(const struct nt_allow_list *rules, const char *address, size_t length)
{
    const struct nt_text text = {address, length};
    return rules->count &&
           bsearch(&text, rules->addresses, rules->count, sizeof(*rules->addresses), compare_text);
}

/* Does the path, before one of the `ends`, leave the allowed address with ".."? Checks the percent-decoded
 * text, as servers do. */
static bool leads_out(const char *text, const char *ends)
{
    size_t name = 0, dots = 0, end = strcspn(text, ends);
    for (size_t at = 0, step; at <= end; at += step) {
        uint8_t byte = '/';
        step = at < end ? nt_percent_decode(text + at, end - at, &byte) : 1;
        if (byte != '/' && byte != '\\') {
            name++;
            dots += byte == '.';
        } else if (name && name == dots && name <= 2) {
            return true;
        } else {
            name = dots = 0;
        }
    }
    return false;
}

bool nt_allow_list_has(const struct nt_allow_list *rules, const char *address)
{
    size_t end = strlen(address), name;
    const char *ends = nt_scheme_of(address, &name)->hidden; /* of a path: other schemes have them in names */
    if (!rules->is_fixed)
        return true;
    const char *server = strstr(address, "://");
    for (size_t length = server ? (size_t)(server - address) + strlen("://") : end; server && length <= end;
         length++)
        if ((length == end || address[length] == '/' || strchr(ends, address[length])) &&
            is_allowed(rules, address, length))
            return !leads_out(address + length, ends);
    return false;
}

/* ---- Metadata servers ---- */

/* Address prefixes, with their length in bits. */
static const struct range {
    const char *address;
    unsigned bits;
} ranges[] = {
    {"::ffff:169.254.0.0",
     96 + 16}, /* link-local: AWS with ECS and EKS, Azure, GCP, Oracle, OpenStack, ... */
    {"64:ff9b::169.254.0.0", 96 + 16}, /* the same through NAT64 */
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

/* Checks an IPv6 address; IPv4 uses its mapped form (RFC 4291, 2.5.5.2). */
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

/* XRootD's client follows redirects by itself, and a dynamic library calls the program's `connect` rather
 * than the C library's. So this one sees each address to which that client connects. */
static _Thread_local bool may_contact_metadata;

void nt_allow_metadata(bool is_allowed)
{
    may_contact_metadata = is_allowed;
}

__attribute__((visibility("default"))) int nt_connect(int descriptor, const struct sockaddr *address,
                                                      socklen_t bytes) __asm__("connect");

int nt_connect(int descriptor, const struct sockaddr *address, socklen_t bytes)
{
    if (!may_contact_metadata && nt_is_metadata_address(address)) {
        errno = NT_ERRNO_NEVER_CONTACTED;
        return -1;
    }
    return (int)syscall(SYS_connect, descriptor, address, bytes);
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
    bool is_read = parsed &&
                   curl_url_set(parsed, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK &&
                   curl_url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK;
    bool is_metadata = is_read && is_metadata_host(host);
    curl_free(host);
    curl_url_cleanup(parsed);
    return is_metadata;
}
