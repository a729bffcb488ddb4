/* SPDX-License-Identifier: MIT
 *
 * The time slice of a thread, as the kernel reports it. Before Linux 6.12 it is 0 and cannot be set.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fuse/operations.h"
#include "support.h"

static struct nt_sched_attributes attributes_of_this_thread(void)
{
    struct nt_sched_attributes attributes = {0};
    ck_assert_int_eq(syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0), 0);
    return attributes;
}

TEST(a_lookup_count_rises_and_falls)
{
    uint64_t usual = attributes_of_this_thread().runtime;
    nt_time_slice_set(NT_TIME_SLICE_SHORT);
    uint64_t brief = attributes_of_this_thread().runtime;
    nt_time_slice_set(NT_TIME_SLICE_LONG);
    uint64_t long_one = attributes_of_this_thread().runtime;
    nt_time_slice_set(NT_TIME_SLICE_DEFAULT);
    ck_assert_uint_eq(attributes_of_this_thread().runtime, usual);
    if (usual == 0) {
        ck_assert_uint_eq(brief, 0);
        return;
    }
    ck_assert_uint_eq(brief, 100000);
    ck_assert_uint_eq(long_one, 3000000);
    ck_assert_uint_lt(brief, usual);
}

static void *set_the_usual_one(void *runtime)
{
    nt_time_slice_set(NT_TIME_SLICE_DEFAULT);
    *(uint64_t *)runtime = attributes_of_this_thread().runtime;
    return NULL;
}

TEST(a_thread_does_not_inherit_the_slice_of_its_creator)
{
    uint64_t usual = attributes_of_this_thread().runtime, found = 0;
    pthread_t thread;
    nt_time_slice_set(NT_TIME_SLICE_LONG);
    ck_assert_int_eq(pthread_create(&thread, NULL, set_the_usual_one, &found), 0);
    pthread_join(thread, NULL);
    ck_assert_uint_eq(found, usual);
}

TEST(policy_and_nice_value_stay)
{
    ck_assert_int_eq(setpriority(PRIO_PROCESS, 0, 7), 0);
    ck_assert_int_eq(sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0}), 0);
    nt_time_slice_set(NT_TIME_SLICE_SHORT);
    struct nt_sched_attributes attributes = attributes_of_this_thread();
    ck_assert_int_eq(attributes.nice, 7);
    ck_assert_uint_eq(attributes.policy, SCHED_BATCH);
    nt_time_slice_set(NT_TIME_SLICE_DEFAULT);
    attributes = attributes_of_this_thread();
    ck_assert_int_eq(attributes.nice, 7);
    ck_assert_uint_eq(attributes.policy, SCHED_BATCH);
}
