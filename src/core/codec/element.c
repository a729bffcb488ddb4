/* SPDX-License-Identifier: MIT
 *
 * Element types and conversion between numeric types. Integers that do not fit the target are an error;
 * reals are rounded to nearest.
 */
#include "core/codec/codec.h"

static const struct nt_element_row elements[NT_ELEMENT_COUNT] = {
    [NT_ELEMENT_BOOL] = {"bool", "|b1", 1},
    [NT_ELEMENT_BYTE] = {"byte", "|u1", 1},
    [NT_ELEMENT_INT8] = {"int8", "|i1", 1},
    [NT_ELEMENT_UINT8] = {"uint8", "|u1", 1},
    [NT_ELEMENT_INT16] = {"int16", "<i2", 2},
    [NT_ELEMENT_UINT16] = {"uint16", "<u2", 2},
    [NT_ELEMENT_INT32] = {"int32", "<i4", 4},
    [NT_ELEMENT_UINT32] = {"uint32", "<u4", 4},
    [NT_ELEMENT_INT64] = {"int64", "<i8", 8},
    [NT_ELEMENT_UINT64] = {"uint64", "<u8", 8},
    [NT_ELEMENT_REAL16] = {"real16", "<f2", 2},
    [NT_ELEMENT_REAL32] = {"real32", "<f4", 4},
    [NT_ELEMENT_REAL64] = {"real64", "<f8", 8},
    [NT_ELEMENT_SWITCH] = {"switch", "[('index', '<u8'), ('tag', '<u4')]", 12},
    [NT_ELEMENT_OPAQUE] = {"opaque", NULL, 0},
};

const struct nt_element_row *nt_element_info(enum nt_element element)
{
    return &elements[element];
}

/* ---- Conversion ---- */

/* Bools and bytes are unsigned. */
enum family { FAMILY_UNSIGNED, FAMILY_SIGNED, FAMILY_REAL, FAMILY_NONE };

static const enum family families[NT_ELEMENT_COUNT] = {
    [NT_ELEMENT_INT8] = FAMILY_SIGNED,  [NT_ELEMENT_INT16] = FAMILY_SIGNED,
    [NT_ELEMENT_INT32] = FAMILY_SIGNED, [NT_ELEMENT_INT64] = FAMILY_SIGNED,
    [NT_ELEMENT_REAL16] = FAMILY_REAL,  [NT_ELEMENT_REAL32] = FAMILY_REAL,
    [NT_ELEMENT_REAL64] = FAMILY_REAL,  [NT_ELEMENT_SWITCH] = FAMILY_NONE,
    [NT_ELEMENT_OPAQUE] = FAMILY_NONE,
};

bool nt_element_can_convert(enum nt_element from, enum nt_element to)
{
    if (from == to)
        return true;
    if (families[from] == FAMILY_NONE || families[to] == FAMILY_NONE)
        return false;
    return families[from] != FAMILY_REAL || families[to] == FAMILY_REAL;
}

/* IEEE 754 binary16; exact, as all its values are binary32 values. */
static double load_real16(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits >> 15) << 31, exponent = bits >> 10 & 31, mantissa = bits & 0x3FF;
    if (exponent == 0) /* zero and subnormals are multiples of 2^-24 */
        return (sign ? -1.0 : 1.0) * mantissa * 0x1p-24;
    uint32_t wide = sign | (exponent == 31 ? 0xFFu : exponent + 112) << 23 | mantissa << 13;
    float value;
    memcpy(&value, &wide, sizeof(value));
    return (double)value;
}

