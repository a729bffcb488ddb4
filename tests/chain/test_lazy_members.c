/* SPDX-License-Identifier: MIT
 *
 * Members with trees, and in directories, that the index knows: each opens when its rows are read, and closes
 * when others need the memory.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "waiting_chain.h"
#include "core/base/memory.h"
#include "core/base/sanitizer.h"
#include "core/json/json.h"
#include "core/model/budget.h"
#include "core/model/model.h"

enum { MEMBERS = 12, ENTRIES = 30, THREADS = 4, MAX_PATH = 512, COPIES = 80 };

static void open_with(uint64_t metadata_bytes)
{
    const struct nt_chain_options options = {.index = known, .save_index = known ? NULL : save_index};
    struct nt_open_options open = NT_OPEN_OPTIONS_INIT;
    open.metadata_bytes = metadata_bytes;
    open_indexed(&options, &open);
}

static void open_chain(void)
{
    open_with(0);
}

/* Copies of one file, and their index. */
static void setup(void)
{
    char path[MAX_PATH], names[MEMBERS][MAX_PATH];
    const char *paths[MEMBERS];
    temporary_setup();
    snprintf(path, sizeof(path), "%s/trees/trees_leaves.root", getenv("NTUPLE_TEST_DATA"));
    for (unsigned i = 0; i < MEMBERS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "member%02u.root", i);
        snprintf(names[i], sizeof(names[i]), "%s", temporary_copy(name, path));
        paths[i] = names[i];
    }
    index_members(paths, MEMBERS, open_chain);
}

static unsigned open_members(void)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < nt_chain_of(file)->member_count; i++)
        count += nt_chain_of(file)->members[i].file != NULL;
    return count;
}

static void load_groups(void)
{
    struct nt_dataset *dataset = file->datasets[0];
    for (uint32_t i = 0; i < dataset->group_count; i++) {
        struct nt_group *group;
        assert_ok(nt_group_pin(dataset, i, &group, &error));
        nt_group_unpin(group);
    }
}

TEST(a_member_opens_with_its_rows, .setup = setup, .teardown = teardown)
{
    open_chain();
    ck_assert_uint_eq(open_members(), 1);
    load_groups();
    ck_assert_uint_eq(open_members(), MEMBERS);
}

/* All groups are loaded for one field after the other, so each member opens several times. */
TEST(members_close_when_others_need_the_memory, .setup = setup, .teardown = teardown)
{
    open_chain();
    uint64_t of_member = nt_chain_of(file)->members[0].file->budget.used;
    nt_file_close(file);
    open_with(8 * of_member);
    load_groups();
    ck_assert_uint_lt(open_members(), MEMBERS / 2);

    struct nt_dataset *dataset = file->datasets[0];
    for (uint32_t column = 0; column < dataset->column_count; column += 5) { /* pages of closed members */
        struct nt_groups groups = nt_groups_of_column(dataset, column);
        for (uint32_t i = groups.first; i < groups.end; i++) {
            struct nt_buffer text = {0};
            struct nt_group *group;
            struct nt_json json;
            assert_ok(nt_group_pin(dataset, i, &group, &error));
            nt_json_line(&json, &text);
            if (group->page_count)
                assert_ok(dataset->ops->describe_page(dataset, column, group->pages, &json));
            ck_assert_ptr_nonnull(memmem(text.bytes, text.length, "\"basket", strlen("\"basket")));
            nt_group_unpin(group);
            nt_buffer_deinit(&text);
        }
    }
    ck_assert_uint_lt(open_members(), MEMBERS / 2);
}

