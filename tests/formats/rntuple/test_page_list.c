/* SPDX-License-Identifier: MIT
 *
 * Footers and page lists: suppressed columns, and an invalid file for each rule.
 */
#include "column_range.h"
#include "rntuple_opened.h"

static struct nt_error error;
static struct written written;

#define PAGE(count, bytes)                                                                                   \
    {                                                                                                        \
        .elements = count, .packed = bytes, .packed_bytes = sizeof(bytes) - 1                                \
    }
static const struct rntuple_page page = PAGE(2, "\1\0\0\0\2\0\0\0");
static const struct rntuple_field fields[] = {{.name = "a", .type = "std::int32_t", .parent = RNTUPLE_TOP},
                                              {.name = "b", .type = "std::int32_t", .parent = RNTUPLE_TOP}};
static const struct rntuple_range ranges[] = {{.pages = &page, .page_count = 1},
                                              {.pages = &page, .page_count = 1}};

static struct rntuple_column columns[2];
static struct rntuple_cluster clusters[2];

static struct rntuple_description usual(enum rntuple_generation generation)
{
    static const struct column_number INT32 = {10, 0x17, 0x07};
    for (uint32_t i = 0; i < 2; i++) {
        columns[i] =
            (struct rntuple_column){.type = column_number(generation, INT32), .bits = 32, .field = i};
        clusters[i] =
            (struct rntuple_cluster){.first_entry = 2 * i, .entries = 2, .ranges = ranges, .range_count = 2};
    }
    return (struct rntuple_description){.name = "n",
                                        .fields = fields,
                                        .field_count = 2,
                                        .columns = columns,
                                        .column_count = 2,
                                        .clusters = clusters,
                                        .cluster_count = 2};
}

TEST(a_suppressed_column_has_a_negative_offset_and_no_pages, .first = RNTUPLE_RC3, .end = RNTUPLE_GENERATIONS)
{
    const struct rntuple_range both[] = {{.pages = &page, .page_count = 1},
                                         {.is_suppressed = true, .first_element = 7}};
    struct rntuple_description description = usual(_i);
    columns[1].field = 0;
    columns[1].representation = 1;
    clusters[0].ranges = both;
    assert_ok(write_and_open(&written, _i, &description, &error));
    const struct nt_range *range;
    assert_ok(column_range(written.dataset, 0, 1, &range, &error));
    ck_assert_uint_eq(range->state, NT_RANGE_SUPPRESSED);
    ck_assert_uint_eq(range->pages, 0);
    ck_assert_uint_eq(range->first_element, 7);
    assert_ok(column_range(written.dataset, 1, 1, &range, &error));
    ck_assert_uint_eq(range->state, NT_RANGE_PRESENT);
    ck_assert_uint_eq(range->compression_settings, 101);
    written_close(&written);
}

TEST(first_elements_of_pages_add_up, .end = RNTUPLE_GENERATIONS)
{
    const struct rntuple_page pages[] = {PAGE(1, "\1\0\0\0"), PAGE(2, "\1\0\0\0\2\0\0\0"),
                                         PAGE(1, "\3\0\0\0")};
    const struct rntuple_range three[] = {{.pages = pages, .page_count = 3},
                                          {.pages = &page, .page_count = 1}};
    struct rntuple_description description = usual(_i);
    clusters[0].ranges = three;
    assert_ok(write_and_open(&written, _i, &description, &error));
    assert_ok(nt_dataset_load_all(written.dataset, &error));
    const struct nt_group *group = nt_group_slot(written.dataset, 0);
    ck_assert_uint_eq(group->page_count, 6);
    for (uint32_t i = 0; i < 2; i++) {
        const struct nt_range *range;
        static const uint64_t firsts[] = {0, 1, 3};
        assert_ok(column_range(written.dataset, 0, i, &range, &error));
        ck_assert_uint_eq(range->pages, i == 0 ? 3 : 1);
        for (uint32_t k = 0; k < range->pages; k++)
            ck_assert_uint_eq(group->pages[range->first_page + k].first_element, firsts[k]);
        ck_assert_uint_eq(nt_range_elements(group, range), i == 0 ? 4 : 2);
    }
    written_close(&written);
}

