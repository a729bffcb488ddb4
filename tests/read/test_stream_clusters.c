/* SPDX-License-Identifier: MIT
 *
 * Streams over clusters that differ: unreadable page lists, and sharded clusters.
 */
#include <string.h>

#include "opened_stream.h"
#include "read/page.h"
#include "read/read.h"
#include "core/codec/codec.h"
#include "core/model/model.h"

/* ---- page lists that cannot be read ---- */

/* Three groups of a cluster each: a vector of integers, {0}, {1, 1}, {2, 2, 2}. */
static struct builder *three_groups(uint32_t bad, bool hide_clusters)
{
    struct builder *builder = builder_new();
    struct vector vector = add_vector(builder, NT_ENCODING_INDEX64, NT_ENCODING_INT32);
    for (uint64_t i = 0; i < 3; i++) {
        uint32_t cluster = add_cluster(builder, i, 1);
        add_elements(builder, cluster, vector.index, (uint64_t[]){i + 1}, 1, 1);
        add_elements(builder, cluster, vector.values, (uint64_t[]){i, i, i}, (uint32_t)i + 1, 1);
        end_group(builder);
    }
    builder->bad_group[bad] = true;
    builder->hide_clusters = hide_clusters;
    finish(builder, NULL);
    return builder;
}

TEST(a_bad_page_list_spoils_its_rows_and_leaves_the_others, .end = 2)
{
    struct nt_error error;
    struct builder *builder = three_groups(1, _i);
    uint64_t offsets[4];
    int32_t data[6];
    struct nt_stream *stream = open_stream(builder, 0, NT_STREAM_OFFSETS);
    ck_assert_uint_eq(nt_stream_elements(stream), 4);
    assert_ok(nt_stream_read(stream, 0, offsets, 16, &error));
    assert_status(NT_CORRUPT, nt_stream_read(stream, 16, offsets, 8, &error));
    ck_assert_msg(strstr(error.message, "this page list is bad"), "%s", error.message);
    assert_ok(nt_stream_read(stream, 24, offsets, 8, &error));
    ck_assert_uint_eq(offsets[0], 6);
    nt_stream_close(stream);
    stream = open_stream(builder, 1, NT_STREAM_DATA);
    ck_assert_uint_eq(nt_stream_elements(stream), 6);
    assert_ok(nt_stream_read(stream, 0, data, 4, &error));
    assert_status(NT_CORRUPT, nt_stream_read(stream, 4, data, 4, &error));
    assert_status(NT_CORRUPT, nt_stream_read(stream, 8, data, 4, &error));
    assert_ok(nt_stream_read(stream, 12, data, 12, &error));
    ck_assert_mem_eq(data, ((int32_t[]){2, 2, 2}), 12);
    nt_stream_close(stream);
    builder_free(builder);
}

TEST(sizes_that_depend_on_a_bad_page_list_fail_and_others_do_not, .end = 2)
{
    struct nt_error error;
    struct builder *builder = three_groups(2, _i);
    struct nt_stream *stream;
    uint64_t elements, offsets[3];
    assert_ok(
        nt_field_stream_elements(builder->reader, builder->dataset, 0, NT_STREAM_OFFSETS, &elements, &error));
    ck_assert_uint_eq(elements, 4);
    assert_status(NT_CORRUPT, nt_field_stream_elements(builder->reader, builder->dataset, 1, NT_STREAM_DATA,
                                                       &elements, &error));
    assert_status(NT_CORRUPT,
                  nt_stream_open(builder->reader, builder->dataset, 1, NT_STREAM_DATA, &stream, &error));
    stream = open_stream(builder, 0, NT_STREAM_OFFSETS);
    assert_ok(nt_stream_read(stream, 0, offsets, 24, &error));
    ck_assert_mem_eq(offsets, ((uint64_t[]){0, 1, 3}), 24);
    assert_status(NT_CORRUPT, nt_stream_read(stream, 24, offsets, 8, &error));
    nt_stream_close(stream);
    builder_free(builder);
}

static const struct {
    enum nt_status of_pages, of_opening;
    uint64_t elements;
} unknown_items[] = {{NT_OK, NT_OK, 3}, {NT_TRUNCATED, NT_OK, 2}, {NT_IO, NT_IO, 0}};