/* A reader of one file after another has several opened at once, unless memory is short. */
TEST(members_that_are_opened_ahead_count, .setup = setup, .teardown = teardown)
{
    enum { FITTING = 2 }; /* a quarter of the limit */
    open_chain();
    uint64_t of_member = nt_chain_of(file)->members[0].file->budget.used;
    nt_file_close(file);
    open_with(4 * FITTING * of_member);
    struct nt_dataset *dataset = file->datasets[0];
    struct nt_groups groups = nt_groups_of_column(dataset, 0);
    for (uint32_t i = groups.first; i < groups.end; i++) {
        struct nt_group *group;
        assert_ok(nt_group_pin(dataset, i, &group, &error));
        nt_group_unpin(group);
        ck_assert_uint_le(open_members(), 1 + FITTING + 1); /* the first, and one more for this read */
    }
}

/* With sanitizers, a thread loads one of so many groups: of any member, as that is no divisor of MEMBERS. */
enum { GROUPS_APART = NT_IS_SANITIZED ? 5 : 1 };

/* Each thread begins at another group. */
static void *load_from(void *argument)
{
    static char unloaded[] = "a group does not load", undescribed[] = "a page is not described";
    struct nt_dataset *dataset = file->datasets[0];
    uint32_t first = (uint32_t)(uintptr_t)argument * dataset->group_count / THREADS;
    for (uint32_t i = 0; i < dataset->group_count; i += GROUPS_APART) {
        uint32_t number = (first + i) % dataset->group_count;
        struct nt_group *group;
        struct nt_buffer text = {0};
        struct nt_json json;
        uint32_t count, field = nt_group_field(dataset, number, NULL);
        uint32_t column = nt_field_columns(dataset, field, &count)[0];
        if (nt_group_pin(dataset, number, &group, NULL) != NT_OK)
            return unloaded;
        nt_json_line(&json, &text);
        enum nt_status status =
            group->page_count ? dataset->ops->describe_page(dataset, column, group->pages, &json) : NT_OK;
        nt_group_unpin(group);
        nt_buffer_deinit(&text);
        if (status != NT_OK)
            return undescribed;
    }
    return NULL;
}

/* `work` returns a text if something fails. */
static void share_members(void *(*work)(void *))
{
    pthread_t threads[THREADS];
    void *problem;
    for (uintptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &problem);
        ck_assert_msg(!problem, "%s", (char *)problem);
    }
}

TEST(threads_share_members, .setup = setup, .teardown = teardown)
{
    open_chain();
    uint64_t of_member = nt_chain_of(file)->members[0].file->budget.used;
    nt_file_close(file);
    open_with(8 * of_member);
    share_members(load_from);
    ck_assert_uint_lt(open_members(), MEMBERS);
}

TEST(values_are_those_of_the_members, .setup = setup, .teardown = teardown)
{
    int32_t values[2][MEMBERS * ENTRIES];
    for (unsigned i = 0; i < 2; i++) {
        struct nt_stream *stream;
        uint32_t field;
        open_with(i ? (uint64_t)1 << 20 : 0);
        assert_ok(nt_dataset_find(file->datasets[0], "x_I", &field, &error));
        assert_ok(nt_stream_open(reader, file->datasets[0], field, NT_STREAM_DATA, &stream, &error));
        ck_assert_uint_eq(nt_stream_elements(stream), MEMBERS * ENTRIES);
        assert_ok(nt_stream_read(stream, 0, values[i], sizeof(values[i]), &error));
        nt_stream_close(stream);
        if (i == 0)
            nt_file_close(file);
    }
    ck_assert_mem_eq(values[0], values[1], sizeof(values[0]));
    ck_assert_mem_eq(values[0], values[0] + ENTRIES, ENTRIES * sizeof(values[0][0]));
}

/* ---- Lance files, and datasets in directories ---- */