/* Rounds to the nearest binary16, ties to even. */
static uint16_t store_real16(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    int exponent = (int)(bits >> 52 & 0x7FF) - 1023;
    uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent == 1024)
        return (uint16_t)(sign | 0x7C00 | (mantissa ? 0x200 | mantissa >> 42 : 0));
    if (exponent < -25)
        return sign;
    unsigned dropped = exponent < -14 ? (unsigned)(42 + (-14 - exponent)) : 42;
    uint64_t whole = mantissa | UINT64_C(1) << 52;
    uint64_t kept = whole >> dropped, rest = whole & ((UINT64_C(1) << dropped) - 1);
    uint64_t half = UINT64_C(1) << (dropped - 1);
    kept += rest > half || (rest == half && (kept & 1));
    uint64_t result = exponent < -14 ? kept : kept + ((uint64_t)(exponent + 14) << 10);
    return (uint16_t)(sign | (result > 0x7C00 ? 0x7C00 : result));
}

union element_number {
    uint64_t as_unsigned;
    int64_t as_signed;
    double as_real;
};

static union element_number load(enum nt_element from, const uint8_t *at)
{
    uint32_t bytes = elements[from].bytes;
    union element_number number = {.as_unsigned = nt_load_integer(at, bytes, false)};
    float real32;
    if (from == NT_ELEMENT_REAL16) {
        number.as_real = load_real16((uint16_t)number.as_unsigned);
    } else if (from == NT_ELEMENT_REAL32) {
        memcpy(&real32, at, sizeof(real32));
        number.as_real = (double)real32;
    } else if (families[from] == FAMILY_SIGNED) {
        number.as_signed = nt_extend_sign(number.as_unsigned, bytes);
    }
    return number;
}

static bool store_integer(enum nt_element to, uint8_t *at, enum family from, union element_number number)
{
    uint32_t bytes = elements[to].bytes;
    uint64_t value = number.as_unsigned;
    bool is_negative = from == FAMILY_SIGNED && number.as_signed < 0;
    if (to == NT_ELEMENT_BOOL) {
        *at = value != 0;
        return true;
    }
    uint64_t largest = UINT64_MAX >> (64 - 8 * bytes);
    if (families[to] == FAMILY_SIGNED) {
        largest /= 2;
        if (is_negative ? number.as_signed < -(int64_t)largest - 1 : value > largest)
            return false;
    } else if (is_negative || value > largest) {
        return false;
    }
    memcpy(at, &value, bytes);
    return true;
}

static void store_real(enum nt_element to, uint8_t *at, enum family from, union element_number number)
{
    double value = from == FAMILY_UNSIGNED ? (double)number.as_unsigned
                   : from == FAMILY_SIGNED ? (double)number.as_signed
                                           : number.as_real;
    float real32 = to == NT_ELEMENT_REAL32 && from == FAMILY_UNSIGNED ? (float)number.as_unsigned
                   : to == NT_ELEMENT_REAL32 && from == FAMILY_SIGNED ? (float)number.as_signed
                                                                      : (float)value;
    uint16_t real16 = to == NT_ELEMENT_REAL16 ? store_real16(value) : 0;
    if (to == NT_ELEMENT_REAL64)
        memcpy(at, &value, sizeof(value));
    else if (to == NT_ELEMENT_REAL32)
        memcpy(at, &real32, sizeof(real32));
    else
        memcpy(at, &real16, sizeof(real16));
}

/* ---- Lossless and fast: fields with several types, and double stored as Real32 ---- */

