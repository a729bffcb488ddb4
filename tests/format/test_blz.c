/* SPDX-License-Identifier: MIT
 *
 * Arrays, tables and Bloscpack files, written into a directory of the test's own and read through the whole
 * pipeline; then foreign ones against what their own readers found in them.
 */
#include <dirent.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>
#include <openssl/evp.h>

#include <ntuple/read.h>

#include "bloscpack_writer.h"
#include "format/formats.h"
#include "support.h"

static struct nt_error error;
static struct nt_reader *reader;
static char root[64];

static void set_up(void)
{
    strcpy(root, "/tmp/ntuplefs-blz-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    assert_ok(nt_reader_new(&(struct nt_reader_options){.cache_bytes = 1 << 20}, &reader, &error));
}

static void remove_tree(const char *path)
{
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char child[4096];
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        snprintf(child, sizeof(child), "%s/%s", path, entry->d_name);
        if (unlink(child) != 0)
            remove_tree(child);
    }
    if (directory)
        closedir(directory);
    rmdir(path);
}

static void tear_down(void)
{
    nt_reader_free(reader);
    remove_tree(root);
}

/* ---- writing ---- */

/* A file below the root, with the directories on its way. */
static void put_file(const char *name, const void *bytes, size_t count)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0755);
    }
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

static void put_text(const char *name, const char *text)
{
    put_file(name, text, strlen(text));
}

/* meta/sizes and meta/storage of an array. */
static void put_metadata(const char *array, const char *dtype, const char *shape, unsigned chunk_rows)
{
    char name[256], text[1024];
    snprintf(name, sizeof(name), "%s/meta/sizes", array);
    snprintf(text, sizeof(text), "{\"shape\": %s, \"nbytes\": 0, \"cbytes\": 0}", shape);
    put_text(name, text);
    snprintf(name, sizeof(name), "%s/meta/storage", array);
    snprintf(text, sizeof(text), "{\"dtype\": \"%s\", \"bparams\": {}, \"chunklen\": %u, \"dflt\": NaN}",
             dtype, chunk_rows);
    put_text(name, text);
}

/* A chunk file as blz and bcolz write it. */
static void put_chunk(const char *array, unsigned number, const void *bytes, size_t count,
                      unsigned type_bytes)
{
    struct nt_buffer out = {0};
    char name[256];
    bloscpack_write(&out,
                    &(struct bloscpack_options){.version = 1, .type_bytes = type_bytes, .chunk_bytes = count},
                    bytes, count, NULL);
    snprintf(name, sizeof(name), "%s/data/__%u.blp", array, number);
    put_file(name, out.bytes, out.length);
    nt_buffer_deinit(&out);
}

enum { ROWS = 350, CHUNK_ROWS = 100 };

/* 350 integers in chunks of 100, the row's number times three. */
static void put_integers(const char *array)
{
    int32_t values[ROWS];
    for (int i = 0; i < ROWS; i++)
        values[i] = 3 * i;
    put_metadata(array, "int32", "[350]", CHUNK_ROWS);
    for (unsigned i = 0; i < 4; i++)
        put_chunk(array, i, values + i * CHUNK_ROWS, i < 3 ? 400 : 200, 4);
}

/* ---- reading ---- */

static struct nt_file *open_path(const char *name)
{
    char path[4096];
    struct nt_file *file;
    snprintf(path, sizeof(path), "%s/%s", root, name);
    assert_ok(nt_format_blz.open(path, &(struct nt_open_options){0}, &file, &error));
    return file;
}

static enum nt_status open_status(const char *name)
{
    char path[4096];
    struct nt_file *file;
    snprintf(path, sizeof(path), "%s/%s", root, name);
    error = (struct nt_error){0};
    enum nt_status status = nt_format_blz.open(path, &(struct nt_open_options){0}, &file, &error);
    if (status == NT_OK)
        nt_file_close(file);
    return status;
}

