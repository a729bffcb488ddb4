/* SPDX-License-Identifier: MIT
 *
 * Each encoding against an encoder that is written here from the specification's definition (section "Column
 * Types" of the RNTuple format), on all lengths from 0 to 300, and against constants computed by hand or
 * by ROOT.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/codec/codec.h"
#include "support.h"

static struct nt_error error;

/* A column type of the specification; `element` is NumPy's name of the decoded type. */
static const struct specified {
    enum nt_encoding_kind kind;
    const char *name, *dtype;
    uint32_t bits;
    bool is_split, is_zigzag, is_delta, is_index, is_big;
} types[] = {
    {NT_ENCODING_BYTE, "Byte", "|u1", 8, false, false, false, false, false},
    {NT_ENCODING_CHAR, "Char", "|u1", 8, false, false, false, false, false},
    {NT_ENCODING_INT8, "Int8", "|i1", 8, false, false, false, false, false},
    {NT_ENCODING_UINT8, "UInt8", "|u1", 8, false, false, false, false, false},
    {NT_ENCODING_INT16, "Int16", "<i2", 16, false, false, false, false, false},
    {NT_ENCODING_UINT16, "UInt16", "<u2", 16, false, false, false, false, false},
    {NT_ENCODING_INT32, "Int32", "<i4", 32, false, false, false, false, false},
    {NT_ENCODING_UINT32, "UInt32", "<u4", 32, false, false, false, false, false},
    {NT_ENCODING_INT64, "Int64", "<i8", 64, false, false, false, false, false},
    {NT_ENCODING_UINT64, "UInt64", "<u8", 64, false, false, false, false, false},
    {NT_ENCODING_REAL16, "Real16", "<f2", 16, false, false, false, false, false},
    {NT_ENCODING_REAL32, "Real32", "<f4", 32, false, false, false, false, false},
    {NT_ENCODING_REAL64, "Real64", "<f8", 64, false, false, false, false, false},
    {NT_ENCODING_INDEX32, "Index32", "<u4", 32, false, false, false, true, false},
    {NT_ENCODING_INDEX64, "Index64", "<u8", 64, false, false, false, true, false},
    {NT_ENCODING_SPLIT_INT16, "SplitInt16", "<i2", 16, true, true, false, false, false},
    {NT_ENCODING_SPLIT_UINT16, "SplitUInt16", "<u2", 16, true, false, false, false, false},
    {NT_ENCODING_SPLIT_INT32, "SplitInt32", "<i4", 32, true, true, false, false, false},
    {NT_ENCODING_SPLIT_UINT32, "SplitUInt32", "<u4", 32, true, false, false, false, false},
    {NT_ENCODING_SPLIT_INT64, "SplitInt64", "<i8", 64, true, true, false, false, false},
    {NT_ENCODING_SPLIT_UINT64, "SplitUInt64", "<u8", 64, true, false, false, false, false},
    {NT_ENCODING_SPLIT_REAL16, "SplitReal16", "<f2", 16, true, false, false, false, false},
    {NT_ENCODING_SPLIT_REAL32, "SplitReal32", "<f4", 32, true, false, false, false, false},
    {NT_ENCODING_SPLIT_REAL64, "SplitReal64", "<f8", 64, true, false, false, false, false},
    {NT_ENCODING_SPLIT_INDEX32, "SplitIndex32", "<u4", 32, true, false, true, true, false},
    {NT_ENCODING_SPLIT_INDEX64, "SplitIndex64", "<u8", 64, true, false, true, true, false},
    {NT_ENCODING_BIG_INT16, "BigInt16", "<i2", 16, false, false, false, false, true},
    {NT_ENCODING_BIG_UINT16, "BigUInt16", "<u2", 16, false, false, false, false, true},
    {NT_ENCODING_BIG_INT32, "BigInt32", "<i4", 32, false, false, false, false, true},
    {NT_ENCODING_BIG_UINT32, "BigUInt32", "<u4", 32, false, false, false, false, true},
    {NT_ENCODING_BIG_INT64, "BigInt64", "<i8", 64, false, false, false, false, true},
    {NT_ENCODING_BIG_UINT64, "BigUInt64", "<u8", 64, false, false, false, false, true},
    {NT_ENCODING_BIG_REAL32, "BigReal32", "<f4", 32, false, false, false, false, true},
    {NT_ENCODING_BIG_REAL64, "BigReal64", "<f8", 64, false, false, false, false, true},
};
enum { TYPES = sizeof(types) / sizeof(*types), LONGEST = 4100 };

