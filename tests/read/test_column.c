/* SPDX-License-Identifier: MIT
 *
 * Columns as they are stored, in the order of cluster ids.
 */
#include <string.h>

#include "dataset_builder.h"
#include "random_dataset.h"
#include "support.h"

/* All stored values of a column, decoded to `bytes` each. */
static void stored_values(const struct builder *builder, uint32_t column, struct nt_buffer *out)
{
    size_t bytes = builder->decoders[column].element_bytes;
    for (uint32_t i = 0; i < builder->cluster_count; i++) {
        const struct share *share = &builder->shares[i][column];
        for (uint32_t k = 0; k < share->count; k++) {
            uint8_t element[16] = {0};
            uint64_t value = share->values[k];
            if (builder->decoders[column].element == NT_ELEMENT_SWITCH) {
                uint64_t index = value & 0xFFFFFFFFFFFF;
                memcpy(element, &index, 8);
                element[8] = (uint8_t)(value >> 48);
            } else {
                memcpy(element, &value, 8);
            }
            nt_buffer_append(out, element, bytes);
        }
    }
}

static void check_read(struct builder *builder, uint32_t column, const struct nt_buffer *expected,
                       size_t offset, size_t bytes)
{
    struct nt_error error;
    char *got = malloc(bytes + 1);
    assert_ok(nt_column_read(builder->reader, builder->dataset, column, offset, got, bytes, &error));
    ck_assert(!bytes || !memcmp(got, expected->bytes + offset, bytes));
    free(got);
}

TEST(a_column_is_its_stored_elements_one_after_the_other, .end = 20)
{
    struct nt_error error;
    struct builder *builder = random_dataset((unsigned)_i, (uint32_t)(_i % 2 ? 3 : 45));
    builder->releases_lists = _i >= 10;
    finish(builder, NULL);
    for (uint32_t column = 0; column < builder->column_count; column++) {
        struct nt_buffer expected = {0};
        uint64_t elements, pages;
        stored_values(builder, column, &expected);
        assert_ok(nt_column_size(builder->reader, builder->dataset, column, &elements, &pages, &error));
        ck_assert_uint_eq(elements * builder->decoders[column].element_bytes, expected.length);
        check_read(builder, column, &expected, 0, expected.length);
        for (size_t offset = 0; offset < expected.length; offset += 5)
            check_read(builder, column, &expected, offset, expected.length - offset < 9 ? 1 : 9);
        nt_buffer_deinit(&expected);
    }
    builder_free(builder);
}

TEST(pages_by_number_follow_one_another, .end = 10)
{
    struct nt_error error;
    struct builder *builder = random_dataset(100 + (unsigned)_i, 40);
    finish(builder, NULL);
    for (uint32_t column = 0; column < builder->column_count; column++) {
        uint64_t elements, pages, next = 0, first;
        uint32_t cluster, last_cluster = 0;
        const struct nt_page *page;
        assert_ok(nt_column_size(builder->reader, builder->dataset, column, &elements, &pages, &error));
        for (uint64_t i = 0; i < pages; i++) {
            assert_ok(nt_column_page(builder->reader, builder->dataset, column, i, &page, &cluster, &first,
                                     &error));
            ck_assert_uint_eq(first, next);
            ck_assert_uint_ge(cluster, last_cluster);
            next += page->elements;
            last_cluster = cluster;
        }
        ck_assert_uint_eq(next, elements);
        assert_status(NT_NOT_FOUND, nt_column_page(builder->reader, builder->dataset, column, pages, &page,
                                                   &cluster, &first, &error));
    }
    builder_free(builder);
}

TEST(reading_past_the_end_of_a_column_is_refused)
{
    struct nt_error error;
    struct builder *builder = plain_dataset(5, 2);
    char bytes[32];
    uint64_t elements, pages;
    finish(builder, NULL);
    assert_ok(nt_column_read(builder->reader, builder->dataset, 0, 20, bytes, 0, &error));
    assert_status(NT_INVALID, nt_column_read(builder->reader, builder->dataset, 0, 19, bytes, 2, &error));
    assert_status(NT_INVALID,
                  nt_column_read(builder->reader, builder->dataset, 0, UINT64_MAX, bytes, 2, &error));
    assert_status(NT_INVALID,
                  nt_column_size(builder->reader, builder->dataset, 1, &elements, &pages, &error));
    builder_free(builder);
}

