/* SPDX-License-Identifier: MIT
 *
 * Arrow arrays, read as a consumer of the C data interface does, compared with rows as text, on datasets
 * of every shape; and the file as bytes. test_arrow.py tests the file with other programs.
 */
#include <string.h>

#include "arrow_consumer.h"
#include "random_dataset.h"
#include "support.h"
#include "render/arrow/arrow.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/json/json.h"
#include "read/read.h"

enum { SEEDS = 80 };

/* Some of the datasets have arrays without an item, which neither shows. */
TEST(arrays_hold_what_rows_say, .end = SEEDS)
{
    struct builder *builder = random_dataset(3000 + (unsigned)_i, 2 + _i % 9);
    struct nt_buffer from_arrow = {0}, from_rows = {0};
    finish(builder, NULL);
    lines_from_rows(builder, &from_rows);
    ck_assert(from_rows.length > 0);
    for (unsigned unions = NT_ARROW_UNIONS_STRUCT; unions <= NT_ARROW_UNIONS_UNION; unions++) {
        struct nt_arrow *arrow = open_arrow_with(builder, (enum nt_arrow_unions)unions);
        nt_buffer_clear(&from_arrow);
        if (!has_broken_variant(builder, arrow)) {
            lines_from_arrow(arrow, &from_arrow);
            ck_assert_str_eq(from_arrow.bytes, from_rows.bytes);
        }
        nt_arrow_free(arrow);
    }
    nt_buffer_deinit(&from_arrow);
    nt_buffer_deinit(&from_rows);
    builder_free(builder);
}

/* ---- the file ---- */

TEST(any_split_of_reads_gives_the_same_file, .end = 10)
{
    struct builder *builder = random_dataset(4000 + (unsigned)_i, 4);
    finish(builder, NULL);
    struct nt_arrow *arrow = open_arrow_with(builder, (enum nt_arrow_unions)(_i % 2));
    size_t size = nt_arrow_file_bytes(arrow);
    uint8_t *whole = malloc(size), *parts = malloc(size);
    read_file(arrow, 0, size, whole);
    for (size_t step = 1; step < 200; step = step * 3 + 1) {
        memset(parts, 0xEE, size);
        for (size_t at = 0; at < size; at += step)
            read_file(arrow, at, size - at < step ? size - at : step, parts + at);
        ck_assert_mem_eq(parts, whole, size);
    }
    ck_assert_mem_eq(whole, "ARROW1\0\0", 8);
    ck_assert_mem_eq(whole + size - 6, "ARROW1", 6);
    free(whole);
    free(parts);
    nt_arrow_free(arrow);
    builder_free(builder);
}