static uint64_t random_bits(void)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < 5; i++)
        bits = bits << 13 ^ (uint64_t)rand();
    return bits >> rand() % 64; /* of all magnitudes */
}

static uint64_t cut(uint64_t value, uint32_t bits)
{
    return value & UINT64_MAX >> (64 - bits);
}

/* Elements as unsigned numbers of `bits` bits: ascending for indices, else of any sign and magnitude. */
static void make_elements(const struct specified *type, size_t count, uint64_t *elements)
{
    uint64_t end = 0;
    for (size_t i = 0; i < count; i++) {
        end += (uint64_t)(rand() % 1000);
        uint64_t value = random_bits();
        elements[i] = cut(type->is_index ? end : rand() % 2 ? value : -value, type->bits);
    }
}

static uint64_t zigzag(uint64_t value, uint32_t bits)
{
    bool is_negative = value >> (bits - 1);
    return cut(is_negative ? 2 * cut(-value, bits) - 1 : 2 * value, bits);
}

/* The definition, from the element to the bytes: delta, zigzag, split. */
static void encode(const struct specified *type, const uint64_t *elements, size_t count, uint8_t *packed)
{
    uint32_t bytes = type->bits / 8;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = elements[i];
        if (type->is_delta && i > 0)
            value = cut(value - elements[i - 1], type->bits);
        if (type->is_zigzag)
            value = zigzag(value, type->bits);
        for (uint32_t byte = 0; byte < bytes; byte++)
            packed[type->is_split ? byte * count + i
                   : type->is_big ? i * bytes + bytes - 1 - byte
                                  : i * bytes + byte] = (uint8_t)(value >> 8 * byte);
    }
}

static enum nt_status decode(const struct nt_decoder *decoder, const uint8_t *data, size_t bytes,
                             size_t elements, void *output)
{
    const struct nt_packed packed = {.decoder = decoder, .data = data, .bytes = bytes, .elements = elements};
    return nt_decode(&packed, output, &error);
}

static void assert_round_trip(const struct specified *type, size_t count, size_t from, size_t to)
{
    static uint64_t elements[LONGEST];
    static uint8_t packed_memory[LONGEST * 8 + 16], output_memory[LONGEST * 8 + 32];
    uint8_t *packed = packed_memory + from, *output = output_memory + to;
    uint32_t bytes = type->bits / 8;
    struct nt_decoder decoder;
    uint64_t packed_bytes = 0;
    make_elements(type, count, elements);
    encode(type, elements, count, packed);
    memset(output, 0xA5, count * bytes + 1);
    assert_ok(nt_decoder_init(&decoder, type->kind, 0, 0, 0, &error));
    ck_assert(nt_packed_bytes(&decoder, count, &packed_bytes));
    ck_assert_uint_eq(packed_bytes, count * bytes);
    assert_ok(decode(&decoder, packed, packed_bytes, count, output));
    for (size_t i = 0; i < count; i++) {
        uint64_t found = 0;
        memcpy(&found, output + i * bytes, bytes);
        if (found != elements[i])
            ck_abort_msg("%s: element %zu of %zu", type->name, i, count);
    }
    ck_assert_uint_eq(output[count * bytes], 0xA5);
}

TEST(every_type_decodes_what_its_definition_encodes, .end = TYPES)
{
    srand((unsigned)_i + 1);
    for (size_t count = 0; count <= 300; count++)
        assert_round_trip(&types[_i], count, count % 16, count / 3 % 16);
    for (size_t count = 4090; count <= LONGEST; count++)
        assert_round_trip(&types[_i], count, 0, 0);
}