static enum nt_status fail_to_read(void *context, uint64_t offset, void *buffer, size_t bytes,
                                   struct nt_error *error)
{
    return nt_fail(error, *(const enum nt_status *)context, offset, "this page cannot be read");
}

/* The second cluster has one item, but stores none: its index alone says so. */
TEST(without_an_end_a_stream_opens_if_the_file_is_at_fault, .end = COUNT_OF(unknown_items))
{
    struct nt_error error;
    struct nt_stream *stream = NULL;
    struct nt_source *source;
    enum nt_status of_pages = unknown_items[_i].of_pages;
    struct nt_source_callbacks callbacks = NT_SOURCE_CALLBACKS_INIT;
    struct builder *builder = builder_new();
    struct vector vector = add_vector(builder, NT_ENCODING_INDEX64, NT_ENCODING_INT32);
    for (uint64_t i = 0; i < 2; i++) {
        add_cluster(builder, i, 1);
        add_elements(builder, i, vector.index, (uint64_t[]){2 - i}, 1, 1);
        if (i == 0)
            add_elements(builder, i, vector.values, (uint64_t[]){7, 8}, 2, 2);
    }
    finish(builder, NULL);
    callbacks.read_at = fail_to_read;
    assert_ok(nt_source_new(&callbacks, &of_pages, 1000, "bad", &source, &error));
    if (of_pages != NT_OK)
        builder->dataset->sources = &source;
    assert_status(unknown_items[_i].of_opening, nt_stream_open_unbounded(builder->reader, builder->dataset, 1,
                                                                         NT_STREAM_DATA, &stream, &error));
    if (stream)
        ck_assert_uint_eq(nt_stream_elements(stream), unknown_items[_i].elements);
    nt_stream_close(stream);
    builder->dataset->sources = &builder->source;
    nt_source_close(source);
    builder_free(builder);
}

TEST(a_size_costs_at_most_one_page_list, .end = 2)
{
    struct nt_error error;
    struct builder *builder = three_groups(0, _i);
    uint64_t elements;
    assert_ok(
        nt_field_stream_elements(builder->reader, builder->dataset, 0, NT_STREAM_OFFSETS, &elements, &error));
    ck_assert_uint_eq(builder->loads[0] + builder->loads[1] + builder->loads[2], 0);
    assert_ok(
        nt_field_stream_elements(builder->reader, builder->dataset, 1, NT_STREAM_DATA, &elements, &error));
    ck_assert_uint_eq(elements, 6);
    ck_assert_uint_eq(builder->loads[0] + builder->loads[1], 0);
    ck_assert_uint_eq(builder->loads[2], 1);
    builder_free(builder);
}

TEST(clusters_that_contradict_the_reported_size_fail_the_opening)
{
    struct nt_error error;
    struct nt_stream *stream;
    struct builder *builder = vector_out_of_order(2);
    finish(builder, NULL);
    builder->shares[0][1].listed_first = 5;
    assert_status(NT_CORRUPT,
                  nt_stream_open(builder->reader, builder->dataset, 1, NT_STREAM_DATA, &stream, &error));
    ck_assert_str_eq(error.expected, "8");
    ck_assert_str_eq(error.found, "5");
    builder_free(builder);
}

/* Entries of two clusters, and the dataset's number of entries. */
static const struct {
    uint64_t first[2], entries[2], total;
} overlaps[] = {{{0, 1}, {2, 2}, 3}, {{0, 0}, {2, 2}, 2}, {{0, 2}, {2, 2}, 3}, {{0, 7}, {2, 1}, 3}};

TEST(clusters_share_no_entries_and_have_none_after_the_last, .end = 4)
{
    struct nt_error error;
    struct nt_stream *stream;
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT32, 0);
    for (uint32_t i = 0; i < 2; i++) {
        add_cluster(builder, overlaps[_i].first[i], overlaps[_i].entries[i]);
        add_elements(builder, i, column, (uint64_t[]){1, 2}, (uint32_t)overlaps[_i].entries[i], 2);
    }
    finish(builder, NULL);
    builder->dataset->entries = overlaps[_i].total;
    assert_status(NT_CORRUPT,
                  nt_stream_open(builder->reader, builder->dataset, field, NT_STREAM_DATA, &stream, &error));
    ck_assert_ptr_nonnull(
        strstr(error.message, "cluster 1 holds entries of another cluster, or entries after the last"));
    builder_free(builder);
}

