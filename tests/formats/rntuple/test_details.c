/* SPDX-License-Identifier: MIT
 *
 * Properties of fields and columns that only RNTuple has, in field.json and column.json.
 */
#include <jansson.h>

#include "core/json/json.h"
#include "rntuple_opened.h"
#include "core/base/memory.h"
#include "core/model/model.h"

static struct nt_error error;
static struct written written;

typedef void describe(const struct nt_dataset *dataset, uint32_t index, struct nt_json *json);

static json_t *described(describe *function, uint32_t index)
{
    struct nt_buffer text = {0};
    struct nt_json json;
    nt_json_line(&json, &text);
    function(written.dataset, index, &json);
    nt_json_finish(&json);
    json_t *object = json_loadb(text.bytes, text.length, 0, NULL);
    ck_assert_ptr_nonnull(object);
    nt_buffer_deinit(&text);
    return object;
}

static json_int_t number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_integer(value), "no integer %s", key);
    return json_integer_value(value);
}

TEST(a_field_says_its_versions_flags_checksum_and_alias, .first = RNTUPLE_RC2_LATE,
     .end = RNTUPLE_GENERATIONS)
{
    static const struct rntuple_field fields[] = {
        {.name = "array",
         .type = "std::array<T,5>",
         .parent = RNTUPLE_TOP,
         .flags = 5,
         .array_size = 5,
         .field_version = 3,
         .type_version = 4,
         .type_checksum = 0xdeadbeef,
         .alias = "T[5]"},
        {.name = "_0", .type = "T", .parent = 0, .role = 2},
    };
    struct rntuple_description description = {.name = "n", .fields = fields, .field_count = 2};
    assert_ok(write_and_open(&written, _i, &description, &error));
    json_t *array = described(written.dataset->ops->describe_field, 0);
    ck_assert_str_eq(json_string_value(json_object_get(array, "type_alias")), "T[5]");
    ck_assert_int_eq(number(array, "flags"), 5);
    ck_assert_int_eq(number(array, "field_version"), 3);
    ck_assert_int_eq(number(array, "type_version"), 4);
    ck_assert_str_eq(json_string_value(json_object_get(array, "type_checksum")), "deadbeef");
    json_t *item = described(written.dataset->ops->describe_field, 1);
    ck_assert_str_eq(json_string_value(json_object_get(item, "type_alias")), "");
    ck_assert_ptr_null(json_object_get(item, "type_checksum"));
    json_decref(array);
    json_decref(item);
    written_close(&written);
}

/* In files of these generations the bit of the checksum has no meaning. */
TEST(a_field_of_old_drafts_has_no_checksum, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_RC2_LATE)
{
    static const struct rntuple_field field = {
        .name = "a", .type = "T", .parent = RNTUPLE_TOP, .role = 2, .flags = 4};
    struct rntuple_description description = {.name = "n", .fields = &field, .field_count = 1};
    assert_ok(write_and_open(&written, _i, &description, &error));
    json_t *reported = described(written.dataset->ops->describe_field, 0);
    ck_assert_int_eq(number(reported, "flags"), 4);
    ck_assert_ptr_null(json_object_get(reported, "type_checksum"));
    json_decref(reported);
    written_close(&written);
}

TEST(a_column_says_the_number_of_its_type_and_its_flags)
{
    static const struct rntuple_field field = {.name = "a", .type = "float", .parent = RNTUPLE_TOP};
    static const struct rntuple_column column = {
        .type = 0x1d, .bits = 12, .has_range = true, .maximum = 1}; /* Real32Quant */
    struct rntuple_description description = {
        .name = "n", .fields = &field, .field_count = 1, .columns = &column, .column_count = 1};
    assert_ok(write_and_open(&written, RNTUPLE_V1, &description, &error));
    json_t *reported = described(written.dataset->ops->describe_column, 0);
    ck_assert_int_eq(number(reported, "type_number"), 0x1d);
    ck_assert_int_eq(number(reported, "flags"), 2);
    json_decref(reported);
    written_close(&written);
}
