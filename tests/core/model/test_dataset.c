/* SPDX-License-Identifier: MIT
 *
 * Linking fields and columns, and loading cluster groups once.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "builder.h"
#include "core/model/builder.h"
#include "column_range.h"

static struct nt_error error;

/* ---- fields ---- */

static void assert_children(const struct nt_dataset *dataset, uint32_t field, const uint32_t *expected,
                            uint32_t expected_count)
{
    uint32_t count;
    const uint32_t *children = nt_dataset_children(dataset, field, &count);
    ck_assert_uint_eq(count, expected_count);
    for (uint32_t i = 0; i < count; i++)
        ck_assert_uint_eq(children[i], expected[i]);
}

TEST(children_are_in_the_order_of_their_ids)
{
    /* Listed in reverse order: the ids have another order than the list. */
    static const struct nt_field fields[] = {
        {.id = 9, .parent = NT_NONE}, {.id = 8, .parent = 0},       {.id = 7, .parent = 4},
        {.id = 6, .parent = 0},       {.id = 5, .parent = NT_NONE}, {.id = 4, .parent = NT_NONE},
        {.id = 3, .parent = 0},       {.id = 2, .parent = 6},
    };
    struct nt_file *file = BUILD_FIELDS(fields);
    const struct nt_dataset *dataset = file->datasets[0];
    assert_ok(nt_dataset_link(file->datasets[0], &error));
    ck_assert_uint_eq(dataset->top_count, 3);
    assert_children(dataset, NT_NONE, (uint32_t[]){5, 4, 0}, 3);
    assert_children(dataset, 0, (uint32_t[]){6, 3, 1}, 3);
    assert_children(dataset, 4, (uint32_t[]){2}, 1);
    assert_children(dataset, 6, (uint32_t[]){7}, 1);
    assert_children(dataset, 7, NULL, 0);
    nt_file_close(file);
}

TEST(a_dataset_without_fields_is_linked)
{
    struct nt_file *file = build_file(NULL, 0, NULL, 0);
    assert_ok(nt_dataset_link(file->datasets[0], &error));
    assert_children(file->datasets[0], NT_NONE, NULL, 0);
    nt_file_close(file);
}

TEST(parents_that_do_not_exist_and_cycles_are_refused, .end = 5)
{
    static const struct nt_field lists[][3] = {
        {{.id = 0, .parent = 3}, {.id = 1, .parent = NT_NONE}, {.id = 2, .parent = NT_NONE}},
        {{.id = 0, .parent = NT_NONE - 1}, {.id = 1, .parent = NT_NONE}, {.id = 2, .parent = NT_NONE}},
        {{.id = 0, .parent = 0}, {.id = 1, .parent = NT_NONE}, {.id = 2, .parent = NT_NONE}},
        {{.id = 0, .parent = 1}, {.id = 1, .parent = 0}, {.id = 2, .parent = NT_NONE}},
        {{.id = 0, .parent = 2}, {.id = 1, .parent = 0}, {.id = 2, .parent = 1}},
    };
    struct nt_file *file = BUILD_FIELDS(lists[_i]);
    assert_status(NT_CORRUPT, nt_dataset_link(file->datasets[0], &error));
    nt_file_close(file);
}

TEST(fields_are_nested_as_deep_as_the_limit_and_no_deeper)
{
    struct nt_field fields[NT_MAX_DEPTH + 2];
    for (uint32_t i = 0; i < LENGTH(fields); i++)
        fields[i] = (struct nt_field){.id = i, .parent = i ? i - 1 : NT_NONE};
    struct nt_file *file = build_file(fields, NT_MAX_DEPTH + 1, NULL, 0);
    assert_ok(nt_dataset_link(file->datasets[0], &error));
    nt_file_close(file);
    file = build_file(fields, NT_MAX_DEPTH + 2, NULL, 0);
    assert_status(NT_CORRUPT, nt_dataset_link(file->datasets[0], &error));
    nt_file_close(file);
}

/* ---- columns ---- */

