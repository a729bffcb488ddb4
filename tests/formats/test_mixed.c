/* SPDX-License-Identifier: MIT
 *
 * RNTuples and TTrees in one ROOT file: mixed.root, whose datasets make_mixed.py names.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "formats/formats.h"
#include "support.h"
#include "core/base/memory.h"
#include "core/model/model.h"

static struct nt_error error;
static struct nt_file *file;

struct expected {
    const char *path, *format;
    uint64_t entries;
};

static void open_as(const char *name, const char *format)
{
    const char *data = getenv("NTUPLE_TEST_DATA");
    struct nt_open_options options = {.struct_bytes = sizeof(options), .format = format};
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", data ? data : "tests/data", name);
    assert_ok(nt_file_open(path, &options, &file, &error));
}

static void check_datasets(const struct expected *expected, uint32_t count)
{
    ck_assert_uint_eq(file->dataset_count, count);
    for (uint32_t i = 0; i < count; i++) {
        struct nt_dataset *dataset = file->datasets[i], *found;
        char path[64];
        ck_assert_msg(!dataset->failure, "%s", dataset->failure ? dataset->failure->message : "");
        nt_dataset_path(dataset, path, sizeof(path));
        ck_assert_str_eq(path, expected[i].path);
        assert_ok(nt_file_find(file, path, &found, &error));
        ck_assert_ptr_eq(found, dataset);
        ck_assert_str_eq(dataset->format, expected[i].format);
        ck_assert_uint_eq(dataset->entries, expected[i].entries);
    }
}

TEST(rntuples_come_first_and_keep_their_names)
{
    static const struct expected expected[] = {{"Events", "rntuple", 10},
                                               {"Events;3", "ttree", 4},
                                               {"Events;1", "ttree", 3},
                                               {"Tracks", "ttree", 100},
                                               {"sub/Events", "ttree", 6}};
    struct nt_dataset *found;
    open_as("trees/mixed.root", NULL);
    ck_assert_str_eq(file->format->name, "rntuple");
    check_datasets(expected, 5);
    assert_ok(nt_file_find(file, "Events;2", &found, &error));
    ck_assert_ptr_eq(found, file->datasets[0]);
    assert_ok(nt_file_find(file, NULL, &found, &error));
    ck_assert_ptr_eq(found, file->datasets[0]);
    nt_file_close(file);
}

TEST(a_format_shows_its_own_datasets)
{
    static const struct expected rntuples[] = {{"Events", "rntuple", 10}},
                                 trees[] = {{"Events", "ttree", 4},
                                            {"Events;1", "ttree", 3},
                                            {"Tracks", "ttree", 100},
                                            {"sub/Events", "ttree", 6}};
    struct nt_dataset *found;
    open_as("trees/mixed.root", "rntuple");
    ck_assert_str_eq(file->format->name, "rntuple");
    check_datasets(rntuples, 1);
    nt_file_close(file);
    open_as("trees/mixed.root", "ttree");
    ck_assert_str_eq(file->format->name, "ttree");
    check_datasets(trees, 4);
    assert_status(NT_INVALID, nt_file_find(file, NULL, &found, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "3 datasets"));
    nt_file_close(file);
}

/* ---- streamer_info.json ---- */

static json_t *read_streamer_info(void)
{
    struct nt_buffer out = {0};
    json_t *document = NULL;
    for (uint32_t i = 0; i < file->document_count; i++) {
        if (strcmp(file->documents[i].prefix, "streamer_info.json"))
            continue;
        ck_assert_ptr_null(document);
        assert_ok(file->documents[i].write(&(struct nt_document_request){&file->documents[i], file, NULL, 0},
                                           &out, &error));
        document = json_loadb(out.bytes, out.length, JSON_ALLOW_NUL, NULL);
        ck_assert_ptr_nonnull(document);
    }
    nt_buffer_deinit(&out);
    return document;
}

/* For all visible parts of the file. */
TEST(classes_that_a_file_describes_are_a_document, .end = 3)
{
    static const char *const formats[] = {NULL, "rntuple", "ttree"};
    open_as("trees/mixed.root", formats[_i]);
    json_t *document = read_streamer_info();
    ck_assert_ptr_nonnull(document);
    char *text = json_dumps(document, 0);
    ck_assert_ptr_nonnull(strstr(text, "\"TTree\""));
    ck_assert_ptr_nonnull(strstr(text, "\"ROOT::RNTuple\""));
    free(text);
    json_decref(document);
    nt_file_close(file);
}

TEST(a_file_of_rntuples_has_the_document_too)
{
    open_as("types.root", NULL);
    json_t *document = read_streamer_info();
    ck_assert_ptr_nonnull(document);
    json_decref(document);
    nt_file_close(file);
    open_as("lance_nested_2.1.lance", NULL);
    ck_assert_ptr_null(read_streamer_info());
    nt_file_close(file);
}

/* ---- Layout ---- */

struct counts {
    unsigned trees, baskets;
};

static enum nt_status count_range(void *context, const struct nt_layout_range *range)
{
    struct counts *counts = context;
    if (!strcmp(range->owner, "tree")) {
        ck_assert_uint_eq(range->dataset,
                          file->dataset_count > 1 ? file->dataset_count - 4 + counts->trees : NT_NONE);
        counts->trees++;
    }
    counts->baskets += range->detail && !strcmp(range->detail, "TBasket");
    return NT_OK;
}

/* Visible baskets are pages; others are records. */
TEST(records_of_trees_have_an_owner, .end = 3)
{
    static const char *const formats[] = {NULL, "rntuple", "ttree"};
    struct counts counts = {0};
    open_as("trees/mixed.root", formats[_i]);
    assert_ok(file->layout(file, count_range, &counts, &error));
    ck_assert_uint_eq(counts.trees, 4);
    ck_assert((counts.baskets > 0) == (_i == 1));
    nt_file_close(file);
}
