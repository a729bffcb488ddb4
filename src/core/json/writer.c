/* SPDX-License-Identifier: MIT
 *
 * Streaming JSON writer (RFC 8259). Values are appended to a buffer in document order; the writer adds
 * commas, indentation and escapes.
 */
#include "core/json/json.h"

#include <math.h>
#include <stdio.h>

#include "core/base/text.h"

static const char hex_digits[] = "0123456789abcdef";

static void new_line(struct nt_json *json)
{
    if (json->is_compact)
        return;
    nt_buffer_append_byte(json->out, '\n');
    for (unsigned i = 0; i < json->depth; i++)
        nt_buffer_append(json->out, "  ", 2);
}

/* Begins a value or a key: nothing after a key, else a comma and a newline as needed. */
static void begin_item(struct nt_json *json)
{
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->depth == 0)
        return;
    if (json->has_items)
        nt_buffer_append_byte(json->out, ',');
    json->has_items = true;
    new_line(json);
}

static void open_level(struct nt_json *json, char bracket)
{
    begin_item(json);
    nt_buffer_append_byte(json->out, bracket);
    if (json->depth + 1 >= NT_JSON_MAX_DEPTH) {
        json->out->failed = true;
        return;
    }
    json->depth++;
    json->has_items = false;
}

static void close_level(struct nt_json *json, char bracket)
{
    if (json->depth == 0) {
        json->out->failed = true;
        return;
    }
    json->depth--;
    if (json->has_items)
        new_line(json);
    json->has_items = true; /* the level that ends is one */
    nt_buffer_append_byte(json->out, bracket);
}

void nt_json_init(struct nt_json *json, struct nt_buffer *out, bool is_compact)
{
    *json = (struct nt_json){.out = out, .is_compact = is_compact};
}

void nt_json_object(struct nt_json *json)
{
    open_level(json, '{');
}

void nt_json_end_object(struct nt_json *json)
{
    close_level(json, '}');
}

void nt_json_array(struct nt_json *json)
{
    open_level(json, '[');
}

void nt_json_end_array(struct nt_json *json)
{
    close_level(json, ']');
}

/* ---- Texts ---- */

static void put_unicode_escape(struct nt_buffer *out, uint32_t unit)
{
    char text[6] = {'\\',
                    'u',
                    hex_digits[unit >> 12 & 15],
                    hex_digits[unit >> 8 & 15],
                    hex_digits[unit >> 4 & 15],
                    hex_digits[unit & 15]};
    nt_buffer_append(out, text, sizeof(text));
}

/* Documents never contain raw control characters, so printing one cannot harm a terminal. */
static bool is_plain(uint32_t code_point)
{
    return code_point >= 0x20 && code_point != '"' && code_point != '\\' &&
           !(code_point >= 0x7F && code_point < 0xA0);
}

static bool is_plain_ascii(uint8_t byte)
{
    return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\';
}

static void put_escaped(struct nt_buffer *out, uint32_t code_point)
{
    static const char short_escapes[] = "\"\"\\\\\nn\rr\tt";
    for (const char *at = short_escapes; *at; at += 2) {
        if ((uint32_t)(uint8_t)at[0] == code_point) {
            char text[2] = {'\\', at[1]};
            nt_buffer_append(out, text, sizeof(text));
            return;
        }
    }
    put_unicode_escape(out, code_point);
}

/* Most strings are plain: one that is takes one step. */
static bool put_plain_string(struct nt_buffer *out, const uint8_t *bytes, size_t length)
{
    size_t plain = 0;
    while (plain < length && is_plain_ascii(bytes[plain]))
        plain++;
    uint8_t *room = plain == length ? nt_buffer_extend(out, length + 2) : NULL;
    if (!room)
        return false;
    room[0] = room[length + 1] = '"';
    memcpy(room + 1, bytes, length);
    return true;
}