TEST(columns_are_found_by_representation_and_position)
{
    static const struct nt_field fields[] = {
        {.id = 0, .parent = NT_NONE}, {.id = 1, .parent = NT_NONE}, {.id = 2, .parent = NT_NONE}};
    /* Field 2 has two representations of two columns, listed out of order; field 0 has one column; field 1
     * has none. */
    static const struct nt_column columns[] = {
        {.id = 5, .field = 2, .representation = 1}, {.id = 1, .field = 2, .representation = 0},
        {.id = 3, .field = 0, .representation = 0}, {.id = 0, .field = 2, .representation = 0},
        {.id = 4, .field = 2, .representation = 1},
    };
    struct nt_file *file = BUILD(fields, columns);
    const struct nt_dataset *dataset = file->datasets[0];
    assert_ok(nt_dataset_link(file->datasets[0], &error));
    ck_assert_uint_eq(nt_field_column(dataset, 2, 0, 0), 3);
    ck_assert_uint_eq(nt_field_column(dataset, 2, 0, 1), 1);
    ck_assert_uint_eq(nt_field_column(dataset, 2, 1, 0), 4);
    ck_assert_uint_eq(nt_field_column(dataset, 2, 1, 1), 0);
    ck_assert_uint_eq(nt_field_column(dataset, 2, 2, 0), NT_NONE);
    ck_assert_uint_eq(nt_field_column(dataset, 2, 0, 2), NT_NONE);
    ck_assert_uint_eq(nt_field_column(dataset, 0, 0, 0), 2);
    ck_assert_uint_eq(nt_field_column(dataset, 1, 0, 0), NT_NONE);
    ck_assert_uint_eq(nt_field_representations(dataset, 2), 2);
    ck_assert_uint_eq(nt_field_representations(dataset, 0), 1);
    ck_assert_uint_eq(nt_field_representations(dataset, 1), 0);
    ck_assert(dataset->fields[0].owns_columns && !dataset->fields[1].owns_columns);
    ck_assert_uint_eq(dataset->columns[0].position, 1);
    ck_assert_uint_eq(dataset->columns[4].position, 0);
    nt_file_close(file);
}

TEST(columns_that_do_not_fit_together_are_refused, .end = 6)
{
    static const struct nt_field fields[] = {{.id = 0, .parent = NT_NONE}};
    static const struct nt_column lists[][6] = {
        {{.id = 0, .field = 1}, {.id = 1}, {.id = 2}, {.id = 3}, {.id = 4}, {.id = 5}}, /* no such field */
        {{.id = 0, .field = NT_NONE}, {.id = 1}, {.id = 2}, {.id = 3}, {.id = 4}, {.id = 5}},
        /* no first representation; one omitted; of 5 and 1; of 2, 1 and 3, which are as many as 2, 2 and 2 */
        {{.representation = 1},
         {.representation = 1},
         {.representation = 2},
         {.representation = 2},
         {.representation = 3},
         {.representation = 3}},
        {{.representation = 0},
         {.representation = 0},
         {.representation = 2},
         {.representation = 2},
         {.representation = 3},
         {.representation = 3}},
        {{.representation = 0},
         {.representation = 0},
         {.representation = 0},
         {.representation = 0},
         {.representation = 0},
         {.representation = 1}},
        {{.representation = 0},
         {.representation = 0},
         {.representation = 1},
         {.representation = 2},
         {.representation = 2},
         {.representation = 2}},
    };
    struct nt_file *file = BUILD(fields, lists[_i]);
    assert_status(NT_CORRUPT, nt_dataset_link(file->datasets[0], &error));
    nt_file_close(file);
}

/* ---- cluster groups ---- */

static atomic_int loads;
static enum nt_status next_load;

static enum nt_status load_at_once(struct nt_dataset *dataset, uint32_t number, struct nt_error *failure)
{
    atomic_fetch_add(&loads, 1);
    if (next_load != NT_OK)
        return nt_fail(failure, next_load, 100 + number, "group %u", number);
    struct nt_group *group = nt_group_slot(dataset, number);
    size_t ranges = (size_t)group->clusters * dataset->column_count;
    group->ranges = calloc(ranges, sizeof(*group->ranges));
    group->pages = calloc(ranges * 2, sizeof(*group->pages));
    ck_assert(group->ranges && group->pages);
    assert_ok(nt_budget_take(&dataset->file->budget, NT_COST_RANGE, ranges, 0, &error));
    assert_ok(nt_budget_take(&dataset->file->budget, NT_COST_PAGE, 2 * ranges, 0, &error));
    for (uint32_t i = 0; i < ranges; i++) { /* two pages each, of 10 + i and 3 elements */
        group->ranges[i] =
            (struct nt_range){.first_element = 1000 * number + i, .first_page = 2 * i, .pages = 2};
        group->pages[2 * i].elements = 10 + i;
        group->pages[2 * i + 1] = (struct nt_page){.first_element = 10 + i, .elements = 3};
    }
    group->page_count = ranges * 2;
    return NT_OK;
}

