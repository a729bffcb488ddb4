/* SPDX-License-Identifier: MIT
 *
 * Sources that share descriptors: how many are open, which are closed, and files that change meanwhile.
 */
#include "core/io/folder.h"
#include "temporary.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#include "core/io/source.h"
#include <ntuple/source.h>

enum { FILES = 200, MAX_OPEN = 128, THREADS = 4, READS = 5000 };

static struct nt_error error;
static struct nt_folder *folder;
static struct nt_source *sources[FILES];

/* Files "0", "1", ... that contain their number. */
static void open_files(void)
{
    assert_ok(nt_folder_open(temporary_directory, NT_FOLDER_DATASET, &folder, &error));
    for (int i = 0; i < FILES; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%d", i);
        temporary_file(name, &i, sizeof(i));
        assert_ok(nt_folder_open_file_lazily(folder, name, &sources[i], &error));
    }
}

static void close_files(void)
{
    for (int i = 0; i < FILES; i++)
        nt_source_close(sources[i]);
}

static int read_number(int file)
{
    int number = -1;
    assert_ok(nt_source_read(sources[file], 0, &number, sizeof(number), &error));
    return number;
}

TEST(nothing_is_opened_before_it_is_used, .setup = temporary_setup, .teardown = temporary_teardown)
{
    size_t before = count_descriptors();
    open_files();
    before++; /* the directory's own */
    ck_assert_uint_eq(count_descriptors(), before);
    ck_assert_uint_eq(sources[3]->size, NT_UNKNOWN_SIZE);
    ck_assert_int_eq(read_number(3), 3);
    ck_assert_uint_eq(count_descriptors(), before + 1);
    nt_folder_close(folder);
    close_files();
    ck_assert_uint_eq(count_descriptors(), before - 1);
}

TEST(the_number_of_descriptors_is_bounded, .setup = temporary_setup, .teardown = temporary_teardown)
{
    size_t before = count_descriptors();
    open_files();
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < FILES; i++)
            ck_assert_int_eq(read_number(i), i);
    size_t open = count_descriptors() - before - 1;
    ck_assert_uint_gt(open, 1);
    ck_assert_uint_le(open, MAX_OPEN);
    ck_assert_uint_eq(nt_folder_descriptors(folder), open + 1);
    nt_folder_close(folder);
    close_files();
    ck_assert_uint_eq(count_descriptors(), before);
}

TEST(a_quarter_of_the_limit_is_used_at_most, .setup = temporary_setup, .teardown = temporary_teardown)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 80;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    size_t before = count_descriptors();
    open_files();
    for (int i = 0; i < FILES; i++)
        ck_assert_int_eq(read_number(i), i);
    ck_assert_uint_le(count_descriptors() - before, 21);
    nt_folder_close(folder);
    close_files();
}

TEST(a_process_out_of_descriptors_takes_one_from_the_pool, .setup = temporary_setup,
     .teardown = temporary_teardown)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    open_files();
    for (int i = 0; i < 10; i++)
        read_number(i);
    limit.rlim_cur = count_descriptors();
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int i = 0; i < FILES; i++)
        ck_assert_int_eq(read_number(i), i);
    nt_folder_close(folder);
    close_files();
}

/* Reads all others, so that the file is closed again. */
static void use_others(int file)
{
    for (int i = 0; i < FILES; i++)
        if (i != file)
            read_number(i);
}

TEST(another_file_in_its_place_is_noticed, .setup = temporary_setup, .teardown = temporary_teardown)
{
    int number;
    open_files();
    read_number(0);
    use_others(0);
    ck_assert_int_eq(rename(temporary_path("1"), temporary_path("0")), 0);
    assert_status(NT_CHANGED, nt_source_read(sources[0], 0, &number, sizeof(number), &error));
    assert_status(NT_CHANGED, nt_source_check(sources[0], &error));
    ck_assert_int_eq(unlink(temporary_path("0")), 0);
    assert_status(NT_CHANGED, nt_source_read(sources[0], 0, &number, sizeof(number), &error));
    nt_folder_close(folder);
    close_files();
}

TEST(a_file_written_to_while_it_was_closed_is_noticed, .setup = temporary_setup,
     .teardown = temporary_teardown)
{
    int number;
    open_files();
    read_number(0);
    use_others(0);
    temporary_set_time(temporary_path("0"), 1000);
    assert_status(NT_CHANGED, nt_source_read(sources[0], 0, &number, sizeof(number), &error));
    nt_folder_close(folder);
    close_files();
}

