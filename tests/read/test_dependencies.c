/* SPDX-License-Identifier: MIT
 *
 * Pages that are decoded in several steps with a shared dictionary: loading, the cache, columns and
 * streams.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset_builder.h"
#include "read/read.h"
#include "read/page.h"
#include "planned_dataset.h"
#include "support.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/model/budget.h"
#include "core/model/model.h"

enum { ENTRIES = 1000, PAGE_ELEMENTS = 100, PAGES = ENTRIES / PAGE_ELEMENTS, ITEMS = 50 };

static struct builder *builder;
static double items[ITEMS], expected[ENTRIES], elements[ENTRIES];
static uint64_t items_offset;
static uint32_t planned; /* index of the pages' decoder */

/* The items, followed by their digest. */
static void write_items(void)
{
    uint8_t digest[8];
    items_offset = builder->bytes.length;
    for (size_t i = 0; i < ITEMS; i++)
        items[i] = (double)i * 1.5;
    nt_buffer_append(&builder->bytes, items, sizeof(items));
    nt_checksum_info(NT_CHECKSUM_XXH3_64)->compute(items, sizeof(items), digest);
    nt_buffer_append(&builder->bytes, digest, sizeof(digest));
}

static uint32_t add_decoder(const struct nt_decoder *decoder)
{
    struct nt_error error;
    uint32_t number;
    struct nt_dataset *dataset = builder->dataset;
    assert_ok(nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, decoder, &number,
                              &error));
    return number;
}

/* 16-bit indexes, then the items that they refer to. */
static uint32_t add_planned(void)
{
    struct nt_error error;
    struct nt_decoder item;
    assert_ok(nt_decoder_init(&item, NT_ENCODING_REAL64, 0, 0, 0, &error));
    const struct nt_page input = {.offset = items_offset,
                                  .stored_bytes = sizeof(items),
                                  .elements = ITEMS,
                                  .decoder = add_decoder(&item),
                                  .checksum = NT_CHECKSUM_XXH3_64};
    const struct nt_decoder decoder = planned_decoder(&input, 1);
    return add_decoder(&decoder);
}

static void setup(void)
{
    static uint64_t numbers[ENTRIES];
    builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_REAL64);
    uint32_t column = add_column(builder, field, NT_ENCODING_UINT16, 0);
    uint32_t cluster = add_cluster(builder, 0, ENTRIES);
    write_items();
    for (size_t i = 0; i < ENTRIES; i++) {
        numbers[i] = i * 7 % ITEMS;
        expected[i] = items[numbers[i]];
    }
    builder->compress = true;
    add_elements(builder, cluster, column, numbers, ENTRIES, PAGE_ELEMENTS);
    finish(builder, NULL);
    planned = add_planned();
    builder->columns[column].decoder = planned;
    builder->columns[column].dtype = nt_element_dtype(NT_ELEMENT_REAL64);
    for (uint32_t i = 0; i < PAGES; i++)
        builder->pages[0][i].decoder = planned;
    struct nt_error error;
    assert_ok(nt_dataset_load_all(builder->dataset, &error));
    memset(elements, 0, sizeof(elements));
}

static void teardown(void)
{
    builder_free(builder);
}

static const struct nt_page *page_number(uint32_t number)
{
    return &nt_group_slot(builder->dataset, 0)->pages[number];
}

static struct nt_counters counters_now(void)
{
    struct nt_counters counters;
    nt_counters_read(builder->reader, &counters);
    return counters;
}

TEST(equal_decoders_with_equal_inputs_are_one, .setup = setup, .teardown = teardown)
{
    uint32_t count = builder->dataset->decoders.count;
    ck_assert_uint_eq(add_planned(), planned);
    ck_assert_uint_eq(builder->dataset->decoders.count, count);
    items_offset++; /* other items */
    ck_assert_uint_ne(add_planned(), planned);
    ck_assert_uint_eq(builder->dataset->decoders.count, count + 1);
}