/* ---- late columns ---- */

/* As ROOT reads them: an earlier specification stores the first stored element only in the page list, and
 * ROOT's merger writes clusters with fewer elements than either says. */
TEST(what_a_late_column_leaves_out_comes_first, .first = 1, .end = 4)
{
    struct nt_error error;
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT32, 0);
    int32_t got[4];
    defer_column(builder, column, 1);
    add_elements(builder, add_cluster(builder, 0, 4), column, (uint64_t[]){7, 8}, 2, 2);
    finish(builder, NULL);
    builder->shares[0][column].listed_first = (uint64_t)_i;
    struct nt_stream *stream = open_stream(builder, field, NT_STREAM_DATA);
    assert_ok(nt_stream_read(stream, 0, got, sizeof(got), &error));
    ck_assert_mem_eq(got, ((int32_t[]){0, 0, 7, 8}), sizeof(got));
    nt_stream_close(stream);
    builder_free(builder);
}

/* ---- sharded clusters ---- */

TEST(sharded_clusters_are_read_by_column_and_holes_are_errors)
{
    struct nt_error error;
    struct builder *builder = builder_new();
    uint32_t a = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t b = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column_a = add_column(builder, a, NT_ENCODING_INT32, 0);
    uint32_t column_b = add_column(builder, b, NT_ENCODING_INT32, 0);
    uint32_t group_a = add_column_group(builder, &column_a, 1),
             group_b = add_column_group(builder, &column_b, 1);
    static const uint64_t values[] = {0, 1, 2, 3};
    int32_t got[4];
    builder->clusters[add_cluster(builder, 2, 2)].column_group = group_a;
    add_elements(builder, 0, column_a, values + 2, 2, 1);
    builder->clusters[add_cluster(builder, 0, 4)].column_group = group_b;
    add_elements(builder, 1, column_b, values, 4, 3);
    finish(builder, NULL);
    struct nt_stream *stream = open_stream(builder, a, NT_STREAM_DATA);
    ck_assert_uint_eq(nt_stream_elements(stream), 4);
    assert_status(NT_CORRUPT, nt_stream_read(stream, 4, got, 4, &error));
    assert_ok(nt_stream_read(stream, 8, got, 8, &error));
    ck_assert_mem_eq(got, ((int32_t[]){2, 3}), 8);
    nt_stream_close(stream);
    stream = open_stream(builder, b, NT_STREAM_DATA);
    assert_ok(nt_stream_read(stream, 0, got, 16, &error));
    ck_assert_mem_eq(got, ((int32_t[]){0, 1, 2, 3}), 16);
    nt_stream_close(stream);
    builder_free(builder);
}

TEST(a_collection_and_its_items_in_different_shards_agree)
{
    struct nt_error error;
    struct builder *builder = builder_new();
    struct vector vector = add_vector(builder, NT_ENCODING_INDEX64, NT_ENCODING_INT32);
    uint32_t group_list = add_column_group(builder, &vector.index, 1),
             group_item = add_column_group(builder, &vector.values, 1);
    for (uint64_t i = 0; i < 3; i++) {
        builder->clusters[add_cluster(builder, i, 1)].column_group = group_list;
        add_elements(builder, builder->cluster_count - 1, vector.index, (uint64_t[]){2}, 1, 1);
    }
    for (uint64_t i = 0; i < 3; i += 2) { /* entry 1 has no items stored */
        builder->clusters[add_cluster(builder, i, 1)].column_group = group_item;
        add_elements(builder, builder->cluster_count - 1, vector.values, (uint64_t[]){i, i + 1}, 2, 1);
    }
    finish(builder, NULL);
    builder->shares[4][vector.values].listed_first = 4;
    uint64_t offsets[4];
    int32_t data[6];
    struct nt_stream *stream = open_stream(builder, vector.list, NT_STREAM_OFFSETS);
    assert_ok(nt_stream_read(stream, 0, offsets, sizeof(offsets), &error));
    ck_assert_mem_eq(offsets, ((uint64_t[]){0, 2, 4, 6}), sizeof(offsets));
    nt_stream_close(stream);
    stream = open_stream(builder, vector.item, NT_STREAM_DATA);
    ck_assert_uint_eq(nt_stream_elements(stream), 6);
    assert_ok(nt_stream_read(stream, 0, data, 8, &error));
    assert_status(NT_CORRUPT, nt_stream_read(stream, 8, data, 4, &error));
    assert_ok(nt_stream_read(stream, 16, data, 8, &error));
    ck_assert_mem_eq(data, ((int32_t[]){2, 3}), 8);
    nt_stream_close(stream);
    builder_free(builder);
}

