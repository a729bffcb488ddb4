/* SPDX-License-Identifier: MIT
 *
 * Repetition indexes of full-zip pages: their content, and which are refused.
 */
#include "formats/lance/file/page_list.h"

#include <string.h>

#include "support.h"
#include "core/io/source.h"
#include "formats/lance/decode/decode.h"
#include "formats/lance/file/file.h"
#include <ntuple/source.h>

enum { MOST = 8, OFFSET = 16 };

static struct nt_error error;
static struct nt_source *index_source;
static struct nt_lance_row_offsets offsets;

static void tear_down(void)
{
    free(offsets.entries);
    nt_source_close(index_source);
}

static const struct nt_encoding_tree
    strings = {.layout = NT_LANCE_FULL_ZIP, .offset_bits = 32, .layer_count = 1, .layers = {NT_LAYER_ITEM}},
    /* An item takes a byte of levels and 4 of the value; an empty list takes only the byte. */
    lists = {.layout = NT_LANCE_FULL_ZIP,
             .repetition_bits = 1,
             .definition_bits = 1,
             .value_bits = 32,
             .layer_count = 2,
             .layers = {NT_LAYER_ITEM, NT_LAYER_EMPTYABLE_LIST}},
    lists_of_lists = {.layout = NT_LANCE_FULL_ZIP,
                      .repetition_bits = 2,
                      .definition_bits = 1,
                      .value_bits = 32,
                      .layer_count = 3,
                      .layers = {NT_LAYER_ITEM, NT_LAYER_EMPTYABLE_LIST, NT_LAYER_LIST}};

/* `count` numbers of `width` bytes as the second buffer of a page with so many rows in `bytes` bytes. */
static enum nt_status open_offsets(const struct nt_encoding_tree *tree, const uint64_t *numbers,
                                   uint32_t count, uint32_t width, uint64_t rows, uint64_t bytes,
                                   uint64_t items)
{
    uint8_t stored[OFFSET + 8 * MOST] = {0};
    for (uint32_t i = 0; i < width * count; i++)
        stored[OFFSET + i] = (uint8_t)(numbers[i / width] >> (8 * (i % width)));
    ck_assert(nt_source_open_memory(stored, OFFSET + width * count, "index", &index_source, NULL) == NT_OK);
    const struct nt_lance_buffer buffers[] = {{1000, bytes}, {OFFSET, width * count}};
    const struct nt_lance_page page = {.buffers = buffers, .buffer_count = 2, .length = rows};
    const struct nt_lance_layout layout = {.tree = tree, .items = items};
    error = (struct nt_error){0};
    return nt_lance_row_offsets_open(index_source, &page, &layout, &offsets, &error);
}

static void assert_span(uint64_t row, uint64_t most, uint64_t rows, uint64_t bytes, uint64_t items)
{
    const struct nt_lance_row_span span = nt_lance_row_offsets_take(&offsets, row, most);
    ck_assert_uint_eq(span.rows, rows);
    ck_assert_uint_eq(span.bytes, bytes);
    ck_assert_uint_eq(span.items, items);
}

TEST(rows_are_taken_as_long_as_they_fit, .teardown = tear_down, .end = 4)
{
    const uint64_t numbers[] = {0, 100, 130, 131, 200};
    assert_ok(open_offsets(&strings, numbers, 5, (uint32_t)1 << _i, 4, 200, 4));
    assert_span(0, 130, 2, 130, 0);
    assert_span(0, 129, 1, 100, 0);
    assert_span(0, 1, 1, 100, 0);
    assert_span(1, 31, 2, 31, 0);
    assert_span(3, 0, 1, 69, 0);
    assert_span(0, UINT64_MAX, 4, 200, 0);
}

TEST(lists_of_values_of_fixed_width_say_their_items, .teardown = tear_down)
{
    const uint64_t numbers[] = {0, 10, 11, 16, 17};
    assert_ok(open_offsets(&lists, numbers, 5, 2, 4, 17, 3));
    assert_span(0, 100, 4, 17, 3);
    assert_span(0, 10, 1, 10, 2);
    assert_span(1, 6, 2, 6, 1);
    assert_span(3, 6, 1, 1, 0);
}

TEST(lists_of_lists_do_not, .teardown = tear_down)
{
    const uint64_t numbers[] = {0, 10, 12};
    assert_ok(open_offsets(&lists_of_lists, numbers, 3, 1, 2, 12, 77));
    ck_assert_uint_eq(offsets.item_bytes, 0);
    assert_span(0, 100, 2, 12, 0);
}

TEST(a_page_need_not_have_one, .teardown = tear_down)
{
    assert_ok(open_offsets(&strings, NULL, 0, 1, 4, 200, 4));
    ck_assert_ptr_null(offsets.entries);
}

static const struct {
    const char *what;
    const struct nt_encoding_tree *tree;
    uint64_t numbers[4];
    uint32_t count, width;
    uint64_t rows, bytes, items;
    uint64_t place; /* of the error */
} contradictions[] = {
    {"rows that do not begin at the first byte", &strings, {1, 5, 9}, 3, 1, 2, 9, 2, OFFSET + 2},
    {"rows that end before the last byte", &strings, {0, 5, 9}, 3, 1, 2, 10, 2, OFFSET + 2},
    {"a row that ends behind the last byte", &strings, {0, 11, 9}, 3, 2, 2, 10, 2, OFFSET + 2},
    {"a row that ends before it begins", &strings, {0, 6, 5, 10}, 4, 1, 3, 10, 3, OFFSET + 2},
    {"a row without bytes", &strings, {0, 5, 5, 10}, 4, 1, 3, 10, 3, OFFSET + 2},
    {"fewer entries than rows", &strings, {0, 5, 10}, 3, 1, 3, 10, 3, OFFSET},
    {"more entries than rows", &strings, {0, 5, 10}, 3, 1, 1, 10, 1, OFFSET},
    {"entries of three bytes", &strings, {0, 5, 10}, 3, 3, 2, 10, 2, OFFSET},
    {"more rows than numbers can count", &strings, {0, 5, 10}, 3, 1, UINT64_MAX, 10, 2, OFFSET},
    {"a part of an item", &lists, {0, 5, 9}, 3, 1, 2, 9, 1, OFFSET + 2},
    {"fewer items than the page has", &lists, {0, 5, 10}, 3, 1, 2, 10, 3, OFFSET + 2},
    {"more items than the page has", &lists, {0, 5, 6}, 3, 1, 2, 6, 0, OFFSET + 2},
};

TEST(a_contradiction_is_found_with_its_place, .teardown = tear_down,
     .end = sizeof(contradictions) / sizeof(*contradictions))
{
    ck_assert_msg(open_offsets(contradictions[_i].tree, contradictions[_i].numbers, contradictions[_i].count,
                               contradictions[_i].width, contradictions[_i].rows, contradictions[_i].bytes,
                               contradictions[_i].items) == NT_CORRUPT,
                  "%s", contradictions[_i].what);
    ck_assert_msg(strstr(error.message, "repetition index: "), "%s", error.message);
    ck_assert_msg(error.offset == contradictions[_i].place, "%s: %llu", contradictions[_i].what,
                  (unsigned long long)error.offset);
}
