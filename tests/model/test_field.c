/* SPDX-License-Identifier: MIT
 *
 * How fields hang together: rows, dimensions, and the tables of roles, streams and kinds.
 */
#include <string.h>

#include "builder.h"

static struct nt_error error;

#define CONTAINER .kind = NT_FIELD_CONTAINER
#define VALUE .kind = NT_FIELD_VALUE

/* A tree with one of each that matters; comments give the C++ types. */
enum {
    VECTOR,
    ARRAY_OF_2,
    ARRAY_OF_3,
    BITSET,
    RECORD,
    LEAF,
    VARIANT,
    ALTERNATIVE,
    DENSE,
    DENSE_ITEM,
    TOP_BITSET
};
static const struct nt_field fields[] = {
    [VECTOR] = {.id = 0, .parent = NT_NONE, .role = NT_ROLE_COLLECTION, .kind = NT_FIELD_COLLECTION},
    [ARRAY_OF_2] = {.id = 1,
                    .parent = VECTOR,
                    CONTAINER,
                    .repetition = 2}, /* array<array<bitset<5>, 3>, 2> */
    [ARRAY_OF_3] = {.id = 2, .parent = ARRAY_OF_2, CONTAINER, .repetition = 3},
    [BITSET] = {.id = 3, .parent = ARRAY_OF_3, VALUE, .repetition = 5},
    [RECORD] = {.id = 4, .parent = ARRAY_OF_3, CONTAINER, .role = NT_ROLE_RECORD},
    [LEAF] = {.id = 5, .parent = RECORD, VALUE},
    [VARIANT] = {.id = 6, .parent = RECORD, .role = NT_ROLE_VARIANT, .kind = NT_FIELD_VARIANT},
    [ALTERNATIVE] = {.id = 7, .parent = VARIANT, VALUE},
    /* Of drafts: a collection by its role, whose item has a row for each row all the same. */
    [DENSE] = {.id = 8, .parent = ARRAY_OF_2, .role = NT_ROLE_COLLECTION, .kind = NT_FIELD_DENSE_OPTIONAL},
    [DENSE_ITEM] = {.id = 9, .parent = DENSE, VALUE},
    [TOP_BITSET] = {.id = 10, .parent = NT_NONE, VALUE, .repetition = 64},
};

static const struct {
    uint32_t field, row_parent, count;
    uint64_t dimensions[3];
} rows[] = {
    {VECTOR, NT_NONE, 0, {0}},      {ARRAY_OF_2, VECTOR, 0, {0}},   {ARRAY_OF_3, VECTOR, 1, {2}},
    {BITSET, VECTOR, 3, {2, 3, 5}}, {RECORD, VECTOR, 2, {2, 3}},    {LEAF, VECTOR, 2, {2, 3}},
    {VARIANT, VECTOR, 2, {2, 3}},   {ALTERNATIVE, VARIANT, 0, {0}}, {DENSE, VECTOR, 1, {2}},
    {DENSE_ITEM, VECTOR, 1, {2}},   {TOP_BITSET, NT_NONE, 1, {64}},
};

START_TEST(rows_and_dimensions_follow_what_surrounds_a_field)
{
    struct nt_file *file = BUILD_FIELDS(fields);
    struct nt_dataset *dataset = file->datasets[0];
    assert_ok(nt_dataset_link(dataset, &error));
    uint64_t dimensions[4] = {77, 77, 77, 77};
    ck_assert_uint_eq(nt_field_row_parent(dataset, rows[_i].field), rows[_i].row_parent);
    ck_assert_uint_eq(nt_field_dimensions(dataset, rows[_i].field, dimensions, 4), rows[_i].count);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(dimensions[i], i < rows[_i].count ? rows[_i].dimensions[i] : 77);
    nt_file_close(file);
}
END_TEST

START_TEST(more_dimensions_than_there_is_room_for_are_counted_only)
{
    struct nt_file *file = BUILD_FIELDS(fields);
    assert_ok(nt_dataset_link(file->datasets[0], &error));
    uint64_t dimensions[3] = {77, 77, 77};
    ck_assert_uint_eq(nt_field_dimensions(file->datasets[0], BITSET, dimensions, 1), 3);
    ck_assert_uint_eq(dimensions[0], 2);
    ck_assert_uint_eq(dimensions[1], 77);
    ck_assert_uint_eq(nt_field_dimensions(file->datasets[0], BITSET, NULL, 0), 3);
    nt_file_close(file);
}
END_TEST

