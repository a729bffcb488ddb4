/* SPDX-License-Identifier: MIT
 *
 * In: an element and its type. Out: JSON. Text of a fixed length loses the zeros behind it, numbers of the other byte order
 * are turned, dates and time spans are the count of their units, decimals are text, so that no digit is lost; what is no
 * number and no text is bytes.
 */
#include "core/json/values.h"

#include <string.h>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "core/codec/codec.h"
#include "core/json/decimal.h"

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

/* NumPy pads byte strings with NULs at the end, which are no part of the value. */
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

static void write_number(struct nt_json *json, enum nt_element number, const uint8_t *bytes)
{
    switch (number) {
    case NT_ELEMENT_BOOL:
        nt_json_bool(json, bytes[0] != 0);
        break;
    case NT_ELEMENT_BYTE:
    case NT_ELEMENT_UINT8:
        nt_json_unsigned(json, bytes[0]);
        break;
    case NT_ELEMENT_INT8:
        nt_json_signed(json, (int8_t)bytes[0]);
        break;
    case NT_ELEMENT_INT16:
        nt_json_signed(json, (int16_t)nt_load_le16(bytes));
        break;
    case NT_ELEMENT_UINT16:
        nt_json_unsigned(json, nt_load_le16(bytes));
        break;
    case NT_ELEMENT_INT32:
        nt_json_signed(json, (int32_t)nt_load_le32(bytes));
        break;
    case NT_ELEMENT_UINT32:
        nt_json_unsigned(json, nt_load_le32(bytes));
        break;
    case NT_ELEMENT_INT64:
        nt_json_signed(json, (int64_t)nt_load_le64(bytes));
        break;
    case NT_ELEMENT_UINT64:
        nt_json_unsigned(json, nt_load_le64(bytes));
        break;
    case NT_ELEMENT_REAL16:
        nt_json_half(json, nt_load_le16(bytes));
        break;
    case NT_ELEMENT_REAL32:
        nt_json_float(json, real32(nt_load_le32(bytes)));
        break;
    case NT_ELEMENT_REAL64:
        nt_json_double(json, real64(nt_load_le64(bytes)));
        break;
    case NT_ELEMENT_SWITCH:
    case NT_ELEMENT_OPAQUE:
    case NT_ELEMENT_COUNT:
        break;
    }
}

static void write_turned(struct nt_json *json, enum nt_element number, const uint8_t *bytes)
{
    uint8_t little[8];
    uint32_t count = nt_element_info(number)->bytes;
    for (uint32_t i = 0; i < count; i++)
        little[i] = bytes[count - 1 - i];
    write_number(json, number, little);
}

void nt_json_element(struct nt_json *json, const struct nt_dtype *dtype, const uint8_t *bytes)
{
    struct nt_buffer text = {0};
    if (dtype->number != NT_ELEMENT_OPAQUE)
        (dtype->is_big_endian ? write_turned : write_number)(json, dtype->number, bytes);
    else if (nt_element_text(dtype, bytes, &text))
        nt_json_buffer(json, &text);
    else
        nt_json_base64(json, bytes, dtype->bytes);
}
