/* SPDX-License-Identifier: MIT
 *
 * JSON texts in tables, compared with the stored numbers: in parts of tables, and with a damaged value.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arrow_consumer.h"
#include "support.h"
#include "render/arrow/arrow.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"

/* More than a block of the texts in each of two clusters; every 5th row is null. */
enum { ROWS = 3000, CLUSTER_ROWS = 1700, VALUE_BYTES = 11, DAMAGED = 1500, PAGE = 256 };

static struct nt_error error;
static struct builder *builder;
static struct nt_arrow *arrow;

static void tear_down(void)
{
    nt_arrow_free(arrow);
    arrow = NULL;
    builder_free(builder);
}

static bool is_valid(unsigned row)
{
    return row % 5 != 2;
}

/* The number of the row, 1000 and more: a scalar of an unsigned number of 2 bytes. */
static void put_value(uint64_t *bytes, unsigned row, bool is_damaged)
{
    const uint8_t value[VALUE_BYTES] = {0x20,
                                        0,
                                        0,
                                        0,
                                        is_damaged ? 0x70 : 0x20,
                                        0,
                                        0,
                                        3,
                                        0x50,
                                        (uint8_t)((row + 1000) >> 8),
                                        (uint8_t)(row + 1000)};
    for (unsigned i = 0; i < VALUE_BYTES; i++)
        bytes[i] = value[i];
}

static void add_rows(uint32_t cluster, const uint32_t columns[3], unsigned first, unsigned end,
                     unsigned damaged)
{
    unsigned rows = end - first, count = 0;
    uint64_t *bytes = calloc((size_t)rows * VALUE_BYTES, sizeof(*bytes)), *ends = calloc(rows, sizeof(*ends)),
             *valid = calloc(rows, sizeof(*valid));
    ck_assert(bytes && ends && valid);
    for (unsigned i = 0; i < rows; i++) {
        valid[i] = is_valid(first + i);
        if (valid[i])
            put_value(bytes + VALUE_BYTES * (size_t)count++, first + i, first + i == damaged);
        ends[i] = (uint64_t)count * VALUE_BYTES;
    }
    add_elements(builder, cluster, columns[0], ends, rows, PAGE);
    add_elements(builder, cluster, columns[1], bytes, count * VALUE_BYTES, PAGE);
    add_elements(builder, cluster, columns[2], valid, rows, PAGE);
    free(bytes);
    free(ends);
    free(valid);
}

static void make_dataset(unsigned damaged)
{
    builder = builder_new();
    uint32_t field = add_array(builder, NT_NONE, NT_FIELD_JSON, NT_ELEMENT_BYTE, 0);
    builder->fields[field].name = (struct nt_text){"json", 4};
    builder->fields[field].is_nullable = edit_extra(builder, field)->is_declared_nullable = true;
    const uint32_t columns[3] = {add_column(builder, field, NT_ENCODING_INDEX64, 0),
                                 add_column(builder, field, NT_ENCODING_CHAR, 0),
                                 add_column(builder, field, NT_ENCODING_BIT, 0)};
    uint32_t clusters[2] = {add_cluster(builder, 0, CLUSTER_ROWS),
                            add_cluster(builder, CLUSTER_ROWS, ROWS - CLUSTER_ROWS)};
    add_rows(clusters[0], columns, 0, CLUSTER_ROWS, damaged);
    add_rows(clusters[1], columns, CLUSTER_ROWS, ROWS, damaged);
    finish(builder, NULL);
}

static void append_expected(struct nt_buffer *out, unsigned first)
{
    for (unsigned row = first; row < ROWS; row++)
        if (is_valid(row))
            nt_buffer_append_format(out, "{\"json\":\"%u\"}\n", row + 1000);
        else
            nt_buffer_append_string(out, "{\"json\":null}\n");
}