static void close_file(struct nt_file *file)
{
    nt_reader_forget(reader, file->datasets[0]);
    nt_file_close(file);
}

/* The field of a path of names, "rec/a". */
static uint32_t find_field(const struct nt_dataset *dataset, const char *path)
{
    uint32_t field = NT_NONE;
    while (*path) {
        uint32_t count, found = NT_NONE;
        const uint32_t *children = nt_dataset_children(dataset, field, &count);
        size_t length = strcspn(path, "/");
        for (uint32_t i = 0; i < count; i++)
            if (dataset->fields[children[i]].name.length == length &&
                !memcmp(dataset->fields[children[i]].name.bytes, path, length))
                found = children[i];
        ck_assert_msg(found != NT_NONE, "no field %s", path);
        field = found;
        path += length + (path[length] == '/');
    }
    return field;
}

/* All bytes of a field's data; the caller frees them. */
static uint8_t *read_data(struct nt_dataset *dataset, const char *path, size_t *bytes_ret)
{
    struct nt_stream *stream;
    assert_ok(nt_stream_open(reader, dataset, find_field(dataset, path), NT_STREAM_DATA, &stream, &error));
    *bytes_ret = nt_stream_elements(stream) * nt_stream_element_bytes(stream);
    uint8_t *data = malloc(*bytes_ret + 1);
    assert_ok(nt_stream_read(stream, 0, data, *bytes_ret, &error));
    nt_stream_close(stream);
    return data;
}

/* Which rows of an array of integers can be read: those that can must have the right value. */
static void check_rows(struct nt_dataset *dataset, const char *path, unsigned bad_first, unsigned bad_end)
{
    struct nt_stream *stream;
    assert_ok(nt_stream_open(reader, dataset, find_field(dataset, path), NT_STREAM_DATA, &stream, &error));
    ck_assert_uint_eq(nt_stream_elements(stream), ROWS);
    for (unsigned i = 0; i < ROWS; i += 10) {
        int32_t value = -1;
        enum nt_status status = nt_stream_read(stream, i * 4, &value, 4, &error);
        if (i >= bad_first && i < bad_end)
            ck_assert_msg(status != NT_OK, "row %u was read", i);
        else
            ck_assert_msg(status == NT_OK && value == (int32_t)(3 * i), "row %u: %s", i, error.message);
    }
    nt_stream_close(stream);
}

/* ---- arrays ---- */

START_TEST(an_array_reads_as_it_was_written)
{
    put_integers("a");
    struct nt_file *file = open_path("a");
    ck_assert_uint_eq(file->datasets[0]->entries, ROWS);
    ck_assert_str_eq(file->datasets[0]->name.bytes, "a");
    ck_assert_str_eq(file->datasets[0]->fields[0].dtype.text, "'<i4'");
    check_rows(file->datasets[0], "values", 0, 0);
    close_file(file);
}
END_TEST

START_TEST(a_missing_chunk_file_fails_its_rows_only)
{
    char path[4096];
    put_integers("a");
    snprintf(path, sizeof(path), "%s/a/data/__1.blp", root);
    unlink(path);
    struct nt_file *file = open_path("a");
    check_rows(file->datasets[0], "values", 100, 200);
    close_file(file);
}
END_TEST

START_TEST(a_missing_last_chunk_file_fails_its_rows_only)
{
    char path[4096];
    put_integers("a");
    snprintf(path, sizeof(path), "%s/a/data/__3.blp", root);
    unlink(path);
    struct nt_file *file = open_path("a");
    check_rows(file->datasets[0], "values", 300, 350);
    close_file(file);
}
END_TEST

START_TEST(a_chunk_file_that_is_cut_fails_its_rows_only)
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
END_TEST

START_TEST(a_chunk_of_another_length_fails_its_rows_only)
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
END_TEST

START_TEST(a_last_chunk_may_have_more_rows_than_are_left_but_not_fewer)
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
END_TEST