static void put_string(struct nt_buffer *out, const void *bytes, size_t length)
{
    const uint8_t *at = length ? bytes : (const void *)"",
                  *end = at + length; /* `bytes` may be NULL if empty */
    if (put_plain_string(out, at, length))
        return;
    nt_buffer_append_byte(out, '"');
    while (at < end) {
        const uint8_t *run = at;
        uint32_t code_point = 0;
        size_t step = 0;
        while (at < end && is_plain_ascii(*at))
            at++;
        while (at < end && (step = nt_utf8_decode(at, (size_t)(end - at), &code_point)) &&
               is_plain(code_point))
            at += step;
        nt_buffer_append(out, run, (size_t)(at - run));
        if (at == end)
            break;
        if (step)
            put_escaped(out, code_point);
        else
            put_unicode_escape(out, 0xDC00u + *at);
        at += step ? step : 1;
    }
    nt_buffer_append_byte(out, '"');
}

void nt_json_key_bytes(struct nt_json *json, const void *bytes, size_t length)
{
    begin_item(json);
    put_string(json->out, bytes, length);
    if (json->is_compact)
        nt_buffer_append_byte(json->out, ':');
    else
        nt_buffer_append(json->out, ": ", 2);
    json->after_key = true;
}

void nt_json_key(struct nt_json *json, const char *key)
{
    nt_json_key_bytes(json, key, strlen(key));
}

void nt_json_bytes(struct nt_json *json, const void *bytes, size_t length)
{
    begin_item(json);
    put_string(json->out, bytes, length);
}

void nt_json_string(struct nt_json *json, const char *text)
{
    nt_json_bytes(json, text, strlen(text));
}

void nt_json_buffer(struct nt_json *json, struct nt_buffer *text)
{
    nt_json_bytes(json, nt_buffer_string(text), text->length);
    nt_buffer_deinit_part(text, json->out);
}

/* ---- Numbers and words ---- */

static void put(struct nt_json *json, const char *text, size_t length)
{
    begin_item(json);
    nt_buffer_append(json->out, text, length);
}

void nt_json_unsigned(struct nt_json *json, uint64_t value)
{
    char text[NT_NUMBER_TEXT];
    put(json, text, nt_format_unsigned(value, text));
}

void nt_json_signed(struct nt_json *json, int64_t value)
{
    char text[NT_NUMBER_TEXT];
    size_t length = 0;
    if (value < 0)
        text[length++] = '-';
    length += nt_format_unsigned(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, text + length);
    put(json, text, length);
}

