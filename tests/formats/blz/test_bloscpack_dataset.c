/* SPDX-License-Identifier: MIT
 *
 * Bloscpack files, read through the whole pipeline.
 */
#include <string.h>

#include <jansson.h>

#include "blz_files.h"
#include "core/base/memory.h"
#include "core/model/model.h"

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

TEST(every_checksum_finds_a_changed_byte, .setup = set_up, .teardown = tear_down, .end = 9)
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

TEST(without_metadata_a_file_is_bytes, .setup = set_up, .teardown = tear_down)
{
    struct bloscpack_options options = {.version = 2, .type_bytes = 4, .chunk_bytes = 333};
    size_t places[5], bytes;
    put_bloscpack("a.b.blp", &options, places, SIZE_MAX);
    struct nt_file *file = open_path("a.b.blp");
    ck_assert_str_eq(file->datasets[0]->name.bytes, "a.b");
    ck_assert_str_eq(file->datasets[0]->fields[0].dtype.numpy, "|u1");
    free(read_data(file->datasets[0], "values", &bytes));
    ck_assert_uint_eq(bytes, ROWS * 4);
    close_file(file);
}

TEST(items_that_cross_chunks_are_bytes_with_one_more_dimension, .setup = set_up, .teardown = tear_down)
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

/* 35 rows of ten integers, which cross chunks. */
static const struct {
    const char *dtype;
    uint32_t count;
    uint64_t dimensions[3];
} crossing[] = {{"'<i4'\", \"shape\": [35, 10]", 2, {10, 4}},
                {"('<i4', (5,))\", \"shape\": [35, 2]", 3, {2, 5, 4}}};

TEST(rows_that_cross_chunks_keep_their_dimensions, .setup = set_up, .teardown = tear_down,
     .end = sizeof(crossing) / sizeof(*crossing))
{
    char metadata[200];
    snprintf(metadata, sizeof(metadata), "{\"container\": \"numpy\", \"dtype\": \"%s}", crossing[_i].dtype);
    struct bloscpack_options options = {
        .version = 3, .type_bytes = 4, .chunk_bytes = 333, .metadata = metadata};
    size_t places[5], bytes;
    put_bloscpack("a.blp", &options, places, SIZE_MAX);
    struct nt_file *file = open_path("a.blp");
    const struct nt_field *field = &file->datasets[0]->fields[0];
    ck_assert_uint_eq(file->datasets[0]->entries, 35);
    ck_assert_uint_eq(field->dimension_count, crossing[_i].count);
    for (uint32_t i = 0; i < field->dimension_count; i++)
        ck_assert_uint_eq(field->dimensions[i], crossing[_i].dimensions[i]);
    uint8_t *data = read_data(file->datasets[0], "values", &bytes);
    ck_assert_uint_eq(bytes, ROWS * 4);
    for (int32_t i = 0, value; i < ROWS; i++) {
        memcpy(&value, data + 4 * i, 4);
        ck_assert_int_eq(value, 3 * i);
    }
    free(data);
    close_file(file);
}

/* One more dimension cannot describe which bytes of an item belong to which member. */
TEST(items_in_fortran_order_that_cross_chunks_are_bytes_and_it_is_reported_why, .setup = set_up,
     .teardown = tear_down)
{
    struct bloscpack_options options = {
        .version = 3,
        .type_bytes = 4,
        .chunk_bytes = 333,
        .metadata =
            "{\"dtype\": \"'<i4'\", \"shape\": [35, 10], \"order\": \"F\", \"container\": \"numpy\"}"};
    size_t places[5];
    struct nt_buffer out = {0};
    put_bloscpack("a.blp", &options, places, SIZE_MAX);
    struct nt_file *file = open_path("a.blp");
    ck_assert_uint_eq(file->datasets[0]->entries, ROWS * 4);
    ck_assert_str_eq(file->datasets[0]->fields[0].type.bytes, "bytes");
    ck_assert(!nt_field_is_fortran_order(&file->datasets[0]->fields[0]));
    const struct nt_document *document = file->datasets[0]->documents;
    ck_assert_str_eq(document->prefix, "metadata.json");
    assert_ok(
        document->write(&(struct nt_document_request){document, file, file->datasets[0], 0}, &out, &error));
    ck_assert_ptr_nonnull(strstr(out.bytes, "items in Fortran order cross chunk boundaries"));
    nt_buffer_deinit(&out);
    close_file(file);
}

TEST(fortran_order_is_reported, .setup = set_up, .teardown = tear_down)
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
    ck_assert(nt_field_is_fortran_order(&file->datasets[0]->fields[0]));
    ck_assert_uint_eq(file->datasets[0]->entries, 35);
    json_t *reported = describe_field(file->datasets[0], 0);
    ck_assert(json_is_true(json_object_get(reported, "is_fortran_order")));
    json_decref(reported);
    close_file(file);
}

TEST(a_shape_of_more_rows_than_there_are_fails_at_the_end, .setup = set_up, .teardown = tear_down)
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

static void count_damage(void *context, const struct nt_error *failure)
{
    ck_assert_int_eq(failure->status, NT_CORRUPT);
    ++*(unsigned *)context;
}

/* Only the first three are damage: Python objects are not read, and metadata may be anything. */
TEST(metadata_that_says_no_array_leaves_bytes, .setup = set_up, .teardown = tear_down)
{
    enum { DAMAGED = 3 };
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
        unsigned damage = 0;
        assert_ok(file->check(file, count_damage, &damage, &error));
        ck_assert_uint_eq(damage, i < DAMAGED);
        close_file(file);
    }
}
