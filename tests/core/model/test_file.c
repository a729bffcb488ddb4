/* SPDX-License-Identifier: MIT
 *
 * The directories and datasets of a file, and when each is closed.
 */
#include <string.h>
#include <sys/stat.h>

#include "builder.h"

static struct nt_error error;

/* A source that counts its closings. */
static int closed;

static void count_close(struct nt_source *source)
{
    closed++;
}

static const struct nt_source_ops source_ops = {.close = count_close};
static struct nt_source counted = {.ops = &source_ops, .path = "counted"};
static const struct nt_limits derived;

TEST(a_new_file_has_the_root_directory_only)
{
    char path[] = "/a/file";
    struct nt_file *file;
    assert_ok(nt_file_new(path, &counted, &derived, &file, &error));
    path[1] = 'b'; /* the file has a copy */
    ck_assert_str_eq(file->path, "/a/file");
    ck_assert_ptr_eq(file->source, &counted);
    ck_assert_uint_eq(file->directory_count, 1);
    ck_assert_uint_eq(file->directories[0].parent, 0);
    ck_assert_uint_eq(file->directories[0].name.length, 0);
    ck_assert_uint_eq(file->dataset_count, 0);
    closed = 0;
    nt_file_close(file);
    ck_assert_int_eq(closed, 1);
}

TEST(directories_keep_copies_of_any_name)
{
    struct nt_file *file;
    assert_ok(nt_file_new("/f", &counted, &derived, &file, &error));
    char name[] = {'a', '\0', '/', '\xff'};
    for (uint32_t i = 1; i <= 100; i++) {
        ck_assert_uint_eq(nt_file_add_directory(file, i - 1, (struct nt_text){name, sizeof(name)}), i);
        name[0]++;
    }
    for (uint32_t i = 1; i <= 100; i++) {
        ck_assert_uint_eq(file->directories[i].parent, i - 1);
        ck_assert_uint_eq(file->directories[i].name.length, sizeof(name));
        ck_assert_int_eq(file->directories[i].name.bytes[0], (char)('a' + i - 1));
        ck_assert_mem_eq(file->directories[i].name.bytes + 1, "\0/\xff", 4);
    }
    nt_file_close(file);
}

TEST(pointers_to_datasets_stay_valid)
{
    struct nt_file *file;
    struct nt_dataset *datasets[50];
    assert_ok(nt_file_new("/f", &counted, &derived, &file, &error));
    for (uint32_t i = 0; i < LENGTH(datasets); i++) {
        assert_ok(nt_file_add_dataset(file, &datasets[i], &error));
    }
    for (uint32_t i = 0; i < LENGTH(datasets); i++) {
        ck_assert_ptr_eq(file->datasets[i], datasets[i]);
        ck_assert_ptr_eq(datasets[i]->file, file);
        ck_assert_uint_eq(datasets[i]->index, i);
        ck_assert_uint_eq(datasets[i]->attribute_of, NT_NONE);
        ck_assert(datasets[i]->is_newest_cycle);
    }
    nt_file_close(file);
}

/* A local source with this size on the disk. */
struct sized {
    struct nt_source source;
    uint64_t disk_bytes;
};

static enum nt_status stat_sized(struct nt_source *source, struct stat *attributes, struct nt_error *unused)
{
    *attributes = (struct stat){.st_blocks = (blkcnt_t)(((struct sized *)source)->disk_bytes / 512)};
    return NT_OK;
}

static const struct nt_source_ops sized_ops = {.stat = stat_sized, .close = count_close};

TEST(the_page_limit_grows_with_the_size_on_the_disk)
{
    static const struct {
        uint64_t size, disk_bytes, page_bytes, expected;
    } cases[] = {
        {1 << 20, 1 << 20, 0, 80 << 20},    {1 << 20, 1 << 21, 0, 80 << 20},
        {12 << 20, 12 << 20, 0, 256 << 20}, {1 << 30, 1 << 30, 0, 256 << 20},
        {1 << 30, 1 << 20, 0, 80 << 20},    {UINT64_C(1) << 40, 4096, 0, (64 << 20) + 65536},
        {1 << 30, 1 << 30, 5, 5},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct sized sized = {.source = {.ops = &sized_ops, .path = "sized", .size = cases[i].size},
                              .disk_bytes = cases[i].disk_bytes};
        struct nt_file *file;
        assert_ok(nt_file_new("/f", &sized.source, &(struct nt_limits){.page_bytes = cases[i].page_bytes},
                              &file, &error));
        ck_assert_uint_eq(nt_file_page_limit(file, 1 << 30), cases[i].expected);
        nt_file_close(file);
    }
}

