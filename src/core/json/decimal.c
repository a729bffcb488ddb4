/* SPDX-License-Identifier: MIT
 *
 * In: integers in two's complement, the lowest byte first, and how many of their digits stand behind the point. Out:
 * all of their digits (Arrow columnar format, "Decimal"; C data interface, "Data type description").
 */
#include "core/json/decimal.h"

#include <stdio.h>
#include <string.h>

#include "core/base/bytes.h"

enum {
    MOST_PARTS = 8, /* of 32 bits */
    PART_DIGITS = 9,
    PART = 1000 * 1000 * 1000,
    MOST_DIGITS = (MOST_PARTS + 1) * PART_DIGITS, /* 2^256 has 78 */
    MOST_SCALE = 76,
};

bool nt_decimal_of(const struct nt_dtype *dtype, struct nt_decimal *decimal_ret)
{
    *decimal_ret = (struct nt_decimal){.bits = 128};
    if (!dtype->arrow || dtype->arrow[0] != 'd' || dtype->number != NT_ELEMENT_OPAQUE ||
        sscanf(dtype->arrow, "d:%u,%d,%u", &decimal_ret->precision, &decimal_ret->scale, &decimal_ret->bits) <
            2)
        return false;
    return (decimal_ret->bits == 128 || decimal_ret->bits == 256) && decimal_ret->bits == 8 * dtype->bytes &&
           decimal_ret->scale >= -MOST_SCALE && decimal_ret->scale <= MOST_SCALE;
}

/* The number without its sign, lowest part first. True where it is negative. */
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

/* The digits without zeros in front, filled in from the end of the room; the first. */
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
        nt_buffer_byte(out, '0');
}

void nt_decimal_append(struct nt_buffer *out, const struct nt_decimal *decimal, const uint8_t *bytes)
{
    uint32_t parts[MOST_PARTS];
    char room[MOST_DIGITS + 1] = {0};
    if (load(decimal, bytes, parts))
        nt_buffer_byte(out, '-');
    const char *digits = put_digits(parts, decimal->bits / 32, room + MOST_DIGITS);
    size_t count = strlen(digits), behind = decimal->scale > 0 ? (size_t)decimal->scale : 0;
    if (count > behind)
        nt_buffer_append(out, digits, count - behind);
    else
        nt_buffer_byte(out, '0');
    if (decimal->scale < 0 && count)
        append_zeros(out, (size_t)-decimal->scale);
    if (!behind)
        return;
    nt_buffer_byte(out, '.');
    append_zeros(out, count < behind ? behind - count : 0);
    nt_buffer_append(out, count > behind ? digits + count - behind : digits, count > behind ? behind : count);
}