/* ---- bad ones: found when the file is opened, or when the page list is read ---- */

static void more_columns_than_there_are(struct rntuple_description *description)
{
    description->column_count = 1;
}

static void entries_beyond_2_to_the_64(struct rntuple_description *description)
{
    clusters[1].first_entry = UINT64_MAX;
}

static void column_group_of_a_column_that_does_not_exist(struct rntuple_description *description)
{
    static const uint32_t numbers[] = {1, 2};
    static const struct rntuple_column_group group = {numbers, 2};
    description->column_groups = &group;
    description->column_group_count = 1;
}

static void column_group_with_a_column_twice(struct rntuple_description *description)
{
    static const uint32_t numbers[] = {1, 1};
    static const struct rntuple_column_group group = {numbers, 2};
    description->column_groups = &group;
    description->column_group_count = 1;
}

static void column_group_that_does_not_exist(struct rntuple_description *description)
{
    clusters[0].flags = 1;
    clusters[0].column_group = 3;
}

static void pages_of_a_suppressed_column(struct rntuple_description *description)
{
    static const struct rntuple_range bad[] = {
        {.pages = &page, .page_count = 1, .is_suppressed = true, .first_element = 7}};
    clusters[0].ranges = bad;
    clusters[0].range_count = 1;
}

/* Sets the little-endian word of `bytes` bytes at `at` after the preamble. */
static void set_word(struct nt_buffer *envelope, size_t at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        envelope->bytes[at + i] = (char)(value >> 8 * i);
}

/* Version 1's footer: preamble 8, flags 8, header checksum 8, empty extension 8, list frame 12, record
 * frame 8. */
enum {
    V1_GROUP = 8 + 8 + 8 + 8 + 12 + 8,
    V1_GROUP_CLUSTERS = V1_GROUP + 16,
    V1_LINK = V1_GROUP_CLUSTERS + 4
};

static void spoil_cluster_count(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind == RNTUPLE_FOOTER)
        set_word(bytes, V1_GROUP_CLUSTERS, 3, 4);
}

static void spoil_many_clusters(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind == RNTUPLE_FOOTER)
        set_word(bytes, V1_GROUP_CLUSTERS, UINT32_MAX, 4);
}

static void spoil_link_offset(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind == RNTUPLE_FOOTER)
        set_word(bytes, V1_LINK + 8 + 4, UINT64_C(1) << 40, 8);
}

static void spoil_link_length(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind == RNTUPLE_FOOTER)
        set_word(bytes, V1_LINK, UINT64_C(1) << 60, 8);
}

static void spoil_entry_span(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind == RNTUPLE_FOOTER)
        set_word(bytes, V1_GROUP + 8, 3, 8); /* the clusters have 4 entries */
}

static void spoil_group_end(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind == RNTUPLE_FOOTER)
        set_word(bytes, V1_GROUP, UINT64_MAX, 8);
}

/* Version 1's page list: preamble 8, header checksum 8, list of two summaries 12 + 2 * 24, list of
 * clusters. */
enum { V1_CLUSTERS = 8 + 8 + 12 + 2 * 24, V1_PAGES = V1_CLUSTERS + 3 * 12 };

static void spoil_summary_count(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind == RNTUPLE_PAGE_LIST)
        set_word(bytes, 8 + 8 + 8, 1, 4);
}

static void spoil_clusters_in_list(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind == RNTUPLE_PAGE_LIST)
        set_word(bytes, V1_CLUSTERS + 8, 1, 4);
}

static void spoil_page_count(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind == RNTUPLE_PAGE_LIST)
        set_word(bytes, V1_PAGES - 4, 3, 4);
}

static void spoil_end(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind == RNTUPLE_PAGE_LIST)
        bytes->length -= 6;
}

