/* SPDX-License-Identifier: MIT
 *
 * Verification of datasets with deliberate damage: exactly this damage, at its position, and nothing in
 * sound datasets.
 */
#include "dataset_builder.h"
#include "planned_dataset.h"
#include "random_dataset.h"
#include "support.h"
#include "verified.h"

static void assert_numbers(const struct nt_finding *finding, const char *expected, const char *found)
{
    ck_assert_str_eq(finding->error.expected, expected);
    ck_assert_str_eq(finding->error.found, found);
}

static uint32_t pages_of(const struct builder *builder)
{
    uint32_t pages = 0;
    for (uint32_t i = 0; i < builder->group_count; i++)
        pages += builder->page_count[i];
    return pages;
}

/* ---- nothing to find ---- */

TEST(datasets_of_every_kind_of_field_verify_clean_with_every_page, .end = 24)
{
    static struct found found;
    struct builder *builder = random_dataset((unsigned)_i, (uint32_t)(_i % 3 ? 6 : 40));
    finish(builder, &(struct nt_reader_options){.threads = (unsigned)_i % 4});
    verify(builder, &found);
    ck_assert_msg(found.count == 0, "%s", found.findings[0].error.message);
    ck_assert_uint_eq(found.summary.pages, pages_of(builder));
    ck_assert_uint_eq(found.summary.columns, builder->column_count);
    ck_assert_uint_eq(found.progress, found.total);
    ck_assert_uint_eq(found.summary.stored_bytes, found.total);
    builder_free(builder);
}

/* ---- pages ---- */

TEST(a_flipped_bit_is_one_finding_with_its_place, .end = 2)
{
    static struct found found;
    struct builder *builder = plain_dataset(20, 4);
    finish(builder, NULL);
    const struct nt_page *page = &builder->pages[0][3];
    /* In the page, or in its digest. */
    builder->bytes.bytes[page->offset + (_i ? page->stored_bytes : 1)] ^= 4;
    verify(builder, &found);
    const struct nt_finding *finding = only(&found, NT_FINDING_DAMAGED, "page 3 of cluster 0: xxh3-64: ");
    ck_assert_int_eq(finding->error.status, NT_CHECKSUM);
    ck_assert_uint_eq(finding->error.offset, page->offset);
    ck_assert_str_ne(finding->error.expected, finding->error.found);
    ck_assert_uint_eq(finding->dataset, 0);
    ck_assert_uint_eq(finding->field, 0);
    ck_assert_uint_eq(finding->column, 0);
    ck_assert_uint_eq(finding->cluster, 0);
    ck_assert_uint_eq(finding->page, 3);
    ck_assert_uint_eq(found.summary.pages, 5);
    builder_free(builder);
}

TEST(findings_come_in_the_same_order_whatever_the_number_of_threads, .first = 1, .end = 6)
{
    static struct found alone, together;
    struct builder *builder = random_dataset(7, 30);
    finish(builder, NULL);
    for (uint32_t g = 0; g < builder->group_count; g++)
        for (uint32_t p = 0; p < builder->page_count[g]; p += 29)
            builder->bytes.bytes[builder->pages[g][p].offset] ^= 1;
    verify(builder, &alone);
    ck_assert_uint_gt(alone.count, 3);
    reopen(builder, &(struct nt_reader_options){.threads = (unsigned)_i});
    verify(builder, &together);
    ck_assert_uint_eq(alone.count, together.count);
    for (size_t i = 0; i < alone.count; i++) {
        ck_assert_uint_eq(alone.findings[i].column, together.findings[i].column);
        ck_assert_uint_eq(alone.findings[i].page, together.findings[i].page);
        ck_assert_str_eq(alone.findings[i].error.message, together.findings[i].error.message);
    }
    builder_free(builder);
}

TEST(pages_that_the_file_ends_before_are_damaged)
{
    static struct found found;
    struct builder *builder = plain_dataset(8, 4);
    finish(builder, NULL);
    builder->source->size = builder->pages[0][1].offset + 3;
    verify(builder, &found);
    ck_assert_int_eq(only(&found, NT_FINDING_DAMAGED, "page 1 of cluster 0")->error.status, NT_TRUNCATED);
    builder_free(builder);
}

