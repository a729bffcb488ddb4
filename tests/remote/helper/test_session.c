/* SPDX-License-Identifier: MIT
 *
 * Arbitrary requests to the network helper, with a fake backend: their answers and effects.
 */
#include "remote/helper/helper.h"

#include "asking.h"
#include "remote/helper/result.h"
#include "remote/protocol.h"

enum { AT_ONCE = 4, AT_ONCE_IF_MANY = 8, MOST_TRIED = 2 * AT_ONCE_IF_MANY, MAX_BYTES = 10 * 1000 };

/* ---- an backend ---- */

static struct {
    struct nt_backend backend;
    unsigned opened, closed, lists, stopped;
    struct nt_remote_handle *last;
    struct nt_remote_handle *listing;
    struct nt_transfer *jobs[MOST_TRIED];
    unsigned tried, resumed;
    bool fails;          /* to open, to list, to try: */
    const char *problem; /* with an address; NULL: without memory */
} fake;

static bool open_file(struct nt_remote_handle *file, const char *address, const char **problem_ret)
{
    ck_assert_ptr_eq(file->backend, &fake.backend);
    ck_assert_str_eq(address, "fake://file");
    *problem_ret = fake.problem;
    fake.last = file;
    fake.opened++;
    return !fake.fails;
}

static bool open_listed(struct nt_remote_handle *file, const char *address, const char *validator,
                        const char **problem_ret)
{
    ck_assert_str_eq(validator, "stamp");
    return open_file(file, address, problem_ret);
}

static void close_file(struct nt_remote_handle *file)
{
    fake.closed++;
}

static bool list(struct nt_remote_handle *listing, const char *address, const char **problem_ret)
{
    ck_assert_str_eq(address, "fake://folder/");
    *problem_ret = fake.problem;
    fake.listing = listing;
    fake.lists++;
    return !fake.fails;
}

static bool start(struct nt_transfer *job, uint64_t milliseconds)
{
    ck_assert_uint_ge(milliseconds, 1);
    if (fake.fails)
        return false;
    ck_assert_uint_lt(fake.tried, MOST_TRIED);
    fake.jobs[fake.tried++] = job;
    return true;
}

static void stop(struct nt_transfer *job)
{
    fake.stopped++;
}

static void resume(struct nt_transfer *job)
{
    fake.resumed++;
}

static void do_nothing(struct nt_backend *backend)
{
}

static struct nt_backend_ops ops = {.at_once = AT_ONCE,
                                    .at_once_if_many = AT_ONCE_IF_MANY,
                                    .max_bytes = MAX_BYTES,
                                    .handle_bytes = sizeof(struct nt_remote_handle),
                                    .open = open_file,
                                    .open_listed = open_listed,
                                    .close = close_file,
                                    .list = list,
                                    .start = start,
                                    .stop = stop,
                                    .resume = resume,
                                    .work = do_nothing};

/* ---- Requests ---- */

static void set_up(void)
{
    memset(&fake, 0, sizeof(fake));
    ops.max_bytes = MAX_BYTES;
    begin_asking();
    nt_transfers_add_backend(&files.jobs, &fake.backend, &ops);
}

static void tear_down(void)
{
    ask((struct nt_fetch_request){.kind = NT_FETCH_CLOSE}, "");
    work();
    ck_assert_uint_eq(fake.closed, fake.opened + fake.lists);
    end_asking();
}

static uint64_t request_open(uint32_t number)
{
    return ask((struct nt_fetch_request){.kind = NT_FETCH_OPEN, .file = number}, "fake://file");
}

static uint64_t ask_to_open_listed(void)
{
    static const char text[] = "fake://file\0stamp";
    return ask_with((struct nt_fetch_request){.kind = NT_FETCH_OPEN_LISTED, .bytes = SIZE}, text,
                    sizeof(text) - 1);
}

static uint64_t request_list(void)
{
    return ask((struct nt_fetch_request){.kind = NT_FETCH_LIST}, "fake://folder/");
}

static void open_of_size(uint64_t size)
{
    uint64_t id = request_open(1);
    nt_file_opened(fake.last, &(struct nt_open_result){.size = size, .validator = "", .server = "server"});
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(answers[id].size, size);
}

