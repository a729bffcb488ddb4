/* SPDX-License-Identifier: MIT
 *
 * Tables: directories of arrays.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ntuple/format.h>

#include "blz_files.h"

START_TEST(a_table_has_its_columns_in_its_own_order)
{
    put_text("t/__rootdirs__", "{\"names\": [\"z\", \"a b\", \"inner\"], \"dirs\": {\"z\": \"elsewhere\"}}");
    put_text("t/__attrs__", "{\"title\": \"x\"}\n");
    put_integers("t/elsewhere");
    put_integers("t/a b");
    put_integers("t/stray");
    put_text("t/inner/__rootdirs__", "{\"names\": [\"deep\"]}");
    put_integers("t/inner/deep");
    struct nt_file *file = open_path("t");
    struct nt_dataset *dataset = file->datasets[0];
    uint32_t count;
    const uint32_t *top = nt_dataset_children(dataset, NT_NONE, &count);
    ck_assert_uint_eq(count, 3);
    ck_assert_str_eq(dataset->fields[top[0]].name.bytes, "z");
    ck_assert_str_eq(dataset->fields[top[1]].name.bytes, "a b");
    check_rows(dataset, "z", 0, 0);
    check_rows(dataset, "a b", 0, 0);
    check_rows(dataset, "inner/deep", 0, 0);
    close_file(file);
}
END_TEST

static void count_corrupt(void *context, const struct nt_error *failure)
{
    ck_assert_int_eq(failure->status, NT_CORRUPT);
    ++*(unsigned *)context;
}

START_TEST(columns_that_cannot_be_opened_are_told_also_where_all_are)
{
    put_text("t/__rootdirs__", "{\"names\": [\"inner\", \"gone\"]}");
    put_text("t/inner/__rootdirs__", "{\"names\": [\"gone\"]}");
    struct nt_file *file = open_path("t");
    unsigned told = 0;
    assert_ok(file->check(file, count_corrupt, &told, &error));
    ck_assert_uint_eq(told, 2);
    close_file(file);
    put_integers("t/gone");
    put_integers("t/inner/gone");
    file = open_path("t");
    told = 0;
    assert_ok(file->check(file, count_corrupt, &told, &error));
    ck_assert_uint_eq(told, 0);
    put_text("t/gone/__attrs__", "{");
    close_file(file);
    file = open_path("t");
    assert_ok(file->check(file, count_corrupt, &told, &error));
    ck_assert_uint_eq(told, 1);
    close_file(file);
}
END_TEST

START_TEST(a_column_that_cannot_be_opened_leaves_the_others)
{
    put_text("t/__rootdirs__", "{\"names\": [\"good\", \"gone\", \"odd\", \"..\", \"up\", \"/tmp\"], "
                               "\"dirs\": {\"up\": \"x/../../t/good\"}}");
    put_integers("t/good");
    put_integers("t/odd");
    put_text("t/odd/meta/storage", "{\"dtype\": \"int33\"}");
    struct nt_file *file = open_path("t");
    struct nt_dataset *dataset = file->datasets[0];
    check_rows(dataset, "good", 0, 0);
    for (uint32_t i = 1; i < dataset->field_count; i++) {
        ck_assert_int_eq(dataset->fields[i].kind, NT_FIELD_UNREADABLE);
        ck_assert_ptr_nonnull(dataset->fields[i].unreadable);
    }
    close_file(file);
}
END_TEST

START_TEST(a_column_that_is_shorter_fails_where_it_ends)
{
    put_text("t/__rootdirs__", "{\"names\": [\"long\", \"short\"]}");
    put_integers("t/long");
    put_integers("t/short");
    put_metadata("t/short", "int32", "[200]", CHUNK_ROWS);
    struct nt_file *file = open_path("t");
    check_rows(file->datasets[0], "long", 0, 0);
    check_rows(file->datasets[0], "short", 200, 350);
    close_file(file);
}
END_TEST

/* ---- directories that lead back, or out ---- */

static void put_link(const char *target, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    unlink(path);
    ck_assert_int_eq(symlink(target, path), 0);
}

static const char *reason(const struct nt_dataset *dataset, const char *field)
{
    const struct nt_field *found = &dataset->fields[find_field(dataset, field)];
    ck_assert_msg(found->unreadable != NULL, "%s can be read", field);
    return found->unreadable;
}

START_TEST(a_column_lies_below_its_table)
{
    static const char *const directories[] = {".",           "",       "inner/.", "./inner",
                                              "inner//deep", "inner/", "..",      "/"};
    char text[256];
    snprintf(text, sizeof(text), "{\"names\": [\"a\"], \"dirs\": {\"a\": \"%s\"}}", directories[_i]);
    put_text("t/__rootdirs__", text);
    put_integers("t/inner");
    put_integers("t/inner/deep");
    struct nt_file *file = open_path("t");
    ck_assert_uint_eq(file->datasets[0]->field_count, 1);
    snprintf(text, sizeof(text), "t: the column's directory, '%s'", directories[_i]);
    ck_assert_msg(strstr(reason(file->datasets[0], "a"), text) != NULL, "%s", reason(file->datasets[0], "a"));
    close_file(file);
}
END_TEST