START_TEST(arrays_as_deep_as_the_limit_have_all_their_dimensions)
{
    struct nt_field deep[NT_MAX_DEPTH + 1];
    for (uint32_t i = 0; i <= NT_MAX_DEPTH; i++)
        deep[i] = (struct nt_field){.id = i, .parent = i ? i - 1 : NT_NONE, .repetition = i + 1};
    deep[NT_MAX_DEPTH].kind = NT_FIELD_VALUE;
    struct nt_file *file = BUILD_FIELDS(deep);
    assert_ok(nt_dataset_link(file->datasets[0], &error));
    uint64_t dimensions[NT_MAX_DEPTH + 1];
    ck_assert_uint_eq(nt_field_dimensions(file->datasets[0], NT_MAX_DEPTH, dimensions, LENGTH(dimensions)),
                      NT_MAX_DEPTH + 1);
    for (uint32_t i = 0; i <= NT_MAX_DEPTH; i++)
        ck_assert_uint_eq(dimensions[i], i + 1);
    nt_file_close(file);
}
END_TEST

START_TEST(every_role_stream_and_kind_has_a_name)
{
    for (int i = 0; i < NT_ROLE_COUNT; i++)
        ck_assert_ptr_nonnull(nt_role_name((enum nt_role)i));
    for (int i = 0; i < NT_STREAM_COUNT; i++)
        ck_assert_ptr_nonnull(nt_stream_name((enum nt_stream_kind)i));
    for (int i = 0; i < NT_FIELD_KIND_COUNT; i++)
        ck_assert_ptr_nonnull(nt_field_kind_info((enum nt_field_kind)i)->name);
}
END_TEST

#define DATA (1u << NT_STREAM_DATA)
#define OFFSETS (1u << NT_STREAM_OFFSETS)

/* The table "logical files by kind of field" of docs/tree.md. */
START_TEST(kinds_have_the_files_that_the_contract_gives_them)
{
    static const struct {
        enum nt_field_kind kind;
        unsigned streams;
    } contract[] = {
        {NT_FIELD_CONTAINER, 0},
        {NT_FIELD_VALUE, DATA},
        {NT_FIELD_BYTES, OFFSETS | DATA},
        {NT_FIELD_COLLECTION, OFFSETS},
        {NT_FIELD_DENSE_OPTIONAL, 1u << NT_STREAM_VALID},
        {NT_FIELD_VARIANT, 1u << NT_STREAM_TAGS | 1u << NT_STREAM_INDEX},
        {NT_FIELD_CARDINALITY, DATA},
        {NT_FIELD_PAGE_BYTES, OFFSETS | DATA},
        {NT_FIELD_MEMBER, DATA},
        {NT_FIELD_UNREADABLE, 0},
    };
    ck_assert_uint_eq(LENGTH(contract), NT_FIELD_KIND_COUNT);
    for (size_t i = 0; i < LENGTH(contract); i++)
        ck_assert_uint_eq(nt_field_kind_info(contract[i].kind)->streams, contract[i].streams);
}
END_TEST

START_TEST(an_optional_is_a_collection_by_its_kind_and_known_by_its_type)
{
    static const struct {
        const char *type;
        enum nt_field_kind kind;
        bool is_optional;
    } types[] = {
        {"std::optional<float>", NT_FIELD_COLLECTION, true},
        {"std::unique_ptr<A>", NT_FIELD_COLLECTION, true},
        {"std::vector<std::optional<float>>", NT_FIELD_COLLECTION, false},
        {"std::optional<float>", NT_FIELD_DENSE_OPTIONAL, false},
        {"std::optional", NT_FIELD_COLLECTION, false},
        {"", NT_FIELD_COLLECTION, false},
    };
    struct nt_field field = {.kind = types[_i].kind, .type = {types[_i].type, strlen(types[_i].type)}};
    ck_assert(nt_is_optional(&field) == types[_i].is_optional);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("field");
    TCase *cases = tcase_create("field");
    tcase_add_loop_test(cases, rows_and_dimensions_follow_what_surrounds_a_field, 0, LENGTH(rows));
    tcase_add_test(cases, more_dimensions_than_there_is_room_for_are_counted_only);
    tcase_add_test(cases, arrays_as_deep_as_the_limit_have_all_their_dimensions);
    tcase_add_test(cases, every_role_stream_and_kind_has_a_name);
    tcase_add_test(cases, kinds_have_the_files_that_the_contract_gives_them);
    tcase_add_loop_test(cases, an_optional_is_a_collection_by_its_kind_and_known_by_its_type, 0, 6);
    suite_add_tcase(suite, cases);
    return nt_test_main(suite);
}
