/* SPDX-License-Identifier: MIT
 *
 * Fields of the model, compared with the nodes that another reader finds in the same files, and with
 * schemas after Lance's description: the column of the file for each field, and the output that it uses.
 */
#include <glob.h>
#include <jansson.h>
#include <string.h>

#include "core/base/text.h"
#include "formats/formats.h"
#include "formats/lance/file/file.h"
#include "lance_writer.h"
#include "support.h"
#include "core/base/memory.h"
#include "core/io/source.h"
#include "core/model/model.h"
#include "formats/lance/decode/decode.h"

static struct nt_error error;
static struct nt_file *file;
static struct lance_writer writer;

static void tear_down(void)
{
    if (file)
        nt_file_close(file);
    file = NULL;
    lance_deinit(&writer);
}

static enum nt_status open_source(struct nt_source *source)
{
    const struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    error = (struct nt_error){0};
    enum nt_status status = nt_format_lance.open(source, &options, &file, &error);
    if (status != NT_OK)
        nt_source_close(source);
    return status;
}

/* ---- what another reader finds ---- */

static const char *path_of(uint32_t field)
{
    static char path[512];
    const struct nt_dataset *dataset = file->datasets[0];
    size_t at = sizeof(path) - 1;
    path[at] = '\0';
    for (; field != NT_NONE; field = dataset->fields[field].parent) {
        struct nt_text name = dataset->fields[field].name;
        at -= name.length;
        memcpy(path + at, name.bytes, name.length);
        if (dataset->fields[field].parent != NT_NONE)
            path[--at] = '/';
    }
    return path + at;
}

/* The members of a node with such a kind, besides its validity. */
static const struct {
    bool has_offsets, has_data;
} members[NT_FIELD_KIND_COUNT] = {
    [NT_FIELD_VALUE] = {false, true},      [NT_FIELD_STRING] = {true, true},
    [NT_FIELD_STREAMED] = {true, true},    [NT_FIELD_PAGE_BYTES] = {true, true},
    [NT_FIELD_COLLECTION] = {true, false}, [NT_FIELD_NULL] = {false, false},
    [NT_FIELD_JSON] = {true, true},
};

static void check_file(const char *path)
{
    char name[512];
    struct nt_source *source;
    json_error_t problem;
    snprintf(name, sizeof(name), "%.*s.json", (int)(strlen(path) - strlen(".lance")), path);
    json_t *expected = json_load_file(name, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &problem);
    ck_assert_msg(expected, "%s: %s", name, problem.text);
    assert_ok(nt_source_open_file(path, &source, &error));
    assert_ok(open_source(source));
    const json_t *nodes = json_object_get(expected, "columns");
    const struct nt_dataset *dataset = file->datasets[0];
    ck_assert_msg(dataset->field_count == json_array_size(nodes), "%s: %u fields instead of %zu", path,
                  dataset->field_count, json_array_size(nodes));
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        const json_t *node = json_array_get(nodes, i);
        const struct nt_field *field = &dataset->fields[i];
        ck_assert_str_eq(path_of(i), json_string_value(json_object_get(node, "path")));
        ck_assert_ptr_null(field->unreadable);
        ck_assert_msg(members[field->kind].has_offsets == !!json_object_get(node, "offsets") &&
                          members[field->kind].has_data == !!json_object_get(node, "data"),
                      "%s: %s is of kind %d", path, path_of(i), field->kind);
    }
    nt_file_close(file);
    file = NULL;
    json_decref(expected);
}

TEST(fields_are_the_nodes_that_another_reader_has, .teardown = tear_down)
{
    char pattern[512];
    glob_t found;
    snprintf(pattern, sizeof(pattern), "%s/lance_*.lance", getenv("NTUPLE_TEST_DATA"));
    ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
    ck_assert_uint_gt(found.gl_pathc, 20);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_file(found.gl_pathv[i]);
    globfree(&found);
}

/* ---- schemas ---- */

/* Lance's fields: their ids are their indices in the list, from 0. */
struct described {
    const char *name, *type;
    int32_t parent;
    bool is_nullable;
};

