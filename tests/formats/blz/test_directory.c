/* SPDX-License-Identifier: MIT
 *
 * Tables: directories of arrays.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ntuple/format.h>

#include "blz_files.h"

TEST(a_table_has_its_columns_in_its_own_order, .setup = set_up, .teardown = tear_down)
{
    put_text("t/__rootdirs__", "{\"names\": [\"z\", \"a b\", \"inner\"], \"dirs\": {\"z\": \"elsewhere\"}}");
    put_text("t/__attrs__", "{\"title\": \"x\"}\n");
    put_integers("t/elsewhere");
    put_integers("t/a b");
    put_integers("t/stray");
    put_text("t/inner/__rootdirs__", "{\"names\": [\"deep\"]}");
    put_integers("t/inner/deep");
    struct nt_file *file = open_path("t");
    struct nt_dataset *dataset = file->datasets[0];
    uint32_t count;
    const uint32_t *top = nt_dataset_children(dataset, NT_NONE, &count);
    ck_assert_uint_eq(count, 3);
    ck_assert_str_eq(dataset->fields[top[0]].name.bytes, "z");
    ck_assert_str_eq(dataset->fields[top[1]].name.bytes, "a b");
    check_rows(dataset, "z", 0, 0);
    check_rows(dataset, "a b", 0, 0);
    check_rows(dataset, "inner/deep", 0, 0);
    close_file(file);
}

static void count_corrupt(void *context, const struct nt_error *failure)
{
    ck_assert_int_eq(failure->status, NT_CORRUPT);
    ++*(unsigned *)context;
}

TEST(columns_that_cannot_be_opened_are_reported_also_where_all_are, .setup = set_up, .teardown = tear_down)
{
    put_text("t/__rootdirs__", "{\"names\": [\"inner\", \"gone\"]}");
    put_text("t/inner/__rootdirs__", "{\"names\": [\"gone\"]}");
    struct nt_file *file = open_path("t");
    unsigned reported = 0;
    assert_ok(file->check(file, count_corrupt, &reported, &error));
    ck_assert_uint_eq(reported, 2);
    close_file(file);
    put_integers("t/gone");
    put_integers("t/inner/gone");
    file = open_path("t");
    reported = 0;
    assert_ok(file->check(file, count_corrupt, &reported, &error));
    ck_assert_uint_eq(reported, 0);
    put_text("t/gone/__attrs__", "{");
    close_file(file);
    file = open_path("t");
    assert_ok(file->check(file, count_corrupt, &reported, &error));
    ck_assert_uint_eq(reported, 1);
    close_file(file);
}

/* "Here there can be as many files as necessary": all other files of meta/ are shown, except hidden
 * ones. */
TEST(unknown_files_of_metadata_are_shown, .setup = set_up, .teardown = tear_down)
{
    struct nt_buffer text = {0};
    put_integers("a");
    put_text("a/meta/units", "{\"values\": \"GeV\", \"big\": 123456789012345678901234567890}");
    put_text("a/meta/list", "[1, NaN]");
    put_text("a/meta/notes", "no JSON");
    put_text("a/meta/._units", "\xff");
    put_text("a/meta/below/more", "1");
    struct nt_file *file = open_path("a");
    const struct nt_dataset *dataset = file->datasets[0];
    assert_ok(dataset->documents[0].write(&(struct nt_document_request){dataset->documents, file, dataset, 0},
                                          &text, &error));
    json_t *document = json_loadb(text.bytes, text.length, 0, NULL),
           *meta = json_object_get(document, "meta");
    ck_assert_uint_eq(json_array_size(meta), 3);
    json_t *unreadable = json_object_get(json_array_get(meta, 1), "unreadable");
    ck_assert_msg(strstr(json_string_value(unreadable), "meta/notes") != NULL, "%s",
                  json_string_value(unreadable));
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(meta, 2), "name")), "units");
    json_t *content = json_object_get(json_array_get(meta, 2), "content");
    ck_assert_str_eq(json_string_value(json_object_get(content, "values")), "GeV");
    ck_assert_str_eq(json_string_value(json_object_get(content, "big")), "123456789012345678901234567890");
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(meta, 0), "name")), "list");
    ck_assert_uint_eq(json_array_size(json_object_get(json_array_get(meta, 0), "content")), 2);
    json_decref(document);
    nt_buffer_deinit(&text);
    check_rows(file->datasets[0], "values", 0, 0);
    close_file(file);
}