static enum nt_status load_group(struct nt_dataset *dataset, uint32_t number, struct nt_error *failure)
{
    usleep(1000); /* so that other threads arrive while it loads */
    return load_at_once(dataset, number, failure);
}

static const struct nt_dataset_ops ops = {.load_group = load_group};

enum { CLUSTERS_OF_ALL = 6 };

/* Two columns; groups of 2, 0, 1 and 3 clusters. */
static struct nt_file *build_groups(void)
{
    static const struct nt_field fields[] = {{.id = 0, .parent = NT_NONE}, {.id = 1, .parent = NT_NONE}};
    static const struct nt_column columns[] = {{.id = 0, .field = 0}, {.id = 1, .field = 1}};
    static const uint32_t clusters[] = {2, 0, 1, 3};
    struct nt_file *file = BUILD(fields, columns);
    struct nt_dataset *dataset = file->datasets[0];
    dataset->ops = &ops;
    assert_ok(nt_dataset_add_groups(dataset, LENGTH(clusters), CLUSTERS_OF_ALL, &error));
    for (uint32_t i = 0, first = 0; i < LENGTH(clusters); first += clusters[i++])
        dataset->groups.records[i] =
            (struct nt_group_record){.first_cluster = first, .clusters = clusters[i]};
    atomic_store(&loads, 0);
    next_load = NT_OK;
    return file;
}

TEST(a_range_comes_from_the_group_of_its_cluster)
{
    static const uint32_t groups[] = {0, 0, 2, 3, 3, 3}, first[] = {0, 0, 2, 3, 3, 3};
    struct nt_file *file = build_groups();
    struct nt_dataset *dataset = file->datasets[0];
    for (uint32_t cluster = 0; cluster < dataset->cluster_count; cluster++) {
        for (uint32_t column = 0; column < 2; column++) {
            const struct nt_range *range = NULL;
            uint32_t row = (cluster - first[cluster]) * 2 + column;
            assert_ok(column_range(dataset, cluster, column, &range, &error));
            ck_assert_uint_eq(range->first_element, 1000 * groups[cluster] + row);
            ck_assert_uint_eq(nt_range_elements(nt_group_slot(dataset, groups[cluster]), range), 13 + row);
        }
    }
    ck_assert_int_eq(atomic_load(&loads), 3);
    nt_file_close(file);
}

/* ---- released page lists ---- */

/* The same groups, whose lists are released by the load of the next one. */
static struct nt_file *build_releasing(void)
{
    static const struct nt_dataset_ops releasing = {.load_group = load_group, .reloads_groups = true};
    struct nt_file *file = build_groups();
    file->datasets[0]->ops = &releasing;
    file->datasets[0]->groups.list_bytes = UINT64_MAX / 2; /* memory is always short */
    return file;
}

static bool is_released(const struct nt_dataset *dataset, uint32_t group)
{
    return nt_group_is_known(dataset, group) && !nt_group_is_loaded(dataset, group);
}

TEST(a_list_without_a_pin_is_released_and_loaded_again)
{
    struct nt_file *file = build_releasing();
    struct nt_dataset *dataset = file->datasets[0];
    struct nt_group *first, *second, *last;
    assert_ok(nt_group_pin(dataset, 0, &first, &error));
    nt_group_unpin(first);
    assert_ok(nt_group_pin(dataset, 2, &second, &error));
    ck_assert(is_released(dataset, 0));
    ck_assert_ptr_null(nt_group_try_pin(dataset, 0));
    assert_ok(nt_dataset_load_group(dataset, 0, &error)); /* it was loaded once */
    ck_assert_int_eq(atomic_load(&loads), 2);
    assert_ok(nt_group_pin(dataset, 0, &first, &error));
    ck_assert_int_eq(atomic_load(&loads), 3);
    ck_assert_uint_eq(first->ranges[1].first_element, 1);
    ck_assert_uint_eq(second->ranges[1].first_element, 2001); /* pinned all the time */
    nt_group_unpin(first);
    nt_group_unpin(second);
    assert_ok(nt_group_pin(dataset, 3, &last, &error));
    ck_assert(is_released(dataset, 0) && is_released(dataset, 2));
    nt_group_unpin(last);
    ck_assert_uint_eq(dataset->groups.slot_count, 3); /* taken again for others */
    nt_file_close(file);
}

