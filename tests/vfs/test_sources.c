/* SPDX-License-Identifier: MIT
 *
 * Trees over several files and over a directory, while files are created and removed, with more files than
 * stay open.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model.h"
#include "open_tree.h"
#include "support.h"

static struct nt_error error;

TEST(several_sources_are_directories_beside_each_other, .setup = tree_setup, .teardown = tree_teardown)
{
    open_paths((const char *const[]){path_good, path_bad, path_other}, 3, false);
    ck_assert_str_eq(list(""), ".ntuplefs good.root bad.root other.txt ");
    ck_assert_str_eq(list("bad.root"), "error.json ");
    ck_assert_str_eq(
        list("good.root"),
        "file.json layout.svg layout.jsonl keys.jsonl sub Events Events;1 broken evil file%2Ejson ");
    json_t *json = read_json("bad.root/error.json");
    ck_assert_ptr_nonnull(strstr(get_text(json, "what"), "broken"));
    json_decref(json);
    ck_assert_uint_eq(attributes_of("good.root/Events/run/data.bin").stat.st_size, 4 * MODEL_ENTRIES);
    struct visit visit = {0};
    walk(&visit, NT_VFS_ROOT);
}

TEST(where_no_source_opens_the_first_reason_is_reported, .setup = tree_setup, .teardown = tree_teardown)
{
    const struct nt_vfs_options options = {0};
    assert_status(NT_CORRUPT,
                  nt_vfs_new((const char *const[]){path_bad, path_other}, 2, &options, &vfs, &error));
    assert_status(NT_NOT_THIS_FORMAT,
                  nt_vfs_new((const char *const[]){path_other}, 1, &options, &vfs, &error));
    assert_status(NT_NOT_FOUND,
                  nt_vfs_new((const char *const[]){"/nowhere/at/all"}, 1, &options, &vfs, &error));
    assert_status(NT_INVALID, nt_vfs_new(NULL, 0, &options, &vfs, &error));
    vfs = NULL;
}

TEST(sources_of_which_nothing_can_be_shown_are_reported_when_they_are_tried, .setup = tree_setup,
     .teardown = tree_teardown)
{
    open_paths((const char *const[]){path_good, path_bad, path_other, tree_folder}, 4, false);
    ck_assert_str_eq(reported, "");
    nt_vfs_check_sources(vfs);
    ck_assert_msg(strstr(reported, path_bad) && strstr(reported, path_other), "%s", reported);
    ck_assert_msg(!strstr(reported, path_good), "%s", reported);
    char once[sizeof(reported)];
    strcpy(once, reported);
    nt_vfs_check_sources(vfs);
    ck_assert_str_eq(reported, once);
}

TEST(a_file_of_which_nothing_opens_is_shown_where_that_is_requested, .setup = tree_setup,
     .teardown = tree_teardown)
{
    open_broken(path_bad);
    ck_assert_ptr_nonnull(
        strstr(list(""), ".ntuplefs error.json file.json layout.svg layout.jsonl keys.jsonl "));
    ck_assert_str_eq(list("Events"), "error.json header.json ");
    for (int i = 0; i < 2; i++) {
        json_t *json = read_json(i ? "Events/error.json" : "error.json");
        ck_assert_ptr_nonnull(strstr(get_text(json, "what"), "broken"));
        ck_assert_int_eq(get_number(json, "file_offset"), 3);
        json_decref(json);
    }
    assert_status(NT_CORRUPT, nt_vfs_broken(vfs, &error));
    ck_assert_str_eq(error.message, "broken");
    struct visit visit = {0};
    walk(&visit, NT_VFS_ROOT);
    nt_vfs_check_sources(vfs);
    ck_assert_msg(strstr(reported, "bad.root: Events: broken"), "%s", reported);
}

TEST(only_what_is_broken_is_reported_to_be, .setup = tree_setup, .teardown = tree_teardown)
{
    open_broken(path_good);
    assert_ok(nt_vfs_broken(vfs, &error));
    ck_assert_ptr_null(strstr(list(""), "error.json"));
}

TEST(a_folder_is_mirrored_with_what_can_be_read, .setup = tree_setup, .teardown = tree_teardown)
{
    open_paths((const char *const[]){tree_folder}, 1, false);
    ck_assert_str_eq(list(""), ".ntuplefs bad.root good.root ");
    ck_assert_str_eq(list("bad.root"), "error.json ");
    ck_assert(!attributes_of("").is_immutable);
    ck_assert(!attributes_of("good.root").is_immutable);
    ck_assert(attributes_of("good.root/Events").is_immutable);
    uint64_t node;
    assert_status(NT_NOT_FOUND, nt_vfs_resolve(vfs, "other.txt", &node, &error));
}

TEST(files_that_come_and_go_in_a_folder_come_and_go_in_the_tree, .setup = tree_setup,
     .teardown = tree_teardown)
{
    char path[80];
    uint64_t node;
    open_paths((const char *const[]){tree_folder}, 1, false);
    list("");
    assert_status(NT_NOT_FOUND, nt_vfs_resolve(vfs, "good2.root", &node, &error));
    snprintf(path, sizeof(path), "%s/good2.root", tree_folder);
    touch(path);
    uint64_t old_place = resolve("good2.root"), old_field = resolve("good2.root/Events/run");
    ck_assert_str_eq(list(""), ".ntuplefs bad.root good.root good2.root ");

    FILE *file = fopen(path, "w"); /* another size: another file */
    fputs("longer", file);
    fclose(file);
    ck_assert_uint_ne(resolve("good2.root"), old_place);
    ck_assert_uint_ne(resolve("good2.root/Events/run"), old_field);
    unlink(path);
    assert_status(NT_NOT_FOUND, nt_vfs_resolve(vfs, "good2.root", &node, &error));
    ck_assert_str_eq(list(""), ".ntuplefs bad.root good.root ");
}

