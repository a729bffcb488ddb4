/* SPDX-License-Identifier: MIT
 *
 * The tree over a model in memory, node by node. model.c has the content of the model.
 */
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model.h"
#include "open_tree.h"
#include "support.h"

static struct nt_error error;

/* ---- what is where ---- */

TEST(directories_list_what_the_contract_says, .setup = tree_setup_single, .teardown = tree_teardown)
{
    ck_assert_str_eq(list(""), ".ntuplefs file.json layout.svg layout.jsonl keys.jsonl sub Events Events;1 "
                               "broken evil file%2Ejson ");
    ck_assert_str_eq(list(".ntuplefs"), "version.json stats.json errors.jsonl ");
    ck_assert_str_eq(list("sub"), "Events ");
    ck_assert_str_eq(list("broken"), "error.json header.json ");
    ck_assert_str_eq(list("Events/array"), "field.json data.npy rows.jsonl head.jsonl _0 ");
    ck_assert_str_eq(list("Events/odd"), "field.json ");
    ck_assert_str_eq(list("Events/run/column.0/pages"),
                     "0.raw 0.bin 1.raw 1.bin 2.raw 2.bin 3.raw 3.bin 4.raw 4.bin ");
    const char *names = list("Events/name");
    ck_assert_ptr_nonnull(strstr(names, "field.json data.bin data.npy offsets.bin offsets.npy "));
    ck_assert_ptr_nonnull(strstr(names, " column.0 column.1 "));
    names = list("Events");
    ck_assert_ptr_nonnull(strstr(names, "ntuple.json "));
    ck_assert_ptr_nonnull(strstr(names,
                                 " header.json pagelist.0.bin pagelist.1.bin pagelist.0.json pagelist.1.json "
                                 "attribute.notes run name jets array odd "));
}

TEST(fields_with_evil_names_have_directories, .setup = tree_setup_single, .teardown = tree_teardown)
{
    ck_assert_ptr_nonnull(strstr(list("evil"),
                                 "%2E %2E%2E a%2Fb field%2Ejson %FF same same~2 column%2E0 % new%0Aline "
                                 "100%2525 nul%00l "));
    resolve("evil/%2E%2E/data.bin");
    ck_assert_uint_eq(resolve("evil/.."), NT_VFS_ROOT);
}

TEST(listing_without_unsized_files_leaves_them_to_be_opened_by_name, .setup = tree_setup_single,
     .teardown = tree_teardown)
{
    nt_vfs_free(vfs);
    open_paths((const char *const[]){path_good}, 1, true);
    ck_assert_str_eq(
        list(""), ".ntuplefs file.json layout.svg layout.jsonl sub Events Events;1 broken evil file%2Ejson ");
    ck_assert_str_eq(list(".ntuplefs"), "version.json stats.json errors.jsonl ");
    resolve("keys.jsonl");
}

TEST(owner_times_and_permissions_are_those_of_the_source, .setup = tree_setup_single,
     .teardown = tree_teardown)
{
    struct stat file = attributes_of("Events/run/data.bin").stat, directory = attributes_of("Events").stat;
    ck_assert_uint_eq(file.st_mode, S_IFREG | 0440); /* of 0640 */
    ck_assert_uint_eq(directory.st_mode, S_IFDIR | 0550);
    ck_assert_uint_eq(file.st_uid, 7);
    ck_assert_uint_eq(directory.st_gid, 8);
    ck_assert_int_eq(file.st_mtim.tv_sec, 1000000);
    ck_assert_int_eq(file.st_blksize, 1 << 20);
    ck_assert_uint_eq(attributes_of(".ntuplefs/stats.json").stat.st_uid, geteuid());
}