static uint32_t load_u32(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Messages follow one another from offset 8: a mark, the length of the metadata, the metadata, the
 * body. */
TEST(messages_and_bodies_begin_at_multiples_of_64, .end = 10)
{
    struct builder *builder = random_dataset(5000 + (unsigned)_i, 5);
    finish(builder, NULL);
    struct nt_arrow *arrow = open_arrow(builder);
    size_t size = nt_arrow_file_bytes(arrow);
    uint8_t *whole = malloc(size);
    read_file(arrow, 0, size, whole);
    size_t schema_bytes = load_u32(whole + 12), body = 16 + schema_bytes;
    ck_assert_uint_eq(load_u32(whole + 8), UINT32_MAX);
    ck_assert_uint_eq(body % 64, 0);
    if (nt_arrow_batches(arrow)) {
        ck_assert_uint_eq(load_u32(whole + body), UINT32_MAX);
        ck_assert_uint_eq((body + 8 + load_u32(whole + body + 4)) % 64, 0);
    }
    uint32_t footer_bytes = load_u32(whole + size - 10);
    ck_assert_uint_eq((size - 10 - footer_bytes) % 8, 0);
    free(whole);
    nt_arrow_free(arrow);
    builder_free(builder);
}

TEST(a_read_past_the_end_is_refused)
{
    struct nt_error error;
    uint8_t byte;
    struct builder *builder = random_dataset(1, 3);
    finish(builder, NULL);
    struct nt_arrow *arrow = open_arrow(builder);
    uint64_t size = nt_arrow_file_bytes(arrow);
    assert_ok(nt_arrow_file_read(arrow, size, &byte, 0, &error));
    assert_status(NT_INVALID, nt_arrow_file_read(arrow, size, &byte, 1, &error));
    assert_status(NT_INVALID, nt_arrow_file_read(arrow, UINT64_MAX, &byte, 1, &error));
    nt_arrow_free(arrow);
    builder_free(builder);
}

/* Three columns of 5 pages each: reading the values of one decodes each of its pages once. */
TEST(reading_a_buffer_decodes_the_pages_of_its_column_only)
{
    uint64_t values[50];
    uint8_t bytes[400];
    struct nt_error error;
    struct nt_arrow_body *body;
    struct nt_counters counters;
    struct builder *builder = builder_new();
    for (uint32_t i = 0; i < 3; i++)
        add_column(builder, add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT64), NT_ENCODING_INT64,
                   0);
    for (uint64_t i = 0; i < 50; i++)
        values[i] = i * i;
    uint32_t cluster = add_cluster(builder, 0, 50);
    for (uint32_t column = 0; column < 3; column++)
        add_elements(builder, cluster, column, values, 50, 10);
    end_group(builder);
    finish(builder, NULL);
    struct nt_arrow *arrow = open_arrow(builder);
    assert_ok(nt_arrow_body_new(arrow, 0, &body, &error));
    const struct nt_arrow_batch batch = nt_arrow_batch(arrow, 0);
    uint64_t start = batch.offset + batch.message_bytes;
    uint8_t *metadata = malloc(start);
    read_file(arrow, 0, start, metadata);
    free(metadata);
    nt_counters_read(builder->reader, &counters);
    ck_assert_uint_eq(counters.pages_decoded, 0);
    read_file(arrow, start + body->buffer_start[arrow->nodes[2].first_buffer + 1], sizeof(bytes), bytes);
    nt_counters_read(builder->reader, &counters);
    ck_assert_uint_eq(counters.pages_decoded, 5);
    ck_assert_mem_eq(bytes, values, sizeof(bytes));
    free(body);
    nt_arrow_free(arrow);
    builder_free(builder);
}

/* ---- the interface's rules ---- */

TEST(children_can_be_moved_away_and_outlive_everything, .end = 10)
{
    struct nt_error error;
    struct ArrowArray array, child;
    struct ArrowSchema schema, child_schema;
    struct builder *builder = random_dataset((unsigned)_i, 5);
    finish(builder, NULL);
    struct nt_arrow *arrow = open_arrow(builder);
    assert_ok(nt_arrow_export_schema(arrow, &schema, &error));
    assert_ok(nt_arrow_export_batch(arrow, 0, &array, &error));
    assert_status(NT_NOT_FOUND, nt_arrow_export_batch(arrow, nt_arrow_batches(arrow), &child, &error));
    nt_arrow_free(arrow);
    builder_free(builder);
    child = *array.children[0];
    child_schema = *schema.children[0];
    array.children[0]->release = NULL;
    schema.children[0]->release = NULL;
    array.release(&array);
    schema.release(&schema);
    ck_assert(array.release == NULL);
    ck_assert(schema.release == NULL);
    struct nt_buffer text = {0};
    for (int64_t slot = 0; slot < child.length; slot++) {
        struct nt_json json;
        nt_json_init(&json, &text, true);
        put_slot(&json, &child_schema, &child, slot);
    }
    nt_buffer_deinit(&text);
    child.release(&child);
    child_schema.release(&child_schema);
    ck_assert(child.release == NULL);
}

/* ---- what Arrow cannot hold ---- */

