/* SPDX-License-Identifier: MIT
 *
 * The version's numbers and its texts are one.
 */
#include <stdio.h>

#include <ntuple/version.h>

#include "support.h"

START_TEST(numbers_and_text_say_the_same)
{
    char text[64];
    snprintf(text, sizeof(text), "%d.%d.%d", NT_VERSION_MAJOR, NT_VERSION_MINOR, NT_VERSION_PATCH);
    ck_assert_str_eq(NT_VERSION_TEXT, text);
    ck_assert_str_eq(NT_VERSION_TEXT, PROJECT_VERSION);
    ck_assert_str_eq(nt_version(), NT_VERSION_TEXT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("version");
    TCase *cases = tcase_create("version");
    tcase_add_test(cases, numbers_and_text_say_the_same);
    suite_add_tcase(suite, cases);
    return nt_test_main(suite);
}