START_TEST(a_directory_is_one_table_however_often_it_is_named)
{
    char name[256] = "t", names[300];
    for (unsigned depth = 0; depth < 20; depth++) { /* 2^20 tables, if each was read twice */
        snprintf(names, sizeof(names), "%s/__rootdirs__", name);
        put_text(names, "{\"names\": [\"a\", \"b\"], \"dirs\": {\"a\": \"x\", \"b\": \"x\"}}");
        strcat(name, "/x");
    }
    put_integers(name);
    struct nt_file *file = open_path("t");
    ck_assert_uint_eq(file->datasets[0]->field_count, 40);
    const char *why = reason(file->datasets[0], "b");
    ck_assert_msg(strstr(why, "t/x: the table is the same directory as 'x'") != NULL, "%s", why);
    check_rows(file->datasets[0], "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/b", 0,
               0); /* an array may be two columns */
    close_file(file);
}
END_TEST

START_TEST(a_link_back_is_told)
{
    put_text("t/__rootdirs__", "{\"names\": [\"good\", \"self\", \"inner\"]}");
    put_text("t/inner/__rootdirs__", "{\"names\": [\"back\", \"endless\"]}");
    put_integers("t/good");
    put_link(".", "t/self");
    put_link("../../t/inner/..", "t/inner/back");
    put_link("endless", "t/inner/endless");
    struct nt_file *file = open_path("t");
    struct nt_dataset *dataset = file->datasets[0];
    check_rows(dataset, "good", 0, 0);
    ck_assert_ptr_nonnull(strstr(reason(dataset, "self"), "t/self: the table is the same directory as ''"));
    ck_assert_ptr_nonnull(strstr(reason(dataset, "inner/back"), "t/inner/back: a link out of the directory"));
    ck_assert_ptr_nonnull(strstr(reason(dataset, "inner/endless"), "t/inner/endless"));
    close_file(file);
}
END_TEST

START_TEST(links_are_followed_within_the_data_set_only)
{
    put_text("t/__rootdirs__", "{\"names\": [\"within\", \"column\", \"chunk\", \"meta\"]}");
    put_integers("t/store");
    put_integers("t/chunk");
    put_integers("t/meta");
    put_integers("outside");
    put_link("store", "t/within");
    put_link("../outside", "t/column");
    put_link("../../../outside/data/__1.blp", "t/chunk/data/__1.blp");
    put_link("../../../outside/meta/storage", "t/meta/meta/storage");
    struct nt_file *file = open_path("t");
    struct nt_dataset *dataset = file->datasets[0];
    check_rows(dataset, "within", 0, 0);
    check_rows(dataset, "chunk", 100, 200);
    ck_assert_ptr_nonnull(
        strstr(reason(dataset, "column"), "t/column: a link out of the directory, to ../outside"));
    ck_assert_ptr_nonnull(
        strstr(reason(dataset, "meta"), "t/meta/meta/storage: a link out of the directory"));
    close_file(file);
}
END_TEST

START_TEST(a_data_set_whose_own_metadata_lies_elsewhere_is_refused_with_the_link)
{
    put_integers("a");
    put_integers("outside");
    put_link("../../outside/meta/storage", "a/meta/storage");
    ck_assert_int_eq(open_status("a"), NT_IO);
    ck_assert_ptr_nonnull(strstr(error.message, "a/meta/storage: a link out of the directory"));
}
END_TEST

START_TEST(the_number_of_columns_is_bounded)
{
    struct nt_buffer names = {0};
    nt_buffer_text(&names, "{\"names\": [\"c\"");
    for (unsigned i = 0; i < 5000; i++)
        nt_buffer_text(&names, ", \"c\"");
    nt_buffer_text(&names, "]}");
    put_file("t/__rootdirs__", names.bytes, names.length);
    nt_buffer_deinit(&names);
    struct nt_file *file;
    char path[4096];
    snprintf(path, sizeof(path), "%s/t", root);
    struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    options.metadata_bytes = 1 << 20;
    assert_status(NT_LIMIT, nt_file_open(path, &options, &file, &error));
    ck_assert_msg(strstr(error.message, "fields") != NULL, "%s", error.message);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("blz: directory");
    TCase *cases = tcase_create("tables");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, a_table_has_its_columns_in_its_own_order);
    tcase_add_test(cases, columns_that_cannot_be_opened_are_told_also_where_all_are);
    tcase_add_test(cases, a_column_that_cannot_be_opened_leaves_the_others);
    tcase_add_test(cases, a_column_that_is_shorter_fails_where_it_ends);
    tcase_add_loop_test(cases, a_column_lies_below_its_table, 0, 8);
    tcase_add_test(cases, a_directory_is_one_table_however_often_it_is_named);
    tcase_add_test(cases, a_link_back_is_told);
    tcase_add_test(cases, links_are_followed_within_the_data_set_only);
    tcase_add_test(cases, a_data_set_whose_own_metadata_lies_elsewhere_is_refused_with_the_link);
    tcase_add_test(cases, the_number_of_columns_is_bounded);
    suite_add_tcase(suite, cases);
    return nt_test_main(suite);
}
