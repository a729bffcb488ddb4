/* SPDX-License-Identifier: MIT
 *
 * Runs, compared with a loop that writes byte by byte, for all widths. Inputs and outputs end at the end
 * of their memory.
 */
#include <string.h>

#include "formats/lance/decode/decode.h"
#include "compressors.h"
#include "support.h"

enum { RUNS = 400, MAX_VALUE = 24, GUARD = 0xA5 };

static struct nt_error error;
static const uint32_t length_sizes[] = {1, 2, 4, 8};
static const uint64_t longest_runs[] = {0, 1, 3, 9, 40, 255};
static uint64_t run_lengths[RUNS];
static uint8_t run_values[RUNS * MAX_VALUE];

static uint64_t set_up_runs(uint64_t longest)
{
    uint64_t total = 0;
    srand((unsigned)longest + 3);
    for (size_t i = 0; i < RUNS; i++)
        total += run_lengths[i] = (uint64_t)rand() % (longest + 1);
    for (size_t i = 0; i < sizeof(run_values); i++)
        run_values[i] = (uint8_t)rand();
    return total;
}

static uint8_t *lengths_of(uint32_t length_bytes)
{
    uint8_t *lengths = malloc(RUNS * (size_t)length_bytes);
    ck_assert(lengths);
    for (size_t i = 0; i < RUNS; i++)
        memcpy(lengths + i * length_bytes, &run_lengths[i], length_bytes);
    return lengths;
}

static enum nt_status expand(uint32_t value_bytes, uint32_t length_bytes, uint64_t elements, uint8_t *output)
{
    uint8_t *lengths = lengths_of(length_bytes);
    uint8_t *values = exact_copy(run_values, RUNS * (size_t)value_bytes);
    enum nt_status status =
        nt_rle_expand(values, value_bytes, RUNS, lengths, length_bytes, elements, output, &error);
    free(values);
    free(lengths);
    return status;
}

/* Byte by byte, from the definition. */
static void assert_expanded(const uint8_t *output, uint32_t value_bytes, uint64_t elements)
{
    uint64_t place = 0;
    for (size_t run = 0; run < RUNS; run++)
        for (uint64_t i = 0; i < run_lengths[run] && place < elements; i++, place++)
            for (uint32_t byte = 0; byte < value_bytes; byte++)
                if (output[place * value_bytes + byte] != run_values[run * value_bytes + byte])
                    ck_abort_msg("element %llu of %llu", (unsigned long long)place,
                                 (unsigned long long)elements);
    ck_assert_uint_eq(place, elements);
    ck_assert_uint_eq(output[elements * value_bytes], GUARD);
}

static void assert_expands(uint32_t value_bytes, uint32_t length_bytes, uint64_t elements)
{
    uint8_t *output = malloc(elements * value_bytes + 1);
    ck_assert(output);
    memset(output, GUARD, elements * value_bytes + 1);
    assert_ok(expand(value_bytes, length_bytes, elements, output));
    assert_expanded(output, value_bytes, elements);
    free(output);
}

TEST(runs_of_every_width_are_as_long_as_their_lengths, .first = 1, .end = MAX_VALUE + 1)
{
    for (size_t i = 0; i < sizeof(longest_runs) / sizeof(*longest_runs); i++) {
        uint64_t total = set_up_runs(longest_runs[i]);
        for (size_t size = 0; size < 4; size++)
            assert_expands((uint32_t)_i, length_sizes[size], total);
    }
}

TEST(what_is_beyond_the_elements_is_left_out, .first = 1, .end = MAX_VALUE + 1)
{
    uint64_t total = set_up_runs(9);
    for (uint64_t elements = 0; elements < total; elements += elements < 100 ? 1 : 97)
        assert_expands((uint32_t)_i, 1, elements);
}

TEST(runs_that_are_too_short_are_corrupt)
{
    uint64_t total = set_up_runs(9);
    uint8_t *output = malloc((total + 2) * MAX_VALUE);
    ck_assert(output);
    for (uint32_t value_bytes = 1; value_bytes <= MAX_VALUE; value_bytes++)
        for (uint64_t more = 1; more <= 2; more++) {
            assert_status(NT_CORRUPT, expand(value_bytes, 2, total + more, output));
            ck_assert_uint_eq(strtoull(error.expected, NULL, 10), total + more);
            ck_assert_uint_eq(strtoull(error.found, NULL, 10), total);
        }
    free(output);
}

TEST(three_runs_written_by_hand_are_what_they_say)
{
    uint8_t values[] = {1, 0, 2, 0, 0xFF, 0xFE}, lengths[] = {2, 0, 0, 0, 3, 0}, output[10];
    uint8_t expected[] = {1, 0, 1, 0, 0xFF, 0xFE, 0xFF, 0xFE, 0xFF, 0xFE};
    assert_ok(nt_rle_expand(values, 2, 3, lengths, 2, 5, output, &error));
    ck_assert_mem_eq(output, expected, sizeof(expected));
    ck_assert_uint_eq(nt_rle_total(lengths, 2, 3), 5);
}

TEST(lengths_may_be_as_large_as_they_can)
{
    uint8_t values[] = {7, 8}, lengths[16], output[5];
    memset(lengths, 0xFF, sizeof(lengths));
    for (size_t size = 0; size < 4; size++) {
        assert_ok(nt_rle_expand(values, 1, 2, lengths, length_sizes[size], 5, output, &error));
        ck_assert_mem_eq(output, ((uint8_t[]){7, 7, 7, 7, 7}), 5);
    }
    ck_assert_uint_eq(nt_rle_total(lengths, 1, 2), 510);
    ck_assert_uint_eq(nt_rle_total(lengths, 4, 2), 2 * (uint64_t)UINT32_MAX);
    ck_assert_uint_eq(nt_rle_total(lengths, 8, 1), UINT64_MAX);
    ck_assert_uint_eq(nt_rle_total(lengths, 8, 2), UINT64_MAX);
}

TEST(values_without_bytes_cost_nothing)
{
    uint8_t lengths[8];
    memset(lengths, 0xFF, sizeof(lengths));
    assert_ok(nt_rle_expand(NULL, 0, 1, lengths, 8, UINT64_MAX, NULL, &error));
}

TEST(no_runs_are_no_elements)
{
    assert_ok(nt_rle_expand(NULL, 4, 0, NULL, 1, 0, NULL, &error));
    assert_status(NT_CORRUPT, nt_rle_expand(NULL, 4, 0, NULL, 1, 1, NULL, &error));
    ck_assert_uint_eq(nt_rle_total(NULL, 1, 0), 0);
}

TEST(lengths_of_other_widths_are_refused)
{
    uint8_t bytes[16] = {1}, output[1];
    assert_status(NT_CORRUPT, nt_rle_expand(bytes, 1, 1, bytes, 3, 1, output, &error));
    assert_status(NT_CORRUPT, nt_rle_expand(bytes, 1, 1, bytes, 0, 1, output, &error));
    assert_status(NT_CORRUPT, nt_rle_expand(bytes, 1, 1, bytes, 16, 1, output, &error));
}