/* Descriptions of blobs, without rows. */
static struct nt_buffer no_places(void)
{
    struct nt_buffer inner = lance_flat_layout(128, 0), blobs = {0}, layout = {0};
    put_message(&blobs, 1, &inner);
    put_packed(&blobs, 2, (const uint64_t[]){NT_LAYER_ITEM}, 1);
    put_message(&layout, 4, &blobs);
    return layout;
}

/* `keys`: by field, an entry of its metadata, or NULL. `blob_columns`: a bit for each that stores
 * descriptions. */
static enum nt_status open_marked_schema(const struct described *fields, const char *const *keys,
                                         unsigned count, unsigned columns, unsigned blob_columns,
                                         uint16_t minor)
{
    struct nt_source *source;
    lance_begin(&writer, 2, minor, 0);
    for (unsigned i = 0; i < count; i++)
        lance_marked_field(&writer, (int32_t)i, fields[i].parent, fields[i].name, fields[i].type,
                           fields[i].is_nullable, keys ? keys[i] : NULL);
    for (unsigned i = 0; i < columns; i++) {
        lance_column(&writer);
        if (!(blob_columns >> i & 1))
            continue;
        struct nt_buffer encoding = no_places();
        lance_page(&writer, NULL, 0, 0, 0, LANCE_LAYOUT, &encoding);
    }
    lance_end(&writer);
    ck_assert(nt_source_open_memory(writer.out.bytes, writer.out.length, "test.lance", &source, NULL) ==
              NT_OK);
    return open_source(source);
}

static enum nt_status open_schema(const struct described *fields, unsigned count, unsigned columns,
                                  uint16_t minor)
{
    return open_marked_schema(fields, NULL, count, columns, 0, minor);
}

/* A field of the model, and its column mapping. */
struct expected {
    const char *path;
    enum nt_field_kind kind;
    uint32_t column, layer, depth;
    uint64_t items;
    bool is_nullable;
};

static void check_fields(const struct expected *expected, unsigned count)
{
    const struct nt_dataset *dataset = file->datasets[0];
    ck_assert_uint_eq(dataset->field_count, count);
    for (unsigned i = 0; i < count; i++) {
        const struct nt_lance_column_map column_map = nt_lance_map_own_column(nt_lance_of(dataset), i);
        ck_assert_str_eq(path_of(i), expected[i].path);
        ck_assert_msg(dataset->fields[i].kind == expected[i].kind, "%s: kind %d", path_of(i),
                      dataset->fields[i].kind);
        ck_assert_msg(column_map.column == expected[i].column && column_map.layer == expected[i].layer &&
                          column_map.depth == expected[i].depth && column_map.items == expected[i].items,
                      "%s: column %u, layer %u, depth %u, %llu items", path_of(i), column_map.column,
                      column_map.layer, column_map.depth, (unsigned long long)column_map.items);
        ck_assert_msg(dataset->fields[i].is_nullable == expected[i].is_nullable, "%s", path_of(i));
    }
}

static const struct described nested[] = {
    {"number", "int64", -1, false}, {"s", "struct", -1, true},   {"x", "float", 1, false},
    {"l", "list.struct", 1, true},  {"e", "struct", 3, false},   {"y", "string", 4, true},
    {"z", "int8", 4, false},        {"after", "bool", -1, true},
};
enum { NESTED = sizeof(nested) / sizeof(*nested) };

/* "Each leaf has a column": what surrounds it is read from the first one below, so many layers from
 * inside. */
TEST(leaves_have_the_columns_from_2_1_on, .teardown = tear_down)
{
    static const struct expected expected[] = {
        {"number", NT_FIELD_VALUE, 0, 0, 0, 1, false},     {"s", NT_FIELD_RECORD, 1, 1, 0, 1, true},
        {"s/x", NT_FIELD_VALUE, 1, 0, 0, 1, true},         {"s/l", NT_FIELD_COLLECTION, 2, 2, 0, 1, true},
        {"s/l/item", NT_FIELD_RECORD, 2, 1, 0, 1, false},  {"s/l/item/y", NT_FIELD_STRING, 2, 0, 0, 1, true},
        {"s/l/item/z", NT_FIELD_VALUE, 3, 0, 0, 1, false}, {"after", NT_FIELD_VALUE, 4, 0, 0, 1, true},
    };
    assert_ok(open_schema(nested, NESTED, 5, 1));
    check_fields(expected, NESTED);
}