START_TEST(chunk_files_behind_the_end_are_left_alone)
{
    put_integers("a");
    put_chunk("a", 4, "stale", 5, 1);
    put_text("a/data/__7.blp", "not even a chunk");
    put_text("a/data/notes", "text");
    struct nt_file *file = open_path("a");
    check_rows(file->datasets[0], "values", 0, 0);
    close_file(file);
}
END_TEST

START_TEST(rows_of_several_dimensions_have_a_shape)
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
END_TEST

START_TEST(members_of_a_structure_are_fields_of_their_own)
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
    free(whole);
    free(a);
    free(y);
    close_file(file);
}
END_TEST

/* Structures of 24 bytes lie across the borders of the parts. */
START_TEST(a_small_read_of_a_member_decodes_the_blocks_that_it_touches)
{
    enum { COUNT = 40000, FIRST = 30001, WANTED = 300 };
    struct row {
        double a;
        int64_t b, c;
    } *rows = calloc(COUNT, sizeof(*rows));
    int64_t wanted[WANTED];
    for (int i = 0; i < COUNT; i++)
        rows[i] = (struct row){i, 2 * i, 3 * i};
    put_metadata("a", "[('a', '<f8'), ('b', '<i8'), ('c', '<i8')]", "[40000]", COUNT);
    put_chunk("a", 0, rows, COUNT * sizeof(*rows), sizeof(*rows));
    struct nt_file *file = open_path("a");
    struct nt_stream *stream;
    struct nt_reader_counters counters;
    uint32_t field = find_field(file->datasets[0], "values/b");
    assert_ok(nt_stream_open(reader, file->datasets[0], field, NT_STREAM_DATA, &stream, &error));
    assert_ok(nt_stream_read(stream, FIRST * sizeof(*wanted), wanted, sizeof(wanted), &error));
    for (int i = 0; i < WANTED; i++)
        ck_assert_int_eq(wanted[i], 2 * (FIRST + i));
    nt_reader_counters(reader, &counters);
    ck_assert_uint_eq(counters.parts_decoded, 1);
    ck_assert_uint_eq(counters.pages_decoded, 0);
    nt_stream_close(stream);
    close_file(file);
    free(rows);
}
END_TEST

START_TEST(an_array_with_a_dimension_of_no_size_has_rows_of_nothing)
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
END_TEST

START_TEST(objects_are_pickles_that_are_not_opened)
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
END_TEST

START_TEST(an_array_without_rows_needs_no_files)
{
    put_metadata("a", "int32", "[0, 4]", 100);
    struct nt_file *file = open_path("a");
    ck_assert_uint_eq(file->datasets[0]->entries, 0);
    size_t bytes;
    free(read_data(file->datasets[0], "values", &bytes));
    ck_assert_uint_eq(bytes, 0);
    close_file(file);
}
END_TEST

static const struct {
    const char *dtype, *shape;
    unsigned chunk_rows;
} refused[] = {
    {"int33", "[10]", 5}, {"int32", "[-1]", 5},
    {"int32", "7", 5},    {"int32", "[1.5]", 5},
    {"int32", "[10]", 0}, {"int32", "[9223372036854775807]", 1},
    {"S0", "[10]", 5},    {"int32", "[10,4294967296,4294967296]", 5},
};

START_TEST(metadata_that_cannot_be_is_refused)
{
    put_metadata("a", refused[_i].dtype, refused[_i].shape, refused[_i].chunk_rows);
    ck_assert_int_ne(open_status("a"), NT_OK);
    ck_assert_str_ne(error.message, "");
}
END_TEST

