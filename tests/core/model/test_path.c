/* SPDX-License-Identifier: MIT
 *
 * Paths of fields, and errors that name them.
 */
#include "builder.h"
#include "core/model/model.h"
#include "core/base/memory.h"
#include "core/base/text.h"

#define NAME(text)                                                                                           \
    {                                                                                                        \
        text, sizeof(text) - 1                                                                               \
    }

static const struct nt_field fields[] = {
    {.id = 0, .parent = 2, .name = NAME("pt")},     {.id = 1, .parent = NT_NONE, .name = NAME("jets")},
    {.id = 2, .parent = 1, .name = NAME("_0")},     {.id = 3, .parent = NT_NONE, .name = NAME("")},
    {.id = 4, .parent = 3, .name = NAME("a\0b/c")},
};

static void assert_path(uint32_t field, const char *expected, size_t length)
{
    struct nt_file *file = BUILD_FIELDS(fields);
    struct nt_buffer path = {0};
    nt_append_field_path(&path, file->datasets[0], field);
    ck_assert_uint_eq(path.length, length);
    ck_assert_mem_eq(path.bytes, expected, length);
    nt_buffer_deinit(&path);
    nt_file_close(file);
}

TEST(ancestors_are_in_front_outermost_first)
{
    assert_path(1, "jets", 4);
    assert_path(0, "jets/_0/pt", 10);
}

TEST(an_error_names_its_field_once)
{
    struct nt_file *file = BUILD_FIELDS(fields);
    struct nt_dataset *dataset = file->datasets[0];
    struct nt_error error;
    nt_fail(&error, NT_CORRUPT, NT_NO_OFFSET, "too many rows");
    ck_assert_int_eq(nt_name_field(dataset, 0, NULL, NT_CORRUPT, &error), NT_CORRUPT);
    ck_assert_str_eq(error.message, "field jets/_0/pt: too many rows");
    ck_assert_int_eq(nt_name_field(dataset, 0, "data", NT_CORRUPT, &error), NT_CORRUPT);
    ck_assert_str_eq(error.message, "field jets/_0/pt: too many rows");
    ck_assert_int_eq(nt_name_field(dataset, 1, "offsets", NT_CORRUPT, &error), NT_CORRUPT);
    ck_assert_str_eq(error.message, "offsets of field jets: field jets/_0/pt: too many rows");
    nt_file_close(file);
}

TEST(names_are_kept_byte_for_byte)
{
    assert_path(3, "", 0);
    assert_path(4, "/a\0b/c", 6);
}

TEST(the_deepest_field_has_all_its_ancestors)
{
    struct nt_field deep[NT_MAX_DEPTH + 1];
    for (uint32_t i = 0; i <= NT_MAX_DEPTH; i++)
        deep[i] = (struct nt_field){.id = i, .parent = i ? i - 1 : NT_NONE, .name = NAME("x")};
    struct nt_file *file = BUILD_FIELDS(deep);
    struct nt_buffer path = {0};
    nt_append_field_path(&path, file->datasets[0], NT_MAX_DEPTH);
    ck_assert_uint_eq(path.length, 2 * NT_MAX_DEPTH + 1);
    nt_buffer_deinit(&path);
    nt_file_close(file);
}

/* ---- Equal names ---- */

static const struct nt_field alike[] = {
    {.id = 0, .parent = NT_NONE, .name = NAME("x")},   {.id = 1, .parent = NT_NONE, .name = NAME("x~2")},
    {.id = 2, .parent = NT_NONE, .name = NAME("x")},   {.id = 3, .parent = 2, .name = NAME("y.z")},
    {.id = 4, .parent = 2, .name = NAME("y.z")},       {.id = 5, .parent = NT_NONE, .name = NAME("x")},
    {.id = 6, .parent = NT_NONE, .name = NAME("")},    {.id = 7, .parent = NT_NONE, .name = NAME("")},
    {.id = 8, .parent = NT_NONE, .name = NAME("a/b")}, {.id = 9, .parent = NT_NONE, .name = NAME("a/b")},
};

/* A field that the file calls "x~2" keeps its name. Fields elsewhere do not matter. */
TEST(fields_beside_one_another_get_names_of_their_own)
{
    static const char *const paths[] = {"x",   "x~2", "x~3", "x~3/y%2Ez", "x~3/y%2Ez~2",
                                        "x~4", "%",   "~2",  "a%2Fb",     "a%2Fb~2"};
    struct nt_file *file = BUILD_FIELDS(alike);
    struct nt_dataset *dataset = file->datasets[0];
    struct nt_error error;
    uint32_t field;
    assert_ok(nt_dataset_link(dataset, &error));
    for (uint32_t i = 0; i < sizeof(alike) / sizeof(*alike); i++) {
        char path[32];
        nt_field_path(dataset, i, path, sizeof(path));
        ck_assert_str_eq(path, paths[i]);
        assert_ok(nt_dataset_find(dataset, path, &field, &error));
        ck_assert_uint_eq(field, i);
    }
    assert_ok(nt_dataset_find(dataset, "x~3.y%2Ez~2", &field, &error));
    ck_assert_uint_eq(field, 4);
    nt_file_close(file);
}

/* Trying each number anew would take minutes. */
TEST(many_fields_of_one_name_are_numbered_at_once)
{
    enum { MANY = 100000 };
    struct nt_field *many = calloc(MANY, sizeof(*many));
    for (uint32_t i = 0; i < MANY; i++)
        many[i] = (struct nt_field){.id = i, .parent = NT_NONE, .name = NAME("same")};
    struct nt_file *file = build_file(many, MANY, NULL, 0);
    struct nt_error error;
    assert_ok(nt_dataset_link(file->datasets[0], &error));
    ck_assert(nt_text_is(file->datasets[0]->fields[MANY - 1].name, "same~100000"));
    nt_file_close(file);
    free(many);
}
