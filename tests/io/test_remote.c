/* SPDX-License-Identifier: MIT */
#include "io/remote.h"

#include <errno.h>
#include <string.h>

#include "io/source.h"
#include "support.h"

static struct nt_error error;

static const struct {
    const char *path;
    const char *named; /* in the message; NULL: a path like any other */
} paths[] = {
    {"root://server//file.root", "xrdcp"},
    {"ROOT://server//file.root", "xrdcp"},
    {"http://server/file.root", "curl"},
    {"https://server/file.root", "curl"},
    {"s3://bucket/file.root", "s3fs"},
    {"gs://bucket/file.root", "gcsfuse"},
    {"davs://server/file.root", "davix"},
    {"x-new+kind.2://server", "copy it"},
    {"file:///etc/passwd", "its path"},
    {"", NULL},
    {"nothing.root", NULL},
    {"://server", NULL},
    {"./http://server", NULL},
    {"http:/server", NULL},
    {"9p://server", NULL},
    {"a b://server", NULL},
};

START_TEST(addresses_are_told_from_paths)
{
    const char *path = paths[_i].path;
    enum nt_status expected = paths[_i].named ? NT_UNSUPPORTED : NT_NOT_FOUND;
    ck_assert_int_eq(nt_fail_path(&error, ENOENT, path), expected);
    ck_assert_int_eq(error.status, expected);
    ck_assert_msg(strncmp(error.message, path, strlen(path)) == 0, "%s", error.message);
    if (paths[_i].named)
        ck_assert_msg(strstr(error.message, paths[_i].named) != NULL, "%s", error.message);
    ck_assert_int_eq(nt_fail_path(NULL, ENOENT, path), expected);
    ck_assert_int_eq(nt_fail_path(&error, EACCES, path), NT_IO);
}
END_TEST

START_TEST(opening_an_address_says_so)
{
    struct nt_source *source;
    assert_status(NT_UNSUPPORTED, nt_source_open_file("https://server/file.root", &source, &error));
    ck_assert_msg(strstr(error.message, "remote files are not read") != NULL, "%s", error.message);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("remote");
    TCase *tests = tcase_create("remote");
    tcase_add_loop_test(tests, addresses_are_told_from_paths, 0, sizeof(paths) / sizeof(*paths));
    tcase_add_test(tests, opening_an_address_says_so);
    suite_add_tcase(suite, tests);
    return nt_test_main(suite);
}