static char read_byte(struct nt_source *source, uint64_t at)
{
    char byte = 0;
    assert_ok(nt_source_read(source, at, &byte, 1, &error));
    return byte;
}

/* Writes a file whose bytes are all equal, at the same time as all others. */
static void write_equal(const char *name, char byte, size_t count)
{
    char *bytes = malloc(count);
    ck_assert_ptr_nonnull(bytes);
    memset(bytes, byte, count);
    temporary_set_time(temporary_file(name, bytes, count), 1000);
    free(bytes);
}

/* As long as it is open: a change that its time hides shows what was read from the file. */
TEST(a_small_file_is_read_once, .setup = temporary_setup, .teardown = temporary_teardown)
{
    enum { SMALL = 100, LARGE = 100000 };
    struct nt_source *small, *large;
    open_files();
    write_equal("small", 'a', SMALL);
    write_equal("large", 'a', LARGE);
    assert_ok(nt_folder_open_file_lazily(folder, "small", &small, &error));
    assert_ok(nt_folder_open_file_lazily(folder, "large", &large, &error));
    ck_assert_int_eq(read_byte(small, 0), 'a');
    ck_assert_int_eq(read_byte(large, 0), 'a');
    write_equal("small", 'b', SMALL);
    write_equal("large", 'b', LARGE);
    ck_assert_int_eq(read_byte(small, SMALL - 1), 'a');
    ck_assert_int_eq(read_byte(large, LARGE - 1), 'b');
    use_others(-1);
    ck_assert_int_eq(read_byte(small, SMALL - 1), 'b');
    temporary_set_time(temporary_path("small"), 2000);
    char byte;
    assert_status(NT_CHANGED, nt_source_read(small, 0, &byte, 1, &error));
    nt_source_close(small);
    nt_source_close(large);
    nt_folder_close(folder);
    close_files();
}

TEST(a_missing_file_is_reported_when_it_is_used, .setup = temporary_setup, .teardown = temporary_teardown)
{
    int number;
    open_files();
    ck_assert_int_eq(unlink(temporary_path("7")), 0);
    assert_status(NT_NOT_FOUND, nt_source_read(sources[7], 0, &number, sizeof(number), &error));
    ck_assert_int_eq(read_number(8), 8);
    nt_folder_close(folder);
    close_files();
}

TEST(size_and_attributes_are_those_of_the_file, .setup = temporary_setup, .teardown = temporary_teardown)
{
    uint64_t size;
    struct stat attributes;
    char byte;
    open_files();
    assert_ok(nt_source_size(sources[5], &size, &error));
    ck_assert_uint_eq(size, sizeof(int));
    assert_ok(nt_source_stat(sources[6], &attributes, &error));
    ck_assert_int_eq(attributes.st_size, sizeof(int));
    assert_ok(nt_source_check(sources[6], &error));
    assert_status(NT_TRUNCATED, nt_source_read(sources[5], sizeof(int), &byte, 1, &error));
    assert_status(NT_TRUNCATED, nt_source_read(sources[5], UINT64_MAX, &byte, 1, &error));
    assert_status(NT_TRUNCATED, nt_source_read(sources[5], INT64_MAX, &byte, 1, &error));
    nt_folder_close(folder);
    close_files();
}

static void *read_many(void *seed_pointer)
{
    unsigned seed = *(unsigned *)seed_pointer;
    uintptr_t wrong = 0;
    for (int i = 0; i < READS; i++) {
        seed = seed * 1103515245u + 12345u;
        int file = (int)(seed >> 16) % FILES, number = -1;
        wrong += nt_source_read(sources[file], 0, &number, sizeof(number), NULL) || number != file;
    }
    return (void *)wrong;
}

TEST(threads_share_the_pool, .setup = temporary_setup, .teardown = temporary_teardown)
{
    pthread_t threads[THREADS];
    unsigned seeds[THREADS];
    size_t before = count_descriptors();
    open_files();
    for (unsigned i = 0; i < THREADS; i++) {
        seeds[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_many, &seeds[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        void *wrong;
        ck_assert_int_eq(pthread_join(threads[i], &wrong), 0);
        ck_assert_ptr_null(wrong);
    }
    ck_assert_uint_le(count_descriptors() - before, MAX_OPEN + 1);
    nt_folder_close(folder);
    close_files();
    ck_assert_uint_eq(count_descriptors(), before);
}