TEST(sizes_are_those_of_numbers_and_of_items, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    uint64_t packed, decoded;
    assert_ok(nt_page_sizes(builder->dataset, page_number(0), &packed, &decoded, &error));
    ck_assert_uint_eq(packed, PAGE_ELEMENTS * 2);
    ck_assert_uint_eq(decoded, PAGE_ELEMENTS * 8);
}

TEST(pages_are_loaded_one_by_one, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    for (uint32_t i = 0; i < PAGES; i++)
        assert_ok(nt_page_load(builder->reader, builder->dataset, 0, page_number(i),
                               elements + (size_t)i * PAGE_ELEMENTS, &error));
    ck_assert_mem_eq(elements, expected, sizeof(expected));
    ck_assert_uint_eq(counters_now().pages_decoded, PAGES + 1); /* the items once */
}

TEST(the_items_are_decoded_once_however_pages_are_read, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    assert_ok(
        nt_pages_read_whole(builder->reader, builder->dataset, 0, page_number(0), PAGES, elements, &error));
    ck_assert_mem_eq(elements, expected, sizeof(expected));
    ck_assert_uint_eq(counters_now().pages_decoded, PAGES + 1);
    ck_assert_uint_eq(counters_now().pages_direct, PAGES);
    assert_ok(nt_column_read(builder->reader, builder->dataset, 0, 12, elements, 800, &error));
    ck_assert_mem_eq(elements, (uint8_t *)expected + 12, 800);
    ck_assert_uint_eq(counters_now().pages_decoded, PAGES + 3); /* two pages in part */
}

TEST(neighbours_are_read_together_where_one_decoder_decodes_them, .setup = setup, .teardown = teardown)
{
    struct nt_page pages[PAGES];
    memcpy(pages, page_number(0), sizeof(pages));
    ck_assert_uint_eq(nt_adjacent_pages_count(builder->dataset, pages, PAGES), PAGES);
    items_offset++; /* other items */
    pages[4].decoder = add_planned();
    ck_assert_uint_eq(nt_adjacent_pages_count(builder->dataset, pages, PAGES), 4);
    ck_assert_uint_eq(nt_adjacent_pages_count(builder->dataset, pages + 4, PAGES - 4), 1);
}

TEST(damaged_items_are_reported_of_the_first_page_of_those_that_are_read_together, .setup = setup,
     .teardown = teardown)
{
    struct nt_error error;
    builder->bytes.bytes[items_offset + 9] ^= 4;
    assert_status(NT_CHECKSUM, nt_pages_read_whole(builder->reader, builder->dataset, 0, page_number(0),
                                                   PAGES, elements, &error));
    ck_assert_uint_eq(error.offset, items_offset);
    ck_assert_ptr_nonnull(strstr(error.message, "page 0 of cluster 0"));
}

TEST(a_stream_gives_the_same_bytes_however_it_is_split, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    struct nt_stream *stream;
    assert_ok(nt_stream_open(builder->reader, builder->dataset, 0, NT_STREAM_DATA, &stream, &error));
    srand(3);
    for (size_t at = 0, bytes; at < sizeof(expected); at += bytes) {
        bytes = 1 + (size_t)rand() % 1500;
        if (bytes > sizeof(expected) - at)
            bytes = sizeof(expected) - at;
        assert_ok(nt_stream_read(stream, at, (uint8_t *)elements + at, bytes, &error));
    }
    ck_assert_mem_eq(elements, expected, sizeof(expected));
    nt_stream_close(stream);
}