/* Each field has one, and structures are never null. */
TEST(all_fields_have_columns_in_2_0, .teardown = tear_down)
{
    static const struct expected expected[] = {
        {"number", NT_FIELD_VALUE, 0, 0, 0, 1, false},     {"s", NT_FIELD_RECORD, 1, 0, 0, 1, false},
        {"s/x", NT_FIELD_VALUE, 2, 0, 0, 1, false},        {"s/l", NT_FIELD_COLLECTION, 3, 0, 0, 1, true},
        {"s/l/item", NT_FIELD_RECORD, 4, 0, 0, 1, false},  {"s/l/item/y", NT_FIELD_STRING, 5, 0, 0, 1, true},
        {"s/l/item/z", NT_FIELD_VALUE, 6, 0, 0, 1, false}, {"after", NT_FIELD_VALUE, 7, 0, 0, 1, true},
    };
    assert_ok(open_schema(nested, NESTED, 8, 0));
    check_fields(expected, NESTED);
}

TEST(items_of_fixed_lists_are_counted_inside_the_layer, .teardown = tear_down)
{
    static const struct described fields[] = {{"v", "fixed_size_list:fixed_size_list:int16:3:2", -1, true}};
    static const struct expected expected[] = {{"v", NT_FIELD_ARRAY, 0, 0, 0, 1, true},
                                               {"v/item", NT_FIELD_ARRAY, 0, 0, 1, 2, true},
                                               {"v/item/item", NT_FIELD_VALUE, 0, 0, 2, 6, true}};
    assert_ok(open_schema(fields, 1, 1, 1));
    check_fields(expected, 3);
    ck_assert_uint_eq(file->datasets[0]->fields[0].repetition, 2);
    ck_assert_uint_eq(file->datasets[0]->fields[1].repetition, 3);
}

TEST(items_of_fixed_lists_say_arrow_of_their_extension, .teardown = tear_down)
{
    static const struct described fields[] = {{"v", "fixed_size_list:lance.bfloat16:2", -1, true},
                                              {"w", "fixed_size_list:halffloat:2", -1, true}};
    assert_ok(open_schema(fields, 2, 2, 1));
    const struct nt_field *found = file->datasets[0]->fields;
    uint32_t count;
    const struct nt_property *properties = nt_field_properties(&found[1], &count);
    ck_assert_uint_eq(count, 2);
    ck_assert(nt_text_is(properties[0].key, "ARROW:extension:name"));
    ck_assert(nt_text_is(properties[0].value, "lance.bfloat16"));
    ck_assert_str_eq(found[1].dtype.numpy, "|V2");
    ck_assert_str_eq(found[1].dtype.arrow, "w:2");
    nt_field_properties(&found[0], &count);
    ck_assert_uint_eq(count, 0);
    nt_field_properties(&found[3], &count);
    ck_assert_uint_eq(count, 0);
}

/* The first of these names would mean that its bytes are text. */
TEST(json_says_arrow_of_the_extension_of_its_bytes, .teardown = tear_down)
{
    static const struct described fields[] = {
        {"a", "json", -1, true}, {"b", "json", -1, true}, {"c", "string", -1, true}};
    static const char *const keys[] = {"ARROW:extension:name=arrow.json", "ARROW:extension:name=lance.json",
                                       "ARROW:extension:name=arrow.json"};
    static const char *const expected[] = {"lance.json", "lance.json", "arrow.json"};
    assert_ok(open_marked_schema(fields, keys, 3, 3, 0, 1));
    for (unsigned i = 0; i < 3; i++) {
        uint32_t count;
        const struct nt_property *properties = nt_field_properties(&file->datasets[0]->fields[i], &count);
        ck_assert_uint_eq(count, 1);
        ck_assert(nt_text_is(properties[0].key, "ARROW:extension:name"));
        ck_assert(nt_text_is(properties[0].value, expected[i]));
    }
}

