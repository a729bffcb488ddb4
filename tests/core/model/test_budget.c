/* SPDX-License-Identifier: MIT
 *
 * The metadata budget of a file.
 */
#include <stdlib.h>
#include <string.h>

#include "core/model/budget.h"
#include "support.h"

#define MEBIBYTE (UINT64_C(1) << 20)
#define FREE (8 * MEBIBYTE)

static struct nt_error error;

static uint64_t limit_of(uint64_t metadata, uint64_t disk, bool is_all, uint64_t ceiling)
{
    struct nt_budget budget;
    nt_budget_init(&budget, 0, ceiling);
    nt_budget_add_metadata(&budget, metadata);
    nt_budget_add_disk(&budget, disk, is_all);
    uint64_t limit = budget.limit;
    nt_budget_deinit(&budget);
    return limit;
}

TEST(the_limit_follows_the_metadata_that_were_read)
{
    ck_assert_uint_eq(limit_of(0, 0, false, UINT64_MAX), FREE);
    ck_assert_uint_eq(limit_of(1000, 0, false, UINT64_MAX), FREE + 192000);
    ck_assert_uint_eq(limit_of(MEBIBYTE, 0, false, UINT64_MAX), (96 + 30) * MEBIBYTE);
    ck_assert_uint_eq(limit_of(UINT64_MAX, 0, false, UINT64_MAX), UINT64_MAX);
}

/* 256 MiB and its size exceed that by the memory of programs. */
TEST(large_metadata_have_a_fixed_size_and_the_files_own_at_most)
{
    ck_assert_uint_eq(limit_of(20 * MEBIBYTE, 0, false, UINT64_MAX), (140 + 20) * MEBIBYTE);
    ck_assert_uint_eq(limit_of(20 * MEBIBYTE, 21 * MEBIBYTE, true, UINT64_MAX), (200 + 21) * MEBIBYTE);
    ck_assert_uint_eq(limit_of(20 * MEBIBYTE, 1000 * MEBIBYTE, true, UINT64_MAX), (200 + 320) * MEBIBYTE);
}

TEST(files_in_a_folder_here_have_what_a_range_cache_would_take)
{
    struct nt_budget budget;
    nt_budget_init(&budget, 0, UINT64_MAX);
    nt_budget_set_in_folder(&budget);
    ck_assert_uint_eq(budget.limit, FREE);
    nt_budget_add_metadata(&budget, MEBIBYTE);
    ck_assert_uint_eq(budget.limit, (96 + 30) * MEBIBYTE);
    nt_budget_add_metadata(&budget, 19 * MEBIBYTE);
    ck_assert_uint_eq(budget.limit, (200 + 20) * MEBIBYTE);
    nt_budget_deinit(&budget);
}

/* 100 MB of anything allow 48 MiB in addition to the metadata. */
TEST(other_bytes_of_the_file_count_a_little)
{
    ck_assert_uint_eq(limit_of(0, 4096, true, UINT64_MAX), FREE + 4096 * 18);
    ck_assert_uint_eq(limit_of(0, 100 * MEBIBYTE, true, UINT64_MAX), FREE + 48 * MEBIBYTE);
    ck_assert_uint_eq(limit_of(0, UINT64_MAX, true, UINT64_MAX), FREE + 48 * MEBIBYTE);
    ck_assert_uint_eq(limit_of(4096, 100 * MEBIBYTE, true, UINT64_MAX), FREE + 48 * MEBIBYTE + 4096 * 192);
}

TEST(a_file_on_a_disk_has_no_more_metadata_than_takes_room_there)
{
    ck_assert_uint_eq(limit_of(MEBIBYTE, 4096, true, UINT64_MAX), FREE + 4096 * 18);
    ck_assert_uint_eq(limit_of(4096, 4096, false, UINT64_MAX), FREE + 4096 * (192 + 18));
}

TEST(nothing_is_above_the_ceiling)
{
    ck_assert_uint_eq(limit_of(0, 0, false, 1000), 1000);
    ck_assert_uint_eq(limit_of(UINT64_MAX, UINT64_MAX, false, 100 * MEBIBYTE), 100 * MEBIBYTE);
}