TEST(every_type_has_the_row_that_the_specification_says, .end = TYPES)
{
    const struct nt_encoding *row = nt_encoding_info(types[_i].kind);
    struct nt_decoder decoder;
    ck_assert_str_eq(row->name, types[_i].name);
    ck_assert_str_eq(nt_element_info(row->element)->dtype, types[_i].dtype);
    ck_assert(row->bits == types[_i].bits);
    ck_assert_int_eq(row->is_index, types[_i].is_index);
    ck_assert_int_eq(nt_encoding_is_identity(types[_i].kind), !types[_i].is_split && !types[_i].is_big);
    assert_ok(nt_decoder_init(&decoder, types[_i].kind, types[_i].bits, 0, 0, &error));
    const char *steps = nt_decoder_steps(&decoder);
    ck_assert_uint_eq(nt_decoder_stored_bits(&decoder), types[_i].bits);
    ck_assert_int_eq(strstr(steps, "big-endian") != NULL, types[_i].is_big);
    ck_assert_int_eq(strstr(steps, "split") != NULL, types[_i].is_split);
    ck_assert_int_eq(strstr(steps, "zigzag") != NULL, types[_i].is_zigzag);
    ck_assert_int_eq(strstr(steps, "delta") != NULL, types[_i].is_delta);
    assert_status(NT_CORRUPT, nt_decoder_init(&decoder, types[_i].kind, types[_i].bits + 1, 0, 0, &error));
}

TEST(packed_bytes_of_another_number_are_refused)
{
    uint8_t packed[101 * 8] = {0}, output[101 * 12];
    for (int kind = 0; kind < NT_ENCODING_COUNT; kind++) {
        const struct nt_encoding *row = nt_encoding_info((enum nt_encoding_kind)kind);
        struct nt_decoder decoder;
        uint64_t bytes = 0;
        uint32_t bits = row->bits ? row->bits : row->minimum_bits;
        if (!row->decode || bits == 0 || kind == NT_ENCODING_SWITCH)
            continue;
        assert_ok(nt_decoder_init(&decoder, (enum nt_encoding_kind)kind, bits, 0, 1, &error));
        ck_assert(nt_packed_bytes(&decoder, 100, &bytes));
        assert_ok(decode(&decoder, packed, bytes, 100, output));
        assert_status(NT_CORRUPT, decode(&decoder, packed, bytes - 1, 100, output));
        assert_status(NT_CORRUPT, decode(&decoder, packed, bytes + 1, 100, output));
        assert_status(NT_CORRUPT, decode(&decoder, packed, 0, 100, output));
    }
}

TEST(every_kind_has_a_complete_row)
{
    for (int kind = 0; kind < NT_ENCODING_COUNT; kind++) {
        const struct nt_encoding *row = nt_encoding_info((enum nt_encoding_kind)kind);
        ck_assert(row->name && (row->bits == 0 || row->maximum_bits == 0) &&
                  row->minimum_bits <= row->maximum_bits);
        ck_assert_int_eq(row->decode == NULL, kind == NT_ENCODING_OTHER || kind == NT_ENCODING_UNKNOWN);
        ck_assert(!nt_encoding_is_identity((enum nt_encoding_kind)kind) ||
                  row->element == NT_ELEMENT_OPAQUE || row->bits == 8 * nt_element_info(row->element)->bytes);
    }
}

TEST(sizes_that_overflow_are_noticed)
{
    struct nt_decoder decoder;
    uint64_t bytes = 0;
    assert_ok(nt_decoder_init(&decoder, NT_ENCODING_UINT64, 0, 0, 0, &error));
    ck_assert(nt_packed_bytes(&decoder, UINT64_MAX / 64, &bytes));
    ck_assert_uint_eq(bytes, UINT64_MAX / 64 * 8);
    ck_assert(!nt_packed_bytes(&decoder, UINT64_MAX / 64 + 1, &bytes));
    assert_status(NT_CORRUPT, decode(&decoder, NULL, 8, SIZE_MAX, NULL));
}

