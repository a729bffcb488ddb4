/* SPDX-License-Identifier: MIT
 *
 * Objects beneath an address, and the file that says whether they are still in the opened version.
 */
#include <stdatomic.h>
#include <stdio.h>

#include "core/base/thread.h"
#include "fake_process.h"
#include "remote/client/client.h"
#include "core/io/source.h"
#include "remote/protocol.h"
#include <ntuple/source.h>

enum { MAX_OPEN = 1024 };

static struct nt_source *objects;
static uint64_t silent_on;     /* a file with unanswered reads: its number; 0: none */
static uint64_t kept_question; /* that was not answered */
static atomic_uint closed;     /* files */

static bool answer(const struct nt_fetch_request *request)
{
    closed += request->kind == NT_FETCH_CLOSE;
    if (request->kind == NT_FETCH_OPEN_LISTED)
        say_done(request->id);
    if (request->kind != NT_FETCH_READ || request->file != silent_on)
        return answer_well(request);
    kept_question = request->id;
    return true;
}

static void set_up_objects(void)
{
    set_up();
    process.answer = answer;
    silent_on = 0;
    closed = 0;
    assert_ok(nt_source_open_address("ntpl+s3+http://h/bucket/data", fetcher, &source, &error));
    assert_ok(nt_source_open_objects(source, "seed", &objects, &error));
}

static void tear_down_objects(void)
{
    nt_source_close(objects);
    tear_down();
}

static uint64_t soon(void)
{
    return nt_milliseconds() + 10000;
}

static struct nt_remote_file *file_of(struct nt_source *of)
{
    return (struct nt_remote_file *)of;
}

/* What other threads do during the wait. */
static void open_many(struct nt_source *files[MAX_OPEN])
{
    for (int i = 0; i < MAX_OPEN; i++) {
        char address[32];
        snprintf(address, sizeof(address), "http://h/%d", i);
        assert_ok(nt_source_open_address(address, fetcher, &files[i], &error));
    }
}

/* A check without an answer yet. The fetcher's lock is held on return. */
static void begin_check(struct nt_revalidation *check)
{
    silent_on = file_of(source)->file;
    nt_fetcher_lock(fetcher);
    file_of(objects)->check_due = 0;
    nt_revalidate_begin(file_of(objects), check, soon());
}

TEST(a_file_that_is_asked_is_not_closed_for_others, .setup = set_up_objects, .teardown = tear_down_objects)
{
    struct nt_source *files[MAX_OPEN];
    struct nt_revalidation check;
    struct nt_remote_file *anchor = file_of(source);
    begin_check(&check);
    nt_fetcher_unlock(fetcher);
    open_many(files);
    ck_assert_uint_gt(closed, 0);
    ck_assert(!anchor->is_closed);
    say_done(kept_question);
    nt_fetcher_lock(fetcher);
    assert_ok(nt_revalidate_end(file_of(objects), &check, soon(), NT_OK, &error));
    ck_assert_uint_eq(anchor->underway, 0);
    nt_fetcher_unlock(fetcher);
    for (int i = 0; i < MAX_OPEN; i++)
        nt_source_close(files[i]);
}

/* Nor does an unanswered one stay open forever. */
TEST(a_question_that_is_not_waited_for_is_under_way_no_more, .setup = set_up_objects,
     .teardown = tear_down_objects)
{
    struct nt_revalidation check;
    struct nt_remote_file *anchor = file_of(source), *of_objects = file_of(objects);
    begin_check(&check);
    ck_assert_uint_eq(anchor->underway, 1);
    assert_ok(nt_revalidate_end(of_objects, &check, nt_milliseconds(), NT_OK, &error));
    ck_assert_uint_eq(anchor->underway, 0);
    ck_assert_uint_eq(of_objects->check_due, 0);
    nt_fetcher_unlock(fetcher);
}
