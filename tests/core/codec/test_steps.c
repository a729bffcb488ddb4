/* SPDX-License-Identifier: MIT
 *
 * Decoding steps compared with loops written from their definitions, on all short lengths, some long ones,
 * and all alignments.
 */
#include <stdlib.h>
#include <string.h>

#include "core/codec/codec.h"
#include "support.h"

enum { LONGEST = 4200, GUARD = 0xA5 };

static uint8_t input_memory[LONGEST * 8 + 32], output_memory[LONGEST * 8 + 32];

static void set_up(void)
{
    srand(1);
    for (size_t i = 0; i < sizeof(input_memory); i++)
        input_memory[i] = (uint8_t)rand();
}

/* 0..300, then around 4096. */
static size_t next_length(size_t length)
{
    return length == 300 ? 4090 : length + 1;
}

static uint64_t element_of(const uint8_t *planes, size_t count, size_t i, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned byte = 0; byte < bytes; byte++)
        value |= (uint64_t)planes[byte * count + i] << 8 * byte;
    return value;
}

static uint64_t low_bits(uint64_t value, unsigned bytes)
{
    return value & UINT64_MAX >> (64 - 8 * bytes);
}

typedef void unsplit(const uint8_t *planes, size_t count, enum nt_finish finish, uint8_t *output);

static const struct {
    unsplit *function;
    unsigned bytes;
    enum nt_finish finish;
} unsplits[] = {
    {nt_unsplit16, 2, NT_FINISH_NOTHING}, {nt_unsplit16, 2, NT_FINISH_ZIGZAG},
    {nt_unsplit32, 4, NT_FINISH_NOTHING}, {nt_unsplit32, 4, NT_FINISH_ZIGZAG},
    {nt_unsplit32, 4, NT_FINISH_DELTA},   {nt_unsplit64, 8, NT_FINISH_NOTHING},
    {nt_unsplit64, 8, NT_FINISH_ZIGZAG},  {nt_unsplit64, 8, NT_FINISH_DELTA},
};

static void assert_unsplits(const uint8_t *planes, size_t count, size_t row, uint8_t *output)
{
    unsigned bytes = unsplits[row].bytes;
    uint64_t sum = 0;
    memset(output, GUARD, count * bytes + 1);
    unsplits[row].function(planes, count, unsplits[row].finish, output);
    for (size_t i = 0; i < count; i++) {
        uint64_t expected = element_of(planes, count, i, bytes), found = 0;
        if (unsplits[row].finish == NT_FINISH_ZIGZAG) /* odd numbers are negative */
            expected = expected % 2 ? -(expected / 2) - 1 : expected / 2;
        else if (unsplits[row].finish == NT_FINISH_DELTA)
            expected = sum += expected;
        memcpy(&found, output + i * bytes, bytes);
        if (found != low_bits(expected, bytes))
            ck_abort_msg("element %zu of %zu", i, count);
    }
    ck_assert_uint_eq(output[count * bytes], GUARD);
}

TEST(unsplit_equals_its_definition_on_all_lengths, .setup = set_up,
     .end = (int)(sizeof(unsplits) / sizeof(*unsplits)))
{
    for (size_t count = 0; count <= LONGEST; count = next_length(count))
        assert_unsplits(input_memory, count, (size_t)_i, output_memory);
}

TEST(unsplit_needs_no_alignment, .setup = set_up, .end = (int)(sizeof(unsplits) / sizeof(*unsplits)))
{
    for (size_t from = 0; from < 16; from++)
        for (size_t to = 0; to < 16; to++)
            assert_unsplits(input_memory + from, 47, (size_t)_i, output_memory + to);
}

static void assert_unpacks_bits(const uint8_t *packed, size_t count, uint8_t *output)
{
    memset(output, GUARD, count + 1);
    nt_unpack_bits(packed, count, output);
    for (size_t i = 0; i < count; i++)
        if (output[i] != (packed[i / 8] >> i % 8 & 1))
            ck_abort_msg("bit %zu of %zu", i, count);
    ck_assert_uint_eq(output[count], GUARD);
}

TEST(bits_become_bytes_at_all_lengths_and_alignments, .setup = set_up)
{
    for (size_t count = 0; count <= LONGEST; count = next_length(count))
        assert_unpacks_bits(input_memory, count, output_memory);
    for (size_t from = 0; from < 16; from++)
        for (size_t to = 0; to < 16; to++)
            assert_unpacks_bits(input_memory + from, 150, output_memory + to);
}

static uint32_t integer_bit_by_bit(const uint8_t *packed, size_t index, unsigned width)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < width; i++) {
        size_t bit = index * width + i;
        value |= (uint32_t)(packed[bit / 8] >> bit % 8 & 1) << i;
    }
    return value;
}

/* From memory that ends with the page, so that a sanitizer sees any read past it. */
static void assert_unpacks_integers(unsigned width, size_t total, size_t first)
{
    size_t bytes = (total * width + 7) / 8;
    uint8_t *packed = malloc(bytes ? bytes : 1);
    uint32_t *output = malloc((total - first + 1) * sizeof(*output));
    ck_assert(packed && output);
    if (bytes)
        memcpy(packed, input_memory + width, bytes);
    output[total - first] = 12345;
    nt_unpack_integers(packed, bytes, width, first, total - first, output);
    for (size_t i = first; i < total; i++)
        if (output[i - first] != integer_bit_by_bit(packed, i, width))
            ck_abort_msg("%u bits, element %zu of %zu", width, i, total);
    ck_assert_uint_eq(output[total - first], 12345);
    free(packed);
    free(output);
}

TEST(integers_of_every_width_equal_their_bits, .setup = set_up, .first = 1, .end = 33)
{
    unsigned width = (unsigned)_i;
    for (size_t total = 0; total <= LONGEST; total = next_length(total))
        assert_unpacks_integers(width, total, 0);
    for (size_t first = 0; first <= 64; first += 8)
        for (size_t total = first; total < first + 40; total++)
            assert_unpacks_integers(width, total, first);
}
