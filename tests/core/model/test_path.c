/* SPDX-License-Identifier: MIT
 *
 * Paths of fields, and errors that name them.
 */
#include "builder.h"
#include "core/model/model.h"
#include "core/base/memory.h"

#define NAME(text)                                                                                           \
    {                                                                                                        \
        text, sizeof(text) - 1                                                                               \
    }

static const struct nt_field fields[] = {
    {.id = 0, .parent = 2, .name = NAME("pt")},     {.id = 1, .parent = NT_NONE, .name = NAME("jets")},
    {.id = 2, .parent = 1, .name = NAME("_0")},     {.id = 3, .parent = NT_NONE, .name = NAME("")},
    {.id = 4, .parent = 3, .name = NAME("a\0b/c")},
};

static void assert_path(uint32_t field, char separator, const char *expected, size_t length)
{
    struct nt_file *file = BUILD_FIELDS(fields);
    struct nt_buffer path = {0};
    nt_append_field_path(&path, file->datasets[0], field, separator);
    ck_assert_uint_eq(path.length, length);
    ck_assert_mem_eq(path.bytes, expected, length);
    nt_buffer_deinit(&path);
    nt_file_close(file);
}

TEST(ancestors_are_in_front_outermost_first)
{
    assert_path(1, '/', "jets", 4);
    assert_path(0, '/', "jets/_0/pt", 10);
    assert_path(0, '.', "jets._0.pt", 10);
}

TEST(an_error_names_its_field_once)
{
    struct nt_file *file = BUILD_FIELDS(fields);
    struct nt_dataset *dataset = file->datasets[0];
    struct nt_error error;
    nt_fail(&error, NT_CORRUPT, NT_NO_OFFSET, "too many rows");
    ck_assert_int_eq(nt_name_field(dataset, 0, NULL, NT_CORRUPT, &error), NT_CORRUPT);
    ck_assert_str_eq(error.message, "field jets._0.pt: too many rows");
    ck_assert_int_eq(nt_name_field(dataset, 0, "data", NT_CORRUPT, &error), NT_CORRUPT);
    ck_assert_str_eq(error.message, "field jets._0.pt: too many rows");
    ck_assert_int_eq(nt_name_field(dataset, 1, "offsets", NT_CORRUPT, &error), NT_CORRUPT);
    ck_assert_str_eq(error.message, "offsets of field jets: field jets._0.pt: too many rows");
    nt_file_close(file);
}

TEST(names_are_kept_byte_for_byte)
{
    assert_path(3, '/', "", 0);
    assert_path(4, '/', "/a\0b/c", 6);
}

TEST(the_deepest_field_has_all_its_ancestors)
{
    struct nt_field deep[NT_MAX_DEPTH + 1];
    for (uint32_t i = 0; i <= NT_MAX_DEPTH; i++)
        deep[i] = (struct nt_field){.id = i, .parent = i ? i - 1 : NT_NONE, .name = NAME("x")};
    struct nt_file *file = BUILD_FIELDS(deep);
    struct nt_buffer path = {0};
    nt_append_field_path(&path, file->datasets[0], NT_MAX_DEPTH, '/');
    ck_assert_uint_eq(path.length, 2 * NT_MAX_DEPTH + 1);
    nt_buffer_deinit(&path);
    nt_file_close(file);
}