/* A format may need more for a small file. The limit of a large one stays. */
TEST(a_minimum_of_the_limit_adds_nothing_to_it)
{
    struct nt_budget budget;
    nt_budget_init(&budget, 0, 120 * MEBIBYTE);
    nt_budget_set_min_limit(&budget, 96 * MEBIBYTE);
    ck_assert_uint_eq(budget.limit, 96 * MEBIBYTE);
    nt_budget_add_metadata(&budget, MEBIBYTE / 10);
    ck_assert_uint_eq(budget.limit, 96 * MEBIBYTE);
    nt_budget_add_metadata(&budget, 20 * MEBIBYTE);
    ck_assert_uint_eq(budget.limit, 120 * MEBIBYTE);
    nt_budget_deinit(&budget);
    nt_budget_init(&budget, 0, 1000);
    nt_budget_set_min_limit(&budget, 96 * MEBIBYTE);
    ck_assert_uint_eq(budget.limit, 1000);
    nt_budget_deinit(&budget);
}

TEST(a_limit_that_was_given_follows_nothing)
{
    struct nt_budget budget;
    nt_budget_init(&budget, 17, 5);
    nt_budget_set_min_limit(&budget, 96 * MEBIBYTE);
    nt_budget_add_metadata(&budget, 1000);
    nt_budget_add_disk(&budget, 1000, true);
    ck_assert_uint_eq(nt_budget_add_stored(&budget, 0, (const uint8_t *)"abcdefgh", 8, false), 0);
    ck_assert_uint_eq(budget.limit, 17);
    nt_budget_deinit(&budget);
}

/* Incompressible bytes. */
static uint8_t *noise(size_t count)
{
    uint8_t *bytes = malloc(count);
    uint32_t state = 1;
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(state >> 24);
    }
    return bytes;
}

TEST(what_is_read_twice_counts_once)
{
    enum { COUNT = 3000 };
    struct nt_budget budget;
    uint8_t *bytes = noise(COUNT);
    nt_budget_init(&budget, 0, UINT64_MAX);
    ck_assert_uint_eq(nt_budget_add_stored(&budget, 5000, bytes, COUNT, true), COUNT);
    ck_assert_uint_eq(nt_budget_add_stored(&budget, 5000, bytes, COUNT, true), 0);
    ck_assert_uint_eq(nt_budget_add_stored(&budget, 6000, bytes, COUNT, true), 1000);
    ck_assert_uint_eq(nt_budget_add_stored(&budget, 9000, bytes, COUNT, true), COUNT);
    ck_assert_uint_eq(budget.limit, FREE + 192 * (2 * COUNT + 1000));
    nt_budget_withdraw(&budget, COUNT);
    ck_assert_uint_eq(budget.limit, FREE + 192 * (COUNT + 1000));
    nt_budget_deinit(&budget);
    free(bytes);
}

TEST(padding_counts_as_hardly_anything)
{
    enum { COUNT = 10000000, MOST = COUNT / 10 };
    uint8_t *bytes = calloc(1, COUNT);
    struct nt_budget budget;
    ck_assert_ptr_nonnull(bytes);
    nt_budget_init(&budget, 0, UINT64_MAX);
    ck_assert_uint_lt(nt_budget_add_stored(&budget, 0, bytes, COUNT, false), MOST);
    ck_assert_uint_lt(nt_budget_add_stored(&budget, 2 * COUNT, bytes, COUNT, true), MOST / 4);
    for (size_t i = 0; i < COUNT; i++)
        bytes[i] = (uint8_t)(i % 100);
    ck_assert_uint_lt(nt_budget_add_stored(&budget, COUNT, bytes, COUNT, false), MOST);
    nt_budget_deinit(&budget);
    free(bytes);
}

TEST(every_cost_has_a_name_and_a_price)
{
    for (enum nt_cost cost = 0; cost < NT_COST_COUNT; cost++) {
        ck_assert_ptr_nonnull(nt_cost_info(cost)->name);
        ck_assert_uint_gt(nt_cost_info(cost)->bytes, 0);
    }
}