TEST(names_that_do_not_exist_are_not_found, .setup = tree_setup_single, .teardown = tree_teardown)
{
    static const char *const names[] = {"nothing",
                                        "Events/nothing",
                                        "Events/run/offsets.bin",
                                        "Events/run/column.1",
                                        "Events/run/column.00",
                                        "Events/column.0",
                                        "Events/run/column.0/pages/5.bin",
                                        "Events/run/column.0/pages/00.bin",
                                        "Events/pagelist.2.bin",
                                        "Events/pagelist.01.bin",
                                        "broken/run",
                                        "broken/ntuple.json",
                                        "file.json/x",
                                        "sub/file.json",
                                        "Events/odd/data.bin",
                                        "Events/run/column.0/pages/99999999999999999999.bin",
                                        "sub/.ntuplefs",
                                        "Events;2"};
    uint64_t node;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        ck_assert_msg(nt_vfs_resolve(vfs, names[i], &node, &error) == NT_NOT_FOUND, "%s", names[i]);
}

TEST(opening_and_listing_read_no_page_list, .setup = tree_setup_single, .teardown = tree_teardown)
{
    list("");
    list("Events");
    list("Events/jets/_0/pt");
    struct nt_vfs_attributes attributes;
    ck_assert_uint_eq(attributes_of("Events/run/data.npy").stat.st_size, 128 + 4 * MODEL_ENTRIES);
    ck_assert_uint_eq(attributes_of("Events/jets/offsets.bin").stat.st_size, 8 * (MODEL_ENTRIES + 1));
    assert_status(NT_NOT_FOUND,
                  nt_vfs_stat(vfs, resolve("Events/jets/_0/pt/data.bin"), false, &attributes, &error));
    assert_status(NT_NOT_FOUND, nt_vfs_stat(vfs, resolve("Events/ntuple.json"), false, &attributes, &error));
    json_decref(read_json("Events/jets/field.json"));
    ck_assert_uint_eq(model_loads, 0);
}

/* ---- every node of the tree ---- */

TEST(every_entry_is_found_again_and_has_the_size_and_bytes_that_it_says, .setup = tree_setup_single,
     .teardown = tree_teardown)
{
    struct visit visit = {0};
    walk(&visit, NT_VFS_ROOT);
    ck_assert_uint_gt(visit.files, 300);
    ck_assert_uint_gt(visit.directories, 100);
}

TEST(senseless_node_numbers_are_refused, .setup = tree_setup_single, .teardown = tree_teardown)
{
    struct nt_vfs_attributes attributes;
    uint64_t state = 88172645463325252u, found;
    for (int i = 0; i < 20000; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint64_t node = i % 2 ? state : state & UINT64_C(0xF00F00000000FFFF);
        struct nt_vfs_handle *handle;
        if (nt_vfs_stat(vfs, node, true, &attributes, &error) == NT_OK)
            continue;
        ck_assert_int_eq(error.status, NT_NOT_FOUND);
        ck_assert_int_eq(nt_vfs_lookup(vfs, node, "x", &found, &error), NT_NOT_FOUND);
        ck_assert_int_eq(nt_vfs_open(vfs, node, &handle, &error), NT_NOT_FOUND);
        nt_vfs_parent(vfs, node);
    }
}

/* ---- threads ---- */

static void *read_much(void *unused)
{
    static const char *const paths[] = {"Events/run/data.npy",
                                        "Events/ntuple.json",
                                        "sub/Events/jets/offsets.bin",
                                        "evil/same~2/field.json",
                                        "Events/run/column.0/pages.jsonl",
                                        ".ntuplefs/stats.json"};
    for (int i = 0; i < 200; i++) {
        struct nt_error own = {0};
        struct nt_vfs_handle *handle;
        struct nt_vfs_attributes attributes;
        uint64_t node;
        char bytes[4096];
        size_t got;
        if (nt_vfs_resolve(vfs, paths[i % 6], &node, &own) != NT_OK ||
            nt_vfs_stat(vfs, node, true, &attributes, &own) != NT_OK ||
            nt_vfs_open(vfs, node, &handle, &own) != NT_OK)
            return (void *)"open";
        enum nt_status status = nt_vfs_read(handle, 0, bytes, sizeof(bytes), &got, &own);
        nt_vfs_close(handle);
        if (status != NT_OK || got == 0)
            return (void *)"read";
    }
    return NULL;
}

TEST(several_threads_read_the_same_files, .setup = tree_setup_single, .teardown = tree_teardown)
{
    pthread_t threads[4];
    void *problem;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, read_much, NULL);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &problem);
        ck_assert_msg(problem == NULL, "%s", (const char *)problem);
    }
}
