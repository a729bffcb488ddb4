/* SPDX-License-Identifier: MIT
 *
 * Writes dataset elements as JSON: NumPy strings, decimals of 128 and 256 bits with all digits, and
 * opaque bytes as base64.
 */
#include "core/json/json.h"

#include <stdio.h>

#include "core/base/text.h"

/* ---- Decimals ---- */

enum {
    MAX_PARTS = 8, /* of 32 bits */
    PART_DIGITS = 9,
    PART = 1000 * 1000 * 1000,
    MAX_DIGITS = (MAX_PARTS + 1) * PART_DIGITS, /* 2^256 has 78 */
    MAX_SCALE = 76,
};

bool nt_decimal_of(const struct nt_dtype *dtype, struct nt_decimal *decimal_ret)
{
    *decimal_ret = (struct nt_decimal){.bits = 128};
    if (!dtype->arrow || dtype->arrow[0] != 'd' || dtype->number != NT_ELEMENT_OPAQUE ||
        sscanf(dtype->arrow, "d:%u,%d,%u", &decimal_ret->precision, &decimal_ret->scale, &decimal_ret->bits) <
            2)
        return false;
    return (decimal_ret->bits == 128 || decimal_ret->bits == 256) && decimal_ret->bits == 8 * dtype->bytes &&
           decimal_ret->scale >= -MAX_SCALE && decimal_ret->scale <= MAX_SCALE;
}

/* The absolute value, lowest part first. Returns true if negative. */
static bool load(const struct nt_decimal *decimal, const uint8_t *bytes, uint32_t *parts)
{
    uint32_t count = decimal->bits / 32;
    bool is_negative = bytes[decimal->bits / 8 - 1] >> 7;
    uint64_t carry = 1;
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = nt_load_le32(bytes + 4 * (size_t)i);
        if (!is_negative)
            continue;
        carry += ~parts[i];
        parts[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return is_negative;
}

/* Writes the digits without leading zeros, backwards from `end`; returns the first. */
static char *put_digits(uint32_t *parts, uint32_t count, char *end)
{
    while (count) {
        uint64_t rest = 0;
        for (uint32_t i = count; i-- > 0;) {
            rest = rest << 32 | parts[i];
            parts[i] = (uint32_t)(rest / PART);
            rest %= PART;
        }
        for (unsigned i = 0; i < PART_DIGITS; i++, rest /= 10)
            *--end = (char)('0' + rest % 10);
        while (count && parts[count - 1] == 0)
            count--;
    }
    while (*end == '0')
        end++;
    return end;
}

static void append_zeros(struct nt_buffer *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        nt_buffer_append_byte(out, '0');
}

void nt_decimal_append(struct nt_buffer *out, const struct nt_decimal *decimal, const uint8_t *bytes)
{
    uint32_t parts[MAX_PARTS];
    char room[MAX_DIGITS + 1] = {0};
    if (load(decimal, bytes, parts))
        nt_buffer_append_byte(out, '-');
    const char *digits = put_digits(parts, decimal->bits / 32, room + MAX_DIGITS);
    size_t count = strlen(digits), decimals = decimal->scale > 0 ? (size_t)decimal->scale : 0;
    if (count > decimals)
        nt_buffer_append(out, digits, count - decimals);
    else
        nt_buffer_append_byte(out, '0');
    if (decimal->scale < 0 && count)
        append_zeros(out, (size_t)-decimal->scale);
    if (!decimals)
        return;
    nt_buffer_append_byte(out, '.');
    append_zeros(out, count < decimals ? decimals - count : 0);
    nt_buffer_append(out, count > decimals ? digits + count - decimals : digits,
                     count > decimals ? decimals : count);
}

/* ---- Elements ---- */

static float real32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static double real64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

void nt_json_base64(struct nt_json *json, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct nt_buffer text = {0};
    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        uint32_t group = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0);
        char four[4] = {digits[group >> 18], digits[group >> 12 & 63],
                        left > 1 ? digits[group >> 6 & 63] : '=', left > 2 ? digits[group & 63] : '='};
        nt_buffer_append(&text, four, sizeof(four));
    }
    nt_json_buffer(json, &text);
}

/* NumPy pads byte strings with trailing NULs, which are not part of the value. */
static void append_byte_string(struct nt_buffer *out, const uint8_t *bytes, size_t count)
{
    while (count && bytes[count - 1] == 0)
        count--;
    nt_buffer_append(out, bytes, count);
}

static void append_ucs4_string(struct nt_buffer *out, const uint8_t *bytes, size_t count, bool is_big_endian)
{
    size_t length = count / 4;
    while (length && nt_load_le32(bytes + 4 * (length - 1)) == 0)
        length--;
    for (size_t i = 0; i < length; i++)
        nt_append_code_point(out, (is_big_endian ? nt_load_be32 : nt_load_le32)(bytes + 4 * i));
}

bool nt_element_text(const struct nt_dtype *dtype, const uint8_t *bytes, struct nt_buffer *out)
{
    struct nt_decimal decimal;
    bool is_decimal = nt_decimal_of(dtype, &decimal);
    if (is_decimal)
        nt_decimal_append(out, &decimal, bytes);
    else if (dtype->character_bytes == 1)
        append_byte_string(out, bytes, dtype->bytes);
    else if (dtype->character_bytes)
        append_ucs4_string(out, bytes, dtype->bytes, dtype->is_big_endian);
    return is_decimal || dtype->character_bytes;
}

static void write_number(struct nt_json *json, const struct nt_dtype *dtype, const uint8_t *bytes)
{
    uint32_t count = nt_element_info(dtype->number)->bytes;
    uint64_t value = nt_load_integer(bytes, count, dtype->is_big_endian);
    switch (dtype->number) {
    case NT_ELEMENT_BOOL:
        nt_json_bool(json, value);
        break;
    case NT_ELEMENT_INT8:
    case NT_ELEMENT_INT16:
    case NT_ELEMENT_INT32:
    case NT_ELEMENT_INT64:
        nt_json_signed(json, nt_extend_sign(value, count));
        break;
    case NT_ELEMENT_REAL16:
        nt_json_half(json, (uint16_t)value);
        break;
    case NT_ELEMENT_REAL32:
        nt_json_float(json, real32((uint32_t)value));
        break;
    case NT_ELEMENT_REAL64:
        nt_json_double(json, real64(value));
        break;
    default:
        nt_json_unsigned(json, value);
        break;
    }
}

void nt_json_element(struct nt_json *json, const struct nt_dtype *dtype, const uint8_t *bytes)
{
    struct nt_buffer text = {0};
    if (dtype->number != NT_ELEMENT_OPAQUE)
        write_number(json, dtype, bytes);
    else if (nt_element_text(dtype, bytes, &text))
        nt_json_buffer(json, &text);
    else
        nt_json_base64(json, bytes, dtype->bytes);
}
