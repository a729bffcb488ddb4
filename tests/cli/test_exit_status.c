/* SPDX-License-Identifier: MIT
 *
 * The exit status of each failure, and that --help lists each.
 */
#include "cli/cli.h"

#include <string.h>

#include "support.h"

TEST(only_success_is_0_and_all_leave_room_for_the_shell)
{
    ck_assert_int_eq(nt_exit_status(NT_OK), 0);
    for (enum nt_status status = NT_OK + 1; status <= NT_INCOMPATIBLE; status++)
        ck_assert_msg(nt_exit_status(status) > 0 && nt_exit_status(status) < 126, "%s",
                      nt_status_name(status));
    ck_assert_int_eq(nt_exit_status(NT_INCOMPATIBLE + 1), NT_EXIT_INTERNAL);
}

TEST(damaged_unreadable_unknown_and_unsupported_are_distinguished)
{
    ck_assert_int_eq(nt_exit_status(NT_CHECKSUM), 5);
    ck_assert_int_eq(nt_exit_status(NT_CORRUPT), 5);
    ck_assert_int_eq(nt_exit_status(NT_TRUNCATED), 5);
    ck_assert_int_eq(nt_exit_status(NT_IO), 2);
    ck_assert_int_eq(nt_exit_status(NT_NOT_FOUND), 2);
    ck_assert_int_eq(nt_exit_status(NT_NOT_THIS_FORMAT), 3);
    ck_assert_int_eq(nt_exit_status(NT_UNSUPPORTED), 4);
    ck_assert_int_eq(nt_exit_status(NT_INVALID), 1);
    ck_assert_int_eq(nt_exit_status(NT_INCOMPATIBLE), 5);
    ck_assert_int_eq(nt_exit_status(NT_UNREACHABLE), 9);
    ck_assert_int_eq(NT_EXIT_UNREAD, 10); /* not the status of a failure, but verify's own */
}

TEST(help_explains_every_number)
{
    char text[4096] = "", line[32];
    FILE *stream = fmemopen(text, sizeof(text), "w");
    nt_exit_status_help(stream);
    fclose(stream);
    for (int status = 0; status < NT_EXIT_COUNT; status++) {
        snprintf(line, sizeof(line), "\n  %d  ", status);
        ck_assert_ptr_nonnull(strstr(text, line));
    }
    ck_assert_ptr_null(strstr(text, "(null)"));
}
