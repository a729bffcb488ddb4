/* SPDX-License-Identifier: MIT */
#include "remote/client/client.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "core/io/source.h"

enum { KIB = 1024, MOST = 8 };
#define SIZE (UINT64_C(64) << 20)

enum { GAP = 128 * KIB };

static const struct {
    const char *what;
    struct nt_extent extents[MOST], ranges[MOST];
} cases[] = {
    {"nothing", {{0, 0}}, {{0, 0}}},
    {"side by side", {{0, 10}, {10, 5}}, {{0, 15}}},
    {"in any order", {{10, 5}, {0, 10}, {15, 1}}, {{0, 16}}},
    {"over one another", {{0, 100}, {10, 5}, {50, 100}}, {{0, 150}}},
    {"a gap as large as may be", {{0, 1}, {128 * KIB + 1, 1}}, {{0, 128 * KIB + 2}}},
    {"a gap that is larger", {{0, 1}, {128 * KIB + 2, 1}}, {{0, 1}, {128 * KIB + 2, 1}}},
    {"gaps that are too much together",
     {{0, 1}, {100 * KIB, 1}, {200 * KIB, 1}},
     {{0, 100 * KIB + 1}, {200 * KIB, 1}}},
    {"the smallest first",
     {{0, 1}, {100 * KIB, 1}, {160 * KIB, 1}, {220 * KIB, 1}},
     {{0, 1}, {100 * KIB, 120 * KIB + 1}}},
    {"some of those that are alike, behind all that are smaller",
     {{0, 1}, {60 * KIB + 1, 1}, {120 * KIB + 2, 1}, {180 * KIB + 3, 1}, {184 * KIB + 4, 1}},
     {{0, 120 * KIB + 3}, {180 * KIB + 3, 4 * KIB + 2}}},
    {"gaps that are a quarter",
     {{0, 400 * KIB}, {500 * KIB, 400 * KIB}, {1000 * KIB, 400 * KIB}},
     {{0, 1400 * KIB}}},
    {"behind the end", {{SIZE, 1}, {SIZE - 1, 1}, {SIZE - 1, 2}, {UINT64_MAX, 2}}, {{SIZE - 1, 1}}},
    {"all of it", {{0, SIZE}, {7, 9}}, {{0, SIZE}}},
};

static size_t count_of(const struct nt_extent *extents)
{
    size_t count = 0;
    while (count < MOST && extents[count].bytes)
        count++;
    return count;
}

TEST(what_is_near_to_one_another_is_one_range, .end = sizeof(cases) / sizeof(*cases))
{
    struct nt_extent extents[MOST];
    memcpy(extents, cases[_i].extents, sizeof(extents));
    size_t count = nt_ranges_coalesce(extents, count_of(extents), SIZE, GAP),
           expected = count_of(cases[_i].ranges);
    ck_assert_msg(count == expected, "%s: %zu ranges", cases[_i].what, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(extents[i].offset == cases[_i].ranges[i].offset, "%s: %zu", cases[_i].what, i);
        ck_assert_msg(extents[i].bytes == cases[_i].ranges[i].bytes, "%s: %zu", cases[_i].what, i);
    }
}

/* All requested bytes are in the ranges, which are ordered and disjoint. Extra bytes are at most a
 * quarter and a gap. */
