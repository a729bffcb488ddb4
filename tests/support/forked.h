/* SPDX-License-Identifier: MIT
 *
 * For tests that fork.
 */
#ifndef NT_TESTS_FORKED_H
#define NT_TESTS_FORKED_H

#include <signal.h>
#include <unistd.h>

#include "core/base/sanitizer.h"

/* AddressSanitizer of clang before 17 and of gcc before 14 does not take its allocator's locks before fork(). Where another
 * thread allocates at that moment, the forked process waits for ever. Tests fork without such threads there. */
enum { NT_MAY_FORK_BESIDE_THREADS = !NT_IS_SANITIZED };

/* The forked process ends with SIGALRM after so many seconds. Without this, check's own handler kills the parent, too. */
static inline void nt_test_end_within(unsigned seconds)
{
    signal(SIGALRM, SIG_DFL);
    alarm(seconds);
}

#endif