/* Items of five entries; those of the second and the third are not stored. */
static const struct {
    const char *reported_by;
    uint64_t entries[5]; /* of each cluster of the collection */
    uint32_t hole, bad;  /* of these clusters: nothing of it is stored; its page is damaged */
} cuts[] = {
    {"the collection, cluster by cluster", {1, 1, 1, 1, 1}, NT_NONE, NT_NONE},
    {"the collection, in one cluster", {1, 2, 2}, NT_NONE, NT_NONE},
    {"the items behind them: a cluster has others, too", {2, 1, 2}, NT_NONE, NT_NONE},
    {"the items behind them: a cluster of the collection is not there", {1, 1, 1, 1, 1}, 2, NT_NONE},
    {"the items behind them: a cluster of the collection is damaged", {1, 1, 1, 1, 1}, NT_NONE, 2},
};

TEST(items_that_no_shard_stores_have_their_place, .end = sizeof(cuts) / sizeof(*cuts))
{
    struct nt_error error;
    struct builder *builder = builder_new();
    struct vector vector = add_vector(builder, NT_ENCODING_INDEX64, NT_ENCODING_INT32);
    uint32_t group_list = add_column_group(builder, &vector.index, 1),
             group_item = add_column_group(builder, &vector.values, 1);
    uint64_t entry = 0;
    for (uint32_t i = 0; entry < 5; entry += cuts[_i].entries[i++])
        if (i != cuts[_i].hole) {
            uint32_t cluster = add_cluster(builder, entry, cuts[_i].entries[i]);
            builder->clusters[cluster].column_group = group_list;
            add_elements(builder, cluster, vector.index, (uint64_t[]){2, 4}, (uint32_t)cuts[_i].entries[i],
                         2);
        }
    for (uint64_t first = 0; first < 5; first += 3) {
        uint32_t cluster = add_cluster(builder, first, first ? 2 : 1);
        builder->clusters[cluster].column_group = group_item;
        add_elements(builder, cluster, vector.values, (uint64_t[]){first, 7, 8, 9}, first ? 4 : 2, 4);
    }
    finish(builder, NULL);
    builder->shares[builder->cluster_count - 1][vector.values].listed_first = 6;
    if (cuts[_i].bad != NT_NONE)
        builder->bytes
            .bytes[builder->pages[0][builder->shares[cuts[_i].bad][vector.index].first_page].offset] ^= 1;
    int32_t data[10];
    struct nt_stream *stream = open_stream(builder, vector.item, NT_STREAM_DATA);
    ck_assert_uint_eq(nt_stream_elements(stream), 10);
    assert_ok(nt_stream_read(stream, 0, data, 8, &error));
    assert_status(NT_CORRUPT, nt_stream_read(stream, 8, data, 4, &error));
    assert_ok(nt_stream_read(stream, 24, data, 16, &error));
    ck_assert_mem_eq(data, ((int32_t[]){3, 7, 8, 9}), 16);
    nt_stream_close(stream);
    builder_free(builder);
}

/* ---- what clusters do not store ---- */

/* Three clusters of two entries: the first stores values and their validity, the second stores values
 * that are never null, the third nothing. */
