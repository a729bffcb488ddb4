/* SPDX-License-Identifier: MIT
 *
 * Which threads wait for requests. A pipe stands for the kernel and a byte for a request. Another pipe
 * says which thread answered.
 */
#include <semaphore.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/thread.h"
#include "fuse/mount.h"
#include "support.h"

enum { THREADS = 4 };

/* Requests. */
enum { QUICK, SLOW, LARGE, HANGING, END };

static struct nt_leader leaders;
static int requests[2], answers[2];
static atomic_int receiving; /* threads that wait for a request, without other waiting threads before them */
static sem_t resume_at;
static pthread_t threads[THREADS];

struct answer {
    pthread_t by;
    char request;
};

static void serve(char request)
{
    if (request == SLOW)
        nt_leader_release_followers(&leaders);
    if (request == SLOW || request == HANGING || request == LARGE)
        while (sem_wait(&resume_at) != 0)
            ;
    struct answer answer;
    memset(&answer, 0, sizeof(answer));
    answer.by = pthread_self();
    answer.request = request;
    ck_assert_int_eq(write(answers[1], &answer, sizeof(answer)), sizeof(answer));
}

/* Like libfuse: it can be cancelled only while it waits. */
static void *serve_all(void *context)
{
    char request = QUICK;
    while (request != END) {
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
        nt_leader_wait(&leaders);
        atomic_fetch_add(&receiving, 1);
        ssize_t count = read(requests[0], &request, 1);
        atomic_fetch_sub(&receiving, 1);
        nt_leader_received(&leaders, request != LARGE, NT_ARRIVAL_AWAITED);
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
        ck_assert_int_eq(count, 1);
        serve(request);
    }
    return context;
}

static void send(char request)
{
    ck_assert_int_eq(write(requests[1], &request, 1), 1);
}

static struct answer answered(void)
{
    struct answer answer;
    ck_assert_int_eq(read(answers[0], &answer, sizeof(answer)), sizeof(answer));
    return answer;
}

static pthread_t ask(void)
{
    send(QUICK);
    struct answer answer = answered();
    ck_assert_int_eq(answer.request, QUICK);
    return answer.by;
}

static void start(uint64_t patience)
{
    ck_assert_int_eq(nt_leader_init(&leaders, patience, 0), 0);
    ck_assert_int_eq(pipe(requests), 0);
    ck_assert_int_eq(pipe(answers), 0);
    ck_assert_int_eq(sem_init(&resume_at, 0, 0), 0);
    atomic_store(&receiving, 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, serve_all, NULL), 0);
}

/* Like libfuse. */
static void stop(void)
{
    for (int i = 0; i < THREADS; i++)
        pthread_cancel(threads[i]);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(pthread_mutex_trylock(&leaders.lock), 0); /* no thread left it locked */
    pthread_mutex_unlock(&leaders.lock);
    ck_assert(!leaders.is_watched);
    nt_leader_deinit(&leaders);
    for (int i = 0; i < 2; i++) {
        close(requests[i]);
        close(answers[i]);
    }
}

static const uint64_t for_ever = UINT64_C(1000000000000000);

static void setup(void)
{
    start(for_ever);
}

static void expect_one_thread(unsigned count)
{
    pthread_t first = ask();
    for (unsigned i = 0; i < count; i++)
        ck_assert(pthread_equal(ask(), first));
}

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

/* Until only the leader waits for a request. */
static void quieten(void)
{
    for (unsigned i = 0; i < NT_LEADER_QUIET; i++)
        ask();
    for (rest(); atomic_load(&receiving) != 1; rest())
        ask();
}

TEST(while_all_requests_are_quick_one_thread_answers_them, .setup = setup, .teardown = stop)
{
    expect_one_thread(300);
}

TEST(while_a_request_is_slow_all_others_answer, .setup = setup, .teardown = stop)
{
    static const char kinds[] = {SLOW, LARGE};
    for (size_t i = 0; i < sizeof(kinds); i++) {
        pthread_t before = ask();
        for (int k = 0; k < THREADS - 1; k++)
            send(kinds[i]);
        for (int k = 0; k < 10; k++)
            ask(); /* is answered, although all but one are busy */
        for (int k = 0; k < THREADS - 1; k++)
            sem_post(&resume_at);
        bool by_the_leader = false;
        for (int k = 0; k < THREADS - 1; k++)
            by_the_leader |= pthread_equal(answered().by, before) != 0;
        ck_assert(by_the_leader);
        quieten();
    }
}

