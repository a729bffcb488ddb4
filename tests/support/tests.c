/* SPDX-License-Identifier: MIT
 *
 * Runs the test cases that registered themselves.
 */
#include <stdio.h>
#include <string.h>

#include "support.h"

enum { EXIT_SKIPPED = 77 }; /* for meson */

static struct nt_test *tests;

void nt_test_add(struct nt_test *test)
{
    struct nt_test **link = &tests;
    while (*link)
        link = &(*link)->next;
    *link = test;
}

/* "cache" for ".../test_cache.c". */
static bool is_of(const struct nt_test *test, const char *name)
{
    const char *slash = strrchr(test->file, '/');
    const char *file = slash ? slash + 1 : test->file;
    size_t length = strlen(name);
    return strncmp(file, "test_", 5) == 0 && strncmp(file + 5, name, length) == 0 &&
           strcmp(file + 5 + length, ".c") == 0;
}

static bool is_requested(const struct nt_test *test, int count, char **names)
{
    bool is_found = count == 0;
    for (int i = 0; i < count; i++)
        is_found |= is_of(test, names[i]);
    return is_found;
}

static void add_to(Suite *suite, const struct nt_test *test)
{
    TCase *tcase = tcase_create(test->test->name);
    if (test->timeout > 0)
        tcase_set_timeout(tcase, test->timeout);
    tcase_add_checked_fixture(tcase, test->setup, test->teardown);
    bool is_loop = test->first || test->end;
    tcase_add_loop_test(tcase, test->test, test->first, is_loop ? test->end : 1);
    suite_add_tcase(suite, tcase);
}

int nt_test_run(const char *program, int count, char **names)
{
    /* A busy machine is no failure: meson's limits replace check's own limit of 4 seconds a case. */
    setenv("CK_DEFAULT_TIMEOUT", "120", 0);
    Suite *suite = suite_create(program);
    unsigned found = 0, skipped = 0;
    for (struct nt_test *test = tests; test; test = test->next)
        if (is_requested(test, count, names)) {
            if (!test->is_skipped)
                add_to(suite, test);
            skipped += test->is_skipped;
            found++;
        }
    if (found > 0 && skipped == found) {
        puts("skipped: these tests cannot run here");
        return EXIT_SKIPPED;
    }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_VERBOSE);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    if (found == 0)
        fprintf(stderr, "%s: there is no such test\n", count ? names[0] : program);
    return failed || found == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
