/* SPDX-License-Identifier: MIT
 *
 * Response headers of HTTP, line by line, and the validators of a version.
 */
#include "remote/helper/helper.h"

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static struct nt_text trim(struct nt_text text)
{
    while (text.length && is_blank(text.bytes[0]))
        text = (struct nt_text){text.bytes + 1, text.length - 1};
    while (text.length && is_blank(text.bytes[text.length - 1]))
        text.length--;
    return text;
}

static bool skip(struct nt_text *text, const char *prefix)
{
    size_t length = strlen(prefix);
    if (text->length < length || strncasecmp(text->bytes, prefix, length) != 0)
        return false;
    *text = (struct nt_text){text->bytes + length, text->length - length};
    return true;
}

static bool is(struct nt_text text, const char *word)
{
    return skip(&text, word) && text.length == 0;
}

/* Parses digits; false if there are none, or too many. */
static bool take_number(struct nt_text *text, uint64_t *number_ret)
{
    uint64_t number = 0;
    size_t count = 0;
    for (; count < text->length && text->bytes[count] >= '0' && text->bytes[count] <= '9'; count++) {
        unsigned digit = (unsigned)(text->bytes[count] - '0');
        if (number > ((uint64_t)INT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *text = (struct nt_text){text->bytes + count, text->length - count};
    *number_ret = number;
    return count > 0;
}

/* "bytes 0-99/1234"; for an unsatisfied range "bytes *" "/1234". */
static void take_range(struct nt_http_response *reply, struct nt_text value)
{
    uint64_t first = 0, last = 0, total;
    reply->has_range = reply->has_total = reply->is_beyond = reply->lacks_total = false;
    if (!skip(&value, "bytes"))
        return;
    value = trim(value);
    bool has_range = !skip(&value, "*");
    if (has_range && (!take_number(&value, &first) || !skip(&value, "-") || !take_number(&value, &last)))
        return;
    reply->lacks_total = has_range && is(value, "/*");
    if (!skip(&value, "/") || !take_number(&value, &total) || value.length)
        return;
    reply->is_beyond = has_range && first < total && last >= total;
    if (has_range && !reply->is_beyond && (first > last || last >= total))
        return;
    reply->has_total = true;
    reply->total = total;
    reply->has_range = has_range && !reply->is_beyond;
    reply->first = reply->has_range ? first : 0;
    reply->last = reply->has_range ? last : 0;
}

/* Printable, without quotes: safe to copy into a request. */
static bool is_plain(struct nt_text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.bytes[i] <= ' ' || text.bytes[i] == '"' || text.bytes[i] == 0x7f)
            return false;
    return true;
}

void nt_validators_take_tag(struct nt_validators *validators, const char *text, size_t bytes)
{
    struct nt_text value = trim((struct nt_text){text, bytes});
    bool is_weak = value.length >= 2 && memcmp(value.bytes, "W/", 2) == 0;
    if (is_weak)
        value = (struct nt_text){value.bytes + 2, value.length - 2};
    if (value.length < 2 || value.length >= NT_HTTP_ETAG_BYTES || value.bytes[0] != '"' ||
        value.bytes[value.length - 1] != '"' ||
        !is_plain((struct nt_text){value.bytes + 1, value.length - 2}))
        return;
    validators->is_weak = is_weak;
    memcpy(validators->tag, value.bytes, value.length);
    validators->tag[value.length] = '\0';
}

void nt_validators_take_time(struct nt_validators *validators, const char *text, size_t bytes)
{
    struct nt_text value = trim((struct nt_text){text, bytes});
    if (value.length >= NT_HTTP_TIME_BYTES)
        return;
    for (size_t i = 0; i < value.length; i++)
        if (value.bytes[i] < ' ' || value.bytes[i] > '~')
            return;
    memcpy(validators->modified, value.bytes, value.length);
    validators->modified[value.length] = '\0';
}

static void set_region(struct nt_http_response *reply, struct nt_text value)
{
    if (value.length >= sizeof(reply->region) || !is_plain(value))
        return;
    memcpy(reply->region, value.bytes, value.length);
    reply->region[value.length] = '\0';
}

/* "multipart/byteranges; boundary=TEXT", or with quotes. */
static void take_type(struct nt_http_response *reply, struct nt_text value)
{
    static const char name[] = "boundary=";
    const char *found = memmem(value.bytes, value.length, name, strlen(name));
    if (!skip(&value, "multipart/") || !found)
        return;
    found += strlen(name);
    size_t length = (size_t)(value.bytes + value.length - found);
    bool is_quoted = length && *found == '"';
    found += is_quoted;
    length -= is_quoted;
    const char *end = memchr(found, is_quoted ? '"' : ';', length);
    struct nt_text text = trim((struct nt_text){found, end ? (size_t)(end - found) : length});
    if (text.length && text.length + strlen("--") < sizeof(reply->boundary))
        snprintf(reply->boundary, sizeof(reply->boundary), "--%.*s", (int)text.length, text.bytes);
}

/* "HTTP/1.1 206 Partial Content" */
static void begin_answer(struct nt_http_response *reply, struct nt_text status)
{
    while (status.length && !is_blank(status.bytes[0]))
        status = (struct nt_text){status.bytes + 1, status.length - 1};
    status = trim(status);
    *reply = (struct nt_http_response){.is_interim = status.length > 0 && status.bytes[0] == '1'};
}

bool nt_http_response_parse_line(struct nt_http_response *reply, const char *line, size_t bytes)
{
    struct nt_text text = {line, bytes};
    if (bytes > NT_HTTP_MAX_HEADER_BYTES - reply->bytes)
        return false;
    size_t sum = reply->bytes + bytes;
    if (reply->is_whole)
        ;
    else if (skip(&text, "HTTP/"))
        begin_answer(reply, text);
    else if (trim(text).length == 0)
        reply->is_whole = !reply->is_interim;
    else if (skip(&text, "content-range:"))
        take_range(reply, trim(text));
    else if (skip(&text, "content-type:"))
        take_type(reply, trim(text));
    else if (skip(&text, "content-encoding:"))
        reply->is_encoded = !is(trim(text), "identity");
    else if (skip(&text, "etag:"))
        nt_validators_take_tag(&reply->validators, text.bytes, text.length);
    else if (skip(&text, "last-modified:"))
        nt_validators_take_time(&reply->validators, text.bytes, text.length);
    else if (skip(&text, "x-amz-bucket-region:"))
        set_region(reply, trim(text));
    reply->bytes = sum;
    return true;
}

void nt_validators_write(const struct nt_validators *validators, char validator[NT_FETCH_VALIDATOR_BYTES])
{
    int length = snprintf(validator, NT_FETCH_VALIDATOR_BYTES, "%s%s%s", validators->tag,
                          validators->tag[0] && validators->modified[0] ? " " : "", validators->modified);
    if (length >= NT_FETCH_VALIDATOR_BYTES)
        validator[0] = '\0';
}

void nt_validators_read(struct nt_validators *validators, const char *validator, size_t bytes)
{
    const char *end = bytes && *validator == '"' ? memchr(validator + 1, '"', bytes - 1) : NULL;
    size_t tag = end ? (size_t)(end - validator) + 1 : 0;
    *validators = (struct nt_validators){.tag = ""};
    nt_validators_take_tag(validators, validator, tag);
    nt_validators_take_time(validators, validator + tag, bytes - tag);
}

static bool may_be_same(const char *one, const char *other)
{
    return !*one || !*other || strcmp(one, other) == 0;
}

bool nt_validators_agree(const struct nt_validators *one, const struct nt_validators *other)
{
    return may_be_same(one->tag, other->tag) && may_be_same(one->modified, other->modified);
}
