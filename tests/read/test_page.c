/* SPDX-License-Identifier: MIT
 *
 * Loading whole pages together: the number of reads, and a damaged page among valid ones.
 */
#include <stdlib.h>
#include <string.h>

#include "dataset_builder.h"
#include "read/read.h"
#include "random_dataset.h"
#include "support.h"
#include "core/base/error.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/model/model.h"
#include <ntuple/source.h>

enum { ENTRIES = 1000, PAGE_ELEMENTS = 10, PAGES = ENTRIES / PAGE_ELEMENTS };

/* ---- a source that counts its reads ---- */

struct counting_source {
    struct nt_source source;
    struct nt_source *inner;
    unsigned reads;
    uint64_t max_bytes;
    bool has_changed;
};

static enum nt_status counting_read(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                    struct nt_error *error)
{
    struct counting_source *counting = (struct counting_source *)source;
    counting->reads++;
    if (bytes > counting->max_bytes)
        counting->max_bytes = bytes;
    return nt_source_read(counting->inner, offset, buffer, bytes, error);
}

static enum nt_status counting_check(struct nt_source *source, struct nt_error *error)
{
    return ((struct counting_source *)source)->has_changed
               ? nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "another file now")
               : NT_OK;
}

static struct builder *builder;
static struct counting_source counting;
static int32_t expected[ENTRIES], elements[ENTRIES];
static const struct nt_page *pages;

static void setup(void)
{
    static const struct nt_source_ops ops = {.read_at = counting_read, .check = counting_check};
    struct nt_error error;
    builder = plain_dataset(ENTRIES, PAGE_ELEMENTS);
    finish(builder, NULL);
    pages = first_page(builder);
    for (uint32_t i = 0; i < PAGES; i++)
        assert_ok(nt_page_load(builder->reader, builder->dataset, 0, &pages[i], &expected[i * PAGE_ELEMENTS],
                               &error));
    reopen(builder, NULL);
    counting = (struct counting_source){.inner = builder->dataset->sources[0]};
    counting.source = (struct nt_source){.ops = &ops, .size = counting.inner->size, .path = "counted"};
    builder->dataset->sources[0] = &counting.source;
    memset(elements, 0, sizeof(elements));
}

static void teardown(void)
{
    builder->dataset->sources[0] = counting.inner;
    builder_free(builder);
}

static enum nt_status read_all(struct nt_error *error)
{
    return nt_pages_read_whole(builder->reader, builder->dataset, 0, pages, PAGES, elements, error);
}

TEST(small_neighbours_are_read_in_one_call, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    struct nt_counters counters;
    assert_ok(read_all(&error));
    ck_assert_mem_eq(elements, expected, sizeof(expected));
    ck_assert_uint_eq(counting.reads, 1);
    nt_counters_read(builder->reader, &counters);
    ck_assert_uint_eq(counters.pages_decoded, PAGES);
    ck_assert_uint_eq(counters.pages_direct, PAGES);
}

TEST(streams_and_columns_read_their_neighbours_in_one_call, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    struct nt_stream *stream;
    assert_ok(nt_column_read(builder->reader, builder->dataset, 0, 0, elements, sizeof(elements), &error));
    ck_assert_mem_eq(elements, expected, sizeof(expected));
    ck_assert_uint_eq(counting.reads, 1);
    memset(elements, 0, sizeof(elements));
    assert_ok(nt_stream_open(builder->reader, builder->dataset, 0, NT_STREAM_DATA, &stream, &error));
    assert_ok(nt_stream_read(stream, 0, elements, sizeof(elements), &error));
    ck_assert_mem_eq(elements, expected, sizeof(expected));
    ck_assert_uint_eq(counting.reads, 2);
    nt_stream_close(stream);
}

TEST(pages_that_are_not_one_after_the_other_are_read_apart, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    struct nt_page some[] = {pages[0], pages[1], pages[3], pages[4], pages[2]};
    assert_ok(nt_pages_read_whole(builder->reader, builder->dataset, 0, some, 5, elements, &error));
    ck_assert_uint_eq(counting.reads, 3);
    ck_assert_mem_eq(elements, expected, 2 * PAGE_ELEMENTS * sizeof(int32_t));
    ck_assert_mem_eq(elements + 2 * PAGE_ELEMENTS, expected + 3 * PAGE_ELEMENTS,
                     2 * PAGE_ELEMENTS * sizeof(int32_t));
    ck_assert_mem_eq(elements + 4 * PAGE_ELEMENTS, expected + 2 * PAGE_ELEMENTS,
                     PAGE_ELEMENTS * sizeof(int32_t));
}