TEST(ranges_have_all_extents_and_little_more, .end = 5)
{
    enum { EXTENTS = 30, SPACE = 1 << 23 };
    struct nt_extent extents[EXTENTS], ranges[EXTENTS];
    static uint8_t requested[SPACE], asked[SPACE];
    uint64_t prefetched_bytes = 0, asked_bytes = 0, missing = 0, sum = 0;
    srand((unsigned)_i);
    memset(requested, 0, SPACE);
    memset(asked, 0, SPACE);
    for (size_t i = 0; i < EXTENTS; i++) {
        extents[i] = (struct nt_extent){(uint64_t)rand() % (SPACE - 200000), 1 + (uint64_t)rand() % 200000};
        memset(requested + extents[i].offset, 1, extents[i].bytes);
        sum += extents[i].bytes;
    }
    memcpy(ranges, extents, sizeof(ranges));
    size_t count = nt_ranges_coalesce(ranges, EXTENTS, SPACE, GAP);
    for (size_t i = 0; i < count; i++) {
        ck_assert(i == 0 || ranges[i - 1].offset + ranges[i - 1].bytes < ranges[i].offset);
        memset(asked + ranges[i].offset, 1, ranges[i].bytes);
    }
    for (size_t i = 0; i < SPACE; i++) {
        missing += asked[i] < requested[i];
        prefetched_bytes += requested[i];
        asked_bytes += asked[i];
    }
    ck_assert_uint_eq(missing, 0);
    ck_assert_uint_le(asked_bytes - prefetched_bytes, sum / 4 + 128 * KIB);
}

TEST(gaps_are_as_large_as_the_line_makes_it_worth)
{
    const struct nt_extent requested[] = {{0, 1 << 20}, {(1 << 20) + 200 * KIB, 1 << 20}};
    struct nt_extent extents[2];
    memcpy(extents, requested, sizeof(requested));
    ck_assert_uint_eq(nt_ranges_coalesce(extents, 2, SIZE, 199 * KIB), 2);
    ck_assert_uint_eq(nt_ranges_coalesce(extents, 2, SIZE, 200 * KIB), 1);
    ck_assert_uint_eq(extents[0].bytes, (2 << 20) + 200 * KIB);
}

static const struct {
    uint64_t bytes, piece, if_cold, by_two;
} pieces[] = {{1, 256 * KIB, 16 * KIB, 96 * KIB},
              {240 * KIB, 256 * KIB, 16 * KIB, 96 * KIB},
              {241 * KIB, 256 * KIB, 16 * KIB, 16 * KIB},
              {4096 * KIB, 256 * KIB, 256 * KIB, 256 * KIB},
              {512 * KIB, 256 * KIB, 32 * KIB, 32 * KIB},
              {8192 * KIB, 512 * KIB, 512 * KIB, 512 * KIB},
              {111 << 20, 7104 * KIB, 7104 * KIB, 7104 * KIB},
              {UINT64_C(1) << 40, 8 << 20, 8 << 20, 8 << 20},
              {UINT64_MAX, 8 << 20, 8 << 20, 8 << 20}};

TEST(pieces_grow_with_what_is_requested, .end = sizeof(pieces) / sizeof(*pieces))
{
    ck_assert_uint_eq(nt_ranges_split_bytes(pieces[_i].bytes, false, false), pieces[_i].piece);
    ck_assert_uint_eq(nt_ranges_split_bytes(pieces[_i].bytes, true, false), pieces[_i].if_cold);
    ck_assert_uint_eq(nt_ranges_split_bytes(pieces[_i].bytes, true, true), pieces[_i].by_two);
}

static const struct {
    uint64_t bytes, split, piece;
} shares[] = {{10 * KIB, 256 * KIB, 256 * KIB},
              {128 * KIB, 256 * KIB, 256 * KIB},
              {129 * KIB, 256 * KIB, 256 * KIB},
              {384 * KIB, 256 * KIB, 384 * KIB},
              {385 * KIB, 256 * KIB, 192 * KIB + KIB / 2},
              {1033 * KIB, 477 * KIB, 516 * KIB + KIB / 2},
              {12 << 20, 8 << 20, 6 << 20},
              {17 << 20, 8 << 20, (17 << 20) / 3 + 1},
              {24 << 20, 8 << 20, 8 << 20}};

TEST(a_range_is_divided_into_equal_pieces, .end = sizeof(shares) / sizeof(*shares))
{
    ck_assert_uint_eq(nt_ranges_piece_bytes(shares[_i].bytes, shares[_i].split), shares[_i].piece);
}
