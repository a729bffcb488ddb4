/* SPDX-License-Identifier: MIT
 *
 * Estimates of round trip and bandwidth, with a fake clock.
 */
#include "remote/client/client.h"

#include <stdio.h>

#include "support.h"

#define MS UINT64_C(1000000)
enum { KIB = 1024, MIB = 1024 * KIB, FIRST = 128 * KIB, MOST = 64 };

static uint64_t now;

/* So many requests at once. Each is answered after `latency` and the transfer time of earlier ones. */
static void ask(struct nt_link_estimate *link_estimate, unsigned count, uint64_t bytes, uint64_t latency,
                uint64_t bytes_of_ms)
{
    struct nt_link_request requests[MOST];
    for (unsigned i = 0; i < count; i++)
        nt_link_request_sent(link_estimate, &requests[i], now);
    now += latency;
    for (unsigned i = 0; i < count; i++)
        nt_link_request_answered(&requests[i], now);
    for (unsigned i = 0; i < count; i++) {
        now += bytes * MS / bytes_of_ms;
        nt_link_request_done(&requests[i], bytes, now);
    }
}

/* Bandwidth times round trip by sixteen. */
static const struct {
    const char *line;
    uint64_t latency, bytes_of_ms, least, most;
} lines[] = {
    {"20 ms, 125 MB/s", 20 * MS, 125000, 140000, 156250},
    {"50 ms, 125 MB/s", 50 * MS, 125000, 350000, 390625},
    {"100 ms, 10 MB/s", 100 * MS, 10000, 61000, 62500},
    {"a local one", MS / 10, 1000000, 32 * KIB, 32 * KIB},
    {"the moon", 2500 * MS, 125000, MIB, MIB},
};

TEST(a_gap_is_what_comes_while_one_request_takes_its_turn, .end = sizeof(lines) / sizeof(*lines))
{
    struct nt_link_estimate link_estimate = {0};
    ck_assert_uint_eq(nt_link_coalesce_gap(&link_estimate), FIRST);
    for (int i = 0; i < 3; i++)
        ask(&link_estimate, 16, MIB, lines[_i].latency, lines[_i].bytes_of_ms);
    ck_assert_msg(nt_link_coalesce_gap(&link_estimate) >= lines[_i].least &&
                      nt_link_coalesce_gap(&link_estimate) <= lines[_i].most,
                  "%s: %llu", lines[_i].line, (unsigned long long)nt_link_coalesce_gap(&link_estimate));
}

TEST(little_says_nothing_of_a_line)
{
    struct nt_link_estimate link_estimate = {0};
    ask(&link_estimate, 16, 4 * KIB, 100 * MS, 1000);
    ck_assert_uint_eq(nt_link_coalesce_gap(&link_estimate), FIRST);
}

/* They wait for others, not for the line. */
TEST(what_queues_is_not_late)
{
    struct nt_link_estimate link_estimate = {0};
    struct nt_link_request first[NT_LINK_CONNECTIONS], after;
    for (unsigned i = 0; i < NT_LINK_CONNECTIONS; i++)
        nt_link_request_sent(&link_estimate, &first[i], now);
    nt_link_request_sent(&link_estimate, &after, now);
    now += 10 * MS;
    for (unsigned i = 0; i < NT_LINK_CONNECTIONS; i++)
        nt_link_request_answered(&first[i], now);
    now += 900 * MS;
    nt_link_request_answered(&after, now);
    ck_assert_uint_eq(link_estimate.latency, 10 * MS);
}

TEST(one_late_answer_changes_little_and_many_do)
{
    struct nt_link_estimate link_estimate = {0};
    ask(&link_estimate, 16, MIB, 20 * MS, 125000);
    uint64_t before = link_estimate.latency;
    ask(&link_estimate, 1, MIB, 500 * MS, 125000);
    ck_assert_uint_le(link_estimate.latency, before + before / 8);
    for (int i = 0; i < 60; i++)
        ask(&link_estimate, 1, MIB, 100 * MS, 125000);
    ck_assert_uint_eq(link_estimate.latency, 100 * MS);
    ask(&link_estimate, 1, MIB, 20 * MS, 125000);
    ck_assert_uint_eq(link_estimate.latency, 20 * MS);
}

TEST(a_line_that_became_slower_is_found_out)
{
    struct nt_link_estimate link_estimate = {0};
    ask(&link_estimate, 16, MIB, 20 * MS, 125000);
    uint64_t before = link_estimate.rate;
    ask(&link_estimate, 1, MIB, 20 * MS, 1000);
    ck_assert_uint_gt(link_estimate.rate, before / 2);
    for (int i = 0; i < 60; i++)
        ask(&link_estimate, 16, MIB, 20 * MS, 1000);
    ck_assert_uint_le(link_estimate.rate, 1200);
    ck_assert_uint_ge(link_estimate.rate, 800);
}

/* As while a column is read from start to end. */
TEST(a_line_is_measured_while_it_never_rests)
{
    struct nt_link_estimate link_estimate = {0};
    struct nt_link_request requests[2];
    nt_link_request_sent(&link_estimate, &requests[0], now);
    for (unsigned i = 1; i < 100; i++) {
        nt_link_request_sent(&link_estimate, &requests[i % 2], now);
        now += 20 * MS;
        nt_link_request_answered(&requests[(i + 1) % 2], now);
        nt_link_request_done(&requests[(i + 1) % 2], MIB, now);
    }
    ck_assert_uint_eq(link_estimate.underway, 1);
    ck_assert_uint_ge(link_estimate.rate, MIB / 20 * 3 / 4);
    ck_assert_uint_le(link_estimate.rate, MIB / 20 * 3 / 2);
}

TEST(each_server_has_its_own)
{
    struct nt_link_estimates link_estimates = {0};
    struct nt_link_estimate *one = nt_link_estimates_of(&link_estimates, "https://one"),
                            *two = nt_link_estimates_of(&link_estimates, "https://two");
    ck_assert_ptr_ne(one, two);
    ck_assert_ptr_eq(nt_link_estimates_of(&link_estimates, "https://one"), one);
    char name[32];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "https://server%d", i);
        ck_assert_ptr_nonnull(nt_link_estimates_of(&link_estimates, name));
    }
    ck_assert_ptr_eq(nt_link_estimates_of(&link_estimates, "https://one more"), &link_estimates.others);
    ck_assert_ptr_eq(nt_link_estimates_of(&link_estimates, "https://two"), two);
    nt_link_estimates_deinit(&link_estimates);
}