TEST(a_list_that_is_kept_or_costly_stays, .end = 2)
{
    struct nt_file *file = build_releasing();
    struct nt_dataset *dataset = file->datasets[0];
    struct nt_group *group;
    if (_i) {
        dataset->ops = &ops;
        dataset->groups.list_bytes = 0;
    }
    assert_ok(nt_group_pin(dataset, 0, &group, &error));
    if (_i)
        nt_group_unpin(group);
    else
        nt_group_keep(group);
    for (uint32_t number = 0; number < dataset->group_count; number++) {
        assert_ok(nt_group_pin(dataset, number, &group, &error));
        nt_group_unpin(group);
    }
    ck_assert(nt_group_is_loaded(dataset, 0));
    ck_assert(is_released(dataset, 2) == !_i);
    nt_file_close(file);
}

TEST(small_lists_stay_until_they_take_a_part_of_the_budget)
{
    struct nt_file *file = build_releasing();
    struct nt_dataset *dataset = file->datasets[0];
    uint64_t ranges = 4, pages = 8,
             bytes = ranges * nt_cost_info(NT_COST_RANGE)->bytes + pages * nt_cost_info(NT_COST_PAGE)->bytes;
    dataset->groups.list_bytes = 0;
    atomic_store(&file->budget.limit, 64 * bytes); /* exactly those of the first group */
    atomic_store(&file->budget.used, 0);
    assert_ok(nt_dataset_load_all(dataset, &error));
    ck_assert(atomic_load(&nt_group_slot(dataset, 0)->state) & NT_GROUP_KEPT);
    ck_assert(!(atomic_load(&nt_group_slot(dataset, 3)->state) & NT_GROUP_KEPT));
    nt_file_close(file);
}

/* Groups of one cluster each, in so many blocks, whose lists are released at once. */
static struct nt_file *build_blocks(uint32_t blocks)
{
    static const struct nt_field fields[] = {{.id = 0, .parent = NT_NONE}};
    static const struct nt_column columns[] = {{.id = 0, .field = 0}};
    static const struct nt_dataset_ops releasing = {.load_group = load_at_once, .reloads_groups = true};
    struct nt_file *file = BUILD(fields, columns);
    struct nt_dataset *dataset = file->datasets[0];
    uint32_t count = blocks * NT_BLOCK_GROUPS;
    assert_ok(nt_dataset_add_groups(dataset, count, count, &error));
    for (uint32_t i = 0; i < count; i++)
        dataset->groups.records[i] = (struct nt_group_record){.first_cluster = i, .clusters = 1};
    dataset->ops = &releasing;
    dataset->groups.list_bytes = UINT64_MAX / 2;
    next_load = NT_OK;
    return file;
}

TEST(groups_that_were_used_take_no_more_than_those_that_are)
{
    struct nt_file *file = build_blocks(100);
    struct nt_dataset *dataset = file->datasets[0];
    uint64_t used = nt_budget_used(&file->budget);
    assert_ok(nt_dataset_load_all(dataset, &error));
    uint64_t list = nt_cost_info(NT_COST_RANGE)->bytes + UINT64_C(2) * nt_cost_info(NT_COST_PAGE)->bytes,
             group = nt_cost_info(NT_COST_LOADED_GROUP)->bytes + list;
    ck_assert_uint_le(nt_budget_used(&file->budget),
                      used + UINT64_C(2) * nt_cost_info(NT_COST_GROUP_SLOT_MAP)->bytes + 3 * group);
    for (uint32_t i = 0; i < dataset->group_count; i++)
        ck_assert(nt_group_is_known(dataset, i));
    nt_file_close(file);
}

static void *pin_in_a_thread(void *argument)
{
    enum { ROUNDS = 20000, STRIDE = 77 };
    struct nt_dataset *dataset = argument;
    intptr_t bad = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t number = i * STRIDE % dataset->group_count;
        struct nt_group *group;
        bad += nt_group_pin(dataset, number, &group, NULL) != NT_OK || group->number != number ||
               group->ranges[0].first_element != 1000 * (uint64_t)number;
        nt_group_unpin(group);
    }
    return (void *)bad;
}

TEST(threads_pin_the_groups_that_they_ask_for)
{
    enum { THREADS = 4 };
    struct nt_file *file = build_blocks(8);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, pin_in_a_thread, file->datasets[0]), 0);
    for (int i = 0; i < THREADS; i++) {
        void *bad;
        pthread_join(threads[i], &bad);
        ck_assert_int_eq((intptr_t)bad, 0);
    }
    nt_file_close(file);
}

