/* SPDX-License-Identifier: MIT
 *
 * Which streams share pages. Only Lance has decoders that share pages, so
 * tests/formats/lance/file/test_page_list_shared.c tests the decoding.
 */
#include "read/read.h"

#include "opened_stream.h"
#include "random_dataset.h"
#include "core/codec/codec.h"

/* Entries in this many clusters with a number, and another field with the same column; and half as many
 * with a third one's. */
static struct builder *numbers(uint32_t clusters)
{
    struct builder *builder = builder_new();
    uint32_t number = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t same = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t other = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, number, NT_ENCODING_INT32, 0);
    uint32_t another = add_column(builder, other, NT_ENCODING_INT32, 0);
    static const uint64_t values[] = {1, 2, 3, 4, 5, 6};
    project(builder, same, number);
    for (uint32_t i = 0; i < clusters; i++) {
        add_cluster(builder, 6 * i, 6);
        add_elements(builder, i, column, values, 6, 2);
        if (i % 2 == 0)
            add_elements(builder, i, another, values, 6, 6);
    }
    finish(builder, NULL);
    return builder;
}

enum { NUMBER, SAME, OTHER };

TEST(the_end_of_a_page_is_that_of_the_same_bytes)
{
    struct builder *builder = numbers(2);
    struct nt_stream *number = open_stream(builder, NUMBER, NT_STREAM_DATA);
    struct nt_stream *same = open_stream(builder, SAME, NT_STREAM_DATA);
    struct nt_stream *other = open_stream(builder, OTHER, NT_STREAM_DATA);
    for (uint64_t end = 1; end <= 12; end++)
        ck_assert_uint_eq(nt_stream_shared_page_end(number, end, same), (end + 1) / 2 * 2);
    ck_assert_uint_eq(nt_stream_shared_page_end(number, 0, same), 0);
    ck_assert_uint_eq(nt_stream_shared_page_end(number, 1, other), 0); /* other bytes */
    ck_assert_uint_eq(nt_stream_shared_page_end(number, 6, other), 0); /* fewer pages */
    ck_assert_uint_eq(nt_stream_shared_page_end(number, 7, other), 0); /* it has none there, */
    ck_assert_uint_eq(nt_stream_shared_page_end(other, 7, number), 0); /* and fails */
    nt_stream_close(number);
    nt_stream_close(same);
    nt_stream_close(other);
    builder_free(builder);
}

TEST(an_offset_before_all_pages_shares_no_page)
{
    struct builder *builder = vector_out_of_order(3);
    finish(builder, NULL);
    struct nt_stream *offsets = open_stream(builder, 0, NT_STREAM_OFFSETS);
    struct nt_stream *again = open_stream(builder, 0, NT_STREAM_OFFSETS);
    ck_assert_uint_eq(nt_stream_shared_page_end(offsets, 1, again), 0);
    ck_assert_uint_eq(nt_stream_shared_page_end(offsets, 2, again), 2);
    ck_assert_uint_eq(nt_stream_shared_page_end(offsets, 5, again), 5);
    nt_stream_close(offsets);
    nt_stream_close(again);
    builder_free(builder);
}

/* Pages of RNTuple encodings are not shared. */
TEST(streams_of_other_datasets_and_of_no_pages_are_not_together)
{
    struct builder *builders[] = {numbers(2), numbers(2), numbers(1), numbers(0)};
    struct nt_stream *streams[4];
    for (int i = 0; i < 4; i++)
        streams[i] = open_stream(builders[i], NUMBER, NT_STREAM_DATA);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            ck_assert(!nt_streams_share_pages(streams[i], streams[k]));
    for (int i = 0; i < 4; i++) {
        nt_stream_close(streams[i]);
        builder_free(builders[i]);
    }
}
