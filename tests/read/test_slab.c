/* SPDX-License-Identifier: MIT
 *
 * Slabs alone: buffers do not overlap, freed ones are reused, and the counters are right.
 */
#include <string.h>

#include "read/read.h"
#include "support.h"

enum { UNIT = NT_SLAB_UNIT, MANY = 200 };

/* Only compared. */
static char owners[MANY];

static struct nt_cache_entry *owner(unsigned number)
{
    return (struct nt_cache_entry *)(void *)&owners[number];
}

struct buffer {
    struct nt_slab *slab;
    uint8_t *data;
    size_t capacity;
};

/* From an existing slab, or a new one. */
static struct buffer take(struct nt_slab_pool *slabs, unsigned number, size_t bytes)
{
    struct buffer buffer = {.capacity = nt_slab_capacity(bytes)};
    buffer.slab = nt_slab_alloc(slabs, buffer.capacity, owner(number), &buffer.data);
    if (!buffer.slab)
        buffer.slab = nt_slab_add(slabs, buffer.capacity, owner(number), &buffer.data);
    ck_assert_ptr_nonnull(buffer.slab);
    memset(buffer.data, (int)number, buffer.capacity);
    return buffer;
}

static void give(struct nt_slab_pool *slabs, const struct buffer *buffer)
{
    nt_slab_set_idle(slabs, buffer->slab);
    nt_slab_return(slabs, buffer->slab, buffer->data, buffer->capacity);
}

static void drop_all(struct nt_slab_pool *slabs)
{
    struct nt_slab *slab;
    while ((slab = nt_slab_evict(slabs)))
        nt_slab_free(slab);
    ck_assert_uint_eq(slabs->bytes, 0);
    ck_assert_uint_eq(slabs->empty_bytes, 0);
    ck_assert_uint_eq(slabs->busy_bytes, 0);
    ck_assert(LIST_EMPTY(&slabs->shared));
}

TEST(capacities_are_whole_units)
{
    ck_assert_uint_eq(nt_slab_capacity(1), UNIT);
    ck_assert_uint_eq(nt_slab_capacity(UNIT), UNIT);
    ck_assert_uint_eq(nt_slab_capacity(UNIT + 1), 2 * UNIT);
    ck_assert_uint_eq(nt_slab_capacity(SIZE_MAX), SIZE_MAX);
    ck_assert_uint_eq(nt_slab_bytes(UNIT), NT_SLAB_BYTES);
    ck_assert_uint_eq(nt_slab_bytes(NT_SLAB_BYTES + UNIT), NT_SLAB_BYTES + UNIT);
}

TEST(buffers_of_all_sizes_never_overlap)
{
    struct nt_slab_pool slabs = {0};
    struct buffer buffers[MANY];
    uint64_t chance = 88172645463325252u;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < MANY; i++) {
            chance = chance * 6364136223846793005u + 1442695040888963407u;
            if (round == 0 || i % 3 == round)
                buffers[i] = take(&slabs, i, 1 + (chance >> 33) % (i % 20 ? 40 * UNIT : 100 * UNIT));
        }
        for (unsigned i = 0; i < MANY; i++) {
            for (size_t k = 0; k < buffers[i].capacity; k += 997)
                ck_assert_uint_eq(buffers[i].data[k], i);
            ck_assert_uint_eq(buffers[i].data[buffers[i].capacity - 1], i);
            if (round == 2 || i % 3 == round + 1)
                give(&slabs, &buffers[i]);
        }
    }
    drop_all(&slabs);
}

TEST(two_halves_share_a_region_and_a_third_needs_another)
{
    struct nt_slab_pool slabs = {0};
    struct buffer one = take(&slabs, 1, NT_SLAB_BYTES / 2), two = take(&slabs, 2, NT_SLAB_BYTES / 2);
    ck_assert_ptr_eq(one.slab, two.slab);
    ck_assert_uint_eq(slabs.bytes, NT_SLAB_BYTES);
    struct buffer three = take(&slabs, 3, UNIT);
    ck_assert_ptr_ne(three.slab, one.slab);
    give(&slabs, &one);
    struct buffer four = take(&slabs, 4, NT_SLAB_BYTES / 2);
    ck_assert_ptr_eq(four.data, one.data);
    ck_assert_ptr_eq(four.slab->owners[0], owner(4));
    give(&slabs, &two);
    give(&slabs, &three);
    ck_assert_uint_eq(slabs.empty_bytes, NT_SLAB_BYTES);
    give(&slabs, &four);
    drop_all(&slabs);
}

TEST(a_region_is_busy_while_one_of_its_buffers_is)
{
    struct nt_slab_pool slabs = {0};
    struct buffer one = take(&slabs, 1, UNIT), two = take(&slabs, 2, UNIT);
    ck_assert_uint_eq(slabs.busy_bytes, NT_SLAB_BYTES);
    nt_slab_set_idle(&slabs, one.slab);
    ck_assert_uint_eq(slabs.busy_bytes, NT_SLAB_BYTES);
    nt_slab_set_idle(&slabs, two.slab);
    ck_assert_uint_eq(slabs.busy_bytes, 0);
    nt_slab_set_busy(&slabs, one.slab);
    ck_assert_uint_eq(slabs.busy_bytes, NT_SLAB_BYTES);
    nt_slab_set_busy(&slabs, two.slab);
    give(&slabs, &one);
    give(&slabs, &two);
    drop_all(&slabs);
}

TEST(a_large_buffer_has_a_region_that_the_next_of_about_its_size_gets)
{
    struct nt_slab_pool slabs = {0};
    struct buffer large = take(&slabs, 1, 8 * NT_SLAB_BYTES);
    ck_assert_uint_eq(slabs.bytes, 8 * NT_SLAB_BYTES);
    give(&slabs, &large);
    struct buffer small = take(&slabs, 2, UNIT), much_less = take(&slabs, 3, 4 * NT_SLAB_BYTES);
    ck_assert_ptr_ne(small.slab, large.slab);
    ck_assert_ptr_ne(much_less.slab, large.slab);
    struct buffer less = take(&slabs, 4, 7 * NT_SLAB_BYTES);
    ck_assert_ptr_eq(less.data, large.data);
    give(&slabs, &small);
    give(&slabs, &much_less);
    give(&slabs, &less);
    drop_all(&slabs);
}
