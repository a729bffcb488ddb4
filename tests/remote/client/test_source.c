/* SPDX-License-Identifier: MIT
 *
 * Files on servers, with a fake network helper that the client does not trust.
 */
#include "remote/client/client.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "fake_process.h"
#include "forked.h"
#include "core/io/folder.h"
#include "core/io/source.h"
#include "remote/protocol.h"
#include <ntuple/source.h>

static enum nt_status open_file(void)
{
    return nt_source_open_address("http://h/file?secret", fetcher, &source, &error);
}

#define OTHER "http://h/file: the network helper sent an unexpected answer"
#define SHORT "http://h/file: the network helper returned fewer bytes than requested"

/* ---- answers to an opening ---- */

static char long_names[NT_FETCH_VALIDATOR_BYTES + NT_FETCH_SERVER_BYTES + 2];

static void open_without_names(uint64_t id)
{
    say_opened(id, SIZE, NULL, 0);
}

static void open_without_end_of_stamp(uint64_t id)
{
    say_opened(id, SIZE, "stamp", 5);
}

static void open_with_long_stamp(uint64_t id)
{
    memset(long_names, 's', sizeof(long_names));
    long_names[NT_FETCH_VALIDATOR_BYTES] = '\0';
    say_opened(id, SIZE, long_names, NT_FETCH_VALIDATOR_BYTES + 1);
}

static void open_with_long_server(uint64_t id)
{
    memset(long_names, 's', sizeof(long_names));
    long_names[1] = '\0';
    say_opened(id, SIZE, long_names, NT_FETCH_SERVER_BYTES + 2);
}

static void open_too_large(uint64_t id)
{
    say_opened(id, (uint64_t)INT64_MAX + 1, "\0server", 7);
}

static void open_twice(uint64_t id)
{
    say_opened(id, SIZE, "\0server", 7);
    say_opened(id, SIZE + 1, "\0server", 7);
}

static void give_data_first(uint64_t id)
{
    say_data(id, 0, 10);
}

static void give_too_much(uint64_t id)
{
    say_opened(id, SIZE, "\0server", 7);
    say_data(id, 0, ENDS + 1);
}

static void give_an_entry(uint64_t id)
{
    say((struct nt_fetch_answer){.kind = NT_FETCH_ENTRY, .id = id}, "name\0", 5);
}

static void give_too_little(uint64_t id)
{
    say_opened(id, SIZE, "\0server", 7);
    say_data(id, 0, ENDS - 1);
    say_done(id);
}

static void give_nothing(uint64_t id)
{
    say_done(id);
}

static void fail_without_reason(uint64_t id)
{
    char message[1000];
    memset(message, 'm', sizeof(message));
    say((struct nt_fetch_answer){.kind = NT_FETCH_FAILED, .id = id, .failure = UINT32_MAX}, message,
        sizeof(message));
}

static void fail_forbidden(uint64_t id)
{
    say((struct nt_fetch_answer){.kind = NT_FETCH_FAILED, .id = id, .failure = NT_FETCH_FORBIDDEN}, "no", 2);
}

static const struct {
    void (*say)(uint64_t id);
    enum nt_status status;
    const char *message;
} openings[] = {
    {open_without_names, NT_UNREACHABLE, OTHER},
    {open_without_end_of_stamp, NT_UNREACHABLE, OTHER},
    {open_with_long_stamp, NT_UNREACHABLE, OTHER},
    {open_with_long_server, NT_UNREACHABLE, OTHER},
    {open_too_large, NT_UNREACHABLE, OTHER},
    {open_twice, NT_UNREACHABLE, OTHER},
    {give_data_first, NT_UNREACHABLE, OTHER},
    {give_too_much, NT_UNREACHABLE, OTHER},
    {give_an_entry, NT_UNREACHABLE, OTHER},
    {give_too_little, NT_UNREACHABLE, SHORT},
    {give_nothing, NT_UNREACHABLE, SHORT},
    {fail_without_reason, NT_UNREACHABLE, "http://h/file: mmm"},
    {fail_forbidden, NT_IO, "http://h/file: no"},
};
static int chosen;

static bool open_badly(const struct nt_fetch_request *request)
{
    if (request->kind == NT_FETCH_OPEN)
        openings[chosen].say(request->id);
    return true;
}

TEST(openings_that_are_answered_wrongly_fail, .setup = set_up, .teardown = tear_down,
     .end = COUNT_OF(openings))
{
    chosen = _i;
    process.answer = open_badly;
    assert_status(openings[_i].status, open_file());
    check_message(openings[_i].message);
    ck_assert_int_eq(error.system_error, openings[_i].status == NT_IO ? EACCES : 0);
    process.answer = answer_well;
    assert_ok(open_file());
    assert_ok(read_middle());
}