TEST(after_a_slow_request_one_thread_answers_again, .setup = setup, .teardown = stop)
{
    send(SLOW);
    sem_post(&resume_at);
    ck_assert_int_eq(answered().request, SLOW);
    quieten();
    expect_one_thread(100);
}

TEST(a_hanging_request_does_not_delay_others, .setup = setup, .teardown = stop)
{
    stop();
    start(2000000);
    for (int i = 0; i < 5; i++) {
        send(HANGING);
        ask();
        sem_post(&resume_at);
        ck_assert_int_eq(answered().request, HANGING);
        quieten();
    }
}

static void wait_until_watcher_sleeps(void)
{
    while (!atomic_load(&leaders.watcher_sleeps))
        rest();
}

TEST(the_watchdog_sleeps_without_requests, .setup = setup, .teardown = stop)
{
    stop();
    start(1000000);
    for (int i = 0; i < 3; i++) {
        ask();
        wait_until_watcher_sleeps();
    }
    /* The thread gives the last answer before it has finished the request. */
    while (atomic_load(&leaders.progress) % 2)
        rest();
    wait_until_watcher_sleeps();
}

TEST(another_thread_watches_when_the_watching_one_is_cancelled, .setup = setup, .teardown = stop)
{
    stop();
    start(2000000);
    for (int last = THREADS - 1; last > 1; last--) {
        pthread_t leader = ask();
        wait_until_watcher_sleeps();
        for (int i = 0; i < last; i++) /* the leader goes to the front */
            if (pthread_equal(threads[i + 1], leader)) {
                threads[i + 1] = threads[0];
                threads[0] = leader;
            }
        pthread_cancel(threads[last]);
        pthread_join(threads[last], NULL);
        wait_until_watcher_sleeps();
        send(HANGING);
        ask();
        sem_post(&resume_at);
        ck_assert_int_eq(answered().request, HANGING);
        quieten();
    }
    for (int i = 2; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, serve_all, NULL), 0);
}

TEST(a_thread_that_ends_while_it_leads_is_replaced, .setup = setup, .teardown = stop)
{
    stop();
    start(2000000);
    send(END);
    struct answer last = answered();
    for (int i = 0; i < 300; i++)
        ask();
    for (int i = 0; i < THREADS; i++)
        if (pthread_equal(threads[i], last.by)) {
            pthread_join(threads[i], NULL);
            ck_assert_int_eq(pthread_create(&threads[i], NULL, serve_all, NULL), 0);
        }
}

TEST(one_thread_alone_serves_all, .setup = setup, .teardown = stop)
{
    struct nt_leader alone;
    ck_assert_int_eq(nt_leader_init(&alone, 1, 0), 0);
    for (int i = 0; i < 1000; i++) {
        nt_leader_wait(&alone);
        nt_leader_received(&alone, i % 7 != 0, i % 3 == 0 ? NT_ARRIVAL_QUEUED : NT_ARRIVAL_AWAITED);
        if (i % 5 == 0)
            nt_leader_release_followers(&alone);
    }
    nt_leader_deinit(&alone);
}

/* At most one more waits after this one, whether it existed before or not. */
TEST(where_requests_queue_up_all_receive, .setup = setup, .teardown = stop)
{
    struct nt_leader alone;
    ck_assert_int_eq(nt_leader_init(&alone, 1, 0), 0);
    for (int i = 0; i < 100 * NT_LEADER_QUEUED; i++) {
        ck_assert(nt_leader_wait(&alone));
        bool is_queue = i % NT_LEADER_QUEUED != NT_LEADER_QUEUED - 1;
        nt_leader_received(&alone, true,
                           is_queue ? NT_ARRIVAL_QUEUED
                           : i % 2  ? NT_ARRIVAL_PENDING
                                    : NT_ARRIVAL_AWAITED);
    }
    for (int i = 0; i < NT_LEADER_QUEUED; i++) {
        ck_assert(nt_leader_wait(&alone));
        nt_leader_received(&alone, true, NT_ARRIVAL_QUEUED);
    }
    for (int i = 0; i < NT_LEADER_CROWDED; i++) {
        ck_assert(!nt_leader_wait(&alone));
        nt_leader_received(&alone, true, NT_ARRIVAL_QUEUED);
    }
    ck_assert(nt_leader_wait(&alone));
    nt_leader_deinit(&alone);
}