TEST(what_is_not_supported_is_one_finding_for_the_column, .end = 2)
{
    static struct found found;
    struct builder *builder = plain_dataset(20, 4);
    if (_i == 0)
        for (uint32_t i = 0; i < 5; i++)
            builder->pages[0][i].compression = NT_COMPRESSION_ELSEWHERE;
    else
        builder->decoders[0] =
            (struct nt_decoder){.encoding = NT_ENCODING_UNKNOWN, .bits = 32, .element_bytes = 4};
    finish(builder, NULL);
    verify(builder, &found);
    const struct nt_finding *finding = only(&found, NT_FINDING_UNSUPPORTED, _i ? "type" : "not stored");
    ck_assert_uint_eq(finding->count, 5);
    ck_assert_uint_eq(finding->page, 0);
    builder_free(builder);
}

TEST(of_many_damaged_pages_some_are_reported_and_all_are_counted)
{
    enum { DAMAGED = 300, REPORTED = 256, ELSEWHERE = 10 };
    static struct found found;
    struct builder *builder = plain_dataset(4 * (DAMAGED + ELSEWHERE), 4);
    for (uint32_t i = 0; i < ELSEWHERE; i++)
        builder->pages[0][DAMAGED + i].compression = NT_COMPRESSION_ELSEWHERE;
    finish(builder, NULL);
    for (uint32_t i = 0; i < DAMAGED; i++)
        builder->bytes.bytes[builder->pages[0][i].offset] ^= 4;
    verify(builder, &found);
    ck_assert_uint_eq(found.count, REPORTED + 1);
    ck_assert_uint_eq(found.findings[0].count, 1);
    ck_assert_uint_eq(found.findings[REPORTED - 1].count, 1 + DAMAGED - REPORTED);
    ck_assert_uint_eq(found.findings[REPORTED].count, ELSEWHERE);
    ck_assert_uint_eq(found.findings[REPORTED].page, DAMAGED);
    ck_assert_ptr_nonnull(strstr(found.findings[REPORTED].error.message, "not stored"));
    ck_assert_uint_eq(found.summary.findings[NT_FINDING_DAMAGED], DAMAGED);
    builder_free(builder);
}

/* The others are verified nevertheless. */
TEST(a_field_that_is_not_read_is_a_finding_of_its_own_kind)
{
    static struct found found;
    struct builder *builder = plain_dataset(20, 4);
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_UNREADABLE, NT_ELEMENT_BYTE);
    builder->fields[field].unreadable = "nobody knows it";
    finish(builder, NULL);
    verify(builder, &found);
    ck_assert_uint_eq(only(&found, NT_FINDING_UNREAD, "nobody knows it")->field, field);
    ck_assert_uint_eq(found.summary.pages, 5);
    builder_free(builder);
}

TEST(what_pages_are_decoded_with_is_verified_with_each_of_them, .end = 2)
{
    static struct found found;
    static struct planned planned;
    planned_dataset(&planned);
    verify(planned.builder, &found);
    ck_assert_uint_eq(found.count, 0);
    ck_assert_uint_eq(found.summary.pages, PLANNED_PAGES);
    planned.builder->bytes.bytes[(_i ? planned.items_offset : planned.numbers_offset) + 3] ^= 4;
    reopen(planned.builder, NULL);
    verify(planned.builder, &found);
    ck_assert_uint_eq(found.summary.findings[NT_FINDING_DAMAGED], PLANNED_PAGES);
    for (size_t i = 0; i < found.count; i++) {
        ck_assert_ptr_nonnull(strstr(found.findings[i].error.message, "a page that it depends on"));
        ck_assert_uint_eq(found.findings[i].error.offset, _i ? planned.items_offset : planned.numbers_offset);
    }
    builder_free(planned.builder);
}

/* ---- collections ---- */

