/* SPDX-License-Identifier: MIT */
#include "remote/client/client.h"

#include <stdlib.h>

#include "support.h"

enum { PIECE = 100 };

static struct nt_cached_range *add(struct nt_range_cache *file, uint64_t offset)
{
    struct nt_cached_range *range = calloc(1, sizeof(*range));
    *range = (struct nt_cached_range){.offset = offset, .bytes = PIECE, .data = malloc(PIECE)};
    ck_assert(nt_range_cache_add(file, range));
    return range;
}

TEST(each_byte_finds_its_range_or_the_next_one)
{
    static const uint64_t offsets[] = {500, 100, 1000, 200, 0};
    struct nt_range_cache file = {0};
    struct nt_range_cache_space room = {.max_bytes = UINT64_MAX, .used = TAILQ_HEAD_INITIALIZER(room.used)};
    uint64_t next;
    for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++)
        nt_cached_range_keep(&room, add(&file, offsets[i]));
    for (uint64_t byte = 0; byte < 1200; byte++) {
        struct nt_cached_range *expected = NULL;
        uint64_t following = UINT64_MAX;
        for (size_t i = 0; i < file.count; i++) {
            struct nt_cached_range *range = file.list[i];
            if (byte >= range->offset && byte < range->offset + PIECE)
                expected = range;
            if (range->offset > byte && range->offset < following)
                following = range->offset;
        }
        ck_assert_ptr_eq(nt_range_cache_at(&file, byte, &next), expected);
        if (!expected)
            ck_assert_uint_eq(next, following);
    }
    nt_range_cache_deinit(&file, &room);
    ck_assert_uint_eq(room.bytes, 0);
    ck_assert(TAILQ_EMPTY(&room.used));
}

TEST(the_one_that_was_not_used_for_longest_goes)
{
    struct nt_range_cache file = {0}, other = {0};
    struct nt_range_cache_space room = {.max_bytes = 3 * PIECE, .used = TAILQ_HEAD_INITIALIZER(room.used)};
    uint64_t next;
    struct nt_cached_range *used = add(&file, 0), *pinned = add(&other, 0);
    nt_cached_range_pin(&room, pinned);
    nt_cached_range_keep(&room, pinned);
    nt_cached_range_keep(&room, used);
    nt_cached_range_keep(&room, add(&file, PIECE));
    nt_cached_range_pin(&room, used);
    nt_cached_range_unpin(&room, used);
    nt_cached_range_keep(&room, add(&file, 2 * PIECE));
    ck_assert_ptr_eq(nt_range_cache_at(&file, 0, &next), used);
    ck_assert_ptr_null(nt_range_cache_at(&file, PIECE, &next));
    ck_assert_ptr_eq(nt_range_cache_at(&other, 0, &next), pinned);
    ck_assert_uint_eq(room.bytes, 3 * PIECE);
    nt_cached_range_unpin(&room, pinned);
    nt_range_cache_deinit(&file, &room);
    nt_range_cache_deinit(&other, &room);
    ck_assert_uint_eq(room.bytes, 0);
}

TEST(a_failed_range_lives_as_long_as_its_last_pin)
{
    struct nt_range_cache file = {0};
    struct nt_range_cache_space room = {.max_bytes = PIECE, .used = TAILQ_HEAD_INITIALIZER(room.used)};
    uint64_t next;
    struct nt_cached_range *range = add(&file, 0);
    nt_cached_range_pin(&room, range);
    nt_cached_range_pin(&room, range);
    nt_range_cache_remove(range);
    ck_assert_ptr_null(nt_range_cache_at(&file, 0, &next));
    nt_cached_range_unpin(&room, range);
    range->data[0] = 1;
    nt_cached_range_unpin(&room, range);
    nt_range_cache_deinit(&file, &room);
}

TEST(a_forgotten_range_is_not_found_but_stays_pinned)
{
    struct nt_range_cache file = {0};
    struct nt_range_cache_space room = {.max_bytes = 10 * PIECE, .used = TAILQ_HEAD_INITIALIZER(room.used)};
    uint64_t next;
    for (uint64_t i = 0; i < 3; i++)
        nt_cached_range_keep(&room, add(&file, i * PIECE));
    struct nt_cached_range *held = nt_range_cache_at(&file, PIECE, &next);
    nt_cached_range_pin(&room, held);
    nt_cached_range_forget(&room, held);
    nt_cached_range_forget(&room, nt_range_cache_at(&file, 2 * PIECE, &next));
    ck_assert_ptr_null(nt_range_cache_at(&file, PIECE, &next));
    ck_assert_uint_eq(next, UINT64_MAX);
    ck_assert_uint_eq(room.bytes, PIECE);
    held->data[0] = 1;
    nt_cached_range_unpin(&room, held);
    nt_range_cache_deinit(&file, &room);
    ck_assert_uint_eq(room.bytes, 0);
}