TEST(a_list_that_has_become_bad_is_an_error_of_the_next_use)
{
    struct nt_file *file = build_releasing();
    struct nt_dataset *dataset = file->datasets[0];
    assert_ok(nt_dataset_load_all(dataset, &error));
    ck_assert(is_released(dataset, 0));
    struct nt_group *group;
    next_load = NT_CHANGED; /* not remembered */
    assert_status(NT_CHANGED, nt_group_pin(dataset, 0, &group, &error));
    next_load = NT_CHECKSUM;
    assert_ok(nt_group_pin_readable(dataset, 0, &group, &error));
    ck_assert_ptr_null(group);
    next_load = NT_OK;
    assert_status(NT_CHECKSUM, nt_group_pin(dataset, 0, &group, &error));
    ck_assert_int_eq(nt_group_failure(dataset, 0)->status, NT_CHECKSUM);
    assert_status(NT_CHECKSUM, nt_dataset_load_group(dataset, 0, &error));
    nt_file_close(file);
}

TEST(a_cluster_holds_the_columns_of_its_column_group)
{
    static const uint32_t columns[] = {1, 3, 4};
    static const uint32_t numbers[] = {0, 1, NT_NONE, 2, NT_NONE - 1};
    static const bool holds[][6] = {{0, 1, 0, 1, 1, 0}, {0}, {1, 1, 1, 1, 1, 1}, {0}, {0}};
    struct nt_column_group groups[] = {{columns, LENGTH(columns)}, {columns, 0}};
    struct nt_cluster clusters[LENGTH(numbers)];
    const struct nt_dataset dataset = {.clusters = clusters,
                                       .cluster_count = LENGTH(clusters),
                                       .column_groups = groups,
                                       .column_group_count = LENGTH(groups)};
    for (uint32_t i = 0; i < LENGTH(clusters); i++) {
        clusters[i] = (struct nt_cluster){.column_group = numbers[i]};
        for (uint32_t column = 0; column < 6; column++)
            ck_assert_msg(nt_cluster_holds(&dataset, i, column) == holds[i][column], "cluster %u, column %u",
                          i, column);
    }
}

TEST(a_range_without_pages_has_no_elements)
{
    struct nt_group group = {0};
    ck_assert_uint_eq(nt_range_elements(&group, &(struct nt_range){.state = NT_RANGE_ABSENT}), 0);
}

TEST(a_group_is_loaded_once)
{
    struct nt_file *file = build_groups();
    struct nt_dataset *dataset = file->datasets[0];
    assert_ok(nt_dataset_load_group(dataset, 3, &error));
    assert_ok(nt_dataset_load_group(dataset, 3, &error));
    ck_assert_int_eq(atomic_load(&loads), 1);
    assert_ok(nt_dataset_load_all(dataset, &error));
    assert_ok(nt_dataset_load_all(dataset, NULL));
    ck_assert_int_eq(atomic_load(&loads), 4);
    nt_file_close(file);
}

TEST(what_is_wrong_with_a_group_is_remembered, .end = 5)
{
    static const enum nt_status statuses[] = {NT_CORRUPT, NT_CHECKSUM, NT_TRUNCATED, NT_UNSUPPORTED,
                                              NT_LIMIT};
    struct nt_file *file = build_groups();
    struct nt_dataset *dataset = file->datasets[0];
    next_load = statuses[_i];
    assert_status(statuses[_i], nt_dataset_load_group(dataset, 2, &error));
    next_load = NT_OK;
    assert_status(statuses[_i], nt_dataset_load_group(dataset, 2, &error));
    ck_assert_str_eq(error.message, "group 2 (at byte 102)");
    assert_status(statuses[_i], nt_dataset_load_group(dataset, 2, NULL));
    ck_assert_int_eq(atomic_load(&loads), 1);
    assert_ok(nt_dataset_load_group(dataset, 0, &error)); /* the others are not affected */
    assert_status(statuses[_i], nt_dataset_load_all(dataset, &error));
    const struct nt_range *range = NULL;
    assert_status(statuses[_i], column_range(dataset, 2, 0, &range, &error));
    ck_assert_ptr_null(range);
    nt_file_close(file);
}

