/* SPDX-License-Identifier: MIT
 *
 * Temporary files for tests.
 */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static char temporary_directory[32];

static inline void temporary_setup(void)
{
    snprintf(temporary_directory, sizeof(temporary_directory), "/tmp/nt_test_io_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(temporary_directory));
}

static inline void temporary_teardown(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", temporary_directory);
    ck_assert_int_eq(system(command), 0);
}

/* Returns the path of a file in the directory, valid for the next three calls. */
static inline const char *temporary_path(const char *name)
{
    static char paths[4][160];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", temporary_directory, name);
    return path;
}

static inline const char *temporary_file(const char *name, const void *bytes, size_t count)
{
    const char *path = temporary_path(name);
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, bytes, count), (ssize_t)count);
    close(descriptor);
    return path;
}

/* Copies a file of the test data, of at most 64 kB. */
static inline const char *temporary_copy(const char *name, const char *original)
{
    static char bytes[1 << 16];
    FILE *file = fopen(original, "rb");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    ck_assert(size > 0 && size < sizeof(bytes));
    return temporary_file(name, bytes, size);
}

/* Sets the modification time, because two writes within one clock tick are indistinguishable. */
static inline void temporary_set_time(const char *path, time_t seconds)
{
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static inline size_t count_descriptors(void)
{
    size_t count = 0;
    for (int i = 0; i < 1024; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}
