/* SPDX-License-Identifier: MIT
 *
 * Opening a path with the table of formats: which formats are tried, messages of refusals, older and newer
 * callers.
 */
#include <ntuple/format.h>
#include <string.h>

#include "core/model/model.h"
#include "formats/formats.h"
#include "temporary.h"
#include "tfile_writer.h"

static struct nt_error error;

static enum nt_status open_path(const char *path, const char *format)
{
    struct nt_open_options options = {.struct_bytes = sizeof(options), .format = format};
    struct nt_file *file = NULL;
    enum nt_status status = nt_file_open(path, &options, &file, &error);
    if (status == NT_OK)
        nt_file_close(file);
    return status;
}

static void assert_says(const char *part)
{
    ck_assert_msg(strstr(error.message, part) != NULL, "no '%s' in: %s", part, error.message);
}

TEST(a_foreign_file_is_refused_by_its_name, .setup = temporary_setup, .teardown = temporary_teardown)
{
    const char *path = temporary_file("x", "PAR1....PAR1", 12);
    assert_status(NT_NOT_THIS_FORMAT, open_path(path, NULL));
    assert_says(path);
    assert_says("a Parquet file");
    assert_status(NT_NOT_THIS_FORMAT, open_path(path, "roaring"));
    assert_says("a Parquet file");
    assert_says("roaring");
    ck_assert_ptr_null(strstr(error.message, "rntuple"));
}

TEST(bytes_that_say_nothing_are_of_an_unknown_kind, .setup = temporary_setup, .teardown = temporary_teardown)
{
    const char *path = temporary_file("x", "\x01\x02\xff", 3);
    assert_status(NT_NOT_THIS_FORMAT, open_path(path, NULL));
    assert_says(path);
    assert_says("a file of an unknown kind");
    assert_says("rntuple, ttree, blz, lance, roaring");
    assert_status(NT_NOT_THIS_FORMAT, open_path(path, "roaring"));
    assert_says("not a Roaring bitmap: 3 bytes");
}

TEST(a_text_that_begins_with_a_magic_word_is_a_text, .setup = temporary_setup, .teardown = temporary_teardown)
{
    static const char text[] = "root:x:0:0:root:/root:/bin/bash\n";
    assert_status(NT_NOT_THIS_FORMAT, open_path(temporary_file("x", text, strlen(text)), NULL));
    assert_says("a text file");
}

/* A ROOT file with these keys, whose objects are empty. */
static const char *save_root(const char *name, const char *const *classes)
{
    struct tfile_writer writer;
    tfile_writer_init(&writer, TFILE_SMALL);
    for (; *classes; classes++)
        tfile_writer_object(&writer, 0, *classes, *classes, 1, "", 0);
    tfile_writer_finish(&writer);
    const char *path = temporary_file(name, writer.out.bytes, writer.out.length);
    tfile_writer_deinit(&writer);
    return path;
}

static bool may_be(const char *path, const char *format)
{
    struct nt_source *source;
    assert_status(NT_OK, nt_source_open_file(path, &source, &error));
    bool may_be = nt_may_be_data_file(source, format);
    nt_source_close(source);
    return may_be;
}

TEST(a_few_bytes_say_whether_a_file_is_worth_opening, .setup = temporary_setup,
     .teardown = temporary_teardown)
{
    static const char *const trees[] = {"TTree", NULL};
    static const char empty_bitmap[8] = "\x3a\x30\0\0\0\0\0\0", lance[16] = "............LANC";
    const char *path = save_root("trees", trees);
    ck_assert(may_be(path, NULL) && may_be(path, "rntuple") && may_be(path, "ttree"));
    ck_assert(!may_be(path, "blz"));
    path = temporary_file("bitmap", empty_bitmap, sizeof(empty_bitmap));
    ck_assert(may_be(path, NULL) && may_be(path, "roaring"));
    path = temporary_file("lance", lance, sizeof(lance));
    ck_assert(may_be(path, NULL) && may_be(path, "lance"));
    ck_assert(may_be(temporary_file("chunks", "blpk", 4), NULL));
    ck_assert(!may_be(temporary_file("empty", "", 0), NULL));
    ck_assert(!may_be(temporary_file("text", "PAR1 is a text\n", 15), NULL));
}

TEST(a_root_file_is_offered_to_the_requested_format, .setup = temporary_setup, .teardown = temporary_teardown)
{
    static const char *const trees[] = {"TTree", "TNtuple", "TH1F", NULL}, *const none[] = {"TH1F", NULL},
                             *const rntuple[] = {"ROOT::RNTuple", "TH1F", NULL};
    const char *path = save_root("trees", trees);
    assert_status(NT_NOT_THIS_FORMAT, open_path(path, "rntuple"));
    assert_says("a ROOT file without an RNTuple: it holds 1 TTree, 1 TNtuple, 1 TH1F");
    path = save_root("rntuple", rntuple);
    assert_status(NT_NOT_THIS_FORMAT, open_path(path, "ttree"));
    assert_says("a ROOT file without a TTree: it holds 1 ROOT::RNTuple, 1 TH1F");
    path = save_root("none", none);
    assert_status(NT_NOT_THIS_FORMAT, open_path(path, NULL));
    assert_says("a ROOT file without an RNTuple or a TTree: it holds 1 TH1F");
    ck_assert_ptr_null(strstr(error.message, "; ")); /* the other formats say nothing */
}