START_TEST(directories_and_files_that_are_something_else_are_passed_on)
{
    put_text("b/file", "text");
    put_text("short", "bl");
    ck_assert_int_eq(open_status("b"), NT_NOT_THIS_FORMAT);
    ck_assert_int_eq(open_status("b/file"), NT_NOT_THIS_FORMAT);
    ck_assert_int_eq(open_status("short"), NT_NOT_THIS_FORMAT);
    ck_assert_int_eq(open_status("nothing"), NT_NOT_FOUND);
}
END_TEST

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

START_TEST(superchunks_follow_each_other_by_number)
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
    check_rows(file->datasets[0], "values", 180, 350);
    close_file(file);
}
END_TEST

START_TEST(structures_may_lie_column_by_column)
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
END_TEST

/* ---- tables ---- */

START_TEST(a_table_has_its_columns_in_its_own_order)
{
    put_text("t/__rootdirs__", "{\"names\": [\"z\", \"a b\", \"inner\"], \"dirs\": {\"z\": \"elsewhere\"}}");
    put_text("t/__attrs__", "{\"title\": \"x\"}\n");
    put_integers("t/elsewhere");
    put_integers("t/a b");
    put_integers("t/stray");
    put_text("t/inner/__rootdirs__", "{\"names\": [\"deep\"]}");
    put_integers("t/inner/deep");
    struct nt_file *file = open_path("t");
    struct nt_dataset *dataset = file->datasets[0];
    uint32_t count;
    const uint32_t *top = nt_dataset_children(dataset, NT_NONE, &count);
    ck_assert_uint_eq(count, 3);
    ck_assert_str_eq(dataset->fields[top[0]].name.bytes, "z");
    ck_assert_str_eq(dataset->fields[top[1]].name.bytes, "a b");
    check_rows(dataset, "z", 0, 0);
    check_rows(dataset, "a b", 0, 0);
    check_rows(dataset, "inner/deep", 0, 0);
    close_file(file);
}
END_TEST

START_TEST(a_column_that_cannot_be_opened_leaves_the_others)
{
    put_text("t/__rootdirs__", "{\"names\": [\"good\", \"gone\", \"odd\", \"..\", \"up\", \"/tmp\"], "
                               "\"dirs\": {\"up\": \"x/../../t/good\"}}");
    put_integers("t/good");
    put_integers("t/odd");
    put_text("t/odd/meta/storage", "{\"dtype\": \"int33\"}");
    struct nt_file *file = open_path("t");
    struct nt_dataset *dataset = file->datasets[0];
    check_rows(dataset, "good", 0, 0);
    for (uint32_t i = 1; i < dataset->field_count; i++) {
        ck_assert_int_eq(dataset->fields[i].kind, NT_FIELD_UNREADABLE);
        ck_assert_ptr_nonnull(dataset->fields[i].unreadable);
    }
    close_file(file);
}
END_TEST

START_TEST(a_column_that_is_shorter_fails_where_it_ends)
{
    put_text("t/__rootdirs__", "{\"names\": [\"long\", \"short\"]}");
    put_integers("t/long");
    put_integers("t/short");
    put_metadata("t/short", "int32", "[200]", CHUNK_ROWS);
    struct nt_file *file = open_path("t");
    check_rows(file->datasets[0], "long", 0, 0);
    check_rows(file->datasets[0], "short", 200, 350);
    close_file(file);
}
END_TEST

/* ---- Bloscpack files ---- */

static void put_bloscpack(const char *name, const struct bloscpack_options *options, size_t *places,
                          size_t spoiled)
{
    int32_t values[ROWS];
    struct nt_buffer out = {0};
    for (int i = 0; i < ROWS; i++)
        values[i] = 3 * i;
    bloscpack_write(&out, options, values, sizeof(values), places);
    if (spoiled != SIZE_MAX)
        out.bytes[places[spoiled] + 30] ^= 1;
    put_file(name, out.bytes, out.length);
    nt_buffer_deinit(&out);
}

#define NUMPY_METADATA "{\"dtype\": \"'<i4'\", \"shape\": [350], \"order\": \"C\", \"container\": \"numpy\"}"