TEST(a_column_that_cannot_be_opened_leaves_the_others, .setup = set_up, .teardown = tear_down)
{
    put_text("t/__rootdirs__", "{\"names\": [\"good\", \"gone\", \"odd\", \"..\", \"up\", \"/tmp\"], "
                               "\"dirs\": {\"up\": \"x/../../t/good\"}}");
    put_integers("t/good");
    put_integers("t/odd");
    put_text("t/odd/meta/storage", "{\"dtype\": \"int33\"}");
    struct nt_file *file = open_path("t");
    struct nt_dataset *dataset = file->datasets[0];
    check_rows(dataset, "good", 0, 0);
    for (uint32_t i = 1; i < dataset->field_count; i++) {
        ck_assert_int_eq(dataset->fields[i].kind, NT_FIELD_UNREADABLE);
        ck_assert_ptr_nonnull(dataset->fields[i].unreadable);
    }
    close_file(file);
}

TEST(a_column_that_is_shorter_fails_where_it_ends, .setup = set_up, .teardown = tear_down)
{
    put_text("t/__rootdirs__", "{\"names\": [\"long\", \"short\"]}");
    put_integers("t/long");
    put_integers("t/short");
    put_metadata("t/short", "int32", "[200]", CHUNK_ROWS);
    struct nt_file *file = open_path("t");
    check_rows(file->datasets[0], "long", 0, 0);
    check_rows(file->datasets[0], "short", 200, 350);
    close_file(file);
}

/* ---- directories that lead back, or out ---- */

static void put_link(const char *target, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    unlink(path);
    ck_assert_int_eq(symlink(target, path), 0);
}

static const char *reason(const struct nt_dataset *dataset, const char *field)
{
    const struct nt_field *found = &dataset->fields[find_field(dataset, field)];
    ck_assert_msg(found->unreadable != NULL, "%s can be read", field);
    return found->unreadable;
}

TEST(a_column_is_below_its_table, .setup = set_up, .teardown = tear_down, .end = 8)
{
    static const char *const directories[] = {".",           "",       "inner/.", "./inner",
                                              "inner//deep", "inner/", "..",      "/"};
    char text[256];
    snprintf(text, sizeof(text), "{\"names\": [\"a\"], \"dirs\": {\"a\": \"%s\"}}", directories[_i]);
    put_text("t/__rootdirs__", text);
    put_integers("t/inner");
    put_integers("t/inner/deep");
    struct nt_file *file = open_path("t");
    ck_assert_uint_eq(file->datasets[0]->field_count, 1);
    snprintf(text, sizeof(text), "t: the column's directory, '%s'", directories[_i]);
    ck_assert_msg(strstr(reason(file->datasets[0], "a"), text) != NULL, "%s", reason(file->datasets[0], "a"));
    close_file(file);
}

/* The column 'a' with its metadata, or a replacement of it, and the expected message. */
static const struct {
    const char *storage, *sizes, *message;
} metadata[] = {
    {"[]", "{\"shape\": [350]}", "t/a/meta/storage: not a JSON object"},
    {"{", "{\"shape\": [350]}", "t/a/meta/storage"},
    {"{\"dtype\": \"int32\"}", "5", "t/a/meta/sizes: not a JSON object"},
    {"{}", "{\"shape\": [350]}", "t/a: meta/storage has no dtype"},
    {"{\"dtype\": 5}", "{\"shape\": [350]}", "t/a: meta/storage has no dtype"},
    {"{\"dtype\": \"int33\"}", "{\"shape\": [350]}", "int33"},
    {"{\"dtype\": \"int32\"}", "{}", "t/a: the shape is not a list of up to 32 integers"},
    {"{\"dtype\": \"int32\"}",
     "{\"shape\": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
     "1, 1, 1]}",
     "t/a: the shape is not a list of up to 32 integers"},
    {"{\"dtype\": \"int32\"}", "{\"shape\": [\"350\"]}", "t/a: a dimension of the shape is not a valid size"},
    {"{\"dtype\": \"int32\"}", "{\"shape\": [350]}", "t/a/data: the storage has no chunklen"},
    {"{\"dtype\": \"int32\", \"chunklen\": 1}", "{\"shape\": [100000]}",
     "t/a/data: 100000 rows need 100000 chunk files, found 4"},
    {"{\"dtype\": \"[('in', 'i1'), ('..', 'i1')]\", \"chunklen\": 350}", "{\"shape\": [350]}",
     "t/a: the name of member 1 cannot be the name of a directory"},
    {"{\"dtype\": \"[('in', 'i1'), ('x/y', 'i1')]\", \"chunklen\": 350}", "{\"shape\": [350]}",
     "t/a: the name of member 1 cannot be the name of a directory"},
};