static void open_well(void)
{
    open_of_size(SIZE);
}

static void bring(struct nt_transfer *job, uint64_t offset, uint64_t bytes)
{
    char content[MAX_BYTES];
    ck_assert_uint_le(bytes, sizeof(content));
    for (uint64_t i = 0; i < bytes; i++)
        content[i] = byte_at(offset + i);
    if (!job->take(job, offset, content, bytes))
        return;
    job->result = (struct nt_result){.outcome = NT_OUTCOME_OK, .got = bytes};
    nt_transfer_end_try(job);
}

/* ---- files and directories ---- */

static const struct {
    uint32_t kind;
    const char *text;
    size_t length;
    uint64_t bytes;
    const char *message;
} no_addresses[] = {
    {NT_FETCH_OPEN, "fake://file\0stamp", 17, 0, "cannot open more files"},
    {NT_FETCH_OPEN, "\0", 1, 0, "cannot open more files"},
    {NT_FETCH_OPEN_LISTED, "fake://file", 11, SIZE, "cannot open more files"},
    {NT_FETCH_OPEN_LISTED, "fake://file\0stamp", 17, (uint64_t)INT64_MAX + 1, "cannot open more files"},
    {NT_FETCH_LIST, "fake://folder/\0more", 19, 0, "cannot list more directories"},
};

TEST(texts_of_another_form_are_refused, .setup = set_up, .teardown = tear_down, .end = COUNT_OF(no_addresses))
{
    uint64_t id =
        ask_with((struct nt_fetch_request){.kind = no_addresses[_i].kind, .bytes = no_addresses[_i].bytes},
                 no_addresses[_i].text, no_addresses[_i].length);
    check_failure(id, NT_FETCH_UNREACHABLE, no_addresses[_i].message);
    ck_assert_uint_eq(fake.opened + fake.lists, 0);
}

TEST(a_number_is_of_one_file, .setup = set_up, .teardown = tear_down)
{
    open_well();
    check_failure(request_open(1), NT_FETCH_UNREACHABLE, "cannot open more files");
    ck_assert_uint_eq(files.count, 1);
    ask((struct nt_fetch_request){.kind = NT_FETCH_CLOSE}, "");
    ck_assert_uint_eq(files.count, 0);
    open_well();
}

TEST(only_so_many_files_are_open, .setup = set_up, .teardown = tear_down)
{
    open_well();
    files.count = NT_FETCH_MAX_FILES;
    check_failure(request_open(2), NT_FETCH_UNREACHABLE, "cannot open more files");
    files.count = 1;
}

static const char *const problems[] = {"it is no address", NULL};
static uint64_t ask_to_open_first(void)
{
    return request_open(1);
}
static uint64_t (*const asked[])(void) = {ask_to_open_first, request_list, ask_to_open_listed};

TEST(what_an_engine_does_not_begin_is_reported, .setup = set_up, .teardown = tear_down,
     .end = 2 * COUNT_OF(asked))
{
    const char *problem = problems[_i % 2];
    fake.fails = true;
    fake.problem = problem;
    check_failure(asked[_i / 2](), problem ? NT_FETCH_INVALID : NT_FETCH_UNREACHABLE,
                  problem ? problem : "out of memory");
}

TEST(what_was_listed_is_open_at_once, .setup = set_up, .teardown = tear_down)
{
    uint64_t id = ask_to_open_listed();
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(fake.tried, 0);
    id = ask_for(SIZE - 10, 10);
    work();
    bring(fake.jobs[0], SIZE - 10, 10);
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(answers[id].bytes, 10);
}

TEST(an_opening_or_a_list_that_is_requested_no_more_is_not_answered, .setup = set_up, .teardown = tear_down,
     .end = 2)
{
    uint64_t id = asked[_i]();
    cancel(id + 1); /* nothing has this number */
    ck_assert_uint_eq(fake.closed, 0);
    cancel(id);
    ck_assert_uint_eq(fake.closed, 1);
    work();
    ck_assert_uint_eq(answers[id].kind, 0);
}

TEST(a_file_that_is_open_is_not_cancelled, .setup = set_up, .teardown = tear_down)
{
    open_well();
    cancel(last_id);
    ck_assert_uint_eq(files.count, 1);
}

