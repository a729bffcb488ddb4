/* SPDX-License-Identifier: MIT
 *
 * The kinds of elements, and the conversion of every pair at the limits of their ranges.
 */
#include <math.h>
#include <string.h>

#include "core/codec/codec.h"
#include "support.h"

static struct nt_error error;

TEST(every_kind_says_its_name_dtype_and_size)
{
    static const struct nt_element_row expected[NT_ELEMENT_COUNT] = {
        {"bool", "|b1", 1},   {"byte", "|u1", 1},
        {"int8", "|i1", 1},   {"uint8", "|u1", 1},
        {"int16", "<i2", 2},  {"uint16", "<u2", 2},
        {"int32", "<i4", 4},  {"uint32", "<u4", 4},
        {"int64", "<i8", 8},  {"uint64", "<u8", 8},
        {"real16", "<f2", 2}, {"real32", "<f4", 4},
        {"real64", "<f8", 8}, {"switch", "[('index', '<u8'), ('tag', '<u4')]", 12},
        {"opaque", NULL, 0},
    };
    for (int kind = 0; kind < NT_ELEMENT_COUNT; kind++) {
        const struct nt_element_row *info = nt_element_info((enum nt_element)kind);
        ck_assert_str_eq(info->name, expected[kind].name);
        ck_assert_pstr_eq(info->dtype, expected[kind].dtype);
        ck_assert_uint_eq(info->bytes, expected[kind].bytes);
    }
}

/* ---- a slow model of the numeric kinds: a value is a long double, which can represent all ---- */

struct range {
    enum nt_element element;
    bool is_real;
    long double smallest, largest;
};

static const struct range ranges[] = {
    {NT_ELEMENT_BYTE, false, 0, UINT8_MAX},
    {NT_ELEMENT_UINT8, false, 0, UINT8_MAX},
    {NT_ELEMENT_INT8, false, INT8_MIN, INT8_MAX},
    {NT_ELEMENT_UINT16, false, 0, UINT16_MAX},
    {NT_ELEMENT_INT16, false, INT16_MIN, INT16_MAX},
    {NT_ELEMENT_UINT32, false, 0, UINT32_MAX},
    {NT_ELEMENT_INT32, false, INT32_MIN, INT32_MAX},
    {NT_ELEMENT_UINT64, false, 0, (long double)UINT64_MAX},
    {NT_ELEMENT_INT64, false, (long double)INT64_MIN, (long double)INT64_MAX},
    {NT_ELEMENT_REAL32, true, 0, 0},
    {NT_ELEMENT_REAL64, true, 0, 0},
};
enum { RANGES = sizeof(ranges) / sizeof(*ranges) };

static void put(enum nt_element element, long double value, uint8_t *to)
{
    float real32 = (float)value;
    double real64 = (double)value;
    uint64_t integer = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
    if (element == NT_ELEMENT_REAL32)
        memcpy(to, &real32, sizeof(real32));
    else if (element == NT_ELEMENT_REAL64)
        memcpy(to, &real64, sizeof(real64));
    else
        memcpy(to, &integer, nt_element_info(element)->bytes);
}

static bool holds(const struct range *range, long double value)
{
    return range->is_real || (value >= range->smallest && value <= range->largest);
}

static bool same_size_integers(const struct range *a, const struct range *b)
{
    return !a->is_real && !b->is_real &&
           nt_element_info(a->element)->bytes == nt_element_info(b->element)->bytes;
}

static void convert_edges(const struct range *from, const struct range *to)
{
    const long double edges[] = {0,
                                 1,
                                 -1,
                                 to->smallest - 1,
                                 to->smallest,
                                 to->largest,
                                 to->largest + 1,
                                 from->smallest,
                                 from->largest,
                                 127,
                                 255,
                                 32768};
    for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++) {
        uint8_t input[8] = {0}, output[8] = {0}, expected[8] = {0};
        if (!holds(from, edges[i]) || (same_size_integers(from, to) && !holds(to, edges[i])))
            continue;
        put(from->element, edges[i], input);
        put(to->element, edges[i], expected);
        assert_status(holds(to, edges[i]) ? NT_OK : NT_CORRUPT,
                      nt_element_convert(from->element, input, to->element, output, 1, &error));
        if (holds(to, edges[i]))
            ck_assert_mem_eq(output, expected, nt_element_info(to->element)->bytes);
    }
}

TEST(integers_convert_by_value_and_those_out_of_range_are_refused)
{
    for (size_t from = 0; from < RANGES; from++)
        for (size_t to = 0; to < RANGES; to++)
            if (!ranges[from].is_real)
                convert_edges(&ranges[from], &ranges[to]);
}