/* Longer reads of such a source would be taken for payloads in parts. */
TEST(reads_are_no_longer_than_what_a_source_holds_in_one_part, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    uint64_t page_bytes = pages[1].offset - pages[0].offset;
    counting.source.split_bytes = 5 * page_bytes / 2;
    assert_ok(read_all(&error));
    ck_assert_mem_eq(elements, expected, sizeof(expected));
    ck_assert_uint_eq(counting.reads, PAGES / 2);
    ck_assert_uint_eq(counting.max_bytes, 2 * page_bytes);
}

TEST(cached_pages_are_not_loaded_again, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    struct nt_counters counters;
    struct nt_cache_entry *pinned;
    const uint8_t *data;
    for (uint32_t i = 0; i < PAGES; i += 7) {
        assert_ok(nt_page_pin(NT_CACHE_READER, builder->reader, builder->dataset, 0, &pages[i], &pinned,
                              &data, &error));
        nt_page_unpin(builder->reader, pinned, NT_CACHE_KEEP);
    }
    assert_ok(read_all(&error));
    ck_assert_mem_eq(elements, expected, sizeof(expected));
    nt_counters_read(builder->reader, &counters);
    ck_assert_uint_eq(counters.pages_decoded, PAGES);
}

/* The file is only a part of the dataset, so pages in the cache are read for it, too. */
TEST(a_page_of_a_file_that_has_changed_is_not_pinned, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    struct nt_cache_entry *pinned, *not_pinned = NULL;
    const uint8_t *data;
    assert_ok(
        nt_page_pin(NT_CACHE_READER, builder->reader, builder->dataset, 0, pages, &pinned, &data, &error));
    nt_page_unpin(builder->reader, pinned, NT_CACHE_KEEP);
    counting.has_changed = true;
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(nt_page_pin(NT_CACHE_READER, builder->reader, builder->dataset, 0, pages,
                                     &not_pinned, &data, &error),
                         NT_CHANGED);
        ck_assert_ptr_null(not_pinned);
    }
    counting.has_changed = false;
    assert_ok(
        nt_page_pin(NT_CACHE_READER, builder->reader, builder->dataset, 0, pages, &pinned, &data, &error));
    ck_assert_mem_eq(data, expected, PAGE_ELEMENTS * sizeof(*expected));
    nt_page_unpin(builder->reader, pinned, NT_CACHE_KEEP);
}

TEST(a_bad_page_among_neighbours_is_named_and_reported_once, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    struct nt_counters counters;
    builder->bytes.bytes[pages[42].offset] ^= 1;
    assert_status(NT_CHECKSUM, read_all(&error));
    ck_assert_uint_eq(error.offset, pages[42].offset);
    ck_assert_ptr_nonnull(strstr(error.message, "page 42"));
    ck_assert_mem_eq(elements, expected, 42 * PAGE_ELEMENTS * sizeof(int32_t));
    assert_status(NT_CHECKSUM, read_all(&error));
    ck_assert_ptr_nonnull(strstr(error.message, "page 42"));
    nt_counters_read(builder->reader, &counters);
    ck_assert_uint_eq(counters.failures, 1);
}

TEST(a_bad_page_is_read_once, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    builder->bytes.bytes[pages[42].offset] ^= 1;
    for (int i = 0; i < 2; i++) {
        assert_status(NT_CHECKSUM, nt_pages_read_whole(builder->reader, builder->dataset, 0, &pages[42], 1,
                                                       elements, &error));
        ck_assert_ptr_nonnull(strstr(error.message, "page 42"));
    }
    ck_assert_uint_eq(counting.reads, 1);
}

TEST(neighbours_after_the_end_of_the_file_are_found_one_by_one, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    counting.inner->size = pages[50].offset + 1;
    counting.source.size = counting.inner->size;
    assert_status(NT_TRUNCATED, read_all(&error));
    ck_assert_ptr_nonnull(strstr(error.message, "page 50"));
    ck_assert_mem_eq(elements, expected, 50 * PAGE_ELEMENTS * sizeof(int32_t));
}

/* ---- one page after the other ---- */

