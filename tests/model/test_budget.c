/* SPDX-License-Identifier: MIT
 *
 * What a file's description may take.
 */
#include "model/budget.h"

#include <string.h>

#include "support.h"

static struct nt_error error;

START_TEST(the_limit_grows_with_the_file)
{
    struct nt_budget budget;
    nt_budget_init(&budget, 0, 0);
    ck_assert_uint_eq(budget.limit, 8 << 20);
    nt_budget_init(&budget, 1000, 0);
    ck_assert_uint_eq(budget.limit, (8 << 20) + 64000);
    nt_budget_init(&budget, UINT64_MAX, 0);
    ck_assert_uint_eq(budget.limit, UINT64_MAX);
    nt_budget_init(&budget, 1000, 17);
    ck_assert_uint_eq(budget.limit, 17);
}
END_TEST

START_TEST(a_limit_that_was_given_does_not_follow_the_file)
{
    struct nt_budget budget;
    nt_budget_init(&budget, 1000, 0);
    nt_budget_widen(&budget, 500);
    ck_assert_uint_eq(budget.limit, (8 << 20) + 96000);
    nt_budget_widen(&budget, UINT64_MAX / 64);
    ck_assert_uint_eq(budget.limit, UINT64_MAX);
    nt_budget_init(&budget, 1000, 17);
    nt_budget_widen(&budget, 500);
    ck_assert_uint_eq(budget.limit, 17);
}
END_TEST

START_TEST(every_cost_has_a_name_and_a_price)
{
    for (int i = 0; i < NT_COST_COUNT; i++) {
        ck_assert_uint_gt(strlen(nt_cost_info((enum nt_cost)i)->name), 0);
        ck_assert_uint_gt(nt_cost_info((enum nt_cost)i)->bytes, 0);
    }
}
END_TEST

START_TEST(what_is_taken_is_bounded_and_can_be_given_back)
{
    for (int i = 0; i < NT_COST_COUNT; i++) {
        enum nt_cost cost = (enum nt_cost)i;
        struct nt_budget budget;
        nt_budget_init(&budget, 0, 10 * (uint64_t)nt_cost_info(cost)->bytes);
        assert_ok(nt_budget_take(&budget, cost, 6, 0, &error));
        assert_status(NT_LIMIT, nt_budget_take(&budget, cost, 5, 77, &error));
        ck_assert_uint_eq(error.offset, 77);
        ck_assert_ptr_nonnull(strstr(error.message, nt_cost_info(cost)->name));
        ck_assert_ptr_nonnull(strstr(error.message, "metadatasize"));
        assert_ok(nt_budget_take(&budget, cost, 4, 0, &error));
        assert_status(NT_LIMIT, nt_budget_take(&budget, cost, 1, 0, &error));
        nt_budget_give(&budget, cost, 10);
        ck_assert_uint_eq(budget.used, 0);
    }
}
END_TEST

START_TEST(counts_whose_cost_overflows_are_refused)
{
    struct nt_budget budget;
    nt_budget_init(&budget, UINT64_MAX, 0);
    assert_status(NT_LIMIT, nt_budget_take(&budget, NT_COST_PAGE, UINT64_MAX, 0, &error));
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("budget");
    TCase *cases = tcase_create("budget");
    tcase_add_test(cases, the_limit_grows_with_the_file);
    tcase_add_test(cases, a_limit_that_was_given_does_not_follow_the_file);
    tcase_add_test(cases, every_cost_has_a_name_and_a_price);
    tcase_add_test(cases, what_is_taken_is_bounded_and_can_be_given_back);
    tcase_add_test(cases, counts_whose_cost_overflows_are_refused);
    suite_add_tcase(suite, cases);
    return nt_test_main(suite);
}
