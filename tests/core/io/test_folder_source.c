/* SPDX-License-Identifier: MIT
 *
 * A directory as a source without bytes.
 */
#include "core/io/folder.h"
#include "temporary.h"
#include "core/io/source.h"
#include <ntuple/source.h>

static struct nt_error error;
static struct nt_source *source;

static enum nt_status open_directory(const char *path)
{
    return nt_source_open_folder(path, NT_FOLDER_DATASET, &source, &error);
}

TEST(as_a_source_it_has_attributes_but_no_bytes, .setup = temporary_setup, .teardown = temporary_teardown)
{
    struct stat attributes;
    char byte;
    assert_ok(open_directory(temporary_directory));
    ck_assert_uint_eq(source->size, 0);
    ck_assert_ptr_nonnull(source->folder);
    assert_ok(nt_source_stat(source, &attributes, &error));
    ck_assert(S_ISDIR(attributes.st_mode));
    assert_ok(nt_source_read(source, 0, &byte, 0, &error));
    assert_status(NT_TRUNCATED, nt_source_read(source, 0, &byte, 1, &error));
    nt_source_close(source);
}

TEST(what_is_in_it_may_change_but_not_the_directory, .setup = temporary_setup, .teardown = temporary_teardown)
{
    const char *path = temporary_path("d");
    ck_assert_int_eq(mkdir(path, 0700), 0);
    assert_ok(open_directory(path));
    ck_assert_int_eq(mkdir(temporary_path("d/inner"), 0700), 0);
    assert_ok(nt_source_check(source, &error));
    ck_assert_int_eq(rename(path, temporary_path("moved")), 0);
    assert_status(NT_CHANGED, nt_source_check(source, &error));
    ck_assert_int_eq(mkdir(path, 0700), 0);
    assert_status(NT_CHANGED, nt_source_check(source, &error));
    bool has_inner;
    assert_ok(nt_folder_has_folder(source->folder, "inner", &has_inner, &error));
    ck_assert(has_inner); /* reads come from the opened file */
    nt_source_close(source);
}

TEST(only_directories_are_opened, .setup = temporary_setup, .teardown = temporary_teardown)
{
    assert_status(NT_INVALID, open_directory(temporary_file("f", "", 0)));
    assert_status(NT_NOT_FOUND, open_directory(temporary_path("missing")));
}
