/* SPDX-License-Identifier: MIT
 *
 * Arrow types beyond the kinds of fields: widths of offsets, maps, names of items, and declared
 * nullability.
 */
#include <string.h>

#include "arrow_consumer.h"
#include "core/base/text.h"
#include "support.h"
#include "render/arrow/arrow.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"

static struct nt_error error;
static struct builder *builder;
static struct ArrowSchema schema;

static void set_up(void)
{
    builder = builder_new();
    add_cluster(builder, 0, 2);
}

static void tear_down(void)
{
    if (schema.release)
        schema.release(&schema);
    builder_free(builder);
}

static uint32_t add_named(uint32_t parent, const char *name, enum nt_field_kind kind, enum nt_element element)
{
    uint32_t field = add_array(builder, parent, kind, element, 0);
    builder->fields[field].name = nt_text_of(name);
    return field;
}

static void add(uint32_t field, enum nt_encoding_kind encoding, uint64_t first, uint64_t second)
{
    add_elements(builder, 0, add_column(builder, field, encoding, 0), (uint64_t[]){first, second}, 2, 2);
}

static uint32_t add_number(uint32_t parent, const char *name)
{
    uint32_t field = add_named(parent, name, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    add(field, NT_ENCODING_INT32, 7, 8);
    return field;
}

/* Two rows of one item each. */
static uint32_t add_list(const char *name, bool has_short_offsets)
{
    uint32_t field = add_named(NT_NONE, name, NT_FIELD_COLLECTION, NT_ELEMENT_UINT64);
    edit_extra(builder, field)->has_short_offsets = has_short_offsets;
    add(field, NT_ENCODING_INDEX64, 1, 2);
    return field;
}

static void add_text(enum nt_field_kind kind, bool has_short_offsets)
{
    uint32_t field = add_named(NT_NONE, "text", kind, NT_ELEMENT_BYTE);
    edit_extra(builder, field)->has_short_offsets = has_short_offsets;
    add(field, NT_ENCODING_INDEX64, 1, 2);
    add(field, NT_ENCODING_CHAR, 'a', 'b');
}

/* The schema of all fields, whose rows are read once. */
static const struct ArrowSchema *exported(const char *rows)
{
    struct nt_buffer lines = {0};
    finish(builder, NULL);
    struct nt_arrow *arrow = open_arrow(builder);
    assert_ok(nt_arrow_export_schema(arrow, &schema, &error));
    lines_from_arrow(arrow, &lines);
    ck_assert_str_eq(nt_buffer_string(&lines), rows);
    nt_buffer_deinit(&lines);
    nt_arrow_free(arrow);
    return &schema;
}

static const struct {
    enum nt_field_kind kind;
    bool has_short_offsets;
    const char *format, *rows;
} texts[] = {
    {NT_FIELD_STRING, false, "U", "{\"text\":\"a\"}\n{\"text\":\"b\"}\n"},
    {NT_FIELD_STRING, true, "u", "{\"text\":\"a\"}\n{\"text\":\"b\"}\n"},
    {NT_FIELD_STREAMED, false, "Z", "{\"text\":\"YQ==\"}\n{\"text\":\"Yg==\"}\n"},
    {NT_FIELD_STREAMED, true, "z", "{\"text\":\"YQ==\"}\n{\"text\":\"Yg==\"}\n"},
};

TEST(offsets_of_texts_are_as_wide_as_the_type_has_them, .setup = set_up, .teardown = tear_down,
     .end = sizeof(texts) / sizeof(*texts))
{
    add_text(texts[_i].kind, texts[_i].has_short_offsets);
    ck_assert_str_eq(exported(texts[_i].rows)->children[0]->format, texts[_i].format);
}

TEST(items_of_lists_are_called_as_the_format_calls_them, .setup = set_up, .teardown = tear_down)
{
    uint32_t named = add_list("named", true), plain = add_list("plain", false);
    edit_extra(builder, add_number(named, "item"))->item_name = nt_text_of("element");
    add_number(plain, "_0");
    const struct ArrowSchema *found =
        exported("{\"named\":[7],\"plain\":[7]}\n{\"named\":[8],\"plain\":[8]}\n");
    ck_assert_str_eq(found->children[0]->format, "+l");
    ck_assert_str_eq(found->children[0]->children[0]->name, "element");
    ck_assert_str_eq(found->children[1]->format, "+L");
    ck_assert_str_eq(found->children[1]->children[0]->name, "item");
}

/* A map "m" of a key and a value. */
struct map {
    uint32_t pairs, key, value;
};

static struct map add_map(bool has_value)
{
    struct map map;
    uint32_t field = add_list("m", true);
    builder->fields[field].is_map = true;
    map.pairs = add_named(field, "item", NT_FIELD_RECORD, NT_ELEMENT_BYTE);
    edit_extra(builder, map.pairs)->item_name = nt_text_of("entries");
    map.key = add_number(map.pairs, "key");
    map.value = has_value ? add_number(map.pairs, "value")
                          : add_named(map.pairs, "value", NT_FIELD_UNREADABLE, NT_ELEMENT_BYTE);
    return map;
}

static const char both[] = "{\"m\":[{\"key\":7,\"value\":7}]}\n{\"m\":[{\"key\":8,\"value\":8}]}\n";

TEST(a_map_is_one, .setup = set_up, .teardown = tear_down)
{
    edit_extra(builder, add_map(true).value)->is_declared_nullable = true;
    const struct ArrowSchema *map = exported(both)->children[0], *pairs = map->children[0];
    ck_assert_str_eq(map->format, "+m");
    ck_assert_str_eq(pairs->name, "entries");
    ck_assert(!(pairs->flags & ARROW_FLAG_NULLABLE));
    ck_assert(!(pairs->children[0]->flags & ARROW_FLAG_NULLABLE));
    ck_assert(pairs->children[1]->flags & ARROW_FLAG_NULLABLE);
}

/* Readers accept no map of these. */
TEST(a_map_whose_keys_may_be_null_or_whose_values_are_left_out_is_a_list, .setup = set_up,
     .teardown = tear_down, .end = 3)
{
    struct map map = add_map(_i != 2);
    edit_extra(builder, map.pairs)->is_declared_nullable = _i == 0;
    edit_extra(builder, map.key)->is_declared_nullable = _i == 1;
    const struct ArrowSchema *found =
        exported(_i == 2 ? "{\"m\":[{\"key\":7}]}\n{\"m\":[{\"key\":8}]}\n" : both)->children[0];
    ck_assert_str_eq(found->format, "+l");
}

/* Nothing stores nulls of `declared`; those of `member` are the record's. */
TEST(fields_are_nullable_where_their_types_say_so, .setup = set_up, .teardown = tear_down)
{
    uint32_t declared = add_number(NT_NONE, "declared");
    edit_extra(builder, declared)->is_declared_nullable = true;
    uint32_t record = add_named(NT_NONE, "record", NT_FIELD_RECORD, NT_ELEMENT_BYTE);
    builder->fields[record].is_nullable = edit_extra(builder, record)->is_declared_nullable = true;
    add(record, NT_ENCODING_BIT, 1, 0);
    uint32_t member = add_number(record, "member");
    builder->fields[member].is_nullable = true;
    add(member, NT_ENCODING_BIT, 1, 0);
    const struct ArrowSchema *found =
        exported("{\"declared\":7,\"record\":{\"member\":7}}\n{\"declared\":8,\"record\":null}\n");
    ck_assert(found->children[0]->flags & ARROW_FLAG_NULLABLE);
    ck_assert(found->children[1]->flags & ARROW_FLAG_NULLABLE);
    ck_assert(!(found->children[1]->children[0]->flags & ARROW_FLAG_NULLABLE));
}

TEST(what_the_file_says_about_a_field_is_beside_its_type, .setup = set_up, .teardown = tear_down)
{
    static const struct nt_property properties[] = {{{"ARROW:extension:name", 20}, {"unit", 4}},
                                                    {{"key", 3}, {"\xff", 1}}};
    char text[32];
    uint32_t field = add_number(NT_NONE, "n");
    builder->fields[field].type = nt_text_of("int32");
    edit_extra(builder, field)->properties = properties;
    edit_extra(builder, field)->property_count = 2;
    const struct ArrowSchema *found = exported("{\"n\":7}\n{\"n\":8}\n")->children[0];
    find_metadata(found, "ntuple.type", text, sizeof(text));
    ck_assert_str_eq(text, "int32");
    find_metadata(found, "ARROW:extension:name", text, sizeof(text));
    ck_assert_str_eq(text, "unit");
    find_metadata(found, "key", text, sizeof(text)); /* no UTF-8 */
    ck_assert_str_eq(text, "\\xff");
}
