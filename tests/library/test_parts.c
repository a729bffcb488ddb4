/* SPDX-License-Identifier: MIT
 *
 * The clusters and the files of a dataset, as lines for programs that divide the work.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ntuple/ntuple.h>

#include "support.h"

static struct nt_error error;
static struct nt_file *file;
static char text[16384];
static int lines_wanted;

static bool take(void *context, const char *bytes, size_t count)
{
    ck_assert_uint_lt(strlen(text) + count, sizeof(text));
    strncat(text, bytes, count);
    return --lines_wanted != 0;
}

static struct nt_dataset *open_one(const char *name, const char *dataset_path)
{
    char path[512];
    struct nt_dataset *dataset;
    snprintf(path, sizeof(path), "%s/%s", getenv("NTUPLE_TEST_DATA"), name);
    assert_ok(nt_file_open(path, NULL, &file, &error));
    assert_ok(nt_file_find(file, dataset_path, &dataset, &error));
    return dataset;
}

static void set_up(void)
{
    text[0] = '\0';
    lines_wanted = -1;
}

static void tear_down(void)
{
    nt_file_close(file);
}

/* The sum of a member over all lines. */
static unsigned long long total(const char *member)
{
    unsigned long long sum = 0;
    char key[64];
    snprintf(key, sizeof(key), "\"%s\":", member);
    for (const char *at = text; (at = strstr(at, key)); at += strlen(key))
        sum += strtoull(at + strlen(key), NULL, 10);
    return sum;
}

/* uproot: cluster_summaries of example.root has four clusters of 250 entries. */
TEST(clusters_follow_one_another, .setup = set_up, .teardown = tear_down)
{
    struct nt_dataset *dataset = open_one("example.root", "Events");
    assert_ok(nt_write_clusters(dataset, NULL, 0, take, NULL, &error));
    for (int i = 0; i < 4; i++) {
        char expected[64];
        snprintf(expected, sizeof(expected),
                 "{\"first_entry\":%d,\"entries\":250,\"stored_bytes\":", 250 * i);
        ck_assert_msg(strstr(text, expected), "%s is not in %s", expected, text);
    }
    ck_assert_uint_eq(total("entries"), 1000);
    ck_assert_ptr_null(strstr(text, "selected_entries"));
}

/* Uncompressed: 4 bytes of `ramp` for each entry; 8 for the offset of a list, and 4 for each of its 2000
 * items, which uproot counts. */
TEST(bytes_are_those_of_the_fields, .setup = set_up, .teardown = tear_down)
{
    struct nt_dataset *dataset = open_one("compression_none.root", "compressed");
    uint32_t ramp, values, wrong = UINT32_MAX;
    assert_ok(nt_dataset_find(dataset, "ramp", &ramp, &error));
    assert_ok(nt_write_clusters(dataset, &ramp, 1, take, NULL, &error));
    ck_assert_uint_eq(total("stored_bytes"), 4 * 1000);
    set_up();
    assert_ok(nt_dataset_find(dataset, "values/_0", &values, &error));
    assert_ok(nt_write_clusters(dataset, &values, 1, take, NULL, &error));
    ck_assert_uint_eq(total("stored_bytes"), 8 * 1000 + 4 * 2000);
    set_up();
    assert_status(NT_INVALID, nt_write_clusters(dataset, &wrong, 1, take, NULL, &error));
    ck_assert_str_eq(text, "");
}

TEST(clusters_count_selected_entries, .setup = set_up, .teardown = tear_down)
{
    struct nt_dataset *dataset = open_one("example.root", "Events");
    const struct nt_entry_range ranges[] = {{3, 2}, {249, 2}, {999, 1}};
    assert_ok(nt_dataset_select(dataset, ranges, 3, &error));
    assert_ok(nt_write_clusters(dataset, NULL, 0, take, NULL, &error));
    ck_assert_ptr_nonnull(strstr(text, "\"first_entry\":0,\"entries\":250,\"selected_entries\":3,"));
    ck_assert_ptr_nonnull(strstr(text, "\"first_entry\":500,\"entries\":250,\"selected_entries\":0,"));
    ck_assert_uint_eq(total("selected_entries"), 5);
    ck_assert_uint_eq(nt_dataset_selected_entry(dataset, 3), 250);
}

