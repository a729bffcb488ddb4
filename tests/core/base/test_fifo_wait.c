/* SPDX-License-Identifier: MIT
 *
 * Shared limits: no more is taken than the limit, and a large request gets its turn.
 */
#include "core/base/thread.h"

#include <stdatomic.h>
#include <unistd.h>

#include "support.h"

enum { ROOM = 100, THREADS = 8, ROUNDS = 300 };

struct shared {
    pthread_mutex_t lock;
    struct nt_fifo fifo;
    uint64_t taken, most;
    atomic_bool stops;
};

static bool has_room(const void *context, uint64_t bytes)
{
    const struct shared *shared = context;
    return shared->taken == 0 || shared->taken + bytes <= ROOM;
}

static bool take(struct shared *shared, uint64_t bytes)
{
    pthread_mutex_lock(&shared->lock);
    bool waited = nt_fifo_wait(&shared->fifo, &shared->lock, has_room, shared, bytes);
    shared->taken += bytes;
    if (bytes <= ROOM && shared->taken > shared->most)
        shared->most = shared->taken;
    pthread_mutex_unlock(&shared->lock);
    return waited;
}

static void give(struct shared *shared, uint64_t bytes)
{
    pthread_mutex_lock(&shared->lock);
    shared->taken -= bytes;
    nt_fifo_wake(&shared->fifo);
    pthread_mutex_unlock(&shared->lock);
}

static void init(struct shared *shared)
{
    *shared = (struct shared){.taken = 0};
    ck_assert_int_eq(pthread_mutex_init(&shared->lock, NULL), 0);
    ck_assert_int_eq(nt_fifo_init(&shared->fifo), 0);
}

static void deinit(struct shared *shared)
{
    ck_assert_uint_eq(shared->taken, 0);
    nt_fifo_deinit(&shared->fifo);
    pthread_mutex_destroy(&shared->lock);
}

TEST(below_the_limit_no_thread_waits)
{
    struct shared shared;
    init(&shared);
    ck_assert(!take(&shared, 60));
    ck_assert(!take(&shared, 40));
    give(&shared, 100);
    ck_assert(!take(&shared, 1000)); /* alone, whatever its size */
    give(&shared, 1000);
    deinit(&shared);
}

static void *take_and_give(void *argument)
{
    struct shared *shared = argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t bytes = 1 + i * 7 % ROOM;
        take(shared, bytes);
        give(shared, bytes);
    }
    return NULL;
}

TEST(no_more_is_taken_than_there_is)
{
    struct shared shared;
    pthread_t threads[THREADS];
    init(&shared);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_and_give, &shared), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_le(shared.most, ROOM);
    deinit(&shared);
}

static void *take_little_all_the_time(void *argument)
{
    struct shared *shared = argument;
    while (!atomic_load(&shared->stops)) {
        take(shared, 10);
        usleep(100);
        give(shared, 10);
    }
    return NULL;
}

TEST(a_large_request_is_not_starved)
{
    struct shared shared;
    pthread_t threads[THREADS];
    init(&shared);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_little_all_the_time, &shared), 0);
    for (int i = 0; i < 20; i++) {
        take(&shared, 2 * ROOM); /* everything is used */
        ck_assert_uint_eq(shared.taken, 2 * ROOM);
        give(&shared, 2 * ROOM);
    }
    atomic_store(&shared.stops, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    deinit(&shared);
}
