/* SPDX-License-Identifier: MIT
 *
 * Shared pages: verification reads them once, and reports the same for each user of them.
 */
#include "tools/tools.h"

#include "random_dataset.h"
#include "verified.h"
#include "core/codec/codec.h"
#include "core/model/model.h"

enum { PAGES = 5 };

/* A dataset whose pages are all the first one. */
static struct builder *merged_dataset(void)
{
    struct builder *builder = plain_dataset(4 * PAGES, 4);
    finish(builder, NULL);
    for (uint32_t i = 1; i < PAGES; i++)
        builder->pages[0][i].offset = builder->pages[0][0].offset;
    return builder;
}

TEST(pages_of_the_same_bytes_are_decoded_once)
{
    static struct found found;
    struct builder *builder = merged_dataset();
    verify(builder, &found);
    ck_assert_uint_eq(found.count, 0);
    ck_assert_uint_eq(found.summary.pages, PAGES);
    ck_assert_uint_eq(builder->reader->counters.pages_decoded, 1);
    builder_free(builder);
}

TEST(what_is_wrong_with_shared_bytes_is_reported_of_all_their_pages)
{
    static struct found found;
    struct builder *builder = merged_dataset();
    builder->bytes.bytes[builder->pages[0][0].offset] ^= 1;
    verify(builder, &found);
    const struct nt_finding *finding = only(&found, NT_FINDING_DAMAGED, "xxh3-64");
    ck_assert_uint_eq(finding->count, PAGES);
    ck_assert_uint_eq(finding->page, 0);
    builder_free(builder);
}

/* Two clusters of strings, the second with the first one's pages of offsets and of bytes. */
static struct builder *merged_strings(const uint64_t *offsets, uint32_t rows, const uint64_t *bytes)
{
    struct builder *builder = builder_new();
    builder->checksum = NT_CHECKSUM_XXH3_64;
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_STRING, NT_ELEMENT_BYTE);
    uint32_t index = add_column(builder, field, NT_ENCODING_INDEX64, 0);
    uint32_t chars = add_column(builder, field, NT_ENCODING_CHAR, 0);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t cluster = add_cluster(builder, i * rows, rows);
        add_elements(builder, cluster, index, offsets, rows, 2);
        add_elements(builder, cluster, chars, bytes, (uint32_t)offsets[rows - 1], 2);
    }
    finish(builder, NULL);
    uint32_t half = builder->page_count[0] / 2;
    for (uint32_t i = 0; i < half; i++)
        builder->pages[0][half + i].offset = builder->pages[0][i].offset;
    return builder;
}

TEST(an_index_is_compared_under_its_own_conditions)
{
    static const uint64_t offsets[] = {1, 2, 3, 4}, bytes[] = {'a', 'b', 'c', 'd'};
    static struct found found;
    struct builder *builder = merged_strings(offsets, 4, bytes);
    verify(builder, &found);
    ck_assert_uint_eq(found.count, 0);
    ck_assert_uint_eq(found.summary.pages, 8);
    /* Within one cluster the same page again would begin before the last one's end. */
    builder->pages[0][1].offset = builder->pages[0][0].offset;
    nt_group_slot(builder->dataset, 0)->pages[1].offset = builder->pages[0][0].offset;
    verify(builder, &found);
    ck_assert_uint_ge(found.count, 1);
    ck_assert_int_eq(found.findings[0].kind, NT_FINDING_DAMAGED);
    builder_free(builder);
}

TEST(a_page_is_known_by_all_that_decides_about_its_elements)
{
    NT_AUTO_FREE struct nt_verified_page *seen = nt_verified_pages_new();
    struct nt_page page = {.offset = 64, .stored_bytes = 10, .elements = 5, .decoder = 1};
    struct nt_verified_page *slot = nt_verified_pages_find(seen, &page);
    ck_assert_ptr_nonnull(slot);
    ck_assert(!slot->is_seen);
    *slot = (struct nt_verified_page){.page = page, .is_seen = true, .has_outcome = true};
    struct nt_page same = page, others[] = {page, page, page, page, page, page, page, page};
    ck_assert(nt_verified_pages_find(seen, &same)->is_seen);
    others[0].stored_bytes++;
    others[1].decoder++;
    others[2].source++;
    others[3].compression++;
    others[4].checksum++;
    others[5].parameter++;
    others[6].checksum_covers++;
    others[7].is_missing = true; /* as no other, however equal */
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        ck_assert(!nt_verified_pages_find(seen, &others[i])->is_seen);
        *nt_verified_pages_find(seen, &page) = (struct nt_verified_page){.page = page, .is_seen = true};
    }
    ck_assert_ptr_null(nt_verified_pages_find(NULL, &page));
}

TEST(conditions_are_equal_where_every_one_is)
{
    const struct nt_page_conditions base = {.previous = 3, .limit = 9, .has_previous = true};
    struct nt_page_conditions others[] = {base, base, base, base, base};
    ck_assert(nt_page_conditions_equal(&base, &others[0]));
    others[0].previous++;
    others[1].limit++;
    others[2].has_previous = false;
    others[3].is_cluster_end = true;
    others[4].is_compared = true;
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        ck_assert(!nt_page_conditions_equal(&base, &others[i]));
}
