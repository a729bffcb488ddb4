/* SPDX-License-Identifier: MIT
 *
 * Files on XRootD servers, with a fake client: the requests to it, and how its answers are handled.
 */
#include "core/base/thread.h"

#include <errno.h>

#include "fake_xrootd.h"
#include "faults.h"
#include "remote/helper/result.h"
#include "remote/helper/xrd_client.h"
#include "remote/protocol.h"

enum { LARGE = 300 * 1000 };

/* ---- opening ---- */

static const struct {
    uint64_t size;
    unsigned ranges;
    uint64_t bytes, last_offset;
} sizes[] = {
    {0, 0, 0, 0},
    {1, 1, 1, 0},
    {NT_FETCH_END_BYTES, 1, NT_FETCH_END_BYTES, 0},
    {NT_FETCH_END_BYTES + 1, 2, NT_FETCH_END_BYTES + 1, NT_FETCH_END_BYTES},
    {SIZE, 2, 2 * NT_FETCH_END_BYTES, SIZE - NT_FETCH_END_BYTES},
};

TEST(a_file_is_opened_and_both_ends_are_read_at_once, .setup = set_up, .teardown = tear_down,
     .end = sizeof(sizes) / sizeof(*sizes))
{
    client.attributes.size = sizes[_i].size;
    open_well();
    ck_assert_uint_eq(client.calls[0].count, 0);
    ck_assert_uint_eq(client.count, sizes[_i].ranges ? 2 : 1);
    if (sizes[_i].ranges) {
        const struct call *call = &client.calls[1];
        ck_assert_uint_eq(call->count, sizes[_i].ranges);
        ck_assert_uint_eq(call->ranges[call->count - 1].offset, sizes[_i].last_offset);
    }
    ck_assert_uint_eq(answers[1].bytes, sizes[_i].bytes);
    ck_assert_uint_eq(files.jobs.totals.requests, client.count);
}

TEST(without_a_client_files_are_not_read, .setup = set_up, .teardown = tear_down)
{
    xrootd.queue.client = NULL;
    uint64_t id = ask((struct nt_fetch_request){.kind = NT_FETCH_OPEN}, "XROOTS://server//file");
    work_until(id, NT_FETCH_FAILED);
    ck_assert_uint_eq(answers[id].failure, NT_FETCH_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(answers[id].text, "-Dxrootd"));
}

TEST(servers_of_instance_metadata_are_not_contacted, .setup = set_up, .teardown = tear_down)
{
    static const char listed[] = "root://169.254.169.254//file\0001";
    uint64_t ids[] = {
        ask((struct nt_fetch_request){.kind = NT_FETCH_OPEN}, "root://169.254.169.254//file"),
        ask((struct nt_fetch_request){.kind = NT_FETCH_LIST}, "xroots://metadata.goog:1094//folder"),
        ask_with((struct nt_fetch_request){.kind = NT_FETCH_OPEN_LISTED, .bytes = 10}, listed,
                 sizeof(listed) - 1),
    };
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        check_failure(ids[i], NT_FETCH_INVALID, NT_NEVER_CONTACTED);
    ck_assert_uint_eq(client.count, 0);
}

TEST(a_server_that_does_not_say_the_size_is_asked_again, .setup = set_up, .teardown = tear_down)
{
    client.is_held = true;
    uint64_t id = ask((struct nt_fetch_request){.kind = NT_FETCH_OPEN}, "root://server//file?key");
    work();
    answer_call(next_call(), &(struct nt_xrd_answer){.has_attributes = false});
    client.is_held = false;
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(files.jobs.totals.retries, 1);
}

TEST(a_file_for_which_there_is_no_memory_is_reported, .setup = set_up, .teardown = tear_down)
{
    client.is_without_memory = true;
    check_failure(ask((struct nt_fetch_request){.kind = NT_FETCH_OPEN}, "root://server//file?key"),
                  NT_FETCH_UNREACHABLE, "out of memory");
}

#ifdef HAS_FAULTS
TEST(an_opening_without_memory_at_any_point_is_reported, .setup = set_up, .teardown = tear_down)
{
    uint64_t id, points;
    do {
        id = last_id + 1;
        fault_arm(&(struct fault){.site = FAULT_ALLOCATION, .number = id, .error = ENOMEM});
        ask((struct nt_fetch_request){.kind = NT_FETCH_OPEN, .file = (uint32_t)id},
            "root://server//file?key");
        work();
        points = fault_disarm();
        if (points < id)
            ck_assert_uint_eq(answers[id].kind, NT_FETCH_DONE);
        else
            check_failure(id, NT_FETCH_UNREACHABLE, "");
        nt_helper_session_handle(
            &files, &(struct nt_fetch_request){.kind = NT_FETCH_CLOSE, .file = (uint32_t)id}, "", 0);
        work();
    } while (points >= id);
}
#endif

TEST(an_opening_that_is_requested_no_more_leaves_nothing, .setup = set_up, .teardown = tear_down, .end = 2)
{
    client.is_held = true;
    uint64_t id = ask((struct nt_fetch_request){.kind = NT_FETCH_OPEN}, "root://server//file?key");
    work();
    if (_i) { /* it is open, and its ends are on their way */
        answer_well(next_call());
        work();
    }
    cancel(id);
    ck_assert_uint_eq(files.count, 0);
    answer_well(next_call());
    work();
    ck_assert_uint_eq(client.files, 0);
    ck_assert_uint_eq(answers[id].kind, 0);
}

/* ---- reading ---- */

