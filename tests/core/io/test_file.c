/* SPDX-License-Identifier: MIT
 *
 * Files as sources, while other processes truncate, write, rename and replace them, and when the disk
 * fails.
 */
#include "core/io/source.h"
#include "temporary.h"

#include <errno.h>
#include <string.h>

#include <ntuple/source.h>

static struct nt_error error;
static struct nt_source *source;
static char buffer[64];

/* ---- pread with every behaviour that POSIX allows: see `link_args` ---- */

static int failures_to_come, failure;
static size_t max_bytes_at_once = SIZE_MAX;

ssize_t __real_pread64(int descriptor, void *bytes, size_t count, off64_t offset);
ssize_t __wrap_pread64(int descriptor, void *bytes, size_t count, off64_t offset);
ssize_t __wrap_pread64(int descriptor, void *bytes, size_t count, off64_t offset)
{
    if (failures_to_come > 0) {
        failures_to_come--;
        errno = failure;
        return -1;
    }
    return __real_pread64(descriptor, bytes, count < max_bytes_at_once ? count : max_bytes_at_once, offset);
}

TEST(any_range_is_read_exactly, .setup = temporary_setup, .teardown = temporary_teardown)
{
    static const char text[] = "0123456789";
    assert_ok(nt_source_open_file(temporary_file("f", text, 10), &source, &error));
    ck_assert_uint_eq(source->size, 10);
    ck_assert_str_eq(source->path, temporary_path("f"));
    for (size_t offset = 0; offset <= 10; offset++) {
        for (size_t bytes = 0; bytes <= 10 - offset; bytes++) {
            memset(buffer, '#', sizeof(buffer));
            assert_ok(nt_source_read(source, offset, buffer, bytes, &error));
            ck_assert_mem_eq(buffer, text + offset, bytes);
            ck_assert_int_eq(buffer[bytes], '#');
        }
    }
    nt_source_close(source);
}

TEST(a_range_beyond_the_end_is_refused, .setup = temporary_setup, .teardown = temporary_teardown, .end = 7)
{
    static const struct {
        uint64_t offset;
        size_t bytes;
    } ranges[] = {{0, 11}, {10, 1}, {11, 0}, {UINT64_MAX, 1}, {UINT64_MAX, SIZE_MAX}, {1, SIZE_MAX}, {5, 6}};
    assert_ok(nt_source_open_file(temporary_file("f", "0123456789", 10), &source, &error));
    assert_status(NT_TRUNCATED, nt_source_read(source, ranges[_i].offset, buffer, ranges[_i].bytes, &error));
    ck_assert_uint_eq(error.offset, ranges[_i].offset);
    nt_source_close(source);
}

TEST(interrupted_and_partial_reads_continue, .setup = temporary_setup, .teardown = temporary_teardown)
{
    assert_ok(nt_source_open_file(temporary_file("f", "0123456789", 10), &source, &error));
    failures_to_come = 3;
    failure = EINTR;
    max_bytes_at_once = 3;
    assert_ok(nt_source_read(source, 0, buffer, 10, &error));
    ck_assert_mem_eq(buffer, "0123456789", 10);
    ck_assert_int_eq(failures_to_come, 0);
    nt_source_close(source);
}

TEST(an_error_of_the_disk_is_passed_on, .setup = temporary_setup, .teardown = temporary_teardown)
{
    assert_ok(nt_source_open_file(temporary_file("f", "0123456789", 10), &source, &error));
    failures_to_come = 1;
    failure = EIO;
    assert_status(NT_IO, nt_source_read(source, 0, buffer, 10, &error));
    ck_assert_int_eq(error.system_error, EIO);
    assert_ok(nt_source_read(source, 0, buffer, 10, &error));
    nt_source_close(source);
}

TEST(a_file_that_was_cut_is_noticed, .setup = temporary_setup, .teardown = temporary_teardown)
{
    const char *path = temporary_file("f", "0123456789", 10);
    assert_ok(nt_source_open_file(path, &source, &error));
    assert_ok(nt_source_check(source, &error));
    ck_assert_int_eq(truncate(path, 5), 0);
    assert_status(NT_CHANGED, nt_source_check(source, &error));
    assert_status(NT_CHANGED, nt_source_read(source, 4, buffer, 2, &error));
    assert_status(NT_CHANGED, nt_source_read(source, 0, buffer, 5, &error));
    nt_source_close(source);
}

TEST(a_file_that_was_written_to_is_noticed, .setup = temporary_setup, .teardown = temporary_teardown)
{
    const char *path = temporary_file("f", "0123456789", 10);
    temporary_set_time(path, 1000);
    assert_ok(nt_source_open_file(path, &source, &error));
    temporary_set_time(path, 1001);
    assert_status(NT_CHANGED, nt_source_check(source, &error));
    assert_status(NT_CHANGED, nt_source_read(source, 0, buffer, 5, &error));
    nt_source_close(source);
}

