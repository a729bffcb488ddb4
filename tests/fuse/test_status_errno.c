/* SPDX-License-Identifier: MIT
 *
 * The errno value of every status.
 */
#include "fuse/operations.h"

#include <errno.h>

#include "support.h"

TEST(every_failure_has_an_errno)
{
    ck_assert_int_eq(nt_status_errno(NT_OK), 0);
    for (enum nt_status status = NT_OK + 1; status <= NT_INCOMPATIBLE; status++)
        ck_assert_msg(nt_status_errno(status) > 0, "%s", nt_status_name(status));
    ck_assert_int_eq(nt_status_errno(NT_INCOMPATIBLE + 1), EIO);
}

TEST(wrong_bytes_are_an_input_output_error)
{
    static const enum nt_status wrong[] = {NT_CHECKSUM, NT_CORRUPT, NT_TRUNCATED, NT_UNSUPPORTED, NT_LIMIT};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        ck_assert_int_eq(nt_status_errno(wrong[i]), EIO);
    ck_assert_int_eq(nt_status_errno(NT_NOT_FOUND), ENOENT);
    ck_assert_int_eq(nt_status_errno(NT_CHANGED), ESTALE);
    ck_assert_int_eq(nt_status_errno(NT_UNREACHABLE), EIO);
}

TEST(what_is_forbidden_is_no_damage)
{
    struct nt_error forbidden = {.system_error = EACCES}, broken = {.system_error = EIO}, none = {0};
    ck_assert_int_eq(nt_failure_errno(NT_IO, &forbidden), EACCES);
    ck_assert_int_eq(nt_failure_errno(NT_UNREACHABLE, &forbidden), EACCES);
    ck_assert_int_eq(nt_failure_errno(NT_CORRUPT, &forbidden), EIO);
    ck_assert_int_eq(nt_failure_errno(NT_IO, &broken), EIO);
    ck_assert_int_eq(nt_failure_errno(NT_IO, &none), EIO);
    ck_assert_int_eq(nt_failure_errno(NT_NOT_FOUND, &none), ENOENT);
}
