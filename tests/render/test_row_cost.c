/* SPDX-License-Identifier: MIT
 *
 * The estimated cost of rows. A column that has as many elements as rows needs the pages of these rows, a
 * column in a collection all pages of the cluster. The smallest sufficient limit lies between the decoded
 * size of the pages and that size plus the cost of finding them.
 */
#include "dataset_builder.h"
#include "support.h"
#include "render/render.h"
#include "core/codec/codec.h"

enum {
    ENTRIES = 10000, /* of a cluster, of which there are two */
    PAGE = 1000,
    PAGE_BYTES = 8 * PAGE,
    OVERHEAD = 2048, /* more than finding a page costs */
};

static struct builder *builder;
static uint64_t numbers[2 * ENTRIES], ends[ENTRIES];
static struct nt_error error;

/* A number, and a vector of two numbers an entry. */
static void setup(void)
{
    builder = builder_new();
    uint32_t number = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT64);
    uint32_t list = add_field(builder, NT_NONE, NT_FIELD_COLLECTION, NT_ELEMENT_UINT64);
    uint32_t item = add_field(builder, list, NT_FIELD_VALUE, NT_ELEMENT_INT64);
    uint32_t columns[] = {add_column(builder, number, NT_ENCODING_INT64, 0),
                          add_column(builder, list, NT_ENCODING_INDEX64, 0),
                          add_column(builder, item, NT_ENCODING_INT64, 0)};
    for (uint64_t i = 0; i < ENTRIES; i++)
        ends[i] = 2 * (i + 1);
    for (uint64_t c = 0; c < 2; c++) {
        uint32_t cluster = add_cluster(builder, c * ENTRIES, ENTRIES);
        add_elements(builder, cluster, columns[0], numbers, ENTRIES, PAGE);
        add_elements(builder, cluster, columns[1], ends, ENTRIES, PAGE);
        add_elements(builder, cluster, columns[2], numbers, 2 * ENTRIES, PAGE);
    }
    end_group(builder);
    finish(builder, NULL);
}

static void teardown(void)
{
    builder_free(builder);
}

static bool are_cheap(uint32_t field, uint64_t first, uint64_t count, uint64_t most)
{
    bool are_cheap;
    assert_ok(nt_rows_cost_is_low(builder->dataset, field, first, count, most, &are_cheap, &error));
    return are_cheap;
}

/* Fields: 0 the number, 1 the list, 2 its items; pages that are decoded for rows of one. */
static const struct {
    uint32_t field;
    uint64_t first, count;
    unsigned pages;
} cases[] = {
    {0, 0, 1, 1},
    {0, 0, PAGE, 1},
    {0, 0, PAGE + 1, 2},
    {0, ENTRIES - 1, 2, 2}, /* of both clusters */
    {0, PAGE, 1, 2},        /* the element before may be needed */
    {0, 0, UINT64_MAX, 20},
    {0, 0, 2 * ENTRIES, 20},
    {0, 0, 5 * ENTRIES, 20},
    {2, 0, 100, 1},
    {2, 0, 2 * ENTRIES + 1, 21},
    {2, 0, UINT64_MAX, 40},
    {1, 0, 1, 21}, /* the position of its items is unknown before */
    {1, 0, UINT64_MAX, 60},
    {NT_NONE, 0, 1, 22},
    {NT_NONE, ENTRIES + 1, 1, 22},
    {NT_NONE, 0, UINT64_MAX, 80},
};

TEST(rows_cost_the_pages_that_they_may_be_in, .setup = setup, .teardown = teardown,
     .end = sizeof(cases) / sizeof(cases[0]))
{
    uint64_t bytes = (uint64_t)cases[_i].pages * PAGE_BYTES;
    ck_assert(!are_cheap(cases[_i].field, cases[_i].first, cases[_i].count, bytes));
    ck_assert(are_cheap(cases[_i].field, cases[_i].first, cases[_i].count,
                        bytes + (uint64_t)cases[_i].pages * OVERHEAD));
}

TEST(no_rows_cost_no_page, .setup = setup, .teardown = teardown)
{
    ck_assert(are_cheap(NT_NONE, 3 * ENTRIES, 1, OVERHEAD));
}
