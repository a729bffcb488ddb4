/* SPDX-License-Identifier: MIT
 *
 * Which fields are compared with each other, and the reported differences of their types.
 */
#include "diffed.h"

/* ---- schemas ---- */

static struct builder *schema(const char *const *names, const enum nt_element *elements, uint32_t count)
{
    static const uint64_t values[] = {1, 2, 3};
    struct builder *builder = builder_new();
    uint32_t columns[MAX_COLUMNS];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t field = add_named(builder, NT_NONE, names[i], NT_FIELD_VALUE, elements[i]);
        builder->fields[field].type = text_of(nt_element_info(elements[i])->name);
        columns[i] = add_column(builder, field,
                                elements[i] == NT_ELEMENT_REAL64 ? NT_ENCODING_REAL64 : NT_ENCODING_INT32, 0);
    }
    uint32_t cluster = add_cluster(builder, 0, 3);
    for (uint32_t i = 0; i < count; i++)
        add_elements(builder, cluster, columns[i], values, 3, 3);
    finish(builder, NULL);
    return builder;
}

TEST(fields_belong_together_by_name_whatever_their_order)
{
    static const char *const names[] = {"b", "a", "x", "a"}, *const others[] = {"a", "c", "a", "b", "a"};
    static const enum nt_element elements[5] = {NT_ELEMENT_INT32, NT_ELEMENT_INT32, NT_ELEMENT_INT32,
                                                NT_ELEMENT_INT32, NT_ELEMENT_INT32};
    check_diff(schema(names, elements, 4), schema(others, elements, 5),
               "x field: \"int32\" | null\nc field: null | \"int32\"\na~3 field: null | \"int32\"\n", "");
}

TEST(values_of_other_types_are_not_compared_and_that_is_reported)
{
    static const char *const names[] = {"a", "b"};
    static const enum nt_element elements[] = {NT_ELEMENT_INT32, NT_ELEMENT_INT32};
    static const enum nt_element others[] = {NT_ELEMENT_REAL64, NT_ELEMENT_INT32};
    check_diff(schema(names, elements, 2), schema(names, others, 2), "a type: \"int32\" | \"real64\"\n",
               "a not compared: dtype: \"<i4\" | \"<f8\"\n");
}

TEST(values_that_are_not_compared_are_no_differences)
{
    static const char *const names[] = {"a", "b"};
    static const enum nt_element elements[] = {NT_ELEMENT_INT32, NT_ELEMENT_INT32};
    static const enum nt_element others[] = {NT_ELEMENT_REAL64, NT_ELEMENT_INT32};
    struct builder *a = schema(names, elements, 2), *b = schema(names, others, 2);
    struct reported reported;
    diff(&reported, a, b);
    ck_assert_uint_eq(reported.summary.not_compared, 1);
    ck_assert_uint_eq(reported.summary.differences[NT_DIFF_VALUES], 0);
    forget(&reported);
    builder_free(a);
    builder_free(b);
}

/* Two arrays of three numbers each: all in one stream (as in TTrees), or as items (as in RNTuples). */
static struct builder *arrays(bool is_one_stream, uint32_t count, const uint64_t *values)
{
    struct builder *builder = builder_new();
    uint32_t array =
        add_array(builder, NT_NONE, is_one_stream ? NT_FIELD_VALUE : NT_FIELD_ARRAY, NT_ELEMENT_INT32, count);
    builder->fields[array].name = builder->fields[array].type = text_of("array");
    uint32_t item =
        add_named(builder, array, is_one_stream ? "item" : "_0", NT_FIELD_VALUE, NT_ELEMENT_INT32);
    if (is_one_stream)
        project(builder, item, array);
    add_elements(builder, add_cluster(builder, 0, 6 / count),
                 add_column(builder, is_one_stream ? array : item, NT_ENCODING_INT32, 0), values, 6, 6);
    finish(builder, NULL);
    return builder;
}

TEST(arrays_are_compared_by_their_items_if_only_one_side_has_a_stream_of_all)
{
    static const uint64_t values[] = {1, 2, 3, 4, 5, 6}, others[] = {1, 2, 3, 4, 7, 6};
    const char *schema = "array/item source: \"array\" | \"\"\n",
               *turned = "array/_0 source: \"\" | \"array\"\n";
    check_diff(arrays(true, 3, values), arrays(false, 3, values), schema, "");
    check_diff(arrays(false, 3, values), arrays(true, 3, values), turned, "");
    check_diff(arrays(true, 3, values), arrays(false, 3, others), schema,
               "array/item[4] of 1 value: 5 | 7\n");
    check_diff(arrays(false, 3, others), arrays(true, 3, values), turned, "array/_0[4] of 1 value: 7 | 5\n");
    check_diff(arrays(true, 3, values), arrays(true, 3, others), "", "array[1][1] of 1 value: 5 | 7\n");
}

TEST(arrays_of_other_lengths_are_not_compared)
{
    static const uint64_t values[] = {1, 2, 3, 4, 5, 6};
    check_diff(arrays(true, 3, values), arrays(false, 2, values), "array shape: \"[3]\" | \"[2]\"\n",
               " entries: 2 | 3\narray not compared: shape: \"[3]\" | \"[2]\"\n");
}

/* Three numbers; the second may be null. */
static struct builder *nullable(const uint64_t *values, const uint64_t *valid)
{
    struct builder *builder = builder_new();
    uint32_t field = add_named(builder, NT_NONE, "n", NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t cluster = add_cluster(builder, 0, 3);
    add_elements(builder, cluster, add_column(builder, field, NT_ENCODING_INT32, 0), values, 3, 3);
    builder->fields[field].is_nullable = valid != NULL;
    if (valid)
        add_elements(builder, cluster, add_column(builder, field, NT_ENCODING_BIT, 0), valid, 3, 3);
    finish(builder, NULL);
    return builder;
}

/* The zero of a null is no value: the null is reported, even if the other is 0. */
TEST(a_row_that_is_null_differs_from_every_value)
{
    const uint64_t values[] = {1, 0, 3}, others[] = {1, 2, 3}, valid[] = {1, 0, 1}, all_valid[] = {1, 1, 1};
    check_diff(nullable(values, valid), nullable(values, valid), "", "");
    check_diff(nullable(values, valid), nullable(values, all_valid), "", "n[1] of 1 valid: false | true\n");
    check_diff(nullable(others, all_valid), nullable(values, valid), "", "n[1] of 1 valid: true | false\n");
    check_diff(nullable(others, all_valid), nullable(values, all_valid), "", "n[1] of 1 value: 2 | 0\n");
}

TEST(a_field_that_is_nullable_on_one_side_only_is_reported)
{
    const uint64_t values[] = {1, 2, 3}, valid[] = {1, 1, 1};
    check_diff(nullable(values, valid), nullable(values, NULL), "n is_nullable: \"true\" | \"false\"\n",
               "n not compared: is_nullable: \"true\" | \"false\"\n");
}
