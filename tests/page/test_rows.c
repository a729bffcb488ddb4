/* SPDX-License-Identifier: MIT
 *
 * How many rows there are, where only the values of an index column tell: those of a collection of items that
 * store nothing.
 */
#include "dataset_builder.h"
#include "support.h"

/* Two clusters of one entry each: a collection of empty classes. */
static struct builder *collection_of_nothing(uint64_t first_items, uint64_t second_items)
{
    struct builder *builder = builder_new();
    uint32_t list = add_field(builder, NT_NONE, NT_FIELD_COLLECTION, NT_ELEMENT_UINT64);
    add_field(builder, list, NT_FIELD_RECORD, NT_ELEMENT_BYTE);
    uint32_t index = add_column(builder, list, NT_ENCODING_SPLIT_INDEX64, 0);
    add_cluster(builder, 0, 1);
    add_elements(builder, 0, index, &first_items, 1, 1);
    add_cluster(builder, 1, 1);
    add_elements(builder, 1, index, &second_items, 1, 1);
    finish(builder, NULL);
    return builder;
}

START_TEST(items_are_counted_up_to_the_largest_signed_number)
{
    struct nt_error error;
    struct nt_stream *stream;
    struct builder *builder = collection_of_nothing(5, INT64_MAX - 5);
    uint64_t rows;
    int64_t offsets[3];
    assert_ok(nt_field_rows(builder->reader, builder->dataset, 1, &rows, &error));
    ck_assert_uint_eq(rows, INT64_MAX);
    assert_ok(nt_stream_open(builder->reader, builder->dataset, 0, NT_STREAM_OFFSETS, &stream, &error));
    assert_ok(nt_stream_read(stream, 0, offsets, sizeof(offsets), &error));
    ck_assert_mem_eq(offsets, ((int64_t[]){0, 5, INT64_MAX}), sizeof(offsets));
    nt_stream_close(stream);
    builder_free(builder);
}
END_TEST

static const uint64_t too_many[][2] = {
    {UINT64_C(1) << 63, 0}, {0, UINT64_C(1) << 63}, {UINT64_MAX, 0},
    {6, INT64_MAX - 5},     {UINT64_MAX, 1},        {UINT64_C(1) << 63, UINT64_C(1) << 63},
};

START_TEST(more_items_are_damage_of_their_number_and_of_the_offsets)
{
    struct nt_error error;
    struct nt_stream *stream;
    struct builder *builder = collection_of_nothing(too_many[_i][0], too_many[_i][1]);
    uint64_t rows;
    assert_status(NT_CORRUPT, nt_field_rows(builder->reader, builder->dataset, 1, &rows, &error));
    assert_status(NT_CORRUPT,
                  nt_stream_open(builder->reader, builder->dataset, 0, NT_STREAM_OFFSETS, &stream, &error));
    builder_free(builder);
}
END_TEST

/* It may store as many elements for each of its rows as it likes. */
START_TEST(a_member_that_is_not_readable_tells_no_number_of_records)
{
    const uint64_t items = 2, elements[] = {1, 2, 3, 4, 5, 6}, values[] = {7, 8};
    struct nt_error error;
    struct builder *builder = builder_new();
    uint32_t list = add_field(builder, NT_NONE, NT_FIELD_COLLECTION, NT_ELEMENT_UINT64);
    uint32_t record = add_field(builder, list, NT_FIELD_RECORD, NT_ELEMENT_BYTE);
    uint32_t unreadable = add_field(builder, record, NT_FIELD_UNREADABLE, NT_ELEMENT_OPAQUE);
    uint32_t value = add_field(builder, record, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t columns[] = {add_column(builder, list, NT_ENCODING_SPLIT_INDEX64, 0),
                          add_column(builder, unreadable, NT_ENCODING_INT32, 0),
                          add_column(builder, value, NT_ENCODING_INT32, 0)};
    uint64_t rows;
    add_cluster(builder, 0, 1);
    add_elements(builder, 0, columns[0], &items, 1, 1);
    add_elements(builder, 0, columns[1], elements, 6, 6);
    add_elements(builder, 0, columns[2], values, 2, 2);
    finish(builder, NULL);
    assert_ok(nt_field_rows(builder->reader, builder->dataset, record, &rows, &error));
    ck_assert_uint_eq(rows, 2);
    builder_free(builder);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rows");
    TCase *cases = tcase_create("rows");
    tcase_add_test(cases, items_are_counted_up_to_the_largest_signed_number);
    tcase_add_loop_test(cases, more_items_are_damage_of_their_number_and_of_the_offsets, 0,
                        sizeof(too_many) / sizeof(too_many[0]));
    tcase_add_test(cases, a_member_that_is_not_readable_tells_no_number_of_records);
    suite_add_tcase(suite, cases);
    return nt_test_main(suite);
}