/* ---- answers to a reading ---- */

static void give_another_part(uint64_t id)
{
    say_data(id, SIZE / 2 + 1, 9);
}

static void give_a_longer_part(uint64_t id)
{
    say_data(id, SIZE / 2, SIZE / 2);
}

static void give_a_part_again(uint64_t id)
{
    say_data(id, SIZE / 2, 5);
    say_data(id, SIZE / 2, 5);
}

static void give_a_shorter_part(uint64_t id)
{
    say_data(id, SIZE / 2, 5);
    say_done(id);
}

static const struct {
    void (*say)(uint64_t id);
    const char *message;
} readings[] = {
    {give_another_part, OTHER}, {give_a_longer_part, OTHER}, {give_a_part_again, OTHER},
    {give_an_entry, OTHER},     {open_twice, OTHER},         {give_a_shorter_part, SHORT},
};

static bool read_badly(const struct nt_fetch_request *request)
{
    if (request->kind == NT_FETCH_READ)
        readings[chosen].say(request->id);
    return true;
}

TEST(readings_that_are_answered_wrongly_fail, .setup = set_up, .teardown = tear_down,
     .end = COUNT_OF(readings))
{
    assert_ok(open_file());
    chosen = _i;
    process.answer = read_badly;
    assert_status(NT_UNREACHABLE, read_middle());
    check_message(readings[_i].message);
}

/* Requests to another process, or that were never made. */
static bool answer_others_too(const struct nt_fetch_request *request)
{
    say_done(request->id + 1);
    say((struct nt_fetch_answer){.kind = NT_FETCH_DONE, .epoch = 17, .id = request->id}, NULL, 0);
    say((struct nt_fetch_answer){.kind = NT_FETCH_FAILED, .epoch = 17, .id = request->id}, "no", 2);
    say((struct nt_fetch_answer){.kind = NT_FETCH_FAILED, .file = request->file + 1, .id = request->id}, "no",
        2);
    return answer_well(request);
}

TEST(answers_of_other_processes_of_other_files_and_to_other_questions_are_left_out, .setup = set_up,
     .teardown = tear_down)
{
    process.answer = answer_others_too;
    assert_ok(open_file());
    assert_ok(read_middle());
}

/* ---- the process's life ---- */

static bool end(const struct nt_fetch_request *request)
{
    return false;
}

TEST(a_process_that_ends_is_reported, .setup = set_up, .teardown = tear_down, .end = 2)
{
    if (_i) {
        assert_ok(open_file());
        process.answer = end;
        assert_status(NT_UNREACHABLE, read_middle());
    } else {
        process.answer = end;
        assert_status(NT_UNREACHABLE, open_file());
    }
    check_message("http://h/file: the network helper exited: open or mount the file again");
    nt_source_close(source);
    assert_status(NT_UNREACHABLE, open_file()); /* nor is there another one */
    source = NULL;
    check_message("http://h/file: the network helper exited: open or mount the file again");
}

static bool be_another(const struct nt_fetch_request *request)
{
    if (request->kind == NT_FETCH_READ && process.epoch == 1) {
        greet(2);
        return true;
    }
    return answer_well(request);
}

TEST(what_was_asked_of_a_process_that_is_gone_fails_and_is_opened_anew, .setup = set_up,
     .teardown = tear_down)
{
    assert_ok(open_file());
    process.answer = be_another;
    assert_status(NT_UNREACHABLE, read_middle());
    check_message("http://h/file: the network helper was stopped");
    nt_source_close(source);
    assert_ok(open_file());
    assert_ok(read_middle());
}

static atomic_uint closed;

/* Its file is another one. */
static bool be_another_with_another_file(const struct nt_fetch_request *request)
{
    closed += request->kind == NT_FETCH_CLOSE;
    if (request->kind == NT_FETCH_OPEN && process.epoch == 2) {
        say_opened(request->id, SIZE, "\"2\"\0server", 10);
        say_data(request->id, 0, ENDS);
        say_done(request->id);
        return true;
    }
    return be_another(request);
}

TEST(a_file_that_is_opened_anew_and_has_changed_is_not_left_open, .setup = set_up, .teardown = tear_down)
{
    closed = 0;
    assert_ok(open_file());
    process.answer = be_another_with_another_file;
    assert_status(NT_UNREACHABLE, read_middle());
    ((struct nt_remote_file *)source)->backoff.until = 0;
    assert_status(NT_CHANGED, read_middle());
    end_process();
    ck_assert_uint_eq(closed, 1);
}

