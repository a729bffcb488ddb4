/* SPDX-License-Identifier: MIT
 *
 * Datasets with a page list for each field: which page lists each operation loads.
 */
#include <string.h>

#include "dataset_builder.h"
#include "read/read.h"
#include "support.h"
#include "core/codec/codec.h"
#include "core/model/model.h"

enum { NUMBER, LIST, ITEM, FIRST, TEXT, RECORD, INNER, FIELDS };

static struct nt_error error;
static struct builder *builder;

/* Three entries: numbers 7, 8, 9; lists of 2, 0 and 1 records of a number (10, 11, 12) and a text ("a",
 * "", "bcd"); a record of a number (20, 21, 22). */
static void build(bool has_entries)
{
    builder = builder_new();
    builder->has_field_groups = true;
    ck_assert_uint_eq(add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32), NUMBER);
    ck_assert_uint_eq(add_field(builder, NT_NONE, NT_FIELD_COLLECTION, NT_ELEMENT_UINT64), LIST);
    ck_assert_uint_eq(add_field(builder, LIST, NT_FIELD_RECORD, NT_ELEMENT_BYTE), ITEM);
    ck_assert_uint_eq(add_field(builder, ITEM, NT_FIELD_VALUE, NT_ELEMENT_INT32), FIRST);
    ck_assert_uint_eq(add_field(builder, ITEM, NT_FIELD_STRING, NT_ELEMENT_BYTE), TEXT);
    ck_assert_uint_eq(add_field(builder, NT_NONE, NT_FIELD_RECORD, NT_ELEMENT_BYTE), RECORD);
    ck_assert_uint_eq(add_field(builder, RECORD, NT_FIELD_VALUE, NT_ELEMENT_INT32), INNER);
    uint32_t number = add_column(builder, NUMBER, NT_ENCODING_INT32, 0);
    uint32_t list = add_column(builder, LIST, NT_ENCODING_INDEX64, 0);
    uint32_t first = add_column(builder, FIRST, NT_ENCODING_INT32, 0);
    uint32_t ends = add_column(builder, TEXT, NT_ENCODING_INDEX64, 0);
    uint32_t bytes = add_column(builder, TEXT, NT_ENCODING_CHAR, 0);
    uint32_t inner = add_column(builder, INNER, NT_ENCODING_INT32, 0);
    uint32_t rows = has_entries ? 3 : 0;
    add_cluster(builder, 0, rows);
    add_elements(builder, 0, number, (uint64_t[]){7, 8, 9}, rows, 2);
    add_elements(builder, 0, list, (uint64_t[]){2, 2, 3}, rows, 2);
    add_elements(builder, 0, first, (uint64_t[]){10, 11, 12}, rows, 2);
    add_elements(builder, 0, ends, (uint64_t[]){1, 1, 4}, rows, 2);
    add_elements(builder, 0, bytes, (uint64_t[]){'a', 'b', 'c', 'd'}, has_entries ? 4 : 0, 2);
    add_elements(builder, 0, inner, (uint64_t[]){20, 21, 22}, rows, 2);
    finish(builder, NULL);
}

static void setup(void)
{
    build(true);
}

static void teardown(void)
{
    builder_free(builder);
}

/* The fields whose page lists were loaded since the last call, a bit for each. */
static unsigned loaded(void)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < FIELDS; i++)
        bits |= (builder->field_loads[i] > 0) << i;
    memset(builder->field_loads, 0, sizeof(builder->field_loads));
    return bits;
}

static void assert_stream(uint32_t field, enum nt_stream_kind kind, const void *expected, size_t bytes)
{
    uint8_t found[64];
    struct nt_stream *stream;
    assert_ok(nt_stream_open(builder->reader, builder->dataset, field, kind, &stream, &error));
    ck_assert_uint_eq(nt_stream_elements(stream) * nt_stream_element_bytes(stream), bytes);
    assert_ok(nt_stream_read(stream, 0, found, bytes, &error));
    ck_assert_mem_eq(found, expected, bytes);
    nt_stream_close(stream);
}

TEST(a_field_is_read_with_its_own_page_list_alone, .setup = setup, .teardown = teardown)
{
    ck_assert_uint_eq(loaded(), 0);
    assert_stream(NUMBER, NT_STREAM_DATA, (int32_t[]){7, 8, 9}, 12);
    ck_assert_uint_eq(loaded(), 1 << NUMBER);
    assert_stream(INNER, NT_STREAM_DATA, (int32_t[]){20, 21, 22}, 12);
    ck_assert_uint_eq(loaded(), 1 << INNER);
    assert_stream(TEXT, NT_STREAM_OFFSETS, (int64_t[]){0, 1, 1, 4}, 32);
    assert_stream(TEXT, NT_STREAM_DATA, "abcd", 4);
    ck_assert_uint_eq(loaded(), 1 << TEXT);
    assert_stream(FIRST, NT_STREAM_DATA, (int32_t[]){10, 11, 12}, 12);
    ck_assert_uint_eq(loaded(), 1 << FIRST);
}

