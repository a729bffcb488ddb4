/* SPDX-License-Identifier: MIT
 *
 * In: places, from a socket: addresses without what is behind their path. Out: whether an address lies beneath one, by its text: whoever asks
 * makes it of a place and names.
 */
#include "remote/helper/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/grow.h"
#include "core/base/text.h"
#include "remote/fetch.h"

static int compare(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

static bool add(struct nt_rules *rules, size_t *capacity, const char *text, size_t bytes)
{
    char **places = nt_grow(rules->places, rules->count, capacity, sizeof(*places));
    if (places)
        rules->places = places;
    if (!places || !(places[rules->count] = strndup(text, bytes)))
        return false;
    rules->count++;
    return true;
}

bool nt_rules_take(struct nt_rules *rules, int channel)
{
    struct nt_fetch_request request;
    char packet[sizeof(request) + NT_FETCH_TEXT_BYTES];
    size_t capacity = 0;
    ssize_t count;
    *rules = (struct nt_rules){.is_fixed = false};
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
        qsort(rules->places, rules->count, sizeof(*rules->places), compare);
    return true;
}

static bool is_place(const struct nt_rules *rules, const char *address, size_t length)
{
    size_t first = 0, end = rules->count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        const char *place = rules->places[middle];
        int order = strncmp(place, address, length);
        if (order == 0 && place[length] == '\0')
            return true;
        if (order < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return false;
}

/* A name that leads elsewhere, as servers may read it: percent-decoded. */
static bool leads_out(const char *text)
{
    size_t name = 0, dots = 0, end = strcspn(text, "?#");
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

bool nt_rules_allow(const struct nt_rules *rules, const char *address)
{
    size_t end = strlen(address);
    if (!rules->is_fixed)
        return true;
    const char *server = strstr(address, "://");
    for (size_t length = server ? (size_t)(server - address) + strlen("://") : end; server && length <= end;
         length++)
        if ((length == end || strchr("/?#", address[length])) && is_place(rules, address, length))
            return !leads_out(address + length);
    return false;
}
