/* SPDX-License-Identifier: MIT
 *
 * Files from custom sources: all single-file formats give the same as from a path.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntuple/ntuple.h>

#include "support.h"

static struct nt_error error;

/* ---- a source that counts, over a file's own ---- */

struct counting {
    struct nt_source *file;
    unsigned reads, closes;
    uint64_t bytes;
    bool fails;
};

static enum nt_status counting_read_at(void *context, uint64_t offset, void *buffer, size_t bytes,
                                       struct nt_error *failure)
{
    struct counting *counting = context;
    __atomic_fetch_add(&counting->reads, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&counting->bytes, bytes, __ATOMIC_RELAXED);
    if (counting->fails) {
        strcpy(failure->message, "the line is dead");
        return NT_IO;
    }
    return nt_source_read(counting->file, offset, buffer, bytes, failure);
}

static void counting_close(void *context)
{
    struct counting *counting = context;
    counting->closes++;
    nt_source_close(counting->file);
}

static struct nt_source *open_counting(const char *path, struct counting *counting)
{
    const struct nt_source_callbacks callbacks = {
        .struct_bytes = sizeof(callbacks), .read_at = counting_read_at, .close = counting_close};
    struct nt_source *source;
    uint64_t size;
    *counting = (struct counting){0};
    assert_ok(nt_source_open_file(path, &counting->file, &error));
    assert_ok(nt_source_size(counting->file, &size, &error));
    assert_ok(nt_source_new(&callbacks, counting, size, "counted.name", &source, &error));
    return source;
}

/* ---- what is in a file ---- */

static const struct {
    const char *file, *dataset, *field, *name; /* if the name is the file's, that of the source */
} rows[] = {
    {"data/example.root", "Events", "muons/_0/pt", "Events"},
    {"data/compression_lzma.root", "compressed", "noise", NULL},
    {"data/blocks.blp", "blocks", "values", "counted"},
    {"fuzz/seeds/plain.roaring", "plain", "values", "counted"},
};

static const char *path_of(const char *file)
{
    static char path[4096];
    snprintf(path, sizeof(path), "%s/../%s", getenv("NTUPLE_TEST_DATA"), file);
    return path;
}

struct values {
    char *bytes;
    size_t count;
};

static struct values read_values(struct nt_reader *reader, struct nt_dataset *dataset, const char *path)
{
    struct nt_stream *stream;
    uint32_t field;
    assert_ok(nt_dataset_find(dataset, path, &field, &error));
    assert_ok(nt_stream_open(reader, dataset, field, NT_STREAM_DATA, &stream, &error));
    struct values values = {.count = nt_stream_elements(stream) * nt_stream_element_bytes(stream)};
    values.bytes = malloc(values.count + 1);
    assert_ok(nt_stream_read(stream, 0, values.bytes, values.count, &error));
    nt_stream_close(stream);
    return values;
}

static struct values read_path(struct nt_reader *reader, const char *path, const char *dataset_path,
                               const char *field)
{
    struct nt_file *file;
    struct nt_dataset *dataset;
    assert_ok(nt_file_open(path, NULL, &file, &error));
    assert_ok(nt_file_find(file, dataset_path, &dataset, &error));
    struct values values = read_values(reader, dataset, field);
    nt_reader_forget(reader, dataset);
    nt_file_close(file);
    return values;
}

TEST(a_source_gives_what_the_file_gives, .end = sizeof(rows) / sizeof(*rows))
{
    const char *path = path_of(rows[_i].file);
    struct counting counting;
    struct nt_source *source = open_counting(path, &counting);
    struct nt_reader *reader;
    struct nt_file *file;
    struct nt_dataset *dataset;
    assert_ok(nt_reader_new(NULL, &reader, &error));
    struct values expected = read_path(reader, path, rows[_i].dataset, rows[_i].field);
    assert_ok(nt_file_open_source(source, NULL, &file, &error));
    ck_assert_str_eq(nt_file_path(file), "counted.name");
    assert_ok(nt_file_find(file, rows[_i].name, &dataset, &error));
    unsigned reads = counting.reads;
    struct values values = read_values(reader, dataset, rows[_i].field);
    ck_assert_uint_gt(counting.reads, reads);
    ck_assert_uint_gt(values.count, 0);
    ck_assert_uint_eq(values.count, expected.count);
    ck_assert_mem_eq(values.bytes, expected.bytes, values.count);
    nt_reader_forget(reader, dataset);
    ck_assert_uint_eq(counting.closes, 0);
    nt_file_close(file);
    ck_assert_uint_eq(counting.closes, 1);
    free(values.bytes);
    free(expected.bytes);
    nt_reader_free(reader);
}