START_TEST(every_checksum_finds_a_changed_byte)
{
    struct bloscpack_options options = {.version = 3,
                                        .checksum = (unsigned)_i,
                                        .has_offsets = true,
                                        .append_chunks = 3,
                                        .type_bytes = 4,
                                        .chunk_bytes = 400,
                                        .metadata = NUMPY_METADATA};
    size_t places[4];
    put_bloscpack("good.blp", &options, places, SIZE_MAX);
    struct nt_file *file = open_path("good.blp");
    check_rows(file->datasets[0], "values", 0, 0);
    close_file(file);
    if (_i == 0)
        return; /* no checksum */
    put_bloscpack("bad.blp", &options, places, 2);
    file = open_path("bad.blp");
    check_rows(file->datasets[0], "values", 200, 300);
    ck_assert_int_eq(error.status, NT_CHECKSUM);
    close_file(file);
}
END_TEST

START_TEST(without_metadata_a_file_is_bytes)
{
    struct bloscpack_options options = {.version = 2, .type_bytes = 4, .chunk_bytes = 333};
    size_t places[5], bytes;
    put_bloscpack("a.b.blp", &options, places, SIZE_MAX);
    struct nt_file *file = open_path("a.b.blp");
    ck_assert_str_eq(file->datasets[0]->name.bytes, "a.b");
    ck_assert_str_eq(file->datasets[0]->fields[0].dtype.text, "'|u1'");
    free(read_data(file->datasets[0], "values", &bytes));
    ck_assert_uint_eq(bytes, ROWS * 4);
    close_file(file);
}
END_TEST

START_TEST(items_that_cross_chunks_are_bytes_with_one_more_dimension)
{
    struct bloscpack_options options = {
        .version = 3, .type_bytes = 4, .chunk_bytes = 333, .metadata = NUMPY_METADATA};
    size_t places[5], bytes;
    put_bloscpack("a.blp", &options, places, SIZE_MAX);
    struct nt_file *file = open_path("a.blp");
    ck_assert_uint_eq(file->datasets[0]->entries, ROWS);
    ck_assert_uint_eq(file->datasets[0]->fields[0].dimension_count, 1);
    ck_assert_uint_eq(file->datasets[0]->fields[0].dimensions[0], 4);
    uint8_t *data = read_data(file->datasets[0], "values", &bytes);
    ck_assert_uint_eq(bytes, ROWS * 4);
    for (int32_t i = 0, value; i < ROWS; i++) {
        memcpy(&value, data + 4 * i, 4);
        ck_assert_int_eq(value, 3 * i);
    }
    free(data);
    close_file(file);
}
END_TEST

START_TEST(fortran_order_is_told)
{
    struct bloscpack_options options = {
        .version = 3,
        .type_bytes = 4,
        .chunk_bytes = 400,
        .metadata =
            "{\"dtype\": \"'<i4'\", \"shape\": [35, 10], \"order\": \"F\", \"container\": \"numpy\"}"};
    size_t places[4];
    put_bloscpack("a.blp", &options, places, SIZE_MAX);
    struct nt_file *file = open_path("a.blp");
    ck_assert(file->datasets[0]->fields[0].is_fortran_order);
    ck_assert_uint_eq(file->datasets[0]->entries, 35);
    close_file(file);
}
END_TEST

START_TEST(a_shape_of_more_rows_than_there_are_fails_at_the_end)
{
    struct bloscpack_options options = {
        .version = 3,
        .type_bytes = 4,
        .chunk_bytes = 400,
        .metadata = "{\"dtype\": \"'<i4'\", \"shape\": [360], \"container\": \"numpy\"}"};
    size_t places[4];
    struct nt_stream *stream;
    int32_t value;
    put_bloscpack("a.blp", &options, places, SIZE_MAX);
    struct nt_file *file = open_path("a.blp");
    assert_ok(nt_stream_open(reader, file->datasets[0], 0, NT_STREAM_DATA, &stream, &error));
    assert_ok(nt_stream_read(stream, 349 * 4, &value, 4, &error));
    ck_assert_int_eq(value, 3 * 349);
    assert_status(NT_CORRUPT, nt_stream_read(stream, 350 * 4, &value, 4, &error));
    nt_stream_close(stream);
    close_file(file);
}
END_TEST