/* ---- how much at once ---- */

enum { HUGE_SIZE = 1 << 30, MAX_PARTS = 192 };
static atomic_uint reads, cancelled;

static bool open_huge(const struct nt_fetch_request *request)
{
    reads += request->kind == NT_FETCH_READ;
    cancelled += request->kind == NT_FETCH_CANCEL;
    if (request->kind == NT_FETCH_OPEN) {
        say_opened(request->id, HUGE_SIZE, "\"1\"\0server", 10);
        say_data(request->id, 0, ENDS);
        say_done(request->id);
    }
    return true;
}

TEST(the_number_of_prefetched_parts_is_limited, .setup = set_up, .teardown = tear_down)
{
    struct nt_extent extents[2 * MAX_PARTS];
    process.answer = open_huge;
    reads = cancelled = 0;
    assert_ok(open_file());
    for (uint64_t i = 0; i < 2 * MAX_PARTS; i++)
        extents[i] = (struct nt_extent){(i + 1) << 21, 10};
    nt_source_prefetch(source, extents, 2 * MAX_PARTS, NT_PREFETCH_ONLY);
    ck_assert_uint_eq(fetcher->ahead_count, MAX_PARTS);
    ck_assert_uint_eq(fetcher->ahead_bytes, MAX_PARTS * 10); /* parts of pages, and nothing beside them */
    while (reads < MAX_PARTS)                                /* a full channel would lose cancellations */
        usleep(1000);
    nt_source_close(source);
    source = NULL;
    ck_assert_uint_eq(fetcher->ahead_count, 0);
    ck_assert_uint_eq(fetcher->ahead_bytes, 0);
    end_process();
    ck_assert_uint_eq(reads, MAX_PARTS);
    ck_assert_uint_eq(cancelled, MAX_PARTS);
}

static atomic_bool is_busy;

static bool be_busy(const struct nt_fetch_request *request)
{
    while (is_busy)
        usleep(1000);
    closed += request->kind == NT_FETCH_CLOSE;
    return open_huge(request);
}

TEST(a_file_is_closed_although_cancellations_fill_the_channel, .setup = set_up, .teardown = tear_down)
{
    struct nt_extent extents[MAX_PARTS];
    process.answer = be_busy;
    reads = closed = 0;
    assert_ok(open_file());
    is_busy = true;
    for (uint64_t i = 0; i < MAX_PARTS; i++)
        extents[i] = (struct nt_extent){(i + 1) << 21, 10};
    nt_source_prefetch(source, extents, MAX_PARTS, NT_PREFETCH_ONLY);
    nt_source_close(source);
    source = NULL;
    is_busy = false;
    end_process();
    ck_assert_uint_eq(reads, MAX_PARTS);
    ck_assert_uint_eq(closed, 1);
}

/* ---- what is requested ahead, and in which order ---- */

static struct nt_extent requested[8];

static bool open_and_note(const struct nt_fetch_request *request)
{
    if (request->kind == NT_FETCH_READ && reads < COUNT_OF(requested))
        requested[reads] = (struct nt_extent){request->offset, request->bytes};
    return open_huge(request);
}

TEST(long_ranges_are_requested_first_and_nothing_between_requested_ones, .setup = set_up,
     .teardown = tear_down)
{
    static const struct nt_extent extents[] = {{1 << 21, 20}, {(1 << 21) + 100000, 10}, {1 << 22, 200000}};
    process.answer = open_and_note;
    reads = 0;
    assert_ok(open_file());
    nt_source_prefetch(source, extents, COUNT_OF(extents), NT_PREFETCH_ONLY);
    nt_source_prefetch(source, extents, COUNT_OF(extents), NT_PREFETCH_NOW); /* joins over larger gaps */
    nt_source_close(source);
    source = NULL;
    end_process();
    ck_assert_uint_eq(reads, COUNT_OF(extents));
    for (size_t i = 0; i < COUNT_OF(extents); i++) {
        const struct nt_extent *expected = &extents[(i + 2) % COUNT_OF(extents)];
        ck_assert_uint_eq(requested[i].offset, expected->offset);
        ck_assert_uint_eq(requested[i].bytes, expected->bytes);
    }
}

/* ---- the start of a long range ---- */

static const struct nt_extent long_range = {1 << 21, 200000}, other_range = {1 << 22, 10};
static uint64_t long_id;

/* The second half of the long range comes some time after the other one is requested. */
static bool answer_half(const struct nt_fetch_request *request)
{
    uint64_t half = long_range.bytes / 2;
    open_huge(request);
    if (request->kind != NT_FETCH_READ)
        return true;
    if (request->offset == long_range.offset) {
        long_id = request->id;
        say_data(long_id, long_range.offset, half);
        return true;
    }
    usleep(20000);
    say_data(long_id, long_range.offset + half, half);
    say_done(long_id);
    return true;
}

