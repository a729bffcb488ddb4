/* SPDX-License-Identifier: MIT
 *
 * Workers alone: a queued job runs once, unless it is claimed, forgotten or over the limit; all threads do
 * shared work. A job that blocks keeps the only worker busy while more jobs are queued.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "read/read.h"
#include "support.h"
#include "core/model/model.h"

enum { PAGES = 8, QUEUED = 1000 };

static struct nt_workers *workers;
static pthread_mutex_t gate;
static atomic_uint started, done[PAGES];
/* Only compared, never dereferenced. */
static char datasets[2], pages[PAGES];

static struct nt_dataset *dataset_of(unsigned number)
{
    return (struct nt_dataset *)(void *)&datasets[number];
}

static const struct nt_page *page_of(unsigned number)
{
    return (const struct nt_page *)(const void *)&pages[number];
}

static void pass_gate(const struct nt_worker_job *job)
{
    atomic_fetch_add(&started, 1);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    atomic_fetch_add(&done[(const char *)job->page - pages], 1);
}

static void queue(unsigned dataset, unsigned page)
{
    struct nt_worker_job job = {.run = pass_gate, .dataset = dataset_of(dataset), .page = page_of(page)};
    nt_workers_queue(workers, &job);
}

static void setup(void)
{
    pthread_mutex_init(&gate, NULL);
    atomic_store(&started, 0);
    for (unsigned i = 0; i < PAGES; i++)
        atomic_store(&done[i], 0);
    workers = nt_workers_new(1);
    ck_assert_ptr_nonnull(workers);
}

static void teardown(void)
{
    nt_workers_free(workers);
    pthread_mutex_destroy(&gate);
}

/* The only worker waits in the job of page 0 until the gate opens. */
static void block_worker(void)
{
    pthread_mutex_lock(&gate);
    queue(0, 0);
    while (!atomic_load(&started))
        ;
}

/* All queued jobs are done when a job after them is done. */
static void open_gate_and_wait(void)
{
    pthread_mutex_unlock(&gate);
    queue(0, PAGES - 1);
    while (!atomic_load(&done[PAGES - 1]))
        ;
}

TEST(jobs_are_done_once_each, .setup = setup, .teardown = teardown)
{
    for (unsigned i = 1; i < PAGES - 1; i++)
        queue(0, i);
    pthread_mutex_lock(&gate);
    open_gate_and_wait();
    for (unsigned i = 1; i < PAGES; i++)
        ck_assert_uint_eq(atomic_load(&done[i]), 1);
}

TEST(a_claimed_page_is_left_to_its_claimer, .setup = setup, .teardown = teardown)
{
    block_worker();
    queue(0, 1);
    queue(0, 2);
    queue(1, 1);
    nt_workers_cancel_page(workers, page_of(1));
    open_gate_and_wait();
    ck_assert_uint_eq(atomic_load(&done[0]), 1);
    ck_assert_uint_eq(atomic_load(&done[1]), 0);
    ck_assert_uint_eq(atomic_load(&done[2]), 1);
}

static void *forget_first(void *unused)
{
    nt_workers_forget(workers, dataset_of(0));
    ck_assert_uint_eq(atomic_load(&done[0]), 1);
    return unused;
}

TEST(a_dataset_that_is_forgotten_has_nothing_queued_or_under_way, .setup = setup, .teardown = teardown)
{
    pthread_t thread;
    block_worker();
    queue(1, 1);
    queue(2, 2);
    nt_workers_forget(workers, dataset_of(1)); /* does not wait: no job of it runs */
    ck_assert_int_eq(pthread_create(&thread, NULL, forget_first, NULL), 0);
    pthread_mutex_unlock(&gate);
    pthread_join(thread, NULL);
    pthread_mutex_lock(&gate);
    open_gate_and_wait();
    ck_assert_uint_eq(atomic_load(&done[1]), 0);
    ck_assert_uint_eq(atomic_load(&done[2]), 1); /* of another one */
}

TEST(too_much_is_discarded, .setup = setup, .teardown = teardown)
{
    block_worker();
    for (unsigned i = 0; i < QUEUED; i++)
        queue(0, 1);
    pthread_mutex_unlock(&gate);
    nt_workers_forget(workers, dataset_of(1));
    nt_workers_forget(workers, dataset_of(0));
    ck_assert_uint_lt(atomic_load(&done[1]), QUEUED);
}

struct shared {
    atomic_uint left, made;
};

static void work(void *context)
{
    struct shared *shared = context;
    for (;;) {
        unsigned left = atomic_load(&shared->left);
        if (!left)
            return;
        if (atomic_compare_exchange_strong(&shared->left, &left, left - 1))
            atomic_fetch_add(&shared->made, 1);
    }
}

TEST(shared_work_is_done_when_the_call_returns, .setup = setup, .teardown = teardown)
{
    struct shared shared = {.left = QUEUED};
    nt_workers_run_all(workers, work, &shared);
    ck_assert_uint_eq(atomic_load(&shared.made), QUEUED);
}

TEST(without_workers_nothing_is_done_ahead_and_the_caller_works_alone, .setup = setup, .teardown = teardown)
{
    struct shared shared = {.left = QUEUED};
    nt_workers_free(workers);
    workers = nt_workers_new(0);
    queue(0, 1);
    nt_workers_forget(workers, dataset_of(0));
    ck_assert_uint_eq(atomic_load(&done[1]), 0);
    nt_workers_run_all(workers, work, &shared);
    ck_assert_uint_eq(atomic_load(&shared.made), QUEUED);
}
