/* SPDX-License-Identifier: MIT
 *
 * In: the arguments. Out: a process without descriptors that nobody asked it to have. Numbers between those
 * that stay are closed by ranges: there may be millions of them.
 */
#include "fuse/background.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FIRST = STDERR_FILENO + 1 };

/* Linux before 5.9 has no call for it. */
static void close_between(unsigned first, unsigned last)
{
    struct rlimit limit;
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, last, 0) == 0)
        return;
#endif
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX)
        limit.rlim_cur = INT_MAX;
    for (unsigned descriptor = first; descriptor <= last && descriptor < limit.rlim_cur; descriptor++)
        close((int)descriptor);
}

/* The descriptor that an argument names; -1: none. */
static int named(const char *argument)
{
    int descriptor, length = -1;
    if (sscanf(argument, "/dev/fd/%9d%n", &descriptor, &length) != 1 &&
        sscanf(argument, "/proc/self/fd/%9d%n", &descriptor, &length) != 1)
        return -1;
    bool is_end = argument[length] == '\0' || argument[length] == '/';
    return is_end && descriptor >= FIRST ? descriptor : -1;
}

/* The lowest from `first` on that is named; -1: none is. */
static int next_named(int argument_count, char *const *arguments, int first)
{
    int next = -1;
    for (int i = 1; i < argument_count; i++) {
        int descriptor = named(arguments[i]);
        if (descriptor >= first && (next < 0 || descriptor < next))
            next = descriptor;
    }
    return next;
}

void nt_inherited_close(int argument_count, char *const *arguments)
{
    int first = FIRST, kept;
    while ((kept = next_named(argument_count, arguments, first)) >= 0) {
        if (kept > first)
            close_between((unsigned)first, (unsigned)kept - 1);
        first = kept + 1;
    }
    close_between((unsigned)first, UINT_MAX);
}