TEST(a_coalesced_read_waits_for_its_readers, .setup = set_up, .teardown = tear_down)
{
    open_well();
    fill_channel();
    uint64_t ids[] = {ask_for(10000, 10), ask_for(30000, 20)};
    for (int i = 0; i < 3; i++)
        work_untaken();
    ck_assert_uint_eq(files.jobs.count, 2);
    work_until(ids[0], NT_FETCH_DONE);
    work_until(ids[1], NT_FETCH_DONE);
    ck_assert_uint_eq(answers[ids[0]].bytes, 10);
    ck_assert_uint_eq(answers[ids[1]].bytes, 20);
    ck_assert_uint_eq(files.jobs.totals.retries, 0);
}

TEST(short_parts_are_read_together_and_long_ones_alone, .setup = set_up, .teardown = tear_down)
{
    client.attributes.size = 10 * LARGE;
    open_well();
    unsigned count = client.count;
    uint64_t ids[7];
    for (unsigned i = 0; i < 7; i++)
        ids[i] = i == 3 ? ask_for(LARGE, LARGE) : ask_for(20000 * i + 10000, 1000 + i);
    for (unsigned i = 0; i < 7; i++) {
        work_until(ids[i], NT_FETCH_DONE);
        ck_assert_uint_eq(answers[ids[i]].bytes, i == 3 ? LARGE : 1000 + i);
    }
    ck_assert_uint_eq(client.count, count + 2);
    ck_assert_uint_eq(client.calls[count].count, 6);
    ck_assert_uint_eq(client.calls[count + 1].count, 1);
    ck_assert_uint_eq(client.calls[count + 1].ranges[0].bytes, LARGE);
}

TEST(prefetches_are_read_separately, .setup = set_up, .teardown = tear_down)
{
    open_well();
    unsigned count = client.count;
    uint64_t ahead = ask(
        (struct nt_fetch_request){.kind = NT_FETCH_READ, .offset = 10000, .bytes = 10, .is_prefetch = 1}, "");
    uint64_t waited = ask_for(30000, 20);
    work_until(ahead, NT_FETCH_DONE);
    work_until(waited, NT_FETCH_DONE);
    ck_assert_uint_eq(client.count, count + 2);
    ck_assert_uint_eq(client.calls[count].ranges[0].bytes, 20);
}

TEST(a_part_that_is_requested_no_more_keeps_its_memory_until_it_is_answered, .setup = set_up,
     .teardown = tear_down)
{
    open_well();
    client.is_held = true;
    uint64_t other = ask_for(30000, 20), id = ask_for(10000, 10);
    work();
    cancel(id);
    answer_well(next_call());
    work_until(other, NT_FETCH_DONE);
    ck_assert_uint_eq(answers[id].kind, 0);
    ask_for(10000, 10);
    work();
    ask((struct nt_fetch_request){.kind = NT_FETCH_CLOSE}, "");
    ck_assert_uint_eq(client.files, 1);
}

TEST(a_silent_server_is_not_waited_for_longer_than_was_said, .setup = set_up, .teardown = tear_down)
{
    open_well();
    client.is_held = true;
    uint64_t id = ask(
        (struct nt_fetch_request){.kind = NT_FETCH_READ, .offset = 0, .bytes = 10, .milliseconds = 20}, "");
    work_until(id, NT_FETCH_FAILED);
    ck_assert_uint_eq(answers[id].failure, NT_FETCH_UNREACHABLE);
    ck_assert_ptr_nonnull(strstr(answers[id].text, "timed out"));
}

/* ---- files that are others now ---- */

static const struct {
    struct nt_xrd_attributes found;
    bool is_same;
} versions[] = {
    {{SIZE, 1000, "id", "server"}, true},       {{SIZE, 1000, "another", "another"}, true}, /* a copy */
    {{SIZE, 1000, "another", "server"}, false}, {{SIZE, 1001, "id", "server"}, false},
    {{SIZE + 1, 1000, "id", "server"}, false},  {{SIZE - 1, 1000, "id", "another"}, false},
};

TEST(a_file_that_was_forgotten_is_opened_again_and_compared, .setup = set_up, .teardown = tear_down,
     .end = sizeof(versions) / sizeof(*versions))
{
    open_well();
    unsigned count = client.count;
    client.is_held = true;
    uint64_t id = ask_for(10000, 10);
    work();
    client.attributes = versions[_i].found;
    client.is_held = false;
    answer_badly(NT_OUTCOME_OTHER_SERVER, true);
    check_outcome(id, versions[_i].is_same);
    ck_assert_uint_eq(client.calls[count + 1].count, 0);
    ck_assert_uint_eq(client.calls[count + 1].file_number, client.calls[count].file_number + 1);
}

TEST(a_file_that_changes_while_it_is_open_is_found_out, .setup = set_up, .teardown = tear_down,
     .end = sizeof(versions) / sizeof(*versions))
{
    open_well();
    set_checked(0); /* long ago */
    client.attributes = versions[_i].found;
    check_outcome(ask_for(10000, 10), versions[_i].is_same);
    ck_assert(client.calls[client.count - 1].has_attributes);
}

TEST(after_a_failure_the_file_is_looked_at, .setup = set_up, .teardown = tear_down)
{
    open_well();
    set_checked(nt_milliseconds() + 100 * 1000);
    client.is_held = true;
    uint64_t id = ask_for(10000, 10);
    work();
    ck_assert(!client.calls[client.count - 1].has_attributes);
    answer_badly(NT_OUTCOME_RETRY, false);
    client.is_held = false;
    client.attributes.modified++;
    check_outcome(id, false);
}
