/* SPDX-License-Identifier: MIT
 *
 * Numbers as text, compared with Python and NumPy, and read back by strtod.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"
#include "support.h"

/* Expected: Python's repr of the double, and NumPy's of the 32-bit float. */
static const struct {
    double value;
    const char *text;
} doubles[] = {
    {0.0, "0.0"},
    {-0.0, "-0.0"},
    {1.0, "1.0"},
    {-1.5, "-1.5"},
    {0.1, "0.1"},
    {0.1 + 0.2, "0.30000000000000004"},
    {100.0, "100.0"},
    {123456.789, "123456.789"},
    {1e15, "1000000000000000.0"},
    {1e16, "1e+16"},
    {123456789012345680.0, "1.2345678901234568e+17"},
    {9007199254740993.0, "9007199254740992.0"},
    {1e22, "1e+22"},
    {1e23, "1e+23"},
    {1e100, "1e+100"},
    {0.0001, "0.0001"},
    {0.00001, "1e-05"},
    {0.00012345, "0.00012345"},
    {1.5e-7, "1.5e-07"},
    {3.141592653589793, "3.141592653589793"},
    {2.2250738585072014e-308, "2.2250738585072014e-308"},
    {5e-324, "5e-324"},
    {1.7976931348623157e308, "1.7976931348623157e+308"},
    {5.0 / 3, "1.6666666666666667"},
    {0x1p-44, "5.684341886080802e-14"}, /* the nearest of so many digits is that of its neighbour */
    {0x1p-1017, "7.120236347223045e-307"},
};

static const struct {
    float value;
    const char *text;
} floats[] = {
    {0.0f, "0.0"},
    {-0.0f, "-0.0"},
    {0.1f, "0.1"},
    {1.0f / 3, "0.33333334"},
    {16777216.0f, "16777216.0"},
    {3.4028235e38f, "3.4028235e+38"},
    {1e-45f, "1e-45"},
    {1.1754944e-38f, "1.1754944e-38"},
    {3.1415927f, "3.1415927"},
    {1e10f, "10000000000.0"},
    {0.3f, "0.3"},
    {123.456f, "123.456"},
    {0x1p-96f, "1.2621775e-29"},
    {0x1p90f, "1.2379401e+27"},
};

TEST(doubles_take_the_text_that_python_gives_them, .end = sizeof(doubles) / sizeof(doubles[0]))
{
    char text[NT_NUMBER_TEXT + 1];
    text[nt_format_double(doubles[_i].value, text)] = '\0';
    ck_assert_str_eq(text, doubles[_i].text);
}

TEST(floats_take_the_text_that_numpy_gives_them, .end = sizeof(floats) / sizeof(floats[0]))
{
    char text[NT_NUMBER_TEXT + 1];
    text[nt_format_float(floats[_i].value, text)] = '\0';
    ck_assert_str_eq(text, floats[_i].text);
}

/* The digits are NumPy's for numpy.float16. */
static const struct {
    uint16_t bits;
    const char *text;
} halves[] = {
    {0x2400, "0.01563"}, {0x0000, "0.0"},     {0x8000, "-0.0"},      {0x0001, "6e-08"},
    {0x0002, "1e-07"},   {0x03ff, "6.1e-05"}, {0x0400, "6.104e-05"}, {0x1000, "0.0004883"},
    {0x2e66, "0.1"},     {0x3555, "0.3333"},  {0x3c00, "1.0"},       {0x3c01, "1.001"},
    {0x4248, "3.14"},    {0x5640, "100.0"},   {0x7bff, "65500.0"},   {0xfbff, "-65500.0"},
};

TEST(halves_have_the_digits_that_numpy_gives_them, .end = sizeof(halves) / sizeof(*halves))
{
    char text[NT_NUMBER_TEXT + 1];
    text[nt_format_half(halves[_i].bits, text)] = '\0';
    ck_assert_str_eq(text, halves[_i].text);
}

