/* SPDX-License-Identifier: MIT
 *
 * The physical dataset is built once, on first use.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "builder.h"

static struct nt_error error;
static atomic_int additions;
static enum nt_status next_addition;

static enum nt_status add_physical(struct nt_dataset *dataset, struct nt_error *failure)
{
    struct nt_dataset *physical, *structure;
    atomic_fetch_add(&additions, 1);
    usleep(1000); /* so that other threads arrive meanwhile */
    if (next_addition != NT_OK)
        return nt_fail(failure, next_addition, 7, "no physical columns");
    assert_ok(nt_dataset_new_physical(dataset, &physical, &error));
    assert_ok(nt_dataset_new_physical(dataset, &structure, &error));
    dataset->physical = physical;
    dataset->levels = structure;
    return NT_OK;
}

static struct nt_file *build(void)
{
    static const struct nt_dataset_ops ops = {.add_physical = add_physical};
    static const struct nt_field fields[] = {{.id = 0, .parent = NT_NONE}};
    static const struct nt_column columns[] = {{.id = 0, .field = 0, .physical = 5}};
    struct nt_file *file = BUILD(fields, columns);
    file->datasets[0]->ops = &ops;
    atomic_store(&additions, 0);
    next_addition = NT_OK;
    return file;
}

TEST(a_dataset_with_the_files_columns_is_its_own_physical_dataset)
{
    struct nt_file *file = build_file(NULL, 0, NULL, 0);
    struct nt_dataset *dataset = file->datasets[0], *physical;
    assert_ok(nt_dataset_physical(dataset, &physical, &error));
    ck_assert_ptr_eq(physical, dataset);
    ck_assert_ptr_null(dataset->levels);
    ck_assert_uint_eq(nt_physical_column(dataset, 3), 3);
    nt_file_close(file);
}

TEST(the_physical_dataset_is_built_once_on_first_use)
{
    struct nt_file *file = build();
    struct nt_dataset *dataset = file->datasets[0], *physical, *again;
    ck_assert_uint_eq(nt_physical_column(dataset, 0), 5); /* it is known nevertheless */
    ck_assert_int_eq(atomic_load(&additions), 0);
    assert_ok(nt_dataset_physical(dataset, &physical, &error));
    assert_ok(nt_dataset_physical(dataset, &again, NULL));
    ck_assert_int_eq(atomic_load(&additions), 1);
    ck_assert_ptr_ne(physical, dataset);
    ck_assert_ptr_eq(physical, again);
    ck_assert_ptr_eq(physical->logical, dataset);
    ck_assert_ptr_nonnull(dataset->levels);
    nt_file_close(file);
}

TEST(a_physical_dataset_is_its_own_physical_dataset)
{
    struct nt_file *file = build();
    struct nt_dataset *physical, *of_stored;
    assert_ok(nt_dataset_physical(file->datasets[0], &physical, &error));
    assert_ok(nt_dataset_physical(physical, &of_stored, &error));
    ck_assert_ptr_eq(of_stored, physical);
    nt_file_close(file);
}

TEST(a_failure_of_the_physical_dataset_is_remembered)
{
    struct nt_file *file = build();
    struct nt_dataset *physical = NULL;
    next_addition = NT_LIMIT;
    assert_status(NT_LIMIT, nt_dataset_physical(file->datasets[0], &physical, NULL));
    next_addition = NT_OK;
    assert_status(NT_LIMIT, nt_dataset_physical(file->datasets[0], &physical, &error));
    ck_assert_str_eq(error.message, "no physical columns (at byte 7)");
    ck_assert_int_eq(atomic_load(&additions), 1);
    ck_assert_ptr_null(physical);
    nt_file_close(file);
}

TEST(a_physical_dataset_is_retried_after_an_environmental_failure)
{
    struct nt_file *file = build();
    struct nt_dataset *physical;
    next_addition = NT_NO_MEMORY;
    assert_status(NT_NO_MEMORY, nt_dataset_physical(file->datasets[0], &physical, &error));
    next_addition = NT_OK;
    assert_ok(nt_dataset_physical(file->datasets[0], &physical, &error));
    nt_file_close(file);
}

static void *ask_in_a_thread(void *dataset)
{
    struct nt_dataset *physical = NULL;
    return nt_dataset_physical(dataset, &physical, NULL) == NT_OK ? physical : NULL;
}

TEST(concurrent_threads_get_the_same_physical_dataset)
{
    enum { THREADS = 8 };
    struct nt_file *file = build();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_in_a_thread, file->datasets[0]), 0);
    for (int i = 0; i < THREADS; i++) {
        void *physical;
        pthread_join(threads[i], &physical);
        ck_assert_ptr_nonnull(physical);
        ck_assert_ptr_eq(physical, file->datasets[0]->physical);
    }
    ck_assert_int_eq(atomic_load(&additions), 1);
    nt_file_close(file);
}
