/* SPDX-License-Identifier: MIT
 *
 * What is recorded about a bad dataset, page and page list, and what can still be read. model.c has the
 * content of the model.
 */
#include <string.h>

#include "model.h"
#include "open_tree.h"
#include "support.h"

static struct nt_error error;

TEST(a_dataset_that_cannot_be_opened_says_why, .setup = tree_setup_single, .teardown = tree_teardown)
{
    json_t *json = read_json("broken/error.json");
    ck_assert_str_eq(get_text(json, "what"), "the anchor is broken");
    ck_assert_str_eq(get_text(json, "status"), "corrupt");
    ck_assert_int_eq(get_number(json, "file_offset"), 12);
    json_decref(json);
}

TEST(a_bad_page_fails_on_its_bytes_and_is_reported_once, .setup = tree_setup_single,
     .teardown = tree_teardown)
{
    model_has_bad_page = true;
    struct nt_vfs_handle *handle;
    int32_t run;
    size_t got;
    assert_ok(nt_vfs_open(vfs, resolve("Events/run/data.bin"), &handle, &error));
    for (int i = 0; i < 3; i++)
        assert_status(NT_CHECKSUM, nt_vfs_read(handle, 4, &run, 4, &got, &error));
    assert_ok(nt_vfs_read(handle, 8, &run, 4, &got, &error));
    ck_assert_int_eq(run, model_run(2));
    nt_vfs_close(handle);
    ck_assert_ptr_nonnull(strstr(reported, "good.root: Events/run/column.0: "));
    ck_assert_ptr_nonnull(strstr(reported, "expected"));
    ck_assert_ptr_eq(strchr(reported, '\n'), reported + strlen(reported) - 1);
    json_t *json = read_json(".ntuplefs/errors.jsonl");
    ck_assert_str_eq(get_text(json, "path"), "Events/run/column.0");
    ck_assert_str_ne(get_text(json, "expected"), get_text(json, "found"));
    json_decref(json);
    struct nt_buffer raw = read_path("Events/run/column.0/pages/0.raw");
    ck_assert_uint_eq(raw.length, 8);
    nt_buffer_deinit(&raw);
}

TEST(verifying_on_open_refuses_a_file_with_a_bad_page, .setup = tree_setup_single, .teardown = tree_teardown)
{
    nt_vfs_free(vfs);
    model_has_bad_page = true;
    const struct nt_vfs_options options = {.verify_on_open = true};
    struct nt_vfs_handle *handle;
    assert_ok(nt_vfs_new((const char *const[]){path_good}, 1, &options, &vfs, &error));
    assert_status(NT_CHECKSUM, nt_vfs_open(vfs, resolve("Events/run/data.npy"), &handle, &error));
    assert_ok(nt_vfs_open(vfs, resolve("Events/jets/_0/pt/data.npy"), &handle, &error));
    nt_vfs_close(handle);
    assert_ok(nt_vfs_open(vfs, resolve("Events/run/column.0/pages/0.raw"), &handle, &error));
    nt_vfs_close(handle);
}

TEST(a_bad_page_list_leaves_what_does_not_depend_on_it, .setup = tree_setup_single, .teardown = tree_teardown)
{
    struct nt_vfs_attributes attributes;
    struct nt_vfs_handle *handle;
    int32_t run;
    size_t got;
    model_has_bad_group = true;
    ck_assert_uint_eq(attributes_of("Events/run/data.bin").stat.st_size, 4 * MODEL_ENTRIES);
    assert_status(NT_CHECKSUM,
                  nt_vfs_stat(vfs, resolve("Events/jets/_0/pt/data.bin"), true, &attributes, &error));
    ck_assert_ptr_nonnull(strstr(reported, "good.root: Events: page list: expected aa, found bb"));
    assert_ok(nt_vfs_open(vfs, resolve("Events/run/data.bin"), &handle, &error));
    assert_ok(nt_vfs_read(handle, 8, &run, 4, &got, &error));
    ck_assert_int_eq(run, model_run(2));
    assert_status(NT_CHECKSUM, nt_vfs_read(handle, 12, &run, 4, &got, &error));
    nt_vfs_close(handle);
    json_t *json = read_json("Events/ntuple.json");
    ck_assert_int_eq(json_array_size(json_object_get(json, "unreadable_cluster_groups")), 1);
    json_decref(json);
}

/* Requests of a mount: without an error to fill. The first request to arrive meets the bad list. */
static void read_around_bad_list(int first)
{
    static const char *const paths[] = {
        "Events/run/data.bin",   "Events/run/data.npy", "Events/ntuple.json",
        "Events/clusters.jsonl", "Events/rows.jsonl",   "Events/table.arrow",
        "Events/sizes.svg",      "layout.jsonl",        "Events/jets/_0/pt/data.bin"};
    enum { PATHS = sizeof(paths) / sizeof(paths[0]) };
    for (int i = 0; i < 2 * PATHS; i++) {
        struct nt_vfs_attributes attributes;
        struct nt_vfs_handle *handle;
        char bytes[4096];
        size_t got = 1;
        uint64_t node = resolve(paths[(first + i) % PATHS]), offset = 0;
        if (nt_vfs_stat(vfs, node, true, &attributes, NULL) != NT_OK ||
            nt_vfs_open(vfs, node, &handle, NULL) != NT_OK)
            continue;
        for (; got && nt_vfs_read(handle, offset, bytes, sizeof(bytes), &got, NULL) == NT_OK; offset += got)
            ;
        nt_vfs_close(handle);
    }
}

TEST(a_bad_page_list_is_one_failure_whatever_is_read_first_and_how_often, .setup = tree_setup_single,
     .teardown = tree_teardown, .end = 9)
{
    model_has_bad_group = true;
    read_around_bad_list(_i);
    json_t *json = read_json(".ntuplefs/errors.jsonl"); /* one line */
    ck_assert_str_eq(get_text(json, "path"), "Events");
    ck_assert_str_eq(get_text(json, "what"), "page list: expected aa, found bb (at byte 4242)");
    ck_assert_int_eq(get_number(json, "file_offset"), 4242);
    ck_assert_int_ge(get_number(json, "count"), 4);
    ck_assert_ptr_eq(strchr(reported, '\n'), reported + strlen(reported) - 1);
    json_decref(json);
}
