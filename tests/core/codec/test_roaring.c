/* SPDX-License-Identifier: MIT
 *
 * Roaring's three containers as encodings: the same values in each, and violations of their rules.
 */
#include <stdlib.h>
#include <string.h>

#include "core/codec/codec.h"
#include "support.h"

static struct nt_error error;

static enum nt_status decode(enum nt_encoding_kind kind, enum nt_element element, uint64_t parameter,
                             const uint8_t *packed, size_t packed_bytes, size_t elements, void *output)
{
    struct nt_decoder decoder;
    assert_ok(nt_decoder_init(&decoder, kind, 0, 0, 0, &error));
    decoder.element = element;
    decoder.element_bytes = nt_element_info(element)->bytes;
    const struct nt_packed what = {.decoder = &decoder,
                                   .parameter = parameter,
                                   .data = packed,
                                   .bytes = packed_bytes,
                                   .elements = elements};
    return nt_decode(&what, output, &error);
}

static enum nt_status decode32(enum nt_encoding_kind kind, const void *packed, size_t packed_bytes,
                               size_t elements, uint32_t *output)
{
    return decode(kind, NT_ELEMENT_UINT32, 0, packed, packed_bytes, elements, output);
}

TEST(arrays_hold_their_values)
{
    const uint8_t packed[] = {1, 0, 2, 0, 0, 1, 0xFF, 0xFF};
    uint32_t output[4];
    const uint32_t expected[] = {1, 2, 256, 65535};
    assert_ok(decode32(NT_ENCODING_ROARING_ARRAY, packed, 8, 4, output));
    ck_assert_mem_eq(output, expected, sizeof(expected));
    assert_status(NT_CORRUPT, decode32(NT_ENCODING_ROARING_ARRAY, packed, 8, 3, output));
    assert_status(NT_CORRUPT, decode32(NT_ENCODING_ROARING_ARRAY, packed, 7, 4, output));
}

TEST(runs_hold_their_ranges)
{
    const uint8_t packed[] = {2, 0, 5, 0, 2, 0, 0xFE, 0xFF, 1, 0}; /* 5..7 and 65534..65535 */
    uint32_t output[5];
    const uint32_t expected[] = {5, 6, 7, 65534, 65535};
    assert_ok(decode32(NT_ENCODING_ROARING_RUN, packed, 10, 5, output));
    ck_assert_mem_eq(output, expected, sizeof(expected));
    assert_status(NT_CORRUPT, decode32(NT_ENCODING_ROARING_RUN, packed, 10, 4, output));
    assert_status(NT_CORRUPT, decode32(NT_ENCODING_ROARING_RUN, packed, 10, 6, output));
    for (size_t bytes = 0; bytes < 10; bytes++)
        assert_status(NT_CORRUPT, decode32(NT_ENCODING_ROARING_RUN, packed, bytes, 5, output));
}

TEST(bitsets_hold_a_value_for_each_bit)
{
    static uint8_t packed[8192];
    static uint32_t output[65536];
    memset(packed, 0, sizeof(packed));
    packed[0] = 0x81, packed[1] = 1, packed[8191] = 0x80;
    const uint32_t expected[] = {0, 7, 8, 65535};
    assert_ok(decode32(NT_ENCODING_ROARING_BITSET, packed, 8192, 4, output));
    ck_assert_mem_eq(output, expected, sizeof(expected));
    assert_status(NT_CORRUPT, decode32(NT_ENCODING_ROARING_BITSET, packed, 8192, 3, output));
    assert_status(NT_CORRUPT, decode32(NT_ENCODING_ROARING_BITSET, packed, 8192, 5, output));
    assert_status(NT_CORRUPT, decode32(NT_ENCODING_ROARING_BITSET, packed, 8191, 4, output));
    memset(packed, 0xFF, sizeof(packed));
    assert_ok(decode32(NT_ENCODING_ROARING_BITSET, packed, 8192, 65536, output));
    for (uint32_t i = 0; i < 65536; i++)
        ck_assert_uint_eq(output[i], i);
}

