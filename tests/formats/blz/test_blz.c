/* SPDX-License-Identifier: MIT
 *
 * Arrays in a temporary directory, read through the whole pipeline.
 */
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "blz_files.h"
#include "read/read.h"
#include "core/base/memory.h"
#include "core/model/model.h"

TEST(an_array_reads_as_it_was_written, .setup = set_up, .teardown = tear_down)
{
    put_integers("a");
    struct nt_file *file = open_path("a");
    ck_assert_uint_eq(file->datasets[0]->entries, ROWS);
    ck_assert_str_eq(file->datasets[0]->name.bytes, "a");
    ck_assert_str_eq(file->datasets[0]->fields[0].dtype.numpy, "<i4");
    check_rows(file->datasets[0], "values", 0, 0);
    close_file(file);
}

TEST(a_missing_chunk_file_fails_its_rows_only, .setup = set_up, .teardown = tear_down)
{
    char path[4096];
    put_integers("a");
    snprintf(path, sizeof(path), "%s/a/data/__1.blp", root);
    unlink(path);
    struct nt_file *file = open_path("a");
    check_rows(file->datasets[0], "values", 100, 200);
    close_file(file);
}

TEST(a_missing_last_chunk_file_fails_its_rows_only, .setup = set_up, .teardown = tear_down)
{
    char path[4096];
    put_integers("a");
    snprintf(path, sizeof(path), "%s/a/data/__3.blp", root);
    unlink(path);
    struct nt_file *file = open_path("a");
    check_rows(file->datasets[0], "values", 300, 350);
    close_file(file);
}

TEST(a_chunk_file_that_is_cut_fails_its_rows_only, .setup = set_up, .teardown = tear_down)
{
    static const off_t lengths[] = {0, 3, 15, 16, 20, 40};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        char path[4096];
        put_integers("a");
        snprintf(path, sizeof(path), "%s/a/data/__2.blp", root);
        ck_assert_int_eq(truncate(path, lengths[i]), 0);
        struct nt_file *file = open_path("a");
        check_rows(file->datasets[0], "values", 200, 300);
        close_file(file);
    }
}

TEST(a_chunk_of_another_length_fails_its_rows_only, .setup = set_up, .teardown = tear_down)
{
    static const unsigned lengths[] = {396, 404, 4000, 4};
    int32_t values[1000] = {0};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        put_integers("a");
        put_chunk("a", 0, values, lengths[i], 4);
        struct nt_file *file = open_path("a");
        check_rows(file->datasets[0], "values", 0, 100);
        close_file(file);
    }
}