/* A variant of one alternative, in two clusters; the second one's has more rows than 31 bits count. */
TEST(a_cluster_that_union_offsets_cannot_count_is_left_out_and_named)
{
    static const uint64_t switches[] = {SWITCH(1, 0), SWITCH(0, 0)}, values[] = {7};
    struct builder *builder = builder_new();
    uint32_t variant = add_field(builder, NT_NONE, NT_FIELD_VARIANT, NT_ELEMENT_SWITCH);
    uint32_t value = add_field(builder, variant, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t switch_column = add_column(builder, variant, NT_ENCODING_SWITCH, 0);
    uint32_t value_column = add_column(builder, value, NT_ENCODING_INT32, 0);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t cluster = add_cluster(builder, 2 * i, 2);
        add_elements(builder, cluster, switch_column, switches, 2, 2);
        add_elements(builder, cluster, value_column, values, 1, 1);
    }
    end_group(builder);
    builder->pages[0][3].elements = UINT32_C(0x80000000); /* of the value's column in the second cluster */
    finish(builder, NULL);
    struct nt_arrow *arrow = open_arrow_with(builder, NT_ARROW_UNIONS_UNION);
    uint64_t first;
    struct nt_error error;
    char text[300];
    ck_assert_uint_eq(nt_arrow_batches(arrow), 1);
    ck_assert_uint_eq(nt_arrow_omitted_clusters(arrow), 1);
    ck_assert_uint_eq(nt_arrow_omitted_cluster(arrow, 0, &first), 2);
    ck_assert_uint_eq(first, 2);
    ck_assert_int_eq(nt_arrow_check(arrow, &error), NT_LIMIT);
    ck_assert_str_eq(error.message, "the cluster of entry 2 is too large for Arrow");
    omitted(arrow, text, sizeof(text));
    ck_assert_str_eq(text, "[{\"first_entry\":2,\"entries\":2,\"reason\":"
                           "\"the cluster has more items than Arrow's types can count\"}]");
    nt_arrow_free(arrow);
    builder_free(builder);
}

TEST(a_field_that_cannot_be_read_is_left_out_and_named)
{
    static const uint64_t values[] = {1, 2};
    const char *reason;
    char text[300];
    struct nt_error error;
    struct builder *builder = builder_new();
    uint32_t value = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, value, NT_ENCODING_INT32, 0);
    uint32_t other = add_field(builder, NT_NONE, NT_FIELD_UNREADABLE, NT_ELEMENT_INT32);
    builder->fields[other].unreadable = "of an unknown kind";
    builder->fields[other].name = (struct nt_text){"od\xFF", 3};
    uint32_t cluster = add_cluster(builder, 0, 2);
    add_elements(builder, cluster, column, values, 2, 2);
    end_group(builder);
    finish(builder, NULL);
    struct nt_arrow *arrow = open_arrow(builder);
    ck_assert_uint_eq(nt_arrow_omitted_fields(arrow), 1);
    ck_assert_uint_eq(nt_arrow_omitted_field(arrow, 0, &reason), other);
    ck_assert_str_eq(reason, "of an unknown kind");
    assert_ok(nt_arrow_check(arrow, &error));
    omitted(arrow, text, sizeof(text));
    ck_assert_str_eq(text, "[{\"field_hex\":\"6f64ff\",\"reason\":\"of an unknown kind\"}]");
    nt_arrow_free(arrow);
    builder_free(builder);
}

TEST(a_page_list_that_cannot_be_read_fails_the_whole_table)
{
    struct nt_error error;
    struct nt_arrow *arrow;
    static const uint64_t values[] = {1, 2};
    struct builder *builder = builder_new();
    uint32_t value = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, value, NT_ENCODING_INT32, 0);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t cluster = add_cluster(builder, 2 * i, 2);
        add_elements(builder, cluster, column, values, 2, 2);
        end_group(builder);
    }
    builder->bad_group[0] = true;
    finish(builder, NULL);
    assert_status(NT_CORRUPT, nt_arrow_new(builder->reader, builder->dataset, NULL, &arrow, &error));
    builder_free(builder);
}

