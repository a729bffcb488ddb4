/* SPDX-License-Identifier: MIT
 *
 * Strings from a dictionary, compared with copying one after the other. Inputs and outputs end at the end
 * of their memory.
 */
#include <string.h>

#include "core/codec/codec.h"
#include "formats/lance/decode/decode.h"
#include "compressors.h"
#include "support.h"

enum { ITEMS = 40, ROWS = 500, MAX_ITEM = 150, GUARD = 0xA5 };

static const struct {
    enum nt_element element;
    uint32_t bytes;
} widths[] = {{NT_ELEMENT_UINT8, 1}, {NT_ELEMENT_UINT16, 2}, {NT_ELEMENT_UINT32, 4}, {NT_ELEMENT_UINT64, 8}};
enum { WIDTHS = sizeof(widths) / sizeof(*widths) };

static struct nt_error error;
static uint64_t item_ends[ITEMS], rows[ROWS], expected_ends[ROWS];
static uint8_t item_bytes[ITEMS * MAX_ITEM], valid[ROWS], expected[ROWS * MAX_ITEM];

/* Items of up to `most` bytes, and rows that refer to them; `nulls` percent are not requested. */
static void choose(unsigned most, int nulls)
{
    uint64_t end = 0;
    for (size_t i = 0; i < ITEMS; i++)
        item_ends[i] = end += (unsigned)rand() % (most + 1);
    for (size_t i = 0; i < end; i++)
        item_bytes[i] = (uint8_t)rand();
    end = 0;
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = (unsigned)rand() % ITEMS;
        valid[i] = rand() % 100 >= nulls;
        uint64_t begin = rows[i] ? item_ends[rows[i] - 1] : 0, count = item_ends[rows[i]] - begin;
        if (valid[i]) {
            memcpy(expected + end, item_bytes + begin, count);
            end += count;
        }
        expected_ends[i] = end;
    }
}

/* The same in memory of exactly their size. */
struct chosen {
    uint8_t *numbers, *ends, *bytes;
    struct nt_value which, where, what;
};

static struct chosen exactly(int width)
{
    struct chosen chosen;
    uint8_t numbers[ROWS * 8];
    uint32_t bytes = widths[width].bytes;
    for (size_t i = 0; i < ROWS; i++)
        memcpy(numbers + i * bytes, &rows[i], bytes);
    chosen.numbers = exact_copy(numbers, ROWS * (size_t)bytes);
    chosen.ends = exact_copy((const uint8_t *)item_ends, sizeof(item_ends));
    chosen.bytes = exact_copy(item_bytes, item_ends[ITEMS - 1]);
    chosen.which = (struct nt_value){chosen.numbers, ROWS, widths[width].element, bytes};
    chosen.where = (struct nt_value){chosen.ends, ITEMS, NT_ELEMENT_UINT64, 8};
    chosen.what = (struct nt_value){chosen.bytes, item_ends[ITEMS - 1], NT_ELEMENT_BYTE, 1};
    return chosen;
}

static void free_chosen(const struct chosen *chosen)
{
    free(chosen->numbers);
    free(chosen->ends);
    free(chosen->bytes);
}

/* `are_wanted`: the requested rows; NULL: all of them. */
static enum nt_status find_ends(const struct chosen *chosen, const uint8_t *are_wanted, uint64_t base,
                                uint64_t *ends)
{
    return nt_dictionary_ends(&chosen->which, &chosen->where, are_wanted, base, (uint8_t *)ends, &error);
}

/* Into exactly `bytes` bytes of memory. */
static enum nt_status copy(const struct chosen *chosen, const uint8_t *are_wanted, size_t bytes,
                           bool compares)
{
    uint8_t *output = malloc(bytes + 1);
    ck_assert(output);
    output[bytes] = GUARD;
    enum nt_status status =
        nt_dictionary_bytes(&chosen->which, &chosen->where, &chosen->what, are_wanted, output, bytes, &error);
    ck_assert_uint_eq(output[bytes], GUARD);
    if (compares && bytes)
        ck_assert_mem_eq(output, expected, bytes);
    free(output);
    return status;
}

TEST(strings_of_all_lengths_are_reported_by_numbers_of_all_widths, .end = WIDTHS)
{
    uint64_t ends[ROWS];
    for (unsigned most = 0; most < MAX_ITEM; most += 1 + most / 4)
        for (int nulls = 0; nulls <= 100; nulls += 50) {
            choose(most, nulls);
            struct chosen chosen = exactly(_i);
            const uint8_t *are_wanted = nulls ? valid : NULL;
            assert_ok(find_ends(&chosen, are_wanted, 1000, ends));
            for (size_t i = 0; i < ROWS; i++)
                ck_assert_uint_eq(ends[i], 1000 + expected_ends[i]);
            assert_ok(copy(&chosen, are_wanted, expected_ends[ROWS - 1], true));
            free_chosen(&chosen);
        }
}