static enum nt_status load_next(struct nt_adjacent_pages *adjacent, uint32_t page, struct nt_error *error)
{
    return nt_adjacent_pages_load(adjacent, builder->reader, builder->dataset, 0, &pages[page], PAGES - page,
                                  &elements[page * PAGE_ELEMENTS], error);
}

TEST(neighbours_that_are_loaded_one_after_the_other_are_read_once, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    struct nt_adjacent_pages adjacent = {0};
    for (uint32_t i = 0; i < PAGES; i++)
        if (i % 7)
            assert_ok(load_next(&adjacent, i, &error));
    for (uint32_t i = 0; i < PAGES; i++)
        if (i % 7)
            ck_assert_mem_eq(&elements[i * PAGE_ELEMENTS], &expected[i * PAGE_ELEMENTS],
                             PAGE_ELEMENTS * sizeof(int32_t));
    ck_assert_uint_eq(counting.reads, 1);
    nt_adjacent_pages_deinit(&adjacent);
}

TEST(a_page_of_other_neighbours_is_read_itself, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    struct nt_adjacent_pages adjacent = {0};
    assert_ok(load_next(&adjacent, 40, &error));
    assert_ok(load_next(&adjacent, 3, &error));
    ck_assert_uint_eq(counting.reads, 2);
    ck_assert_mem_eq(&elements[3 * PAGE_ELEMENTS], &expected[3 * PAGE_ELEMENTS],
                     PAGE_ELEMENTS * sizeof(int32_t));
    nt_adjacent_pages_deinit(&adjacent);
}

TEST(of_neighbours_that_cannot_be_read_together_the_bad_one_fails, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    struct nt_adjacent_pages adjacent = {0};
    counting.inner->size = pages[50].offset + 1;
    counting.source.size = counting.inner->size;
    builder->bytes.bytes[pages[20].offset] ^= 1;
    for (uint32_t i = 0; i < PAGES; i++) {
        enum nt_status expected_status = i == 20 ? NT_CHECKSUM : i < 50 ? NT_OK : NT_TRUNCATED;
        assert_status(expected_status, load_next(&adjacent, i, &error));
        if (expected_status != NT_OK)
            ck_assert_ptr_nonnull(strstr(error.message, "page "));
    }
    ck_assert_mem_eq(&elements[21 * PAGE_ELEMENTS], &expected[21 * PAGE_ELEMENTS],
                     29 * PAGE_ELEMENTS * sizeof(int32_t));
    nt_adjacent_pages_deinit(&adjacent);
}

TEST(whole_pages_are_counted_by_elements_and_type, .setup = setup, .teardown = teardown)
{
    uint64_t found;
    const struct nt_dtype same = nt_element_dtype(NT_ELEMENT_INT32);
    const struct nt_dtype other = nt_element_dtype(NT_ELEMENT_INT64);
    const struct nt_dataset *dataset = builder->dataset;
    ck_assert_uint_eq(nt_count_whole_pages(dataset, pages, PAGES, 25, NULL, &found), 2);
    ck_assert_uint_eq(found, 20);
    ck_assert_uint_eq(nt_count_whole_pages(dataset, pages, PAGES, UINT64_MAX, &same, &found), PAGES);
    ck_assert_uint_eq(found, ENTRIES);
    ck_assert_uint_eq(nt_count_whole_pages(dataset, pages, PAGES, 9, &same, &found), 0);
    ck_assert_uint_eq(found, 0);
    ck_assert_uint_eq(nt_count_whole_pages(dataset, pages, PAGES, 100, &other, &found), 0);
}

TEST(pages_that_are_missing_fail_each_by_itself, .setup = setup, .teardown = teardown)
{
    struct nt_error error;
    struct nt_page *missing = nt_group_slot(builder->dataset, 0)->pages;
    for (uint32_t i = 0; i < 2; i++) {
        missing[i] = missing[0]; /* with one offset and size */
        missing[i].compression = NT_COMPRESSION_ELSEWHERE;
        missing[i].is_missing = true;
        assert_status(NT_UNSUPPORTED, nt_pages_read_whole(builder->reader, builder->dataset, 0, &missing[i],
                                                          1, elements, &error));
        ck_assert_ptr_nonnull(strstr(error.message, i ? "page 1 of cluster 0" : "page 0 of cluster 0"));
    }
}
