/* SPDX-License-Identifier: MIT
 *
 * Which streams share pages, and lists whose ends a decoder sums.
 * tests/formats/lance/file/test_page_list_shared.c tests other decoders that share pages.
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

/* ---- Decoders that sum items ---- */

/* Lists of numbers: the bytes of a page are the numbers of items, and the same numbers are the items. */
enum { CLUSTERS = 2, CLUSTER_PAGES = 2, PAGE_ROWS = 2, ROWS = CLUSTERS * CLUSTER_PAGES * PAGE_ROWS };
static const uint64_t counts[ROWS] = {2, 0, 1, 1, 0, 2, 2, 0};
static unsigned summed; /* pages whose ends and items are decoded together */

static enum nt_status sum(const struct nt_packed *packed, uint8_t *const *outputs, uint32_t count,
                          struct nt_error *error)
{
    (void)error;
    summed += count == 2;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t end = packed[i].parameter;
        size_t bytes = packed[i].decoder->element_bytes;
        for (size_t k = 0; k < packed[i].elements; k++) {
            uint64_t number = nt_load_le64(packed[i].data + k * sizeof(number));
            end += number;
            memcpy(outputs[i] + k * bytes, bytes == sizeof(end) ? &end : &number, bytes);
        }
    }
    return NT_OK;
}

static enum nt_status sum_one(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    return sum(packed, &output, 1, error);
}

static bool are_different(const struct nt_decoder *a, const struct nt_decoder *b)
{
    return a->element != b->element;
}

static uint32_t add_summing_decoder(struct builder *builder, enum nt_element element)
{
    static const struct nt_decoder_ops ops = {
        .decode = sum_one, .are_shared = are_different, .decode_shared = sum, .sums_items = true};
    struct nt_dataset *dataset = builder->dataset;
    struct nt_error error;
    uint32_t added;
    const struct nt_decoder decoder = {.ops = &ops,
                                       .encoding = NT_ENCODING_OTHER,
                                       .element = element,
                                       .element_bytes = nt_element_info(element)->bytes};
    assert_ok(nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, &decoder, &added,
                              &error));
    return added;
}

/* In each cluster the second page begins with item number `second`, which should be 2. */
static struct builder *summed_lists(uint64_t second)
{
    struct builder *builder = builder_new();
    struct vector vector = add_vector(builder, NT_ENCODING_INDEX64, NT_ENCODING_INT32);
    enum { SOME = CLUSTER_PAGES * PAGE_ROWS };
    for (uint32_t i = 0; i < CLUSTERS; i++) {
        add_cluster(builder, i * SOME, SOME);
        add_elements(builder, i, vector.index, counts + i * SOME, SOME, PAGE_ROWS);
        add_elements(builder, i, vector.values, counts + i * SOME, SOME, PAGE_ROWS);
    }
    finish(builder, NULL);
    uint32_t ends = add_summing_decoder(builder, NT_ELEMENT_UINT64);
    uint32_t items = add_summing_decoder(builder, NT_ELEMENT_INT32);
    for (uint32_t i = 0; i < CLUSTERS * CLUSTER_PAGES; i++) {
        const struct share *shares = builder->shares[i / CLUSTER_PAGES];
        uint32_t number = i % CLUSTER_PAGES;
        struct nt_page *page = &builder->pages[0][shares[vector.index].first_page + number];
        struct nt_page *same = &builder->pages[0][shares[vector.values].first_page + number];
        page->parameter = number * second;
        page->decoder = ends;
        same->offset = page->offset;
        same->stored_bytes = page->stored_bytes;
        same->decoder = items;
    }
    reopen(builder, NULL);
    return builder;
}

static enum nt_status read_lists(struct builder *builder, uint64_t ends[ROWS + 1], int32_t items[ROWS],
                                 struct nt_error *error)
{
    struct nt_stream *offsets = open_stream(builder, 0, NT_STREAM_OFFSETS);
    struct nt_stream *data = open_stream(builder, 1, NT_STREAM_DATA);
    const struct nt_stream_range ranges[] = {{.stream = offsets, .count = ROWS + 1, .output = ends},
                                             {.stream = data, .count = ROWS, .output = items}};
    summed = 0;
    enum nt_status status = nt_streams_read_elements(ranges, 2, error);
    nt_stream_close(offsets);
    nt_stream_close(data);
    return status;
}

TEST(summed_ends_count_the_items_of_earlier_clusters)
{
    uint64_t ends[ROWS + 1], end = 0;
    int32_t items[ROWS];
    struct nt_error error;
    struct builder *builder = summed_lists(2);
    assert_ok(read_lists(builder, ends, items, &error));
    ck_assert_uint_gt(summed, 0);
    ck_assert_uint_eq(ends[0], 0);
    for (size_t i = 0; i < ROWS; i++) {
        end += counts[i];
        ck_assert_uint_eq(ends[i + 1], end);
        ck_assert_int_eq(items[i], (int32_t)counts[i]);
    }
    builder_free(builder);
}

TEST(summed_ends_that_fall_between_pages_or_are_too_large_are_refused, .end = 2)
{
    uint64_t ends[ROWS + 1];
    int32_t items[ROWS];
    struct nt_error error;
    struct builder *builder = summed_lists(_i ? 0 : 3);
    assert_status(NT_CORRUPT, read_lists(builder, ends, items, &error));
    ck_assert_uint_gt(summed, 0);
    builder_free(builder);
}
