/* SPDX-License-Identifier: MIT
 *
 * Bit-packed blocks, compared with a packer that follows the definition of the layout bit by bit. Inputs
 * and outputs end at the end of their memory.
 */
#include <string.h>

#include "formats/lance/decode/decode.h"
#include "compressors.h"
#include "support.h"

enum { BLOCK = 1024, MOST = 4 * BLOCK, GUARD = 0xA5 };

static struct nt_error error;
static uint64_t values[MOST];

static void set_up(void)
{
    srand(7);
    for (size_t i = 0; i < MOST; i++)
        values[i] = (uint64_t)rand() << 40 ^ (uint64_t)rand() << 20 ^ (uint64_t)rand();
}

static const uint32_t word_sizes[] = {8, 16, 32, 64};
static const uint64_t counts[] = {1, 2, 7, 100, 511, 1023, 1024, 1025, 1999, 2048, 3333};

enum { SIZES = sizeof(word_sizes) / sizeof(*word_sizes), COUNTS = sizeof(counts) / sizeof(*counts) };

static uint64_t value_at(size_t index, uint32_t width)
{
    return width ? values[index] & UINT64_MAX >> (64 - width) : 0;
}

/* Row `row` of lane `lane` is this element of the block. */
static size_t element_of(uint32_t row, uint32_t lane)
{
    static const uint32_t order[] = {0, 4, 2, 6, 1, 5, 3, 7};
    return order[row / 8] * 16 + row % 8 * 128 + lane;
}

/* A block of the elements from `first`; those from `end` on are zero. */
static void pack_block(uint32_t word_bits, uint32_t width, size_t first, size_t end, uint8_t *block)
{
    uint32_t lanes = BLOCK / word_bits;
    memset(block, 0, (size_t)width * 128);
    for (uint32_t row = 0; row < word_bits; row++)
        for (uint32_t lane = 0; lane < lanes; lane++)
            for (uint32_t bit = 0; bit < width; bit++) {
                size_t index = first + element_of(row, lane), of_lane = (size_t)row * width + bit;
                size_t place = (of_lane / word_bits * lanes + lane) * word_bits + of_lane % word_bits;
                uint64_t value = index < end ? value_at(index, width) : 0;
                block[place / 8] |= (uint8_t)((value >> bit & 1) << place % 8);
            }
}

/* Blocks, each with its width before it if `is_inline`; a tail of unpacked words if `is_bare`. Returns
 * their bytes. */
static size_t pack(uint32_t word_bits, uint32_t width, size_t count, bool is_inline, bool is_bare,
                   uint8_t *packed)
{
    size_t bytes = 0;
    for (size_t first = 0; first < count; first += BLOCK) {
        if (is_bare && count - first < BLOCK) {
            for (size_t i = first; i < count; i++, bytes += word_bits / 8)
                memcpy(packed + bytes, &values[i], word_bits / 8);
            continue;
        }
        if (is_inline) {
            memset(packed + bytes, 0, word_bits / 8);
            packed[bytes] = (uint8_t)width;
            bytes += word_bits / 8;
        }
        pack_block(word_bits, width, first, count, packed + bytes);
        bytes += (size_t)width * 128;
    }
    return bytes;
}

static enum nt_status unpack(const uint8_t *packed, size_t packed_bytes, uint32_t word_bits, uint32_t width,
                             bool is_inline, uint64_t count, uint8_t *output)
{
    uint8_t *input = exact_copy(packed, packed_bytes);
    enum nt_status status =
        is_inline ? nt_unpack_inline(input, packed_bytes, word_bits, count, output, &error)
                  : nt_unpack_blocks(input, packed_bytes, word_bits, width, count, output, &error);
    free(input);
    return status;
}

/* The output's memory has one extra byte, which must not change. Elements from `bare_from` have all
 * their bits. */