TEST(a_limit_is_not_remembered_if_others_have_taken_the_memory)
{
    struct nt_file *file = build_groups();
    struct nt_dataset *dataset = file->datasets[0];
    uint64_t taken = atomic_load(&file->budget.limit) - nt_budget_used(&file->budget);
    struct nt_group *group;
    assert_ok(nt_budget_take(&file->budget, NT_COST_ENVELOPE_BYTE, taken, 0, &error));
    assert_status(NT_LIMIT, nt_dataset_load_group(dataset, 2, &error));
    assert_status(NT_LIMIT, nt_group_pin_readable(dataset, 2, &group, &error)); /* not a bad list */
    ck_assert_ptr_null(nt_group_failure(dataset, 2));
    nt_budget_release(&file->budget, NT_COST_ENVELOPE_BYTE, taken / 4);
    next_load = NT_LIMIT;
    assert_status(NT_LIMIT, nt_dataset_load_group(dataset, 2, &error));
    next_load = NT_OK;
    assert_ok(nt_dataset_load_group(dataset, 2, &error));
    nt_budget_release(&file->budget, NT_COST_ENVELOPE_BYTE, taken - taken / 4);
    nt_file_close(file);
}

struct reported {
    unsigned times;
    uint32_t group;
    struct nt_error failure;
};

static void note_group(void *context, const struct nt_dataset *dataset, uint32_t group,
                       const struct nt_error *failure)
{
    struct reported *reported = context;
    ck_assert_ptr_eq(dataset, dataset->file->datasets[0]);
    reported->times++;
    reported->group = group;
    reported->failure = *failure;
}

TEST(a_bad_group_is_reported_once_also_without_an_error_argument)
{
    struct nt_file *file = build_groups();
    struct reported reported = {0};
    file->on_group_failure = note_group;
    file->context = &reported;
    next_load = NT_IO; /* not the group's fault */
    assert_status(NT_IO, nt_dataset_load_group(file->datasets[0], 2, NULL));
    ck_assert_uint_eq(reported.times, 0);
    next_load = NT_CHECKSUM;
    for (int i = 0; i < 3; i++)
        assert_status(NT_CHECKSUM, nt_dataset_load_group(file->datasets[0], 2, NULL));
    ck_assert_uint_eq(reported.times, 1);
    ck_assert_uint_eq(reported.group, 2);
    ck_assert_str_eq(reported.failure.message, "group 2 (at byte 102)");
    nt_file_close(file);
}

static void note_slow_work(void *context)
{
    ck_assert_int_eq(atomic_load(&loads), 0); /* before */
    ++*(unsigned *)context;
}

TEST(loading_a_group_is_reported_before_and_not_after_it_is_loaded)
{
    struct nt_file *file = build_groups();
    unsigned calls = 0;
    file->before_blocking = note_slow_work;
    file->context = &calls;
    for (int i = 0; i < 3; i++)
        assert_ok(nt_dataset_load_group(file->datasets[0], 1, &error));
    ck_assert_uint_eq(calls, 1);
    nt_file_close(file);
}

TEST(a_failure_of_the_machine_is_tried_again, .end = 2)
{
    static const enum nt_status statuses[] = {NT_IO, NT_NO_MEMORY};
    struct nt_file *file = build_groups();
    struct nt_dataset *dataset = file->datasets[0];
    next_load = statuses[_i];
    assert_status(statuses[_i], nt_dataset_load_group(dataset, 0, &error));
    assert_status(statuses[_i], nt_dataset_load_group(dataset, 0, &error));
    ck_assert_int_eq(atomic_load(&loads), 2);
    next_load = NT_OK;
    assert_ok(nt_dataset_load_group(dataset, 0, &error));
    ck_assert_int_eq(atomic_load(&loads), 3);
    nt_file_close(file);
}

static void *load_in_a_thread(void *argument)
{
    struct nt_dataset *dataset = argument;
    enum nt_status worst = NT_OK;
    for (uint32_t i = 0; i < dataset->group_count; i++) {
        enum nt_status status = nt_dataset_load_group(dataset, i, NULL);
        if (status == NT_OK && !nt_group_slot(dataset, i)->ranges)
            status = NT_INVALID;
        worst = status > worst ? status : worst;
    }
    return (void *)(intptr_t)worst;
}

TEST(threads_that_come_together_share_one_load, .end = 2)
{
    enum { THREADS = 8 };
    static const enum nt_status statuses[] = {NT_OK, NT_CORRUPT};
    struct nt_file *file = build_groups();
    next_load = statuses[_i];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, load_in_a_thread, file->datasets[0]), 0);
    for (int i = 0; i < THREADS; i++) {
        void *worst;
        pthread_join(threads[i], &worst);
        ck_assert_int_eq((int)(intptr_t)worst, statuses[_i]);
    }
    ck_assert_int_eq(atomic_load(&loads), 4);
    nt_file_close(file);
}
