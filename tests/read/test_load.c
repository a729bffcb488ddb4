/* SPDX-License-Identifier: MIT
 *
 * Loading one page: reads, refusals, and messages.
 */
#include <stdlib.h>
#include <string.h>

#include "dataset_builder.h"
#include "read/page.h"
#include "random_dataset.h"
#include "support.h"
#include "core/codec/codec.h"
#include "core/model/model.h"
#include "read/read.h"

static const struct {
    enum nt_checksum_kind checksum;
    enum nt_checksum_covers covers;
} digests[] = {
    {NT_CHECKSUM_NONE, NT_COVERS_STORED},
    {NT_CHECKSUM_XXH3_64, NT_COVERS_STORED},
    {NT_CHECKSUM_XXH3_64, NT_COVERS_STORED_OR_PACKED},
    {NT_CHECKSUM_CRC32, NT_COVERS_STORED_OR_PACKED},
    {NT_CHECKSUM_SHA512, NT_COVERS_STORED},
};
enum { DIGESTS = sizeof(digests) / sizeof(*digests) };

static void check_elements(const int32_t *elements)
{
    for (int32_t i = 0; i < 100; i++)
        ck_assert_int_eq(elements[i], i);
}

TEST(a_page_is_read_verified_decompressed_and_decoded, .end = DIGESTS)
{
    for (int compress = 0; compress < 2; compress++) {
        struct nt_error error;
        struct builder *builder = one_page(digests[_i].checksum, digests[_i].covers, compress);
        int32_t elements[100];
        assert_ok(nt_page_load(builder->reader, builder->dataset, 0, first_page(builder), elements, &error));
        check_elements(elements);
        builder_free(builder);
    }
}

/* The digest of a draft's page may be that of its stored bytes as well. */
TEST(a_digest_of_the_stored_bytes_is_accepted_where_either_may_be)
{
    struct nt_error error;
    struct builder *builder = one_page(NT_CHECKSUM_XXH3_64, NT_COVERS_STORED, true);
    struct nt_page page = *first_page(builder);
    int32_t elements[100];
    page.checksum_covers = NT_COVERS_STORED_OR_PACKED;
    assert_ok(nt_page_load(builder->reader, builder->dataset, 0, &page, elements, &error));
    check_elements(elements);
    builder_free(builder);
}

