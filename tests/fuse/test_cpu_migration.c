/* SPDX-License-Identifier: MIT
 *
 * The CPU of a thread after it has moved, and its affinity mask.
 */
#include <sched.h>

#include "fuse/operations.h"
#include "support.h"

TEST(a_thread_moves_and_may_run_where_it_might_before)
{
    cpu_set_t before, after;
    ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
    bool has_moved = CPU_COUNT(&before) == 1;
    for (int tries = 0; tries < 100 && !has_moved; tries++) {
        int processor = sched_getcpu();
        nt_cpu_migrate();
        has_moved =
            sched_getcpu() != processor; /* the kernel may have moved it meanwhile, but not every time */
    }
    ck_assert(has_moved);
    ck_assert_int_eq(sched_getaffinity(0, sizeof(after), &after), 0);
    ck_assert(CPU_EQUAL(&before, &after));
}

TEST(a_thread_that_may_run_on_one_stays)
{
    cpu_set_t before, only, after;
    ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
    int processor = sched_getcpu();
    CPU_ZERO(&only);
    CPU_SET(processor, &only);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(only), &only), 0);
    nt_cpu_migrate();
    ck_assert_int_eq(sched_getcpu(), processor);
    ck_assert_int_eq(sched_getaffinity(0, sizeof(after), &after), 0);
    ck_assert(CPU_EQUAL(&only, &after));
    ck_assert_int_eq(sched_setaffinity(0, sizeof(before), &before), 0);
}