TEST(rows_are_valid_where_none_is_null_and_null_where_nothing_is_stored)
{
    struct nt_error error;
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t values = add_column(builder, field, NT_ENCODING_INT32, 0);
    uint32_t valid = add_column(builder, field, NT_ENCODING_BIT, 0);
    builder->fields[field].is_nullable = true;
    for (uint64_t i = 0; i < 3; i++)
        add_cluster(builder, 2 * i, 2);
    add_elements(builder, 0, values, (uint64_t[]){7, 0}, 2, 2);
    add_elements(builder, 0, valid, (uint64_t[]){1, 0}, 2, 2);
    add_elements(builder, 1, values, (uint64_t[]){8, 9}, 2, 2);
    builder->shares[1][valid].state = NT_RANGE_VALID;
    builder->shares[2][values].state = builder->shares[2][valid].state = NT_RANGE_NULL;
    finish(builder, NULL);
    int32_t data[6];
    uint8_t are_valid[6];
    struct nt_stream *stream = open_stream(builder, field, NT_STREAM_DATA);
    assert_ok(nt_stream_read(stream, 0, data, sizeof(data), &error));
    ck_assert_mem_eq(data, ((int32_t[]){7, 0, 8, 9, 0, 0}), sizeof(data));
    nt_stream_close(stream);
    stream = open_stream(builder, field, NT_STREAM_VALID);
    assert_ok(nt_stream_read(stream, 0, are_valid, sizeof(are_valid), &error));
    ck_assert_mem_eq(are_valid, ((uint8_t[]){1, 0, 1, 1, 0, 0}), sizeof(are_valid));
    nt_stream_close(stream);
    builder_free(builder);
}

/* Also in records and arrays, whose rows the entries count. */
TEST(a_merged_late_column_within_another_field_begins_with_zeros, .end = 2)
{
    struct nt_error error;
    struct builder *builder = builder_new();
    uint32_t above =
        add_array(builder, NT_NONE, _i ? NT_FIELD_ARRAY : NT_FIELD_RECORD, NT_ELEMENT_BYTE, _i ? 2 : 0);
    uint32_t field = add_field(builder, above, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT32, 0);
    int32_t got[4];
    defer_column(builder, column, 1);
    add_elements(builder, add_cluster(builder, 0, _i ? 2 : 4), column, (uint64_t[]){8}, 1, 1);
    finish(builder, NULL);
    struct nt_stream *stream = open_stream(builder, field, NT_STREAM_DATA);
    ck_assert_uint_eq(nt_stream_elements(stream), 4);
    assert_ok(nt_stream_read(stream, 0, got, sizeof(got), &error));
    ck_assert_mem_eq(got, ((int32_t[]){0, 0, 0, 8}), sizeof(got));
    nt_stream_close(stream);
    builder_free(builder);
}

/* Zeros would stand for as many items as a damaged offset says. */
TEST(items_of_a_list_that_are_too_few_are_damage_even_if_they_are_late)
{
    struct nt_error error;
    struct builder *builder = builder_new();
    struct vector vector = add_vector(builder, NT_ENCODING_INDEX64, NT_ENCODING_INT32);
    int32_t got[4];
    defer_column(builder, vector.values, 1);
    uint32_t cluster = add_cluster(builder, 0, 2);
    add_elements(builder, cluster, vector.index, (uint64_t[]){2, 4}, 2, 2);
    add_elements(builder, cluster, vector.values, (uint64_t[]){7, 8}, 2, 2);
    cluster = add_cluster(builder, 2, 1);
    add_elements(builder, cluster, vector.index, (uint64_t[]){1}, 1, 1);
    add_elements(builder, cluster, vector.values, (uint64_t[]){9}, 1, 1);
    finish(builder, NULL);
    builder->shares[1][vector.values].listed_first = 4; /* as if the first cluster had all */
    struct nt_stream *stream = open_stream(builder, vector.item, NT_STREAM_DATA);
    assert_status(NT_CORRUPT, nt_stream_read(stream, 0, got, sizeof(got), &error));
    ck_assert_str_eq(error.expected, "4");
    ck_assert_str_eq(error.found, "2");
    nt_stream_close(stream);
    builder_free(builder);
}