static void serve_one(struct nt_leader *alone)
{
    ck_assert(nt_leader_wait(alone));
    nt_leader_received(alone, true, NT_ARRIVAL_AWAITED);
}

static bool looks_out(struct nt_leader *alone)
{
    ck_assert(nt_leader_wait(alone));
    return nt_leader_spins(alone);
}

TEST(the_leader_spins_after_a_quick_request, .setup = setup, .teardown = stop)
{
    struct nt_leader alone;
    ck_assert_int_eq(nt_leader_init(&alone, 1, for_ever), 0);
    ck_assert(!looks_out(&alone)); /* there was none */
    serve_one(&alone);
    ck_assert(looks_out(&alone));
    ck_assert(nt_leader_spins(&alone));
    nt_leader_deinit(&alone);
}

TEST(the_leader_blocks_after_a_late_request, .setup = setup, .teardown = stop)
{
    struct nt_leader alone;
    ck_assert_int_eq(nt_leader_init(&alone, 1, 0), 0);
    serve_one(&alone);
    ck_assert(!looks_out(&alone));
    nt_leader_deinit(&alone);
}

TEST(the_leader_blocks_if_no_request_comes_soon, .setup = setup, .teardown = stop)
{
    struct nt_leader alone;
    const uint64_t soon = NT_SECOND / 5;
    ck_assert_int_eq(nt_leader_init(&alone, 1, soon), 0);
    for (int i = 0; i < 2; i++) {
        serve_one(&alone);
        uint64_t start = nt_nanoseconds();
        ck_assert(looks_out(&alone));
        while (nt_leader_spins(&alone))
            ;
        ck_assert_uint_ge(nt_nanoseconds() - start, soon);
        nt_leader_received(&alone, true, NT_ARRIVAL_AWAITED);
        ck_assert(!looks_out(&alone));
    }
    nt_leader_deinit(&alone);
}

static void receive_so_many(struct nt_leader *alone, enum nt_request_arrival arrival, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        ck_assert(nt_leader_wait(alone));
        nt_leader_received(alone, true, arrival);
    }
}

/* After each failure it waits twice as long before it moves again. */
TEST(a_leader_that_spins_each_time_moves, .setup = setup, .teardown = stop)
{
    struct nt_leader alone;
    ck_assert_int_eq(nt_leader_init(&alone, 1, for_ever), 0);
    for (unsigned moves = 0; moves < 5; moves++) {
        receive_so_many(&alone, NT_ARRIVAL_AWAITED, (NT_LEADER_SPINS << moves) - 1);
        ck_assert_uint_eq(alone.moves, moves);
        receive_so_many(&alone, NT_ARRIVAL_AWAITED, 1);
        ck_assert_uint_eq(alone.moves, moves + 1);
    }
    nt_leader_deinit(&alone);
}

TEST(a_leader_that_finds_requests_stays, .setup = setup, .teardown = stop)
{
    struct nt_leader alone;
    ck_assert_int_eq(nt_leader_init(&alone, 1, for_ever), 0);
    receive_so_many(&alone, NT_ARRIVAL_AWAITED, NT_LEADER_SPINS);
    ck_assert_uint_eq(alone.moves, 1);
    receive_so_many(&alone, NT_ARRIVAL_PENDING,
                    1); /* it reached the caller: earlier failures are forgotten */
    ck_assert_uint_eq(alone.moves, 0);
    for (unsigned i = 0; i < 10 * NT_LEADER_SPINS; i++) {
        receive_so_many(&alone, NT_ARRIVAL_AWAITED, 1);
        receive_so_many(&alone, NT_ARRIVAL_PENDING, 1);
    }
    ck_assert_uint_eq(alone.moves, 0);
    nt_leader_deinit(&alone);
}

TEST(a_leader_with_rare_requests_stays, .setup = setup, .teardown = stop)
{
    struct nt_leader alone;
    ck_assert_int_eq(nt_leader_init(&alone, 1, 0), 0);
    receive_so_many(&alone, NT_ARRIVAL_AWAITED, 10 * NT_LEADER_SPINS);
    ck_assert_uint_eq(alone.moves, 0);
    nt_leader_deinit(&alone);
}
