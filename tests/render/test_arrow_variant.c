/* SPDX-License-Identifier: MIT
 *
 * Variants as structs of nullable alternatives: the rows of each alternative.
 */
#include <string.h>

#include "arrow_consumer.h"
#include "support.h"
#include "render/arrow/arrow.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"

/* A variant of a number and a list of numbers: a cluster's switches, and the numbers of values of both. */
struct variant_rows {
    const uint64_t *switches;
    uint32_t rows, numbers, lists;
};

/* The lists have no, one or two items. */
static struct builder *variants_of(const struct variant_rows *clusters, uint32_t count)
{
    struct builder *builder = builder_new();
    uint32_t variant = add_field(builder, NT_NONE, NT_FIELD_VARIANT, NT_ELEMENT_SWITCH);
    uint32_t number = add_field(builder, variant, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t list = add_field(builder, variant, NT_FIELD_COLLECTION, NT_ELEMENT_UINT64);
    uint32_t item = add_field(builder, list, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    const uint32_t columns[] = {
        add_column(builder, variant, NT_ENCODING_SWITCH, 0),
        add_column(builder, number, NT_ENCODING_INT32, 0),
        add_column(builder, list, NT_ENCODING_INDEX64, 0),
        add_column(builder, item, NT_ENCODING_INT32, 0),
    };
    uint64_t first = 0;
    for (uint32_t i = 0; i < count; first += clusters[i++].rows) {
        const struct variant_rows *rows = &clusters[i];
        uint64_t *values = calloc(2 * (size_t)(rows->numbers + rows->lists) + 1, sizeof(*values));
        uint64_t *ends = calloc(rows->lists + 1, sizeof(*ends));
        for (uint32_t k = 0; k < 2 * (rows->numbers + rows->lists); k++)
            values[k] = 1000 * i + k;
        for (uint32_t k = 0; k < rows->lists; k++)
            ends[k] = (k ? ends[k - 1] : 0) + k % 3;
        uint32_t cluster = add_cluster(builder, first, rows->rows);
        add_elements(builder, cluster, columns[0], rows->switches, rows->rows, 1000);
        add_elements(builder, cluster, columns[1], values, rows->numbers, 1000);
        add_elements(builder, cluster, columns[2], ends, rows->lists, 1000);
        add_elements(builder, cluster, columns[3], values, rows->lists ? (uint32_t)ends[rows->lists - 1] : 0,
                     1000);
        free(values);
        free(ends);
    }
    end_group(builder);
    finish(builder, NULL);
    return builder;
}

/* Long runs of one alternative, and of none, so that whole blocks of rows have no row of the other. */
static struct variant_rows long_runs(uint64_t *switches, uint32_t rows, uint32_t run)
{
    struct variant_rows made = {.switches = switches, .rows = rows};
    for (uint32_t i = 0; i < rows; i++)
        switches[i] = i / run % 3 == 0   ? SWITCH(2, made.lists++)
                      : i / run % 3 == 1 ? SWITCH(0, 0)
                                         : SWITCH(1, made.numbers++);
    return made;
}

TEST(alternatives_are_found_however_many_rows_are_before_them, .end = 5)
{
    enum { ROWS = 60000 };
    static const uint32_t runs[] = {1, 7, 16384, 20000, ROWS};
    static uint64_t switches[2][ROWS];
    const struct variant_rows clusters[] = {long_runs(switches[0], ROWS, runs[_i]),
                                            long_runs(switches[1], 16384 * 3, runs[_i])};
    struct nt_buffer from_arrow = {0}, from_rows = {0};
    struct builder *builder = variants_of(clusters, 2);
    struct nt_arrow *arrow = open_arrow(builder);
    size_t size = nt_arrow_file_bytes(arrow);
    uint8_t *whole = malloc(size), *part = malloc(5000);
    lines_from_arrow(arrow, &from_arrow);
    lines_from_rows(builder, &from_rows);
    ck_assert_str_eq(from_arrow.bytes, from_rows.bytes);
    read_file(arrow, 0, size, whole);
    for (size_t at = 0; at + 5000 <= size; at += 4999 * 3) {
        read_file(arrow, at, 5000, part);
        ck_assert_mem_eq(part, whole + at, 5000);
    }
    nt_buffer_deinit(&from_arrow);
    nt_buffer_deinit(&from_rows);
    free(whole);
    free(part);
    nt_arrow_free(arrow);
    builder_free(builder);
}

/* A row of another alternative, a row twice, a row left over: a union shows them, a struct could only
 * show other values than those. */
TEST(alternatives_out_of_order_fail_as_structs_and_are_right_as_unions, .end = 4)
{
    static const uint64_t orders[][3] = {{SWITCH(1, 1), SWITCH(1, 0), SWITCH(1, 2)},
                                         {SWITCH(1, 0), SWITCH(1, 0), SWITCH(1, 1)},
                                         {SWITCH(1, 0), SWITCH(1, 2), SWITCH(0, 0)},
                                         {SWITCH(1, 0), SWITCH(1, 1), SWITCH(0, 0)}};
    const struct variant_rows rows = {.switches = orders[_i], .rows = 3, .numbers = 3};
    struct nt_error error;
    struct ArrowArray array;
    struct nt_buffer from_arrow = {0}, from_rows = {0};
    struct builder *builder = variants_of(&rows, 1);
    struct nt_arrow *arrow = open_arrow(builder);
    assert_status(NT_UNSUPPORTED, nt_arrow_export_batch(arrow, 0, &array, &error));
    nt_arrow_free(arrow);
    arrow = open_arrow_with(builder, NT_ARROW_UNIONS_UNION);
    lines_from_arrow(arrow, &from_arrow);
    lines_from_rows(builder, &from_rows);
    ck_assert_str_eq(from_arrow.bytes, from_rows.bytes);
    nt_buffer_deinit(&from_arrow);
    nt_buffer_deinit(&from_rows);
    nt_arrow_free(arrow);
    builder_free(builder);
}

TEST(variants_are_left_out_and_named_where_that_is_requested)
{
    static const uint64_t switches[] = {SWITCH(1, 0)};
    const struct variant_rows rows = {.switches = switches, .rows = 1, .numbers = 1};
    char text[300];
    struct builder *builder = variants_of(&rows, 1);
    struct nt_arrow *arrow = open_arrow_with(builder, NT_ARROW_UNIONS_OMIT);
    omitted(arrow, text, sizeof(text));
    ck_assert_str_eq(text, "[{\"field\":\"f\",\"reason\":\"a variant, which the options omit\"}]");
    ck_assert_uint_eq(arrow->nodes[0].child_count, 0);
    nt_arrow_free(arrow);
    builder_free(builder);
}

/* The tag says so, and the struct stays. */
TEST(an_alternative_that_cannot_be_read_leaves_the_others)
{
    static const uint64_t switches[] = {SWITCH(1, 0), SWITCH(2, 0), SWITCH(1, 1)}, values[] = {7, 8};
    struct nt_error error;
    struct ArrowArray array;
    struct builder *builder = builder_new();
    uint32_t variant = add_field(builder, NT_NONE, NT_FIELD_VARIANT, NT_ELEMENT_SWITCH);
    uint32_t value = add_field(builder, variant, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t other = add_field(builder, variant, NT_FIELD_UNREADABLE, NT_ELEMENT_INT32);
    builder->fields[other].unreadable = "of an unknown kind";
    uint32_t switch_column = add_column(builder, variant, NT_ENCODING_SWITCH, 0);
    uint32_t value_column = add_column(builder, value, NT_ENCODING_INT32, 0);
    uint32_t cluster = add_cluster(builder, 0, 3);
    add_elements(builder, cluster, switch_column, switches, 3, 3);
    add_elements(builder, cluster, value_column, values, 2, 2);
    end_group(builder);
    finish(builder, NULL);
    struct nt_arrow *arrow = open_arrow(builder);
    ck_assert_uint_eq(nt_arrow_omitted_fields(arrow), 1);
    assert_ok(nt_arrow_export_batch(arrow, 0, &array, &error));
    const struct ArrowArray *shown = array.children[0];
    ck_assert_int_eq(shown->n_children, 2);
    ck_assert_mem_eq(shown->children[0]->buffers[1], ((uint32_t[]){1, 2, 1}), 12);
    ck_assert_mem_eq(shown->children[1]->buffers[1], ((int32_t[]){7, 0, 8}), 12);
    ck_assert_int_eq(shown->children[1]->null_count, 1);
    array.release(&array);
    nt_arrow_free(arrow);
    builder_free(builder);
}