TEST(damaged_items_make_every_page_fail_with_their_place, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    builder->bytes.bytes[items_offset + 9] ^= 4;
    for (uint32_t i = 0; i < 3; i++) {
        assert_status(NT_CHECKSUM,
                      nt_page_load(builder->reader, builder->dataset, 0, page_number(i), elements, &error));
        ck_assert_uint_eq(error.offset, items_offset);
        ck_assert_ptr_nonnull(strstr(error.message, "a page that it depends on"));
        char page[32];
        snprintf(page, sizeof(page), "page %u of cluster 0", i);
        ck_assert_ptr_nonnull(strstr(error.message, page));
    }
    ck_assert_uint_eq(counters_now().failures_remembered, 2); /* the items are not tried again */
}

TEST(numbers_beyond_the_items_are_an_error_of_the_page, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    struct nt_page page = *page_number(0);
    struct nt_decoder decoder = *nt_decoders_get(&builder->dataset->decoders, planned);
    struct nt_page input = decoder.dependencies[0];
    input.elements = ITEMS / 2;
    input.stored_bytes = ITEMS / 2 * sizeof(double);
    input.checksum = NT_CHECKSUM_NONE;
    decoder.dependencies = &input;
    page.decoder = add_decoder(&decoder);
    assert_status(NT_CORRUPT, nt_page_load(builder->reader, builder->dataset, 0, &page, elements, &error));
    ck_assert_uint_eq(error.offset, page.offset);
}

TEST(inputs_are_few_and_have_none_themselves, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    struct nt_dataset *dataset = builder->dataset;
    struct nt_decoder decoder = *nt_decoders_get(&dataset->decoders, planned);
    struct nt_page dependencies[NT_DECODER_DEPENDENCIES + 1];
    uint32_t number, count = dataset->decoders.count;
    for (unsigned i = 0; i <= NT_DECODER_DEPENDENCIES; i++)
        dependencies[i] = decoder.dependencies[0];
    decoder.dependencies = dependencies;
#define REFUSED(expected, text)                                                                              \
    assert_status(expected, nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget,      \
                                            &decoder, &number, &error));                                     \
    ck_assert_ptr_nonnull(strstr(error.message, text))
    decoder.dependency_count = NT_DECODER_DEPENDENCIES + 1;
    REFUSED(NT_LIMIT, "other pages, 17");
    decoder.dependency_count = 1;
    dependencies[0].decoder = planned;
    REFUSED(NT_CORRUPT, "has dependencies of its own");
    dependencies[0].decoder = UINT32_MAX - 64;
    REFUSED(NT_CORRUPT, "has no decoder");
#undef REFUSED
    ck_assert_uint_eq(dataset->decoders.count, count);
}

TEST(a_decoder_may_have_several_inputs, .setup = setup, .teardown = teardown)
{
    static struct planned several;
    struct nt_error error;
    planned_dataset(&several);
    assert_ok(nt_column_read(several.builder->reader, several.builder->dataset, 0, 0, elements,
                             sizeof(several.expected), &error));
    ck_assert_mem_eq(elements, several.expected, sizeof(several.expected));
    builder_free(several.builder);
}

TEST(decoders_with_inputs_are_taken_from_the_budget_once_each, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    struct nt_dataset *dataset = builder->dataset;
    uint64_t used = atomic_load(&dataset->file->budget.used);
    ck_assert_uint_eq(add_planned(), planned);
    ck_assert_uint_eq(atomic_load(&dataset->file->budget.used), used);
    items_offset++; /* other items */
    add_planned();
    ck_assert_uint_eq(atomic_load(&dataset->file->budget.used), used + 2 * nt_cost_info(NT_COST_STEP)->bytes);
    dataset->file->budget.limit = atomic_load(&dataset->file->budget.used) + 1;
    struct nt_decoder decoder = *nt_decoders_get(&dataset->decoders, planned);
    struct nt_page input = decoder.dependencies[0];
    uint32_t number, count = dataset->decoders.count;
    input.elements--;
    decoder.dependencies = &input;
    assert_status(NT_LIMIT, nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget,
                                            &decoder, &number, &error));
    ck_assert_uint_eq(dataset->decoders.count, count);
}
