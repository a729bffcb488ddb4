/* SPDX-License-Identifier: MIT
 *
 * The numbers and the text of the version agree.
 */
#include <stdio.h>

#include <ntuple/version.h>

#include "support.h"

TEST(numbers_and_text_say_the_same)
{
    char text[64];
    snprintf(text, sizeof(text), "%d.%d.%d", NT_VERSION_MAJOR, NT_VERSION_MINOR, NT_VERSION_PATCH);
    ck_assert_str_eq(NT_VERSION_TEXT, text);
    ck_assert_str_eq(NT_VERSION_TEXT, PROJECT_VERSION);
    ck_assert_str_eq(nt_version(), NT_VERSION_TEXT);
}