static void assert_unpacks(const uint8_t *packed, size_t packed_bytes, uint32_t word_bits, uint32_t width,
                           bool is_inline, size_t count, size_t bare_from)
{
    size_t word_bytes = word_bits / 8;
    uint8_t *output = malloc(count * word_bytes + 1);
    ck_assert(output);
    memset(output, GUARD, count * word_bytes + 1);
    assert_ok(unpack(packed, packed_bytes, word_bits, width, is_inline, count, output));
    for (size_t i = 0; i < count; i++) {
        uint64_t found = 0, expected = value_at(i, i < bare_from ? width : word_bits);
        memcpy(&found, output + i * word_bytes, word_bytes);
        if (found != expected)
            ck_abort_msg("%u of %u bits, element %zu of %zu", width, word_bits, i, count);
    }
    ck_assert_uint_eq(output[count * word_bytes], GUARD);
    free(output);
}

static uint8_t packed_memory[MOST * 8 + 64];

TEST(every_width_of_every_word_gives_back_what_was_packed, .setup = set_up, .end = SIZES)
{
    uint32_t word_bits = word_sizes[_i];
    for (uint32_t width = 0; width <= word_bits; width++)
        for (size_t i = 0; i < COUNTS; i++)
            for (int is_inline = 0; is_inline < 2; is_inline++) {
                size_t bytes = pack(word_bits, width, counts[i], is_inline, false, packed_memory);
                if (!is_inline && counts[i] % BLOCK * word_bits == (size_t)width * BLOCK)
                    continue; /* would be taken as unpacked */
                assert_unpacks(packed_memory, bytes, word_bits, width, is_inline, counts[i], counts[i]);
            }
}

TEST(a_tail_may_be_bare_words, .setup = set_up, .end = SIZES)
{
    uint32_t word_bits = word_sizes[_i];
    for (uint32_t width = 0; width <= word_bits; width++)
        for (size_t i = 0; i < COUNTS; i++) {
            size_t bytes = pack(word_bits, width, counts[i], false, true, packed_memory);
            assert_unpacks(packed_memory, bytes, word_bits, width, false, counts[i],
                           counts[i] - counts[i] % BLOCK);
        }
}

TEST(a_tail_whose_size_says_both_is_bare, .setup = set_up)
{
    /* 512 words of 16 bits are as long as a block of 8 bits each */
    size_t bytes = pack(16, 8, 1536, false, true, packed_memory);
    ck_assert_uint_eq(bytes, 2 * 1024);
    assert_unpacks(packed_memory, bytes, 16, 8, false, 1536, 1024);
}

/* One element has all its bits, the others none: the position of its bits was computed by hand. */
static const struct {
    uint32_t word_bits, width;
    size_t element, byte;
    uint8_t bits[3];
} known[] = {
    {8, 1, 300, 44, {0x04}},         /* row 2, lane 44 */
    {16, 9, 453, 778, {0xF8, 0x0F}}, /* row 11, lane 5: from bit 99, bit 3 of word 6 */
    {32, 5, 100, 403, {0x1F}},       /* row 24, lane 4: from bit 120, bit 24 of word 3 */
    {64, 7, 1023, 895, {0xFE}},      /* row 63, lane 15: from bit 441, bit 57 of word 6 */
    {64, 3, 16, 132, {0x07}},        /* row 32, lane 0: from bit 96, bit 32 of word 1 */
};

TEST(an_element_is_where_the_layout_has_it, .setup = set_up, .end = sizeof(known) / sizeof(*known))
{
    uint8_t block[64 * 128] = {0}, output[BLOCK * 8];
    uint32_t word_bytes = known[_i].word_bits / 8;
    memcpy(block + known[_i].byte, known[_i].bits, 3);
    assert_ok(
        unpack(block, known[_i].width * 128, known[_i].word_bits, known[_i].width, false, BLOCK, output));
    for (size_t i = 0; i < BLOCK; i++) {
        uint64_t found = 0, expected = i == known[_i].element ? (UINT64_C(1) << known[_i].width) - 1 : 0;
        memcpy(&found, output + i * word_bytes, word_bytes);
        ck_assert_uint_eq(found, expected);
    }
}

