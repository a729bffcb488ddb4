/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <string.h>

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

bool nt_is_utf8(const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    uint32_t code_point;
    while (length) {
        size_t step = nt_utf8_decode(at, length, &code_point);
        if (step == 0)
            return false;
        at += step;
        length -= step;
    }
    return true;
}

/* Unicode's explicit directional controls and marks, and the C1 controls. */
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
                nt_buffer_format(out, "\\x%02x", at[i]);
        }
        at += step;
        length -= step;
    }
}

const char *nt_path_name(const char *path, size_t *length_ret)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    *length_ret = end - start;
    return path + start;
}

const char *nt_path_stem(const char *path, size_t *length_ret)
{
    size_t length;
    const char *name = nt_path_name(path, &length), *dot = memrchr(name, '.', length);
    *length_ret = dot && dot > name ? (size_t)(dot - name) : length;
    return name;
}