TEST(a_last_chunk_may_have_more_rows_than_are_left_but_not_fewer, .setup = set_up, .teardown = tear_down)
{
    int32_t values[101];
    for (int i = 0; i < 101; i++)
        values[i] = 3 * (300 + i);
    static const struct {
        unsigned bytes;
        bool is_good;
    } cases[] = {{200, true}, {204, true}, {400, true}, {404, false}, {196, false}, {201, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        put_integers("a");
        put_chunk("a", 3, values, cases[i].bytes, 4);
        struct nt_file *file = open_path("a");
        check_rows(file->datasets[0], "values", 300, cases[i].is_good ? 300 : 350);
        close_file(file);
    }
}

TEST(chunk_files_after_the_end_are_left_alone, .setup = set_up, .teardown = tear_down)
{
    put_integers("a");
    put_chunk("a", 4, "stale", 5, 1);
    put_text("a/data/__7.blp", "not even a chunk");
    put_text("a/data/notes", "text");
    struct nt_file *file = open_path("a");
    check_rows(file->datasets[0], "values", 0, 0);
    close_file(file);
}

TEST(rows_of_several_dimensions_have_a_shape, .setup = set_up, .teardown = tear_down)
{
    double values[24];
    for (int i = 0; i < 24; i++)
        values[i] = i;
    put_metadata("a", "float64", "[4, 2, 3]", 3);
    put_chunk("a", 0, values, 3 * 48, 8);
    put_chunk("a", 1, values + 18, 48, 8);
    struct nt_file *file = open_path("a");
    const struct nt_field *field = &file->datasets[0]->fields[0];
    ck_assert_uint_eq(file->datasets[0]->entries, 4);
    ck_assert_uint_eq(field->dimension_count, 2);
    ck_assert(field->dimensions[0] == 2 && field->dimensions[1] == 3);
    size_t bytes;
    uint8_t *data = read_data(file->datasets[0], "values", &bytes);
    ck_assert_uint_eq(bytes, sizeof(values));
    ck_assert_mem_eq(data, values, bytes);
    free(data);
    close_file(file);
}

TEST(members_of_a_structure_are_fields_of_their_own, .setup = set_up, .teardown = tear_down)
{
    struct __attribute__((packed)) {
        int32_t a;
        char s[3];
        uint16_t x, y;
    } rows[5];
    for (int i = 0; i < 5; i++) {
        rows[i].a = -i;
        memcpy(rows[i].s, "abc", 3);
        rows[i].x = (uint16_t)i;
        rows[i].y = (uint16_t)(100 + i);
    }
    put_metadata("a", "[('a', '<i4'), ('s', 'S3'), ('in', [('x', '<u2'), ('y', '<u2')])]", "[5]", 5);
    put_chunk("a", 0, rows, sizeof(rows), sizeof(rows[0]));
    struct nt_file *file = open_path("a");
    size_t bytes;
    uint8_t *whole = read_data(file->datasets[0], "values", &bytes);
    ck_assert_uint_eq(bytes, sizeof(rows));
    ck_assert_mem_eq(whole, rows, bytes);
    uint8_t *a = read_data(file->datasets[0], "values/a", &bytes);
    ck_assert_mem_eq(a, ((const int32_t[]){0, -1, -2, -3, -4}), 20);
    uint8_t *y = read_data(file->datasets[0], "values/in/y", &bytes);
    ck_assert_uint_eq(bytes, 10);
    ck_assert_mem_eq(y, ((const uint16_t[]){100, 101, 102, 103, 104}), 10);
    json_t *reported = describe_field(file->datasets[0], find_field(file->datasets[0], "values/in/y"));
    ck_assert_int_eq(json_integer_value(json_object_get(reported, "member_offset")), 9);
    json_decref(reported);
    free(whole);
    free(a);
    free(y);
    close_file(file);
}

/* Structures of 24 bytes cross the parts. */
TEST(a_small_read_of_a_member_decodes_the_blocks_that_it_touches, .setup = set_up, .teardown = tear_down)
{
    enum { COUNT = 40000, FIRST = 30001, VALUES = 300 };
    struct row {
        double a;
        int64_t b, c;
    } *rows = calloc(COUNT, sizeof(*rows));
    int64_t values[VALUES];
    for (int i = 0; i < COUNT; i++)
        rows[i] = (struct row){i, 2 * i, 3 * i};
    put_metadata("a", "[('a', '<f8'), ('b', '<i8'), ('c', '<i8')]", "[40000]", COUNT);
    put_chunk("a", 0, rows, COUNT * sizeof(*rows), sizeof(*rows));
    struct nt_file *file = open_path("a");
    struct nt_stream *stream;
    struct nt_counters counters;
    uint32_t field = find_field(file->datasets[0], "values/b");
    assert_ok(nt_stream_open(reader, file->datasets[0], field, NT_STREAM_DATA, &stream, &error));
    assert_ok(nt_stream_read(stream, FIRST * sizeof(*values), values, sizeof(values), &error));
    for (int i = 0; i < VALUES; i++)
        ck_assert_int_eq(values[i], 2 * (FIRST + i));
    nt_counters_read(reader, &counters);
    ck_assert_uint_eq(counters.blocks_decoded, 1);
    ck_assert_uint_eq(counters.pages_decoded, 0);
    nt_stream_close(stream);
    close_file(file);
    free(rows);
}

TEST(an_array_with_a_dimension_of_no_size_has_rows_of_nothing, .setup = set_up, .teardown = tear_down)
{
    static const char *const shapes[] = {"[5, 0]", "[5, 2, 0, 3]"};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        put_metadata("a", "float64", shapes[i], 5);
        struct nt_file *file = open_path("a");
        uint64_t rows;
        size_t bytes;
        assert_ok(
            nt_field_rows(reader, file->datasets[0], find_field(file->datasets[0], "values"), &rows, &error));
        ck_assert_uint_eq(rows, 5);
        free(read_data(file->datasets[0], "values", &bytes));
        ck_assert_uint_eq(bytes, 0);
        close_file(file);
    }
}

