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
               "x field: \"int32\" | null\nc field: null | \"int32\"\na field: null | \"int32\"\n", "");
}

TEST(values_of_other_types_are_not_compared_and_that_is_reported)
{
    static const char *const names[] = {"a", "b"};
    static const enum nt_element elements[] = {NT_ELEMENT_INT32, NT_ELEMENT_INT32};
    static const enum nt_element others[] = {NT_ELEMENT_REAL64, NT_ELEMENT_INT32};
    check_diff(schema(names, elements, 2), schema(names, others, 2), "a type: \"int32\" | \"real64\"\n",
               "a dtype: \"<i4\" | \"<f8\"\n");
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
               "n is_nullable: \"true\" | \"false\"\n");
}