static void open_within(uint64_t max_items, uint64_t first)
{
    struct nt_arrow_options options = NT_ARROW_OPTIONS_INIT;
    nt_arrow_free(arrow);
    options.has_range = first > 0;
    options.first_entry = first;
    options.entries = ROWS - first;
    const struct nt_arrow_limits limits = {.max_items = max_items};
    assert_ok(nt_arrow_new_within(builder->reader, builder->dataset, &options, &limits, &arrow, &error));
}

static void check_lines(unsigned first)
{
    struct nt_buffer found = {0}, expected = {0};
    lines_from_arrow(arrow, &found);
    append_expected(&expected, first);
    ck_assert_str_eq(nt_buffer_string(&found), nt_buffer_string(&expected));
    nt_buffer_deinit(&found);
    nt_buffer_deinit(&expected);
}

TEST(texts_are_those_of_the_stored_numbers, .teardown = tear_down)
{
    struct nt_buffer rows = {0}, expected = {0};
    make_dataset(ROWS);
    open_within(INT32_MAX, 0);
    ck_assert_uint_eq(nt_arrow_batches(arrow), 2);
    check_lines(0);
    lines_from_rows(builder, &rows);
    append_expected(&expected, 0);
    ck_assert_str_eq(nt_buffer_string(&rows), nt_buffer_string(&expected));
    nt_buffer_deinit(&rows);
    nt_buffer_deinit(&expected);
}

TEST(parts_of_tables_have_the_same_texts, .teardown = tear_down)
{
    static const unsigned firsts[] = {1, 1023, 1024, 1025, CLUSTER_ROWS - 1, CLUSTER_ROWS, 2900};
    make_dataset(ROWS);
    for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++) {
        open_within(INT32_MAX, firsts[i]);
        check_lines(firsts[i]);
        open_within(500, firsts[i]); /* bytes of a batch, so that clusters are split */
        ck_assert_uint_gt(nt_arrow_batches(arrow), (ROWS - firsts[i]) / 500);
        check_lines(firsts[i]);
    }
}

TEST(a_read_from_anywhere_is_a_part_of_the_file, .teardown = tear_down)
{
    make_dataset(ROWS);
    open_within(INT32_MAX, 0);
    size_t size = nt_arrow_file_bytes(arrow);
    uint8_t *whole = malloc(size), part[97];
    read_file(arrow, 0, size, whole);
    for (size_t at = size - sizeof(part); at > 131; at -= 131) {
        read_file(arrow, at, sizeof(part), part);
        ck_assert_mem_eq(part, whole + at, sizeof(part));
    }
    free(whole);
}

TEST(a_damaged_value_fails_where_it_is_read, .teardown = tear_down)
{
    struct ArrowArray array;
    make_dataset(DAMAGED);
    open_within(INT32_MAX, 0);
    assert_status(NT_CORRUPT, nt_arrow_export_batch(arrow, 0, &array, &error));
    ck_assert_msg(strstr(error.message, "JSONB: a value has an unknown type") != NULL, "%s", error.message);
    assert_ok(nt_arrow_export_batch(arrow, 1, &array, &error));
    array.release(&array);
    open_within(INT32_MAX, CLUSTER_ROWS);
    check_lines(CLUSTER_ROWS);
}

TEST(strings_that_are_to_be_binary_are_what_is_stored, .teardown = tear_down)
{
    struct nt_arrow_options options = NT_ARROW_OPTIONS_INIT;
    struct ArrowArray array;
    options.strings_as_binary = true;
    make_dataset(ROWS);
    assert_ok(nt_arrow_new(builder->reader, builder->dataset, &options, &arrow, &error));
    assert_ok(nt_arrow_export_batch(arrow, 0, &array, &error));
    const struct ArrowArray *json = array.children[0];
    const int64_t *ends = json->buffers[1];
    ck_assert_int_eq(ends[1], VALUE_BYTES);
    ck_assert_mem_eq(json->buffers[2], "\x20\0\0\0\x20\0\0\3\x50\x03\xe8", VALUE_BYTES);
    array.release(&array);
}