TEST(memory_gives_what_the_file_gives, .end = sizeof(rows) / sizeof(*rows))
{
    const char *path = path_of(rows[_i].file);
    struct counting counting;
    struct nt_source *whole = open_counting(path, &counting), *source;
    struct nt_reader *reader;
    struct nt_file *file;
    struct nt_dataset *dataset;
    uint64_t size;
    assert_ok(nt_source_size(whole, &size, &error));
    char *bytes = malloc(size);
    assert_ok(nt_source_read(whole, 0, bytes, size, &error));
    nt_source_close(whole);
    assert_ok(nt_reader_new(NULL, &reader, &error));
    struct values expected = read_path(reader, path, rows[_i].dataset, rows[_i].field);
    assert_ok(nt_source_open_memory(bytes, size, "counted.name", &source, &error));
    assert_ok(nt_file_open_source(source, NULL, &file, &error));
    assert_ok(nt_file_find(file, rows[_i].name, &dataset, &error));
    struct values values = read_values(reader, dataset, rows[_i].field);
    ck_assert_uint_eq(values.count, expected.count);
    ck_assert_mem_eq(values.bytes, expected.bytes, values.count);
    nt_reader_free(reader);
    nt_file_close(file);
    free(values.bytes);
    free(expected.bytes);
    free(bytes);
}

/* ---- failures ---- */

TEST(what_no_format_takes_stays_the_caller_s)
{
    struct counting counting;
    struct nt_source *source = open_counting(path_of("data/example.json"), &counting);
    struct nt_file *file;
    struct nt_open_options only = NT_OPEN_OPTIONS_INIT;
    char byte;
    assert_status(NT_NOT_THIS_FORMAT, nt_file_open_source(source, NULL, &file, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "counted.name: a text file"));
    only.format = "roaring";
    assert_status(NT_NOT_THIS_FORMAT, nt_file_open_source(source, &only, &file, &error));
    ck_assert_uint_eq(counting.closes, 0);
    assert_ok(nt_source_read(source, 0, &byte, 1, &error));
    ck_assert_int_eq(byte, '{');
    nt_source_close(source);
    ck_assert_uint_eq(counting.closes, 1);
}

TEST(a_source_that_fails_is_no_damaged_file)
{
    struct counting counting;
    struct nt_source *source = open_counting(path_of("data/example.root"), &counting);
    struct nt_reader *reader;
    struct nt_file *file;
    struct nt_dataset *dataset;
    struct nt_stream *stream;
    uint32_t field;
    uint32_t run;
    counting.fails = true;
    assert_status(NT_IO, nt_file_open_source(source, NULL, &file, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "counted.name: the line is dead"));
    counting.fails = false;
    assert_ok(nt_file_open_source(source, NULL, &file, &error));
    assert_ok(nt_file_find(file, "Events", &dataset, &error));
    assert_ok(nt_dataset_find(dataset, "run", &field, &error));
    assert_ok(nt_reader_new(NULL, &reader, &error));
    counting.fails = true;
    assert_status(NT_IO, nt_stream_open(reader, dataset, field, NT_STREAM_DATA, &stream, &error));
    counting.fails = false; /* page lists that could not be read are read again */
    assert_ok(nt_stream_open(reader, dataset, field, NT_STREAM_DATA, &stream, &error));
    counting.fails = true;
    assert_status(NT_IO, nt_stream_read(stream, 0, &run, sizeof(run), &error));
    ck_assert_ptr_nonnull(strstr(error.message, "the line is dead"));
    nt_stream_close(stream);
    nt_reader_free(reader);
    nt_file_close(file);
}

TEST(a_folder_is_no_source)
{
    struct nt_source *source;
    assert_status(NT_INVALID, nt_source_open_file(path_of("data"), &source, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "data"));
}