static bool put_not_finite(struct nt_json *json, double value)
{
    if (isfinite(value))
        return false;
    nt_json_string(json, isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity");
    return true;
}

void nt_json_double(struct nt_json *json, double value)
{
    char text[NT_NUMBER_TEXT];
    if (!put_not_finite(json, value))
        put(json, text, nt_format_double(value, text));
}

void nt_json_float(struct nt_json *json, float value)
{
    char text[NT_NUMBER_TEXT];
    if (!put_not_finite(json, (double)value))
        put(json, text, nt_format_float(value, text));
}

void nt_json_half(struct nt_json *json, uint16_t bits)
{
    char text[NT_NUMBER_TEXT];
    if (!put_not_finite(json, nt_half_value(bits)))
        put(json, text, nt_format_half(bits, text));
}

void nt_json_bool(struct nt_json *json, bool value)
{
    nt_json_raw(json, value ? "true" : "false");
}

void nt_json_null(struct nt_json *json)
{
    nt_json_raw(json, "null");
}

void nt_json_raw(struct nt_json *json, const char *text)
{
    put(json, text, strlen(text));
}

void nt_json_hex(struct nt_json *json, const void *bytes, size_t length)
{
    const uint8_t *byte = bytes;
    begin_item(json);
    nt_buffer_append_byte(json->out, '"');
    for (size_t i = 0; i < length; i++) {
        nt_buffer_append_byte(json->out, hex_digits[byte[i] >> 4]);
        nt_buffer_append_byte(json->out, hex_digits[byte[i] & 15]);
    }
    nt_buffer_append_byte(json->out, '"');
}

/* ---- Members ---- */

void nt_json_member_string(struct nt_json *json, const char *key, const char *text)
{
    nt_json_key(json, key);
    if (text)
        nt_json_string(json, text);
    else
        nt_json_null(json);
}

void nt_json_member_text(struct nt_json *json, const char *key, struct nt_text text)
{
    if (nt_is_utf8(text.bytes, text.length)) {
        nt_json_key(json, key);
        nt_json_bytes(json, text.bytes, text.length);
        return;
    }
    struct nt_buffer name = {0};
    nt_buffer_append_format(&name, "%s_hex", key);
    nt_json_key(json, nt_buffer_string(&name));
    nt_buffer_deinit_part(&name, json->out);
    nt_json_hex(json, text.bytes, text.length);
}

void nt_json_member_buffer(struct nt_json *json, const char *key, struct nt_buffer *text)
{
    nt_json_member_text(json, key, (struct nt_text){nt_buffer_string(text), text->length});
    nt_buffer_deinit_part(text, json->out);
}

void nt_json_member_format(struct nt_json *json, const char *key, const char *format, ...)
{
    struct nt_buffer text = {0};
    va_list arguments;
    va_start(arguments, format);
    nt_buffer_format_list(&text, format, arguments);
    va_end(arguments);
    nt_json_member_buffer(json, key, &text);
}

void nt_json_member_unsigned(struct nt_json *json, const char *key, uint64_t value)
{
    nt_json_key(json, key);
    nt_json_unsigned(json, value);
}

void nt_json_member_signed(struct nt_json *json, const char *key, int64_t value)
{
    nt_json_key(json, key);
    nt_json_signed(json, value);
}

void nt_json_member_double(struct nt_json *json, const char *key, double value)
{
    nt_json_key(json, key);
    nt_json_double(json, value);
}

void nt_json_member_bool(struct nt_json *json, const char *key, bool value)
{
    nt_json_key(json, key);
    nt_json_bool(json, value);
}

void nt_json_member_object(struct nt_json *json, const char *key)
{
    nt_json_key(json, key);
    nt_json_object(json);
}

void nt_json_member_array(struct nt_json *json, const char *key)
{
    nt_json_key(json, key);
    nt_json_array(json);
}

void nt_json_member_null(struct nt_json *json, const char *key)
{
    nt_json_key(json, key);
    nt_json_null(json);
}

void nt_format_time(time_t when, char text[NT_TIME_TEXT])
{
    struct tm utc;
    if (!gmtime_r(&when, &utc) || strftime(text, NT_TIME_TEXT, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        text[0] = '\0';
}

void nt_format_exact_time(const struct timespec *when, char text[NT_TIME_TEXT])
{
    struct tm utc;
    size_t length = 0;
    if (gmtime_r(&when->tv_sec, &utc))
        length = strftime(text, NT_TIME_TEXT, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + length, NT_TIME_TEXT - length, ".%09ldZ", when->tv_nsec);
}

void nt_json_member_time(struct nt_json *json, const char *key, time_t when)
{
    char text[NT_TIME_TEXT];
    nt_format_time(when, text);
    nt_json_member_string(json, key, text[0] ? text : NULL);
}

void nt_json_member_hex64(struct nt_json *json, const char *key, uint64_t value)
{
    uint64_t ordered = htobe64(value);
    nt_json_key(json, key);
    nt_json_hex(json, &ordered, sizeof(ordered));
}

void nt_json_member_hex32(struct nt_json *json, const char *key, uint32_t value)
{
    uint32_t ordered = htobe32(value);
    nt_json_key(json, key);
    nt_json_hex(json, &ordered, sizeof(ordered));
}

void nt_json_document(struct nt_json *json, struct nt_buffer *out, const char *kind)
{
    nt_json_init(json, out, false);
    nt_json_object(json);
    nt_json_member_format(json, "schema", "ntuplefs.%s/1", kind);
}

void nt_json_line(struct nt_json *json, struct nt_buffer *out)
{
    nt_json_init(json, out, true);
    nt_json_object(json);
}

void nt_json_finish(struct nt_json *json)
{
    nt_json_end_object(json);
    nt_buffer_append_byte(json->out, '\n');
}