/* Each type with the types that represent all its values. */
#define NT_WIDENINGS(ROW)                                                                                    \
    ROW(INT8, int8_t, INT16, int16_t)                                                                        \
    ROW(INT8, int8_t, INT32, int32_t)                                                                        \
    ROW(INT8, int8_t, INT64, int64_t)                                                                        \
    ROW(INT8, int8_t, REAL32, float)                                                                         \
    ROW(INT8, int8_t, REAL64, double)                                                                        \
    ROW(UINT8, uint8_t, INT16, int16_t)                                                                      \
    ROW(UINT8, uint8_t, UINT16, uint16_t)                                                                    \
    ROW(UINT8, uint8_t, INT32, int32_t)                                                                      \
    ROW(UINT8, uint8_t, UINT32, uint32_t)                                                                    \
    ROW(UINT8, uint8_t, INT64, int64_t)                                                                      \
    ROW(UINT8, uint8_t, UINT64, uint64_t)                                                                    \
    ROW(UINT8, uint8_t, REAL32, float)                                                                       \
    ROW(UINT8, uint8_t, REAL64, double)                                                                      \
    ROW(INT16, int16_t, INT32, int32_t)                                                                      \
    ROW(INT16, int16_t, INT64, int64_t)                                                                      \
    ROW(INT16, int16_t, REAL32, float)                                                                       \
    ROW(INT16, int16_t, REAL64, double)                                                                      \
    ROW(UINT16, uint16_t, INT32, int32_t)                                                                    \
    ROW(UINT16, uint16_t, UINT32, uint32_t)                                                                  \
    ROW(UINT16, uint16_t, INT64, int64_t)                                                                    \
    ROW(UINT16, uint16_t, UINT64, uint64_t)                                                                  \
    ROW(UINT16, uint16_t, REAL32, float)                                                                     \
    ROW(UINT16, uint16_t, REAL64, double)                                                                    \
    ROW(INT32, int32_t, INT64, int64_t)                                                                      \
    ROW(INT32, int32_t, REAL64, double)                                                                      \
    ROW(UINT32, uint32_t, INT64, int64_t)                                                                    \
    ROW(UINT32, uint32_t, UINT64, uint64_t)                                                                  \
    ROW(UINT32, uint32_t, REAL64, double)                                                                    \
    ROW(REAL32, float, REAL64, double)

#define NT_DEFINE_WIDENING(from, from_type, to, to_type)                                                     \
    static void widen_##from##_##to(const uint8_t *input, uint8_t *output, size_t count)                     \
    {                                                                                                        \
        for (size_t i = 0; i < count; i++) {                                                                 \
            from_type narrow;                                                                                \
            memcpy(&narrow, input + i * sizeof(narrow), sizeof(narrow));                                     \
            to_type wide = (to_type)narrow;                                                                  \
            memcpy(output + i * sizeof(wide), &wide, sizeof(wide));                                          \
        }                                                                                                    \
    }
NT_WIDENINGS(NT_DEFINE_WIDENING)

/* NULL: converts elements one by one. */
#define NT_PUT_WIDENING(from, from_type, to, to_type)                                                        \
    [NT_ELEMENT_##from][NT_ELEMENT_##to] = widen_##from##_##to,
static void (*const widenings[NT_ELEMENT_COUNT][NT_ELEMENT_COUNT])(const uint8_t *input, uint8_t *output,
                                                                   size_t count) = {
    NT_WIDENINGS(NT_PUT_WIDENING)};

enum nt_status nt_element_convert(enum nt_element from, const void *input, enum nt_element to, void *output,
                                  size_t count, struct nt_error *error)
{
    const uint8_t *in = input;
    uint8_t *out = output;
    uint32_t in_bytes = elements[from].bytes, out_bytes = elements[to].bytes;
    if (!nt_element_can_convert(from, to))
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "cannot convert elements of %s to %s",
                       elements[from].name, elements[to].name);
    enum family family = families[from], target = families[to];
    bool is_same = from == to || (in_bytes == out_bytes && family != FAMILY_REAL && target != FAMILY_REAL &&
                                  to != NT_ELEMENT_BOOL);
    if (is_same) {
        memcpy(out, in, count * in_bytes);
        return NT_OK;
    }
    if (widenings[from][to]) {
        widenings[from][to](in, out, count);
        return NT_OK;
    }
    for (size_t i = 0; i < count; i++, in += in_bytes, out += out_bytes) {
        union element_number number = load(from, in);
        if (target == FAMILY_REAL)
            store_real(to, out, family, number);
        else if (!store_integer(to, out, family, number))
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "element %zu: the value of type %s does not fit into %s", i, elements[from].name,
                           elements[to].name);
    }
    return NT_OK;
}
