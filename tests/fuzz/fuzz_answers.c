/* SPDX-License-Identifier: MIT
 *
 * The response headers of a server, line by line, and the parts of a multipart body. Values from them go into
 * requests and sizes unchanged.
 */
#include <stdlib.h>
#include <string.h>

#include "remote/helper/helper.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* At most one word, so that nothing can be smuggled into a header. */
static void check_word(const char *text, size_t room)
{
    size_t length = strnlen(text, room);
    if (length == room)
        abort();
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            abort();
}

static void check(const struct nt_http_response *reply)
{
    if (reply->has_range && (!reply->has_total || reply->first > reply->last || reply->last >= reply->total))
        abort();
    if (reply->total > INT64_MAX)
        abort();
    check_word(reply->validators.tag, sizeof(reply->validators.tag));
    check_word(reply->validators.modified, sizeof(reply->validators.modified));
    check_word(reply->region, sizeof(reply->region));
    if (!nt_validators_agree(&reply->validators, &reply->validators))
        abort();
}

static void check_parts(const struct nt_http_response *reply, const char *bytes, size_t count)
{
    struct nt_http_response headers;
    struct nt_text left = {bytes, count}, part;
    while (nt_http_part_next(&left, reply->boundary, &headers, &part)) {
        check(&headers);
        if (!headers.has_range || part.bytes < bytes || part.bytes + part.length != left.bytes ||
            left.bytes + left.length != bytes + count)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct nt_http_response reply = {0};
    while (count && !reply.is_whole) {
        const uint8_t *end = memchr(bytes, '\n', count);
        size_t length = end ? (size_t)(end - bytes) + 1 : count;
        if (!nt_http_response_parse_line(&reply, (const char *)bytes, length))
            return 0;
        check(&reply);
        bytes += length;
        count -= length;
    }
    check_parts(&reply, (const char *)bytes, count);
    return 0;
}