static void read_byte(uint64_t offset)
{
    uint8_t byte;
    assert_ok(nt_source_read(source, offset, &byte, 1, &error));
    ck_assert_uint_eq(byte, byte_at(offset));
}

TEST(the_start_of_a_long_range_is_read_while_the_rest_comes, .setup = set_up, .teardown = tear_down)
{
    process.answer = answer_half;
    reads = cancelled = 0;
    assert_ok(open_file());
    nt_source_prefetch(source, &long_range, 1, NT_PREFETCH_ONLY);
    read_byte(long_range.offset);
    read_byte(long_range.offset + long_range.bytes / 2 - 1);
    ck_assert_uint_eq(fetcher->range_space.bytes, ENDS);
    nt_source_prefetch(source, &other_range, 1, NT_PREFETCH_ONLY);
    read_byte(long_range.offset + long_range.bytes - 1);
    ck_assert_uint_eq(reads, 2);
    ck_assert_uint_eq(cancelled, 0);
}

/* They may be damaged. */
TEST(bytes_of_a_long_range_are_forgotten_while_the_rest_comes, .setup = set_up, .teardown = tear_down)
{
    process.answer = answer_half;
    reads = cancelled = 0;
    assert_ok(open_file());
    nt_source_prefetch(source, &long_range, 1, NT_PREFETCH_ONLY);
    read_byte(long_range.offset);
    nt_source_prefetch(source, &other_range, 1, NT_PREFETCH_ONLY);
    ck_assert(nt_source_invalidate(source, long_range.offset, 1));
    ck_assert_uint_eq(fetcher->range_space.bytes, ENDS);
    nt_source_prefetch(source, &long_range, 1, NT_PREFETCH_ONLY);
    read_byte(long_range.offset);
    ck_assert_uint_eq(reads, 3);
}

/* ---- bytes that nobody may need ---- */

TEST(half_of_the_space_may_be_prefetched_in_vain, .setup = set_up, .teardown = tear_down)
{
    static const struct nt_extent extent = {1 << 21, 200000};
    uint64_t half = fetcher->range_space.max_bytes / 2;
    process.answer = open_huge;
    assert_ok(open_file());
    ck_assert_uint_eq(nt_source_spare_bytes(source, false), half - ENDS);
    nt_source_prefetch(source, &extent, 1, NT_PREFETCH_ONLY);
    ck_assert_uint_eq(nt_source_spare_bytes(source, false), half - ENDS - extent.bytes);
    fetcher->range_space.max_bytes = 2 * ENDS;
    ck_assert_uint_eq(nt_source_spare_bytes(source, false), 0);
    fetcher->range_space.max_bytes = 2 * half;
    nt_fetcher_read_later(fetcher);
    ck_assert_uint_eq(nt_source_spare_bytes(source, false), 0);
    ck_assert_uint_ge(nt_source_spare_bytes(source, true), half - extent.bytes);
}

/* ---- silence ---- */

static bool be_silent(const struct nt_fetch_request *request)
{
    return true;
}

static void *read_in_vain(void *argument)
{
    struct nt_error failure;
    char byte;
    ck_assert_int_eq(nt_source_read(source, SIZE / 2, &byte, 1, &failure), NT_UNREACHABLE);
    ck_assert_str_eq(failure.message,
                     "http://h/file: timed out after 0.01 s: the network helper does not answer");
    return NULL;
}

static void *list_in_vain(void *argument)
{
    struct nt_error failure;
    struct nt_folder *none;
    ck_assert_int_eq(nt_folder_open_address("http://h/folder/", fetcher, &none, &failure), NT_UNREACHABLE);
    ck_assert_ptr_nonnull(
        strstr(failure.message, "timed out after 0.01 s: the network helper does not answer"));
    return NULL;
}

static uint64_t epoch_now(void)
{
    nt_fetcher_lock(fetcher);
    uint64_t epoch = fetcher->epoch;
    nt_fetcher_unlock(fetcher);
    return epoch;
}

/* All at once: each takes its given time longer than requested. One reads, one waits for the same
 * bytes. */