/* As many as loops process at once and a few more, at odd addresses. */
TEST(many_elements_convert_as_each_of_them_does, .end = RANGES * RANGES)
{
    enum { COUNT = 67 };
    uint8_t input[COUNT * 8 + 1], output[COUNT * 8 + 1], expected[COUNT * 8];
    const struct range *from = &ranges[_i / RANGES], *to = &ranges[_i % RANGES];
    size_t from_bytes = nt_element_info(from->element)->bytes, to_bytes = nt_element_info(to->element)->bytes;
    if (from->is_real && !to->is_real)
        return;
    for (int i = 0; i < COUNT; i++) {
        long double value = from->is_real ? i / 4.0L - 5 : from->largest - i;
        if (!holds(to, value))
            value = i;
        put(from->element, value, input + 1 + (size_t)i * from_bytes);
        put(to->element, value, expected + (size_t)i * to_bytes);
    }
    assert_ok(nt_element_convert(from->element, input + 1, to->element, output + 1, COUNT, &error));
    ck_assert_mem_eq(output + 1, expected, COUNT * to_bytes);
}

TEST(integers_of_one_size_keep_their_bits)
{
    const uint8_t bits[8] = {0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    for (size_t from = 0; from < RANGES; from++)
        for (size_t to = 0; to < RANGES; to++) {
            uint8_t output[8] = {0};
            if (!same_size_integers(&ranges[from], &ranges[to]))
                continue;
            assert_ok(nt_element_convert(ranges[from].element, bits, ranges[to].element, output, 1, &error));
            ck_assert_mem_eq(output, bits, nt_element_info(ranges[to].element)->bytes);
        }
}

TEST(the_first_value_out_of_range_is_named)
{
    const int32_t input[] = {1, 2, 3, 300, 400};
    uint8_t output[5];
    assert_status(NT_CORRUPT,
                  nt_element_convert(NT_ELEMENT_INT32, input, NT_ELEMENT_UINT8, output, 5, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "element 3:"));
    ck_assert_ptr_nonnull(strstr(error.message, "int32"));
    ck_assert_ptr_nonnull(strstr(error.message, "uint8"));
}

TEST(anything_but_zero_is_true)
{
    const int64_t input[] = {0, 1, -1, INT64_MIN, 256, INT64_C(1) << 40};
    uint8_t output[6];
    assert_ok(nt_element_convert(NT_ELEMENT_INT64, input, NT_ELEMENT_BOOL, output, 6, &error));
    ck_assert_mem_eq(output, "\0\1\1\1\1\1", 6);
    const uint8_t bytes[] = {0, 1, 2, 255};
    assert_ok(nt_element_convert(NT_ELEMENT_UINT8, bytes, NT_ELEMENT_BOOL, output, 4, &error));
    ck_assert_mem_eq(output, "\0\1\1\1", 4);
}

TEST(truth_values_are_0_and_1)
{
    const uint8_t input[] = {0, 1};
    int32_t integers[2];
    double reals[2];
    assert_ok(nt_element_convert(NT_ELEMENT_BOOL, input, NT_ELEMENT_INT32, integers, 2, &error));
    assert_ok(nt_element_convert(NT_ELEMENT_BOOL, input, NT_ELEMENT_REAL64, reals, 2, &error));
    ck_assert(integers[0] == 0 && integers[1] == 1 && reals[0] == 0.0 && reals[1] == 1.0);
}

TEST(large_integers_are_rounded_once)
{
    /* 2^53 + 1 and the midpoint of two binary32 numbers plus one: through binary64 it would round down */
    const uint64_t input[] = {(UINT64_C(1) << 53) + 1, (UINT64_C(1) << 62) + (UINT64_C(1) << 38) + 1,
                              UINT64_MAX};
    double real64[3];
    float real32[3];
    assert_ok(nt_element_convert(NT_ELEMENT_UINT64, input, NT_ELEMENT_REAL64, real64, 3, &error));
    assert_ok(nt_element_convert(NT_ELEMENT_UINT64, input, NT_ELEMENT_REAL32, real32, 3, &error));
    ck_assert(real64[0] == 0x1p53 && real64[2] == 0x1p64);
    ck_assert(real32[1] == 0x1.000002p62f && real32[2] == 0x1p64f);
}

TEST(reals_are_widened_exactly_and_narrowed_to_nearest)
{
    const double input[] = {0.1, -0.0, 1e300, -1e300, INFINITY, NAN, 0x1p-149, 0x1p-151, 1 + 0x1p-24};
    enum { COUNT = sizeof(input) / sizeof(*input) };
    float narrow[COUNT];
    double wide[COUNT];
    assert_ok(nt_element_convert(NT_ELEMENT_REAL64, input, NT_ELEMENT_REAL32, narrow, COUNT, &error));
    ck_assert(narrow[0] == 0.1f && narrow[1] == 0 && signbit(narrow[1]) && isinf(narrow[2]) &&
              isinf(narrow[4]));
    ck_assert(narrow[3] < 0 && isnan(narrow[5]) && narrow[6] == 0x1p-149f && narrow[7] == 0 &&
              narrow[8] == 1);
    assert_ok(nt_element_convert(NT_ELEMENT_REAL32, narrow, NT_ELEMENT_REAL64, wide, COUNT, &error));
    for (unsigned i = 0; i < COUNT; i++)
        ck_assert(isnan(wide[i]) ? isnan(narrow[i]) : wide[i] == (double)narrow[i]);
}

TEST(reals_do_not_become_integers)
{
    for (int from = NT_ELEMENT_REAL16; from <= NT_ELEMENT_REAL64; from++)
        for (int to = NT_ELEMENT_BOOL; to <= NT_ELEMENT_UINT64; to++) {
            uint8_t input[8] = {0}, output[8];
            ck_assert(!nt_element_can_convert((enum nt_element)from, (enum nt_element)to));
            ck_assert(nt_element_can_convert((enum nt_element)to, (enum nt_element)from));
            assert_status(NT_UNSUPPORTED, nt_element_convert((enum nt_element)from, input,
                                                             (enum nt_element)to, output, 1, &error));
        }
}

TEST(switches_and_opaque_elements_convert_to_nothing_else)
{
    const uint8_t input[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    uint8_t output[12];
    for (int other = 0; other < NT_ELEMENT_SWITCH; other++) {
        ck_assert(!nt_element_can_convert(NT_ELEMENT_SWITCH, (enum nt_element)other));
        ck_assert(!nt_element_can_convert((enum nt_element)other, NT_ELEMENT_SWITCH));
        ck_assert(!nt_element_can_convert(NT_ELEMENT_OPAQUE, (enum nt_element)other));
        ck_assert(!nt_element_can_convert((enum nt_element)other, NT_ELEMENT_OPAQUE));
    }
    assert_ok(nt_element_convert(NT_ELEMENT_SWITCH, input, NT_ELEMENT_SWITCH, output, 1, &error));
    ck_assert_mem_eq(output, input, 12);
}

/* ---- binary16, IEEE 754-2008 ---- */

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double size = exponent == 31 ? (mantissa ? NAN : INFINITY)
                  : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                                 : ldexp(mantissa, -24);
    return bits >> 15 ? -size : size;
}

TEST(all_65536_halves_have_their_values_and_come_back)
{
    for (uint32_t bits = 0; bits < 65536; bits++) {
        uint16_t half = (uint16_t)bits, back64, back32;
        double wide;
        float single;
        assert_ok(nt_element_convert(NT_ELEMENT_REAL16, &half, NT_ELEMENT_REAL64, &wide, 1, &error));
        assert_ok(nt_element_convert(NT_ELEMENT_REAL16, &half, NT_ELEMENT_REAL32, &single, 1, &error));
        assert_ok(nt_element_convert(NT_ELEMENT_REAL64, &wide, NT_ELEMENT_REAL16, &back64, 1, &error));
        assert_ok(nt_element_convert(NT_ELEMENT_REAL32, &single, NT_ELEMENT_REAL16, &back32, 1, &error));
        double expected = half_value(half);
        if (isnan(expected)) {
            ck_assert(isnan(wide) && isnan(single) && isnan(half_value(back64)) && isnan(half_value(back32)));
            continue;
        }
        if (wide != expected || (double)single != expected || !signbit(wide) != !(bits >> 15))
            ck_abort_msg("%04x", bits);
        ck_assert_msg(back64 == half && back32 == half, "%04x came back as %04x", bits, back64);
    }
}

/* Between two neighbours: the midpoint rounds to the even one, and the smallest step away from it to
 * the nearer one. */
TEST(numbers_between_halves_go_to_the_nearest_ties_to_even)
{
    for (uint16_t low = 0; low < 0x7C00; low++) {
        double above = low == 0x7BFF ? 65536.0 : half_value((uint16_t)(low + 1));
        double middle = (half_value(low) + above) / 2;
        const double input[3] = {nextafter(middle, 0), middle, nextafter(middle, INFINITY)};
        const uint16_t expected[3] = {low, (uint16_t)(low + (low & 1)), (uint16_t)(low + 1)};
        uint16_t output[3];
        assert_ok(nt_element_convert(NT_ELEMENT_REAL64, input, NT_ELEMENT_REAL16, output, 3, &error));
        ck_assert_msg(!memcmp(output, expected, sizeof(output)), "beside %04x: %04x %04x %04x", low,
                      output[0], output[1], output[2]);
    }
}

TEST(numbers_beyond_all_halves_are_infinite_or_zero)
{
    const double input[] = {65520, 1e5, -1e300, 0x1p-26, -0x1p-1070, 65519.99};
    const uint16_t expected[] = {0x7C00, 0x7C00, 0xFC00, 0, 0x8000, 0x7BFF};
    uint16_t output[6];
    assert_ok(nt_element_convert(NT_ELEMENT_REAL64, input, NT_ELEMENT_REAL16, output, 6, &error));
    ck_assert_mem_eq(output, expected, sizeof(output));
}