/* Half of the step to a neighbour, as double: a nearer decimal reads back to the same half. */
static bool reads_as(double decimal, double value, double lower, double upper, bool is_even)
{
    double below = (value + lower) / 2, above = (value + upper) / 2;
    return (decimal > below && decimal < above) || (is_even && (decimal == below || decimal == above));
}

TEST(any_half_reads_back_to_the_same_bits_with_the_fewest_digits)
{
    for (uint16_t bits = 1; bits < 0x7c00; bits++) {
        char text[NT_NUMBER_TEXT + 1], shorter[40];
        text[nt_format_half(bits, text)] = '\0';
        double value = nt_half_value(bits), lower = nt_half_value(bits - 1),
               upper = bits < 0x7bff ? nt_half_value(bits + 1) : 65536;
        ck_assert_msg(reads_as(strtod(text, NULL), value, lower, upper, bits % 2 == 0), "%#x: %s", bits,
                      text);
        int digits = 0, zeros = 0;
        for (const char *at = text; *at && *at != 'e'; at++) {
            if (*at < '0' || *at > '9' || (*at == '0' && !digits))
                continue;
            digits += *at == '0' ? 0 : 1 + zeros;
            zeros = *at == '0' ? zeros + 1 : 0;
        }
        if (digits > 1) {
            snprintf(shorter, sizeof(shorter), "%.*e", digits - 2, value);
            ck_assert_msg(!reads_as(strtod(shorter, NULL), value, lower, upper, bits % 2 == 0), "%#x: %s",
                          bits, shorter);
        }
    }
}

/* xorshift: the same numbers in every run */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t count_digits(const char *text)
{
    size_t count = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (count == 0 && *text == '0'))
            continue;
        count++;
        zeros = *text == '0' ? zeros + 1 : 0;
    }
    return count - zeros;
}

TEST(any_double_reads_back_to_the_same_bits_with_the_fewest_digits)
{
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = next_random(&state);
        double value, back, scale = i % 3 == 0 ? 0 : i % 3 == 1 ? 1e-3 : 1e4;
        memcpy(&value, &bits, sizeof(value));
        if (scale != 0)
            value = rint((double)(int64_t)bits / 1e12) * scale;
        if (!isfinite(value))
            continue;
        char text[NT_NUMBER_TEXT + 1], shorter[40];
        text[nt_format_double(value, text)] = '\0';
        back = strtod(text, NULL);
        ck_assert_msg(memcmp(&back, &value, sizeof(value)) == 0, "%a gave %s", value, text);
        size_t digits = count_digits(text);
        if (digits > 1) {
            snprintf(shorter, sizeof(shorter), "%.*e", (int)digits - 2, value);
            ck_assert_msg(strtod(shorter, NULL) != value, "%s could be %s", text, shorter);
        }
    }
}

TEST(any_float_reads_back_to_the_same_bits)
{
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 200000; i++) {
        uint32_t bits = (uint32_t)next_random(&state);
        float value, back;
        memcpy(&value, &bits, sizeof(value));
        if (i % 2)
            value = (float)bits / 65536;
        if (!isfinite(value))
            continue;
        char text[NT_NUMBER_TEXT + 1];
        text[nt_format_float(value, text)] = '\0';
        back = strtof(text, NULL);
        ck_assert_msg(memcmp(&back, &value, sizeof(value)) == 0, "%a gave %s", (double)value, text);
        ck_assert_uint_le(count_digits(text), 9);
    }
}

TEST(unsigned_integers_have_all_their_digits)
{
    char text[NT_NUMBER_TEXT + 1];
    text[nt_format_unsigned(0, text)] = '\0';
    ck_assert_str_eq(text, "0");
    text[nt_format_unsigned(UINT64_MAX, text)] = '\0';
    ck_assert_str_eq(text, "18446744073709551615");
}