/* The field's page list is not bad: it cannot be read now, so no table without the field is made. */
TEST(a_field_is_not_omitted_because_others_have_taken_the_memory)
{
    struct nt_error error;
    struct nt_arrow *arrow;
    struct builder *builder = builder_new();
    builder->has_field_groups = true;
    uint32_t value = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, value, NT_ENCODING_INT32, 0);
    add_cluster(builder, 0, 2);
    add_elements(builder, 0, column, (uint64_t[]){1, 2}, 2, 2);
    finish(builder, NULL);
    struct nt_budget *budget = &builder->dataset->file->budget;
    uint64_t left = atomic_load(&budget->limit) - nt_budget_used(budget);
    assert_ok(nt_budget_take(budget, NT_COST_ENVELOPE_BYTE, left, NT_NO_OFFSET, &error));
    assert_status(NT_LIMIT, nt_arrow_new(builder->reader, builder->dataset, NULL, &arrow, &error));
    nt_budget_release(budget, NT_COST_ENVELOPE_BYTE, left);
    assert_ok(nt_arrow_new(builder->reader, builder->dataset, NULL, &arrow, &error));
    ck_assert_uint_eq(nt_arrow_omitted_fields(arrow), 0);
    nt_arrow_free(arrow);
    builder_free(builder);
}

/* Structures without members, variants without alternatives, no entries at all. */
TEST(what_is_empty_stays_empty, .end = 3)
{
    struct builder *builder = builder_new();
    add_field(builder, NT_NONE, NT_FIELD_RECORD, NT_ELEMENT_BYTE);
    for (int i = 0; i < _i; i++)
        add_cluster(builder, (uint64_t)i * 3, 3);
    end_group(builder);
    finish(builder, NULL);
    struct nt_buffer lines = {0};
    struct nt_arrow *arrow = open_arrow(builder);
    ck_assert_uint_eq(nt_arrow_batches(arrow), (unsigned)_i);
    lines_from_arrow(arrow, &lines);
    ck_assert_uint_eq(lines.length, (unsigned)_i * strlen("{\"f\":{}}\n") * 3);
    nt_buffer_deinit(&lines);
    nt_arrow_free(arrow);
    builder_free(builder);
}

TEST(unions_that_are_not_known_here_are_refused)
{
    struct nt_arrow_options options = NT_ARROW_OPTIONS_INIT;
    struct nt_error error;
    struct nt_arrow *arrow;
    options.unions = (enum nt_arrow_unions)(NT_ARROW_UNIONS_OMIT + 1);
    assert_status(NT_INVALID, nt_arrow_new(NULL, NULL, &options, &arrow, &error));
}

/* Nothing after the structure that it knows is read. */
TEST(a_caller_without_the_option_gets_structs)
{
    struct nt_arrow_options options = {
        .struct_bytes = offsetof(struct nt_arrow_options, unions),
        .unions = (enum nt_arrow_unions)99,
    };
    struct nt_error error;
    struct nt_arrow *arrow;
    struct builder *builder = random_dataset(1, 3);
    finish(builder, NULL);
    assert_ok(nt_arrow_new(builder->reader, builder->dataset, &options, &arrow, &error));
    ck_assert_int_eq(arrow->options.unions, NT_ARROW_UNIONS_STRUCT);
    nt_arrow_free(arrow);
    builder_free(builder);
}

TEST(options_that_are_not_known_here_are_refused)
{
    struct {
        struct nt_arrow_options options;
        uint64_t unknown;
    } newer = {{.struct_bytes = sizeof(newer)}, 1};
    struct nt_error error;
    struct nt_arrow *arrow;
    assert_status(NT_INVALID, nt_arrow_new(NULL, NULL, &newer.options, &arrow, &error));
}