static const struct bad {
    const char *what;
    enum rntuple_generation first, last;
    enum nt_status on_open, on_load;
    void (*change)(struct rntuple_description *description);
    void (*spoil)(enum rntuple_envelope kind, struct nt_buffer *bytes);
} bad[] = {
    {"more columns in a cluster than there are", 0, RNTUPLE_V1_1, NT_OK, NT_CORRUPT,
     more_columns_than_there_are, NULL},
    {"entries beyond 2^64", 0, RNTUPLE_CRC32_EXTENSION, NT_CORRUPT, NT_OK, entries_beyond_2_to_the_64, NULL},
    {"a column group of a column that does not exist", RNTUPLE_CRC32_LINKS, RNTUPLE_RC2_LATE, NT_CORRUPT,
     NT_OK, column_group_of_a_column_that_does_not_exist, NULL},
    {"a column group with a column twice", RNTUPLE_CRC32_LINKS, RNTUPLE_RC2_LATE, NT_CORRUPT, NT_OK,
     column_group_with_a_column_twice, NULL},
    {"a column group that does not exist", RNTUPLE_CRC32_LINKS, RNTUPLE_RC2_LATE, NT_OK, NT_CORRUPT,
     column_group_that_does_not_exist, NULL},
    {"pages of a suppressed column", RNTUPLE_RC2_LATE, RNTUPLE_V1_1, NT_OK, NT_CORRUPT,
     pages_of_a_suppressed_column, NULL},
    {"a group with more clusters than its page list", RNTUPLE_V1, RNTUPLE_V1_1, NT_OK, NT_CORRUPT, NULL,
     spoil_cluster_count},
    {"2^32 clusters", RNTUPLE_V1, RNTUPLE_V1_1, NT_CORRUPT, NT_OK, NULL, spoil_many_clusters},
    {"a page list behind the end of the file", RNTUPLE_V1, RNTUPLE_V1_1, NT_OK, NT_TRUNCATED, NULL,
     spoil_link_offset},
    {"a page list of 2^60 bytes", RNTUPLE_V1, RNTUPLE_V1_1, NT_OK, NT_LIMIT, NULL, spoil_link_length},
    {"clusters with more entries than the group", RNTUPLE_V1, RNTUPLE_V1_1, NT_OK, NT_CORRUPT, NULL,
     spoil_entry_span},
    {"a group that ends beyond 2^64", RNTUPLE_V1, RNTUPLE_V1_1, NT_CORRUPT, NT_OK, NULL, spoil_group_end},
    {"too few summaries", RNTUPLE_V1, RNTUPLE_V1_1, NT_OK, NT_CORRUPT, NULL, spoil_summary_count},
    {"too few clusters in the page list", RNTUPLE_V1, RNTUPLE_V1_1, NT_OK, NT_CORRUPT, NULL,
     spoil_clusters_in_list},
    {"more pages than the frame holds", RNTUPLE_V1, RNTUPLE_V1_1, NT_OK, NT_CORRUPT, NULL, spoil_page_count},
    {"a page list that ends too early", RNTUPLE_RC1, RNTUPLE_V1_1, NT_OK, NT_CORRUPT, NULL, spoil_end},
};

TEST(bad_footers_and_page_lists_are_refused, .end = sizeof(bad) / sizeof(bad[0]))
{
    const struct bad *row = &bad[_i];
    for (enum rntuple_generation generation = row->first; generation <= row->last; generation++) {
        struct rntuple_description description = usual(generation);
        if (row->change)
            row->change(&description);
        description.spoil = row->spoil;
        enum nt_status status = write_and_open(&written, generation, &description, &error);
        ck_assert_msg(status == row->on_open, "%s: opening: %s: %s", row->what, nt_status_name(status),
                      error.message);
        if (status == NT_OK) {
            status = nt_dataset_load_all(written.dataset, &error);
            ck_assert_msg(status == row->on_load, "%s: loading: %s: %s", row->what, nt_status_name(status),
                          error.message);
            ck_assert_ptr_null(nt_group_slot(written.dataset, 0)->pages);
            /* remembered, with the same message */
            struct nt_error again = {0};
            ck_assert_int_eq(nt_dataset_load_group(written.dataset, 0, &again), status);
            ck_assert_str_eq(again.message, error.message);
        }
        written_close(&written);
    }
}
