/* SPDX-License-Identifier: MIT
 *
 * Directories on XRootD servers, with a fake client: their listings, and listed files.
 */

#include "fake_xrootd.h"
#include "remote/helper/result.h"
#include "remote/helper/xrd_client.h"
#include "remote/protocol.h"

static const struct nt_xrd_entry entries[] = {{"file.root", false, true, 17, 1000}, {".", true, true, 0, 1},
                                              {"folder", true, true, 4096, 2000},   {"..", true, true, 0, 1},
                                              {"a/b", false, true, 1, 1},           {"", false, true, 1, 1},
                                              {"unknown", false, false, 0, 0}};

static void set_up_folder(void)
{
    set_up();
    client.entries = entries;
    client.entry_count = sizeof(entries) / sizeof(*entries);
}

static uint64_t request_list(void)
{
    return ask((struct nt_fetch_request){.kind = NT_FETCH_LIST}, "root://server//folder/");
}

TEST(what_is_in_a_folder_is_reported, .setup = set_up_folder, .teardown = tear_down)
{
    uint64_t id = request_list();
    work_until(id, NT_FETCH_DONE);
    ck_assert_str_eq(answers[id].names, "file.root 17 1000 1000,folder/ 4096 2000 ,unknown 0 -1 ,");
    ck_assert_uint_eq(files.jobs.totals.requests, 1);
}

TEST(a_folder_is_requested_again_where_that_may_help, .setup = set_up_folder, .teardown = tear_down, .end = 2)
{
    client.is_held = true;
    uint64_t id = request_list();
    work();
    answer_badly(_i ? NT_OUTCOME_FAILED : NT_OUTCOME_RETRY, true);
    client.is_held = false;
    work_until(id, _i ? NT_FETCH_FAILED : NT_FETCH_DONE);
    ck_assert_uint_eq(client.count, _i ? 1 : 2);
}

TEST(a_list_that_is_not_requested_any_more_is_freed_when_it_has_come, .setup = set_up_folder,
     .teardown = tear_down)
{
    client.is_held = true;
    uint64_t id = request_list();
    work();
    cancel(id);
    ck_assert_uint_eq(client.lists, 1);
    answer_well(next_call());
    work();
    ck_assert_uint_eq(answers[id].kind, 0);
}

TEST(a_folder_for_which_there_is_no_memory_is_reported, .setup = set_up_folder, .teardown = tear_down)
{
    client.is_without_memory = true;
    check_failure(request_list(), NT_FETCH_UNREACHABLE, "out of memory");
    ck_assert_uint_eq(client.count, 0);
}

TEST(a_list_is_not_begun_again_when_its_time_is_over, .setup = set_up_folder, .teardown = tear_down)
{
    client.is_held = true;
    uint64_t id =
        ask((struct nt_fetch_request){.kind = NT_FETCH_LIST, .milliseconds = 200}, "root://server//folder/");
    check_failure(id, NT_FETCH_UNREACHABLE,
                  "timed out after 0.2 s: the server does not answer, or is too slow");
    ck_assert_uint_eq(client.lists, 1);
    answer_well(next_call());
    work();
    ck_assert_uint_eq(client.count, 1);
}

TEST(more_entries_than_are_listed_are_no_list, .setup = set_up_folder, .teardown = tear_down)
{
    client.is_held = true;
    uint64_t id = request_list();
    work();
    LIST_FIRST(&files.all)->entries = NT_FETCH_MAX_ENTRIES - 2;
    answer_well(next_call());
    check_failure(id, NT_FETCH_UNSUPPORTED, "the directory has more entries than the list");
    ck_assert_str_eq(answers[id].names, "file.root 17 1000 1000,folder/ 4096 2000 ,");
}

TEST(a_listed_file_is_opened_by_its_first_read_and_compared, .setup = set_up_folder, .teardown = tear_down,
     .end = 2)
{
    const char text[] = "root://server//file?key\0001000";
    uint64_t id = ask_with((struct nt_fetch_request){.kind = NT_FETCH_OPEN_LISTED, .bytes = SIZE}, text,
                           sizeof(text) - 1);
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(client.count, 0);
    client.attributes.modified += _i;
    check_outcome(ask_for(10000, 10), _i == 0);
}