static const struct nt_listed entries[] = {{"file", false, 17, 1000, "stamp"},
                                           {"", false, 1, 1, ""},
                                           {"..", true, 1, 1, ""},
                                           {"a/b", false, 1, 1, ""},
                                           {"folder", true, 0, 2000, ""}};

TEST(what_is_no_name_or_no_size_is_left_out_of_lists, .setup = set_up, .teardown = tear_down)
{
    uint64_t id = request_list();
    for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++)
        ck_assert(nt_listing_add(fake.listing, &entries[i]));
    char name[NT_FETCH_NAME_BYTES + 2], validator[NT_FETCH_VALIDATOR_BYTES + 1];
    memset(name, 'n', sizeof(name) - 1);
    memset(validator, 's', sizeof(validator) - 1);
    name[sizeof(name) - 1] = validator[sizeof(validator) - 1] = '\0';
    ck_assert(nt_listing_add(fake.listing, &(struct nt_listed){.name = name, .validator = ""}));
    ck_assert(nt_listing_add(fake.listing, &(struct nt_listed){.name = "name", .validator = validator}));
    ck_assert(nt_listing_add(
        fake.listing, &(struct nt_listed){.name = "name", .size = (uint64_t)INT64_MAX + 1, .validator = ""}));
    nt_listing_done(fake.listing);
    work_until(id, NT_FETCH_DONE);
    ck_assert_str_eq(answers[id].names, "file 17 1000 stamp,folder/ 0 2000 ,");
}

/* ---- parts ---- */

static const struct {
    uint32_t file;
    uint64_t offset, bytes;
} no_parts[] = {{1, 0, 0},
                {1, SIZE, 1},
                {1, SIZE - 1, 2},
                {1, UINT64_MAX, 2},
                {1, 1, UINT64_MAX},
                {1, 0, NT_FETCH_MAX_BYTES + 1},
                {2, 0, 1 /* none */},
                {3, 0, 1 /* not open yet */}};

TEST(what_is_not_within_a_file_is_refused, .setup = set_up, .teardown = tear_down, .end = COUNT_OF(no_parts))
{
    open_well();
    request_open(3);
    uint64_t id = ask((struct nt_fetch_request){.kind = NT_FETCH_READ,
                                                .file = no_parts[_i].file,
                                                .offset = no_parts[_i].offset,
                                                .bytes = no_parts[_i].bytes},
                      "");
    check_failure(id, NT_FETCH_UNREACHABLE, "received an unknown request");
    ck_assert_uint_eq(fake.tried, 0);
    ask((struct nt_fetch_request){.kind = NT_FETCH_CLOSE, .file = 3}, "");
}

TEST(only_so_much_is_requested_at_once, .setup = set_up, .teardown = tear_down)
{
    open_well();
    files.jobs.count = NT_FETCH_MAX_REQUESTS;
    check_failure(ask_for(0, 1), NT_FETCH_UNREACHABLE, "received an unknown request");
    check_failure(request_list(), NT_FETCH_UNREACHABLE, "cannot list more directories");
    files.jobs.count = 0;
}

TEST(a_part_waits_for_its_receiver, .setup = set_up, .teardown = tear_down)
{
    open_well();
    fill_channel();
    uint64_t id = ask_for(100, 10);
    nt_transfers_work(&files.jobs);
    bring(fake.jobs[0], 100, 10);
    ck_assert(fake.jobs[0]->is_paused);
    work_untaken();
    ck_assert_uint_eq(fake.resumed, 0);
    work();
    ck_assert_uint_eq(fake.resumed, 1);
    bring(fake.jobs[0], 100, 10);
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(answers[id].bytes, 10);
}

TEST(a_part_for_which_there_is_no_memory_is_reported, .setup = set_up, .teardown = tear_down)
{
    open_well();
    fake.fails = true;
    check_failure(ask_for(0, 1), NT_FETCH_UNREACHABLE, "out of memory");
}