TEST(the_higher_bits_are_added_in_both_widths)
{
    static uint8_t bitset[8192] = {6};
    const struct {
        enum nt_encoding_kind kind;
        const uint8_t *packed;
        size_t bytes;
    } containers[] = {{NT_ENCODING_ROARING_ARRAY, (const uint8_t *)"\1\0\2\0", 4},
                      {NT_ENCODING_ROARING_RUN, (const uint8_t *)"\1\0\1\0\1\0", 6},
                      {NT_ENCODING_ROARING_BITSET, bitset, sizeof(bitset)}};
    for (size_t i = 0; i < sizeof(containers) / sizeof(*containers); i++) {
        uint32_t narrow[2];
        uint64_t wide[2];
        assert_ok(decode(containers[i].kind, NT_ELEMENT_UINT32, 0xFFFF0000, containers[i].packed,
                         containers[i].bytes, 2, narrow));
        ck_assert(narrow[0] == 0xFFFF0001 && narrow[1] == 0xFFFF0002);
        assert_ok(decode(containers[i].kind, NT_ELEMENT_UINT64, UINT64_C(0xFFFFFFFFFFFF0000),
                         containers[i].packed, containers[i].bytes, 2, wide));
        ck_assert(wide[0] == UINT64_C(0xFFFFFFFFFFFF0001) && wide[1] == UINT64_C(0xFFFFFFFFFFFF0002));
    }
}

static const struct {
    enum nt_encoding_kind kind;
    const char *packed;
    size_t bytes, elements;
} wrong[] = {
    {NT_ENCODING_ROARING_ARRAY, "\2\0\1\0", 4, 2},            /* descending */
    {NT_ENCODING_ROARING_ARRAY, "\1\0\1\0", 4, 2},            /* twice the same */
    {NT_ENCODING_ROARING_RUN, "\2\0\5\0\1\0\1\0\1\0", 10, 4}, /* descending runs */
    {NT_ENCODING_ROARING_RUN, "\2\0\5\0\1\0\6\0\1\0", 10, 4}, /* overlapping runs */
    {NT_ENCODING_ROARING_RUN, "\1\0\xFF\xFF\1\0", 6, 2},      /* past 65535 */
    {NT_ENCODING_ROARING_RUN, "\0\0", 2, 1},                  /* no run */
    {NT_ENCODING_ROARING_RUN, "\1\0\0\0\xFF\xFF", 6, 2},      /* more values than elements */
    {NT_ENCODING_ROARING_RUN, "\2\0\0\0\0\0", 6, 1},          /* the second run is missing */
};

TEST(containers_against_the_rules_are_refused, .end = (int)(sizeof(wrong) / sizeof(*wrong)))
{
    uint32_t output[4];
    assert_status(NT_CORRUPT,
                  decode32(wrong[_i].kind, wrong[_i].packed, wrong[_i].bytes, wrong[_i].elements, output));
}

/* A random set as each of the three containers. */
TEST(the_three_containers_of_a_set_are_the_same_values, .end = 8)
{
    static uint8_t array[2 * 65536], runs[2 + 4 * 65536], bitset[8192];
    static uint32_t expected[65536], output[65536];
    size_t count = 0, run_count = 0;
    uint32_t value = 0;
    srand((unsigned)_i + 1);
    memset(bitset, 0, sizeof(bitset));
    for (unsigned gap = 0; value < 65536; value += 1 + gap) {
        bool continues = count && gap == 0;
        expected[count] = value;
        memcpy(array + 2 * count++, &value, 2);
        bitset[value / 8] |= (uint8_t)(1u << value % 8);
        uint8_t *run = runs + 2 + 4 * (run_count - continues);
        uint16_t length = continues ? (uint16_t)(run[2] | run[3] << 8) : 0;
        if (continues)
            length++;
        else
            memcpy(run, &value, 2), run_count++;
        memcpy(run + 2, &length, 2);
        gap = rand() % 3 ? 0 : (unsigned)(rand() % (_i * 40 + 2));
    }
    memcpy(runs, &run_count, 2);
    assert_ok(decode32(NT_ENCODING_ROARING_ARRAY, array, 2 * count, count, output));
    ck_assert_mem_eq(output, expected, 4 * count);
    assert_ok(decode32(NT_ENCODING_ROARING_BITSET, bitset, sizeof(bitset), count, output));
    ck_assert_mem_eq(output, expected, 4 * count);
    assert_ok(decode32(NT_ENCODING_ROARING_RUN, runs, 2 + 4 * run_count, count, output));
    ck_assert_mem_eq(output, expected, 4 * count);
}