TEST(a_column_of_a_type_that_is_not_known_is_not_read)
{
    struct nt_error error;
    struct builder *builder = plain_dataset(5, 2);
    char byte;
    finish(builder, NULL);
    const struct nt_decoder *decoder = nt_column_decoder(builder->dataset, 0);
    ((struct nt_decoder *)decoder)->element_bytes = 0;
    assert_status(NT_UNSUPPORTED, nt_column_read(builder->reader, builder->dataset, 0, 0, &byte, 1, &error));
    ck_assert_str_eq(error.message, "this version does not know the type of column 0");
    builder_free(builder);
}

TEST(a_bad_page_list_fails_the_sizes_of_its_columns)
{
    struct nt_error error;
    struct builder *builder = plain_dataset(5, 2);
    uint64_t elements, pages;
    builder->bad_group[0] = true;
    finish(builder, NULL);
    assert_status(NT_CORRUPT,
                  nt_column_size(builder->reader, builder->dataset, 0, &elements, &pages, &error));
    builder_free(builder);
}

/* ---- one bad page ---- */

struct reported {
    unsigned count;
    const struct nt_page *page;
};

static void report(void *context, const struct nt_dataset *dataset, uint32_t column,
                   const struct nt_page *page, const struct nt_error *error)
{
    struct reported *reported = context;
    ck_assert_uint_eq(column, 0);
    ck_assert_int_eq(error->status, NT_CHECKSUM);
    reported->count++;
    reported->page = page;
}

TEST(a_bad_page_fails_the_reads_that_touch_it_and_is_reported_once)
{
    struct nt_error error;
    struct reported reported = {0};
    struct builder *builder = plain_dataset(12, 4);
    struct nt_reader_options options = {.on_failure = report, .context = &reported, .failure_seconds = 100};
    const struct nt_page *page;
    uint32_t cluster;
    uint64_t first;
    int32_t got[12];
    finish(builder, &options);
    assert_ok(nt_column_page(builder->reader, builder->dataset, 0, 1, &page, &cluster, &first, &error));
    builder->bytes.bytes[page->offset + 2] ^= 64;
    for (size_t offset = 0; offset < 48; offset++)
        for (size_t bytes = 1; bytes <= 48 - offset; bytes++) {
            bool touches = offset < 32 && offset + bytes > 16;
            assert_status(touches ? NT_CHECKSUM : NT_OK,
                          nt_column_read(builder->reader, builder->dataset, 0, offset, got, bytes, &error));
        }
    ck_assert_uint_eq(reported.count, 1);
    ck_assert_ptr_eq(reported.page, page);
    builder_free(builder);
}

TEST(whole_pages_are_decoded_straight_into_the_output)
{
    struct nt_error error;
    struct nt_counters counters;
    struct builder *builder = plain_dataset(12, 4);
    int32_t got[12];
    finish(builder, NULL);
    assert_ok(nt_column_read(builder->reader, builder->dataset, 0, 0, got, sizeof(got), &error));
    nt_counters_read(builder->reader, &counters);
    ck_assert_uint_eq(counters.pages_direct, 3);
    ck_assert_uint_eq(counters.cache_pages, 0);
    assert_ok(nt_column_read(builder->reader, builder->dataset, 0, 1, got, 46, &error));
    nt_counters_read(builder->reader, &counters);
    ck_assert_uint_eq(counters.pages_direct, 4);
    ck_assert_uint_eq(counters.cache_pages, 2);
    builder_free(builder);
}

TEST(pages_at_one_place_with_several_types_are_distinguished)
{
    struct nt_error error;
    struct builder *builder = plain_dataset(4, 4);
    uint8_t planes[16];
    int32_t numbers[4];
    uint32_t second = add_column(builder, 0, NT_ENCODING_BYTE, 0);
    finish(builder, NULL);
    assert_ok(nt_column_read(builder->reader, builder->dataset, 0, 1, numbers, 4, &error));
    struct nt_page merged = nt_group_slot(builder->dataset, 0)->pages[0];
    merged.elements = 16;
    merged.decoder = (uint16_t)second;
    assert_ok(nt_page_load(builder->reader, builder->dataset, second, &merged, planes, &error));
    ck_assert_mem_eq(planes, builder->bytes.bytes, 16);
    builder_free(builder);
}
