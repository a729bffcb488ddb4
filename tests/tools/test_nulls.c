/* SPDX-License-Identifier: MIT
 *
 * Fields with null rows: as streams, as text, in Arrow; and fields of only nulls.
 */
#include <string.h>

#include "arrow_consumer.h"
#include "nullable_dataset.h"
#include "read/read.h"
#include "support.h"
#include "render/arrow/arrow.h"
#include "render/render.h"
#include "tools/tools.h"
#include "core/base/memory.h"
#include "core/model/model.h"

static struct nt_error error;
static struct builder *builder;
static struct nt_buffer text;

/* In clusters of all fields, and with a group for each field. */
static void build(bool has_field_groups)
{
    builder = nullable_dataset();
    builder->has_field_groups = has_field_groups;
    finish(builder, NULL);
}

static void teardown(void)
{
    nt_buffer_deinit(&text);
    builder_free(builder);
}

static uint32_t find(const char *path)
{
    uint32_t field;
    assert_ok(nt_dataset_find(builder->dataset, path, &field, &error));
    return field;
}

TEST(a_row_that_is_null_is_null_as_json, .teardown = teardown, .end = 2)
{
    build(_i);
    lines_from_rows(builder, &text);
    ck_assert_str_eq(nt_buffer_string(&text), nullable_rows);
}

TEST(a_row_that_is_null_is_an_empty_cell, .teardown = teardown, .end = 2)
{
    bool more = true;
    struct nt_text_generator *lines;
    build(_i);
    assert_ok(nt_csv_lines(builder->reader, builder->dataset, &lines, &error));
    while (more)
        assert_ok(lines->next(lines, &text, &more, &error));
    lines->free(lines);
    ck_assert_str_eq(nt_buffer_string(&text), nullable_table);
}

/* Arrow's tuple is a structure. */
TEST(a_row_that_is_null_is_null_in_arrow, .teardown = teardown, .end = 2)
{
    struct nt_buffer expected = {0};
    build(_i);
    struct nt_arrow *arrow = open_arrow(builder);
    lines_from_arrow(arrow, &text);
    for (const char *at = nullable_rows; *at; at++)
        if (!strncmp(at, "\"pair\":[", 8)) {
            nt_buffer_append_format(&expected, "\"pair\":{\"first\":%c}", at[8]);
            at += 9;
        } else {
            nt_buffer_append_byte(&expected, (uint8_t)*at);
        }
    ck_assert_str_eq(nt_buffer_string(&text), nt_buffer_string(&expected));
    nt_buffer_deinit(&expected);
    nt_arrow_free(arrow);
}

/* In the order of the fields, and of the slots of each. */
static const int64_t null_counts[] = {2, 2, 1, 2, 4, 1, 1, 1, 2};

TEST(arrow_says_how_many_rows_are_null, .teardown = teardown, .end = 2)
{
    struct ArrowSchema schema;
    struct ArrowArray array;
    build(_i);
    struct nt_arrow *arrow = open_arrow(builder);
    ck_assert_uint_eq(nt_arrow_omitted_fields(arrow), 0);
    ck_assert_uint_eq(nt_arrow_batches(arrow), 1);
    assert_ok(nt_arrow_export_schema(arrow, &schema, &error));
    assert_ok(nt_arrow_export_batch(arrow, 0, &array, &error));
    ck_assert_int_eq(schema.n_children, 12);
    for (size_t i = 0; i < 12; i++)
        ck_assert(schema.children[i]->flags & ARROW_FLAG_NULLABLE);
    for (size_t i = 0; i < 6; i++)
        ck_assert_int_eq(array.children[i]->null_count, null_counts[i]);
    ck_assert_str_eq(schema.children[4]->format, "n");
    ck_assert_int_eq(array.children[5]->children[0]->null_count, 1);
    ck_assert_int_eq(array.children[7]->children[0]->length, 3);
    ck_assert_int_eq(array.children[8]->children[0]->null_count, 2);
    ck_assert_int_eq(array.children[10]->children[0]->null_count, 3);
    ck_assert_int_eq(array.children[11]->null_count, 2);
    ck_assert_int_eq(array.children[11]->children[0]->null_count, 0);
    array.release(&array);
    schema.release(&schema);
    nt_arrow_free(arrow);
}

static uint64_t pages_decoded(void)
{
    struct nt_counters counters;
    nt_counters_read(builder->reader, &counters);
    return counters.pages_decoded;
}

/* Except the last index of a list of nulls, because nothing counts those. The number of nulls is read
 * with the first byte of the batch. */
TEST(the_size_of_a_table_costs_no_page, .teardown = teardown, .end = 2)
{
    uint8_t bytes[64];
    build(_i);
    struct nt_arrow *arrow = open_arrow(builder);
    ck_assert_uint_gt(nt_arrow_file_bytes(arrow), 0);
    ck_assert_uint_eq(pages_decoded(), 1);
    read_file(arrow, 0, 64, bytes);
    ck_assert_uint_eq(pages_decoded(), 1);
    read_file(arrow, nt_arrow_batch(arrow, 0).offset, 64, bytes);
    ck_assert_uint_gt(pages_decoded(), 1);
    nt_arrow_free(arrow);
}

