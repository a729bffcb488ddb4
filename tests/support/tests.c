/* SPDX-License-Identifier: MIT
 *
 * Runs the test cases that registered themselves.
 */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/sanitizer.h"
#include "support.h"

enum { EXIT_SKIPPED = 77 }; /* for meson */

static struct nt_test *tests;
static struct nt_test_file *files; /* that need processes */
static long case_thread;           /* runs all cases that share a process; 0: none is running */

void nt_test_add(struct nt_test *test)
{
    struct nt_test **link = &tests;
    while (*link)
        link = &(*link)->next;
    *link = test;
}

void nt_test_add_file(struct nt_test_file *file)
{
    file->next = files;
    files = file;
}

void nt_test_check_thread(const char *file, int line, const char *expression)
{
    if (!case_thread || syscall(SYS_gettid) == case_thread)
        return;
    fprintf(stderr, "%s:%d: %s in another thread or process\n", file, line, expression);
    _exit(EXIT_FAILURE);
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

static bool needs_process(const struct nt_test *test)
{
    bool is_needed = !NT_IS_SANITIZED || test->timeout > 0;
    for (const struct nt_test_file *file = files; file; file = file->next)
        is_needed |= strcmp(file->file, test->file) == 0;
    return is_needed;
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

/* Returns the number of failures. The caller gives up the suite. */
static int run(Suite *suite, bool has_processes)
{
    SRunner *runner = srunner_create(suite);
    if (!has_processes)
        srunner_set_fork_status(runner, CK_NOFORK);
    if (srunner_fork_status(runner) == CK_NOFORK) /* CK_FORK=no says so, too */
        case_thread = syscall(SYS_gettid);
    srunner_run_all(runner, CK_VERBOSE);
    case_thread = 0;
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed;
}

int nt_test_run(const char *program, int count, char **names)
{
    /* A busy machine is no failure: meson's limits replace check's own limit of 4 seconds a case. */
    setenv("CK_DEFAULT_TIMEOUT", "120", 0);
    setvbuf(stdout, NULL, _IOLBF, 0); /* forked processes print nothing twice */
    Suite *suites[2] = {NULL, NULL};  /* by needs_process() */
    unsigned found = 0, skipped = 0;
    for (struct nt_test *test = tests; test; test = test->next)
        if (is_requested(test, count, names)) {
            Suite **suite = &suites[needs_process(test)];
            if (!test->is_skipped && !*suite)
                *suite = suite_create(program);
            if (!test->is_skipped)
                add_to(*suite, test);
            skipped += test->is_skipped;
            found++;
        }
    if (found > 0 && skipped == found) {
        puts("skipped: these tests cannot run here");
        return EXIT_SKIPPED;
    }
    int failed = 0;
    for (int i = 0; i < COUNT_OF(suites); i++)
        if (suites[i])
            failed += run(suites[i], i);
    if (found == 0)
        fprintf(stderr, "%s: there is no such test\n", count ? names[0] : program);
    return failed || found == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