TEST(objects_are_pickles_that_are_not_opened, .setup = set_up, .teardown = tear_down)
{
    put_metadata("a", "object", "[3]", 512);
    put_chunk("a", 0, "first", 5, 1);
    put_chunk("a", 1, "2", 1, 1);
    put_chunk("a", 2, "the third", 9, 1);
    struct nt_file *file = open_path("a");
    struct nt_dataset *dataset = file->datasets[0];
    struct nt_stream *offsets;
    uint64_t ends[4];
    size_t bytes;
    uint8_t *data = read_data(dataset, "values", &bytes);
    ck_assert_uint_eq(bytes, 15);
    ck_assert_mem_eq(data, "first2the third", 15);
    assert_ok(nt_stream_open(reader, dataset, 0, NT_STREAM_OFFSETS, &offsets, &error));
    ck_assert_uint_eq(nt_stream_elements(offsets), 4);
    assert_ok(nt_stream_read(offsets, 0, ends, sizeof(ends), &error));
    ck_assert_mem_eq(ends, ((const uint64_t[]){0, 5, 6, 15}), sizeof(ends));
    nt_stream_close(offsets);
    free(data);
    close_file(file);
}

TEST(an_array_without_rows_needs_no_files, .setup = set_up, .teardown = tear_down)
{
    put_metadata("a", "int32", "[0, 4]", 100);
    struct nt_file *file = open_path("a");
    ck_assert_uint_eq(file->datasets[0]->entries, 0);
    size_t bytes;
    free(read_data(file->datasets[0], "values", &bytes));
    ck_assert_uint_eq(bytes, 0);
    close_file(file);
}

static const struct {
    const char *dtype, *shape;
    unsigned chunk_rows;
} refused[] = {
    {"int33", "[10]", 5}, {"int32", "[-1]", 5},
    {"int32", "7", 5},    {"int32", "[1.5]", 5},
    {"int32", "[10]", 0}, {"int32", "[9223372036854775807]", 1},
    {"S0", "[10]", 5},    {"int32", "[10,4294967296,4294967296]", 5},
};

TEST(metadata_that_cannot_be_is_refused, .setup = set_up, .teardown = tear_down,
     .end = sizeof(refused) / sizeof(*refused))
{
    put_metadata("a", refused[_i].dtype, refused[_i].shape, refused[_i].chunk_rows);
    ck_assert_int_ne(open_status("a"), NT_OK);
    ck_assert_str_ne(error.message, "");
}

TEST(directories_and_files_that_are_something_else_are_passed_on, .setup = set_up, .teardown = tear_down)
{
    put_text("b/file", "text");
    put_text("short", "bl");
    ck_assert_int_eq(open_status("b"), NT_NOT_THIS_FORMAT);
    ck_assert_int_eq(open_status("b/file"), NT_NOT_THIS_FORMAT);
    ck_assert_int_eq(open_status("short"), NT_NOT_THIS_FORMAT);
    ck_assert_int_eq(open_status("nothing"), NT_NOT_FOUND);
}

/* ---- superchunks ---- */

static void put_superchunk(const char *name, const int32_t *values, unsigned rows)
{
    struct nt_buffer out = {0};
    bloscpack_write(
        &out,
        &(struct bloscpack_options){
            .version = 3, .checksum = 6, .has_offsets = true, .type_bytes = 4, .chunk_bytes = 240},
        values, rows * 4, NULL);
    put_file(name, out.bytes, out.length);
    nt_buffer_deinit(&out);
}

TEST(superchunks_follow_each_other_by_number, .setup = set_up, .teardown = tear_down)
{
    int32_t values[ROWS];
    for (int i = 0; i < ROWS; i++)
        values[i] = 3 * i;
    put_metadata("a", "int32", "[350]", 60);
    for (unsigned i = 0; i < 12; i++) {
        char name[64];
        snprintf(name, sizeof(name), "a/data/__%u__.bin", i + 1);
        put_superchunk(name, values + 30 * i, i < 11 ? 30 : 20);
    }
    struct nt_file *file = open_path("a");
    check_rows(file->datasets[0], "values", 0, 0);
    close_file(file);
    char path[4096];
    snprintf(path, sizeof(path), "%s/a/data/__7__.bin", root);
    unlink(path);
    file = open_path("a");
    check_rows(file->datasets[0], "values", 180, 210);
    close_file(file);
}

TEST(structures_may_be_column_by_column, .setup = set_up, .teardown = tear_down)
{
    int32_t values[60];
    for (int i = 0; i < 60; i++)
        values[i] = i;
    put_metadata("a", "[('in', [('x', '<i4')]), ('y', '<i4')]", "[60]", 60);
    put_superchunk("a/data/in/x/__1__.bin", values, 60);
    put_superchunk("a/data/y/__1__.bin", values, 60);
    struct nt_file *file = open_path("a");
    size_t bytes;
    uint8_t *x = read_data(file->datasets[0], "in/x", &bytes);
    ck_assert_uint_eq(bytes, sizeof(values));
    ck_assert_mem_eq(x, values, bytes);
    free(x);
    free(read_data(file->datasets[0], "y", &bytes));
    close_file(file);
}