TEST(a_process_that_says_nothing_is_not_waited_for_for_ever, .setup = set_up, .teardown = tear_down, .end = 2)
{
    static void *(*const waiting[])(void *) = {read_in_vain, read_in_vain, list_in_vain};
    pthread_t threads[3];
    struct nt_source *none;
    assert_ok(open_file());
    process.answer = be_silent;
    fetcher->milliseconds = 10;
    if (_i) /* the file must be opened again: by one, while the other waits */
        for (greet(2); epoch_now() != 2;)
            usleep(1000);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, waiting[i], NULL), 0);
    assert_status(NT_UNREACHABLE, nt_source_open_address("http://h/other", fetcher, &none, &error));
    check_message("http://h/other: timed out after 0.01 s: the network helper does not answer");
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

/* ---- forked processes ---- */

static atomic_uint asked;

static bool count_and_be_silent(const struct nt_fetch_request *request)
{
    atomic_fetch_add(&asked, request->kind == NT_FETCH_READ);
    return true;
}

static void *read_as_parent(void *unused)
{
    assert_ok(read_middle());
    return NULL;
}

static bool reads_as_child(void)
{
    process.answer = answer_well;
    return read_middle() == NT_OK && process.starts == 2 && fetcher->open_count == 1 &&
           fetcher->ahead_count == 0;
}

static int status_of(pid_t child)
{
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

/* Bytes on their way to the parent, where a thread waits for them, do not reach the child, which
 * requests them itself. */
TEST(a_forked_process_starts_its_own_helper, .setup = set_up, .teardown = tear_down,
     .is_skipped = !NT_MAY_FORK_BESIDE_THREADS)
{
    static const struct nt_extent ahead = {SIZE / 2 - 100, 2000};
    pthread_t thread;
    assert_ok(open_file());
    process.answer = count_and_be_silent;
    nt_source_prefetch(source, &ahead, 1, NT_PREFETCH_SOON);
    ck_assert_int_eq(pthread_create(&thread, NULL, read_as_parent, NULL), 0);
    while (atomic_load(&asked) == 0)
        usleep(1000);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        nt_test_end_within(20);
        bool is_good = reads_as_child();
        nt_source_close(source);
        nt_fetcher_free(fetcher);
        _exit(is_good ? 0 : 1);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_uint_eq(process.starts, 1);
    process.answer = answer_well;
    say_data(2, ahead.offset, SIZE - NT_FETCH_END_BYTES - ahead.offset); /* up to the bytes of opening it */
    say_done(2);
    pthread_join(thread, NULL);
}

/* Like the worker of a mount. */
TEST(a_process_that_is_handed_over_is_used_by_the_forked_process, .setup = set_up, .teardown = tear_down,
     .is_skipped = !NT_MAY_FORK_BESIDE_THREADS)
{
    nt_fetcher_hand_over(fetcher);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        nt_test_end_within(20);
        _exit(open_file() == NT_OK && read_middle() == NT_OK && process.starts == 1 ? 0 : 1);
    }
    ck_assert_int_eq(status_of(child), 0);
}

/* The file has changed when the child opens it. */
static bool open_another(const struct nt_fetch_request *request)
{
    if (request->kind != NT_FETCH_OPEN)
        return answer_well(request);
    say_opened(request->id, SIZE, "\"2\"\0server", 10);
    say_data(request->id, 0, ENDS);
    say_done(request->id);
    return true;
}

TEST(a_forked_process_reads_no_other_version, .setup = set_up, .teardown = tear_down,
     .is_skipped = !NT_MAY_FORK_BESIDE_THREADS)
{
    uint8_t byte;
    assert_ok(open_file());
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        nt_test_end_within(20);
        process.answer = open_another;
        bool is_kept = nt_source_read(source, 0, &byte, 1, &error) == NT_OK && byte == byte_at(0);
        _exit(is_kept && read_middle() == NT_CHANGED ? 0 : 1);
    }
    ck_assert_int_eq(status_of(child), 0);
    assert_ok(read_middle());
}

/* ---- the sandbox ---- */

TEST(the_sandbox_of_the_process_is_reported, .setup = set_up, .teardown = tear_down)
{
    struct nt_helper_sandbox sandbox;
    assert_ok(nt_helper_await_sandbox(fetcher, &sandbox, &error));
    ck_assert_str_eq(sandbox.parts, "all");
    assert_ok(open_file());
    nt_helper_sandbox(fetcher, &sandbox);
    ck_assert_str_eq(sandbox.parts, "all");
}

TEST(times_have_a_limit, .setup = set_up, .teardown = tear_down)
{
    struct nt_fetcher_options options = NT_FETCHER_OPTIONS_INIT;
    struct nt_fetcher *none;
    options.timeout_seconds = NT_MAX_TIMEOUT_SECONDS + 1;
    assert_status(NT_INVALID, nt_fetcher_new(&options, &none, &error));
    ck_assert_str_eq(error.message, "timeout_seconds: expected at most 86400, found 86401");
}
