/* SPDX-License-Identifier: MIT */
#include "remote/client/client.h"

#include "support.h"
#include "core/base/error.h"

enum { NOON = 43200000 };

static struct nt_error failure_of(enum nt_status status, const char *message)
{
    struct nt_error error = {0};
    nt_fail(&error, status, NT_NO_OFFSET, "%s", message);
    return error;
}

TEST(a_failure_holds_for_its_time_and_no_longer)
{
    struct nt_backoff backoff = {0};
    struct nt_error failure = failure_of(NT_UNREACHABLE, "x.org: no answer"), error = {0};
    ck_assert_int_eq(nt_backoff_check(&backoff, 0, &error), NT_OK);
    nt_backoff_note(&backoff, &failure, NOON);
    ck_assert_int_eq(nt_backoff_check(&backoff, NOON, &error), NT_UNREACHABLE);
    ck_assert_int_eq(error.status, NT_UNREACHABLE);
    ck_assert_str_eq(error.message, "x.org: no answer");
    ck_assert_int_eq(nt_backoff_check(&backoff, NOON + 999, NULL), NT_UNREACHABLE);
    ck_assert_int_eq(nt_backoff_check(&backoff, NOON + 1000, NULL), NT_OK);
    nt_backoff_deinit(&backoff);
}

TEST(the_last_failure_is_known_with_its_time)
{
    struct nt_backoff backoff = {0};
    struct nt_error first = failure_of(NT_UNREACHABLE, "first"), second = failure_of(NT_IO, "second"),
                    error = {0};
    nt_backoff_note(&backoff, &first, NOON);
    nt_backoff_note(&backoff, &second, NOON + 600);
    second = first; /* it has its own copy */
    ck_assert_int_eq(nt_backoff_check(&backoff, NOON + 1599, &error), NT_IO);
    ck_assert_str_eq(error.message, "second");
    ck_assert_int_eq(nt_backoff_check(&backoff, NOON + 1600, &error), NT_OK);
    nt_backoff_deinit(&backoff);
}

TEST(a_failure_of_the_caller_affects_no_other_caller)
{
    static const enum nt_status passing[] = {NT_NO_MEMORY, NT_CANCELED};
    struct nt_backoff backoff = {0};
    struct nt_error good = failure_of(NT_UNREACHABLE, "x.org: no answer"), error = {0};
    for (size_t i = 0; i < sizeof(passing) / sizeof(*passing); i++) {
        struct nt_error failure = failure_of(passing[i], "passing");
        nt_backoff_note(&backoff, &failure, NOON);
        ck_assert_int_eq(nt_backoff_check(&backoff, NOON, NULL), NT_OK);
    }
    nt_backoff_note(&backoff, &good, NOON);
    nt_backoff_note(&backoff, &(struct nt_error){.status = NT_CANCELED}, NOON + 1);
    ck_assert_int_eq(nt_backoff_check(&backoff, NOON + 1, &error), NT_UNREACHABLE);
    ck_assert_str_eq(error.message, "x.org: no answer");
    nt_backoff_deinit(&backoff);
}
