/* SPDX-License-Identifier: MIT
 *
 * Stream cursors: iteration in any order, its cost, and damage.
 */
#include "dataset_builder.h"
#include "support.h"
#include "render/render.h"
#include "core/codec/codec.h"
#include "read/read.h"

enum { ELEMENTS = 1000, PAGE = 50 };

/* One column of squares in pages of 50; `damaged` is a page that cannot be read, or -1. */
static struct builder *squares(int damaged)
{
    uint64_t values[ELEMENTS];
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT64);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT64, 0);
    for (uint64_t i = 0; i < ELEMENTS; i++)
        values[i] = i * i;
    uint32_t cluster = add_cluster(builder, 0, ELEMENTS);
    builder->checksum = NT_CHECKSUM_XXH3_64;
    add_elements(builder, cluster, column, values, ELEMENTS, PAGE);
    end_group(builder);
    if (damaged >= 0)
        builder->bytes.bytes[builder->pages[0][damaged].offset + 3] ^= 1;
    finish(builder, NULL);
    return builder;
}

static void open_window(struct builder *builder, struct nt_stream_cursor *cursor)
{
    struct nt_error error;
    assert_ok(nt_stream_cursor_open(cursor, builder->reader, builder->dataset, 0, NT_STREAM_DATA, &error));
}

TEST(any_walk_sees_the_elements, .end = 5)
{
    static const uint64_t steps[] = {1, 3, 64, 65, 333};
    struct nt_error error;
    struct nt_stream_cursor cursor;
    uint64_t value;
    struct builder *builder = squares(-1);
    open_window(builder, &cursor);
    for (uint64_t at = 0; at < ELEMENTS; at += steps[_i]) {
        assert_ok(nt_stream_cursor_get_u64(&cursor, at, &value, &error));
        ck_assert_uint_eq(value, at * at);
        uint64_t back = ELEMENTS - 1 - at;
        assert_ok(nt_stream_cursor_get_u64(&cursor, back, &value, &error));
        ck_assert_uint_eq(value, back * back);
    }
    nt_stream_cursor_close(&cursor);
    builder_free(builder);
}

TEST(the_first_look_costs_little_and_a_long_walk_few_reads)
{
    struct nt_error error;
    struct nt_stream_cursor cursor;
    struct nt_counters counters;
    uint64_t value;
    struct builder *builder = squares(-1);
    open_window(builder, &cursor);
    assert_ok(nt_stream_cursor_get_u64(&cursor, 0, &value, &error));
    nt_counters_read(builder->reader, &counters);
    ck_assert_uint_le(counters.pages_decoded, 2);
    for (uint64_t at = 1; at < ELEMENTS; at++)
        assert_ok(nt_stream_cursor_get_u64(&cursor, at, &value, &error));
    nt_counters_read(builder->reader, &counters);
    ck_assert_uint_le(counters.reads, 6);
    nt_stream_cursor_close(&cursor);
    builder_free(builder);
}

TEST(only_elements_of_the_damaged_page_fail)
{
    struct nt_error error;
    struct nt_stream_cursor cursor;
    uint64_t value;
    struct builder *builder = squares(3);
    open_window(builder, &cursor);
    for (uint64_t at = 0; at < ELEMENTS; at++) {
        if (at / PAGE == 3) {
            assert_status(NT_CHECKSUM, nt_stream_cursor_get_u64(&cursor, at, &value, &error));
            continue;
        }
        assert_ok(nt_stream_cursor_get_u64(&cursor, at, &value, &error));
        ck_assert_uint_eq(value, at * at);
    }
    nt_stream_cursor_close(&cursor);
    builder_free(builder);
}

TEST(a_place_past_the_end_is_refused)
{
    struct nt_error error;
    struct nt_stream_cursor cursor;
    const uint8_t *bytes;
    struct builder *builder = squares(-1);
    open_window(builder, &cursor);
    assert_ok(nt_stream_cursor_get(&cursor, ELEMENTS, 0, &bytes, &error));
    assert_status(NT_CORRUPT, nt_stream_cursor_get(&cursor, ELEMENTS, 1, &bytes, &error));
    assert_status(NT_CORRUPT, nt_stream_cursor_get(&cursor, UINT64_MAX, 2, &bytes, &error));
    assert_status(NT_CORRUPT, nt_stream_cursor_get(&cursor, 1, UINT64_MAX, &bytes, &error));
    nt_stream_cursor_close(&cursor);
    builder_free(builder);
}

TEST(memory_grows_with_what_is_read_not_with_what_is_claimed)
{
    enum { CLAIMED = 100 * 1000 * 1000 }; /* eight bytes each: more than a page may have */
    struct nt_error error;
    struct nt_stream_cursor cursor;
    const uint8_t *bytes;
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT64);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT64, 0);
    add_elements(builder, add_cluster(builder, 0, CLAIMED), column, (uint64_t[]){1, 2}, 2, 2);
    end_group(builder);
    builder->pages[0][0].elements = CLAIMED;
    finish(builder, NULL);
    open_window(builder, &cursor);
    assert_status(NT_LIMIT, nt_stream_cursor_get(&cursor, 0, CLAIMED, &bytes, &error));
    ck_assert_uint_le(cursor.capacity, 1024 * 1024);
    nt_stream_cursor_close(&cursor);
    builder_free(builder);
}

TEST(a_value_of_megabytes_is_read_whole)
{
    enum { COUNT = 1200 * 1000, PAGE_ELEMENTS = 100 * 1000 };
    struct nt_error error;
    struct nt_stream_cursor cursor;
    const uint8_t *bytes;
    uint64_t *values = calloc(COUNT, sizeof(*values));
    for (uint64_t i = 0; i < COUNT; i++)
        values[i] = i * i;
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT64);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT64, 0);
    add_elements(builder, add_cluster(builder, 0, COUNT), column, values, COUNT, PAGE_ELEMENTS);
    end_group(builder);
    finish(builder, NULL);
    open_window(builder, &cursor);
    assert_ok(nt_stream_cursor_get(&cursor, 0, COUNT, &bytes, &error));
    ck_assert_mem_eq(bytes, values, COUNT * sizeof(*values));
    nt_stream_cursor_close(&cursor);
    builder_free(builder);
    free(values);
}
