/* SPDX-License-Identifier: MIT
 *
 * Formats integers and floating-point numbers as text. Floating-point numbers of 16, 32 and 64 bits
 * take the shortest form that parses back to the same bits.
 */
#include "core/json/json.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "core/codec/codec.h"

/* Converts finite numbers of 16, 32 or 64 bits to the shortest decimal text that reads back to the same
 * bits, in the layout of Python's repr (1.0, 0.001, 1e-07, 1e+16).
 *
 * Most numbers in data are integers or decimals of few digits: exact scaling finds those. For the rest
 * the C library prints with growing precision. The layout is our own, so that a locale's decimal comma
 * cannot appear in a document. */

enum {
    DOUBLE_SAFE_DIGITS = 15, /* two decimals of so many digits never read as the same double */
    DOUBLE_DIGITS = 17,      /* always sufficient */
    FLOAT_SAFE_DIGITS = 6,
    FLOAT_DIGITS = 9,
    HALF_DIGITS = 5,
    HALF_SIGN = 0x8000,
};

/* Numbers outside this range have an exponent, padded to two digits or not. */
struct number_layout {
    int first_exponent, last_exponent;
    bool is_padded;
};
static const struct number_layout python = {-4, 15, true}, rust = {-5, 15, false};

struct decimal {
    char digits[24]; /* without leading and trailing zeros; at least one */
    int count;
    int exponent; /* of the first digit: d.ddd * 10^exponent */
};

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