TEST(a_read_says_that_it_has_checked, .setup = temporary_setup, .teardown = temporary_teardown)
{
    const char *path = temporary_file("f", "0123456789", 10);
    temporary_set_time(path, 1000);
    assert_ok(nt_source_open_file(path, &source, &error));
    uint64_t before = nt_source_checked_reads(source);
    assert_ok(nt_source_check(source, &error));
    assert_ok(nt_source_read(source, 0, buffer, 0, &error));
    ck_assert_uint_eq(nt_source_checked_reads(source), before);
    assert_ok(nt_source_read(source, 2, buffer, 4, &error));
    ck_assert_uint_eq(nt_source_checked_reads(source), before + 1);
    temporary_set_time(path, 1001);
    assert_status(NT_CHANGED, nt_source_read(source, 2, buffer, 4, &error));
    ck_assert_uint_eq(nt_source_checked_reads(source), before + 1);
    nt_source_close(source);
}

TEST(a_file_that_has_changed_once_is_not_believed_again, .setup = temporary_setup,
     .teardown = temporary_teardown)
{
    const char *path = temporary_file("f", "0123456789", 10);
    temporary_set_time(path, 1000);
    assert_ok(nt_source_open_file(path, &source, &error));
    temporary_set_time(path, 1001);
    assert_status(NT_CHANGED, nt_source_read(source, 0, buffer, 5, &error));
    temporary_set_time(path, 1000);
    assert_status(NT_CHANGED, nt_source_read(source, 0, buffer, 5, &error));
    assert_status(NT_CHANGED, nt_source_check(source, &error));
    nt_source_close(source);
}

TEST(a_new_mode_or_name_is_no_change, .setup = temporary_setup, .teardown = temporary_teardown)
{
    const char *path = temporary_file("f", "0123456789", 10);
    assert_ok(nt_source_open_file(path, &source, &error));
    ck_assert_int_eq(chmod(path, 0400), 0);
    ck_assert_int_eq(rename(path, temporary_path("g")), 0);
    assert_ok(nt_source_check(source, &error));
    assert_ok(nt_source_read(source, 0, buffer, 10, &error));
    nt_source_close(source);
}

TEST(a_replaced_path_leaves_the_open_file_readable, .setup = temporary_setup, .teardown = temporary_teardown)
{
    const char *path = temporary_file("f", "0123456789", 10);
    assert_ok(nt_source_open_file(path, &source, &error));
    ck_assert_int_eq(rename(temporary_file("g", "abc", 3), path), 0);
    assert_ok(nt_source_read(source, 0, buffer, 10, &error));
    ck_assert_mem_eq(buffer, "0123456789", 10);
    assert_ok(nt_source_check(source, &error));
    nt_source_close(source);
}

TEST(attributes_are_those_of_the_file, .setup = temporary_setup, .teardown = temporary_teardown)
{
    struct stat attributes;
    const char *path = temporary_file("f", "0123456789", 10);
    ck_assert_int_eq(chmod(path, 0640), 0);
    temporary_set_time(path, 12345);
    assert_ok(nt_source_open_file(path, &source, &error));
    assert_ok(nt_source_stat(source, &attributes, &error));
    ck_assert_int_eq(attributes.st_size, 10);
    ck_assert_int_eq(attributes.st_mtim.tv_sec, 12345);
    ck_assert_uint_eq(attributes.st_mode, S_IFREG | 0640);
    nt_source_close(source);
}

TEST(only_regular_files_are_opened, .setup = temporary_setup, .teardown = temporary_teardown)
{
    ck_assert_int_eq(mkfifo(temporary_path("fifo"), 0600), 0);
    assert_status(NT_INVALID, nt_source_open_file(temporary_path("fifo"), &source, &error));
    assert_status(NT_INVALID, nt_source_open_file(temporary_directory, &source, &error));
    assert_status(NT_INVALID, nt_source_open_file("/dev/null", &source, &error));
    assert_status(NT_NOT_FOUND, nt_source_open_file(temporary_path("missing"), &source, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "missing"));
}

TEST(holes_are_reported, .setup = temporary_setup, .teardown = temporary_teardown)
{
    enum { DATA_AT = 1 << 20 };
    const char *path = temporary_file("f", "start", 5);
    int descriptor = open(path, O_WRONLY);
    ck_assert_int_eq(pwrite(descriptor, "end", 3, DATA_AT), 3);
    close(descriptor);
    assert_ok(nt_source_open_file(path, &source, &error));
    ck_assert_uint_eq(nt_source_skip_hole(source, 0), 0);
    uint64_t next = nt_source_skip_hole(source, DATA_AT / 2);
    ck_assert(next == DATA_AT || next == DATA_AT / 2); /* file systems need not support holes */
    ck_assert_uint_eq(nt_source_skip_hole(source, DATA_AT + 1), DATA_AT + 1);
    ck_assert_uint_eq(nt_source_skip_hole(source, DATA_AT + 3), DATA_AT + 3);
    nt_source_close(source);
}

TEST(nothing_stays_open, .setup = temporary_setup, .teardown = temporary_teardown)
{
    size_t before = count_descriptors();
    assert_ok(nt_source_open_file(temporary_file("f", "0123456789", 10), &source, &error));
    ck_assert_uint_eq(count_descriptors(), before + 1);
    nt_source_close(source);
    nt_source_close(NULL);
    ck_assert_int_ne(nt_source_open_file(temporary_directory, &source, NULL), NT_OK);
    ck_assert_uint_eq(count_descriptors(), before);
}
