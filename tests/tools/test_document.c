/* SPDX-License-Identifier: MIT
 *
 * Documents for programs: all pieces in order, until the program wants no more.
 */
#include <string.h>

#include <ntuple/document.h>

#include "random_dataset.h"
#include "support.h"

struct taken {
    struct nt_buffer text;
    unsigned pieces, max_pieces;
};

static bool take(void *context, const char *bytes, size_t count)
{
    struct taken *taken = context;
    nt_buffer_append(&taken->text, bytes, count);
    return ++taken->pieces < taken->max_pieces;
}

TEST(a_schema_is_a_line_for_each_field_or_one_object)
{
    struct nt_error error;
    struct taken lines = {.max_pieces = UINT32_MAX}, json = lines;
    struct builder *builder = builder_new();
    add_vector(builder, NT_ENCODING_INDEX64, NT_ENCODING_INT32);
    finish(builder, NULL);
    assert_ok(nt_write_schema_lines(builder->reader, builder->dataset, take, &lines, &error));
    assert_ok(nt_write_schema_json(builder->reader, builder->dataset, take, &json, &error));
    ck_assert_ptr_nonnull(strstr(nt_buffer_string(&lines.text), "0 entries"));
    ck_assert_ptr_nonnull(strstr(nt_buffer_string(&lines.text), "0 items"));
    ck_assert_ptr_nonnull(strstr(nt_buffer_string(&json.text), "\"entries\":0,\"fields\":[{"));
    ck_assert_ptr_nonnull(strstr(nt_buffer_string(&json.text), "\"items\":0"));
    nt_buffer_deinit(&lines.text);
    nt_buffer_deinit(&json.text);
    builder_free(builder);
}

TEST(a_program_that_stops_gets_no_more)
{
    struct nt_error error;
    struct taken taken = {.max_pieces = 1};
    struct builder *builder = random_dataset(7300, 3);
    finish(builder, NULL);
    assert_status(NT_CANCELED,
                  nt_write_schema_lines(builder->reader, builder->dataset, take, &taken, &error));
    assert_status(NT_CANCELED, nt_write_schema_json(builder->reader, builder->dataset, take, &taken, &error));
    ck_assert_uint_eq(taken.pieces, 2);
    nt_buffer_deinit(&taken.text);
    builder_free(builder);
}

TEST(a_dataset_that_could_not_be_opened_has_no_schema)
{
    struct nt_error error;
    struct taken taken = {.max_pieces = 1};
    struct nt_error failure = {.status = NT_CORRUPT, .message = "no header"};
    struct builder *builder = builder_new();
    finish(builder, NULL);
    builder->dataset->failure = &failure;
    assert_status(NT_CORRUPT, nt_write_schema_lines(builder->reader, builder->dataset, take, &taken, &error));
    assert_status(NT_CORRUPT, nt_write_schema_json(builder->reader, builder->dataset, take, &taken, &error));
    ck_assert_uint_eq(taken.pieces, 0);
    builder->dataset->failure = NULL;
    builder_free(builder);
}
