/* SPDX-License-Identifier: MIT
 *
 * Regions by themselves: buffers do not overlap, what is given back is given out again, and what is counted is what
 * there is.
 */
#include <string.h>

#include "read/read.h"
#include "support.h"

enum { UNIT = NT_REGION_UNIT, MANY = 200 };

/* Only compared. */
static char owners[MANY];

static struct nt_cached *owner(unsigned number)
{
    return (struct nt_cached *)(void *)&owners[number];
}

struct buffer {
    struct nt_region *region;
    uint8_t *data;
    size_t capacity;
};

/* From a region that there is, or a new one. */
static struct buffer take(struct nt_regions *regions, unsigned number, size_t bytes)
{
    struct buffer buffer = {.capacity = nt_region_capacity(bytes)};
    if (!nt_regions_take(regions, buffer.capacity, owner(number), &buffer.region, &buffer.data)) {
        nt_regions_expect(regions, buffer.capacity);
        buffer.region = nt_region_new(buffer.capacity);
        ck_assert_ptr_nonnull(buffer.region);
        buffer.data = nt_regions_add(regions, buffer.region, buffer.capacity, owner(number));
    }
    memset(buffer.data, (int)number, buffer.capacity);
    return buffer;
}

static void give(struct nt_regions *regions, const struct buffer *buffer)
{
    nt_regions_rest(regions, buffer->region);
    nt_regions_give(regions, buffer->region, buffer->data, buffer->capacity);
}

static void drop_all(struct nt_regions *regions)
{
    struct nt_region *region;
    while ((region = nt_regions_drop(regions)))
        nt_region_free(region);
    ck_assert_uint_eq(regions->bytes, 0);
    ck_assert_uint_eq(regions->empty_bytes, 0);
    ck_assert_uint_eq(regions->busy_bytes, 0);
    ck_assert(LIST_EMPTY(&regions->shared));
}

TEST(capacities_are_whole_units)
{
    ck_assert_uint_eq(nt_region_capacity(1), UNIT);
    ck_assert_uint_eq(nt_region_capacity(UNIT), UNIT);
    ck_assert_uint_eq(nt_region_capacity(UNIT + 1), 2 * UNIT);
    ck_assert_uint_eq(nt_region_capacity(SIZE_MAX), SIZE_MAX);
    ck_assert_uint_eq(nt_region_bytes(UNIT), NT_REGION_BYTES);
    ck_assert_uint_eq(nt_region_bytes(NT_REGION_BYTES + UNIT), NT_REGION_BYTES + UNIT);
}

TEST(buffers_of_all_sizes_never_overlap)
{
    struct nt_regions regions = {0};
    struct buffer buffers[MANY];
    uint64_t chance = 88172645463325252u;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < MANY; i++) {
            chance = chance * 6364136223846793005u + 1442695040888963407u;
            if (round == 0 || i % 3 == round)
                buffers[i] = take(&regions, i, 1 + (chance >> 33) % (i % 20 ? 40 * UNIT : 100 * UNIT));
        }
        for (unsigned i = 0; i < MANY; i++) {
            for (size_t k = 0; k < buffers[i].capacity; k += 997)
                ck_assert_uint_eq(buffers[i].data[k], i);
            ck_assert_uint_eq(buffers[i].data[buffers[i].capacity - 1], i);
            if (round == 2 || i % 3 == round + 1)
                give(&regions, &buffers[i]);
        }
    }
    drop_all(&regions);
}

TEST(two_halves_share_a_region_and_a_third_needs_another)
{
    struct nt_regions regions = {0};
    struct buffer one = take(&regions, 1, NT_REGION_BYTES / 2), two = take(&regions, 2, NT_REGION_BYTES / 2);
    ck_assert_ptr_eq(one.region, two.region);
    ck_assert_uint_eq(regions.bytes, NT_REGION_BYTES);
    struct buffer three = take(&regions, 3, UNIT);
    ck_assert_ptr_ne(three.region, one.region);
    give(&regions, &one);
    struct buffer four = take(&regions, 4, NT_REGION_BYTES / 2);
    ck_assert_ptr_eq(four.data, one.data);
    ck_assert_ptr_eq(four.region->owners[0], owner(4));
    give(&regions, &two);
    give(&regions, &three);
    ck_assert_uint_eq(regions.empty_bytes, NT_REGION_BYTES);
    give(&regions, &four);
    drop_all(&regions);
}

TEST(a_region_is_busy_while_one_of_its_buffers_is)
{
    struct nt_regions regions = {0};
    struct buffer one = take(&regions, 1, UNIT), two = take(&regions, 2, UNIT);
    ck_assert_uint_eq(regions.busy_bytes, NT_REGION_BYTES);
    nt_regions_rest(&regions, one.region);
    ck_assert_uint_eq(regions.busy_bytes, NT_REGION_BYTES);
    nt_regions_rest(&regions, two.region);
    ck_assert_uint_eq(regions.busy_bytes, 0);
    nt_regions_use(&regions, one.region);
    ck_assert_uint_eq(regions.busy_bytes, NT_REGION_BYTES);
    nt_regions_use(&regions, two.region);
    give(&regions, &one);
    give(&regions, &two);
    drop_all(&regions);
}

TEST(a_large_buffer_has_a_region_that_the_next_of_about_its_size_gets)
{
    struct nt_regions regions = {0};
    struct buffer large = take(&regions, 1, 8 * NT_REGION_BYTES);
    ck_assert_uint_eq(regions.bytes, 8 * NT_REGION_BYTES);
    give(&regions, &large);
    struct buffer small = take(&regions, 2, UNIT), much_less = take(&regions, 3, 4 * NT_REGION_BYTES);
    ck_assert_ptr_ne(small.region, large.region);
    ck_assert_ptr_ne(much_less.region, large.region);
    struct buffer less = take(&regions, 4, 7 * NT_REGION_BYTES);
    ck_assert_ptr_eq(less.data, large.data);
    give(&regions, &small);
    give(&regions, &much_less);
    give(&regions, &less);
    drop_all(&regions);
}

TEST(a_region_that_could_not_be_made_does_not_count)
{
    struct nt_regions regions = {0};
    nt_regions_expect(&regions, UNIT);
    ck_assert_uint_eq(regions.bytes, NT_REGION_BYTES);
    ck_assert_uint_eq(regions.busy_bytes, NT_REGION_BYTES);
    ck_assert_ptr_null(nt_regions_add(&regions, NULL, UNIT, owner(0)));
    drop_all(&regions);
}