/* As a user without permission. */
TEST(a_folder_that_cannot_be_read_is_reported, .setup = tree_setup, .teardown = tree_teardown, .end = 2)
{
    uint64_t node;
    open_paths((const char *const[]){tree_folder}, 1, false);
    list("");
    ck_assert_int_eq(chmod(tree_folder, _i ? 0400 : 0100), 0);
    ck_assert(geteuid() != 0 || seteuid(65534) == 0);
    assert_status(NT_IO, nt_vfs_resolve(vfs, "good2.root", &node, &error));
    ck_assert_int_eq(error.system_error, EACCES);
    ck_assert_msg(strstr(reported, tree_folder) != NULL, "reported: %s", reported);
    ck_assert(getuid() != 0 || seteuid(0) == 0);
    ck_assert_int_eq(chmod(tree_folder, 0700), 0);
    ck_assert_str_eq(list(""), ".ntuplefs bad.root good.root ");
    assert_status(NT_NOT_FOUND, nt_vfs_resolve(vfs, "good2.root", &node, &error));
}

enum { MANY_FILES = 150 };

TEST(many_files_are_closed_and_opened_again, .setup = tree_setup, .teardown = tree_teardown)
{
    char path[80];
    for (int i = 0; i < MANY_FILES; i++) {
        snprintf(path, sizeof(path), "%s/good%d", tree_folder, i);
        touch(path);
    }
    open_paths((const char *const[]){tree_folder}, 1, false);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY_FILES; i++) {
            snprintf(path, sizeof(path), "good%d/Events/run/data.bin", i);
            struct nt_buffer data = read_path(path);
            ck_assert_uint_eq(data.length, 4 * MODEL_ENTRIES);
            nt_buffer_deinit(&data);
        }
    }
    for (int tenths = 0; tenths < 100 && atomic_load(&model_open_files) >= MANY_FILES; tenths++)
        usleep(100000); /* a thread closes them */
    ck_assert_uint_lt(atomic_load(&model_open_files), MANY_FILES);
    for (int i = 0; i < MANY_FILES; i++) {
        snprintf(path, sizeof(path), "%s/good%d", tree_folder, i);
        unlink(path);
    }
}

