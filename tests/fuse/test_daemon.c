/* SPDX-License-Identifier: MIT
 *
 * The exit status of the process that starts the daemon: 0 when the daemon is ready, else the daemon's.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuse/mount.h"
#include "support.h"

enum { DEATH_STATUS = 77 };

static void be_ready(struct nt_background *background)
{
    nt_background_ready(background);
    exit(0);
}

static void be_ready_and_fail_later(struct nt_background *background)
{
    nt_background_ready(background);
    exit(9);
}

static void end_early(struct nt_background *background)
{
    exit(9);
}

/* Nobody waits for the end of a daemon that closed the pipe: a process of its own may live on. */
static void forget(struct nt_background *background)
{
    nt_background_forget(background);
    nt_background_ready(background); /* no reader */
    exit(5);
}

static void die(struct nt_background *background)
{
    raise(SIGKILL);
}

static const struct {
    void (*run)(struct nt_background *background);
    int expected;
} children[] = {
    {be_ready, 0}, {be_ready_and_fail_later, 0}, {end_early, 9}, {forget, 5}, {die, DEATH_STATUS}};

TEST(the_exit_status_is_that_of_the_process_in_the_background, .end = sizeof(children) / sizeof(*children))
{
    struct nt_background background = NT_FOREGROUND;
    int exit_status = -1;
    enum nt_background_role role = nt_background_start(&background, DEATH_STATUS, &exit_status);
    ck_assert_int_ne(role, NT_BACKGROUND_FAILED);
    if (role == NT_BACKGROUND_CHILD)
        children[_i].run(&background);
    ck_assert_int_eq(exit_status, children[_i].expected);
    ck_assert_int_eq(background.ready_pipe, -1);
}