TEST(what_is_taken_is_bounded_and_can_be_given_back)
{
    for (enum nt_cost cost = 0; cost < NT_COST_COUNT; cost++) {
        struct nt_budget budget;
        nt_budget_init(&budget, 10 * (uint64_t)nt_cost_info(cost)->bytes, 0);
        assert_ok(nt_budget_take(&budget, cost, 6, 0, &error));
        assert_status(NT_LIMIT, nt_budget_take(&budget, cost, 5, 77, &error));
        ck_assert_uint_eq(error.offset, 77);
        ck_assert_ptr_nonnull(strstr(error.message, nt_cost_info(cost)->name));
        ck_assert_ptr_nonnull(strstr(error.message, "metadatasize"));
        assert_ok(nt_budget_take(&budget, cost, 4, 0, &error));
        assert_status(NT_LIMIT, nt_budget_take(&budget, cost, 1, 0, &error));
        nt_budget_release(&budget, cost, 10);
        ck_assert_uint_eq(budget.used, 0);
        nt_budget_deinit(&budget);
    }
}

TEST(counts_whose_cost_overflows_are_refused)
{
    struct nt_budget budget;
    nt_budget_init(&budget, UINT64_MAX, 0);
    assert_status(NT_LIMIT, nt_budget_take(&budget, NT_COST_PAGE, UINT64_MAX, 0, &error));
    ck_assert_uint_eq(budget.used, 0);
    nt_budget_deinit(&budget);
}

TEST(several_budgets_share_a_common_one)
{
    struct nt_budget common, first, second;
    nt_budget_init(&common, 1000, 0);
    nt_budget_init(&first, 800, 0);
    nt_budget_init(&second, 800, 0);
    assert_ok(nt_budget_take(&first, NT_COST_ENVELOPE_BYTE, 700, 0, &error));
    assert_ok(nt_budget_join(&first, &common, &error));
    assert_ok(nt_budget_take(&second, NT_COST_ENVELOPE_BYTE, 301, 0, &error));
    assert_status(NT_LIMIT, nt_budget_join(&second, &common, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "for all files of the chain"));
    nt_budget_release(&second, NT_COST_ENVELOPE_BYTE, 1);
    assert_ok(nt_budget_join(&second, &common, &error));
    assert_status(NT_LIMIT, nt_budget_take(&second, NT_COST_ENVELOPE_BYTE, 1, 0, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "1000 bytes for all files of the chain) leaves 0"));
    ck_assert_uint_eq(second.used, 300);
    nt_budget_deinit(&first);
    ck_assert_uint_eq(common.used, 300);
    assert_ok(nt_budget_take(&second, NT_COST_ENVELOPE_BYTE, 400, 0, &error));
    nt_budget_deinit(&second);
    ck_assert_uint_eq(common.used, 0);
    nt_budget_deinit(&common);
}

static bool give_back(void *context)
{
    struct nt_budget *budget = context;
    bool has_some = budget->used >= 300;
    if (has_some)
        nt_budget_release(budget, NT_COST_ENVELOPE_BYTE, 300);
    return has_some;
}

/* Of the budget itself and of a common one. */
TEST(what_can_be_made_again_gives_way)
{
    struct nt_budget common, own;
    for (int is_common = 0; is_common < 2; is_common++) {
        nt_budget_init(&common, is_common ? 1000 : 2000, 0);
        nt_budget_init(&own, is_common ? 2000 : 1000, 0);
        assert_ok(nt_budget_join(&own, &common, &error));
        nt_budget_set_make_room(&own, give_back, &own);
        assert_ok(nt_budget_take(&own, NT_COST_ENVELOPE_BYTE, 1000, 0, &error));
        assert_ok(nt_budget_take(&own, NT_COST_ENVELOPE_BYTE, 250, 0, &error));
        ck_assert_uint_eq(common.used, 950);
        assert_status(NT_LIMIT, nt_budget_take(&own, NT_COST_ENVELOPE_BYTE, 400, 0, &error));
        ck_assert_uint_eq(own.used, 650);
        nt_budget_deinit(&own);
        nt_budget_deinit(&common);
    }
}