TEST(a_type_that_is_not_known_leaves_the_others_readable, .teardown = tear_down)
{
    static const struct described fields[] = {{"a", "quaternion", -1, true}, {"b", "int32", -1, false}};
    assert_ok(open_schema(fields, 2, 2, 1));
    ck_assert_int_eq(file->datasets[0]->fields[0].kind, NT_FIELD_UNREADABLE);
    ck_assert_ptr_nonnull(file->datasets[0]->fields[0].unreadable);
    ck_assert_int_eq(file->datasets[0]->fields[1].kind, NT_FIELD_VALUE);
    ck_assert_uint_eq(nt_lance_map_own_column(nt_lance_of(file->datasets[0]), 1).column, 1);
}

/* ---- fixed-size lists of structures ---- */

static const struct described struct_lists[] = {
    {"a", "int64", -1, true},
    {"f", "fixed_size_list:struct:2", -1, true},
    {"item", "struct", 1, true},
    {"x", "fixed_size_list:int8:3", 2, false},
    {"g", "fixed_size_list:struct:5", 2, false},
    {"item", "struct", 4, false},
    {"y", "string", 5, false},
    {"b", "int64", -1, true},
};
enum { STRUCT_LISTS = sizeof(struct_lists) / sizeof(*struct_lists) };

/* Their members have columns with a row for each item, and they have none. */
TEST(fixed_size_lists_of_structures_are_reported_by_their_members, .teardown = tear_down)
{
    static const struct expected expected[] = {
        {"a", NT_FIELD_VALUE, 0, 0, 0, 1, true},
        {"f", NT_FIELD_ARRAY, 1, 2, 0, 1, true},
        {"f/item", NT_FIELD_RECORD, 1, 1, 0, 1, true},
        {"f/item/x", NT_FIELD_ARRAY, 1, 0, 0, 1, true},
        {"f/item/x/item", NT_FIELD_VALUE, 1, 0, 1, 3, true},
        {"f/item/g", NT_FIELD_ARRAY, 2, 2, 0, 1, true},
        {"f/item/g/item", NT_FIELD_RECORD, 2, 1, 0, 1, true},
        {"f/item/g/item/y", NT_FIELD_STRING, 2, 0, 0, 1, true},
        {"b", NT_FIELD_VALUE, 3, 0, 0, 1, true},
    };
    static const uint64_t repeats[] = {1, 2, 1, 1, 1, 5, 1, 1, 1};
    assert_ok(open_schema(struct_lists, STRUCT_LISTS, 4, 2));
    check_fields(expected, STRUCT_LISTS + 1);
    for (uint32_t i = 0; i <= STRUCT_LISTS; i++)
        ck_assert_uint_eq(nt_lance_map_own_column(nt_lance_of(file->datasets[0]), i).repeats, repeats[i]);
    ck_assert_uint_eq(file->datasets[0]->fields[1].repetition, 2);
    ck_assert_uint_eq(file->datasets[0]->fields[5].repetition, 5);
}

TEST(lists_around_fixed_size_lists_of_structures_leave_the_others_readable, .teardown = tear_down)
{
    static const struct described fields[] = {
        {"a", "int64", -1, true},    {"l", "list", -1, true}, {"item", "fixed_size_list:struct:2", 1, true},
        {"item", "struct", 2, true}, {"x", "int32", 3, true}, {"b", "list", -1, true},
        {"item", "int8", 5, true},
    };
    assert_ok(open_schema(fields, 7, 3, 2));
    const struct nt_dataset *dataset = file->datasets[0];
    for (uint32_t i = 0; i < 7; i++) {
        bool is_read = i < 1 || i > 4;
        ck_assert_uint_eq(dataset->fields[i].kind != NT_FIELD_UNREADABLE, is_read);
        if (!is_read)
            ck_assert_str_eq(dataset->fields[i].unreadable,
                             "cannot read lists around fixed-size lists of structures");
    }
}

/* Version 2.0 packs them in one column; the others keep their positions. */
TEST(fixed_size_lists_of_structures_have_one_column_in_2_0, .teardown = tear_down)
{
    assert_ok(open_schema(struct_lists, STRUCT_LISTS, 3, 0));
    const struct nt_dataset *dataset = file->datasets[0];
    for (uint32_t i = 0; i < STRUCT_LISTS; i++) {
        bool is_read = i == 0 || i == STRUCT_LISTS - 1;
        ck_assert_uint_eq(dataset->fields[i].kind != NT_FIELD_UNREADABLE, is_read);
        if (!is_read)
            ck_assert_str_eq(dataset->fields[i].unreadable,
                             "cannot read fixed-size lists of structures in files before version 2.1");
    }
    ck_assert_uint_eq(nt_lance_map_own_column(nt_lance_of(dataset), STRUCT_LISTS - 1).column, 2);
}