/* If the digest covers the uncompressed bytes, a changed bit may still decompress to the right ones. */
TEST(no_changed_bit_of_a_page_with_a_digest_gives_wrong_elements, .end = 2)
{
    struct nt_error error;
    enum nt_checksum_covers covers = _i ? NT_COVERS_STORED_OR_PACKED : NT_COVERS_STORED;
    struct builder *builder = one_page(NT_CHECKSUM_XXH3_64, covers, true);
    const struct nt_page *page = first_page(builder);
    size_t bits = (page->stored_bytes + 8) * 8, found = 0;
    int32_t elements[100];
    for (size_t bit = 0; bit < bits; bit++) {
        builder->bytes.bytes[bit / 8] ^= (char)(1 << bit % 8);
        if (nt_page_load(builder->reader, builder->dataset, 0, page, elements, &error) == NT_OK)
            check_elements(elements);
        else
            found++;
        builder->bytes.bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    ck_assert_uint_ge(found, covers == NT_COVERS_STORED ? bits : bits * 9 / 10);
    assert_ok(nt_page_load(builder->reader, builder->dataset, 0, page, elements, &error));
    builder_free(builder);
}

TEST(an_error_names_column_page_cluster_place_and_both_digests)
{
    struct nt_error error;
    struct builder *builder = plain_dataset(10, 4);
    int32_t elements[4];
    const struct nt_page *page;
    uint32_t cluster;
    uint64_t first;
    finish(builder, NULL);
    assert_ok(nt_column_page(builder->reader, builder->dataset, 0, 1, &page, &cluster, &first, &error));
    builder->bytes.bytes[page->offset] ^= 1;
    assert_status(NT_CHECKSUM, nt_page_load(builder->reader, builder->dataset, 0, page, elements, &error));
    ck_assert_uint_eq(error.offset, page->offset);
    ck_assert_str_ne(error.expected, "");
    ck_assert_str_ne(error.found, "");
    static const char *const parts[] = {"column 0", "SplitInt32", "field f", "page 1", "cluster 0"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        ck_assert_msg(strstr(error.message, parts[i]), "no '%s' in: %s", parts[i], error.message);
    builder_free(builder);
}

TEST(an_error_names_a_column_whose_type_has_no_name)
{
    struct nt_error error;
    struct builder *builder = plain_dataset(10, 4);
    int32_t elements[4];
    builder->columns[0].type_name = NULL;
    finish(builder, NULL);
    const struct nt_page *page = first_page(builder);
    struct nt_page copy = *page; /* that no list has */
    builder->bytes.bytes[page->offset] ^= 1;
    assert_status(NT_CHECKSUM, nt_page_load(builder->reader, builder->dataset, 0, page, elements, &error));
    ck_assert_msg(strstr(error.message, "column 0 (?) of field f, page 0 of cluster 0"), "%s", error.message);
    assert_status(NT_CHECKSUM, nt_page_load(builder->reader, builder->dataset, 0, &copy, elements, &error));
    ck_assert_msg(strstr(error.message, "column 0 (?) of field f: "), "%s", error.message);
    builder_free(builder);
}

TEST(sizes_over_the_limit_and_overflowing_ones_are_refused_before_reading)
{
    struct nt_error error;
    struct builder *builder = one_page(NT_CHECKSUM_NONE, NT_COVERS_STORED, false);
    struct nt_page page = *first_page(builder);
    int32_t element;
    builder->file->page_bytes = 399;
    builder->file->is_size_unverified = false;
    assert_status(NT_LIMIT, nt_page_load(builder->reader, builder->dataset, 0, &page, &element, &error));
    builder->file->page_bytes = 1 << 20;
    page.elements = UINT32_MAX;
    assert_status(NT_LIMIT, nt_page_load(builder->reader, builder->dataset, 0, &page, &element, &error));
    page.elements = 1;
    page.stored_bytes = UINT64_MAX - 3;
    assert_status(NT_LIMIT, nt_page_load(builder->reader, builder->dataset, 0, &page, &element, &error));
    builder_free(builder);
}

TEST(a_page_that_ends_after_the_file_is_truncated)
{
    struct nt_error error;
    struct builder *builder = one_page(NT_CHECKSUM_NONE, NT_COVERS_STORED, false);
    struct nt_page page = *first_page(builder);
    int32_t elements[100];
    page.offset = 1;
    assert_status(NT_TRUNCATED, nt_page_load(builder->reader, builder->dataset, 0, &page, elements, &error));
    builder_free(builder);
}

TEST(pages_elsewhere_and_of_unknown_types_are_refused)
{
    struct nt_error error;
    struct builder *builder = one_page(NT_CHECKSUM_NONE, NT_COVERS_STORED, false);
    struct nt_page page = *first_page(builder);
    int32_t elements[100];
    char byte;
    page.compression = NT_COMPRESSION_ELSEWHERE;
    assert_status(NT_UNSUPPORTED,
                  nt_page_load(builder->reader, builder->dataset, 0, &page, elements, &error));
    assert_status(NT_UNSUPPORTED, nt_page_load_stored(builder->dataset, &page, 0, &byte, 1, &error));
    page.compression = NT_COMPRESSION_NONE;
    const struct nt_decoder unknown = {.encoding = NT_ENCODING_UNKNOWN, .bits = 32, .element_bytes = 4};
    assert_ok(nt_decoders_add(&builder->dataset->decoders, builder->dataset->arena,
                              &builder->dataset->file->budget, &unknown, &page.decoder, &error));
    assert_status(NT_UNSUPPORTED,
                  nt_page_load(builder->reader, builder->dataset, 0, &page, elements, &error));
    builder_free(builder);
}

/* One page was loaded, and no other. */
static void assert_decompressed_by(const struct nt_reader *reader, const char *expected)
{
    uint64_t pages = 0;
    for (unsigned i = 0; i < NT_ALGORITHM_COUNT; i++) {
        const char *name = nt_algorithm_name((enum nt_algorithm)i);
        ck_assert_uint_eq(reader->algorithms[i].pages, !strcmp(name, expected));
        pages += reader->algorithms[i].pages;
    }
    ck_assert_uint_eq(pages, 1);
}

TEST(counters_say_what_was_done)
{
    struct nt_error error;
    struct nt_counters counters;
    struct builder *builder = one_page(NT_CHECKSUM_XXH3_64, NT_COVERS_STORED, true);
    int32_t elements[100];
    const struct nt_page *page = first_page(builder);
    assert_ok(nt_page_load(builder->reader, builder->dataset, 0, page, elements, &error));
    nt_counters_read(builder->reader, &counters);
    ck_assert_uint_eq(counters.pages_decoded, 1);
    ck_assert_uint_eq(counters.decoded_bytes, 400);
    ck_assert_uint_eq(counters.stored_bytes, page->stored_bytes);
    assert_decompressed_by(builder->reader, "zlib");
    builder_free(builder);
}

/* Uncompressed Int32 elements in one page that is large enough to be read straight into the output. */
static struct builder *large_plain_page(enum nt_checksum_kind checksum, uint32_t elements)
{
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT32, 0);
    uint64_t *values = calloc(elements, sizeof(*values));
    for (uint32_t i = 0; i < elements; i++)
        values[i] = i;
    builder->checksum = checksum;
    add_cluster(builder, 0, elements);
    add_elements(builder, 0, column, values, elements, elements);
    free(values);
    finish(builder, NULL);
    return builder;
}

TEST(a_large_page_that_is_stored_as_it_is_decoded_is_verified_all_the_same, .end = DIGESTS)
{
    enum { ELEMENTS = 20000 };
    struct nt_error error;
    struct builder *builder = large_plain_page(digests[_i].checksum, ELEMENTS);
    const struct nt_page *page = first_page(builder);
    int32_t elements[ELEMENTS];
    ck_assert_uint_eq(page->stored_bytes, sizeof(elements));
    assert_ok(nt_page_load(builder->reader, builder->dataset, 0, page, elements, &error));
    for (int32_t i = 0; i < ELEMENTS; i++)
        ck_assert_int_eq(elements[i], i);
    if (page->checksum != NT_CHECKSUM_NONE) {
        size_t digest = page->offset + page->stored_bytes;
        for (size_t at = page->offset; at <= digest; at += page->stored_bytes / 4) {
            builder->bytes.bytes[at] ^= 4;
            assert_status(NT_CHECKSUM,
                          nt_page_load(builder->reader, builder->dataset, 0, page, elements, &error));
            builder->bytes.bytes[at] ^= 4;
        }
    }
    builder_free(builder);
}

TEST(a_page_that_compression_did_not_make_shorter_counts_as_not_compressed)
{
    struct nt_error error;
    struct builder *builder = one_page(NT_CHECKSUM_NONE, NT_COVERS_STORED, false);
    int32_t elements[100];
    struct nt_page page = *first_page(builder);
    page.compression = NT_COMPRESSION_ROOT_BLOCKS;
    assert_ok(nt_page_load(builder->reader, builder->dataset, 0, &page, elements, &error));
    assert_decompressed_by(builder->reader, "none");
    builder_free(builder);
}
