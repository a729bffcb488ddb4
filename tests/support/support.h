/* SPDX-License-Identifier: MIT
 *
 * What every unit test uses: test cases that register themselves, and assertions about statuses.
 */
#ifndef NT_TESTS_SUPPORT_H
#define NT_TESTS_SUPPORT_H

#include <check.h>
#include <stdlib.h>

#include "core/base/error.h"

/* Check writes down where each assertion that holds stands, for reports of crashes. Loops of a million assertions took most of the
 * time of the tests; a debugger and the sanitizers tell more of a crash. */
#define _mark_point(file, line) ((void)0)

/* A test case. Each runs in a process of its own. */
struct nt_test {
    const char *file;       /* where it stands */
    const TTest *test;      /* its name and function */
    void (*setup)(void);    /* run before it in the same process; NULL: nothing */
    void (*teardown)(void); /* run after it */
    int first, end;         /* run it once for each _i in [first, end); both 0: once */
    double timeout;         /* in seconds; 0: CK_DEFAULT_TIMEOUT, or 120 */
    bool is_skipped;        /* it cannot run here */
    struct nt_test *next;
};

/* For TEST. The test stays the caller's, and in place. */
void nt_test_add(struct nt_test *test);
/* Run the test cases that stand in test_NAME.c for one of the names, all where there are none. Prints a line for each and returns
 * the exit status: failure, too, where there are none. */
int nt_test_run(const char *program, int count, char **names);

/* Define and register a test case: TEST(name) { ... } or TEST(name, .setup = set_up, .end = COUNT) { ... }. */
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

#endif
