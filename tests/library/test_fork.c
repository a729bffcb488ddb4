/* SPDX-License-Identifier: MIT
 *
 * A program that forks while its threads read: its objects give the same values in the child, and can be
 * closed there.
 */
#include <ntuple/ntuple.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forked.h"
#include "support.h"

enum { ENTRIES = 1000, THREADS = 3, FORKS = 100, IN_TIME = 30 };

static struct nt_error error;
static struct nt_file *file;
static struct nt_dataset *dataset;
static struct nt_reader *reader;
static struct nt_stream *stream;
static struct nt_arrow *arrow;
static atomic_bool is_over;

/* Entry i is event 10000000000 + 3 i. */
static bool has_events(const uint64_t *events)
{
    uint64_t i = 0;
    while (i < ENTRIES && events[i] == UINT64_C(10000000000) + 3 * i)
        i++;
    return i == ENTRIES;
}

static void open_all(void)
{
    char path[4096];
    uint32_t field;
    struct nt_reader_options options = NT_READER_OPTIONS_INIT;
    options.threads = NT_MAY_FORK_BESIDE_THREADS ? THREADS : 0; /* workers allocate when they start */
    snprintf(path, sizeof(path), "%s/example.root", getenv("NTUPLE_TEST_DATA"));
    assert_ok(nt_file_open(path, NULL, &file, &error));
    assert_ok(nt_file_find(file, "Events", &dataset, &error));
    assert_ok(nt_dataset_find(dataset, "event", &field, &error));
    assert_ok(nt_reader_new(&options, &reader, &error));
    assert_ok(nt_stream_open(reader, dataset, field, NT_STREAM_DATA, &stream, &error));
    assert_ok(nt_arrow_new(reader, dataset, NULL, &arrow, &error));
}

static void close_all(void)
{
    nt_arrow_free(arrow);
    nt_stream_close(stream);
    nt_reader_forget(reader, dataset);
    nt_reader_free(reader);
    nt_file_close(file);
}

static bool reads_elements(void)
{
    uint64_t events[ENTRIES];
    return nt_stream_read_elements(stream, 0, ENTRIES, events, &error) == NT_OK && has_events(events);
}

/* Through the cache, in small pieces. */
static bool reads_bytes(void)
{
    uint64_t events[ENTRIES];
    bool is_good = true;
    for (size_t i = 0; i < ENTRIES && is_good; i += 100)
        is_good =
            nt_stream_read(stream, i * sizeof(*events), events + i, 100 * sizeof(*events), &error) == NT_OK;
    return is_good && has_events(events);
}

static bool reads_a_batch(void)
{
    struct ArrowArray batch;
    if (nt_arrow_export_batch(arrow, 0, &batch, &error) != NT_OK)
        return false;
    bool has_rows = batch.length > 0;
    batch.release(&batch);
    return has_rows;
}

static bool reads_table(void)
{
    char magic[6];
    return nt_arrow_file_read(arrow, 0, magic, sizeof(magic), &error) == NT_OK &&
           memcmp(magic, "ARROW1", sizeof(magic)) == 0;
}

struct way {
    bool (*read)(void);
    bool is_good;
};
static struct way ways[] = {
    {reads_elements, true}, {reads_bytes, true}, {reads_a_batch, true}, {reads_table, true}};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

/* No assertions next to a thread that forks: check has a lock. */
static void *read_on(void *way)
{
    while (!atomic_load(&is_over))
        if (!((struct way *)way)->read())
            ((struct way *)way)->is_good = false;
    return NULL;
}

static void *read_once(void *way)
{
    ((struct way *)way)->is_good = ((struct way *)way)->read();
    return NULL;
}

/* By several threads at once. */
static bool reads_all(void)
{
    pthread_t threads[WAYS];
    bool is_good = true;
    for (int i = 0; i < WAYS; i++)
        if (pthread_create(&threads[i], NULL, read_once, &ways[i]))
            return false;
    for (int i = 0; i < WAYS; i++) {
        pthread_join(threads[i], NULL);
        is_good &= ways[i].is_good;
    }
    return is_good;
}

TEST(what_was_opened_before_is_read_in_a_forked_process)
{
    pthread_t threads[WAYS];
    int status, beside = NT_MAY_FORK_BESIDE_THREADS ? WAYS : 0;
    open_all();
    for (int i = 0; i < beside; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_on, &ways[i]), 0);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            nt_test_end_within(IN_TIME);
            bool is_good = i % 4 == 3 || reads_all();
            close_all();
            _exit(is_good ? 0 : 1);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < beside; i++) {
        pthread_join(threads[i], NULL);
        ck_assert(ways[i].is_good);
    }
    close_all();
}
