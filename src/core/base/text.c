/* SPDX-License-Identifier: MIT
 *
 * String views, UTF-8 decoding and validation, percent-decoding, path components, and escaping for
 * terminals and logs.
 */
#include "core/base/text.h"

int nt_texts_compare(struct nt_text a, struct nt_text b)
{
    size_t common = a.length < b.length ? a.length : b.length;
    int order = common ? memcmp(a.bytes, b.bytes, common) : 0;
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

bool nt_text_skip(struct nt_text *text, const char *prefix)
{
    size_t length = strlen(prefix);
    if (text->length < length || memcmp(text->bytes, prefix, length) != 0)
        return false;
    text->bytes += length;
    text->length -= length;
    return true;
}

bool nt_text_copy(struct nt_arena *arena, struct nt_text from, struct nt_text *to)
{
    *to = (struct nt_text){from.length ? nt_arena_copy(arena, from.bytes, from.length) : "", from.length};
    return to->bytes;
}

void nt_string_copy(char *array, size_t array_bytes, const char *string)
{
    size_t length = strnlen(string, array_bytes - 1);
    memcpy(array, string, length);
    array[length] = '\0';
}

char *nt_buffer_to_arena(struct nt_buffer *buffer, struct nt_arena *arena)
{
    char *copy = buffer->failed ? NULL : nt_arena_copy(arena, nt_buffer_string(buffer), buffer->length);
    nt_buffer_deinit(buffer);
    return copy;
}

size_t nt_utf8_decode(const uint8_t *bytes, size_t left, uint32_t *code_point_ret)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (left == 0)
        return 0;
    uint32_t value = bytes[0];
    size_t length = value < 0x80 ? 1 : value >> 5 == 6 ? 2 : value >> 4 == 14 ? 3 : value >> 3 == 30 ? 4 : 0;
    if (length == 0 || length > left)
        return 0;
    if (length > 1)
        value &= 0x7Fu >> length;
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (bytes[i] & 0x3F);
    }
    if (value < smallest[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 0;
    *code_point_ret = value;
    return length;
}

void nt_append_code_point(struct nt_buffer *out, uint32_t code_point)
{
    static const uint8_t leads[] = {0x00, 0xC0, 0xE0, 0xF0}, masks[] = {0x7F, 0x1F, 0x0F, 0x07};
    unsigned left = code_point < 0x80 ? 0 : code_point < 0x800 ? 1 : code_point < 0x10000 ? 2 : 3;
    nt_buffer_append_byte(out, (char)(leads[left] | (code_point >> 6 * left & masks[left])));
    while (left--)
        nt_buffer_append_byte(out, (char)(0x80 | (code_point >> 6 * left & 0x3F)));
}

bool nt_is_utf8(const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    uint32_t code_point;
    while (length) {
        size_t step = *at < 0x80 ? 1 : nt_utf8_decode(at, length, &code_point);
        if (step == 0)
            return false;
        at += step;
        length -= step;
    }
    return true;
}

int nt_text_width(struct nt_text text)
{
    int width = 0;
    for (size_t i = 0; i < text.length; i++)
        width += (text.bytes[i] & 0xc0) != 0x80;
    return width;
}

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit |= 0x20;
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

bool nt_is_percent_encoded(const char *bytes, size_t left)
{
    return left > 2 && bytes[0] == '%' && hex_value(bytes[1]) >= 0 && hex_value(bytes[2]) >= 0;
}

size_t nt_percent_decode(const char *bytes, size_t left, uint8_t *byte_ret)
{
    bool is_encoded = nt_is_percent_encoded(bytes, left);
    *byte_ret = is_encoded ? (uint8_t)(hex_value(bytes[1]) << 4 | hex_value(bytes[2])) : (uint8_t)bytes[0];
    return is_encoded ? 3 : 1;
}

bool nt_percent_decode_text(char *text)
{
    char *end = text;
    size_t left = strlen(text), step;
    for (const char *at = text; left; at += step, left -= step) {
        uint8_t byte;
        step = nt_percent_decode(at, left, &byte);
        if (!byte)
            return false;
        *end++ = (char)byte;
    }
    *end = '\0';
    return true;
}

/* Excludes Unicode's explicit directional controls and marks, and the C1 controls. */
static bool is_printable(uint32_t code_point)
{
    return code_point >= 0x20 && !(code_point >= 0x7F && code_point < 0xA0) && code_point != 0x061C &&
           code_point != 0x200E && code_point != 0x200F && !(code_point >= 0x2028 && code_point <= 0x202E) &&
           !(code_point >= 0x2066 && code_point <= 0x2069);
}

void nt_append_printable(struct nt_buffer *out, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    while (length) {
        uint32_t code_point = 0;
        size_t step = nt_utf8_decode(at, length, &code_point);
        if (step && is_printable(code_point)) {
            nt_buffer_append(out, at, step);
        } else {
            step = step ? step : 1;
            for (size_t i = 0; i < step; i++)
                nt_buffer_append_format(out, "\\x%02x", at[i]);
        }
        at += step;
        length -= step;
    }
}

struct nt_text nt_path_name(const char *path)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    return (struct nt_text){path + start, end - start};
}

bool nt_has_wildcard(const char *text)
{
    return strpbrk(text, "*?[") != NULL;
}

struct nt_text nt_path_stem(const char *path)
{
    struct nt_text name = nt_path_name(path);
    const char *dot = memrchr(name.bytes, '.', name.length);
    if (dot && dot > name.bytes)
        name.length = (size_t)(dot - name.bytes);
    return name;
}

bool nt_path_is_within(const char *path, const char *directory)
{
    size_t length = strlen(directory);
    return strncmp(path, directory, length) == 0 &&
           (path[length] == '/' || path[length] == '\0' || strcmp(directory, "/") == 0);
}