TEST(of_a_file_that_is_replaced_nothing_stays_open, .setup = tree_setup, .teardown = tree_teardown, .end = 2)
{
    char path[80];
    snprintf(path, sizeof(path), "%s/good2.root", tree_folder);
    touch(path);
    open_paths((const char *const[]){tree_folder}, 1, false);
    uint64_t before = resolve("good2.root"), data = resolve("good2.root/Events/run/data.bin");
    for (unsigned i = 1; i <= 40; i++) { /* fewer than may stay open unused */
        replace(path, i, _i);
        struct nt_buffer read = read_path("good2.root/Events/run/data.bin");
        ck_assert_uint_eq(read.length, 4 * MODEL_ENTRIES);
        nt_buffer_deinit(&read);
    }
    assert_open_files(1);
    assert_status(NT_CHANGED, status_of(before, &error));
    assert_status(NT_CHANGED, status_of(data, &error));
    ck_assert_ptr_nonnull(strstr(error.message, path));
    ck_assert_str_eq(reported, ""); /* stale nodes are no failure */
    unlink(path);
    assert_status(NT_NOT_FOUND, nt_vfs_resolve(vfs, "good2.root", &data, &error));
    assert_open_files(0);
}

TEST(a_replaced_file_stays_open_for_its_users, .setup = tree_setup, .teardown = tree_teardown)
{
    char path[80];
    int32_t run;
    size_t got;
    struct nt_vfs_handle *handle;
    snprintf(path, sizeof(path), "%s/good2.root", tree_folder);
    touch(path);
    open_paths((const char *const[]){tree_folder}, 1, false);
    uint64_t old = resolve("good2.root/Events/run/data.bin");
    assert_ok(nt_vfs_open(vfs, old, &handle, &error));
    replace(path, 1, true);
    ck_assert_uint_ne(resolve("good2.root/Events/run/data.bin"), old);
    assert_open_files(2);
    assert_ok(nt_vfs_read(handle, 4, &run, sizeof(run), &got, &error));
    ck_assert_int_eq(run, model_run(1));
    assert_ok(status_of(old, &error));
    nt_vfs_close(handle);
    assert_open_files(1);
    assert_status(NT_CHANGED, status_of(old, &error));
    unlink(path);
}

TEST(with_a_folder_goes_what_is_in_it, .setup = tree_setup, .teardown = tree_teardown)
{
    char path[120], folder[80], elsewhere[80];
    snprintf(folder, sizeof(folder), "%s/folder", tree_folder);
    snprintf(elsewhere, sizeof(elsewhere), "%s/.elsewhere", tree_folder);
    snprintf(path, sizeof(path), "%s/good2.root", folder);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    touch(path);
    open_paths((const char *const[]){tree_folder}, 1, false);
    uint64_t inode = resolve("folder"), data = resolve("folder/good2.root/Events/run/data.bin");
    assert_open_files(1);
    ck_assert_int_eq(rename(folder, elsewhere), 0);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    ck_assert_uint_ne(resolve("folder"), inode);
    assert_open_files(0);
    assert_status(NT_CHANGED, status_of(inode, &error));
    assert_status(NT_CHANGED, status_of(data, &error));
    rmdir(folder);
    ck_assert_int_eq(rename(elsewhere, folder), 0);
    unlink(path);
    rmdir(folder);
}

static void *read_many_files(void *argument)
{
    for (int i = 0; i < 2 * MANY_FILES; i++) {
        struct nt_error own = {0};
        struct nt_vfs_handle *handle;
        char path[80];
        uint64_t node;
        int32_t run;
        size_t got = 0;
        snprintf(path, sizeof(path), "good%d/Events/run/data.bin", (i * 7 + *(int *)argument) % MANY_FILES);
        if (nt_vfs_resolve(vfs, path, &node, &own) != NT_OK || nt_vfs_open(vfs, node, &handle, &own) != NT_OK)
            return (void *)"open";
        enum nt_status status = nt_vfs_read(handle, 4, &run, sizeof(run), &got, &own);
        nt_vfs_close(handle);
        if (status != NT_OK || got != 4 || run != model_run(1))
            return (void *)"read";
    }
    return NULL;
}

TEST(several_threads_read_more_files_than_are_kept_open, .setup = tree_setup, .teardown = tree_teardown)
{
    pthread_t threads[4];
    int starts[4] = {0, 50, 51, 100};
    char path[80];
    void *problem;
    for (int i = 0; i < MANY_FILES; i++) {
        snprintf(path, sizeof(path), "%s/good%d", tree_folder, i);
        touch(path);
    }
    open_paths((const char *const[]){tree_folder}, 1, false);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, read_many_files, &starts[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &problem);
        ck_assert_msg(problem == NULL, "%s", (const char *)problem);
    }
    for (int i = 0; i < MANY_FILES; i++) {
        snprintf(path, sizeof(path), "%s/good%d", tree_folder, i);
        unlink(path);
    }
}