TEST(more_or_fewer_bytes_than_the_items_have_are_corrupt, .end = WIDTHS)
{
    choose(40, 10);
    struct chosen chosen = exactly(_i);
    for (size_t more = 1; more < 100; more++) {
        assert_status(NT_CORRUPT, copy(&chosen, valid, expected_ends[ROWS - 1] + more, false));
        assert_status(NT_CORRUPT, copy(&chosen, valid, expected_ends[ROWS - 1] - more, false));
    }
    free_chosen(&chosen);
}

TEST(an_item_that_is_not_there_is_corrupt, .end = WIDTHS)
{
    uint64_t ends[ROWS];
    choose(40, 0);
    rows[ROWS / 2] = ITEMS;
    struct chosen chosen = exactly(_i);
    assert_status(NT_CORRUPT, find_ends(&chosen, valid, 0, ends));
    assert_status(NT_CORRUPT, copy(&chosen, valid, expected_ends[ROWS - 1], false));
    ck_assert_ptr_nonnull(strstr(error.message, "element 250 refers to item 40, but the dictionary has 40"));
    free_chosen(&chosen);
}

TEST(items_that_end_before_they_begin_or_after_the_bytes_are_corrupt, .end = WIDTHS)
{
    uint64_t ends[ROWS];
    static const uint64_t wrong[] = {0, UINT64_MAX, UINT64_MAX / 2};
    choose(40, 0);
    rows[ROWS / 2] = ITEMS / 2;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        item_ends[ITEMS / 2] = wrong[i];
        struct chosen chosen = exactly(_i);
        assert_status(NT_CORRUPT, find_ends(&chosen, valid, 0, ends));
        assert_status(NT_CORRUPT, copy(&chosen, valid, expected_ends[ROWS - 1], false));
        free_chosen(&chosen);
    }
}

/* Ends that do not decrease, with fewer bytes than they say: the first missing string begins after the
 * bytes, or ends there. */
TEST(items_after_the_bytes_are_corrupt, .end = WIDTHS)
{
    for (unsigned after = 0; after < 2; after++) {
        choose(40, 0);
        for (size_t i = 0; i < ROWS; i++)
            rows[i] = 0;
        rows[ROWS / 2] = ITEMS - 1;
        struct chosen chosen = exactly(_i);
        uint64_t ends[ITEMS];
        for (size_t i = 0; i < ITEMS; i++)
            ends[i] = 3 + i; /* the last item is one byte, at 3 + ITEMS - 2 */
        memcpy(chosen.ends, ends, sizeof(ends));
        chosen.what.elements = after ? 4 : ITEMS + 1;
        assert_status(NT_CORRUPT, copy(&chosen, NULL, 3 * (ROWS - 1) + 1, false));
        ck_assert_ptr_nonnull(strstr(error.message, "end after the dictionary"));
        free_chosen(&chosen);
    }
}

TEST(items_of_all_widths_are_reported_by_numbers_of_all_widths)
{
    static const struct {
        enum nt_element element;
        uint32_t bytes;
    } numbered[] = {
        {NT_ELEMENT_UINT8, 1}, {NT_ELEMENT_UINT16, 2}, {NT_ELEMENT_UINT32, 4}, {NT_ELEMENT_UINT64, 8}};
    uint8_t list[20 * 20], found[50 * 20], reported[50 * 8];
    for (size_t i = 0; i < sizeof(list); i++)
        list[i] = (uint8_t)(i * 7);
    for (uint32_t width = 1; width <= 20; width++)
        for (size_t k = 0; k < 4; k++) {
            memset(reported, 0, sizeof(reported));
            for (size_t i = 0; i < 50; i++)
                reported[i * numbered[k].bytes] = (uint8_t)(i * 3 % 20);
            const struct nt_value from = {list, 20, NT_ELEMENT_OPAQUE, width},
                                  which = {reported, 50, numbered[k].element, numbered[k].bytes};
            assert_ok(nt_dictionary_gather(&which, &from, found, &error));
            for (size_t i = 0; i < 50; i++)
                ck_assert_mem_eq(found + i * width, list + i * 3 % 20 * width, width);
            reported[25 * numbered[k].bytes] = 20;
            assert_status(NT_CORRUPT, nt_dictionary_gather(&which, &from, found, &error));
            ck_assert_ptr_nonnull(
                strstr(error.message, "element 25 refers to item 20, but the dictionary has 20"));
        }
}
