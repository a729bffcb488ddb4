/* SPDX-License-Identifier: MIT
 *
 * Directories on servers, with a fake network helper that the client does not trust.
 */
#include "remote/client/client.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/stat.h>

#include "fake_process.h"
#include "core/io/folder.h"
#include "core/io/source.h"
#include "remote/protocol.h"
#include <ntuple/source.h>

static struct nt_folder *folder;

static enum nt_status open_folder(void)
{
    return nt_folder_open_address("http://h/folder/", fetcher, &folder, &error);
}

static void say_entry(uint64_t id, const char *text, size_t bytes, uint64_t size, bool is_folder)
{
    say(
        (struct nt_fetch_answer){
            .kind = NT_FETCH_ENTRY, .id = id, .size = size, .is_folder = is_folder, .modified = 1000},
        text, bytes);
}

/* After a broken answer, names arrive again; a directory may have the name of a file. */
static bool list_well(const struct nt_fetch_request *request)
{
    if (request->kind != NT_FETCH_LIST)
        return answer_well(request);
    say_entry(request->id, "both\0", 5, 0, true);
    say_entry(request->id, "file\0stamp", 10, 1, false);
    say_entry(request->id, "both\0stamp", 10, 7, false);
    say_entry(request->id, "file\0stamp", 10, 2, false);
    say_done(request->id);
    return true;
}

static enum nt_status count_entries(void *context, const struct nt_folder_entry *entry,
                                    struct nt_error *unused)
{
    ck_assert_int_eq(entry->kind, strcmp(entry->name, "both") == 0 ? NT_ENTRY_FOLDER : NT_ENTRY_FILE);
    ++*(int *)context;
    return NT_OK;
}

TEST(of_several_entries_of_a_name_one_counts, .setup = set_up, .teardown = tear_down)
{
    struct stat attributes;
    int count = 0;
    process.answer = list_well;
    assert_ok(open_folder());
    assert_ok(nt_folder_list(folder, "", count_entries, &count, &error));
    ck_assert_int_eq(count, 2);
    assert_ok(nt_folder_stat(folder, "file", &attributes, &error));
    ck_assert_int_eq(attributes.st_size, 2);
    assert_ok(nt_folder_stat(folder, "both", &attributes, &error));
    ck_assert(S_ISDIR(attributes.st_mode));
    assert_status(NT_INVALID, nt_folder_open_file(folder, "both", &source, &error));
    check_message("http://h/folder/both: expected a file, found a directory");
    assert_status(NT_NOT_FOUND, nt_folder_open_file(folder, "none", &source, &error));
    nt_folder_close(folder);
}

TEST(files_next_to_a_remote_folder_are_remote, .setup = set_up, .teardown = tear_down)
{
    struct nt_folder *beside = NULL;
    process.answer = list_well;
    assert_ok(open_folder());
    assert_status(NT_UNSUPPORTED, nt_folder_open_sibling(folder, "/tmp", &beside, &error));
    check_message("/tmp: is a local directory, but the dataset is on a server");
    assert_ok(nt_folder_open_sibling(folder, "http://h/other/", &beside, &error));
    nt_folder_close(beside);
    nt_folder_close(folder);
}

static unsigned lists;

/* Each directory has a directory "d" and a file "f". */
static bool list_nested(const struct nt_fetch_request *request)
{
    lists += request->kind == NT_FETCH_LIST;
    say_entry(request->id, "d\0", 2, 0, true);
    say_entry(request->id, "f\0stamp", 7, 1, false);
    say_done(request->id);
    return true;
}

/* A dataset may name any file. */
TEST(folders_that_do_not_exist_take_no_memory, .setup = set_up, .teardown = tear_down)
{
    enum { LEVELS = 4 * 1024 };
    char name[2 * LEVELS + 1];
    for (int i = 0; i < LEVELS; i++)
        memcpy(name + 2 * i, i ? "n/" : "d/", 3);
    name[2 * LEVELS - 1] = '\0';
    lists = 0;
    process.answer = list_nested;
    assert_ok(open_folder());
    size_t before = mallinfo2().uordblks;
    assert_status(NT_NOT_FOUND, nt_folder_stat(folder, name, &(struct stat){0}, &error));
    check_message("http://h/folder/d/n: no such directory");
    ck_assert_uint_lt(mallinfo2().uordblks - before, LEVELS);
    ck_assert_uint_eq(lists, 2);
    assert_status(NT_NOT_FOUND, nt_folder_stat(folder, "f/d", &(struct stat){0}, &error));
    check_message("http://h/folder/f: no such directory");
    nt_folder_close(folder);
}

/* Callers look for each directory above a missing file. */
TEST(a_name_that_no_request_can_have_is_too_long, .setup = set_up, .teardown = tear_down)
{
    char name[NT_FETCH_TEXT_BYTES + 4];
    memset(name, 'n', sizeof(name) - 3);
    strcpy(name + sizeof(name) - 3, "/f");
    process.answer = list_nested;
    assert_ok(open_folder());
    assert_status(NT_IO, nt_folder_stat(folder, name, &(struct stat){0}, &error));
    ck_assert_int_eq(error.system_error, ENAMETOOLONG);
    assert_status(NT_NOT_FOUND, nt_folder_stat(folder, name + 1, &(struct stat){0}, &error));
    nt_folder_close(folder);
}