TEST(what_is_wrong_with_a_columns_metadata_is_reported, .setup = set_up, .teardown = tear_down,
     .end = sizeof(metadata) / sizeof(*metadata))
{
    put_text("t/__rootdirs__", "{\"names\": [\"a\", \"good\"]}");
    put_integers("t/good");
    put_integers("t/a");
    put_text("t/a/data/in/file", ""); /* the directory of a member */
    put_text("t/a/meta/storage", metadata[_i].storage);
    put_text("t/a/meta/sizes", metadata[_i].sizes);
    struct nt_file *file = open_path("t");
    const char *why = reason(file->datasets[0], "a");
    ck_assert_msg(strstr(why, metadata[_i].message) != NULL, "%s", why);
    check_rows(file->datasets[0], "good", 0, 0);
    close_file(file);
}

/* The table 'in' below the opened one. */
static const struct {
    const char *names, *message;
} lists[] = {{"{\"names\": 5}", "t/in/__rootdirs__: expected a list of names"},
             {"{}", "t/in/__rootdirs__: expected a list of names"},
             {"[\"a\"]", "t/in/__rootdirs__: expected a list of names"},
             {"{\"names\": [\"a\", 5]}", "t/in/__rootdirs__: a name is not a string"},
             {"{\"names\"", "t/in/__rootdirs__"}};

TEST(a_table_without_a_list_of_names_is_reported, .setup = set_up, .teardown = tear_down,
     .end = sizeof(lists) / sizeof(*lists))
{
    put_text("t/__rootdirs__", "{\"names\": [\"in\", \"good\"]}");
    put_text("t/in/__rootdirs__", lists[_i].names);
    put_integers("t/good");
    struct nt_file *file = open_path("t");
    const char *why = reason(file->datasets[0], "in");
    ck_assert_msg(strstr(why, lists[_i].message) != NULL, "%s", why);
    check_rows(file->datasets[0], "good", 0, 0);
    close_file(file);
}

/* Chunks of 100 bytes in the directories of members; one of them is a structure itself. */
TEST(a_column_may_have_its_members_in_directories_of_their_own, .setup = set_up, .teardown = tear_down)
{
    uint8_t values[100];
    size_t bytes;
    for (unsigned i = 0; i < sizeof(values); i++)
        values[i] = (uint8_t)i;
    put_text("t/__rootdirs__", "{\"names\": [\"a\"]}");
    put_metadata("t/a", "[('in', [('x', 'u1')]), ('y', 'u1')]", "[100]", 100);
    put_chunk("t/a", 0, values, sizeof(values), 1); /* left over: it belongs to no member */
    put_text("t/a/data/in/x/file", "");
    put_text("t/a/data/y/file", "");
    struct nt_file *file = open_path("t");
    const struct nt_field *field = &file->datasets[0]->fields[find_field(file->datasets[0], "a")];
    ck_assert_int_eq(field->kind, NT_FIELD_RECORD);
    ck_assert_str_eq(field->type.bytes, "[('in', [('x', 'u1')]), ('y', 'u1')]");
    struct nt_stream *stream;
    uint32_t member = find_field(file->datasets[0], "a/in/x");
    assert_ok(nt_stream_open(reader, file->datasets[0], member, NT_STREAM_DATA, &stream, &error));
    ck_assert_int_ne(nt_stream_read(stream, 0, &bytes, 1, &error), NT_OK); /* its chunk is missing */
    nt_stream_close(stream);
    close_file(file);
}

TEST(tables_are_not_nested_without_bound, .setup = set_up, .teardown = tear_down)
{
    enum { DEPTH = 40 };
    char name[256] = "t", list[300];
    for (unsigned depth = 0; depth < DEPTH; depth++) {
        snprintf(list, sizeof(list), "%s/__rootdirs__", name);
        put_text(list, "{\"names\": [\"x\"]}");
        strcat(name, "/x");
    }
    put_integers(name);
    struct nt_file *file = open_path("t");
    const struct nt_dataset *dataset = file->datasets[0];
    const struct nt_field *last = &dataset->fields[dataset->field_count - 1];
    ck_assert_uint_lt(dataset->field_count, DEPTH);
    ck_assert_msg(last->unreadable && strstr(last->unreadable, "tables are nested deeper than"), "%s",
                  last->unreadable ? last->unreadable : "it can be read");
    close_file(file);
}

