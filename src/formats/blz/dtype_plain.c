/* SPDX-License-Identifier: MIT
 *
 * In: the text of a plain NumPy type, a name or an array-protocol code. Out: its size, what its bytes are,
 * its code as it stands in a .npy header (NumPy reference, "Data type objects" and "The array interface"),
 * and Arrow's, where Arrow has the same bytes.
 */
#include "formats/blz/dtype_plain.h"

#include <stdio.h>
#include <string.h>

#include "core/base/arena.h"

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

/* What may stand behind a code's letter. */
static const struct code {
    char letter;
    uint64_t sizes;          /* bit n: n bytes are possible; 0: a length is told */
    uint32_t unit_bytes;     /* per item of that length */
    uint8_t character_bytes; /* of text */
    bool has_order;          /* sizes above 1 have a byte order */
    bool has_unit;           /* counts units of time */
} codes[] = {
    {.letter = 'b', .sizes = 1 << 1},
    {.letter = 'i', .sizes = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8, .has_order = true},
    {.letter = 'u', .sizes = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8, .has_order = true},
    {.letter = 'f', .sizes = 1 << 2 | 1 << 4 | 1 << 8 | 1 << 12 | 1 << 16, .has_order = true},
    {.letter = 'c', .sizes = 1 << 8 | 1 << 16 | 1 << 24 | UINT64_C(1) << 32, .has_order = true},
    {.letter = 'M', .sizes = 1 << 8, .has_order = true, .has_unit = true},
    {.letter = 'm', .sizes = 1 << 8, .has_order = true, .has_unit = true},
    {.letter = 'S', .unit_bytes = 1, .character_bytes = 1},
    {.letter = 'a', .unit_bytes = 1, .character_bytes = 1}, /* an old letter of 'S' */
    {.letter = 'V', .unit_bytes = 1},
    {.letter = 'U', .unit_bytes = 4, .character_bytes = 4, .has_order = true},
};

/* The number that a code is in NumPy's memory layout. */
static const struct {
    char letter;
    uint32_t bytes;
    enum nt_element element;
} numbers[] = {
    {.letter = 'b', .bytes = 1, .element = NT_ELEMENT_BOOL},
    {.letter = 'i', .bytes = 1, .element = NT_ELEMENT_INT8},
    {.letter = 'u', .bytes = 1, .element = NT_ELEMENT_UINT8},
    {.letter = 'i', .bytes = 2, .element = NT_ELEMENT_INT16},
    {.letter = 'u', .bytes = 2, .element = NT_ELEMENT_UINT16},
    {.letter = 'i', .bytes = 4, .element = NT_ELEMENT_INT32},
    {.letter = 'u', .bytes = 4, .element = NT_ELEMENT_UINT32},
    {.letter = 'i', .bytes = 8, .element = NT_ELEMENT_INT64},
    {.letter = 'u', .bytes = 8, .element = NT_ELEMENT_UINT64},
    {.letter = 'f', .bytes = 2, .element = NT_ELEMENT_REAL16},
    {.letter = 'f', .bytes = 4, .element = NT_ELEMENT_REAL32},
    {.letter = 'f', .bytes = 8, .element = NT_ELEMENT_REAL64},
    {.letter = 'M', .bytes = 8, .element = NT_ELEMENT_INT64},
    {.letter = 'm', .bytes = 8, .element = NT_ELEMENT_INT64},
};

/* Dates and time spans that Arrow has, too. NumPy's "not a time" is the smallest number, and stays that. */
static const struct {
    char letter;
    const char *unit, *arrow;
} times[] = {
    {'M', "[s]", "tss:"}, {'M', "[ms]", "tsm:"}, {'M', "[us]", "tsu:"}, {'M', "[ns]", "tsn:"},
    {'m', "[s]", "tDs"},  {'m', "[ms]", "tDm"},  {'m', "[us]", "tDu"},  {'m', "[ns]", "tDn"},
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
    *dtype =
        (struct nt_blz_dtype){.dtype = nt_element_dtype(NT_ELEMENT_OPAQUE), .is_object = true, .items = 1};
    dtype->dtype.bytes = 8;
    dtype->dtype.numpy = "|O";
    return NT_OK;
}

/* A code in its parts. */
struct plain {
    const struct code *code;
    char letter;
    uint32_t length, bytes;
    bool is_big_endian;
    const char *unit;
    size_t unit_length;
};

static enum nt_element number_of(const struct plain *plain)
{
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        if (numbers[i].letter == plain->letter && numbers[i].bytes == plain->bytes)
            return numbers[i].element;
    return NT_ELEMENT_OPAQUE;
}

static const char *arrow_time(const struct plain *plain)
{
    for (size_t i = 0; i < sizeof(times) / sizeof(*times) && !plain->is_big_endian; i++)
        if (times[i].letter == plain->letter && strlen(times[i].unit) == plain->unit_length &&
            !memcmp(times[i].unit, plain->unit, plain->unit_length))
            return times[i].arrow;
    return NULL;
}

/* What the model tells of a code. Arrow has no byte order, and no text of fixed length but as bytes. */
static enum nt_status describe(struct nt_arena *arena, const struct plain *plain, struct nt_dtype *dtype,
                               struct nt_error *error)
{
    const struct code *code = plain->code;
    bool is_element = !plain->is_big_endian && !code->has_unit;
    char order = code->has_order && plain->bytes > 1 ? plain->is_big_endian ? '>' : '<' : '|';
    *dtype = nt_element_dtype(is_element ? number_of(plain) : NT_ELEMENT_OPAQUE);
    dtype->bytes = plain->bytes;
    dtype->number = number_of(plain);
    dtype->is_big_endian = plain->is_big_endian;
    dtype->character_bytes = code->character_bytes;
    if (code->has_unit)
        dtype->arrow = arrow_time(plain);
    else if (code->unit_bytes == 1 && !(dtype->arrow = nt_arena_format(arena, "w:%u", plain->bytes)))
        return nt_fail_memory(error);
    dtype->numpy = nt_arena_format(arena, "%c%c%u%.*s", order, plain->letter, plain->length,
                                   (int)plain->unit_length, plain->unit);
    return dtype->numpy ? NT_OK : nt_fail_memory(error);
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
    if (code->has_unit ? !is_unit(at, (size_t)(end - at)) : at != end)
        return not_a_type(text, length, error);
    uint64_t bytes = code->unit_bytes ? (uint64_t)number * code->unit_bytes : number;
    if (bytes == 0 || bytes > NT_BLZ_ITEM_BYTES)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "\"%.*s\": items of %llu bytes", (int)length, text,
                       (unsigned long long)bytes);
    struct plain plain = {
        .code = code,
        .letter = code->letter == 'a' ? 'S' : code->letter,
        .length = number,
        .bytes = (uint32_t)bytes,
        .is_big_endian = order == '>' && code->has_order && bytes > 1,
        .unit = at,
        .unit_length = (size_t)(end - at),
    };
    *dtype = (struct nt_blz_dtype){.is_void = plain.letter == 'V', .items = 1};
    return describe(arena, &plain, &dtype->dtype, error);
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
