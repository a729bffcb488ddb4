/* SPDX-License-Identifier: MIT
 *
 * fork() while threads work: locks are free in the child, and the data that they guard is consistent.
 */
#include "core/base/thread.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forked.h"
#include "support.h"

enum { THREADS = 4, FORKS = 300, IN_TIME = 20 };

/* Equal whenever the lock is free. */
static struct guarded {
    struct nt_lock lock;
    volatile unsigned long left, right;
} outer, inner;

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static atomic_bool is_over, is_inside;

static void change(struct guarded *guarded)
{
    guarded->left++;
    for (volatile int i = 0; i < 1000; i++)
        ;
    guarded->right++;
}

/* Nested locks, with a wait between them. */
static void *change_both(void *unused)
{
    const struct timespec past = {0};
    while (!atomic_load(&is_over)) {
        nt_lock_acquire(&outer.lock);
        change(&outer);
        nt_lock_acquire(&inner.lock);
        change(&inner);
        nt_lock_release(&inner.lock);
        change(&outer);
        (void)nt_lock_wait(&outer.lock, &condition, &past); /* check has a lock, too: no assertion here */
        change(&outer);
        nt_lock_release(&outer.lock);
    }
    return unused;
}

static void set_up(void)
{
    atomic_store(&is_over, false);
    atomic_store(&is_inside, false);
    ck_assert_int_eq(nt_lock_init(&outer.lock, NULL), 0);
    ck_assert_int_eq(nt_lock_init(&inner.lock, NULL), 0);
}

static void tear_down(void)
{
    nt_lock_deinit(&inner.lock);
    nt_lock_deinit(&outer.lock);
}

/* The exit status of a forked process that ends in time. */
static int status_in_child(int (*work)(void))
{
    int status;
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        nt_test_end_within(IN_TIME);
        _exit(work());
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

static int look(void)
{
    nt_lock_acquire(&outer.lock);
    nt_lock_acquire(&inner.lock);
    bool is_whole = outer.left == outer.right && inner.left == inner.right;
    nt_lock_release(&inner.lock);
    nt_lock_release(&outer.lock);
    return is_whole ? 0 : 1;
}

static int look_in_grandchild(void)
{
    return look() || status_in_child(look);
}

TEST(what_is_guarded_is_whole_in_a_forked_process, .setup = set_up, .teardown = tear_down)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, change_both, NULL), 0);
    for (int i = 0; i < FORKS; i++)
        ck_assert_int_eq(status_in_child(i % 10 ? look : look_in_grandchild), 0);
    atomic_store(&is_over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_gt(outer.left, 0);
}

static void *wait_with_a_lock(void *unused)
{
    nt_lock_acquire(&outer.lock);
    unsigned sections = nt_critical_section_suspend();
    atomic_store(&is_inside, true);
    while (!atomic_load(&is_over))
        usleep(1000);
    nt_critical_section_resume(sections);
    nt_lock_release(&outer.lock);
    return unused;
}

/* Otherwise this would wait for the thread that waits for this. */
TEST(a_thread_forks_while_another_one_waits_with_a_lock, .setup = set_up, .teardown = tear_down)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_with_a_lock, NULL), 0);
    while (!atomic_load(&is_inside))
        usleep(1000);
    ck_assert_int_eq(status_in_child(look), 0);
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
}

static void *stay_in_a_section(void *unused)
{
    nt_critical_section_enter();
    nt_critical_section_enter();
    nt_critical_section_exit();
    outer.left++;
    atomic_store(&is_inside, true);
    usleep(100 * 1000);
    outer.right++;
    nt_critical_section_exit();
    return unused;
}

TEST(a_thread_that_forks_waits_for_those_in_sections, .setup = set_up, .teardown = tear_down)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, stay_in_a_section, NULL), 0);
    while (!atomic_load(&is_inside))
        usleep(1000);
    ck_assert_int_eq(status_in_child(look), 0);
    pthread_join(thread, NULL);
}

static int calls;

static void count_call(struct nt_lock *lock)
{
    ck_assert_ptr_eq(lock, &inner.lock);
    calls++;
}

static int report_calls(void)
{
    return calls;
}

TEST(owners_are_reported_in_the_forked_process_alone, .setup = set_up, .teardown = tear_down)
{
    nt_lock_deinit(&inner.lock);
    ck_assert_int_eq(nt_lock_init(&inner.lock, count_call), 0);
    ck_assert_int_eq(WEXITSTATUS(status_in_child(report_calls)), 1);
    ck_assert_int_eq(calls, 0);
    nt_lock_deinit(&inner.lock);
    ck_assert_int_eq(WEXITSTATUS(status_in_child(report_calls)), 0);
    ck_assert_int_eq(nt_lock_init(&inner.lock, NULL), 0);
}
