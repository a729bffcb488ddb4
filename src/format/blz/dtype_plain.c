/* SPDX-License-Identifier: MIT
 *
 * In: the text of a plain NumPy type, a name or an array-protocol code. Out: its size, its element kind where
 * there is one, and its code as it stands in a .npy header (NumPy reference, "Data type objects" and "The
 * array interface").
 */
#include "format/blz/dtype.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"

/* Names that str(dtype) gives, and the codes behind them. */
static const struct {
    const char *name, *code;
} names[] = {
    {"bool", "|b1"},        {"int8", "|i1"},        {"int16", "<i2"},      {"int32", "<i4"},
    {"int64", "<i8"},       {"uint8", "|u1"},       {"uint16", "<u2"},     {"uint32", "<u4"},
    {"uint64", "<u8"},      {"float16", "<f2"},     {"float32", "<f4"},    {"float64", "<f8"},
    {"float96", "<f12"},    {"float128", "<f16"},   {"complex64", "<c8"},  {"complex128", "<c16"},
    {"complex192", "<c24"}, {"complex256", "<c32"}, {"datetime64", "<M8"}, {"timedelta64", "<m8"},
    {"object", "|O"},       {"?", "|b1"},           {"bool_", "|b1"},
};

/* What may stand behind a code's letter, and which element it is in NumPy's memory layout. */
static const struct code {
    char letter;
    uint64_t sizes;      /* bit n: n bytes are possible */
    uint32_t unit_bytes; /* per item of a length that is told: 1 for bytes, 4 for characters; 0: the size is
                            told */
    bool has_order;      /* sizes above 1 have a byte order */
} codes[] = {
    {'b', 1 << 1, 0, false},
    {'i', 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8, 0, true},
    {'u', 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8, 0, true},
    {'f', 1 << 2 | 1 << 4 | 1 << 8 | 1 << 12 | 1 << 16, 0, true},
    {'c', UINT64_C(1) << 8 | 1 << 16 | 1 << 24 | UINT64_C(1) << 32, 0, true},
    {'M', 1 << 8, 0, true},
    {'m', 1 << 8, 0, true},
    {'S', 0, 1, false},
    {'a', 0, 1, false}, /* an old letter of 'S' */
    {'V', 0, 1, false},
    {'U', 0, 4, true},
};

static const struct {
    char letter;
    uint32_t bytes;
    enum nt_element element;
} elements[] = {
    {'b', 1, NT_ELEMENT_BOOL},   {'i', 1, NT_ELEMENT_INT8},   {'u', 1, NT_ELEMENT_UINT8},
    {'i', 2, NT_ELEMENT_INT16},  {'u', 2, NT_ELEMENT_UINT16}, {'i', 4, NT_ELEMENT_INT32},
    {'u', 4, NT_ELEMENT_UINT32}, {'i', 8, NT_ELEMENT_INT64},  {'u', 8, NT_ELEMENT_UINT64},
    {'f', 2, NT_ELEMENT_REAL16}, {'f', 4, NT_ELEMENT_REAL32}, {'f', 8, NT_ELEMENT_REAL64},
};

static enum nt_status not_a_type(const char *text, size_t length, struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "\"%.*s\" is no data type",
                   (int)(length > 60 ? 60 : length), text);
}

static const struct code *find_code(char letter)
{
    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
        if (codes[i].letter == letter)
            return &codes[i];
    return NULL;
}

static enum nt_element element_of(char letter, uint32_t bytes, bool is_big_endian)
{
    for (size_t i = 0; i < sizeof(elements) / sizeof(*elements) && !is_big_endian; i++)
        if (elements[i].letter == letter && elements[i].bytes == bytes)
            return elements[i].element;
    return NT_ELEMENT_OPAQUE;
}

/* The unit of a date or a time span: "", "[ns]", "[25s]", "[as/3]". */
static bool is_unit(const char *text, size_t length)
{
    if (length == 0)
        return true;
    if (length < 3 || length > 20 || text[0] != '[' || text[length - 1] != ']')
        return false;
    for (size_t i = 1; i < length - 1; i++)
        if (!(text[i] >= '0' && text[i] <= '9') && !((text[i] | 32) >= 'a' && (text[i] | 32) <= 'z') &&
            text[i] != '/')
            return false;
    return true;
}