static bool fail_inner(const struct nt_fetch_request *request)
{
    if (strcmp(process.text, "http://h/folder/d/") != 0)
        return list_nested(request);
    lists++;
    say((struct nt_fetch_answer){.kind = NT_FETCH_FAILED, .id = request->id}, "silent", 6);
    return true;
}

/* Each would wait as long as the first one, and one after the other. */
TEST(lookups_in_a_folder_that_is_not_listed_wait_only_once, .setup = set_up, .teardown = tear_down)
{
    process.answer = fail_inner;
    lists = 0;
    assert_ok(open_folder());
    for (int i = 0; i < 3; i++) {
        assert_status(NT_UNREACHABLE, nt_folder_stat(folder, "d/f", &(struct stat){0}, &error));
        check_message("http://h/folder/d/: silent");
    }
    ck_assert_uint_eq(lists, 2);
    nt_folder_close(folder);
}

static char long_entry[NT_FETCH_NAME_BYTES + 2], long_stamp[NT_FETCH_VALIDATOR_BYTES + 2];

static const struct {
    const char *text;
    size_t bytes;
    uint64_t size;
    uint32_t kind;
} entries[] = {
    {"name", 4, 1, NT_FETCH_ENTRY},
    {"\0", 1, 1, NT_FETCH_ENTRY},
    {"..\0", 3, 1, NT_FETCH_ENTRY},
    {"a/b\0", 4, 1, NT_FETCH_ENTRY},
    {"/a\0", 3, 1, NT_FETCH_ENTRY},
    {"name\0stamp\0", 11, 1, NT_FETCH_ENTRY},
    {"name\0", 5, (uint64_t)INT64_MAX + 1, NT_FETCH_ENTRY},
    {"name\0", 5, 1, NT_FETCH_DATA},
    {"name\0", 5, 1, NT_FETCH_OPENED},
    {long_entry, sizeof(long_entry), 1, NT_FETCH_ENTRY},
    {long_stamp, sizeof(long_stamp), 1, NT_FETCH_ENTRY},
};

static int chosen;

static bool list_badly(const struct nt_fetch_request *request)
{
    say((struct nt_fetch_answer){.kind = entries[chosen].kind,
                                 .id = request->id,
                                 .size = entries[chosen].size},
        entries[chosen].text, entries[chosen].bytes);
    say_done(request->id);
    return true;
}

TEST(what_cannot_be_an_entry_is_no_list, .setup = set_up, .teardown = tear_down, .end = COUNT_OF(entries))
{
    memset(long_entry, 'n', sizeof(long_entry) - 1);
    memset(long_stamp, 's', sizeof(long_stamp));
    long_stamp[1] = '\0';
    chosen = _i;
    process.answer = list_badly;
    assert_status(NT_UNREACHABLE, open_folder());
    check_message("http://h/folder/: the network helper sent an unexpected answer");
}

/* ---- how much at once ---- */

enum { MAX_OPEN = 1024 };
static unsigned opened, closed;

static bool answer_many(const struct nt_fetch_request *request)
{
    char entry[32];
    opened += request->kind == NT_FETCH_OPEN_LISTED;
    closed += request->kind == NT_FETCH_CLOSE;
    if (request->kind == NT_FETCH_OPEN_LISTED)
        say_done(request->id);
    if (request->kind != NT_FETCH_LIST)
        return answer_well(request);
    for (int i = 0; i <= MAX_OPEN; i++) {
        int length = snprintf(entry, sizeof(entry), "%d", i);
        memcpy(entry + length + 1, "stamp", 5);
        say_entry(request->id, entry, (size_t)length + 6, 100 * SIZE, false);
    }
    say_done(request->id);
    return true;
}

TEST(of_many_files_the_one_that_was_not_used_for_longest_is_opened_anew, .setup = set_up,
     .teardown = tear_down)
{
    struct nt_source *files[MAX_OPEN + 1];
    process.answer = answer_many;
    assert_ok(open_folder());
    for (int i = 0; i <= MAX_OPEN; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%d", i);
        assert_ok(nt_folder_open_file(folder, name, &files[i], &error));
        source = files[i];
        assert_ok(read_middle()); /* an open request is not closed */
    }
    ck_assert_uint_eq(fetcher->open_count, MAX_OPEN);
    source = files[0];
    assert_ok(nt_source_read(source, 50 * SIZE, &(char){0}, 1, &error));
    ck_assert_uint_eq(fetcher->open_count, MAX_OPEN);
    ck_assert_uint_eq(opened, MAX_OPEN + 2);
    ck_assert_uint_eq(closed, 2);
    source = NULL;
    for (int i = 0; i <= MAX_OPEN; i++)
        nt_source_close(files[i]);
    ck_assert_uint_eq(fetcher->open_count, 0);
    nt_folder_close(folder);
}
