/* SPDX-License-Identifier: MIT */
#include "temporary.h"

#include <ntuple/source.h>

static struct nt_error error;
static struct nt_source *source;

START_TEST(a_directory_has_attributes_but_no_bytes)
{
    struct stat attributes;
    char byte;
    assert_ok(nt_source_open_directory(temporary_directory, &source, &error));
    ck_assert_uint_eq(source->size, 0);
    assert_ok(nt_source_stat(source, &attributes, &error));
    ck_assert(S_ISDIR(attributes.st_mode));
    assert_ok(nt_source_read(source, 0, &byte, 0, &error));
    assert_status(NT_TRUNCATED, nt_source_read(source, 0, &byte, 1, &error));
    nt_source_close(source);
}
END_TEST

START_TEST(what_lies_in_it_may_change_but_not_the_directory)
{
    const char *path = temporary_path("d");
    ck_assert_int_eq(mkdir(path, 0700), 0);
    assert_ok(nt_source_open_directory(path, &source, &error));
    ck_assert_int_eq(mkdir(temporary_path("d/inner"), 0700), 0);
    assert_ok(nt_source_check(source, &error));
    ck_assert_int_eq(rename(path, temporary_path("moved")), 0);
    assert_status(NT_CHANGED, nt_source_check(source, &error));
    ck_assert_int_eq(mkdir(path, 0700), 0);
    assert_status(NT_CHANGED, nt_source_check(source, &error));
    nt_source_close(source);
}
END_TEST

START_TEST(only_directories_are_opened)
{
    assert_status(NT_INVALID, nt_source_open_directory(temporary_file("f", "", 0), &source, &error));
    assert_status(NT_NOT_FOUND, nt_source_open_directory(temporary_path("missing"), &source, &error));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("directory");
    TCase *cases = tcase_create("directory sources");
    tcase_add_checked_fixture(cases, temporary_setup, temporary_teardown);
    tcase_add_test(cases, a_directory_has_attributes_but_no_bytes);
    tcase_add_test(cases, what_lies_in_it_may_change_but_not_the_directory);
    tcase_add_test(cases, only_directories_are_opened);
    suite_add_tcase(suite, cases);
    return nt_test_main(suite);
}