/* A collection of `entries` rows with the given index, of `items` integers. */
static struct builder *collection(const uint64_t *index, uint32_t entries, uint32_t items,
                                  uint32_t page_elements)
{
    static const uint64_t values[16];
    struct builder *builder = builder_new();
    struct vector vector = add_vector(builder, NT_ENCODING_INDEX64, NT_ENCODING_INT32);
    uint32_t cluster = add_cluster(builder, 0, entries);
    add_elements(builder, cluster, vector.index, index, entries, page_elements);
    add_elements(builder, cluster, vector.values, values, items, 16);
    finish(builder, NULL);
    return builder;
}

/* Items that are not there are not missed. */
TEST(a_field_that_is_not_read_is_no_finding_if_it_has_no_rows, .end = 2)
{
    static struct found found;
    const uint64_t index[] = {_i, _i};
    struct builder *builder = builder_new();
    uint32_t list = add_field(builder, NT_NONE, NT_FIELD_COLLECTION, NT_ELEMENT_INT64);
    uint32_t item = add_field(builder, list, NT_FIELD_UNREADABLE, NT_ELEMENT_BYTE);
    uint32_t ends = add_column(builder, list, NT_ENCODING_INDEX64, 0);
    builder->fields[item].unreadable = "nobody knows it";
    uint32_t cluster = add_cluster(builder, 0, 2);
    add_elements(builder, cluster, ends, index, 2, 2);
    finish(builder, NULL);
    verify(builder, &found);
    if (_i)
        ck_assert_uint_eq(only(&found, NT_FINDING_UNREAD, "nobody knows it")->field, item);
    else
        ck_assert_uint_eq(found.count, 0);
    builder_free(builder);
}

TEST(a_last_index_that_is_not_the_number_of_items_is_found, .end = 2)
{
    static struct found found;
    static const uint64_t index[] = {1, 1, 3, 5};
    static const char *const items[] = {"4", "6"};
    struct builder *builder = collection(index, 4, _i ? 6 : 4, 2);
    verify(builder, &found);
    const struct nt_finding *finding = only(&found, NT_FINDING_DAMAGED, "items of the cluster");
    assert_numbers(finding, items[_i], "5");
    ck_assert_uint_eq(finding->column, 0);
    ck_assert_uint_eq(finding->page, 1);
    builder_free(builder);
}

TEST(an_optional_with_two_values_is_found)
{
    static struct found found;
    static const uint64_t index[] = {1, 1, 3, 3};
    struct builder *builder = collection(index, 4, 3, 4);
    builder->fields[0].kind = NT_FIELD_OPTIONAL;
    verify(builder, &found);
    assert_numbers(only(&found, NT_FINDING_DAMAGED, "values of an optional"), "at most 1", "2");
    builder_free(builder);
}

TEST(an_index_that_decreases_is_found_within_and_between_pages, .end = 2)
{
    static struct found found;
    static const uint64_t index[] = {2, 1, 3, 3, 2, 4};
    struct builder *builder = collection(index + _i, 6 - (uint32_t)_i, 4, 2);
    verify(builder, &found);
    size_t first = _i ? 0 : 1; /* from 2 to 1, then from 3 to 2 */
    ck_assert_uint_eq(found.count, first + 1);
    for (size_t i = 0; i < found.count; i++)
        ck_assert_ptr_nonnull(strstr(found.findings[i].error.message, "the index decreases"));
    if (first)
        ck_assert_uint_eq(found.findings[0].page, 0);
    ck_assert_uint_eq(found.findings[first].page, _i ? 1 : 2);
    builder_free(builder);
}

TEST(a_bad_page_of_an_index_does_not_make_the_next_one_bad)
{
    static struct found found;
    static const uint64_t index[] = {1, 1, 3, 5};
    struct builder *builder = collection(index, 4, 5, 2);
    builder->bytes.bytes[builder->pages[0][0].offset] ^= 1;
    verify(builder, &found);
    ck_assert_uint_eq(only(&found, NT_FINDING_DAMAGED, "xxh3-64")->page, 0);
    builder_free(builder);
}

TEST(items_without_rows_are_found)
{
    static struct found found;
    struct builder *builder = collection(NULL, 0, 3, 2);
    verify(builder, &found);
    assert_numbers(only(&found, NT_FINDING_DAMAGED, "without rows"), "0", "3");
    builder_free(builder);
}

