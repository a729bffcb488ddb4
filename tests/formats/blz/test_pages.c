/* SPDX-License-Identifier: MIT
 *
 * Files of chunks that do not match their names, and arrays with more or with other rows than usual.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "blz_files.h"

/* ---- files ---- */

static void put_bloscpack(const char *name, const struct bloscpack_options *options, const void *bytes,
                          size_t count)
{
    struct nt_buffer out = {0};
    bloscpack_write(&out, options, bytes, count, NULL);
    put_file(name, out.bytes, out.length);
    nt_buffer_deinit(&out);
}

/* What takes the place of the second chunk's file. */
static const struct {
    struct bloscpack_options options;
    bool is_good;
} files[] = {
    {{.version = 1, .type_bytes = 4, .chunk_bytes = 400}, true},
    {{.version = 1, .type_bytes = 4, .chunk_bytes = 400, .hides_count = true}, true},
    {{.version = 3, .type_bytes = 4, .chunk_bytes = 400, .checksum = 6, .has_offsets = true}, true},
    {{.version = 1, .type_bytes = 4, .chunk_bytes = 200}, false}, /* two chunks */
    {{.version = 1, .type_bytes = 4, .chunk_bytes = 200, .hides_count = true}, false},
};

TEST(a_file_of_one_chunk_has_one_chunk, .setup = set_up, .teardown = tear_down,
     .end = sizeof(files) / sizeof(*files))
{
    int32_t values[CHUNK_ROWS];
    for (int i = 0; i < CHUNK_ROWS; i++)
        values[i] = 3 * (CHUNK_ROWS + i);
    put_integers("a");
    put_bloscpack("a/data/__1.blp", &files[_i].options, values, sizeof(values));
    struct nt_file *file = open_path("a");
    check_rows(file->datasets[0], "values", 100, files[_i].is_good ? 100 : 200);
    close_file(file);
}

TEST(a_file_that_goes_while_it_is_open_fails_its_rows_only, .setup = set_up, .teardown = tear_down)
{
    char path[4096];
    put_integers("a");
    struct nt_file *file = open_path("a");
    snprintf(path, sizeof(path), "%s/a/data/__2.blp", root);
    ck_assert_int_eq(unlink(path), 0);
    check_rows(file->datasets[0], "values", 200, 300);
    close_file(file);
}

TEST(files_whose_names_are_no_numbers_are_left_alone, .setup = set_up, .teardown = tear_down)
{
    static const char *const names[] = {
        "__01.blp", "__.blp",   "_1.blp",   "__1",       "__1.blp2",
        "__1.bin",  "__-1.blp", "__ 1.blp", "__0x1.blp", "__99999999999999999999.blp"};
    char name[64];
    put_integers("a");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(name, sizeof(name), "a/data/%s", names[i]);
        put_text(name, "no chunk");
    }
    struct nt_file *file = open_path("a");
    check_rows(file->datasets[0], "values", 0, 0);
    close_file(file);
}

/* ---- superchunks ---- */

static void put_superchunks(void)
{
    int32_t values[ROWS];
    char name[64];
    for (int i = 0; i < ROWS; i++)
        values[i] = 3 * i;
    put_metadata("a", "int32", "[350]", 50);
    for (unsigned i = 0; i < 7; i++) {
        snprintf(name, sizeof(name), "a/data/__%u__.bin", i + 1);
        put_bloscpack(name, &(struct bloscpack_options){.version = 3, .type_bytes = 4, .chunk_bytes = 100},
                      values + 50 * i, 200);
    }
}

TEST(a_superchunk_without_its_header_fails_its_own_rows, .setup = set_up, .teardown = tear_down, .end = 4)
{
    static const char *const contents[] = {"", "blp", "blpk", "no superchunk at all"};
    put_superchunks();
    put_text("a/data/__4__.bin", contents[_i]);
    struct nt_file *file = open_path("a");
    check_rows(file->datasets[0], "values", 150, 200);
    close_file(file);
}

/* Missing ones of seven superchunks of 50 rows, and the rows that are then missing. */
static const struct {
    const char *missing;
    unsigned bad_first, bad_end;
} holes[] = {
    {"1", 0, 50},
    {"4", 150, 200},
    {"34", 100, 200},
    {"12345", 0, 250},
    {"7", 300, 350},
    {"67", 250, 350},
    /* Nothing proves the number of rows of the first ones: */
    {"47", 150, 350},
    {"17", 0, 350},
    {"123456", 0, 350},
    {"1234567", 0, 350},
};