/* Types that pylance refuses to write, and versions that lack them. */
static const struct {
    const char *type;
    uint16_t minor;
    unsigned columns;
} unknown_lists[] = {{"fixed_size_list:struct:0", 2, 2},
                     {"fixed_size_list:fixed_size_list:struct:2:2", 2, 2},
                     {"fixed_size_list:string:2", 2, 2},
                     {"fixed_size_list:struct:2", 0, 1}};

TEST(other_fixed_size_lists_are_not_known, .teardown = tear_down,
     .end = sizeof(unknown_lists) / sizeof(*unknown_lists))
{
    const struct described fields[] = {
        {"f", unknown_lists[_i].type, -1, true}, {"item", "struct", 0, true}, {"x", "int32", 1, true}};
    assert_ok(open_schema(fields, 3, unknown_lists[_i].columns, unknown_lists[_i].minor));
    ck_assert_int_eq(file->datasets[0]->fields[0].kind, NT_FIELD_UNREADABLE);
}

/* The rows of columns 0 and 1, in a file of 3 rows. */
static const struct {
    uint64_t rows[2];
    const char *message;
} column_rows[] = {
    {{3, 6}, NULL},
    {{3, 3}, "column 1: rows of its pages: expected 6, found 3"},
    {{3, 7}, "column 1: rows of its pages: expected 6, found 7"},
    {{6, 6}, "column 0: rows of its pages: expected 3, found 6"},
    {{0, 6}, "column 0: rows of its pages: expected 3, found 0"},
};

TEST(columns_have_the_rows_of_the_file_or_of_its_lists_items, .teardown = tear_down,
     .end = sizeof(column_rows) / sizeof(*column_rows))
{
    struct nt_source *source;
    lance_begin(&writer, 2, 2, 3);
    for (unsigned i = 0; i < 2; i++) {
        lance_column(&writer);
        if (!column_rows[_i].rows[i]) /* no page either */
            continue;
        struct nt_buffer encoding = lance_flat_layout(64, column_rows[_i].rows[i]);
        lance_page(&writer, NULL, 0, column_rows[_i].rows[i], 0, LANCE_LAYOUT, &encoding);
    }
    lance_field(&writer, 0, -1, "a", "int64", false);
    lance_field(&writer, 1, -1, "f", "fixed_size_list:struct:2", false);
    lance_field(&writer, 2, 1, "item", "struct", false);
    lance_field(&writer, 3, 2, "x", "int64", false);
    lance_end(&writer);
    assert_ok(nt_source_open_memory(writer.out.bytes, writer.out.length, "test.lance", &source, NULL));
    const char *message = column_rows[_i].message;
    ck_assert_uint_eq(open_source(source), message ? NT_CORRUPT : NT_OK);
    ck_assert_msg(!message || strstr(error.message, message), "%s", error.message);
}

/* ---- blobs in lists, and what is packed ---- */

#define BLOB "lance-encoding:blob"
#define LISTED "cannot read lists around blobs: the file does not store where they begin"
enum { MAX_FIELDS = 6 };

static const struct described blobs[] = {{"l", "list", -1, true},
                                         {"item", "large_binary", 0, true},
                                         {"n", "int8", -1, true}},
                              blob_first[] = {{"l", "list.struct", -1, true},
                                              {"item", "struct", 0, true},
                                              {"b", "large_binary", 1, true},
                                              {"n", "int8", 1, true}},
                              blob_last[] = {{"l", "list.struct", -1, true},
                                             {"item", "struct", 0, true},
                                             {"n", "int8", 1, true},
                                             {"b", "large_binary", 1, true}},
                              fixed_first[] = {{"f", "fixed_size_list:struct:2", -1, true},
                                               {"item", "struct", 0, true},
                                               {"b", "large_binary", 1, true},
                                               {"n", "int8", 1, true}},
                              member[] = {{"s", "struct", -1, true}, {"b", "large_binary", 0, true}},
                              packed_list[] = {{"p", "struct", -1, true},
                                               {"n", "int8", 0, true},
                                               {"l", "list", 0, true},
                                               {"item", "int8", 2, true}},
                              packed_fixed[] = {{"p", "struct", -1, true},
                                                {"f", "fixed_size_list:struct:2", 0, true},
                                                {"item", "struct", 1, true},
                                                {"n", "int8", 2, true}},
                              packed_structure[] = {{"p", "struct", -1, true},
                                                    {"a", "struct", 0, true},
                                                    {"x", "string", 1, true},
                                                    {"c", "string", 0, true}};

