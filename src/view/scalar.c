/* SPDX-License-Identifier: MIT
 *
 * Elements whose kind only their dtype's text tells (BLZ): byte strings, UCS-4 strings, big-endian numbers
 * and datetimes are read from that text; anything else is bytes.
 */
#include "view/scalar.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

static double real16(uint16_t bits)
{
    float value;
    struct nt_error error;
    uint8_t bytes[2] = {(uint8_t)bits, (uint8_t)(bits >> 8)};
    nt_element_convert(NT_ELEMENT_REAL16, bytes, NT_ELEMENT_REAL32, &value, 1, &error);
    return value;
}

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
    nt_json_bytes(json, text.length ? text.bytes : "", text.length);
    json->out->failed |= text.failed;
    nt_buffer_deinit(&text);
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
    for (size_t i = 0; i < length; i++) {
        uint32_t c = is_big_endian ? nt_load_be32(bytes + 4 * i) : nt_load_le32(bytes + 4 * i);
        if (c < 0x80) {
            nt_buffer_byte(out, (char)c);
        } else if (c < 0x800) {
            nt_buffer_byte(out, (char)(0xC0 | c >> 6));
            nt_buffer_byte(out, (char)(0x80 | (c & 63)));
        } else if (c < 0x10000) {
            nt_buffer_byte(out, (char)(0xE0 | c >> 12));
            nt_buffer_byte(out, (char)(0x80 | (c >> 6 & 63)));
            nt_buffer_byte(out, (char)(0x80 | (c & 63)));
        } else {
            nt_buffer_byte(out, (char)(0xF0 | (c >> 18 & 7)));
            nt_buffer_byte(out, (char)(0x80 | (c >> 12 & 63)));
            nt_buffer_byte(out, (char)(0x80 | (c >> 6 & 63)));
            nt_buffer_byte(out, (char)(0x80 | (c & 63)));
        }
    }
}

static void write_number(struct nt_json *json, char kind, const uint8_t *bytes, size_t count,
                         bool is_big_endian)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits = bits << 8 | (is_big_endian ? bytes[i] : bytes[count - 1 - i]);
    if (kind == 'u')
        nt_json_unsigned(json, bits);
    else if (kind == 'f' && count == 2)
        nt_json_float(json, (float)real16((uint16_t)bits));
    else if (kind == 'f' && count == 4)
        nt_json_float(json, real32((uint32_t)bits));
    else if (kind == 'f')
        nt_json_double(json, real64(bits));
    else
        nt_json_signed(json, (int64_t)(bits << (64 - 8 * count)) >> (64 - 8 * count));
}

/* The letter of a plain type's code, "'<U5'" -> 'U'; 0 where there is none. */
static char kind_of(const struct nt_dtype *dtype, bool *is_big_endian_ret)
{
    const char *text = dtype->text ? dtype->text : "";
    bool is_plain = text[0] == '\'' && text[1] && strchr("<>|", text[1]);
    *is_big_endian_ret = is_plain && text[1] == '>';
    return is_plain ? text[2] : '\0';
}

bool nt_element_text(const struct nt_dtype *dtype, const uint8_t *bytes, struct nt_buffer *out)
{
    bool is_big_endian = false;
    char kind = dtype->element == NT_ELEMENT_OPAQUE ? kind_of(dtype, &is_big_endian) : '\0';
    if (kind == 'S')
        append_byte_string(out, bytes, dtype->bytes);
    if (kind == 'U')
        append_ucs4_string(out, bytes, dtype->bytes, is_big_endian);
    return kind == 'S' || kind == 'U';
}

static void write_opaque(struct nt_json *json, const struct nt_dtype *dtype, const uint8_t *bytes)
{
    struct nt_buffer text = {0};
    bool is_big_endian = false;
    char kind = kind_of(dtype, &is_big_endian);
    if (nt_element_text(dtype, bytes, &text))
        nt_json_bytes(json, text.length ? text.bytes : "", text.length);
    else if (kind && strchr("iufMm", kind) && dtype->bytes <= 8 && dtype->bytes)
        write_number(json, kind, bytes, dtype->bytes, is_big_endian);
    else
        nt_json_base64(json, bytes, dtype->bytes);
    json->out->failed |= text.failed;
    nt_buffer_deinit(&text);
}

void nt_json_element(struct nt_json *json, const struct nt_dtype *dtype, const uint8_t *bytes)
{
    switch (dtype->element) {
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
        nt_json_float(json, (float)real16(nt_load_le16(bytes)));
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
        write_opaque(json, dtype, bytes);
        break;
    }
}
