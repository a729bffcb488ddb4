/* SPDX-License-Identifier: MIT
 *
 * Small files that request huge resources: each is opened and read within two seconds and 256 MiB, or
 * refused. Each is tried as it is, and followed by a hole of 1 TiB, which takes no space.
 * tests/mount/test_bombs.py tries the same files with the programs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ntuple/selection.h>

#include "core/base/sanitizer.h"
#include "bloscpack_writer.h"
#include "bombs.h"
#include "everything.h"
#include "formats/formats.h"
#include "core/io/source.h"
#include "support.h"
#include "core/base/memory.h"
#include "core/model/model.h"

NEEDS_PROCESSES("a bomb may stop the program");

#define LANCE ".lance"
enum { MEMORY_BYTES = 256 << 20, SECONDS = 2, ATTEMPTS = 3, NOT_TRIED = 8 };
#define HOLE_BYTES (INT64_C(1) << 40)

struct outcome {
    unsigned read, failed;
};

static void count(void *context, uint32_t dataset, uint32_t field, enum nt_stream_kind kind,
                  enum nt_status status, const uint8_t *bytes, uint64_t length)
{
    struct outcome *outcome = context;
    outcome->read += status == NT_OK;
    outcome->failed += status != NT_OK;
}

/* Sanitizers have memory of their own: then only the time is limited. */
static void limit(void)
{
    const struct rlimit memory = {MEMORY_BYTES, MEMORY_BYTES}, seconds = {SECONDS, SECONDS};
    if (NT_IS_SANITIZED)
        return;
    setrlimit(RLIMIT_DATA, &memory);
    setrlimit(RLIMIT_CPU, &seconds);
}

static enum nt_status open_and_read_lance(struct nt_source *source, struct outcome *outcome)
{
    const struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    struct nt_file *file;
    enum nt_status status = nt_format_lance.open(source, &options, &file, NULL);
    if (status != NT_OK) {
        nt_source_close(source);
        return status;
    }
    read_everything(file, count, outcome);
    nt_file_close(file);
    return NT_OK;
}

static bool is_lance(const char *path)
{
    size_t length = strlen(path);
    return length > strlen(LANCE) && strcmp(path + length - strlen(LANCE), LANCE) == 0;
}

/* In a process of its own that has only the path of the file. The exit status gives the result. */
static int read_in_child(const char *path)
{
    struct outcome outcome = {0};
    struct nt_source *source;
    limit();
    if (nt_source_open_file(path, &source, NULL) != NT_OK)
        return NOT_TRIED;
    if ((is_lance(path) ? open_and_read_lance(source, &outcome)
                        : open_and_read(&nt_format_rntuple, source, count, &outcome)) != NT_OK)
        return BOMB_REFUSED;
    return (outcome.read > 0 ? BOMB_READ : 0) | (outcome.failed > 0 ? BOMB_FAILED : 0);
}

static void write_to(const char *path, int descriptor, const struct bomb *bomb)
{
    struct nt_buffer file = {0};
    bomb->write(&file);
    ck_assert_msg(!file.failed && file.length < 1 << 20, "%s: %zu bytes", path, file.length);
    ck_assert_int_eq(write(descriptor, file.bytes, file.length), (ssize_t)file.length);
    close(descriptor);
    nt_buffer_deinit(&file);
}

struct attempt {
    int result; /* as waitpid gives it */
    struct rusage usage;
};

/* In this program, run again: a forked child would have the memory of its parent, which made the file. */
static struct attempt read_in_program(const struct bomb *bomb, const char *path)
{
    struct attempt attempt;
    const struct timeval *user = &attempt.usage.ru_utime, *kernel = &attempt.usage.ru_stime;
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "test_bombs", path, NULL);
        _exit(NOT_TRIED);
    }
    ck_assert_int_eq(wait4(child, &attempt.result, 0, &attempt.usage), child);
    printf("%s: %ld ms, %ld MiB\n", bomb->name,
           user->tv_sec * 1000 + user->tv_usec / 1000 + kernel->tv_sec * 1000 + kernel->tv_usec / 1000,
           attempt.usage.ru_maxrss / 1024);
    return attempt;
}

/* Another process on the same core makes a run up to half as long again: what took too long is repeated. */
static struct attempt read_in_time(const struct bomb *bomb, const char *path)
{
    struct attempt attempt = read_in_program(bomb, path);
    for (int i = 1; i < ATTEMPTS && WIFSIGNALED(attempt.result) && WTERMSIG(attempt.result) == SIGKILL; i++)
        attempt = read_in_program(bomb, path);
    return attempt;
}