TEST(a_table_of_one_field_loads_its_page_list_alone, .teardown = teardown)
{
    struct nt_error failure;
    struct nt_arrow *arrow;
    struct nt_arrow_options options = NT_ARROW_OPTIONS_INIT;
    build(true);
    uint32_t chosen[] = {find("text")};
    options.fields = chosen;
    options.field_count = 1;
    assert_ok(nt_arrow_new(builder->reader, builder->dataset, &options, &arrow, &failure));
    for (uint32_t i = 0; i < builder->field_count; i++)
        ck_assert_int_eq(builder->field_loads[i], i == chosen[0]);
    nt_arrow_free(arrow);
}

/* A record omits the member, a list goes with its item. */
TEST(a_field_with_a_bad_page_list_of_its_own_is_left_out, .teardown = teardown)
{
    static const char *const bad[] = {"text", "record/x", "list/item"};
    const char *reason;
    struct ArrowSchema schema;
    build(true);
    for (size_t i = 0; i < 3; i++)
        builder->bad_field[find(bad[i])] = true;
    struct nt_arrow *arrow = open_arrow(builder);
    ck_assert_uint_eq(nt_arrow_omitted_fields(arrow), 3);
    for (uint32_t i = 0; i < 3; i++) {
        nt_arrow_omitted_field(arrow, i, &reason);
        ck_assert_ptr_nonnull(strstr(reason, "this page list is bad"));
        if (i == 0) {
            ck_assert_int_eq(nt_arrow_check(arrow, &error), NT_CORRUPT);
            ck_assert_str_eq(error.message, reason);
        }
    }
    assert_ok(nt_arrow_export_schema(arrow, &schema, &error));
    ck_assert_int_eq(schema.n_children, 10);
    ck_assert_str_eq(schema.children[6]->name, "record");
    ck_assert_int_eq(schema.children[6]->n_children, 1);
    schema.release(&schema);
    nt_arrow_free(arrow);
}

static const struct {
    const char *path;
    uint64_t rows;
    const char *valid; /* a digit a row; NULL: no stream */
} streams[] = {
    {"number", 4, "1010"},         {"text", 4, "1011"},           {"bytes", 4, "0110"},
    {"nothing", 4, NULL},          {"list", 4, "1011"},           {"list/item", 3, "101"},
    {"structures/item", 3, "101"}, {"nulls/item", 3, NULL},       {"structures/item/s", 3, "100"},
    {"record", 4, "1011"},         {"record/x", 4, "1001"},       {"pair", 4, "0101"},
    {"array", 4, "1011"},          {"array/item", 8, "11000111"}, {"vector", 4, "1010"},
};

TEST(a_nullable_field_has_a_valid_for_each_row, .teardown = teardown,
     .end = 2 * sizeof(streams) / sizeof(streams[0]))
{
    uint64_t rows, elements;
    uint8_t valid[8];
    struct nt_stream *stream;
    build(_i % 2);
    uint32_t field = find(streams[_i / 2].path);
    const char *expected = streams[_i / 2].valid;
    assert_ok(nt_field_rows(builder->reader, builder->dataset, field, &rows, &error));
    ck_assert_uint_eq(rows, streams[_i / 2].rows);
    ck_assert_int_eq(nt_field_has_stream(&builder->dataset->fields[field], NT_STREAM_VALID),
                     expected != NULL);
    if (!expected)
        return;
    assert_ok(nt_field_stream_elements(builder->reader, builder->dataset, field, NT_STREAM_VALID, &elements,
                                       &error));
    ck_assert_uint_eq(elements, rows);
    assert_ok(nt_stream_open(builder->reader, builder->dataset, field, NT_STREAM_VALID, &stream, &error));
    assert_ok(nt_stream_read(stream, 0, valid, rows, &error));
    for (uint64_t i = 0; i < rows; i++)
        ck_assert_uint_eq(valid[i], expected[i] - '0');
    nt_stream_close(stream);
}

static void on_finding(void *context, const struct nt_finding *finding)
{
    ck_abort_msg("%s", finding->error.message);
}

TEST(nothing_is_wrong_with_them, .teardown = teardown, .end = 2)
{
    struct nt_verify_summary summary = {0};
    build(_i);
    const struct nt_verify_options options = {.on_finding = on_finding};
    assert_ok(nt_verify(builder->reader, builder->file, &options, &summary, &error));
}

/* Two of four rows, in pages of two: one page of the values and one of the validity. */
TEST(rows_cost_no_more_than_their_pages, .teardown = teardown, .end = 2)
{
    bool are_cheap;
    build(_i);
    uint32_t field = find("number");
    assert_ok(nt_rows_cost_is_low(builder->dataset, field, 0, 2, 2 * 1024 + 256, &are_cheap, &error));
    ck_assert(are_cheap);
    assert_ok(nt_rows_cost_is_low(builder->dataset, field, 0, 4, 2 * 1024 + 256, &are_cheap, &error));
    ck_assert(!are_cheap);
    for (uint32_t i = 0; _i && i < builder->field_count; i++)
        ck_assert_int_eq(builder->field_loads[i], i == field);
}