TEST(a_program_that_stops_gets_no_more_lines, .setup = set_up, .teardown = tear_down)
{
    struct nt_dataset *dataset = open_one("example.root", "Events");
    lines_wanted = 2;
    assert_status(NT_CANCELED, nt_write_clusters(dataset, NULL, 0, take, NULL, &error));
    ck_assert_uint_eq(total("entries"), 500);
    lines_wanted = 1;
    assert_status(NT_CANCELED, nt_write_files(dataset, take, NULL, &error));
}

TEST(fragments_are_clusters_and_versions_are_named, .setup = set_up, .teardown = tear_down)
{
    struct nt_dataset *dataset = open_one("lance_datasets/deletions_2.2", NULL);
    assert_ok(nt_write_clusters(dataset, NULL, 0, take, NULL, &error));
    ck_assert_uint_eq(total("entries"), nt_dataset_entries(dataset));
    ck_assert_ptr_nonnull(strstr(text, "{\"first_entry\":40,\"entries\":26,")); /* pylance: count_rows() */
    set_up();
    assert_ok(nt_write_files(dataset, take, NULL, &error));
    ck_assert_msg(strstr(text, "\"state\":{\"dataset_version\":10,"), "%s", text);
}

/* ---- Chains ---- */

static struct nt_dataset *chain_of(const char *const *names, size_t count, const char *index)
{
    struct nt_dataset *dataset;
    struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    options.index = index;
    assert_ok(nt_file_open_chain(names, count, &options, 0, &file, &error));
    assert_ok(nt_file_find(file, "compressed", &dataset, &error));
    return dataset;
}

TEST(each_file_of_a_chain_has_a_line, .setup = set_up, .teardown = tear_down)
{
    char first[512], second[512];
    snprintf(first, sizeof(first), "%s/compression_none.root", getenv("NTUPLE_TEST_DATA"));
    snprintf(second, sizeof(second), "%s/compression_zstd.root", getenv("NTUPLE_TEST_DATA"));
    struct nt_dataset *dataset = chain_of((const char *const[]){first, second}, 2, NULL);
    assert_ok(nt_write_files(dataset, take, NULL, &error));
    ck_assert_ptr_nonnull(strstr(text, "compression_none.root\",\"first_entry\":0,\"entries\":1000,"));
    ck_assert_ptr_nonnull(strstr(text, "compression_zstd.root\",\"first_entry\":1000,\"entries\":1000,"));
    ck_assert_ptr_nonnull(strstr(text, "\"dataset\":\"compressed\",\"state\":{\"file_bytes\":"));
    set_up();
    assert_ok(nt_write_clusters(dataset, NULL, 0, take, NULL, &error));
    ck_assert_uint_eq(total("entries"), 2000);
    ck_assert_ptr_nonnull(strstr(text, "{\"first_entry\":1000,"));
}

TEST(files_of_an_index_are_opened_before, .setup = set_up, .teardown = tear_down)
{
    char folder[] = "/tmp/ntuple-library-XXXXXX", path[512], index[64], command[1200];
    struct nt_file *resolved;
    struct nt_dataset *dataset;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/compression_*.root", getenv("NTUPLE_TEST_DATA"));
    snprintf(index, sizeof(index), "%s/index", folder);
    chain_of((const char *const[]){path}, 1, index);
    nt_file_close(file);
    dataset = chain_of((const char *const[]){path}, 1, index);
    assert_status(NT_INVALID, nt_write_files(dataset, take, NULL, &error));
    assert_status(NT_INVALID, nt_write_clusters(dataset, NULL, 0, take, NULL, &error));
    assert_ok(nt_file_resolve(file, &resolved, &error));
    assert_ok(nt_file_find(resolved, "compressed", &dataset, &error));
    assert_ok(nt_write_files(dataset, take, NULL, &error));
    ck_assert_uint_eq(total("entries"), 5000);
    snprintf(command, sizeof(command), "rm -r '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}