TEST(a_missing_superchunk_fails_its_own_rows, .setup = set_up, .teardown = tear_down,
     .end = sizeof(holes) / sizeof(*holes))
{
    char path[4096];
    put_superchunks();
    for (const char *number = holes[_i].missing; *number; number++) {
        snprintf(path, sizeof(path), "%s/a/data/__%c__.bin", root, *number);
        ck_assert_int_eq(unlink(path), 0);
    }
    struct nt_file *file = open_path("a");
    check_rows(file->datasets[0], "values", holes[_i].bad_first, holes[_i].bad_end);
    close_file(file);
}

/* Superchunks of other sizes next to a missing one: its start is known, its end is not. */
TEST(rows_after_a_missing_superchunk_are_not_guessed, .setup = set_up, .teardown = tear_down, .end = 2)
{
    static const unsigned rows[] = {50, 40, 50, 50, 50, 50, 60};
    int32_t values[ROWS];
    char name[64];
    put_metadata("a", "int32", "[350]", 50);
    for (unsigned i = 0, at = 0; i < 7; at += rows[i++]) {
        for (unsigned k = 0; k < rows[i]; k++)
            values[k] = (int32_t)(3 * (at + k));
        snprintf(name, sizeof(name), "a/data/__%u__.bin", i + 1);
        if (i != (unsigned)_i)
            put_bloscpack(name,
                          &(struct bloscpack_options){.version = 3, .type_bytes = 4, .chunk_bytes = 100},
                          values, 4 * (size_t)rows[i]);
    }
    struct nt_file *file = open_path("a");
    check_rows(file->datasets[0], "values", _i == 1 ? 50 : 0, 350);
    close_file(file);
}

TEST(rows_without_superchunks_are_counted_to_a_bound, .setup = set_up, .teardown = tear_down)
{
    struct nt_stream *stream;
    int32_t value;
    put_superchunks();
    put_metadata("a", "int32", "[1000000000000000]", 50);
    struct nt_file *file = open_path("a");
    assert_ok(nt_stream_open(reader, file->datasets[0], 0, NT_STREAM_DATA, &stream, &error));
    assert_status(NT_CORRUPT, nt_stream_read(stream, 0, &value, sizeof(value), &error));
    nt_stream_close(stream);
    ck_assert_msg(strstr(error.message, "most of the rows that the sizes declare are missing") != NULL, "%s",
                  error.message);
    close_file(file);
}

/* ---- rows ---- */

TEST(an_array_without_dimensions_is_one_row, .setup = set_up, .teardown = tear_down)
{
    const int32_t value = 7;
    size_t bytes;
    put_metadata("a", "int32", "[]", 1);
    put_chunk("a", 0, &value, sizeof(value), 4);
    struct nt_file *file = open_path("a");
    ck_assert_uint_eq(file->datasets[0]->entries, 1);
    ck_assert_uint_eq(file->datasets[0]->fields[0].dimension_count, 0);
    uint8_t *data = read_data(file->datasets[0], "values", &bytes);
    ck_assert_uint_eq(bytes, sizeof(value));
    ck_assert_mem_eq(data, &value, bytes);
    free(data);
    close_file(file);
}

/* 20 rows of 10 bytes: six of a matrix, none, and two structures of two. */
TEST(members_that_are_arrays_are_bytes, .setup = set_up, .teardown = tear_down)
{
    enum { COUNT = 20, BYTES = 10 };
    uint8_t rows[COUNT * BYTES];
    size_t bytes;
    uint32_t count;
    for (size_t i = 0; i < sizeof(rows); i++)
        rows[i] = (uint8_t)i;
    put_metadata("a", "[('m', 'u1', (2, 3)), ('z', 'u1', (0,)), ('s', [('p', 'u1'), ('q', 'u1')], (2,))]",
                 "[20]", COUNT);
    put_chunk("a", 0, rows, sizeof(rows), BYTES);
    struct nt_file *file = open_path("a");
    const struct nt_dataset *dataset = file->datasets[0];
    uint32_t matrix = find_field(dataset, "values/m"), pairs = find_field(dataset, "values/s");
    nt_dataset_children(dataset, find_field(dataset, "values"), &count);
    ck_assert_uint_eq(count, 2); /* a member without bytes is no field */
    ck_assert_str_eq(dataset->fields[matrix].dtype.numpy, "|V6");
    ck_assert_str_eq(dataset->fields[pairs].dtype.numpy, "|V4");
    nt_dataset_children(dataset, pairs, &count);
    ck_assert_uint_eq(count, 0);
    for (unsigned member = 0; member < 2; member++) {
        uint8_t *data = read_data(file->datasets[0], member ? "values/s" : "values/m", &bytes);
        size_t width = member ? 4 : 6;
        ck_assert_uint_eq(bytes, COUNT * width);
        for (size_t i = 0; i < COUNT; i++)
            ck_assert_mem_eq(data + i * width, rows + i * BYTES + (member ? 6 : 0), width);
        free(data);
    }
    close_file(file);
}