/* A collection of records with three members, the last with one row too few or too many. */
TEST(fields_of_a_record_that_differ_in_rows_are_found, .end = 2)
{
    static struct found found;
    static const uint64_t index[] = {2, 3}, values[4];
    struct builder *builder = builder_new();
    uint32_t top = add_field(builder, NT_NONE, NT_FIELD_COLLECTION, NT_ELEMENT_UINT64);
    uint32_t record = add_field(builder, top, NT_FIELD_RECORD, NT_ELEMENT_UINT64);
    uint32_t columns[3], index_column = add_column(builder, top, NT_ENCODING_INDEX64, 0);
    for (int i = 0; i < 3; i++)
        columns[i] = add_column(builder, add_field(builder, record, NT_FIELD_VALUE, NT_ELEMENT_INT16),
                                NT_ENCODING_INT16, 0);
    uint32_t cluster = add_cluster(builder, 0, 2);
    add_elements(builder, cluster, index_column, index, 2, 2);
    for (int i = 0; i < 3; i++)
        add_elements(builder, cluster, columns[i], values, i < 2 ? 3 : _i ? 4 : 2, 4);
    finish(builder, NULL);
    verify(builder, &found);
    const struct nt_finding *finding =
        only(&found, NT_FINDING_DAMAGED, "rows according to the sibling fields");
    assert_numbers(finding, "3", _i ? "4" : "2");
    ck_assert_uint_eq(finding->field, 4);
    ck_assert_uint_eq(finding->cluster, 0);
    builder_free(builder);
}

/* ---- variants ---- */

static struct builder *variant(const uint64_t *switches, uint32_t entries, uint32_t integers, uint32_t reals)
{
    static const uint64_t values[8];
    struct builder *builder = builder_new();
    uint32_t top = add_field(builder, NT_NONE, NT_FIELD_VARIANT, NT_ELEMENT_SWITCH);
    uint32_t integer = add_field(builder, top, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t real = add_field(builder, top, NT_FIELD_VALUE, NT_ELEMENT_REAL64);
    uint32_t columns[] = {add_column(builder, top, NT_ENCODING_SWITCH, 0),
                          add_column(builder, integer, NT_ENCODING_INT32, 0),
                          add_column(builder, real, NT_ENCODING_REAL64, 0)};
    uint32_t cluster = add_cluster(builder, 0, entries);
    add_elements(builder, cluster, columns[0], switches, entries, 8);
    add_elements(builder, cluster, columns[1], values, integers, 8);
    add_elements(builder, cluster, columns[2], values, reals, 8);
    finish(builder, NULL);
    return builder;
}

TEST(switches_that_lead_nowhere_are_found, .end = 2)
{
    static const struct {
        uint64_t last;
        const char *what;
    } table[] = {
        {SWITCH(3, 0), "alternative 3 does not exist: the variant has 2"},
        {SWITCH(2, 1), "row 1 of alternative 2 does not exist: the cluster has 1"},
    };
    static struct found found;
    const uint64_t switches[] = {SWITCH(1, 0), SWITCH(0, 0), SWITCH(2, 0), table[_i].last};
    struct builder *builder = variant(switches, 4, 1, 1);
    verify(builder, &found);
    ck_assert_uint_eq(only(&found, NT_FINDING_DAMAGED, table[_i].what)->column, 0);
    builder_free(builder);
}

TEST(alternatives_without_a_selected_row_are_found)
{
    static struct found found;
    static const uint64_t switches[] = {SWITCH(1, 0), SWITCH(2, 0), SWITCH(1, 1)};
    struct builder *builder = variant(switches, 3, 2, 2);
    verify(builder, &found);
    assert_numbers(only(&found, NT_FINDING_DAMAGED, "rows of an alternative"), "1", "2");
    builder_free(builder);
}

/* ---- clusters ---- */

TEST(stored_elements_that_are_not_the_entries_are_found, .end = 3)
{
    static struct found found;
    static const uint64_t values[5];
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT32, 0);
    uint32_t first = add_cluster(builder, 0, 4), second = add_cluster(builder, 4, _i == 2 ? 0 : 4);
    add_elements(builder, first, column, values, 4, 4);
    add_elements(builder, second, column, values, _i ? 5 : 3, 8);
    finish(builder, NULL);
    verify(builder, &found);
    const struct nt_finding *finding = only(&found, NT_FINDING_DAMAGED, "stored elements");
    assert_numbers(finding, _i == 2 ? "0" : "4", _i ? "5" : "3");
    ck_assert_uint_eq(finding->cluster, second);
    builder_free(builder);
}