/* Copies, and their index. */
static void copy_members(const char *original)
{
    char command[2 * MAX_PATH], names[COPIES][MAX_PATH];
    const char *paths[COPIES];
    temporary_setup();
    snprintf(command, sizeof(command),
             "cd '%s' && cp -r '%s/%s' 0 && rm -rf 0/_transactions && "
             "for i in $(seq %d); do cp -r 0 $i; done",
             temporary_directory, getenv("NTUPLE_TEST_DATA"), original, COPIES - 1);
    ck_assert_int_eq(system(command), 0);
    for (unsigned i = 0; i < COPIES; i++) {
        snprintf(names[i], sizeof(names[i]), "%s/%u", temporary_directory, i);
        paths[i] = names[i];
    }
    index_members(paths, COPIES, open_chain);
}

/* Some rows are deleted. */
static void setup_folders(void)
{
    copy_members("lance_datasets/deletions_2.2");
}

static void setup_files(void)
{
    copy_members("lance_numbers_2.1.lance");
}

enum { ROWS = 80, METADATA = 1 << 20 };

static struct nt_stream *open_field(const char *name)
{
    struct nt_stream *stream;
    uint32_t field;
    ck_assert_int_eq(nt_dataset_find(file->datasets[0], name, &field, NULL), NT_OK);
    ck_assert_int_eq(nt_stream_open(reader, file->datasets[0], field, NT_STREAM_DATA, &stream, NULL), NT_OK);
    return stream;
}

/* Compares the rows of a member with those of the first one. */
static bool has_same_rows(struct nt_stream *stream, uint32_t number)
{
    int64_t first[ROWS] = {0}, rows[ROWS] = {0};
    uint64_t count = nt_stream_elements(stream) / COPIES;
    return count && count <= ROWS && nt_stream_read_elements(stream, 0, count, first, NULL) == NT_OK &&
           nt_stream_read_elements(stream, number * count, count, rows, NULL) == NT_OK &&
           memcmp(first, rows, sizeof(first)) == 0;
}

/* Their page lists are loaded before others close them, so that reading a page opens them again. */
TEST(folders_close_when_others_need_the_memory, .setup = setup_folders, .teardown = teardown)
{
    enum { OPEN_FILES = 512, FILES = 8 };
    size_t before = count_descriptors();
    for (unsigned i = 0; i < 2; i++) {
        open_with(i ? METADATA : 0);
        load_groups();
        ck_assert_uint_le(open_members(), i ? COPIES / 2 : 1 + OPEN_FILES / FILES + 1);
        struct nt_stream *ids = open_field("id");
        for (uint32_t number = 0; number < COPIES; number++)
            ck_assert(has_same_rows(ids, number));
        ck_assert_uint_le(open_members(), i ? COPIES / 2 : 1 + OPEN_FILES / FILES + 1);
        ck_assert_uint_le(count_descriptors(), before + OPEN_FILES);
        nt_stream_close(ids);
        nt_file_close(file);
        ck_assert_uint_eq(count_descriptors(), before);
    }
    file = NULL;
}

/* Their decoders do not need the members that have closed. */
TEST(files_close_when_others_need_the_memory, .setup = setup_files, .teardown = teardown)
{
    open_with(METADATA);
    load_groups();
    ck_assert_uint_le(open_members(), COPIES / 2);
    struct nt_stream *numbers = open_field("int64");
    for (uint32_t number = 0; number < COPIES; number++)
        ck_assert(has_same_rows(numbers, number));
    nt_stream_close(numbers);
}

static void *read_from(void *argument)
{
    static char failed[] = "rows are not those of the first member";
    struct nt_stream *ids = open_field("id"), *numbers = open_field("number");
    bool is_same = true;
    uint32_t first = (uint32_t)(uintptr_t)argument * COPIES / THREADS;
    for (uint32_t i = 0; is_same && i < COPIES; i++)
        is_same = has_same_rows(i % 2 ? ids : numbers, (first + i) % COPIES);
    nt_stream_close(ids);
    nt_stream_close(numbers);
    return is_same ? NULL : failed;
}

TEST(threads_share_folders, .setup = setup_folders, .teardown = teardown)
{
    open_with(METADATA);
    share_members(read_from);
    ck_assert_uint_lt(open_members(), COPIES / 2);
}
