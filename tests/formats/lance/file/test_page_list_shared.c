/* SPDX-License-Identifier: MIT
 *
 * Streams of Lance files that are read together equal those that are read alone, and pages with the same
 * bytes of the file are loaded once.
 */
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include <ntuple/ntuple.h>

#include "read/read.h"
#include "support.h"
#include "core/model/model.h"

enum { MAX_STREAMS = 1024, TURNS = 6 };

static struct nt_error error;
static struct nt_reader *reader;
static struct nt_file *file;
static struct nt_stream_range ranges[MAX_STREAMS];
static size_t range_count;
static uint8_t *alone[MAX_STREAMS];

static uint64_t stored_bytes(void)
{
    struct nt_counters counters;
    nt_counters_read(reader, &counters);
    return counters.stored_bytes;
}

static void open_file(const char *path, unsigned threads)
{
    const struct nt_reader_options options = {.struct_bytes = sizeof(options), .threads = threads};
    assert_ok(nt_file_open(path, NULL, &file, &error));
    assert_ok(nt_reader_new(&options, &reader, &error));
}

/* All streams that can be read alone, with their values. */
static void open_streams(struct nt_dataset *dataset)
{
    range_count = 0;
    for (uint32_t field = 0; field < dataset->field_count; field++)
        for (enum nt_stream_kind kind = 0; kind < NT_STREAM_COUNT && range_count < MAX_STREAMS; kind++) {
            struct nt_stream *stream;
            if (!nt_field_has_stream(&dataset->fields[field], kind) ||
                nt_stream_open(reader, dataset, field, kind, &stream, &error) != NT_OK)
                continue;
            uint64_t elements = nt_stream_elements(stream);
            size_t bytes = (size_t)(elements * nt_stream_element_bytes(stream));
            alone[range_count] = malloc(bytes + 1);
            ranges[range_count] = (struct nt_stream_range){stream, 0, elements, malloc(bytes + 1)};
            if (nt_stream_read(stream, 0, alone[range_count], bytes, &error) == NT_OK)
                range_count++;
            else
                ck_abort_msg("%s", error.message);
        }
}

/* Some elements of each stream, or all of them. */
static void compare(bool are_all)
{
    struct nt_stream_range some[MAX_STREAMS];
    for (size_t i = 0; i < range_count; i++) {
        some[i] = ranges[i];
        if (are_all || !some[i].count)
            continue;
        some[i].first = (uint64_t)rand() % some[i].count;
        some[i].count = (uint64_t)rand() % (some[i].count - some[i].first + 1);
    }
    for (size_t i = 0; i < range_count; i++)
        memset(ranges[i].output, 0xA5, ranges[i].count * nt_stream_element_bytes(ranges[i].stream) + 1);
    assert_ok(nt_streams_read_elements(some, range_count, &error));
    for (size_t i = 0; i < range_count; i++) {
        size_t width = nt_stream_element_bytes(some[i].stream), bytes = some[i].count * width;
        ck_assert(!bytes || !memcmp(some[i].output, alone[i] + some[i].first * width, bytes));
        ck_assert_uint_eq(((uint8_t *)some[i].output)[bytes], 0xA5);
    }
}

static void close_all(void)
{
    for (size_t i = 0; i < range_count; i++) {
        nt_stream_close(ranges[i].stream);
        free(ranges[i].output);
        free(alone[i]);
    }
    nt_reader_free(reader);
    nt_file_close(file);
}

TEST(streams_read_together_are_those_read_alone, .end = 3)
{
    /* Datasets have deleted rows, and fields that some of their files lack. */
    static const char *const patterns[] = {"lance_*_[02].[012].lance", "lance_datasets/*_[02].[012]"};
    char pattern[4096];
    glob_t found;
    for (unsigned i = 0; i < 2; i++) {
        snprintf(pattern, sizeof(pattern), "%s/%s", getenv("NTUPLE_TEST_DATA"), patterns[i]);
        ck_assert_int_eq(glob(pattern, i ? GLOB_APPEND : 0, NULL, &found), 0);
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        open_file(found.gl_pathv[i], (unsigned)_i);
        open_streams(file->datasets[0]);
        for (int turn = 0; turn < TURNS; turn++)
            compare(turn == 0);
        close_all();
    }
    globfree(&found);
}

TEST(pages_that_are_the_same_bytes_are_loaded_once)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/lance_mini_blocks_2.1.lance", getenv("NTUPLE_TEST_DATA"));
    open_file(path, 0);
    open_streams(file->datasets[0]);
    uint64_t before = stored_bytes();
    nt_reader_forget(reader, file->datasets[0]);
    compare(true);
    ck_assert_uint_lt(stored_bytes() - before, before);
    close_all();
}
