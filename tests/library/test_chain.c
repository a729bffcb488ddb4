/* SPDX-License-Identifier: MIT
 *
 * Many files as one, with an index of their entries: which files are opened, and what is read from them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntuple/ntuple.h>

#include "support.h"

/* Each file of tests/data/compression_*.root has these (see tests/data/compression_none.json). */
enum { FILES = 3, ENTRIES = 1000 };

/* The status, and a part of the message. */
#define refuses(expected, part, expression)                                                                  \
    do {                                                                                                     \
        assert_status(expected, expression);                                                                 \
        ck_assert_msg(strstr(error.message, part), "%s", error.message);                                     \
    } while (0)

static struct nt_error error;
static char folder[64], index_path[128], pattern[128];

static void copy(const char *name, const char *target)
{
    char command[512];
    snprintf(command, sizeof(command), "cp '%s/%s' '%s/%s'", getenv("NTUPLE_TEST_DATA"), name, folder,
             target);
    ck_assert_int_eq(system(command), 0);
}

static void set_up(void)
{
    strcpy(folder, "/tmp/ntuple-library-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(index_path, sizeof(index_path), "%s/index.jsonl", folder);
    snprintf(pattern, sizeof(pattern), "%s/*.root", folder);
    copy("compression_none.root", "a.root");
    copy("compression_lz4.root", "b.root");
    copy("compression_zstd.root", "c.root");
}

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -r '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static enum nt_status open_with(unsigned flags, struct nt_file **file_ret)
{
    struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    const char *const names[] = {pattern};
    options.index = index_path;
    return nt_file_open_chain(names, 1, &options, flags, file_ret, &error);
}

static struct nt_dataset *find(struct nt_file *file)
{
    struct nt_dataset *dataset;
    assert_ok(nt_file_find(file, "compressed", &dataset, &error));
    return dataset;
}

/* Overwrites a file in place, with the same size and times, so that only opening it shows this. */
static void ruin(const char *name)
{
    char path[128];
    struct stat attributes;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    ck_assert_int_eq(stat(path, &attributes), 0);
    int descriptor = open(path, O_WRONLY);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(pwrite(descriptor, "ruined", 6, 0), 6);
    const struct timespec times[] = {attributes.st_atim, attributes.st_mtim};
    ck_assert_int_eq(futimens(descriptor, times), 0);
    close(descriptor);
}

static void learn(void)
{
    struct nt_file *file;
    assert_ok(open_with(0, &file));
    ck_assert_uint_eq(nt_dataset_entries(find(file)), FILES * ENTRIES);
    nt_file_close(file);
    ck_assert_int_eq(access(index_path, R_OK), 0);
}

static enum nt_status read_last(struct nt_file *file, uint64_t *value_ret)
{
    struct nt_reader *reader;
    struct nt_stream *stream = NULL;
    uint32_t field;
    assert_ok(nt_reader_new(NULL, &reader, &error));
    assert_ok(nt_dataset_find(find(file), "ramp", &field, &error));
    enum nt_status status = nt_stream_open(reader, find(file), field, NT_STREAM_DATA, &stream, &error);
    if (status == NT_OK)
        status = nt_stream_read_elements(stream, FILES * ENTRIES - 1, 1, value_ret, &error);
    nt_stream_close(stream);
    nt_reader_free(reader);
    return status;
}

static enum nt_status export_all(struct nt_file *file)
{
    struct nt_reader *reader;
    struct nt_arrow *arrow = NULL;
    assert_ok(nt_reader_new(NULL, &reader, &error));
    enum nt_status status = nt_arrow_new(reader, find(file), NULL, &arrow, &error);
    nt_arrow_free(arrow);
    nt_reader_free(reader);
    return status;
}

TEST(a_chain_says_which_files_it_skipped, .setup = set_up, .teardown = tear_down)
{
    struct nt_file *file;
    assert_ok(open_with(NT_CHAIN_SKIP_FAILED, &file));
    assert_ok(nt_file_check_skipped(file, &error));
    nt_file_close(file);
    ruin("b.root");
    ck_assert_int_eq(unlink(index_path), 0);
    assert_ok(open_with(NT_CHAIN_SKIP_FAILED, &file));
    assert_status(NT_NOT_THIS_FORMAT, nt_file_check_skipped(file, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "1 of 3 files is skipped: "));
    ck_assert_ptr_nonnull(strstr(error.message, "b.root: "));
    ck_assert_uint_eq(nt_dataset_entries(find(file)), (FILES - 1) * ENTRIES);
    nt_file_close(file);
}

TEST(the_values_of_known_files_are_in_the_complete_file, .setup = set_up, .teardown = tear_down)
{
    struct nt_file *file, *complete, *again;
    const struct nt_entry_range all = {0, 1};
    uint64_t value = 0;
    learn();
    assert_ok(open_with(0, &file));
    ck_assert_uint_eq(nt_dataset_entries(find(file)), FILES * ENTRIES);
    refuses(NT_INVALID, "nt_file_resolve", read_last(file, &value));
    refuses(NT_INVALID, "nt_file_resolve", nt_dataset_select(find(file), &all, 1, &error));
    refuses(NT_INVALID, "nt_file_resolve", export_all(file));
    assert_ok(nt_file_resolve(file, &complete, &error));
    ck_assert_ptr_ne(complete, file);
    assert_ok(nt_file_resolve(file, &again, &error));
    ck_assert_ptr_eq(complete, again);
    assert_ok(nt_file_resolve(complete, &again, &error));
    ck_assert_ptr_eq(complete, again);
    ck_assert_uint_eq(nt_dataset_entries(find(complete)), FILES * ENTRIES);
    assert_ok(read_last(complete, &value));
    assert_ok(export_all(complete));
    ck_assert_uint_eq(value, 249); /* compression_zstd.json: row 999 */
    nt_file_close(file);
}

TEST(known_files_are_not_opened_before, .setup = set_up, .teardown = tear_down)
{
    struct nt_file *file, *complete;
    uint64_t value;
    learn();
    ruin("c.root");
    assert_ok(open_with(0, &file));
    ck_assert_uint_eq(nt_dataset_entries(find(file)), FILES * ENTRIES);
    assert_ok(nt_file_resolve(file, &complete, &error));
    ck_assert_int_ne(read_last(complete, &value), NT_OK);
    ck_assert_msg(strstr(error.message, "c.root"), "%s", error.message);
    nt_file_close(file);
    ck_assert_int_ne(open_with(NT_CHAIN_UNION_FIELDS, &file), NT_OK);
}

TEST(an_index_that_others_may_write_is_refused, .setup = set_up, .teardown = tear_down)
{
    struct nt_file *file;
    learn();
    ck_assert_int_eq(chmod(index_path, 0666), 0);
    refuses(NT_INVALID, "index.jsonl", open_with(0, &file));
    ck_assert_int_eq(chmod(index_path, 0644), 0);
    ck_assert_int_eq(chmod(folder, 0777), 0);
    refuses(NT_INVALID, folder, open_with(0, &file));
}

TEST(a_file_that_is_no_index_stays_as_it_is, .setup = set_up, .teardown = tear_down)
{
    struct nt_file *file;
    char text[32] = {0};
    FILE *other = fopen(index_path, "w+");
    ck_assert_ptr_nonnull(other);
    fputs("a letter\n", other);
    fflush(other);
    refuses(NT_INVALID, "is not an index of files", open_with(0, &file));
    rewind(other);
    ck_assert_ptr_nonnull(fgets(text, sizeof(text), other));
    ck_assert_str_eq(text, "a letter\n");
    fclose(other);
}

TEST(an_index_that_cannot_be_written_is_no_failure, .setup = set_up, .teardown = tear_down)
{
    struct nt_file *file;
    snprintf(index_path, sizeof(index_path), "/proc/index.jsonl");
    assert_ok(open_with(0, &file));
    ck_assert_uint_eq(nt_dataset_entries(find(file)), FILES * ENTRIES);
    nt_file_close(file);
}

TEST(other_files_are_complete, .setup = set_up, .teardown = tear_down)
{
    struct nt_file *file, *complete;
    char path[128];
    snprintf(path, sizeof(path), "%s/a.root", folder);
    assert_ok(nt_file_open(path, NULL, &file, &error));
    assert_ok(nt_file_resolve(file, &complete, &error));
    ck_assert_ptr_eq(file, complete);
    nt_file_close(file);
}
