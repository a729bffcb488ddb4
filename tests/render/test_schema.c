/* SPDX-License-Identifier: MIT
 *
 * The schema as lines: nesting, items of nested lists, unnamed fields, long and strange names; and as
 * JSON.
 */
#include <string.h>

#include "dataset_builder.h"
#include "support.h"
#include "render/render.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/json/json.h"
#include "core/model/model.h"

static struct builder *nested(void)
{
    static const uint64_t outer[] = {2, 3}, inner[] = {1, 1, 4};
    struct builder *builder = builder_new();
    uint32_t run = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT64);
    uint32_t list = add_field(builder, NT_NONE, NT_FIELD_COLLECTION, NT_ELEMENT_INT64);
    uint32_t lists = add_field(builder, list, NT_FIELD_COLLECTION, NT_ELEMENT_INT64);
    uint32_t record = add_field(builder, lists, NT_FIELD_RECORD, NT_ELEMENT_INT64);
    uint32_t x = add_field(builder, record, NT_FIELD_VALUE, NT_ELEMENT_INT64);
    uint32_t bits = add_array(builder, record, NT_FIELD_VALUE, NT_ELEMENT_INT64, 3);
    uint32_t ends = add_column(builder, list, NT_ENCODING_INDEX64, 0);
    uint32_t inner_ends = add_column(builder, lists, NT_ENCODING_INDEX64, 0);
    add_column(builder, run, NT_ENCODING_INT64, 0);
    add_column(builder, x, NT_ENCODING_INT64, 0);
    add_column(builder, bits, NT_ENCODING_INT64, 0);
    const struct nt_text names[] = {{"run", 3}, {"jets", 4}, {"_0", 2},
                                    {"_0", 2},  {"x\n", 2},  {"b\303\244r", 4}};
    const struct nt_text types[] = {{"std::int64_t", 12}, {"L<L<R>>", 7}, {"L<R>", 4}, {"R", 1},
                                    {"float", 5},         {"", 0}};
    for (uint32_t i = 0; i < builder->field_count; i++) {
        builder->fields[i].name = names[i];
        builder->fields[i].type = types[i];
    }
    builder->fields[run].description = (struct nt_text){"of the year", 11};
    uint32_t cluster = add_cluster(builder, 0, 2);
    add_elements(builder, cluster, ends, outer, 2, 2);
    add_elements(builder, cluster, inner_ends, inner, 3, 2);
    end_group(builder);
    return builder;
}

static void read_all(struct builder *builder, uint32_t field, struct nt_buffer *text)
{
    struct nt_text_generator *lines = NULL;
    struct nt_error error;
    bool more = true;
    assert_ok(nt_schema_lines(builder->reader, builder->dataset, field == NT_NONE ? NULL : &field, 1, &lines,
                              &error));
    while (more)
        assert_ok(lines->next(lines, text, &more, &error));
    lines->free(lines);
    nt_buffer_append_byte(text, '\0');
}

/* The rest after the line of the dataset. */
static const char *fields_of(const struct nt_buffer *text)
{
    return strchr(text->bytes, '\n') + 1;
}

TEST(fields_are_indented_and_items_of_lists_counted)
{
    struct nt_buffer text = {0};
    struct builder *builder = nested();
    finish(builder, NULL);
    read_all(builder, NT_NONE, &text);
    ck_assert_ptr_nonnull(strstr(text.bytes, ": 2 entries, "));
    ck_assert_str_eq(fields_of(&text), "  run      std::int64_t  of the year\n"
                                       "  jets     L<L<R>>       3 / 4 items\n"
                                       "    x\\x0a  float\n"
                                       "    b\303\244r                  [3]\n");
    nt_buffer_deinit(&text);
    builder_free(builder);
}

TEST(one_field_is_shown_with_what_is_below)
{
    struct nt_buffer text = {0};
    struct builder *builder = nested();
    finish(builder, NULL);
    read_all(builder, 3, &text);
    ck_assert_str_eq(fields_of(&text), "  _0       R\n"
                                       "    x\\x0a  float\n"
                                       "    b\303\244r           [3]\n");
    nt_buffer_deinit(&text);
    builder_free(builder);
}

TEST(what_may_be_null_is_said_to_be)
{
    struct nt_buffer text = {0};
    struct builder *builder = nested();
    builder->fields[0].is_nullable = true;
    finish(builder, NULL);
    read_all(builder, NT_NONE, &text);
    ck_assert_ptr_nonnull(strstr(text.bytes, "\n  run      std::int64_t  nullable  of the year\n"));
    nt_buffer_deinit(&text);
    builder_free(builder);
}

TEST(items_that_cannot_be_read_have_their_reason)
{
    struct nt_buffer text = {0};
    struct builder *builder = nested();
    builder->fields[3].unreadable = "nobody knows it";
    finish(builder, NULL);
    read_all(builder, NT_NONE, &text);
    ck_assert_ptr_nonnull(strstr(text.bytes, "3 / 4 items  unreadable: nobody knows it\n"));
    nt_buffer_deinit(&text);
    builder_free(builder);
}

TEST(items_that_cannot_be_counted_are_a_question_mark)
{
    struct nt_buffer text = {0};
    struct builder *builder = nested();
    builder->bad_group[0] = true;
    finish(builder, NULL);
    read_all(builder, NT_NONE, &text);
    ck_assert_ptr_nonnull(strstr(text.bytes, "? / ? items\n"));
    nt_buffer_deinit(&text);
    builder_free(builder);
}

TEST(a_very_long_name_does_not_push_the_types_away)
{
    static char name[200];
    struct nt_buffer text = {0};
    struct builder *builder = nested();
    memset(name, 'n', sizeof(name));
    builder->fields[0].name = (struct nt_text){name, sizeof(name)};
    finish(builder, NULL);
    read_all(builder, NT_NONE, &text);
    ck_assert_ptr_nonnull(strstr(text.bytes, "\n  jets     L<L<R>>"));
    ck_assert_ptr_nonnull(strstr(text.bytes, "nn  std::int64_t  of the year\n"));
    nt_buffer_deinit(&text);
    builder_free(builder);
}

TEST(json_has_every_field)
{
    struct nt_buffer out = {0};
    struct nt_error error;
    struct nt_json json;
    struct builder *builder = nested();
    finish(builder, NULL);
    nt_json_line(&json, &out);
    assert_ok(nt_json_member_fields(builder->reader, builder->dataset, &(uint32_t){2}, 1, &json, &error));
    nt_json_finish(&json);
    nt_buffer_append_byte(&out, '\0');
    ck_assert_str_eq(out.bytes,
                     "{\"fields\":[{\"name\":\"_0\",\"type\":\"L<R>\",\"kind\":\"collection\",\"items\":4,"
                     "\"fields\":[{\"name\":\"_0\",\"type\":\"R\",\"kind\":\"record\",\"fields\":["
                     "{\"name\":\"x\\n\",\"type\":\"float\",\"kind\":\"value\"},"
                     "{\"name\":\"b\303\244r\",\"type\":\"\",\"kind\":\"value\",\"dimensions\":[3]}]}]}]}\n");
    nt_buffer_deinit(&out);
    builder_free(builder);
}