/* Its list of keys is longer than their number says, as if a key were lost. */
TEST(a_root_file_without_a_dataset_names_its_classes_also_if_a_key_may_be_lost, .setup = temporary_setup,
     .teardown = temporary_teardown)
{
    enum { COUNT_OF_KEYS = 29 }; /* in the record of the list */
    struct tfile_writer writer;
    tfile_writer_init(&writer, TFILE_SMALL);
    tfile_writer_object(&writer, 0, "TH1F", "h", 1, "", 0);
    tfile_writer_object(&writer, 0, "TH2D", "h2", 1, "", 0);
    tfile_writer_finish(&writer);
    tfile_writer_put32(&writer, writer.directories[0].keys + COUNT_OF_KEYS, 1);
    const char *path = temporary_file("lost", writer.out.bytes, writer.out.length);
    tfile_writer_deinit(&writer);
    assert_status(NT_NOT_THIS_FORMAT, open_path(path, NULL));
    assert_says("a ROOT file without an RNTuple or a TTree: it holds 1 TH1F");
    assert_status(NT_NOT_THIS_FORMAT, open_path(path, "rntuple"));
    assert_says("a ROOT file without an RNTuple: it holds 1 TH1F");
}

TEST(a_file_whose_trees_all_fail_says_why, .setup = temporary_setup, .teardown = temporary_teardown)
{
    static const char *const trees[] = {"TTree", "TNtuple", NULL};
    const char *path = save_root("trees", trees);
    struct nt_open_options options = {.struct_bytes = sizeof(options), .open_broken = true};
    struct nt_file *file;
    enum nt_status status = open_path(path, NULL);
    ck_assert_int_ne(status, NT_OK);
    ck_assert_int_ne(status, NT_NOT_THIS_FORMAT);
    ck_assert_str_ne(error.message, "");
    assert_status(status, open_path(path, "ttree"));
    assert_ok(nt_file_open(path, &options, &file, &error));
    ck_assert_ptr_nonnull(file->failure);
    ck_assert_str_eq(file->format->name, "ttree");
    ck_assert_uint_eq(file->dataset_count, 2);
    for (uint32_t i = 0; i < 2; i++)
        ck_assert_int_eq(file->datasets[i]->failure->status, status);
    nt_file_close(file);
}

TEST(a_directory_is_offered_to_formats_that_take_directories_only, .setup = temporary_setup,
     .teardown = temporary_teardown)
{
    const char *path = temporary_path("directory");
    ck_assert_int_eq(mkdir(path, 0700), 0);
    assert_status(NT_NOT_THIS_FORMAT, open_path(path, NULL));
    assert_says(path);
    assert_says("a directory of an unknown kind");
    ck_assert_ptr_null(strstr(error.message, "rntuple"));
    ck_assert_ptr_null(strstr(error.message, "Roaring"));
    assert_status(NT_NOT_THIS_FORMAT, open_path(path, "roaring"));
    assert_says("is a directory");
}

TEST(a_format_that_does_not_exist_is_a_mistake_in_the_command, .setup = temporary_setup,
     .teardown = temporary_teardown)
{
    assert_status(NT_INVALID, open_path(temporary_file("x", "x", 1), "rotuple"));
    assert_says("'rotuple'");
}

TEST(a_file_that_does_not_exist_is_not_found, .setup = temporary_setup, .teardown = temporary_teardown)
{
    assert_status(NT_NOT_FOUND, open_path(temporary_path("nothing"), NULL));
}

TEST(each_format_can_be_requested_by_its_name, .setup = temporary_setup, .teardown = temporary_teardown)
{
    const char *path = temporary_file("x", "PAR1....PAR1", 12);
    uint32_t count = 0;
    for (; nt_format_name(count); count++) {
        ck_assert_str_ne(nt_format_description(count), "");
        assert_status(NT_NOT_THIS_FORMAT, open_path(path, nt_format_name(count)));
    }
    ck_assert_uint_ge(count, 3);
    ck_assert_ptr_null(nt_format_description(count));
    ck_assert_ptr_null(nt_format_name(UINT32_MAX));
}

TEST(an_older_caller_s_options_end_where_it_says, .setup = temporary_setup, .teardown = temporary_teardown)
{
    const char *path = temporary_file("x", "PAR1....PAR1", 12);
    struct nt_open_options options = {.struct_bytes = offsetof(struct nt_open_options, format),
                                      .format = "not one of its members"};
    struct nt_file *file;
    assert_status(NT_NOT_THIS_FORMAT, nt_file_open(path, &options, &file, &error));
}

TEST(unknown_members_of_a_newer_caller_are_refused, .setup = temporary_setup, .teardown = temporary_teardown)
{
    const char *path = temporary_file("x", "PAR1....PAR1", 12);
    struct {
        struct nt_open_options options;
        uint64_t unknown;
    } newer = {NT_OPEN_OPTIONS_INIT, 0};
    struct nt_file *file;
    newer.options.struct_bytes = sizeof(newer);
    assert_status(NT_NOT_THIS_FORMAT, nt_file_open(path, &newer.options, &file, &error));
    newer.unknown = 1;
    assert_status(NT_INVALID, nt_file_open(path, &newer.options, &file, &error));
    assert_says("nt_open_options");
}
