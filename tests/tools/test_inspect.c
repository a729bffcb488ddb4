/* SPDX-License-Identifier: MIT
 *
 * The figures of `inspect`, on datasets with known pages.
 */
#include <stdlib.h>
#include <string.h>

#include "dataset_builder.h"
#include "random_dataset.h"
#include "support.h"
#include "tools/tools.h"
#include "core/codec/codec.h"
#include "core/model/model.h"

/* The fields: 0 plain; 1 a collection with 2 its items; the items' pages are compressed. */
static struct builder *three_columns(void)
{
    static const uint64_t index[] = {100, 300}, values[300];
    struct builder *builder = builder_new();
    uint32_t plain = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_REAL64);
    uint32_t list = add_field(builder, NT_NONE, NT_FIELD_COLLECTION, NT_ELEMENT_UINT64);
    uint32_t item = add_field(builder, list, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t columns[] = {add_column(builder, plain, NT_ENCODING_REAL32, 0),
                          add_column(builder, list, NT_ENCODING_INDEX64, 0),
                          add_column(builder, item, NT_ENCODING_INT32, 0)};
    uint32_t cluster = add_cluster(builder, 0, 2);
    add_elements(builder, cluster, columns[0], values, 2, 1);
    add_elements(builder, cluster, columns[1], index, 2, 2);
    builder->compress = true;
    add_elements(builder, cluster, columns[2], values, 300, 200);
    finish(builder, NULL);
    return builder;
}

TEST(each_column_has_its_pages_bytes_and_algorithms)
{
    struct nt_error error;
    struct builder *builder = three_columns();
    struct nt_column_stats *columns;
    uint32_t count;
    assert_ok(nt_inspect(builder->dataset, NULL, 0, &columns, &count, &error));
    ck_assert_uint_eq(count, 3);
    static const struct {
        uint64_t elements, pages, packed;
        enum nt_algorithm algorithm;
    } expected[] = {
        {2, 2, 8, NT_ALGORITHM_NONE}, {2, 1, 16, NT_ALGORITHM_NONE}, {300, 2, 1200, NT_ALGORITHM_ZLIB}};
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(columns[i].column, i);
        ck_assert_uint_eq(columns[i].sums.elements, expected[i].elements);
        ck_assert_uint_eq(columns[i].sums.pages, expected[i].pages);
        ck_assert_uint_eq(columns[i].sums.packed_bytes, expected[i].packed);
        ck_assert_uint_eq(columns[i].algorithms, 1u << expected[i].algorithm);
    }
    const struct nt_page *items = &builder->pages[0][3];
    ck_assert_uint_lt(items[0].stored_bytes, 800);
    ck_assert_uint_eq(columns[2].sums.stored_bytes, items[0].stored_bytes + items[1].stored_bytes);
    ck_assert_uint_eq(columns[2].largest_page, items[0].stored_bytes > items[1].stored_bytes
                                                   ? items[0].stored_bytes
                                                   : items[1].stored_bytes);
    free(columns);
    builder_free(builder);
}

TEST(the_last_item_is_the_sum_of_all)
{
    struct nt_error error;
    struct builder *builder = three_columns();
    struct nt_column_stats *columns;
    uint32_t count;
    assert_ok(nt_inspect(builder->dataset, NULL, 0, &columns, &count, &error));
    const struct nt_column_stats *total = &columns[count];
    ck_assert_uint_eq(total->column, NT_NONE);
    ck_assert_uint_eq(total->sums.pages, 5);
    ck_assert_uint_eq(total->sums.elements, 304);
    ck_assert_uint_eq(total->sums.packed_bytes, 1224);
    ck_assert_uint_eq(total->sums.decoded_bytes, 1224);
    ck_assert_uint_eq(total->algorithms, 1u << NT_ALGORITHM_NONE | 1u << NT_ALGORITHM_ZLIB);
    ck_assert_uint_eq(total->sums.checksum, NT_CHECKSUM_XXH3_64);
    ck_assert(total->sums.is_complete);
    free(columns);
    builder_free(builder);
}

