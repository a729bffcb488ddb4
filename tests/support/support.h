/* SPDX-License-Identifier: MIT
 *
 * What every unit test shares: its main function and assertions about statuses.
 */
#ifndef NT_TESTS_SUPPORT_H
#define NT_TESTS_SUPPORT_H

#include <check.h>
#include <stdlib.h>

#include "core/base/error.h"
#include <ntuple/error.h>

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

/* A busy machine is no failure: check's own limit of 4 seconds a case is left to meson's limits. Test cases
 * take it from the environment when they are made. */
__attribute__((constructor)) static void nt_test_be_patient(void)
{
    setenv("CK_DEFAULT_TIMEOUT", "120", 0);
}

/* Run a suite and return the exit status for main. Prints a line for each test case. */
static inline int nt_test_main(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_VERBOSE);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
