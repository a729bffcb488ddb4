/* SPDX-License-Identifier: MIT
 *
 * Pages as stored: bytes, digests, algorithms, parts.
 */
#include <stdlib.h>
#include <string.h>

#include "dataset_builder.h"
#include "read/page.h"
#include "random_dataset.h"
#include "support.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/model/model.h"

TEST(stored_bytes_are_shown_even_where_they_are_damaged)
{
    struct nt_error error;
    struct builder *builder = one_page(NT_CHECKSUM_XXH3_64, NT_COVERS_STORED, true);
    const struct nt_page *page = first_page(builder);
    char stored[512];
    builder->bytes.bytes[page->offset + 20] ^= 1;
    ck_assert_uint_le(page->stored_bytes, sizeof(stored));
    assert_ok(nt_page_load_stored(builder->dataset, page, 0, stored, page->stored_bytes, &error));
    ck_assert_mem_eq(stored, builder->bytes.bytes + page->offset, page->stored_bytes);
    assert_ok(nt_page_load_stored(builder->dataset, page, 7, stored, 5, &error));
    ck_assert_mem_eq(stored, builder->bytes.bytes + page->offset + 7, 5);
    assert_status(NT_INVALID,
                  nt_page_load_stored(builder->dataset, page, page->stored_bytes, stored, 1, &error));
    assert_status(NT_INVALID, nt_page_load_stored(builder->dataset, page, UINT64_MAX, stored, 1, &error));
    assert_ok(nt_page_load_stored(builder->dataset, page, page->stored_bytes, NULL, 0, &error));
    builder_free(builder);
}

/* XXH3-64 of no bytes at all is 2d06800538d394c2 (xxHash's own test vector). */
TEST(a_digest_is_reported_as_a_number_reads)
{
    static const unsigned char stored[] = {0xc2, 0x94, 0xd3, 0x38, 0x05, 0x80, 0x06, 0x2d};
    struct nt_error error;
    struct builder *builder = one_page(NT_CHECKSUM_XXH3_64, NT_COVERS_STORED, true);
    struct nt_page page = *first_page(builder);
    char hex[130];
    memcpy(builder->bytes.bytes + page.stored_bytes, stored, sizeof(stored));
    assert_ok(nt_page_load_digest(builder->dataset, &page, hex, &error));
    ck_assert_str_eq(hex, "2d06800538d394c2");
    page.checksum = NT_CHECKSUM_NONE;
    assert_ok(nt_page_load_digest(builder->dataset, &page, hex, &error));
    ck_assert_str_eq(hex, "");
    builder_free(builder);
}

TEST(the_algorithm_is_what_the_stored_bytes_name)
{
    struct nt_error error;
    const char *name;
    struct nt_page page;
    struct builder *builder = one_page(NT_CHECKSUM_NONE, NT_COVERS_STORED, true);
    assert_ok(nt_page_algorithm(builder->dataset, first_page(builder), &name, &error));
    ck_assert_str_eq(name, "zlib");
    builder_free(builder);
    builder = one_page(NT_CHECKSUM_NONE, NT_COVERS_STORED, false);
    assert_ok(nt_page_algorithm(builder->dataset, first_page(builder), &name, &error));
    ck_assert_str_eq(name, "none");
    page = *first_page(builder);
    page.compression = NT_COMPRESSION_ROOT_BLOCKS; /* stored uncompressed because that was not longer */
    assert_ok(nt_page_algorithm(builder->dataset, &page, &name, &error));
    ck_assert_str_eq(name, "none");
    builder_free(builder);
}

/* A page in three places; the last border is within its digest. */
static enum nt_status three_places(const struct nt_dataset *dataset, const struct nt_page *page,
                                   struct nt_extent **extents_ret, size_t *count_ret, struct nt_error *error)
{
    struct nt_extent extents[] = {{10, 4}, {0, 3}, {20, 5}};
    *extents_ret = malloc(sizeof(extents));
    memcpy(*extents_ret, extents, sizeof(extents));
    *count_ret = 3;
    return NT_OK;
}

TEST(stored_bytes_in_several_places_are_joined)
{
    struct nt_error error;
    struct builder *builder = one_page(NT_CHECKSUM_NONE, NT_COVERS_STORED, false);
    const struct nt_dataset_ops ops = {.load_group = builder->dataset->ops->load_group,
                                       .page_extents = three_places};
    struct nt_page page = *first_page(builder);
    char all[12], part[8], hex[130];
    page.stored_bytes = 8;
    page.checksum = NT_CHECKSUM_CRC32;
    builder->dataset->ops = &ops;
    memcpy(all, builder->bytes.bytes + 10, 4);
    memcpy(all + 4, builder->bytes.bytes, 3);
    memcpy(all + 7, builder->bytes.bytes + 20, 5);
    for (size_t offset = 0; offset < 8; offset++)
        for (size_t bytes = 1; bytes <= 8 - offset; bytes++) {
            assert_ok(nt_page_load_stored(builder->dataset, &page, offset, part, bytes, &error));
            ck_assert_mem_eq(part, all + offset, bytes);
        }
    assert_ok(nt_page_load_digest(builder->dataset, &page, hex, &error));
    ck_assert_uint_eq(strlen(hex), 8);
    builder_free(builder);
}

TEST(places_that_have_fewer_bytes_than_the_page_are_reported)
{
    struct nt_error error;
    struct builder *builder = one_page(NT_CHECKSUM_NONE, NT_COVERS_STORED, false);
    const struct nt_dataset_ops ops = {.load_group = builder->dataset->ops->load_group,
                                       .page_extents = three_places};
    struct nt_page page = *first_page(builder);
    char part[15];
    page.stored_bytes = 15;
    builder->dataset->ops = &ops;
    assert_ok(nt_page_load_stored(builder->dataset, &page, 0, part, 12, &error));
    assert_status(NT_TRUNCATED, nt_page_load_stored(builder->dataset, &page, 0, part, 15, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "the extents of the page are 3 bytes too short"));
    assert_status(NT_TRUNCATED, nt_page_load_stored(builder->dataset, &page, 13, part, 1, &error));
    builder_free(builder);
}
