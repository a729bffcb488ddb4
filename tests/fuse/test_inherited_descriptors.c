/* SPDX-License-Identifier: MIT
 *
 * Which inherited descriptors stay open: those that an argument names.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuse/mount.h"
#include "support.h"

enum { LOWEST = 20, HIGHEST = 30, MAX_ARGUMENTS = 5 };

static const struct {
    const char *arguments[MAX_ARGUMENTS];
    unsigned kept; /* a bit for each from LOWEST on */
} cases[] = {
    {{"/data/x.root", "/mnt"}, 0},
    {{"/dev/fd/22"}, 1 << 2},
    {{"/proc/self/fd/23/below", "/mnt"}, 1 << 3},
    {{"/dev/fd/29", "/proc/self/fd/21", "/dev/fd/25"}, 1 << 9 | 1 << 1 | 1 << 5},
    {{"/dev/fd/22", "/dev/fd/22"}, 1 << 2},
    {{"/dev/fd/20", "/dev/fd/21", "/dev/fd/22"}, 1 << 0 | 1 << 1 | 1 << 2}, /* nothing between them */
    {{"/dev/fd/22x", "/dev/fd/", "/dev/fd/-22", "/dev/fd/2", "22"}, 0},
    {{"/dev/fd/24x", "/dev/fd/24"}, 1 << 4},
    {{"-oselect=/dev/fd/28,index=/dev/fd/22", "--select=Events:/proc/self/fd/24"}, 1 << 8 | 1 << 2 | 1 << 4},
    {{"--select=/tmp/dev/fd/22", "x/dev/fd/23"}, 0},
};

/* In a process of its own, whose exit status is 0 if all is as expected. */
static int open_afterwards(int number)
{
    static char program[] = "ntuplefs";
    char *arguments[1 + MAX_ARGUMENTS] = {program};
    int count = 1, wrong = 0;
    for (int i = 0; i < MAX_ARGUMENTS && cases[number].arguments[i]; i++)
        arguments[count++] = (char *)cases[number].arguments[i];
    for (int descriptor = LOWEST; descriptor <= HIGHEST; descriptor++)
        if (dup2(STDIN_FILENO, descriptor) < 0)
            return 100;
    nt_close_inherited(count, arguments);
    for (int descriptor = LOWEST; descriptor <= HIGHEST; descriptor++)
        wrong += (fcntl(descriptor, F_GETFD) >= 0) != (cases[number].kept >> (descriptor - LOWEST) & 1);
    for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; standard++)
        wrong += fcntl(standard, F_GETFD) < 0;
    return wrong;
}

TEST(what_no_argument_names_is_closed, .end = sizeof(cases) / sizeof(*cases))
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        exit(open_afterwards(_i));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