TEST(unknown_column_types_are_not_decoded)
{
    struct nt_decoder decoder;
    uint8_t byte = 0;
    assert_ok(nt_decoder_init(&decoder, NT_ENCODING_UNKNOWN, 17, 0, 0, &error));
    assert_status(NT_UNSUPPORTED, decode(&decoder, &byte, 1, 1, &byte));
}

/* ---- by hand ---- */

static void assert_decodes(enum nt_encoding_kind kind, uint32_t bits, double minimum, double maximum,
                           const void *packed, size_t packed_bytes, const void *expected, size_t elements)
{
    struct nt_decoder decoder;
    uint8_t output[256];
    assert_ok(nt_decoder_init(&decoder, kind, bits, minimum, maximum, &error));
    ck_assert_uint_le(elements * decoder.element_bytes, sizeof(output));
    assert_ok(decode(&decoder, packed, packed_bytes, elements, output));
    ck_assert_mem_eq(output, expected, elements * decoder.element_bytes);
}

TEST(split_integers_by_hand)
{
    const int32_t expected32[] = {1, -1, 2, -300};
    const uint8_t packed32[] = {2, 1, 4, 0x57, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0};
    assert_decodes(NT_ENCODING_SPLIT_INT32, 0, 0, 0, packed32, 16, expected32, 4);
    const int16_t expected16[] = {INT16_MIN, INT16_MAX, 0};
    const uint8_t packed16[] = {0xFF, 0xFE, 0, 0xFF, 0xFF, 0};
    assert_decodes(NT_ENCODING_SPLIT_INT16, 0, 0, 0, packed16, 6, expected16, 3);
    const int64_t expected64[] = {INT64_MIN, 3};
    const uint8_t packed64[] = {0xFF, 6, 0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0};
    assert_decodes(NT_ENCODING_SPLIT_INT64, 0, 0, 0, packed64, 16, expected64, 2);
    const uint32_t unsigned32[] = {0x04030201, 0x08070605};
    assert_decodes(NT_ENCODING_SPLIT_UINT32, 0, 0, 0, "\1\5\2\6\3\7\4\10", 8, unsigned32, 2);
}

TEST(split_indices_by_hand)
{
    const uint32_t expected32[] = {3, 5, 5, 261};
    const uint8_t packed32[] = {3, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};
    assert_decodes(NT_ENCODING_SPLIT_INDEX32, 0, 0, 0, packed32, 16, expected32, 4);
    const uint64_t expected64[] = {UINT64_C(1) << 56, (UINT64_C(1) << 56) + 2};
    const uint8_t packed64[] = {0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0};
    assert_decodes(NT_ENCODING_SPLIT_INDEX64, 0, 0, 0, packed64, 16, expected64, 2);
}

TEST(bits_by_hand)
{
    assert_decodes(NT_ENCODING_BIT, 0, 0, 0, "\x0D\x01", 2, "\1\0\1\1\0\0\0\0\1", 9);
    /* bits after the last element are ignored */
    assert_decodes(NT_ENCODING_BIT, 0, 0, 0, "\xF6", 1, "\0\1\1", 3);
}

