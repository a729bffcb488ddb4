/* SPDX-License-Identifier: MIT
 *
 * Selections of entries: which are refused, and where selected entries are stored.
 */
#include <string.h>

#include "builder.h"
#include "core/model/model.h"

static struct nt_error error;
static struct nt_file *file;
static struct nt_dataset *dataset;

static void setup(void)
{
    file = build_file(NULL, 0, NULL, 0);
    dataset = file->datasets[0];
    dataset->entries = 10;
}

static void teardown(void)
{
    nt_file_close(file);
}

/* Selections of ten entries as digits, and their ranges. */
static const struct {
    struct nt_entry_range ranges[4];
    size_t count;
    const char *chosen;
} choices[] = {
    {.count = 0, .chosen = ""},  {{{0, 10}}, 1, "0123456789"},         {{{0, 4}, {4, 6}}, 2, "0123456789"},
    {{{0, 1}, {9, 1}}, 2, "09"}, {{{3, 2}, {5, 0}, {6, 1}}, 3, "346"}, {{{10, 0}}, 1, ""},
};

TEST(chosen_entries_are_those_of_the_ranges, .setup = setup, .teardown = teardown, .end = LENGTH(choices))
{
    const char *chosen = choices[_i].chosen;
    ck_assert(!nt_dataset_has_selection(dataset));
    ck_assert_uint_eq(nt_dataset_entries(dataset), 10);
    assert_ok(nt_dataset_select(dataset, choices[_i].ranges, choices[_i].count, &error));
    ck_assert(nt_dataset_has_selection(dataset));
    ck_assert_uint_eq(nt_dataset_entries(dataset), strlen(chosen));
    ck_assert_uint_eq(nt_dataset_stored_entries(dataset), 10);
    for (uint64_t i = 0; chosen[i]; i++)
        ck_assert_uint_eq(nt_dataset_selected_entry(dataset, i), (uint64_t)(chosen[i] - '0'));
    for (uint64_t entry = 0, before = 0; entry <= 10; entry++) {
        ck_assert_uint_eq(nt_dataset_selected_before(dataset, entry), before);
        before += strchr(chosen, (int)('0' + entry)) && entry < 10;
    }
}

static const struct {
    struct nt_entry_range ranges[2];
    const char *message;
} refusals[] = {
    {{{0, 3}, {2, 1}}, "entry 2 follows entry 2"},
    {{{5, 1}, {1, 1}}, "entry 1 follows entry 5"},
    {{{0, 1}, {10, 1}}, "entry 10 does not exist: the dataset has 10"},
    {{{0, 1}, {9, 2}}, "entry 10 does not exist: the dataset has 10"},
    {{{0, 1}, {5, UINT64_MAX}}, "the dataset has 10"},
};

TEST(choices_that_do_not_ascend_or_leave_the_dataset_are_refused, .setup = setup, .teardown = teardown,
     .end = LENGTH(refusals))
{
    assert_status(NT_INVALID, nt_dataset_select(dataset, refusals[_i].ranges, 2, &error));
    ck_assert_msg(strstr(error.message, refusals[_i].message), "%s", error.message);
    ck_assert_uint_eq(nt_dataset_entries(dataset), 10);
    ck_assert(!nt_dataset_has_selection(dataset));
}

TEST(entries_are_chosen_once, .setup = setup, .teardown = teardown)
{
    assert_ok(nt_dataset_select(dataset, NULL, 0, &error));
    assert_status(NT_INVALID, nt_dataset_select(dataset, NULL, 0, &error));
}
