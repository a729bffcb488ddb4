/* SPDX-License-Identifier: MIT
 *
 * Numbers of rows that only the values of an index column contain: collections whose items store nothing.
 */
#include <string.h>

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

TEST(items_are_counted_up_to_the_largest_signed_number)
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

static const uint64_t too_many[][2] = {
    {UINT64_C(1) << 63, 0}, {0, UINT64_C(1) << 63}, {UINT64_MAX, 0},
    {6, INT64_MAX - 5},     {UINT64_MAX, 1},        {UINT64_C(1) << 63, UINT64_C(1) << 63},
};

TEST(more_items_are_damage_of_their_number_and_of_the_offsets, .end = sizeof(too_many) / sizeof(too_many[0]))
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

/* It may store any number of elements for each of its rows. */
TEST(a_member_that_is_not_readable_says_no_number_of_records)
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

/* Nested arrays, of which the file has a single value. */
static const struct {
    unsigned outer_bits, inner_bits, value_bits; /* item counts, powers of two; 0: no array */
    uint64_t entries;
    enum nt_status status;
    const char *message;
} powers[] = {
    {33, 33, 0, 1, NT_LIMIT, "field f/f/f: its number of rows overflows"},
    {40, 23, 0, 2, NT_LIMIT, "the number of rows overflows"},
    {40, 20, 0, 16, NT_LIMIT, "the number of rows overflows"},
    {40, 20, 0, 8, NT_CORRUPT, "more than 2^63 - 1 rows"},
    {40, 20, 10, 1, NT_LIMIT, "field f/f/f: its number of elements overflows"},
    {32, 20, 10, 2, NT_LIMIT, "the stream is larger than a file can be"},
};

TEST(arrays_of_more_than_can_be_counted_are_refused, .end = sizeof(powers) / sizeof(*powers))
{
    struct nt_error error = {0};
    struct nt_stream *stream;
    const uint64_t one = 1;
    struct builder *builder = builder_new();
    uint32_t outer =
        add_array(builder, NT_NONE, NT_FIELD_ARRAY, NT_ELEMENT_BYTE, UINT64_C(1) << powers[_i].outer_bits);
    uint32_t inner =
        add_array(builder, outer, NT_FIELD_ARRAY, NT_ELEMENT_BYTE, UINT64_C(1) << powers[_i].inner_bits);
    uint32_t value = add_array(builder, inner, NT_FIELD_VALUE, NT_ELEMENT_INT32,
                               powers[_i].value_bits ? UINT64_C(1) << powers[_i].value_bits : 0);
    uint32_t column = add_column(builder, value, NT_ENCODING_INT32, 0);
    add_cluster(builder, 0, powers[_i].entries);
    add_elements(builder, 0, column, &one, 1, 1);
    finish(builder, NULL);
    enum nt_status status =
        nt_stream_open(builder->reader, builder->dataset, value, NT_STREAM_DATA, &stream, &error);
    ck_assert_msg(status == powers[_i].status && strstr(error.message, powers[_i].message), "%s: %s",
                  nt_status_name(status), error.message);
    builder_free(builder);
}

/* Items of three values each, with seven in all. */
TEST(values_that_are_no_whole_rows_are_damage_of_their_cluster, .end = 2)
{
    struct nt_error error;
    struct nt_stream *stream;
    static const uint64_t two = 2, values[7] = {1, 2, 3, 4, 5, 6, 7};
    int32_t found[6];
    struct builder *builder = builder_new();
    uint32_t list = add_field(builder, NT_NONE, NT_FIELD_COLLECTION, NT_ELEMENT_UINT64);
    uint32_t value = add_array(builder, list, NT_FIELD_VALUE, NT_ELEMENT_INT32, 3);
    uint32_t index = add_column(builder, list, NT_ENCODING_INDEX64, 0);
    uint32_t column = add_column(builder, value, NT_ENCODING_INT32, 0);
    add_cluster(builder, 0, 1);
    add_elements(builder, 0, index, &two, 1, 1);
    add_elements(builder, 0, column, values, _i ? 7 : 6, 7);
    finish(builder, NULL);
    assert_ok(nt_stream_open(builder->reader, builder->dataset, value, NT_STREAM_DATA, &stream, &error));
    assert_status(_i ? NT_CORRUPT : NT_OK, nt_stream_read(stream, 0, found, sizeof(found), &error));
    if (_i)
        ck_assert_ptr_nonnull(strstr(error.message, "stored elements of the cluster"));
    else
        ck_assert_int_eq(found[5], 6);
    nt_stream_close(stream);
    builder_free(builder);
}