TEST(switches_of_all_generations_by_hand)
{
    const uint8_t first[12] = {5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
    const uint8_t expected[24] = {5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0};
    const uint8_t in_32_32[16] = {5, 0, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0, 2, 1, 0, 0};
    const uint8_t in_44_20[16] = {5, 0, 0, 0, 0, 0x10, 0, 0, 6, 0, 0, 0, 0, 0x20, 0x10, 0};
    const uint8_t highest[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    const uint8_t all_44_20[12] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0, 0, 0xFF, 0xFF, 0x0F, 0};
    assert_decodes(NT_ENCODING_SWITCH, 0, 0, 0, expected, 24, expected, 2);
    assert_decodes(NT_ENCODING_SWITCH_32_32, 0, 0, 0, in_32_32, 16, expected, 2);
    assert_decodes(NT_ENCODING_SWITCH_44_20, 0, 0, 0, in_44_20, 16, expected, 2);
    assert_decodes(NT_ENCODING_SWITCH_44_20, 0, 0, 0, highest, 8, all_44_20, 1);
    assert_decodes(NT_ENCODING_SWITCH_44_20, 0, 0, 0, in_44_20, 8, first, 1);
}

TEST(opaque_elements_are_whole_bytes)
{
    struct nt_decoder decoder;
    assert_decodes(NT_ENCODING_OPAQUE, 40, 0, 0, "abcdefghij", 10, "abcdefghij", 2);
    assert_status(NT_CORRUPT, nt_decoder_init(&decoder, NT_ENCODING_OPAQUE, 12, 0, 0, &error));
    assert_status(NT_CORRUPT, nt_decoder_init(&decoder, NT_ENCODING_OPAQUE, 0, 0, 0, &error));
}

/* ---- reals of fewer bits ---- */

static void append_bits(uint8_t *packed, size_t *bit, uint32_t value, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++, ++*bit)
        packed[*bit / 8] |= (uint8_t)((value >> i & 1) << *bit % 8);
}

TEST(truncated_reals_by_hand)
{
    /* The upper ten bits of -2 (0xC0000000) and 1 (0x3F800000) are 0x300 and 0x0FE. */
    const float expected[] = {-2.0f, 1.0f};
    assert_decodes(NT_ENCODING_REAL32_TRUNC, 10, 0, 0, "\x00\xFB\x03", 3, expected, 2);
}

TEST(truncated_reals_of_every_width_are_the_upper_bits, .first = 10, .end = 32)
{
    uint32_t width = (uint32_t)_i, elements[300];
    srand(width);
    for (size_t count = 0; count <= 300; count++) {
        uint8_t packed[300 * 4] = {0};
        uint32_t output[300];
        struct nt_decoder decoder;
        size_t bit = 0;
        for (size_t i = 0; i < count; i++) {
            elements[i] = (uint32_t)random_bits() & ~(uint32_t)0 << (32 - width);
            append_bits(packed, &bit, elements[i] >> (32 - width), width);
        }
        assert_ok(nt_decoder_init(&decoder, NT_ENCODING_REAL32_TRUNC, width, 0, 0, &error));
        assert_ok(decode(&decoder, packed, (bit + 7) / 8, count, (uint8_t *)output));
        ck_assert_mem_eq(output, elements, 4 * count);
    }
}

/* Values that ROOT 6.40 reads from such columns. */
TEST(quantized_reals_as_root_reads_them)
{
    const float eight[] = {-0.49803921580314636f, 0.003921568859368563f, -1.0f, 1.0f};
    assert_decodes(NT_ENCODING_REAL32_QUANT, 8, -1, 1, "\x40\x80\x00\xFF", 4, eight, 4);
    const float whole[] = {7.314588934548283e-10f, -3.1415927410125732f, 3.1415927410125732f};
    const uint32_t steps[] = {UINT32_C(1) << 31, 0, UINT32_MAX};
    assert_decodes(NT_ENCODING_REAL32_QUANT, 32, -3.1415927410125732, 3.1415927410125732, steps, 12, whole,
                   3);
    const float one[] = {-1.0f, 1.0f, 1.0f, -1.0f, 1.0f};
    assert_decodes(NT_ENCODING_REAL32_QUANT, 1, -1, 1, "\x16", 1, one, 5);
}