TEST(of_a_size_that_is_only_claimed_a_page_is_measured_by_its_own_bytes)
{
    struct nt_source source = {.ops = &source_ops, .path = "claimed", .size = UINT64_C(1) << 40};
    struct nt_file *file;
    assert_ok(nt_file_new("/f", &source, &(struct nt_limits){0}, &file, &error));
    ck_assert_uint_eq(nt_file_page_limit(file, 0), 64 << 20);
    ck_assert_uint_eq(nt_file_page_limit(file, 1 << 20), 80 << 20);
    ck_assert_uint_eq(nt_file_page_limit(file, UINT64_MAX), 256 << 20);
    nt_file_close(file);
    assert_ok(nt_file_new("/f", &source, &(struct nt_limits){.page_bytes = 5}, &file, &error));
    ck_assert_uint_eq(nt_file_page_limit(file, UINT64_MAX), 5);
    nt_file_close(file);
}

TEST(more_datasets_than_the_file_has_room_for_are_refused)
{
    struct nt_file *file;
    struct nt_dataset *dataset;
    uint64_t bytes = nt_cost_info(NT_COST_DATASET)->bytes;
    assert_ok(nt_file_new("/f", &counted, &(struct nt_limits){.metadata_bytes = 2 * bytes}, &file, &error));
    assert_ok(nt_file_add_dataset(file, &dataset, &error));
    assert_ok(nt_file_add_dataset(file, &dataset, &error));
    assert_status(NT_LIMIT, nt_file_add_dataset(file, &dataset, &error));
    ck_assert_uint_eq(file->dataset_count, 2);
    nt_file_close(file);
}

TEST(a_dataset_keeps_a_copy_of_why_it_did_not_open)
{
    struct nt_file *file;
    assert_ok(nt_file_new("/f", &counted, &derived, &file, &error));
    struct nt_dataset *dataset;
    assert_ok(nt_file_add_dataset(file, &dataset, &error));
    ck_assert_ptr_null(dataset->failure);
    struct nt_error failure;
    nt_fail(&failure, NT_UNSUPPORTED, 7, "feature flag 137");
    assert_ok(nt_dataset_set_failure(dataset, &failure, &error));
    memset(&failure, 0, sizeof(failure));
    ck_assert_int_eq(dataset->failure->status, NT_UNSUPPORTED);
    ck_assert_str_eq(dataset->failure->message, "feature flag 137 (at byte 7)");
    nt_file_close(file);
}

TEST(what_the_machine_refuses_is_not_why_a_dataset_does_not_open, .end = 4)
{
    static const enum nt_status statuses[] = {NT_NO_MEMORY, NT_IO, NT_CHANGED, NT_CANCELED};
    struct nt_file *file;
    struct nt_dataset *dataset;
    assert_ok(nt_file_new("/f", &counted, &derived, &file, &error));
    assert_ok(nt_file_add_dataset(file, &dataset, &error));
    const struct nt_error failure = {.status = statuses[_i], .message = "not now"};
    assert_status(statuses[_i], nt_dataset_set_failure(dataset, &failure, &error));
    ck_assert_str_eq(error.message, "not now");
    ck_assert_ptr_null(dataset->failure);
    nt_file_close(file);
}

static char order[8];

static void close_dataset(struct nt_dataset *dataset)
{
    strcat(order, dataset->index ? "1" : "0");
    ck_assert_ptr_nonnull(dataset->arena);
}

static void close_file(struct nt_file *file)
{
    strcat(order, "f");
    ck_assert_int_eq(closed, 0); /* its source is still open */
    ck_assert_ptr_nonnull(file->arena);
}

TEST(formats_are_asked_to_close_before_their_memory_goes)
{
    static const struct nt_dataset_ops ops = {.close = close_dataset};
    struct nt_file *file;
    assert_ok(nt_file_new("/f", &counted, &derived, &file, &error));
    for (int i = 0; i < 2; i++) {
        struct nt_dataset *dataset;
        assert_ok(nt_file_add_dataset(file, &dataset, &error));
        dataset->ops = &ops;
    }
    file->close = close_file;
    closed = 0;
    nt_file_close(file);
    ck_assert_str_eq(order, "01f");
    ck_assert_int_eq(closed, 1);
}

TEST(closing_nothing_is_allowed)
{
    nt_file_close(NULL);
}