static void check(const struct bomb *bomb, const struct attempt *attempt, unsigned expected)
{
    int result = attempt->result;
    ck_assert_msg(WIFEXITED(result) && WEXITSTATUS(result) == (int)expected, "%s: %s %d", bomb->name,
                  WIFEXITED(result) ? "exit status" : "signal",
                  WIFEXITED(result) ? WEXITSTATUS(result) : WTERMSIG(result));
    if (!NT_IS_SANITIZED)
        ck_assert_int_lt(attempt->usage.ru_maxrss, MEMORY_BYTES / 1024);
}

/* As it is, and followed by a hole; the outcome of that is `before_hole`. With sanitizers only as it is: both
 * run the same code. */
static void try_bomb(const struct bomb *bomb, const char *ending, unsigned before_hole)
{
    char path[64];
    snprintf(path, sizeof(path), "/tmp/ntuple-bomb-XXXXXX%s", ending);
    int descriptor = mkstemps(path, (int)strlen(ending));
    ck_assert_int_ge(descriptor, 0);
    write_to(path, descriptor, bomb);
    struct attempt attempts[2] = {read_in_time(bomb, path)};
    bool has_hole = !NT_IS_SANITIZED && truncate(path, HOLE_BYTES) == 0;
    if (has_hole)
        attempts[1] = read_in_time(bomb, path);
    else if (!NT_IS_SANITIZED)
        printf("%s: no file of so many bytes can be made here\n", bomb->name);
    unlink(path);
    check(bomb, &attempts[0], bomb->outcome);
    if (has_hole)
        check(bomb, &attempts[1], before_hole);
}

TEST(a_bomb_is_read_or_refused_within_its_limits_and_a_hole_changes_nothing, .end = (int)bomb_count)
{
    try_bomb(&bombs[_i], ".root", bombs[_i].outcome);
}

TEST(a_megabyte_of_dense_metadata_is_read_or_refused_within_its_limits, .end = (int)dense_bomb_count)
{
    try_bomb(&dense_bombs[_i], ".root", dense_bombs[_i].outcome);
}

TEST(a_bomb_of_a_tree_is_read_or_refused_within_its_limits_and_a_hole_changes_nothing,
     .end = (int)tree_bomb_count)
{
    try_bomb(&tree_bombs[_i], ".root", tree_bombs[_i].outcome);
}

static double own_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
}

/* It looks for the classes of objects in the baskets. To read all of them takes longer. */
TEST(opening_a_tree_decompresses_little)
{
    const struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    struct nt_buffer bytes = {0};
    struct nt_source *source;
    struct nt_file *file;
    struct nt_error error;
    write_objects_in_large_baskets(&bytes);
    ck_assert_uint_lt(bytes.length, 1 << 20);
    assert_ok(nt_source_open_memory(bytes.bytes, bytes.length, "large.root", &source, &error));
    double start = own_seconds();
    assert_ok(nt_format_rntuple.open(source, &options, &file, &error));
    ck_assert(NT_IS_SANITIZED || own_seconds() - start < SECONDS);
    nt_file_close(file);
    nt_buffer_deinit(&bytes);
}

/* Such a file ends with its tables. */
TEST(a_bomb_of_lance_is_read_or_refused_within_its_limits_and_a_hole_makes_it_none,
     .end = (int)lance_bomb_count)
{
    try_bomb(&lance_bombs[_i], LANCE, BOMB_REFUSED);
}

/* Every second number, compressed well. */
TEST(a_small_file_selects_no_more_ranges_than_fit_in_little_memory)
{
    enum { COUNT = 20000000 };
    const struct bloscpack_options options = {
        .version = 3,
        .has_offsets = true,
        .type_bytes = 8,
        .chunk_bytes = 16 << 20,
        .metadata = "{\"container\": \"numpy\", \"dtype\": \"'<i8'\", \"shape\": [20000000]}"};
    char path[] = "/tmp/ntuplefs-bomb-XXXXXX.blp";
    int descriptor = mkstemps(path, 4);
    uint64_t *numbers = calloc(COUNT, sizeof(*numbers));
    struct nt_buffer file = {0};
    struct nt_selection *selection;
    struct nt_error error;
    ck_assert(numbers && descriptor >= 0);
    for (uint64_t i = 0; i < COUNT; i++)
        numbers[i] = 2 * i;
    bloscpack_write(&file, &options, numbers, COUNT * sizeof(*numbers), NULL);
    free(numbers);
    ck_assert_int_eq(write(descriptor, file.bytes, file.length), (ssize_t)file.length);
    ck_assert_uint_lt(file.length, 1 << 20);
    nt_buffer_deinit(&file);
    close(descriptor);
    enum nt_status status = nt_selection_open(path, &selection, &error);
    unlink(path);
    assert_status(NT_LIMIT, status);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return read_in_child(argv[1]);
    return nt_test_run("test_bombs", 0, NULL);
}