TEST(quantized_reals_of_fields_of_64_bits_as_root_reads_them)
{
    static const struct {
        uint32_t bits;
        double minimum, maximum;
        const void *packed;
        size_t bytes, count;
        double expected[3];
    } cases[] = {
        {32,
         -100,
         25,
         "\x41\x60\xE5\xD0\xCC\xCC\xCC\xCC\x00\x00\x00\x80",
         12,
         3,
         {0x1.000000118p+1, 0, -0x1.2bfffffe0cp+5}},
        {20,
         -1e300,
         1e300,
         "\x9A\x99\x31\x33\x33",
         5,
         2,
         {-7.9999904632477418e+299, -6.0000000000000003e+299}},
        {20, 1e-50, 1e-45, "\x00\x00\xB0\x99\x19", 5, 2, {1e-50, 1.0001043049853373e-46}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct nt_decoder decoder;
        double output[3];
        assert_ok(nt_decoder_init(&decoder, NT_ENCODING_REAL32_QUANT, cases[i].bits, cases[i].minimum,
                                  cases[i].maximum, &error));
        nt_decoder_set_element(&decoder, NT_ELEMENT_REAL64);
        assert_ok(decode(&decoder, cases[i].packed, cases[i].bytes, cases[i].count, (uint8_t *)output));
        ck_assert_mem_eq(output, cases[i].expected, cases[i].count * sizeof(double));
    }
}

TEST(quantized_reals_of_every_width_are_in_equal_steps, .first = 1, .end = 33)
{
    uint32_t width = (uint32_t)_i;
    const long double minimum = -2.5L, range = 10.25L, steps = (long double)(UINT32_MAX >> (32 - width));
    srand(width);
    for (size_t count = 0; count <= 300; count++) {
        uint8_t packed[300 * 4] = {0};
        uint32_t stored[300];
        float output[300];
        struct nt_decoder decoder;
        size_t bit = 0;
        for (size_t i = 0; i < count; i++) {
            stored[i] = i == 0   ? 0
                        : i == 1 ? UINT32_MAX >> (32 - width)
                                 : (uint32_t)cut(random_bits(), width);
            append_bits(packed, &bit, stored[i], width);
        }
        assert_ok(nt_decoder_init(&decoder, NT_ENCODING_REAL32_QUANT, width, (double)minimum,
                                  (double)(minimum + range), &error));
        assert_ok(decode(&decoder, packed, (bit + 7) / 8, count, (uint8_t *)output));
        for (size_t i = 0; i < count; i++) {
            long double exact = minimum + (long double)stored[i] * range / steps;
            if (!(fabsl((long double)output[i] - exact) <= 6e-8L * fabsl(exact) + 4e-15L))
                ck_abort_msg("%u bits: %u gave %g instead of %Lg", width, stored[i], (double)output[i],
                             exact);
        }
    }
}

TEST(widths_that_the_specification_does_not_have_are_refused)
{
    struct nt_decoder decoder;
    for (uint32_t bits = 1; bits < 70; bits++) {
        assert_status(bits >= 10 && bits <= 31 ? NT_OK : NT_CORRUPT,
                      nt_decoder_init(&decoder, NT_ENCODING_REAL32_TRUNC, bits, 0, 0, &error));
        assert_status(bits <= 32 ? NT_OK : NT_CORRUPT,
                      nt_decoder_init(&decoder, NT_ENCODING_REAL32_QUANT, bits, 0, 1, &error));
    }
    assert_status(NT_CORRUPT, nt_decoder_init(&decoder, NT_ENCODING_REAL32_TRUNC, 0, 0, 0, &error));
    assert_status(NT_CORRUPT, nt_decoder_init(&decoder, NT_ENCODING_REAL32_QUANT, 0, 0, 1, &error));
}

/* ---- ROOT's streamers ---- */

TEST(bytes_are_true_unless_they_are_0)
{
    assert_decodes(NT_ENCODING_BOOL8, 0, 0, 0, "\0\1\2\xFF\0", 5, "\0\1\1\1\0", 5);
}

TEST(big_endian_numbers_by_hand)
{
    const int16_t shorts[] = {-2, 258};
    assert_decodes(NT_ENCODING_BIG_INT16, 0, 0, 0, "\xFF\xFE\1\2", 4, shorts, 2);
    const uint64_t longs[] = {UINT64_C(0x0102030405060708), 9, UINT64_MAX - 1};
    assert_decodes(NT_ENCODING_BIG_UINT64, 0, 0, 0,
                   "\1\2\3\4\5\6\7\10\0\0\0\0\0\0\0\11\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFE", 24, longs, 3);
    const float reals[] = {1.0f, -2.5f};
    assert_decodes(NT_ENCODING_BIG_REAL32, 0, 0, 0, "\x3F\x80\0\0\xC0\x20\0\0", 8, reals, 2);
    const double wide[] = {1.0, -2.5};
    assert_decodes(NT_ENCODING_DOUBLE32, 0, 0, 0, "\x3F\x80\0\0\xC0\x20\0\0", 8, wide, 2);
}

/* Random bytes, and what ROOT 6.40's TBufferFile reads from them. */
static const struct few_bits {
    double mantissa; /* fXmin, where ROOT keeps the number of bits */
    const char *packed;
    double expected[6];
} few_bits[] = {
    {2.1,
     "\x82\xB7\x0E\xEE\x7F\x1A\x50\x39\xBE\xF0\x7E\xC2\x34\x7F\x06\x6E\xD0\x8F",
     {-0x1.8p+4, -0x1.8p+111, -0x1.8p-46, 0x1.8p+113, 0x1.8p-74, -0x1.cp-16}},
    {7.1,
     "\x9C\xF6\xA1\x5E\xF6\xF1\x5A\x1D\x83\x0B\xB7\xCE\x09\xD6\xBB\xC0\x04\xE7",
     {0x1.42p+30, 0x1.e2p-32, -0x1.06p-36, -0x1.9cp-116, 0x1.76p-118, 0x1.cep+66}},
    {12.1,
     "\x5D\xC7\x51\x24\x47\xE3\x40\x43\x00\x02\x6B\x6E\x54\x55\x94\xA0\x65\x68",
     {0x1.751p-34, 0x1.7e3p-91, 0x1.3p-63, -0x1.b6ep-125, 0x1.594p-42, -0x1.568p+33}},
    {0,
     "\x5D\xC7\x51\x24\x47\xE3\x40\x43\x00\x02\x6B\x6E\x54\x55\x94\xA0\x65\x68",
     {0x1.751p-34, 0x1.7e3p-91, 0x1.3p-63, -0x1.b6ep-125, 0x1.594p-42, -0x1.568p+33}},
    {14.1,
     "\x5D\x64\xC4\x98\x0B\xB8\xD4\x54\x4A\x87\x21\xA9\x9A\x01\xAD\x21\x9E\xB5",
     {0x1.931p-34, 0x1.2eep+25, 0x1.5128p+86, 0x1.86a4p+8, 0x1.06b4p+27, -0x1.7ad4p-94}},
};

TEST(reals_of_few_bits_as_root_reads_them, .end = COUNT_OF(few_bits))
{
    const struct few_bits *row = &few_bits[_i];
    float narrow[6];
    for (unsigned i = 0; i < 6; i++)
        narrow[i] = (float)row->expected[i];
    assert_decodes(NT_ENCODING_FLOAT16_BITS, 0, row->mantissa, 0, row->packed, 18, narrow, 6);
    assert_decodes(NT_ENCODING_DOUBLE32_BITS, 0, row->mantissa, 0, row->packed, 18, row->expected, 6);
}

TEST(mantissas_that_do_not_fit_are_refused)
{
    static const double mantissas[] = {-1, 15, 16, 1e300, NAN};
    for (unsigned i = 0; i < 5; i++) {
        struct nt_decoder decoder;
        double output[2];
        assert_ok(nt_decoder_init(&decoder, NT_ENCODING_FLOAT16_BITS, 0, mantissas[i], 0, &error));
        assert_status(NT_CORRUPT, decode(&decoder, (const uint8_t *)"abcdef", 6, 2, output));
        assert_ok(nt_decoder_init(&decoder, NT_ENCODING_DOUBLE32_BITS, 0, mantissas[i], 0, &error));
        assert_status(NT_CORRUPT, decode(&decoder, (const uint8_t *)"abcdef", 6, 2, output));
    }
}

static const struct range {
    double minimum, factor;
    const char *packed;
    float narrow[6];
    double wide[6];
} ranges[] = {
    {-1.5, /* to 3.25, of 32 bits */
     0x1.af286bc86bca2p+29,
     "\x00\x00\x00\x00\x00\x00\x00\x01\xFF\xFF\xFF\xFF\x0B\xF6\x4E\xF7\xB5\x2F\xA5\x3C\x2E\x50\xBD\x4E",
     {-0x1.8p+0f, -0x1.8p+0f, 0x1.ap+1f, -0x1.472e08p+0f, 0x1.dca25p+0f, -0x1.4800fap-1f},
     {-0x1.8p+0, -0x1.7ffffffb4p+0, 0x1.ap+1, -0x1.472e08ea872e1p+0, 0x1.dca250e05ca24p+0,
      -0x1.4800f9994801p-1}},
    {0, /* to 2 pi, of 16 bits */
     0x1.45f306dc9c883p+13,
     "\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\xFF\xFF\x00\x00\x64\x9E\x00\x00\x3C\xF0\x00\x00\x7D\xFF",
     {0, 0x1.921fb6p-14f, 0x1.921e24p+2f, 0x1.3c1924p+1f, 0x1.7ee1bp+0f, 0x1.8bd412p+1f},
     {0, 0x1.921fb54442d18p-14, 0x1.921e23248d8d4p+2, 0x1.3c1924c114762p+1, 0x1.7ee1b0d7be9efp+0,
      0x1.8bd4122fc73dbp+1}},
    {-100, /* to 100, of 30 bits */
     0x1.47ae147ae147bp+22,
     "\x00\x00\x00\x00\x00\x00\x00\x01\x3F\xFF\xFF\xFF\x3B\x29\x8B\x9B\x2C\x14\xB4\x0C\x2D\x69\xDD\x19",
     {-0x1.9p+6f, -0x1.9p+6f, 0x1.9p+6f, 0x1.538752p+6f, 0x1.2e0596p+5f, 0x1.4f5698p+5f},
     {-0x1.9p+6, -0x1.8ffffff38p+6, 0x1.8ffffff38p+6, 0x1.538751118p+6, 0x1.2e05952cp+5, 0x1.4f569771p+5}},
    {0.001, /* to 1e7, of 10 bits */
     0x1.ad7f29ac836c3p-14,
     "\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x03\xFF\x00\x00\x02\x01\x00\x00\x03\xB3\x00\x00\x00\xDD",
     {0x1.0624dep-10f, 0x1.312d02p+13f, 0x1.30e0b4p+23f, 0x1.31c596p+22f, 0x1.1a3a5ep+23f, 0x1.0773dap+21f},
     {0x1.0624dd2f1a9fcp-10, 0x1.312d020bc6a7fp+13, 0x1.30e0b4c00020cp+23, 0x1.31c5968082d0ep+22,
      0x1.1a3a5dc009db2p+23, 0x1.0773d9019b22dp+21}},
};

TEST(reals_with_a_range_as_root_reads_them, .end = COUNT_OF(ranges))
{
    const struct range *row = &ranges[_i];
    assert_decodes(NT_ENCODING_FLOAT16_RANGE, 0, row->minimum, row->factor, row->packed, 24, row->narrow, 6);
    assert_decodes(NT_ENCODING_DOUBLE32_RANGE, 0, row->minimum, row->factor, row->packed, 24, row->wide, 6);
}

/* The definition, applied to each number. */
TEST(reals_with_a_range_are_quotients_on_all_lengths)
{
    enum { MOST = 70 };
    struct nt_decoder decoder;
    uint8_t packed[4 * MOST];
    double output[MOST];
    srand(3);
    assert_ok(nt_decoder_init(&decoder, NT_ENCODING_DOUBLE32_RANGE, 0, -7, 0x1.8p+9, &error));
    for (size_t count = 0; count <= MOST; count++) {
        for (size_t i = 0; i < 4 * count; i++)
            packed[i] = (uint8_t)rand();
        assert_ok(decode(&decoder, packed, 4 * count, count, output));
        for (size_t i = 0; i < count; i++) {
            const uint8_t *at = packed + 4 * i;
            double stored = at[0] * 16777216.0 + at[1] * 65536.0 + at[2] * 256.0 + at[3];
            ck_assert(output[i] == stored / 768.0 - 7.0);
        }
    }
}