TEST(a_first_element_that_the_page_list_says_wrong_is_found)
{
    static struct found found;
    static const uint64_t values[4];
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT32, 0);
    for (uint32_t i = 0; i < 3; i++)
        add_elements(builder, add_cluster(builder, 4 * i, 4), column, values, 4, 4);
    finish(builder, NULL);
    builder->shares[1][column].listed_first = 5;
    verify(builder, &found);
    const struct nt_finding *finding = only(&found, NT_FINDING_DAMAGED, "first element");
    assert_numbers(finding, "4", "5");
    ck_assert_uint_eq(finding->cluster, 1);
    builder_free(builder);
}

TEST(clusters_that_do_not_follow_one_another_are_found, .end = 4)
{
    static const struct {
        uint64_t second, entries;
        const char *what;
    } table[] = {
        {6, 10, "no cluster holds entries 4 to 5"},
        {3, 7, "cluster 1 holds entries of another cluster"},
        {4, 7, "cluster 1 holds entries of another cluster, or entries after the last"},
        {4, 9, "no cluster holds entries 8 to 8"},
    };
    static struct found found;
    static const uint64_t values[4];
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT32, 0);
    add_elements(builder, add_cluster(builder, 0, 4), column, values, 4, 4);
    add_elements(builder, add_cluster(builder, table[_i].second, 4), column, values, 4, 4);
    builder->entries = table[_i].entries;
    finish(builder, NULL);
    if (_i == 0)
        builder->shares[1][column].listed_first = table[_i].second;
    verify(builder, &found);
    ck_assert_uint_eq(only(&found, NT_FINDING_DAMAGED, table[_i].what)->column, NT_NONE);
    ck_assert_uint_eq(found.summary.pages, 2);
    builder_free(builder);
}

TEST(a_bad_page_list_is_one_finding_and_the_other_pages_are_verified)
{
    static struct found found;
    static const uint64_t values[4];
    struct builder *builder = builder_new();
    for (int i = 0; i < 3; i++)
        add_column(builder, add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32), NT_ENCODING_INT32,
                   0);
    for (uint32_t group = 0; group < 3; group++) {
        uint32_t cluster = add_cluster(builder, 4 * group, 4);
        for (uint32_t column = 0; column < 3; column++)
            add_elements(builder, cluster, column, values, 4, 4);
        end_group(builder);
    }
    builder->bad_group[1] = true;
    finish(builder, NULL);
    builder->bytes.bytes[builder->pages[2][2].offset] ^= 1;
    verify(builder, &found);
    ck_assert_uint_eq(found.count, 2);
    ck_assert_uint_eq(found.findings[0].cluster_group, 1);
    ck_assert_ptr_nonnull(strstr(found.findings[0].error.message, "this page list is bad"));
    ck_assert_uint_eq(found.findings[1].column, 2);
    ck_assert_uint_eq(found.findings[1].cluster, 2);
    ck_assert_uint_eq(found.summary.pages, 6);
    builder_free(builder);
}

TEST(two_representations_in_one_cluster_are_one_finding)
{
    static struct found found;
    static const uint64_t values[4];
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_REAL64);
    uint32_t columns[] = {add_column(builder, field, NT_ENCODING_REAL64, 0),
                          add_column(builder, field, NT_ENCODING_REAL32, 1)};
    uint32_t cluster = add_cluster(builder, 0, 4);
    for (int i = 0; i < 2; i++)
        add_elements(builder, cluster, columns[i], values, 4, 4);
    finish(builder, NULL);
    verify(builder, &found);
    only(&found, NT_FINDING_DAMAGED, "more than one representation");
    ck_assert_uint_eq(found.summary.pages, 2);
    builder_free(builder);
}
