/* SPDX-License-Identifier: MIT
 *
 * Starting the program that fetches: why it cannot be.
 */
#include "io/fetch_start.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support.h"

static struct nt_error error;

static const struct {
    const char *program;
    enum nt_status status;
    int system_error;
    const char *message;
} programs[] = {
    {"", NT_UNSUPPORTED, 0, "without which ntuplefs was built (-Dhttp=enabled, libcurl, expat)"},
    {"/nonexistent/fetch", NT_UNSUPPORTED, 0, "remote files need /nonexistent/fetch, which is not installed"},
    {"/dev/null/fetch", NT_UNSUPPORTED, 0, "remote files need /dev/null/fetch, which is not installed"},
    {"/dev/null", NT_IO, EACCES, "/dev/null cannot be started"},
};

START_TEST(a_program_that_cannot_be_started_is_named)
{
    int channel = -1;
    assert_status(programs[_i].status, nt_fetch_start(programs[_i].program, &channel, &error));
    ck_assert_msg(strstr(error.message, programs[_i].message) != NULL, "%s", error.message);
    ck_assert_int_eq(error.system_error, programs[_i].system_error);
    ck_assert_int_eq(channel, -1);
}
END_TEST

/* Its end of the socket is its standard input alone: what ended is noticed. */
START_TEST(a_program_that_ends_at_once_is_started)
{
    int channel = -1;
    char byte;
    assert_ok(nt_fetch_start("/bin/true", &channel, &error));
    ck_assert_int_eq(recv(channel, &byte, 1, 0), 0);
    close(channel);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fetch_start");
    TCase *tests = tcase_create("fetch_start");
    tcase_add_loop_test(tests, a_program_that_cannot_be_started_is_named, 0,
                        sizeof(programs) / sizeof(*programs));
    tcase_add_test(tests, a_program_that_ends_at_once_is_started);
    suite_add_tcase(suite, tests);
    return nt_test_main(suite);
}
