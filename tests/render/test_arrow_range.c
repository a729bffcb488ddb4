/* SPDX-License-Identifier: MIT
 *
 * Tables of a range of entries, compared with the same lines of rows as text, on datasets of every shape.
 */
#include <string.h>

#include "arrow_consumer.h"
#include "random_dataset.h"
#include "support.h"
#include "render/arrow/arrow.h"
#include "core/base/memory.h"
#include "read/read.h"

enum { SEEDS = 24, RANGES = 12 };

static enum nt_status open_range(struct builder *builder, enum nt_arrow_unions unions, uint64_t first,
                                 uint64_t entries, struct nt_arrow **arrow_ret, struct nt_error *error)
{
    struct nt_arrow_options options = NT_ARROW_OPTIONS_INIT;
    options.unions = unions;
    options.has_range = true;
    options.first_entry = first;
    options.entries = entries;
    return nt_arrow_new(builder->reader, builder->dataset, &options, arrow_ret, error);
}

/* The start of line `number`, in a text with as many lines, or its end. */
static const char *line(const char *text, uint64_t number)
{
    for (; number; number--)
        text = strchr(text, '\n') + 1;
    return text;
}

static void try_range(struct builder *builder, enum nt_arrow_unions unions, const char *rows, uint64_t first,
                      uint64_t entries)
{
    struct nt_error error;
    struct nt_arrow *arrow;
    struct nt_buffer found = {0};
    const char *begin = line(rows, first), *end = line(begin, entries);
    assert_ok(open_range(builder, unions, first, entries, &arrow, &error));
    lines_from_arrow(arrow, &found);
    ck_assert_uint_eq(found.length, (size_t)(end - begin));
    ck_assert(found.length == 0 || !memcmp(found.bytes, begin, found.length));
    ck_assert_uint_eq(nt_arrow_omitted_clusters(arrow), 0);
    nt_arrow_free(arrow);
    nt_buffer_deinit(&found);
}

static bool can_be_compared(struct builder *builder)
{
    struct nt_arrow *arrow = open_arrow(builder);
    bool is_broken = has_broken_variant(builder, arrow);
    nt_arrow_free(arrow);
    return !is_broken;
}

TEST(a_range_has_the_rows_of_its_entries, .end = SEEDS)
{
    struct builder *builder = random_dataset(7000 + (unsigned)_i, 2 + _i % 9);
    struct nt_buffer rows = {0};
    finish(builder, NULL);
    uint64_t all = nt_dataset_entries(builder->dataset);
    lines_from_rows(builder, &rows);
    for (uint64_t i = 0; i < RANGES && can_be_compared(builder); i++) {
        uint64_t first = all * i / RANGES, most = all - first;
        enum nt_arrow_unions unions = i % 2 ? NT_ARROW_UNIONS_UNION : NT_ARROW_UNIONS_STRUCT;
        try_range(builder, unions, rows.bytes, first, most);
        try_range(builder, unions, rows.bytes, 0, first);
        try_range(builder, unions, rows.bytes, first, most < 2 ? most : 2);
        try_range(builder, unions, rows.bytes, first, most / 2);
    }
    nt_buffer_deinit(&rows);
    builder_free(builder);
}

TEST(an_empty_range_has_no_batch)
{
    struct nt_error error;
    struct nt_arrow *arrow;
    struct builder *builder = random_dataset(7100, 4);
    finish(builder, NULL);
    for (uint64_t first = 0; first <= nt_dataset_entries(builder->dataset); first++) {
        assert_ok(open_range(builder, NT_ARROW_UNIONS_STRUCT, first, 0, &arrow, &error));
        ck_assert_uint_eq(nt_arrow_batches(arrow), 0);
        nt_arrow_free(arrow);
    }
    builder_free(builder);
}