TEST(offsets_of_a_list_need_the_page_list_of_one_item_field_more, .setup = setup, .teardown = teardown)
{
    assert_stream(LIST, NT_STREAM_OFFSETS, (int64_t[]){0, 2, 2, 3}, 32);
    ck_assert_uint_eq(loaded(), 1 << LIST | 1 << FIRST);
}

static const struct {
    uint32_t field;
    unsigned loaded;
} counted[] = {{NUMBER, 0},       {LIST, 0},   {ITEM, 1 << FIRST}, {FIRST, 1 << FIRST},
               {TEXT, 1 << TEXT}, {RECORD, 0}, {INNER, 0}};

TEST(rows_are_reported_by_one_page_list_at_most, .setup = setup, .teardown = teardown, .end = FIELDS)
{
    uint64_t rows;
    assert_ok(nt_field_rows(builder->reader, builder->dataset, counted[_i].field, &rows, &error));
    ck_assert_uint_eq(rows, 3);
    ck_assert_uint_eq(loaded(), counted[_i].loaded);
}

TEST(a_column_has_the_pages_of_its_own_group, .setup = setup, .teardown = teardown)
{
    uint64_t elements, pages;
    const struct nt_page *page;
    uint32_t cluster;
    for (uint32_t column = 0; column < builder->column_count; column++) {
        uint32_t field = builder->columns[column].field;
        assert_ok(nt_column_size(builder->reader, builder->dataset, column, &elements, &pages, &error));
        ck_assert_uint_eq(elements, builder->shares[0][column].count);
        ck_assert_uint_eq(pages, 2);
        ck_assert_uint_eq(loaded() & ~(1u << field), 0);
        assert_ok(
            nt_column_page(builder->reader, builder->dataset, column, 1, &page, &cluster, &elements, &error));
        ck_assert_uint_eq(elements, 2);
        ck_assert_uint_eq(cluster, builder->dataset->field_groups[field]);
        assert_status(NT_NOT_FOUND, nt_column_page(builder->reader, builder->dataset, column, 2, &page,
                                                   &cluster, &elements, &error));
    }
}

TEST(a_group_has_no_ranges_of_other_fields, .setup = setup, .teardown = teardown)
{
    struct nt_dataset *dataset = builder->dataset;
    assert_ok(nt_dataset_load_all(dataset, &error));
    for (uint32_t g = 0; g < dataset->group_count; g++) {
        const struct nt_group *group = nt_group_slot(dataset, g);
        ck_assert_uint_eq(dataset->field_groups[group->field], g);
        ck_assert_uint_eq(nt_group_field(dataset, g, NULL), group->field);
        ck_assert_uint_eq(nt_group_column_count(dataset, group), group->field == TEXT ? 2 : 1);
        for (uint32_t k = 0; k < builder->column_count; k++) {
            bool is_own = builder->columns[k].field == group->field;
            const struct nt_range *range = nt_group_range(dataset, group, group->first_cluster, k);
            ck_assert_int_eq(range->state, is_own ? NT_RANGE_PRESENT : NT_RANGE_ABSENT);
            ck_assert_int_eq(nt_cluster_holds(dataset, group->first_cluster, k), is_own);
        }
    }
    ck_assert_uint_eq(dataset->group_count, 5);
    ck_assert_uint_eq(dataset->field_groups[RECORD], NT_NONE);
}

TEST(a_bad_page_list_is_a_fault_of_its_field_alone, .setup = setup, .teardown = teardown)
{
    struct nt_stream *stream;
    int32_t value;
    uint64_t rows;
    builder->bad_field[NUMBER] = builder->bad_field[FIRST] = true;
    assert_stream(INNER, NT_STREAM_DATA, (int32_t[]){20, 21, 22}, 12);
    assert_ok(nt_field_rows(builder->reader, builder->dataset, NUMBER, &rows, &error));
    assert_ok(nt_stream_open(builder->reader, builder->dataset, NUMBER, NT_STREAM_DATA, &stream, &error));
    assert_status(NT_CORRUPT, nt_stream_read(stream, 0, &value, sizeof(value), &error));
    ck_assert_ptr_nonnull(strstr(error.message, "this page list is bad"));
    nt_stream_close(stream);
    assert_status(NT_CORRUPT, nt_field_rows(builder->reader, builder->dataset, FIRST, &rows, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "this page list is bad"));
    assert_stream(TEXT, NT_STREAM_DATA, "abcd", 4);
    ck_assert_uint_eq(loaded(), 1 << NUMBER | 1 << FIRST | 1 << INNER | 1 << TEXT);
}

TEST(without_entries_every_field_has_no_rows, .setup = setup, .teardown = teardown)
{
    uint64_t rows;
    builder_free(builder);
    build(false);
    ck_assert_uint_eq(builder->dataset->group_count, 0);
    for (uint32_t field = 0; field < FIELDS; field++) {
        assert_ok(nt_field_rows(builder->reader, builder->dataset, field, &rows, &error));
        ck_assert_uint_eq(rows, 0);
    }
    assert_stream(LIST, NT_STREAM_OFFSETS, (int64_t[]){0}, 8);
    assert_stream(TEXT, NT_STREAM_DATA, "", 0);
    ck_assert_uint_eq(loaded(), 0);
}