static bool read_number(const char **text, const char *end, uint32_t *number_ret)
{
    const char *start = *text;
    uint64_t number = 0;
    for (; *text < end && **text >= '0' && **text <= '9'; (*text)++) {
        number = number * 10 + (uint64_t)(**text - '0');
        if (number > NT_BLZ_ITEM_BYTES)
            return false;
    }
    *number_ret = (uint32_t)number;
    return *text > start;
}

static enum nt_status set_object(struct nt_blz_dtype *dtype)
{
    *dtype = (struct nt_blz_dtype){
        .dtype = {.element = NT_ELEMENT_OPAQUE, .bytes = 8, .text = "'|O'"}, .is_object = true, .items = 1};
    return NT_OK;
}

/* A code: byte order (may be left out), letter, size or length, unit. */
static enum nt_status parse_code(struct nt_arena *arena, const char *text, size_t length,
                                 struct nt_blz_dtype *dtype, struct nt_error *error)
{
    const char *at = text, *end = text + length;
    char order = at < end && *at && strchr("<>=|", *at) ? *at++ : '=';
    if (at < end && *at == 'O' && (end - at == 1 || (end - at == 2 && (at[1] == '8' || at[1] == '4'))))
        return set_object(dtype);
    const struct code *code = at < end ? find_code(*at++) : NULL;
    uint32_t number;
    if (!code || !read_number(&at, end, &number))
        return not_a_type(text, length, error);
    if (code->unit_bytes == 0 && (number > 63 || !(code->sizes >> number & 1)))
        return not_a_type(text, length, error);
    bool is_time = code->letter == 'M' || code->letter == 'm';
    if (is_time ? !is_unit(at, (size_t)(end - at)) : at != end)
        return not_a_type(text, length, error);
    uint64_t bytes = code->unit_bytes ? (uint64_t)number * code->unit_bytes : number;
    if (bytes == 0 || bytes > NT_BLZ_ITEM_BYTES)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "\"%.*s\": items of %llu bytes", (int)length, text,
                       (unsigned long long)bytes);
    bool is_big_endian = order == '>' && code->has_order && bytes > 1;
    char shown = code->has_order && bytes > 1 ? is_big_endian ? '>' : '<' : '|';
    char letter = code->letter == 'a' ? 'S' : code->letter;
    *dtype = (struct nt_blz_dtype){.items = 1};
    dtype->dtype.bytes = (uint32_t)bytes;
    dtype->dtype.element = element_of(letter, (uint32_t)bytes, is_big_endian);
    dtype->dtype.text = nt_arena_format(arena, "'%c%c%u%.*s'", shown, letter, number, (int)(end - at), at);
    return dtype->dtype.text ? NT_OK : nt_fail_memory(error);
}

/* The code of a name; for a date or a time span, the unit that stands behind it is left over. */
static const char *code_of_name(const char *text, size_t length, size_t *used_ret)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        size_t used = strlen(names[i].name);
        bool may_have_unit = (names[i].code[1] | 32) == 'm';
        if (length >= used && !memcmp(text, names[i].name, used) &&
            (length == used || (may_have_unit && text[used] == '['))) {
            *used_ret = used;
            return names[i].code;
        }
    }
    return NULL;
}

enum nt_status nt_blz_dtype_plain(struct nt_arena *arena, const char *text, size_t length,
                                  struct nt_blz_dtype *dtype, struct nt_error *error)
{
    char expanded[64];
    size_t used;
    const char *code = code_of_name(text, length, &used);
    if (!code)
        return length < sizeof(expanded) ? parse_code(arena, text, length, dtype, error)
                                         : not_a_type(text, length, error);
    int written = snprintf(expanded, sizeof(expanded), "%s%.*s", code, (int)(length - used), text + used);
    if (written < 0 || (size_t)written >= sizeof(expanded))
        return not_a_type(text, length, error);
    return parse_code(arena, expanded, (size_t)written, dtype, error);
}