TEST(so_many_bytes_are_requested_at_once_or_one_part_alone, .setup = set_up, .teardown = tear_down)
{
    open_well();
    uint64_t first = ask_for(0, MAX_BYTES - 10), second = ask_for(20000, 11), third = ask_for(30000, 10);
    work();
    ck_assert_uint_eq(fake.tried, 2);
    ck_assert_uint_eq(fake.jobs[1]->first, 30000);
    bring(fake.jobs[1], 30000, 10);
    work_until(third, NT_FETCH_DONE);
    ck_assert_uint_eq(fake.tried, 2);
    bring(fake.jobs[0], 0, MAX_BYTES - 10);
    work_until(first, NT_FETCH_DONE);
    ck_assert_uint_eq(fake.tried, 3);
    bring(fake.jobs[2], 20000, 11);
    work_until(second, NT_FETCH_DONE);
    ask_for(0, 2 * MAX_BYTES);
    work();
    ck_assert_uint_eq(fake.tried, 4);
}

TEST(more_short_parts_are_tried_at_once_if_many_wait, .setup = set_up, .teardown = tear_down, .end = 3)
{
    static const struct {
        unsigned count;
        uint64_t bytes;
        unsigned tried;
    } cases[] = {{AT_ONCE_IF_MANY - 1, 1, AT_ONCE},
                 {AT_ONCE_IF_MANY, NT_SHORT_BYTES, AT_ONCE_IF_MANY},
                 {AT_ONCE_IF_MANY, NT_SHORT_BYTES + 1, AT_ONCE}};
    open_of_size(2 * NT_SHORT_BYTES);
    ops.max_bytes = UINT64_MAX;
    for (unsigned i = 0; i < cases[_i].count; i++)
        ask_for(i, cases[_i].bytes);
    work();
    ck_assert_uint_eq(fake.tried, cases[_i].tried);
}

TEST(short_parts_use_the_connections_that_there_were, .setup = set_up, .teardown = tear_down)
{
    enum { ENDED = AT_ONCE_IF_MANY - AT_ONCE + 2 };
    open_well();
    ops.max_bytes = UINT64_MAX;
    for (unsigned i = 0; i < AT_ONCE_IF_MANY + 3; i++)
        ask_for(i, 1);
    work();
    for (unsigned i = 0; i < ENDED; i++) /* those that are left are not many */
        bring(fake.jobs[i], i, 1);
    work();
    ck_assert_uint_eq(fake.tried, AT_ONCE_IF_MANY + 3);
}

TEST(demand_reads_are_tried_first, .setup = set_up, .teardown = tear_down)
{
    open_well();
    struct nt_fetch_request ahead = {.kind = NT_FETCH_READ, .bytes = 10, .is_prefetch = true};
    ask(ahead, "");
    ahead.offset = 1000;
    uint64_t promoted = ask(ahead, "");
    nt_helper_session_handle(&files, &(struct nt_fetch_request){.kind = NT_FETCH_PROMOTE, .id = promoted + 1},
                             "", 0);
    nt_helper_session_handle(&files, &(struct nt_fetch_request){.kind = NT_FETCH_PROMOTE, .id = promoted}, "",
                             0);
    work();
    ck_assert_uint_eq(fake.jobs[0]->first, 1000);
    ck_assert_uint_eq(fake.jobs[1]->first, 0);
}

TEST(parts_are_not_waited_for_longer_than_was_said, .setup = set_up, .teardown = tear_down)
{
    open_well();
    struct nt_fetch_request request = {.kind = NT_FETCH_READ, .bytes = MAX_BYTES, .milliseconds = 200};
    uint64_t silent = ask(request, ""), after = ask(request, "");
    work();
    ck_assert_uint_eq(fake.tried, 1);
    check_failure(silent, NT_FETCH_UNREACHABLE,
                  "timed out after 0.2 s: the server does not answer, or is too slow (tries: 1)");
    check_failure(after, NT_FETCH_UNREACHABLE, "timed out after 0.2 s: other requests came first (tries: 0)");
}

TEST(a_try_that_ends_too_late_is_not_followed_by_another, .setup = set_up, .teardown = tear_down)
{
    open_well();
    uint64_t id = ask((struct nt_fetch_request){.kind = NT_FETCH_READ, .bytes = 10, .milliseconds = 200}, "");
    nt_transfers_work(&files.jobs);
    usleep(201 * 1000);
    fake.jobs[0]->result = (struct nt_result){NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE, .message = "broken"};
    nt_transfer_end_try(fake.jobs[0]);
    check_failure(id, NT_FETCH_UNREACHABLE, "timed out after 0.2 s: broken (tries: 1)");
}