/* The fields that can be read, a bit each, and the reason for the others. */
static const struct {
    const struct described *fields;
    unsigned count;
    const char *keys[MAX_FIELDS];
    unsigned columns, blob_columns;
    uint16_t minor;
    unsigned are_read;
    const char *reason;
} unread[] = {
    {blobs, 3, {NULL, BLOB}, 2, 1, 1, 4, LISTED},
    {blob_first, 4, {NULL, NULL, BLOB}, 2, 1, 2, 11, LISTED},     /* the other member shows the list, */
    {blob_last, 4, {NULL, NULL, NULL, BLOB}, 2, 2, 2, 7, LISTED}, /* whichever is first */
    {fixed_first, 4, {NULL, NULL, BLOB}, 2, 1, 2, 15, NULL},
    {fixed_first, 3, {NULL, NULL, BLOB}, 1, 1, 2, 6, LISTED},
    {blobs, 2, {NULL, BLOB}, 2, 0, 0, 3, NULL},
    {member, 2, {NULL, BLOB}, 1, 1, 1, 3, NULL},
    {packed_list, 4, {"packed"}, 1, 0, 1, 3, "cannot read lists in packed structures"},
    {packed_fixed, 4, {"lance-encoding:packed"}, 1, 0, 2, 1, "cannot read lists in packed structures"},
    {packed_structure,
     4,
     {"packed"},
     1,
     0,
     2,
     11,
     "cannot read structures within packed structures with strings"},
};

TEST(what_cannot_be_reported_is_unreadable_and_nothing_else, .teardown = tear_down,
     .end = sizeof(unread) / sizeof(*unread))
{
    assert_ok(open_marked_schema(unread[_i].fields, unread[_i].keys, unread[_i].count, unread[_i].columns,
                                 unread[_i].blob_columns, unread[_i].minor));
    const struct nt_dataset *dataset = file->datasets[0];
    for (uint32_t i = 0; i < unread[_i].count; i++) {
        bool is_read = unread[_i].are_read >> i & 1;
        ck_assert_msg((dataset->fields[i].kind != NT_FIELD_UNREADABLE) == is_read, "%d: %s", _i, path_of(i));
        if (!is_read)
            ck_assert_str_eq(dataset->fields[i].unreadable, unread[_i].reason);
    }
}

/* In datasets, blobs are described by what is below them. */
TEST(descriptions_of_blobs_have_members_that_no_schema_says, .teardown = tear_down, .end = 2)
{
    static const struct described of_file[] = {{"b", "struct", -1, true}, {"n", "int8", -1, true}},
                                  of_dataset[] = {{"b", "struct", -1, true},
                                                  {"data", "large_binary", 0, true},
                                                  {"uri", "string", 0, true},
                                                  {"n", "int8", -1, true}};
    static const struct expected expected[] = {
        {"b", NT_FIELD_RECORD, 0, 0, 0, 1, true},         {"b/kind", NT_FIELD_VALUE, 0, 0, 0, 1, true},
        {"b/position", NT_FIELD_VALUE, 0, 0, 0, 1, true}, {"b/size", NT_FIELD_VALUE, 0, 0, 0, 1, true},
        {"b/blob_id", NT_FIELD_VALUE, 0, 0, 0, 1, true},  {"b/blob_uri", NT_FIELD_STRING, 0, 0, 0, 1, true},
        {"n", NT_FIELD_VALUE, 1, 0, 0, 1, true},
    };
    static const char *const types[] = {"struct", "uint8", "uint64", "uint64", "uint32", "string", "int8"};
    static const char *const keys[] = {BLOB, NULL, NULL, NULL};
    assert_ok(_i ? open_marked_schema(of_dataset, keys, 4, 2, 0, 2)
                 : open_marked_schema(of_file, keys, 2, 2, 0, 2));
    check_fields(expected, 7);
    const struct nt_dataset *dataset = file->datasets[0];
    uint32_t count;
    for (uint32_t i = 0; i < 7; i++) {
        ck_assert(nt_text_is(dataset->fields[i].type, types[i]));
        ck_assert_uint_eq(dataset->fields[i].id, i < 6 ? 0 : _i ? 3 : 1);
        nt_field_properties(&dataset->fields[i], &count);
        ck_assert_uint_eq(count, i ? 0 : 2);
    }
    /* As Lance's reader returns them: */
    const struct nt_property *properties = nt_field_properties(&dataset->fields[0], &count);
    ck_assert(nt_text_is(properties[0].key, "lance-encoding:blob") &&
              nt_text_is(properties[0].value, "true"));
    ck_assert(nt_text_is(properties[1].key, "lance-encoding:packed") &&
              nt_text_is(properties[1].value, "true"));
}