TEST(a_directory_is_one_table_however_often_it_is_named, .setup = set_up, .teardown = tear_down)
{
    char name[256] = "t", names[300];
    for (unsigned depth = 0; depth < 20; depth++) { /* 2^20 tables if each was read twice */
        snprintf(names, sizeof(names), "%s/__rootdirs__", name);
        put_text(names, "{\"names\": [\"a\", \"b\"], \"dirs\": {\"a\": \"x\", \"b\": \"x\"}}");
        strcat(name, "/x");
    }
    put_integers(name);
    struct nt_file *file = open_path("t");
    ck_assert_uint_eq(file->datasets[0]->field_count, 40);
    const char *why = reason(file->datasets[0], "b");
    ck_assert_msg(strstr(why, "t/x: the table is the same directory as 'x'") != NULL, "%s", why);
    check_rows(file->datasets[0], "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/b", 0,
               0); /* an array may be two columns */
    close_file(file);
}

TEST(a_link_back_is_reported, .setup = set_up, .teardown = tear_down)
{
    put_text("t/__rootdirs__", "{\"names\": [\"good\", \"self\", \"inner\"]}");
    put_text("t/inner/__rootdirs__", "{\"names\": [\"back\", \"endless\"]}");
    put_integers("t/good");
    put_link(".", "t/self");
    put_link("../../t/inner/..", "t/inner/back");
    put_link("endless", "t/inner/endless");
    struct nt_file *file = open_path("t");
    struct nt_dataset *dataset = file->datasets[0];
    check_rows(dataset, "good", 0, 0);
    ck_assert_ptr_nonnull(strstr(reason(dataset, "self"), "t/self: the table is the same directory as ''"));
    ck_assert_ptr_nonnull(
        strstr(reason(dataset, "inner/back"), "t/inner/back: is a link out of the directory"));
    ck_assert_ptr_nonnull(strstr(reason(dataset, "inner/endless"), "t/inner/endless"));
    close_file(file);
}

TEST(links_are_followed_within_the_dataset_only, .setup = set_up, .teardown = tear_down)
{
    put_text("t/__rootdirs__", "{\"names\": [\"within\", \"column\", \"chunk\", \"meta\"]}");
    put_integers("t/store");
    put_integers("t/chunk");
    put_integers("t/meta");
    put_integers("outside");
    put_link("store", "t/within");
    put_link("../outside", "t/column");
    put_link("../../../outside/data/__1.blp", "t/chunk/data/__1.blp");
    put_link("../../../outside/meta/storage", "t/meta/meta/storage");
    struct nt_file *file = open_path("t");
    struct nt_dataset *dataset = file->datasets[0];
    check_rows(dataset, "within", 0, 0);
    check_rows(dataset, "chunk", 100, 200);
    ck_assert_ptr_nonnull(
        strstr(reason(dataset, "column"), "t/column: is a link out of the directory, to ../outside"));
    ck_assert_ptr_nonnull(
        strstr(reason(dataset, "meta"), "t/meta/meta/storage: is a link out of the directory"));
    close_file(file);
}

TEST(a_dataset_whose_own_metadata_is_elsewhere_is_refused_with_the_link, .setup = set_up,
     .teardown = tear_down)
{
    put_integers("a");
    put_integers("outside");
    put_link("../../outside/meta/storage", "a/meta/storage");
    ck_assert_int_eq(open_status("a"), NT_IO);
    ck_assert_ptr_nonnull(strstr(error.message, "a/meta/storage: is a link out of the directory"));
}

TEST(the_number_of_columns_is_bounded, .setup = set_up, .teardown = tear_down)
{
    struct nt_buffer names = {0};
    nt_buffer_append_string(&names, "{\"names\": [\"c\"");
    for (unsigned i = 0; i < 5000; i++)
        nt_buffer_append_string(&names, ", \"c\"");
    nt_buffer_append_string(&names, "]}");
    put_file("t/__rootdirs__", names.bytes, names.length);
    nt_buffer_deinit(&names);
    struct nt_file *file;
    char path[4096];
    snprintf(path, sizeof(path), "%s/t", root);
    struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    options.metadata_bytes = 1 << 20;
    assert_status(NT_LIMIT, nt_file_open(path, &options, &file, &error));
    ck_assert_msg(strstr(error.message, "fields") != NULL, "%s", error.message);
}
