/* SPDX-License-Identifier: MIT
 *
 * Helpers for tests that fork.
 */
#pragma once

#include <signal.h>
#include <unistd.h>

#include "core/base/sanitizer.h"

/* AddressSanitizer of clang before 17 and gcc before 14 does not lock its allocator around fork(). If
 * another thread allocates just then, the child hangs. Sanitized tests fork without such threads. */
enum { NT_MAY_FORK_BESIDE_THREADS = !NT_IS_SANITIZED };

/* Ends the child with SIGALRM after `seconds`. The handler of check would also kill the parent. */
static inline void nt_test_end_within(unsigned seconds)
{
    signal(SIGALRM, SIG_DFL);
    alarm(seconds);
}
