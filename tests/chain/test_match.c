/* SPDX-License-Identifier: MIT
 *
 * Matching the fields of two files.
 */
#include "chain/chain.h"

#include "schemas.h"
#include "core/model/model.h"

static const struct made_field plain[] = {
    {VALUE("number", TOP, NT_ELEMENT_INT32)}, {FIELD("list", TOP, NT_FIELD_COLLECTION)},
    {FIELD("_0", 1, NT_FIELD_RECORD)},        {VALUE("x", 2, NT_ELEMENT_REAL32)},
    {VALUE("y", 2, NT_ELEMENT_REAL64)},       {VALUE("alias", TOP, NT_ELEMENT_INT32), .shows = "number"},
};
enum { FIELDS = LENGTH(plain) };

static struct nt_error error;
static struct nt_file *one, *other;
static uint32_t found[FIELDS];

static enum nt_status match(const struct made_field *fields, uint32_t count)
{
    one = make_file("/one", plain, FIELDS);
    other = make_file("/other", fields, count);
    error = (struct nt_error){0};
    return nt_chain_match_fields(one->datasets[0], other->datasets[0], found, &error);
}

static void teardown(void)
{
    nt_file_close(one);
    nt_file_close(other);
    one = other = NULL;
}

TEST(fields_are_found_by_their_paths, .teardown = teardown, .timeout = 20)
{
    static const struct made_field moved[] = {
        {FIELD("list", TOP, NT_FIELD_COLLECTION)},
        {FIELD("_0", 0, NT_FIELD_RECORD)},
        {VALUE("y", 1, NT_ELEMENT_REAL64)},
        {VALUE("number", TOP, NT_ELEMENT_INT32)},
        {VALUE("alias", TOP, NT_ELEMENT_INT32), .shows = "number"},
        {VALUE("x", 1, NT_ELEMENT_REAL32)},
    };
    const uint32_t expected[FIELDS] = {3, 0, 1, 5, 2, 4};
    ck_assert_int_eq(match(moved, LENGTH(moved)), NT_OK);
    ck_assert_mem_eq(found, expected, sizeof(expected));
}

/* Older generations of RNTuple name an item after its type. */
TEST(an_item_may_have_any_name, .teardown = teardown, .timeout = 20)
{
    struct made_field fields[FIELDS];
    const uint32_t expected[FIELDS] = {0, 1, 2, 3, 4, 5};
    memcpy(fields, plain, sizeof(fields));
    fields[2].name = "Point";
    ck_assert_int_eq(match(fields, FIELDS), NT_OK);
    ck_assert_mem_eq(found, expected, sizeof(expected));
}

/* Each is `plain` with one different field. */
static const struct {
    uint32_t field;
    struct made_field instead;
    const char *message;
} differences[] = {
    {0,
     {VALUE("number", TOP, NT_ELEMENT_INT64)},
     "field number differs between files: /one: value (<i4); /other: value (<i8)"},
    {0,
     {VALUE("numbers", TOP, NT_ELEMENT_INT32)},
     "field number differs between files: /one: value (<i4); /other: no such field"},
    {0, {VALUE("number", TOP, NT_ELEMENT_INT32), .is_nullable = true}, "/other: value (<i4, or null)"},
    {1, {FIELD("list", TOP, NT_FIELD_OPTIONAL)}, "field list differs between files"},
    {3,
     {FIELD("x", 2, NT_FIELD_STRING)},
     "field list/_0/x differs between files: /one: value (<f4); /other: string"},
    {3, {VALUE("x", 2, NT_ELEMENT_REAL32), .items = 2}, "/one: value (<f4); /other: value (<f4 [2])"},
    {4, {FIELD("y", 2, NT_FIELD_UNREADABLE), .unreadable = "of a type that is not known"}, "field list/_0/y"},
    {5, {VALUE("alias", TOP, NT_ELEMENT_INT32)}, "field alias"},
};

TEST(what_differs_is_reported_with_path_types_and_files, .teardown = teardown, .end = LENGTH(differences),
     .timeout = 20)
{
    struct made_field fields[FIELDS];
    memcpy(fields, plain, sizeof(fields));
    fields[differences[_i].field] = differences[_i].instead;
    if (differences[_i].field == 0 && strcmp(fields[0].name, "numbers") == 0)
        fields[5].shows = "numbers";
    ck_assert_int_eq(match(fields, FIELDS), NT_INCOMPATIBLE);
    ck_assert_msg(strstr(error.message, differences[_i].message), "%s", error.message);
}

TEST(a_field_more_is_reported_too, .teardown = teardown, .timeout = 20)
{
    struct made_field fields[FIELDS + 1];
    memcpy(fields, plain, sizeof(plain));
    fields[FIELDS] = (struct made_field){VALUE("z", 2, NT_ELEMENT_INT8)};
    ck_assert_int_eq(match(fields, FIELDS + 1), NT_INCOMPATIBLE);
    ck_assert_str_eq(error.message,
                     "field list/_0/z differs between files: /one: no such field; /other: value (|i1)");
}

TEST(many_fields_are_found_in_another_order, .teardown = teardown, .timeout = 20)
{
    uint32_t *numbers = malloc(WIDE_FIELDS * sizeof(*numbers));
    one = make_wide_file("/one", 0, 1);
    other = make_wide_file("/other", WIDE_FIELDS - 1, -1);
    assert_ok(nt_chain_match_fields(one->datasets[0], other->datasets[0], numbers, &error));
    for (uint32_t i = 0; i < WIDE_FIELDS; i++)
        ck_assert_uint_eq(numbers[i], WIDE_FIELDS - 1 - i);
    free(numbers);
}