TEST(blocks_may_have_different_widths, .setup = set_up)
{
    uint8_t output[3 * BLOCK * 2];
    static const uint32_t widths[] = {3, 0, 16};
    size_t bytes = 0;
    for (size_t i = 0; i < 3; i++) {
        packed_memory[bytes] = (uint8_t)widths[i];
        packed_memory[bytes + 1] = 0;
        pack_block(16, widths[i], i * BLOCK, MOST, packed_memory + bytes + 2);
        bytes += 2 + widths[i] * 128;
    }
    assert_ok(unpack(packed_memory, bytes, 16, 0, true, 3 * BLOCK, output));
    for (size_t i = 0; i < 3 * BLOCK; i++)
        ck_assert_uint_eq(output[2 * i] | output[2 * i + 1] << 8, value_at(i, widths[i / BLOCK]));
}

TEST(no_element_needs_no_byte, .setup = set_up)
{
    for (size_t i = 0; i < SIZES; i++) {
        assert_ok(nt_unpack_inline(NULL, 0, word_sizes[i], 0, NULL, &error));
        assert_ok(nt_unpack_blocks(NULL, 0, word_sizes[i], 3, 0, NULL, &error));
        uint8_t zeros[4] = {1, 1, 1, 1};
        assert_ok(nt_unpack_blocks(NULL, 0, 8, 0, 3, zeros, &error));
        ck_assert_mem_eq(zeros, ((uint8_t[]){0, 0, 0, 1}), 4);
    }
}

TEST(input_of_another_size_is_refused, .setup = set_up, .end = SIZES)
{
    static uint8_t output[MOST * 8];
    uint32_t word_bits = word_sizes[_i], width = word_bits / 2 + 1;
    size_t count = 1800, bytes = pack(word_bits, width, count, true, false, packed_memory);
    memset(packed_memory + bytes, 0, 16);
    for (size_t size = 0; size < bytes; size++)
        assert_status(NT_CORRUPT, unpack(packed_memory, size, word_bits, width, true, count, output));
    for (size_t size = bytes; size < bytes + 16; size++)
        assert_status(size <= bytes + 7 ? NT_OK : NT_CORRUPT,
                      unpack(packed_memory, size, word_bits, width, true, count, output));
    size_t packed = 2 * 128 * (size_t)width, bare = 128 * (size_t)width + 776 * (size_t)word_bits / 8;
    for (size_t size = 0; size <= bytes; size++)
        assert_status(size == packed || size == bare ? NT_OK : NT_CORRUPT,
                      unpack(packed_memory, size, word_bits, width, false, count, output));
}

TEST(a_width_beyond_the_word_is_refused, .setup = set_up, .end = SIZES)
{
    static uint8_t output[BLOCK * 8], input[9000];
    uint32_t word_bits = word_sizes[_i];
    input[0] = (uint8_t)(word_bits + 1);
    assert_status(NT_CORRUPT, nt_unpack_inline(input, sizeof(input), word_bits, BLOCK, output, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "bit"));
    input[0] = 0;
    input[word_bits / 8 - 1] = 0x80;
    assert_status(NT_CORRUPT, nt_unpack_inline(input, sizeof(input), word_bits, BLOCK, output, &error));
    assert_status(NT_CORRUPT, nt_unpack_blocks(input, ((size_t)word_bits + 1) * 128, word_bits, word_bits + 1,
                                               BLOCK, output, &error));
    assert_status(NT_CORRUPT, nt_unpack_blocks(input, 128, word_bits + 1, 1, BLOCK, output, &error));
    assert_status(NT_CORRUPT, nt_unpack_inline(input, 128, word_bits - 1, 1, output, &error));
}

TEST(counts_that_no_input_has_are_refused, .setup = set_up)
{
    uint8_t input[64 * 128] = {64}, output[1];
    assert_status(NT_CORRUPT, nt_unpack_blocks(input, 128, 64, 64, UINT64_MAX, output, &error));
    assert_status(NT_CORRUPT, nt_unpack_blocks(input, 128, 64, 1, UINT64_MAX / 2, output, &error));
    assert_status(NT_CORRUPT, nt_unpack_inline(input, 128, 64, UINT64_MAX, output, &error));
}