TEST(items_of_lists_that_overflow_are_refused, .teardown = tear_down)
{
    static const struct described values[] = {
        {"v", "fixed_size_list:fixed_size_list:fixed_size_list:int8:4294967295:4294967295:4294967295", -1,
         true}};
    static const struct described structures[] = {
        {"a", "fixed_size_list:struct:4294967295", -1, true},
        {"item", "struct", 0, true},
        {"b", "fixed_size_list:struct:4294967295", 1, true},
        {"item", "struct", 2, true},
        {"c", "fixed_size_list:struct:4294967295", 3, true},
        {"item", "struct", 4, true},
        {"x", "int8", 5, true},
    };
    ck_assert_uint_eq(open_schema(values, 1, 1, 2), NT_LIMIT);
    ck_assert_msg(strstr(error.message, "number of items of fixed-size lists overflows"), "%s",
                  error.message);
    lance_deinit(&writer);
    ck_assert_uint_eq(open_schema(structures, 7, 1, 2), NT_LIMIT);
    ck_assert_msg(strstr(error.message, "field 5: the number of items of fixed-size lists overflows"), "%s",
                  error.message);
}

/* As in data files with described blobs. */
TEST(fields_without_an_id_are_none, .teardown = tear_down)
{
    struct nt_source *source;
    lance_begin(&writer, 2, 2, 0);
    lance_field(&writer, 0, -1, "a", "int64", false);
    lance_field(&writer, -1, -1, "kind", "uint8", false);
    lance_field(&writer, -1, -1, "position", "uint64", false);
    lance_field(&writer, 1, -1, "b", "int8", false);
    lance_column(&writer);
    lance_column(&writer);
    lance_end(&writer);
    assert_ok(nt_source_open_memory(writer.out.bytes, writer.out.length, "test.lance", &source, NULL));
    assert_ok(open_source(source));
    ck_assert_uint_eq(file->datasets[0]->field_count, 2);
    ck_assert_str_eq(path_of(1), "b");
    ck_assert_uint_eq(nt_lance_map_own_column(nt_lance_of(file->datasets[0]), 1).column, 1);
}

/* ---- what does not fit ---- */

TEST(fewer_or_more_columns_than_the_schema_needs_are_corrupt, .teardown = tear_down, .end = 2)
{
    ck_assert_uint_eq(open_schema(nested, NESTED, 4 + 2 * (unsigned)_i, 1), NT_CORRUPT);
    ck_assert_msg(strstr(error.message, "columns that the schema declares: expected 5"), "%s", error.message);
    ck_assert_uint_ne(error.offset, NT_NO_OFFSET);
}

TEST(a_type_that_is_too_deep_is_refused_by_its_field, .teardown = tear_down)
{
    char type[17 * 18 + 16] = "";
    for (unsigned i = 0; i < 17; i++)
        strcat(type, "fixed_size_list:");
    strcat(type, "int8");
    for (unsigned i = 0; i < 17; i++)
        strcat(type, ":2");
    const struct described fields[] = {{"a", "int8", -1, false}, {"deep", type, -1, false}};
    ck_assert_uint_eq(open_schema(fields, 2, 2, 1), NT_LIMIT);
    ck_assert_msg(strstr(error.message, "schema: field 1: fixed-size lists"), "%s", error.message);
}