TEST(a_field_is_inspected_with_all_below_it, .end = 3)
{
    static const uint32_t first[] = {0, 1, 2}, counts[] = {1, 2, 1};
    struct nt_error error;
    struct builder *builder = three_columns();
    struct nt_column_stats *columns;
    uint32_t count;
    assert_ok(nt_inspect(builder->dataset, &(uint32_t){(uint32_t)_i}, 1, &columns, &count, &error));
    ck_assert_uint_eq(count, counts[_i]);
    for (uint32_t i = 0; i < count; i++)
        ck_assert_uint_eq(columns[i].column, first[_i] + i);
    free(columns);
    builder_free(builder);
}

TEST(page_lists_that_cannot_be_read_are_left_out_and_reported)
{
    struct nt_error error;
    struct builder *builder = random_dataset(3, 40);
    builder->bad_group[1] = true;
    finish(builder, NULL);
    ck_assert_uint_gt(builder->group_count, 1);
    struct nt_column_stats *columns;
    uint32_t count, pages = 0;
    for (uint32_t i = 0; i < builder->group_count; i++)
        pages += i == 1 ? 0 : builder->page_count[i];
    assert_ok(nt_inspect(builder->dataset, NULL, 0, &columns, &count, &error));
    ck_assert_uint_eq(columns[count].sums.pages, pages);
    ck_assert(!columns[count].sums.is_complete);
    free(columns);
    builder_free(builder);
}

static uint64_t unique_bytes(const struct builder *builder, uint32_t field)
{
    struct nt_error error;
    struct nt_column_stats *columns;
    uint32_t count;
    assert_ok(nt_inspect(builder->dataset, field == NT_NONE ? NULL : &field, 1, &columns, &count, &error));
    uint64_t bytes = columns[count].unique_bytes;
    ck_assert_uint_le(bytes, columns[count].sums.stored_bytes);
    free(columns);
    return bytes;
}

/* Before the page list is read: two pages of 4 bytes, one of 16, two of compressed items. */
TEST(pages_that_share_bytes_are_counted_once, .end = 5)
{
    struct builder *builder = three_columns();
    struct nt_page *pages = builder->pages[0];
    uint64_t items = pages[3].stored_bytes + pages[4].stored_bytes;
    switch (_i) {
    case 0: /* none */
        break;
    case 1: /* two of a column */
        pages[1].offset = pages[0].offset;
        break;
    case 2: /* of two columns */
        pages[1].offset = pages[2].offset;
        break;
    case 3: /* in part */
        pages[1].offset = pages[0].offset + 1;
        break;
    case 4: /* the same offset in another file */
        pages[1].offset = pages[0].offset;
        pages[1].source = 1;
        break;
    }
    static const uint64_t once[] = {24, 20, 20, 21, 24};
    ck_assert_uint_eq(unique_bytes(builder, NT_NONE), once[_i] + items);
    ck_assert_uint_eq(unique_bytes(builder, 1), 16 + items);
    builder_free(builder);
}

/* More pages than are sorted at once, in an order without a system: each number once. */
TEST(many_pages_that_share_bytes_are_counted_once, .end = 2, .timeout = 60)
{
    enum { COUNT = 700001, BYTES = 8 };
    const uint64_t prime = 1000003;
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_REAL64);
    uint32_t column = add_column(builder, field, NT_ENCODING_REAL64, 0);
    uint64_t *values = calloc(COUNT, sizeof(*values));
    add_elements(builder, add_cluster(builder, 0, COUNT), column, values, COUNT, 1);
    finish(builder, NULL);
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t number = i * prime % COUNT;
        builder->pages[0][i].offset = _i ? number / 3 * 10 : number * 5; /* the same or in part */
    }
    ck_assert_uint_eq(unique_bytes(builder, NT_NONE), _i ? (COUNT + 2) / 3 * BYTES : (COUNT - 1) * 5 + BYTES);
    free(values);
    builder_free(builder);
}