/* A backend's clock may be a little early. */
TEST(a_try_that_ends_just_before_the_deadline_has_timed_out, .setup = set_up, .teardown = tear_down)
{
    open_well();
    uint64_t id = ask((struct nt_fetch_request){.kind = NT_FETCH_READ, .bytes = 10, .milliseconds = 200}, "");
    nt_transfers_work(&files.jobs);
    usleep(185 * 1000);
    fake.jobs[0]->result = (struct nt_result){NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE, .message = "broken"};
    nt_transfer_end_try(fake.jobs[0]);
    check_failure(id, NT_FETCH_UNREACHABLE, "timed out after 0.2 s: broken (tries: 1)");
}

/* The pause before the next try is at least 100 ms. */
TEST(a_try_for_which_no_time_is_left_is_not_begun, .setup = set_up, .teardown = tear_down)
{
    open_well();
    uint64_t id = ask((struct nt_fetch_request){.kind = NT_FETCH_READ, .bytes = 10, .milliseconds = 100}, "");
    nt_transfers_work(&files.jobs);
    fake.jobs[0]->result = (struct nt_result){NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE, .message = "broken"};
    nt_transfer_end_try(fake.jobs[0]);
    work_until(id, NT_FETCH_FAILED);
    ck_assert_msg(strstr(answers[id].text, "gave up after 0") &&
                      strstr(answers[id].text, " s (timeout 0.1 s): broken (tries: 1)"),
                  "%s", answers[id].text);
}

/* So many seconds that the milliseconds are more than 2^64. */
TEST(a_server_that_asks_for_too_long_a_pause_is_not_tried_again, .setup = set_up, .teardown = tear_down)
{
    open_well();
    uint64_t id = ask_for(0, 10);
    nt_transfers_work(&files.jobs);
    fake.jobs[0]->result =
        (struct nt_result){NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE, 0, UINT64_MAX / 1000 + 1, "busy"};
    nt_transfer_end_try(fake.jobs[0]);
    check_failure(id, NT_FETCH_UNREACHABLE, "it asks to retry after 18446744073709552 s: busy (tries: 1)");
}

TEST(what_is_no_request_is_not_answered, .setup = set_up, .teardown = tear_down, .end = 5)
{
    uint32_t kinds[] = {0, NT_FETCH_HELLO, NT_FETCH_DATA, NT_FETCH_FAILED, UINT32_MAX};
    uint64_t id = ask((struct nt_fetch_request){.kind = kinds[_i]}, "fake://file");
    work();
    ck_assert_uint_eq(answers[id].kind, 0);
    ck_assert_uint_eq(fake.opened + fake.lists, 0);
}

/* By a client that received the address earlier. */
TEST(what_is_none_of_the_sources_is_refused, .setup = set_up, .teardown = tear_down, .end = 2)
{
    static const enum nt_helper_message kinds[] = {NT_FETCH_OPEN, NT_FETCH_LIST};
    char other[] = "fake://other", own[] = "fake://file", *addresses[] = {other};
    files.rules = (struct nt_allow_list){.is_fixed = true, .addresses = addresses, .count = 1};
    check_failure(ask((struct nt_fetch_request){.kind = kinds[_i]}, "fake://file"), NT_FETCH_FORBIDDEN,
                  "it is neither a source nor inside one");
    uint64_t id = ask_with((struct nt_fetch_request){.kind = NT_FETCH_OPEN_LISTED, .bytes = 10},
                           "fake://file\0stamp", 17);
    check_failure(id, NT_FETCH_FORBIDDEN, "it is neither a source nor inside one");
    ck_assert_uint_eq(fake.opened, 0);
    ck_assert_uint_eq(fake.lists, 0);
    addresses[0] = own;
    id = ask_with((struct nt_fetch_request){.kind = NT_FETCH_OPEN_LISTED, .bytes = 10}, "fake://file\0stamp",
                  17);
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(fake.opened, 1);
}
