/* SPDX-License-Identifier: MIT
 *
 * A file's directories and data sets, and who is closed when.
 */
#include <string.h>

#include "builder.h"

static struct nt_error error;

/* A source that counts how often it is closed. */
static int closed;

static void count_close(struct nt_source *source)
{
    (void)source;
    closed++;
}

static const struct nt_source_ops source_ops = {.close = count_close};
static struct nt_source counted = {.ops = &source_ops, .path = "counted"};

START_TEST(a_new_file_has_the_root_directory_only)
{
    char path[] = "/a/file";
    struct nt_file *file;
    assert_ok(nt_file_new(path, &counted, &file, &error));
    path[1] = 'b'; /* the file has a copy */
    ck_assert_str_eq(file->path, "/a/file");
    ck_assert_ptr_eq(file->source, &counted);
    ck_assert_uint_eq(file->directory_count, 1);
    ck_assert_uint_eq(file->directories[0].parent, 0);
    ck_assert_uint_eq(file->directories[0].name.length, 0);
    ck_assert_uint_eq(file->dataset_count, 0);
    closed = 0;
    nt_file_close(file);
    ck_assert_int_eq(closed, 1);
}
END_TEST

START_TEST(directories_keep_copies_of_any_name)
{
    struct nt_file *file;
    assert_ok(nt_file_new("/f", &counted, &file, &error));
    char name[] = {'a', '\0', '/', '\xff'};
    for (uint32_t i = 1; i <= 100; i++) {
        ck_assert_uint_eq(nt_file_add_directory(file, i - 1, (struct nt_text){name, sizeof(name)}), i);
        name[0]++;
    }
    for (uint32_t i = 1; i <= 100; i++) {
        ck_assert_uint_eq(file->directories[i].parent, i - 1);
        ck_assert_uint_eq(file->directories[i].name.length, sizeof(name));
        ck_assert_int_eq(file->directories[i].name.bytes[0], (char)('a' + i - 1));
        ck_assert_mem_eq(file->directories[i].name.bytes + 1, "\0/\xff", 4);
    }
    nt_file_close(file);
}
END_TEST

START_TEST(pointers_to_data_sets_stay_valid)
{
    struct nt_file *file;
    struct nt_dataset *datasets[50];
    assert_ok(nt_file_new("/f", &counted, &file, &error));
    for (uint32_t i = 0; i < LENGTH(datasets); i++) {
        datasets[i] = nt_file_add_dataset(file);
        ck_assert_ptr_nonnull(datasets[i]);
    }
    for (uint32_t i = 0; i < LENGTH(datasets); i++) {
        ck_assert_ptr_eq(file->datasets[i], datasets[i]);
        ck_assert_ptr_eq(datasets[i]->file, file);
        ck_assert_uint_eq(datasets[i]->index, i);
        ck_assert_uint_eq(datasets[i]->attribute_of, NT_NONE);
        ck_assert(datasets[i]->is_newest_cycle);
    }
    nt_file_close(file);
}
END_TEST

START_TEST(a_data_set_keeps_a_copy_of_why_it_did_not_open)
{
    struct nt_file *file;
    assert_ok(nt_file_new("/f", &counted, &file, &error));
    struct nt_dataset *dataset = nt_file_add_dataset(file);
    ck_assert_ptr_nonnull(dataset);
    ck_assert_ptr_null(dataset->failure);
    nt_fail(&error, NT_UNSUPPORTED, 7, "feature flag 137");
    nt_dataset_set_failure(dataset, &error);
    memset(&error, 0, sizeof(error));
    ck_assert_int_eq(dataset->failure->status, NT_UNSUPPORTED);
    ck_assert_str_eq(dataset->failure->message, "feature flag 137 (at byte 7)");
    nt_file_close(file);
}
END_TEST

static char order[8];

static void close_dataset(struct nt_dataset *dataset)
{
    strcat(order, dataset->index ? "1" : "0");
    ck_assert_ptr_nonnull(dataset->arena);
}

static void close_file(struct nt_file *file)
{
    strcat(order, "f");
    ck_assert_int_eq(closed, 0); /* its source is still open */
    ck_assert_ptr_nonnull(file->arena);
}

START_TEST(formats_are_asked_to_close_before_their_memory_goes)
{
    static const struct nt_dataset_ops ops = {.close = close_dataset};
    struct nt_file *file;
    assert_ok(nt_file_new("/f", &counted, &file, &error));
    nt_file_add_dataset(file)->ops = &ops;
    nt_file_add_dataset(file)->ops = &ops;
    file->close = close_file;
    closed = 0;
    nt_file_close(file);
    ck_assert_str_eq(order, "01f");
    ck_assert_int_eq(closed, 1);
}
END_TEST

START_TEST(closing_nothing_is_allowed)
{
    nt_file_close(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("file");
    TCase *cases = tcase_create("file");
    tcase_add_test(cases, a_new_file_has_the_root_directory_only);
    tcase_add_test(cases, directories_keep_copies_of_any_name);
    tcase_add_test(cases, pointers_to_data_sets_stay_valid);
    tcase_add_test(cases, a_data_set_keeps_a_copy_of_why_it_did_not_open);
    tcase_add_test(cases, formats_are_asked_to_close_before_their_memory_goes);
    tcase_add_test(cases, closing_nothing_is_allowed);
    suite_add_tcase(suite, cases);
    return nt_test_main(suite);
}