size_t nt_format_unsigned(uint64_t value, char *text)
{
    char reversed[20];
    size_t count = 0;
    do {
        reversed[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    for (size_t i = 0; i < count; i++)
        text[i] = reversed[count - 1 - i];
    return count;
}

static void trim_zeros(struct decimal *decimal)
{
    while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0')
        decimal->count--;
}

/* `integer` / 10^`places`. */
static void decimal_from_integer(struct decimal *decimal, uint64_t integer, int places)
{
    decimal->count = (int)nt_format_unsigned(integer, decimal->digits);
    decimal->exponent = decimal->count - 1 - places;
    trim_zeros(decimal);
}

/* Parses printf's %e: d.ddde±xx, with any decimal point. */
static void decimal_from_text(struct decimal *decimal, const char *text)
{
    decimal->count = 0;
    for (; *text != 'e'; text++)
        if (*text >= '0' && *text <= '9')
            decimal->digits[decimal->count++] = *text;
    decimal->exponent = atoi(text + 1);
    trim_zeros(decimal);
}

static bool can_be_scaled(double value)
{
    return value >= 1e-5 && value < 1e15;
}

/* integer / power is correctly rounded if both are exact, and so equals what a reader of the decimal
 * gets. The first match has at most 15 digits, and is therefore the only such decimal. */
static bool scale_double(struct decimal *decimal, double value)
{
    if (!can_be_scaled(value))
        return false;
    for (int places = 0; places < (int)(sizeof(powers) / sizeof(powers[0])); places++) {
        double integer = rint(value * powers[places]);
        if (integer >= 1e15)
            return false;
        if (integer / powers[places] == value) {
            decimal_from_integer(decimal, (uint64_t)integer, places);
            return true;
        }
    }
    return false;
}

/* The same for 32 bits. The quotient is off by at most half a unit in double. If both of its neighbours
 * round to `value`, so does the exact quotient. */
static bool scale_float(struct decimal *decimal, float value)
{
    static const double above = 1.0 + 0x1p-51, below = 1.0 - 0x1p-51;
    if (value < 1e-5f || value >= 1e9f)
        return false;
    for (int places = 0; places <= 14; places++) {
        double integer = rint((double)value * powers[places]);
        double quotient = integer / powers[places];
        if (integer >= 1e9)
            return false;
        if ((float)(quotient * above) == value && (float)(quotient * below) == value) {
            decimal_from_integer(decimal, (uint64_t)integer, places);
            return true;
        }
    }
    return false;
}

/* Increments the last digit; false if all are 9, when the sum has fewer digits. */
static bool count_up(char *text)
{
    char *at = strchr(text, 'e');
    while (at-- > text) {
        if (*at >= '0' && *at < '9') {
            ++*at;
            return true;
        }
        if (*at == '9')
            *at = '0';
    }
    return false;
}

typedef bool reads_back(const char *text, double value);

static bool reads_back_64(const char *text, double value)
{
    return strtod(text, NULL) == value;
}

static bool reads_back_32(const char *text, double value)
{
    return strtof(text, NULL) == (float)value;
}

double nt_half_value(uint16_t bits)
{
    uint8_t bytes[2] = {(uint8_t)bits, (uint8_t)(bits >> 8)};
    double value;
    struct nt_error error;
    nt_element_convert(NT_ELEMENT_REAL16, bytes, NT_ELEMENT_REAL64, &value, 1, &error);
    return value;
}

static bool reads_back_16(const char *text, double value)
{
    double read = strtod(text, NULL);
    uint8_t bytes[2];
    struct nt_error error;
    nt_element_convert(NT_ELEMENT_REAL64, &read, NT_ELEMENT_REAL16, bytes, 1, &error);
    return nt_half_value(nt_load_le16(bytes)) == value;
}

/* Prints the first number of digits, from `digits` to `most`, that reads back. Below a power of two
 * numbers are closer together than above: there the decimal that reads back may not be the nearest. */
static void print_shortest(struct decimal *decimal, double value, int digits, int most, reads_back *is_same)
{
    char text[40];
    int exponent;
    bool is_power = frexp(value, &exponent) == 0.5;
    for (;; digits++) {
        snprintf(text, sizeof(text), "%.*e", digits - 1, value);
        if (digits == most || is_same(text, value) || (is_power && count_up(text) && is_same(text, value)))
            break;
    }
    decimal_from_text(decimal, text);
}

/* Denormal numbers may need fewer digits than the safe ones; numbers that scaling missed need more. */
static void print_double(struct decimal *decimal, double value)
{
    int digits = value < DBL_MIN ? 1 : can_be_scaled(value) ? DOUBLE_SAFE_DIGITS + 1 : DOUBLE_SAFE_DIGITS;
    print_shortest(decimal, value, digits, DOUBLE_DIGITS, reads_back_64);
}

static void print_float(struct decimal *decimal, float value)
{
    print_shortest(decimal, (double)value, value < FLT_MIN ? 1 : FLOAT_SAFE_DIGITS, FLOAT_DIGITS,
                   reads_back_32);
}

static size_t put_zeros(char *text, int count)
{
    memset(text, '0', (size_t)count);
    return (size_t)count;
}

static size_t put_digits(char *text, const struct decimal *decimal, int first, int end)
{
    memcpy(text, decimal->digits + first, (size_t)(end - first));
    return (size_t)(end - first);
}

/* 123.0, 1.23, 0.00123 */
static size_t lay_out_fixed(const struct decimal *decimal, char *text)
{
    size_t length = 0;
    int before = decimal->exponent + 1; /* digits before the point */
    int whole = before < 0 ? 0 : before < decimal->count ? before : decimal->count;
    length += put_digits(text, decimal, 0, whole);
    if (before <= 0)
        text[length++] = '0';
    else
        length += put_zeros(text + length, before - whole);
    text[length++] = '.';
    if (before < 0)
        length += put_zeros(text + length, -before);
    if (whole < decimal->count)
        length += put_digits(text + length, decimal, whole, decimal->count);
    else
        text[length++] = '0';
    return length;
}

/* 1e+16, 1.5e-07 */
static size_t lay_out_exponent(const struct decimal *decimal, bool is_padded, char *text)
{
    size_t length = put_digits(text, decimal, 0, 1);
    if (decimal->count > 1) {
        text[length++] = '.';
        length += put_digits(text + length, decimal, 1, decimal->count);
    }
    unsigned magnitude = (unsigned)abs(decimal->exponent);
    text[length++] = 'e';
    text[length++] = decimal->exponent < 0 ? '-' : '+';
    if (magnitude < 10 && is_padded)
        text[length++] = '0';
    return length + nt_format_unsigned(magnitude, text + length);
}

static size_t lay_out(const struct number_layout *layout, const struct decimal *decimal, bool is_negative,
                      char *text)
{
    size_t length = 0;
    if (is_negative)
        text[length++] = '-';
    if (decimal->exponent < layout->first_exponent || decimal->exponent > layout->last_exponent)
        return length + lay_out_exponent(decimal, layout->is_padded, text + length);
    return length + lay_out_fixed(decimal, text + length);
}

static size_t format_double(const struct number_layout *layout, double value, char *text)
{
    struct decimal decimal = {.digits = "0", .count = 1};
    double magnitude = fabs(value);
    if (magnitude != 0 && !scale_double(&decimal, magnitude))
        print_double(&decimal, magnitude);
    return lay_out(layout, &decimal, signbit(value), text);
}

size_t nt_format_double(double value, char *text)
{
    return format_double(&python, value, text);
}

size_t nt_format_double_unpadded(double value, char *text)
{
    return format_double(&rust, value, text);
}

size_t nt_format_float(float value, char *text)
{
    struct decimal decimal = {.digits = "0", .count = 1};
    float magnitude = fabsf(value);
    if (magnitude != 0 && !scale_float(&decimal, magnitude))
        print_float(&decimal, magnitude);
    return lay_out(&python, &decimal, signbit(value), text);
}

size_t nt_format_half(uint16_t bits, char *text)
{
    struct decimal decimal = {.digits = "0", .count = 1};
    uint16_t magnitude = bits & (uint16_t)~HALF_SIGN;
    if (magnitude != 0)
        print_shortest(&decimal, nt_half_value(magnitude), 1, HALF_DIGITS, reads_back_16);
    return lay_out(&python, &decimal, bits & HALF_SIGN, text);
}
