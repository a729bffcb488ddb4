/* SPDX-License-Identifier: MIT
 *
 * Repetition indexes of mini-block pages: their content, and which are refused.
 */
#include "formats/lance/file/page_list.h"

#include <string.h>

#include "core/io/source.h"
#include "support.h"
#include "formats/lance/decode/decode.h"
#include "formats/lance/file/file.h"
#include <ntuple/source.h>

enum { MOST = 8, OFFSET = 16 };

static struct nt_error error;
static struct nt_source *index_source;
static struct nt_lance_row_index row_index;

static void tear_down(void)
{
    free(row_index.entries);
    nt_source_close(index_source);
}

/* `numbers` as the third buffer of a page with so many rows. */
static enum nt_status open_index(const uint64_t *numbers, uint32_t count, uint64_t depth, uint64_t chunks,
                                 uint64_t rows)
{
    uint8_t bytes[OFFSET + 8 * MOST] = {0};
    for (uint32_t i = 0; i < 8 * count; i++)
        bytes[OFFSET + i] = (uint8_t)(numbers[i / 8] >> (8 * (i % 8)));
    ck_assert(nt_source_open_memory(bytes, OFFSET + 8 * count, "index", &index_source, NULL) == NT_OK);
    const struct nt_lance_buffer buffers[] = {{0, 2 * chunks}, {8, 8}, {OFFSET, 8 * count}};
    const struct nt_lance_page page = {.buffers = buffers, .buffer_count = 3, .length = rows};
    const struct nt_lance_layout layout = {.index_depth = depth};
    error = (struct nt_error){0};
    return nt_lance_row_index_open(index_source, &page, &layout, chunks, &row_index, &error);
}

/* The example of Lance's reader: 50 rows end in the first chunk, and 3 levels of another remain; that
 * row ends, as the first of 50, in the second one. */
TEST(rows_begin_in_the_chunk_before_the_one_they_end_in, .teardown = tear_down)
{
    const uint64_t numbers[] = {50, 3, 50, 0, 10, 0};
    assert_ok(open_index(numbers, 6, 1, 3, 110));
    ck_assert_uint_eq(nt_lance_row_index_rows(&row_index, 0), 51);
    ck_assert_uint_eq(nt_lance_row_index_rows(&row_index, 1), 49);
    ck_assert_uint_eq(nt_lance_row_index_rows(&row_index, 2), 10);
}

TEST(a_row_may_continue_through_chunks, .teardown = tear_down)
{
    const uint64_t numbers[] = {2, 100, 0, 4096, 0, 4096, 1, 0};
    assert_ok(open_index(numbers, 8, 1, 4, 3));
    const uint64_t rows[] = {3, 0, 0, 0};
    for (unsigned i = 0; i < 4; i++)
        ck_assert_uint_eq(nt_lance_row_index_rows(&row_index, i), rows[i]);
}

TEST(entries_of_deeper_indexes_are_longer, .teardown = tear_down)
{
    const uint64_t numbers[] = {5, 1, 77, 2, 0, 99};
    assert_ok(open_index(numbers, 6, 2, 2, 7));
    ck_assert_uint_eq(nt_lance_row_index_rows(&row_index, 0), 6);
    ck_assert_uint_eq(nt_lance_row_index_rows(&row_index, 1), 1);
}

TEST(a_page_need_not_have_one, .teardown = tear_down)
{
    assert_ok(open_index(NULL, 0, 0, 3, 7));
    ck_assert_ptr_null(row_index.entries);
    assert_ok(nt_lance_row_index_check(&row_index, NULL, 0, NULL, &error));
}

