/* SPDX-License-Identifier: MIT
 *
 * Support for all unit tests: test cases that register themselves, and assertions about statuses.
 */
#pragma once

#include <check.h>
#include <stdlib.h>

#include "core/base/error.h"

/* Check records the location of each successful assertion for crash reports. This takes most of the
 * time of loops with a million assertions. A debugger and the sanitizers report more. */
#define _mark_point(file, line) ((void)0)

/* Without a process of its own, a failed case ends with longjmp(), which works in its own thread only. */
#define _ck_assert_failed(file, line, expression, ...)                                                       \
    (nt_test_check_thread(file, line, expression), _ck_assert_failed(file, line, expression, __VA_ARGS__))

/* A test case. Each runs in its own process. A sanitizer makes that slow, so there cases share the process of
 * the program, unless they have a time limit or their file says NEEDS_PROCESSES. */
struct nt_test {
    const char *file;       /* its source file */
    const TTest *test;      /* its name and function */
    void (*setup)(void);    /* runs before it in the same process; may be NULL */
    void (*teardown)(void); /* runs after it */
    int first, end;         /* runs once for each _i in [first, end); both 0: once */
    double timeout;         /* in seconds; 0: CK_DEFAULT_TIMEOUT, or 120 */
    bool is_skipped;        /* it cannot run here */
    struct nt_test *next;
};

/* A file of test cases that always run in their own processes. */
struct nt_test_file {
    const char *file;
    struct nt_test_file *next;
};

/* For TEST and NEEDS_PROCESSES only. The caller owns the argument, which must not move. */
void nt_test_add(struct nt_test *test);
void nt_test_add_file(struct nt_test_file *file);
/* For failed assertions only: reports one that is not in the thread of its case, and ends the program. */
void nt_test_check_thread(const char *file, int line, const char *expression);
/* Runs the test cases of test_NAME.c for each of the names, or all tests without names. Prints a line
 * for each. Returns the exit status, which is a failure if no test exists. */
int nt_test_run(const char *program, int count, char **names);

/* Defines and registers a test: TEST(name) {...} or TEST(name, .setup = setup, .end = COUNT) {...} */
#define TEST(function, ...)                                                                                  \
    static void function##_body(int _i);                                                                     \
    static const TTest function##_test = {#function, function##_body, __FILE__, __LINE__};                   \
    __attribute__((constructor)) static void function##_register(void)                                       \
    {                                                                                                        \
        static struct nt_test test;                                                                          \
        test = (struct nt_test){.file = __FILE__, .test = &function##_test, ##__VA_ARGS__};                  \
        nt_test_add(&test);                                                                                  \
    }                                                                                                        \
    static void function##_body(int _i __attribute__((unused)))

/* Once in a test file: one case would spoil the next one, for the reason given. Prefer a setup that resets
 * what a case changes. */
#define NEEDS_PROCESSES(reason)                                                                              \
    _Static_assert(sizeof(reason) > 1, "say why");                                                           \
    __attribute__((constructor)) static void register_file(void)                                             \
    {                                                                                                        \
        static struct nt_test_file file = {.file = __FILE__};                                                \
        nt_test_add_file(&file);                                                                             \
    }                                                                                                        \
    _Static_assert(true, "a semicolon follows")

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof(*(array))))

#define assert_ok(expression)                                                                                \
    do {                                                                                                     \
        error = (struct nt_error){0};                                                                        \
        enum nt_status status_ = (expression);                                                               \
        ck_assert_msg(status_ == NT_OK, "%s: %s: %s", #expression, nt_status_name(status_), error.message);  \
    } while (0)

#define assert_status(expected, expression)                                                                  \
    do {                                                                                                     \
        error = (struct nt_error){0};                                                                        \
        enum nt_status status_ = (expression);                                                               \
        ck_assert_msg(status_ == (expected), "%s: %s instead of %s: %s", #expression,                        \
                      nt_status_name(status_), nt_status_name(expected), error.message);                     \
    } while (0)