TEST(a_range_past_the_end_is_refused)
{
    struct nt_error error;
    struct nt_arrow *arrow;
    struct builder *builder = plain_dataset(100, 10);
    finish(builder, NULL);
    assert_status(NT_INVALID, open_range(builder, NT_ARROW_UNIONS_STRUCT, 0, 101, &arrow, &error));
    assert_status(NT_INVALID, open_range(builder, NT_ARROW_UNIONS_STRUCT, 101, 0, &arrow, &error));
    assert_status(NT_INVALID, open_range(builder, NT_ARROW_UNIONS_STRUCT, 1, UINT64_MAX, &arrow, &error));
    builder_free(builder);
}

/* 100 entries in pages of 10. */
TEST(pages_of_other_entries_are_not_decoded)
{
    struct nt_error error;
    struct nt_arrow *arrow;
    struct ArrowArray array;
    struct nt_counters counters;
    struct builder *builder = plain_dataset(100, 10);
    finish(builder, NULL);
    assert_ok(open_range(builder, NT_ARROW_UNIONS_STRUCT, 35, 20, &arrow, &error));
    nt_counters_read(builder->reader, &counters);
    ck_assert_uint_eq(counters.pages_decoded, 0);
    assert_ok(nt_arrow_export_batch(arrow, 0, &array, &error));
    ck_assert_int_eq(array.length, 20);
    nt_counters_read(builder->reader, &counters);
    ck_assert_uint_eq(counters.pages_decoded, 3);
    array.release(&array);
    nt_arrow_free(arrow);
    builder_free(builder);
}

/* A cluster with the elements of one column of a group. */
static void add_shard(struct builder *builder, uint32_t group, uint64_t first_entry, uint64_t entries,
                      uint32_t column, const uint64_t *elements, uint32_t count)
{
    uint32_t cluster = add_cluster(builder, first_entry, entries);
    builder->clusters[cluster].column_group = group;
    if (count)
        add_elements(builder, cluster, column, elements, count, 1);
}

/* A number and a list, whose clusters have other boundaries. */
TEST(columns_of_shards_are_in_tables)
{
    static const uint64_t numbers[] = {10, 11, 12, 13, 14, 15, 16}, ends[] = {2, 2, 3, 5, 5};
    static const uint64_t more_ends[] = {1, 4}, items[] = {20, 21, 22, 23, 24},
                          more_items[] = {25, 26, 27, 28};
    struct nt_buffer rows = {0};
    struct nt_error error;
    struct builder *builder = builder_new();
    uint32_t number = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, number, NT_ENCODING_INT32, 0);
    struct vector vector = add_vector(builder, NT_ENCODING_INDEX64, NT_ENCODING_INT32);
    uint32_t of_number = add_column_group(builder, &column, 1),
             of_index = add_column_group(builder, &vector.index, 1),
             of_items = add_column_group(builder, &vector.values, 1);
    add_shard(builder, of_number, 0, 3, column, numbers, 3);
    add_shard(builder, of_number, 3, 4, column, numbers + 3, 4);
    add_shard(builder, of_index, 0, 5, vector.index, ends, 5);
    add_shard(builder, of_index, 5, 2, vector.index, more_ends, 2);
    add_shard(builder, of_items, 0, 5, vector.values, items, 5);
    add_shard(builder, of_items, 5, 2, vector.values, more_items, 4);
    finish(builder, NULL);
    lines_from_rows(builder, &rows);
    for (uint64_t first = 0; first <= 7; first++)
        for (uint64_t entries = 1; first + entries <= 7; entries++)
            try_range(builder, NT_ARROW_UNIONS_STRUCT, rows.bytes, first, entries);
    struct nt_arrow *arrow = open_arrow(builder);
    struct nt_buffer found = {0};
    struct ArrowArray array;
    lines_from_arrow(arrow, &found);
    ck_assert_str_eq(nt_buffer_string(&found), nt_buffer_string(&rows));
    assert_ok(nt_arrow_export_batch(arrow, 0, &array, &error));
    ck_assert_int_eq(((const int32_t *)array.children[0]->buffers[1])[0], 10);
    array.release(&array);
    nt_arrow_free(arrow);
    nt_buffer_deinit(&found);
    nt_buffer_deinit(&rows);
    builder_free(builder);
}