static const struct {
    const char *what;
    uint64_t numbers[4];
    uint32_t count;
    uint64_t depth, chunks, rows;
    uint64_t place; /* of the error */
} contradictions[] = {
    {"fewer rows than the page has", {3, 0, 3, 0}, 4, 1, 2, 7, OFFSET + 16},
    {"more rows than the page has", {3, 0, 3, 0}, 4, 1, 2, 5, OFFSET + 16},
    {"more rows in the first chunk", {6, 0, 0, 0}, 4, 1, 2, 5, OFFSET},
    {"a sum that overflows", {2, 0, UINT64_MAX, 0}, 4, 1, 2, 1, OFFSET},
    {"a row that goes on behind the last chunk", {3, 0, 3, 1}, 4, 1, 2, 6, OFFSET + 16},
    {"a row that neither ends nor goes on", {3, 1, 0, 0}, 4, 1, 2, 3, OFFSET + 16},
    {"fewer entries than chunks", {3, 0, 3, 0}, 4, 1, 3, 6, OFFSET},
    {"more entries than chunks", {3, 0, 3, 0}, 4, 1, 1, 3, OFFSET},
    {"a depth that the entries do not have", {3, 0, 3, 0}, 4, 2, 2, 6, OFFSET},
    {"a depth that overflows", {3, 0, 3, 0}, 4, UINT64_MAX, 2, 6, OFFSET},
    {"entries whose size overflows", {3, 0, 3, 0}, 4, UINT64_C(1) << 61, 2, 6, OFFSET},
};

TEST(a_contradiction_is_found_with_its_place, .teardown = tear_down,
     .end = sizeof(contradictions) / sizeof(*contradictions))
{
    ck_assert_msg(open_index(contradictions[_i].numbers, contradictions[_i].count, contradictions[_i].depth,
                             contradictions[_i].chunks, contradictions[_i].rows) == NT_CORRUPT,
                  "%s", contradictions[_i].what);
    ck_assert_msg(strstr(error.message, "repetition index"), "%s", error.message);
    ck_assert_uint_eq(error.offset, contradictions[_i].place);
}

TEST(a_buffer_that_is_not_there_is_missed, .teardown = tear_down)
{
    const struct nt_lance_page page = {.buffer_count = 2};
    const struct nt_lance_layout layout = {.index_depth = 1};
    assert_ok(open_index(NULL, 0, 0, 1, 1));
    ck_assert_uint_eq(nt_lance_row_index_open(index_source, &page, &layout, 1, &row_index, &error),
                      NT_CORRUPT);
    ck_assert_msg(strstr(error.message, "expected at least 3, found 2"), "%s", error.message);
}

/* ---- levels ---- */

/* The levels of two chunks: the last of 51 rows continues for 3 levels; with it, 50 end in the second
 * one. */
struct reported {
    uint64_t rows, last_row;
    bool is_continued;
};

static enum nt_status check_reported(const struct reported reported[2])
{
    static const struct nt_encoding_tree tree = {.layer_count = 2,
                                                 .layers = {NT_LAYER_ITEM, NT_LAYER_NULL_AND_EMPTY_LIST}};
    enum nt_status status = NT_OK;
    for (unsigned i = 0; status == NT_OK && i < 2; i++) {
        const struct nt_lance_counts counts = {.slots = {1000, reported[i].rows},
                                               .is_continued = reported[i].is_continued,
                                               .last_row = reported[i].last_row};
        status = nt_lance_row_index_check(&row_index, &tree, i, &counts, &error);
    }
    return status;
}

static const struct {
    struct reported reported[2];
    enum nt_status expected;
    uint64_t place;
} levels[] = {
    {{{51, 3, false}, {49, 7, true}}, NT_OK, 0},
    {{{50, 3, false}, {49, 7, true}}, NT_CORRUPT, OFFSET},
    {{{51, 4, false}, {49, 7, true}}, NT_CORRUPT, OFFSET},
    {{{51, 3, false}, {49, 7, false}}, NT_CORRUPT, OFFSET},
    {{{51, 3, false}, {50, 7, false}}, NT_CORRUPT, OFFSET},
    {{{51, 3, true}, {49, 7, true}}, NT_CORRUPT, OFFSET},
    {{{51, 3, false}, {48, 7, true}}, NT_CORRUPT, OFFSET + 16},
};

TEST(it_has_to_say_what_the_levels_say, .teardown = tear_down, .end = sizeof(levels) / sizeof(*levels))
{
    const uint64_t numbers[] = {50, 3, 50, 0};
    assert_ok(open_index(numbers, 4, 1, 2, 100));
    ck_assert_uint_eq(check_reported(levels[_i].reported), levels[_i].expected);
    if (levels[_i].expected != NT_OK)
        ck_assert_uint_eq(error.offset, levels[_i].place);
}