START_TEST(metadata_that_tells_no_array_leaves_bytes)
{
    static const char *const texts[] = {"[1, 2", "{\"container\": \"numpy\"}",
                                        "{\"container\": \"numpy\", \"dtype\": \"'<i4'\", \"shape\": [-3]}",
                                        "{\"container\": \"numpy\", \"dtype\": \"'|O'\", \"shape\": [3]}",
                                        "\"text\""};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct bloscpack_options options = {
            .version = 3, .type_bytes = 4, .chunk_bytes = 400, .metadata = texts[i]};
        size_t places[4], bytes;
        put_bloscpack("a.blp", &options, places, SIZE_MAX);
        struct nt_file *file = open_path("a.blp");
        free(read_data(file->datasets[0], "values", &bytes));
        ck_assert_uint_eq(bytes, ROWS * 4);
        close_file(file);
    }
}
END_TEST

/* ---- arrays, tables and files of other writers ---- */

static void check_digest(const json_t *expected, struct nt_dataset *dataset, const char *path,
                         const char *where)
{
    const json_t *digest = json_object_get(expected, "sha256");
    if (!digest)
        digest = json_object_get(expected, "all_pickles_sha256");
    if (!digest)
        return;
    unsigned char found[EVP_MAX_MD_SIZE];
    char text[2 * 32 + 1];
    unsigned length;
    size_t bytes;
    uint8_t *data = read_data(dataset, path, &bytes);
    ck_assert(EVP_Digest(data, bytes, found, &length, EVP_sha256(), NULL));
    for (unsigned i = 0; i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", found[i]);
    ck_assert_msg(!strcmp(text, json_string_value(digest)), "%s: %s", where, path);
    free(data);
}

/* Reads all of a damaged file's bytes; true where that fails. */
static bool fails_to_read(struct nt_dataset *dataset)
{
    struct nt_stream *stream;
    if (nt_stream_open(reader, dataset, 0, NT_STREAM_DATA, &stream, &error) != NT_OK)
        return true;
    size_t bytes = nt_stream_elements(stream) * nt_stream_element_bytes(stream);
    uint8_t *data = malloc(bytes + 1);
    enum nt_status status = nt_stream_read(stream, 0, data, bytes, &error);
    nt_stream_close(stream);
    free(data);
    return status != NT_OK;
}

static void check_foreign(const char *path, const json_t *expected)
{
    const json_t *expect = json_object_get(expected, "expect"),
                 *columns = json_object_get(expected, "columns");
    bool must_fail = json_is_string(expect) && !strcmp(json_string_value(expect), "reject");
    struct nt_file *file;
    error = (struct nt_error){0};
    enum nt_status status = nt_format_blz.open(path, &(struct nt_open_options){0}, &file, &error);
    if (must_fail) {
        ck_assert_msg(status != NT_OK || fails_to_read(file->datasets[0]), "%s was read", path);
    } else {
        ck_assert_msg(status == NT_OK, "%s: %s", path, error.message);
        const char *name;
        json_t *column;
        json_object_foreach((json_t *)columns, name, column)
        {
            check_digest(column, file->datasets[0], name, path);
        }
        if (!columns)
            check_digest(expected, file->datasets[0], "values", path);
    }
    if (status == NT_OK)
        close_file(file);
}

START_TEST(foreign_data_reads_as_its_own_readers_say)
{
    static const char *const folders[] = {"blz", "bcolz", "seedshape", "blp"};
    static const char suffix[] = ".expect.json";
    const char *shared = getenv("NTUPLE_SHARED");
    char path[4096];
    snprintf(path, sizeof(path), "%s/data/blz/%s", shared ? shared : "", folders[_i]);
    size_t folder_length = strlen(path);
    DIR *directory = opendir(path);
    if (!directory) {
        printf("skipped: no foreign data in %s\n", folders[_i]);
        return;
    }
    unsigned checked = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name);
        if (length < sizeof(suffix) || strcmp(entry->d_name + length - sizeof(suffix) + 1, suffix) != 0)
            continue;
        snprintf(path + folder_length, sizeof(path) - folder_length, "/%s", entry->d_name);
        json_t *expected = json_load_file(path, JSON_DECODE_INT_AS_REAL, NULL);
        ck_assert_ptr_nonnull(expected);
        path[strlen(path) - sizeof(suffix) + 1] = '\0';
        check_foreign(path, expected);
        json_decref(expected);
        checked++;
    }
    closedir(directory);
    ck_assert_uint_gt(checked, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("blz");
    TCase *arrays = tcase_create("arrays"), *tables = tcase_create("tables"), *files = tcase_create("files"),
          *foreign = tcase_create("foreign");
    tcase_add_test(arrays, an_array_reads_as_it_was_written);
    tcase_add_test(arrays, a_missing_chunk_file_fails_its_rows_only);
    tcase_add_test(arrays, a_missing_last_chunk_file_fails_its_rows_only);
    tcase_add_test(arrays, a_chunk_file_that_is_cut_fails_its_rows_only);
    tcase_add_test(arrays, a_chunk_of_another_length_fails_its_rows_only);
    tcase_add_test(arrays, a_last_chunk_may_have_more_rows_than_are_left_but_not_fewer);
    tcase_add_test(arrays, chunk_files_behind_the_end_are_left_alone);
    tcase_add_test(arrays, rows_of_several_dimensions_have_a_shape);
    tcase_add_test(arrays, members_of_a_structure_are_fields_of_their_own);
    tcase_add_test(arrays, a_small_read_of_a_member_decodes_the_blocks_that_it_touches);
    tcase_add_test(arrays, an_array_with_a_dimension_of_no_size_has_rows_of_nothing);
    tcase_add_test(arrays, objects_are_pickles_that_are_not_opened);
    tcase_add_test(arrays, an_array_without_rows_needs_no_files);
    tcase_add_loop_test(arrays, metadata_that_cannot_be_is_refused, 0, sizeof(refused) / sizeof(*refused));
    tcase_add_test(arrays, directories_and_files_that_are_something_else_are_passed_on);
    tcase_add_test(arrays, superchunks_follow_each_other_by_number);
    tcase_add_test(arrays, structures_may_lie_column_by_column);
    tcase_add_test(tables, a_table_has_its_columns_in_its_own_order);
    tcase_add_test(tables, a_column_that_cannot_be_opened_leaves_the_others);
    tcase_add_test(tables, a_column_that_is_shorter_fails_where_it_ends);
    tcase_add_loop_test(files, every_checksum_finds_a_changed_byte, 0, 9);
    tcase_add_test(files, without_metadata_a_file_is_bytes);
    tcase_add_test(files, items_that_cross_chunks_are_bytes_with_one_more_dimension);
    tcase_add_test(files, fortran_order_is_told);
    tcase_add_test(files, a_shape_of_more_rows_than_there_are_fails_at_the_end);
    tcase_add_test(files, metadata_that_tells_no_array_leaves_bytes);
    tcase_add_loop_test(foreign, foreign_data_reads_as_its_own_readers_say, 0, 4);
    TCase *all[] = {arrays, tables, files, foreign};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        tcase_add_checked_fixture(all[i], set_up, tear_down);
        suite_add_tcase(suite, all[i]);
    }
    return nt_test_main(suite);
}
